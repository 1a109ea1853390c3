#!/bin/sh
# Writes .sqlx anew: what PostgreSQL says about every checked query of the store, which is what the
# queries are checked against in builds without a database. To be run after a change of a query or a
# migration.
#
# The macros describe each query as they are compiled, so this compiles the store against a private,
# freshly migrated cluster. An old query's file is left out, and nothing changes unless all succeed.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = inside ]; then
    fresh=$2
    for migration in migrations/*.sql; do
        psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --single-transaction \
            --dbname "$DATABASE_URL" --file "$migration"
    done
    # Cargo takes unchanged sources for compiled.
    touch host/store/src/lib.rs
    SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$fresh cargo check -p assay-store --all-targets
    exit
fi

target=${CARGO_TARGET_DIR:-target}
cargo build -p assay-postgres
folder=$(mktemp -d)
trap 'rm -rf "$folder" "$PWD/.sqlx.new"' EXIT
# Root's PostgreSQL runs as another user.
chmod 711 "$folder"
rm -rf .sqlx.new
mkdir .sqlx.new
"$target/debug/assay-postgres" "$folder/data" "$0" inside "$PWD/.sqlx.new"
rm -rf .sqlx
mv .sqlx.new .sqlx
# The next build must not take what it has for made with the new files.
touch host/store/src/lib.rs
echo ".sqlx holds $(find .sqlx -name '*.json' | wc -l) queries"
