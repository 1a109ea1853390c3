#!/usr/bin/env bash
# Runs the paper's figures, and what goes past them, and writes docs/reproduction.md with its charts.
#
#   scripts/reproduce.sh [FOLDER WITH TRACES]      (../shared/traces, where there is one)
#
# Without the traces of the reference simulator it draws others, and says so. All cores, some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${CARGO_TARGET_DIR:-target}/release/assay-reproduce
traces=${1:-../shared/traces}

[ -x "$program" ] || {
    printf 'reproduce: %s is missing: run `make reproduce`\n' "$program" >&2
    exit 1
}
if [ -f "$traces/simulate_vectors.jsonl.gz" ]; then
    "$program" vectors "$traces/simulate_vectors.jsonl.gz"
fi
exec "$program" report --traces "$traces" --out docs
