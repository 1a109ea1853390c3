#!/usr/bin/env bash
# Runs the tests whose names hold a text, with what they need built: scripts/test-one.sh NAME [OPTION]...
# The options are the test runner's. `make test-one NAME=...` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${1:-}" ]; then
    cat >&2 <<'USAGE'
usage: make test-one NAME=TEXT     runs every test whose name holds TEXT

A name is the module and the function: NAME=rewards:: runs the area tests/tests/rewards.rs,
NAME=rewards::whoever_cannot_wait_asks_later one test of it. Programs, plugins and guests are built first.
What a test and, where it fails, its server said is shown. ARGS passes options to cargo-nextest, such as
ARGS=--no-capture; `cargo nextest list -p assay-tests` prints the names of that package.
With ASSAY_TEST_LONG=1, tests that otherwise try samples try every case.
USAGE
    exit 2
fi
. scripts/testing.sh
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$scratch"' EXIT

scripts/setup.sh sqlx lint
make --no-print-directory plugins guests
# With everything else, so that nothing is built another time for `make test`.
cargo build "${linted[@]}" --all-targets
install_caches
share_postgres
if [ -d "$target/cuda" ]; then
    ASSAY_TEST_CUDA=$(realpath "$target/cuda")
    export ASSAY_TEST_CUDA
fi
name=$1
shift
if has_nextest; then
    cargo nextest run "${linted[@]}" --success-output final "$name" "$@"
else
    cargo test "${linted[@]}" --no-fail-fast "$name" "$@" -- --nocapture
fi
