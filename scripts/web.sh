#!/bin/sh
# Builds the dashboard into web/dist, from where the server takes it as it is built itself. Does nothing
# where nothing changed, so that the server is not built anew, and where there is no Node that fits: a
# server is whole without its dashboard, and says so.
set -eu
cd "$(dirname "$0")/.."

scripts/setup.sh web || exit 0
cd web
# The pages of the documentation are part of it (src/pages/book).
pages='../docs/book/src ../docs/performance.md ../docs/reliability.md ../docs/reproduction.md ../docs/gpu/README.md
    ../docs/dashboard/README.md ../ARCHITECTURE.md ../GLOSSARY.md'
# shellcheck disable=SC2086 # The names have no spaces.
if [ -f dist/index.html ] && [ -z "$(find . $pages ../plugins/*/README.md ../sdk/*/README.md \
    \( -path ./node_modules -o -path ./dist -o -path ./e2e -o -path './test-results*' \) -prune \
    -o -newer dist/index.html ! -path . -print -quit)" ]; then
    exit 0
fi
npm run --silent build
