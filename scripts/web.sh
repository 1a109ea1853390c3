#!/bin/sh
# Builds the dashboard into web/dist, from where the server takes it as it is built itself. Does nothing
# where nothing changed, so that the server is not built anew, and where there is no Node that fits: a
# server is whole without its dashboard, and says so.
set -eu
cd "$(dirname "$0")/.."

scripts/setup.sh web || exit 0
cd web
if [ -f dist/index.html ] && [ -z "$(find . -mindepth 1 \
    \( -path ./node_modules -o -path ./dist -o -path ./e2e -o -path './test-results*' \) -prune \
    -o -newer dist/index.html -print -quit)" ]; then
    exit 0
fi
npm run --silent build
