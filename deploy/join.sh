#!/bin/sh
# Joins a worker to the server of another machine with the command that `assay worker token` printed: the systemd unit
# and the container image run this. Its arguments are further options of `assay worker join`.
#
#   ASSAY_WORKER_JOIN      file with that command; or a folder, in which this asks for the command (NAME.wanted, with the
#                          name of the host) and waits for it (NAME.command), as tokens.sh beside this gives it
#   ASSAY_WORKER_OPTIONS   further options; those after `--` are options of `assay-worker serve`
set -eu
here=$(dirname "$(readlink -f "$0")")
: "${ASSAY_WORKER_JOIN:?the file with what \`assay worker token\` printed, or a folder}"
options="$* ${ASSAY_WORKER_OPTIONS:-}"
# Before the worker runs there is nothing to finish.
trap 'exit 0' TERM INT
file=$ASSAY_WORKER_JOIN
if [ -d "$file" ]; then
    file=$ASSAY_WORKER_JOIN/$(uname -n).command
    rm -f "$file"
    : >"${file%command}wanted"
fi
until [ -s "$file" ]; do
    sleep 1 &
    wait $!
done
read -r command <"$file"
[ ! -d "$ASSAY_WORKER_JOIN" ] || rm -f "$file"
unset ASSAY_WORKER_JOIN ASSAY_WORKER_OPTIONS

# The command is data: four of its options are read, and nothing in it is run.
set -f
server='' pin='' pool=cpu token=''
# shellcheck disable=SC2086 # its words
set -- $command
while [ $# -gt 1 ]; do
    case $1 in
        --server) server=$2 && shift ;;
        --ca-pin) pin=$2 && shift ;;
        --pool) pool=$2 && shift ;;
        --token) token=$2 && shift ;;
    esac
    shift
done
if [ -z "$server" ] || [ -z "$pin" ] || [ -z "$token" ]; then
    echo 'join.sh: the command to join is not what `assay worker token` prints' >&2
    exit 2
fi
# In the environment, which other users of the machine cannot see.
export ASSAY_WORKER_TICKET="$token"
trap - TERM INT
# shellcheck disable=SC2086 # options are words
exec "$here/assay-worker" join --server "$server" --ca-pin "$pin" --pool "$pool" $options
