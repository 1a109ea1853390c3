"""Compiles kernels by NVRTC in this process, as a plain script does: no box, no limits.

usage: nvrtc.py TOOLKIT ARCH COUNT; prints a JSON array of milliseconds, one a kernel, and the last PTX's
bytes to standard error."""
import ctypes
import json
import pathlib
import sys
import time

SOURCE = open(pathlib.Path(__file__).with_name("kernel.cu")).read()


def load(toolkit):
    folder = pathlib.Path(toolkit) / "lib"
    builtins = sorted(folder.glob("libnvrtc-builtins.so.*"))[0]
    ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(sorted(folder.glob("libnvrtc.so.*"))[0]))


def check(code):
    if code:
        sys.exit(f"NVRTC answers {code}")


def compile(library, source, options):
    program = ctypes.c_void_p()
    check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    check(library.nvrtcCompileProgram(program, len(options), words))
    size = ctypes.c_size_t()
    check(library.nvrtcGetPTXSize(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    check(library.nvrtcGetPTX(program, text))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return text.value


def main():
    toolkit, arch, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    library = load(toolkit)
    options = [f"--gpu-architecture={arch}", f"--include-path={toolkit}/include"]
    taken = []
    for number in range(count):
        started = time.perf_counter()
        ptx = compile(library, SOURCE.replace("NUMBER", str(number)), options)
        taken.append(1e3 * (time.perf_counter() - started))
    print(len(ptx), file=sys.stderr)
    print(json.dumps(taken))


main()
