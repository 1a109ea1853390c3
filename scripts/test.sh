#!/usr/bin/env bash
# Everything that must hold before a change goes in; `make test` and continuous integration run it.
# With ASSAY_TEST_LONG=1 (`make test-long`) all is tried of what is tried by samples else, and the server's
# answers reach the browser late; PROPTEST_CASES (256) says how many random cases properties are tried on.
#
# Shows each step live, goes on after a failed one where that makes sense, and ends with what was skipped,
# how each failure begins, and one line: `N passed, N failed`, and `, N skipped` where tests were ignored or
# said that they skip. The numbers are those of cargo test, vitest, Playwright and the contract's passes, but
# for tests that pass as they say `SKIPPED: why`; a failed step without failed tests (a build, formatting, a
# lint) counts as one failure, a step that cannot be tried here as one that is skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target" || exit 1
scratch=$(mktemp -d)
# Others pass through it.
chmod 711 "$scratch"
logs=$scratch/logs
mkdir "$logs"
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
# The numbers are read from what is printed.
export CARGO_TERM_COLOR=never NO_COLOR=1 SQLX_OFFLINE=true
unset FORCE_COLOR
failures=()
skips=()
passed=0
failed=0
skipped=0

heading() { printf '\n== %s (at %d:%02d)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

run_step() {
    local name=$1
    shift
    heading "$name: $*"
    "$@" 2>&1 | tee "$logs/$name" && return
    failures+=("$name")
    return 1
}

step() {
    run_step "$@" && return
    failed=$((failed + 1))
    return 1
}

# The last number before a word on the lines of a step's log that match a pattern.
number() {
    sed -n "/$2/s/.*[^0-9]\([0-9][0-9]*\) $3\>.*/\1/p" <<<" $(sed 's/^/ /' "$logs/$1")" |
        awk '{ n += $1 } END { print n + 0 }'
}

# A step that counts tests itself: its name, the pattern of the lines with its numbers, the command.
counted_step() {
    local name=$1 lines=$2 status=0 of_it
    shift 2
    run_step "$name" "$@" || status=1
    of_it=$(number "$name" "$lines" failed)
    passed=$((passed + $(number "$name" "$lines" passed)))
    failed=$((failed + of_it))
    skipped=$((skipped + $(number "$name" "$lines" '\(skipped\|ignored\)')))
    [ "$status" = 0 ] || [ "$of_it" -gt 0 ] || failed=$((failed + 1))
    return "$status"
}

# The server goes without a dashboard where its tools cannot be had.
set_up_build() { scripts/setup.sh build lint && { scripts/setup.sh web || true; }; }

# What the tests alone need is mostly waited for, so it is installed while everything is built.
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

# Built as they are linted: Clippy's driver is the compiler, so that nothing is read twice and the packages
# of others are compiled once. The guests are programs for the sandbox alone; they do not link here.
linted=(--config 'build.rustc-workspace-wrapper="clippy-driver"' --workspace --exclude assay-guests)

# With the tests, so that what is built here is what they use: their features add to the programs'.
build() { cargo build "${linted[@]}" --all-targets; }

run_tests() { cargo test "${linted[@]}" --no-fail-fast; }

# Of what was built, and of the guests.
lint() {
    cargo clippy -p assay-guests --all-targets -- -D warnings && ! grep -A 4 '^warning' "$logs/build"
}

# Some hundred servers are started; what is costly for each is done once for all of them.
install_caches() {
    local postgres
    postgres=$("$target/debug/assay" doctor | sed -n 's/^ok *PostgreSQL *version [0-9]* in //p')
    [ -z "$postgres" ] || ASSAY_POSTGRES_BIN=$(scripts/caching-postgres.sh "$scratch/postgres" "$postgres")
    ASSAY_WORKER_PROGRAM=$(realpath "$target/debug/assay-caching-worker")
    export ASSAY_POSTGRES_BIN ASSAY_WORKER_PROGRAM
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

skip() {
    heading "$1"
    printf 'SKIPPED: %s: %s\n' "$1" "$2"
    skips+=("$1: $2")
}

in_web() { (cd web && "$@"); }

# The types that the dashboard is checked with are those of the server that was just built.
check_types() {
    "$target/debug/assay" openapi >"$logs/openapi.json" && in_web npm run --silent api -- --check "$logs/openapi.json"
}

web_installed() { scripts/setup.sh web; }

test_web() {
    if ! web_installed; then
        skip dashboard 'no Node 20.19 or newer, or its packages cannot be had; the server has no dashboard'
        return
    fi
    step 'dashboard types' check_types
    counted_step 'dashboard' '^ *Tests  ' in_web npm run --silent check
    if command -v "${ASSAY_CHROMIUM:-chromium}" >/dev/null; then
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

# The book's pages, followed from top to bottom, one after the other; then the book itself and its links.
test_book() {
    counted_step docs '^ *docs: [0-9]* passed' docs/book/run.py
    if [ -x "$target/tools/bin/mdbook" ]; then
        counted_step book '^ *book: [0-9]* passed' docs/book/build.py
    else
        skip book 'no mdbook'
    fi
}

# How what a step said of its failure begins.
why() {
    case $1 in
        tests)
            grep '^test .* FAILED$' "$logs/$1"
            sed -n '/^---- /,/^stack backtrace\|^note: /p' "$logs/$1"
            ;;
        browser) sed -n '/^  1) /,$p' "$logs/$1" ;;
        *) tail -n 15 "$logs/$1" ;;
    esac | grep -v '^ *$' | cut -c 1-120 | head -n 15
}

built=
if step setup set_up_build; then
    start_setup
    if step plugins make --no-print-directory plugins guests; then
        step formatting cargo fmt --all --check
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
    counted_step tests '^ *test result: ' run_tests
    test_web
    test_contract
    test_python_client
    test_book
fi

touch "$logs/tests"
said=$(grep -c 'SKIPPED: ' "$logs/tests")
passed=$((passed - said))
skipped=$((skipped + said + ${#skips[@]}))
printf '\n'
grep -o 'SKIPPED: [^:]*' "$logs/tests" | sort | uniq -c
[ ${#skips[@]} = 0 ] || printf '      1 SKIPPED: %s\n' "${skips[@]}"
for failure in ${failures[@]+"${failures[@]}"}; do
    printf '\nFAILED: %s\n' "$failure"
    why "$failure"
done
summary="$passed passed, $failed failed"
[ "$skipped" = 0 ] || summary="$summary, $skipped skipped"
printf '%s\n' "$summary" | tee "$target/test-summary"
[ "$failed" = 0 ] && [ ${#failures[@]} = 0 ]
