#!/usr/bin/env bash
# A worker for Arm, in an emulator, beside one of this machine: scripts/test-aarch64.sh ARGUMENTS...
#
# Builds the worker for aarch64 with Debian's cross-compiler. tests/aarch64/run.py has the rest of the arguments.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
arm=aarch64-unknown-linux-gnu
rustup target add "$arm"
CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    cargo build --release --target "$arm" -p assay-worker --no-default-features
exec tests/aarch64/run.py --worker "$target/$arm/release/assay-worker" "$@"
