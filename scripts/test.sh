#!/usr/bin/env bash
# Everything that must hold before a change goes in; `make test` and continuous integration run it.
# Shows each step live, goes on after a failed one where that makes sense, names what failed, and ends
# with one line: `N passed, N failed`, and `, N skipped` where tests were ignored or said that they skip.
# The numbers are cargo test's own, but for tests that pass as they say `SKIPPED: why`; a failed step
# without failed tests (a build, formatting, a lint) counts as one failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target" || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The numbers are read from what cargo prints.
export CARGO_TERM_COLOR=never SQLX_OFFLINE=true
failures=()

step() {
    local name=$1
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    "$@" && return
    failures+=("$name")
    return 1
}

# The guests are programs for the sandbox alone; they do not link here.
packages=(--workspace --exclude assay-guests)

run_tests() {
    cargo test "${packages[@]}" --no-fail-fast 2>&1 | tee "$log"
}

# Tests that compile CUDA take its toolkit from here, and skip, saying so, where it cannot be had.
install_toolkit() {
    printf '\n== CUDA toolkit\n'
    if "$target/debug/assay-gpu" install --to "$target/cuda"; then
        ASSAY_TEST_CUDA=$(realpath "$target/cuda")
        export ASSAY_TEST_CUDA
    else
        printf 'SKIPPED: tests that compile CUDA; the toolkit cannot be installed\n'
    fi
}

# The sums of one number over cargo test's result lines.
sum() {
    sed -n "s/^test result: .* \([0-9][0-9]*\) $1;.*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}

if step setup scripts/setup.sh test &&
    step plugins make --no-print-directory plugins guests; then
    step formatting cargo fmt --all --check
    # With the tests, so that what is built here is what they use: their features add to the programs'.
    if step build cargo build "${packages[@]}" --bins --lib --tests; then
        install_toolkit
        step tests run_tests
    fi
    step lints cargo clippy --workspace --all-targets -- -D warnings
fi

passed=$(sum passed)
failed=$(sum failed)
said=$(grep -c 'SKIPPED: ' "$log")
passed=$((passed - said))
skipped=$(($(sum ignored) + said))
for failure in ${failures[@]+"${failures[@]}"}; do
    printf '\nFAILED: %s' "$failure"
    [ "$failure" = tests ] && [ "$failed" -gt 0 ] || failed=$((failed + 1))
done
printf '\n'
grep -o 'SKIPPED: .*' "$log" | sort | uniq -c
summary="$passed passed, $failed failed"
[ "$skipped" = 0 ] || summary="$summary, $skipped skipped"
printf '%s\n' "$summary" | tee "$target/test-summary"
[ "$failed" = 0 ] && [ ${#failures[@]} = 0 ]
