#!/bin/sh
# Makes the PTX that is committed beside its source: the judge's kernels, and those of the tests for a
# GPU; of the judge's also machine code. By NVRTC 12.4 from PyPI, whose PTX every driver from 550 on takes.
# Needs python3 with pip. To be run when one of the sources changes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download -q --no-deps --only-binary=:all: -d "$work" nvidia-cuda-nvrtc-cu12==12.4.127
python3 -m zipfile -e "$work"/*.whl "$work"
python3 - "$work/nvidia/cuda_nvrtc/lib" "$root/host/gpu" <<'PYTHON'
import ctypes
import pathlib
import sys

SOURCES = {
    "src/cuda/judge.cu": "compute_70",
    "tests/gpu/kernels.cu": "compute_70",
    "tests/gpu/native.cu": "compute_80",
}

COMPILED = {"src/cuda/judge.cu": ["sm_80", "sm_90"]}

library, folder = map(pathlib.Path, sys.argv[1:])
ctypes.CDLL(str(library / "libnvrtc-builtins.so.12.4"), mode=ctypes.RTLD_GLOBAL)
nvrtc = ctypes.CDLL(str(library / "libnvrtc.so.12"))


def compiled(path, arch):
    program = ctypes.c_void_p()
    name = path.name.encode()
    created = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), path.read_bytes(), name, 0, None, None)
    if created != 0:
        sys.exit(f"NVRTC gave {created}")
    options = [b"--gpu-architecture=" + arch.encode(), b"--fmad=false", b"--std=c++17"]
    result = nvrtc.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options))

    def made(size_of, get):
        size = ctypes.c_size_t()
        size_of(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        get(program, buffer)
        return buffer.raw[: size.value]

    log = made(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).rstrip(b"\0").decode()
    if result != 0 or log:
        sys.exit(f"{path}: {log or result}")
    if arch.startswith("sm_"):
        return made(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    return made(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX).rstrip(b"\0")


for source, arch in SOURCES.items():
    path = folder / source
    path.with_suffix(".ptx").write_bytes(compiled(path, arch))
    for arch in COMPILED.get(source, []):
        path.with_suffix(f".{arch}.cubin").write_bytes(compiled(path, arch))
PYTHON
