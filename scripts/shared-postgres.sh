#!/bin/sh
# Runs a PostgreSQL in which each server under test has a database of its own; prints its address once it is
# ready, and ends when it is told to (TERM). It does not wait for the disk: its data need not survive a crash of the
# machine.
#
#   scripts/shared-postgres.sh FOLDER     in a folder to be made, with the programs of $CARGO_TARGET_DIR or target
set -eu
program=${CARGO_TARGET_DIR:-target}/debug/assay-postgres
mkdir -m 711 "$1"
# The single quotes are meant: the address is known inside.
# shellcheck disable=SC2016
"$program" "$1" sh -c 'psql --quiet --command "alter system set max_connections = 300" \
    --command "alter system set fsync = off" "$DATABASE_URL"' >&2
# shellcheck disable=SC2016
exec "$program" "$1" sh -c 'printf "%s\n" "$DATABASE_URL"; exec sleep infinity'
