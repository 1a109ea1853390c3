#!/usr/bin/env bash
# Runs a fuzz target of fuzz/ for some seconds, from the inputs that earlier runs found and those of fuzz/seeds.py;
# builds it first. `make fuzz` runs it. Fails where an input breaks the target's property, with that input in
# fuzz/artifacts/TARGET.
#
#   scripts/fuzz.sh TARGET [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."

targets=$(cd fuzz/targets && printf '%s ' *.rs)
targets=${targets//.rs/}
name=${1:-}
seconds=${2:-60}
if [ ! -f "fuzz/targets/$name.rs" ]; then
    printf 'fuzz: no target `%s`: %s\n' "$name" "$targets" >&2
    exit 2
fi

# An input that takes longer, or a process that takes more memory, is a finding.
input_seconds_max=20
memory_mib_max=2048

# The engine counts edges of the program and sees what is compared. There is no sanitizer: the crates have no unsafe
# code, and those flags are stable. They must not be used for build scripts, so the host is named as a target.
flags=(-Cpasses=sancov-module)
for option in level=4 inline-8bit-counters pc-table trace-compares; do
    flags+=("-Cllvm-args=-sanitizer-coverage-$option")
done
host=$(rustc -vV | sed -n 's/^host: //p')
# A target with a feature of its name needs far more crates than the others.
features=()
if grep -q "^$name = \[" fuzz/Cargo.toml; then
    features=(--features "$name")
fi
RUSTFLAGS="${flags[*]}" cargo build --release --locked --manifest-path fuzz/Cargo.toml --target-dir fuzz/target \
    --target "$host" --bin "$name" "${features[@]}"
program=fuzz/target/$host/release/$name

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
fuzz/seeds.py "$name" "$seeds"
mkdir -p "fuzz/corpus/$name" "fuzz/artifacts/$name"
status=0
"$program" -max_total_time="$seconds" -timeout="$input_seconds_max" -rss_limit_mb="$memory_mib_max" \
    -artifact_prefix="fuzz/artifacts/$name/" -print_final_stats=1 "fuzz/corpus/$name" "$seeds" || status=$?
if [ "$status" != 0 ]; then
    printf 'fuzz: %s failed; make the input small by\n  %s -minimize_crash=1 -max_total_time=60 %s %s\n' \
        "$name" "$program" "-artifact_prefix=fuzz/artifacts/$name/" "fuzz/artifacts/$name/INPUT" >&2
fi
exit "$status"
