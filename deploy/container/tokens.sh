#!/bin/sh
# Gives a new token to each worker that asks for one in the folder which they share (join.sh beside this). It alone has
# the API key: plugins run in the workers' containers, which have only that folder.
#
#   ASSAY_URL                              the server
#   ASSAY_API_KEY or ASSAY_API_KEY_FILE    a key with the scope platform:*, or the file with it
#   ASSAY_WORKER_SERVER                    HOST:PORT by which workers reach the server
#   ASSAY_WORKER_POOL                      pool of the workers (cpu)
#   ASSAY_WORKER_JOIN                      the folder
set -eu
trap 'exit 0' TERM INT
umask 077
while :; do
    for wanted in "$ASSAY_WORKER_JOIN"/*.wanted; do
        [ -e "$wanted" ] || continue
        command=${wanted%wanted}command
        if [ -n "${ASSAY_API_KEY_FILE:-}" ]; then
            ASSAY_API_KEY=$(cat "$ASSAY_API_KEY_FILE") || continue
            export ASSAY_API_KEY
        fi
        if assay worker token --pool "${ASSAY_WORKER_POOL:-cpu}" --server "$ASSAY_WORKER_SERVER" >"$command.new"; then
            # In this order, so that nobody waits for a command that is forgotten.
            mv "$command.new" "$command"
            rm -f "$wanted"
        fi
    done
    sleep 1 &
    wait $!
done
