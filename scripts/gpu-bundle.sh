#!/usr/bin/env bash
# Puts all that a machine with a GPU needs to run the suite into target/gpu-bundle.tar.gz: release
# binaries, the suite, its sources for nvcc, tasks and cheats of the plugin `cuda`, and run.sh. That
# machine needs a driver from 550 on; nvcc is used where there is one. No Rust, no network.
set -euo pipefail
cd "$(dirname "$0")/.."

# Programs of packages, and areas of packages' tests. An end-to-end suite is one more line here: it finds
# programs in $ASSAY_BUNDLE/bin, tasks in $ASSAY_BUNDLE/tasks.
programs=("assay-gpu assay-gpu")
suites=("assay-gpu gpu")
bytes_max=$((64 << 20))

target=${CARGO_TARGET_DIR:-target}
bundle=$target/gpu-bundle
export SQLX_OFFLINE=true
rm -rf "$bundle"
mkdir -p "$bundle"/{bin,suites,sources}

for program in "${programs[@]}"; do
    read -r package name <<<"$program"
    cargo build --release -p "$package" --bin "$name"
    install -s -m 755 "$target/release/$name" "$bundle/bin/"
done
for suite in "${suites[@]}"; do
    read -r package name <<<"$suite"
    built=$(cargo test --release -p "$package" --test it --no-run --message-format=json |
        sed -n 's/.*"kind":\["test"\].*"executable":"\([^"]*\)".*/\1/p')
    install -s -m 755 "$built" "$bundle/suites/$name"
done
cp host/gpu/tests/gpu/{plain,kernels}.cu "$bundle/sources/"
cp scripts/gpu-report.py "$bundle/"
install -m 755 scripts/gpu-run.sh "$bundle/run.sh"
for folder in tasks cheats; do
    if [ -d "plugins/cuda/$folder" ]; then cp -r "plugins/cuda/$folder" "$bundle/"; fi
done
git rev-parse HEAD >"$bundle/commit"

tar -C "$target" -czf "$bundle.tar.gz" gpu-bundle
bytes=$(stat -c %s "$bundle.tar.gz")
if [ "$bytes" -gt "$bytes_max" ]; then
    echo "the bundle has $bytes bytes, more than $bytes_max" >&2
    exit 1
fi
echo "$bundle.tar.gz: $bytes bytes; on the machine with the GPU: tar xzf gpu-bundle.tar.gz && gpu-bundle/run.sh FOLDER"
