#!/usr/bin/env bash
# What can be known of a change within three minutes, when little is to be built anew: formatting, lints, the
# tests that start no server and no compiler, and one reward from end to end. `make check` runs it; the whole
# truth is `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/testing.sh
trap 'rm -rf "$scratch"' EXIT

scripts/setup.sh sqlx lint
cargo fmt --all --check
make --no-print-directory plugins guests
# Its lints are told as it builds. Packages that were built before repeat them.
cargo build "${linted[@]}" --all-targets 2>&1 | tee "$scratch/build"
if grep -q '^warning' "$scratch/build"; then
    printf 'check: there are lints, see above\n' >&2
    exit 1
fi
install_caches
reward=rewards::a_reward_comes_in_the_response_and_is_kept
if has_nextest; then
    # Its members: .config/nextest.toml
    cargo nextest run "${linted[@]}" --profile check
else
    cargo test "${linted[@]}" --lib --bins
    # The first names are areas of the scheduler and of PTX.
    cargo test "${linted[@]}" --test it --test sim -- sched:: plan:: errors:: fixtures:: instructions:: \
        fair:: faults:: made:: reference:: runs:: scripted:: traces:: structure:: "$reward"
fi
