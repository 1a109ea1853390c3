#!/bin/sh
# Builds target/plugin.wasm if a file is newer than it. Two builds of the same files differ in their bytes, and
# publishing is a no-op for equal bytes alone.
set -eu
cd "$(dirname "$0")"
mkdir -p target
[ -d node_modules/componentize-qjs ] || npm install --no-audit --no-fund --loglevel=error >&2
if [ -f target/plugin.wasm ]; then
    newer=$(find . \( -name node_modules -o -name target -o -name cases \) -prune -o -type f -newer target/plugin.wasm -print)
    [ -n "$newer" ] || exit 0
fi
# What is saved from now on is newer than the component.
touch target/started
node_modules/.bin/componentize-qjs --sync --wit vendor/wit/reward --world javascript-plugin \
    --js plugin.js --output target/unfinished.wasm >&2
touch -r target/started target/unfinished.wasm
mv target/unfinished.wasm target/plugin.wasm
