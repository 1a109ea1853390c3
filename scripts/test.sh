#!/usr/bin/env bash
# Everything that must hold before a change goes in; `make test` and continuous integration run it.
# With ASSAY_TEST_LONG=1 (`make test-long`) tests that otherwise try samples try every case, the server's
# answers reach the browser late, and each fuzz target runs for a minute; PROPTEST_CASES (256) says how many random
# cases properties are tried on.
#
# Shows each step live, or at its end where it runs beside the tests; goes on after a failed one where that makes
# sense. Ends with what was skipped, how each failure begins, a table of the steps' times (also in
# target/test-times.txt), and one line: `N passed, N failed`, and `, N skipped` where tests were ignored or said
# that they skip. The numbers are those of the test runner, vitest, Playwright and the contract's passes, but
# for tests that pass as they say `SKIPPED: why`; a failed step without failed tests (a build, formatting, a
# lint) counts as one failure, a step that cannot be tried here as one that is skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/testing.sh

logs=$scratch/logs
results=$scratch/results
mkdir "$logs" "$results"
rm -f "$target/test-summary"
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$scratch"' EXIT
# The numbers are read from what is printed.
export CARGO_TERM_COLOR=never NO_COLOR=1
unset FORCE_COLOR
# Set where steps run side by side.
beside=

heading() { printf '\n== %s (at %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

# The last number before a word on the lines of a log that match a pattern.
number() {
    sed -n "/$2/s/.*[^0-9]\([0-9][0-9]*\) $3\>.*/\1/p" <<<" $(sed 's/^/ /' "$1")" |
        awk '{ n += $1 } END { print n + 0 }'
}

# Seconds of the processors that `times` told, of a shell and what it waited for.
processor_seconds() {
    tr ' ms' '\n  ' <"$1" | awk 'NF == 2 { s += 60 * $1 + $2 } END { printf "%.0f", s }'
}

# The result of a step: its name, its status, the tests passed, failed and skipped, seconds of the clock and of
# the processors. A file for each, so that steps can run side by side; they are in the order of their starts.
note() { (IFS=$'\t' && printf '%s\n' "${*:2}") >"$results/$1"; }

# The pattern of the lines with a step's numbers, its name, the command.
run_step() {
    local lines=$1 name=$2 began=${EPOCHREALTIME/[.,]/} status of_it=(0 0 0) seconds said
    shift 2
    local log=$logs/$name
    [ -n "$beside" ] || heading "$name: $*"
    ( "$@" && status=0 || status=$?; times >"$log.times"; exit "$status" ) 2>&1 |
        if [ -n "$beside" ]; then cat >"$log"; else tee "$log"; fi
    status=${PIPESTATUS[0]}
    seconds=$(((${EPOCHREALTIME/[.,]/} - began + 500000) / 1000000))
    if [ -n "$lines" ]; then
        of_it=("$(number "$log" "$lines" passed)" "$(number "$log" "$lines" '\(failed\|timed out\)')"
            "$(number "$log" "$lines" '\(skipped\|ignored\)')")
        # Tests pass as they say that they skip; other steps count what they skip themselves.
        if [ "$name" = tests ]; then
            said=$(grep -c 'SKIPPED: ' "$log")
            of_it=($((of_it[0] - said)) "${of_it[1]}" $((of_it[2] + said)))
        fi
    fi
    [ "$status" = 0 ] || [ "${of_it[1]}" -gt 0 ] || of_it[1]=1
    note "$began" "$name" "$status" "${of_it[@]}" "$seconds" "$(processor_seconds "$log.times")"
    [ -z "$beside" ] || { flock 9 && heading "$name, after $seconds s: $*" && cat "$log"; } 9>>"$scratch/printing"
    return "$status"
}

step() { run_step '' "$@"; }

# A step that counts tests itself: its name, the pattern of the lines with its numbers, the command.
counted_step() { run_step "$2" "$1" "${@:3}"; }

skip() {
    heading "$1"
    printf 'SKIPPED: %s: %s\n' "$1" "$2"
    note "${EPOCHREALTIME/[.,]/}" "$1" skipped 0 0 1 0 0 "$2"
}

# Runs functions side by side, the steps of each in their order. Those of the first are shown live.
side_by_side() {
    local each started=()
    for each in "${@:2}"; do
        (beside=yes && "$each") &
        started+=($!)
    done
    "$1"
    wait "${started[@]}"
}

# The server goes without a dashboard where its tools cannot be had.
set_up_build() { scripts/setup.sh build lint && { scripts/setup.sh web || true; }; }

# The needs of the tests alone are mostly waited for, so they are installed while everything is built.
start_setup() {
    scripts/setup.sh test >"$scratch/setup" 2>&1 &
    setup=$!
}

end_setup() {
    wait "$setup"
    step 'setup for tests' told "$?"
}

told() {
    cat "$scratch/setup"
    return "$1"
}

# With the tests, so that what is built here is what they use: their features add to the programs'.
build() { cargo build "${linted[@]}" --all-targets; }

run_tests() {
    if ! has_nextest; then
        cargo test "${linted[@]}" --no-fail-fast
        return
    fi
    local status=0
    rm -f "$report"
    cargo nextest run "${linted[@]}" || status=$?
    # The output of passing tests is in the report alone. A test that says so twice is skipped once.
    awk '/<testcase / { said = 0 } /SKIPPED: / && !said { said = 1; sub(/.*SKIPPED: /, "SKIPPED: "); print }' "$report" |
        sed "s/&apos;/'/g; s/&quot;/\"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g"
    return "$status"
}

# The lints of what was built, and of the guests.
lint() {
    cargo clippy -p assay-guests --all-targets -- -D warnings && ! grep -A 4 '^warning' "$logs/build"
}

# Tests that compile CUDA take its toolkit from here, and skip, saying so, where it cannot be had.
install_toolkit() {
    heading 'CUDA toolkit'
    if "$target/debug/assay-gpu" install --to "$target/cuda"; then
        ASSAY_TEST_CUDA=$(realpath "$target/cuda")
        export ASSAY_TEST_CUDA
    else
        printf 'SKIPPED: tests that compile CUDA; the toolkit cannot be installed\n'
    fi
}

# The targets of fuzz/ are a workspace of their own.
check_formatting() { cargo fmt --all --check && cargo fmt --manifest-path fuzz/Cargo.toml --check; }

# Runs each target for a minute. They are built with other flags than everything else, so `make test` leaves them out.
fuzz() {
    local target
    [ -n "${ASSAY_TEST_LONG:-}" ] || return 0
    step 'setup for fuzzing' scripts/setup.sh fuzz || return 0
    for target in fuzz/targets/*.rs; do
        target=${target##*/}
        step "fuzz ${target%.rs}" scripts/fuzz.sh "${target%.rs}" 60
    done
}

# A minute of faults under load. Like the fuzz targets it is too long for `make test`, and wants the machine for itself.
chaos() {
    [ -n "${ASSAY_TEST_LONG:-}" ] || return 0
    counted_step chaos '^chaos: [0-9]* passed' tests/chaos/run.py --minutes 1 --seed "${ASSAY_CHAOS_SEED:-1}"
}

# All tests of the packages, then those in documents, which nextest does not run.
test_rust() {
    if has_nextest; then
        counted_step tests '^ *Summary \[' run_tests
        counted_step 'tests in documents' '^test result: ' cargo test "${linted[@]}" --doc
    else
        counted_step tests '^test result: ' run_tests
    fi
}

in_web() { (cd web && "$@"); }

# The types that the dashboard is checked with are those of the server that was just built.
check_types() {
    "$target/debug/assay" openapi >"$logs/openapi.json" && in_web npm run --silent api -- --check "$logs/openapi.json"
}

test_web() {
    if ! scripts/setup.sh web; then
        skip dashboard 'no Node 20.19 or newer, or its packages cannot be had; the server has no dashboard'
        return
    fi
    step 'dashboard types' check_types
    counted_step 'dashboard' '^ *Tests  ' in_web npm run --silent check
    if [ -n "${ASSAY_CHROMIUM:-}" ] || command -v chromium-headless-shell chromium >/dev/null; then
        counted_step 'browser' '^  *[0-9][0-9]* [a-z ]*\( (.*)\)*$' in_web npm run --silent e2e
    else
        skip browser 'no chromium'
    fi
}

test_contract() {
    if [ -x "$target/contract-venv/bin/schemathesis" ]; then
        counted_step contract '^ *contract: [0-9]* passed' tests/contract/run.py
    else
        skip contract 'no schemathesis'
    fi
}

in_python_client() {
    local environment
    environment=$(realpath "$target/python-client-venv") &&
        (cd sdk/python-client && PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" -m pytest)
}

# Its models are those of the server that was just built.
check_python_models() {
    "$target/debug/assay" openapi >"$logs/models.json" && sdk/python-client/generate.py --check "$logs/models.json"
}

test_python_client() {
    if [ -x "$target/python-client-venv/bin/pytest" ]; then
        step 'python client models' check_python_models
        counted_step 'python client' '^ *[0-9][0-9]* [a-z].* in [0-9.]*s' in_python_client
    else
        skip 'python client' 'no virtual environment'
    fi
}

# The book's pages, followed from top to bottom, one after the other; then its links, in the built book where
# `make docs` has put mdbook, in its sources elsewhere.
test_book() {
    local sources=--check
    [ ! -x "$target/tools/bin/mdbook" ] || sources=
    counted_step docs '^ *docs: [0-9]* passed' docs/book/run.py
    counted_step book '^ *book: [0-9]* passed' docs/book/build.py ${sources:+"$sources"}
}

# The files for Kubernetes, containers and systemd.
test_deploy() {
    if [ -x "$target/deploy-venv/bin/kubernetes-validate" ]; then
        counted_step deploy '^ *deploy: [0-9]* passed' "$target/deploy-venv/bin/python" tests/deploy/run.py
    else
        skip deploy 'no kubernetes-validate'
    fi
}

# The images, and the Pods of Kubernetes as podman runs them, with the programs that were just built.
test_containers() {
    local why
    if why=$(scripts/test-containers.sh can 2>&1); then
        counted_step containers '^ *test-containers: [0-9]* passed' scripts/test-containers.sh debug
    else
        skip containers "$why"
    fi
}

test_clients() {
    test_python_client
    test_book
}

test_interfaces() {
    test_deploy
    test_contract
}

# How what a step said of its failure begins.
why() {
    case $1 in
        tests)
            grep '^test .* FAILED$\|^ *\(FAIL\|TIMEOUT\|SIG[A-Z]*\) \[' "$logs/$1" | sort -u
            sed -n '/^---- /,/^stack backtrace\|^note: /p; /^ *stderr ───$/,/^ *note: /p' "$logs/$1"
            ;;
        browser) sed -n '/^  1) /,$p' "$logs/$1" ;;
        *) tail -n 15 "$logs/$1" ;;
    esac | grep -v '^ *$' | cut -c 1-120 | head -n 15
}

# The steps' times, the totals, and which tests took longest; of the run before as well, where there was one.
tell_times() {
    printf '%-22s %7s %7s %8s %9s %11s\n' step passed failed skipped 'wall s' 'processor s'
    awk -F '\t' '{ printf "%-22s %7d %7d %8d %9d %11d\n", $1, $3, $4, $5, $6, $7; cpu += $7 }
        END { printf "%-22s %33d %11d\n", "all", '$SECONDS', cpu }' "$results"/*
    if [ -f "$report" ]; then
        printf '\nthe slowest tests, in seconds\n'
        sed -n 's/.*<testcase name="\([^"]*\)" classname="\([^"]*\)".* time="\([0-9.]*\)".*/\3 \2 \1/p' \
            "$report" | sort -rn | head -n 20
    fi
}

built=
if step setup set_up_build; then
    start_setup
    if step plugins make --no-print-directory plugins guests; then
        step formatting check_formatting
        # Before the server, which takes it in.
        step 'dashboard build' make --no-print-directory web
        step build build && built=yes
    fi
    end_setup || built=
fi
if [ -n "$built" ]; then
    step lints lint
    install_toolkit
    install_caches
    share_postgres
    # Each waits more than it computes.
    side_by_side test_rust test_web test_clients test_interfaces test_containers
    chaos
    fuzz
fi

touch "$logs/tests"
read -r passed failed skipped < <(awk -F '\t' '{ p += $3; f += $4; s += $5 } END { print p + 0, f + 0, s + 0 }' "$results"/*)
printf '\n'
grep -o 'SKIPPED: [^:]*' "$logs/tests" | sort | uniq -c
awk -F '\t' '$2 == "skipped" { printf "      1 SKIPPED: %s: %s\n", $1, $8 }' "$results"/*
broken=0
while IFS=$'\t' read -r name status _; do
    case $status in 0 | skipped) continue ;; esac
    broken=$((broken + 1))
    printf '\nFAILED: %s\n' "$name"
    why "$name"
done < <(cat "$results"/*)
times=$target/test-times.txt
[ ! -f "$times" ] || mv "$times" "$target/test-times-before.txt"
printf '\n'
tell_times | tee "$times"
printf '\n'
summary="$passed passed, $failed failed"
[ "$skipped" = 0 ] || summary="$summary, $skipped skipped"
printf '%s\n' "$summary" | tee "$target/test-summary"
[ "$failed" = 0 ] && [ "$broken" = 0 ]
