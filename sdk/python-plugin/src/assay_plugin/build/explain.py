"""What to do about what a component cannot have."""

from __future__ import annotations

import sys
from typing import Any

from . import standard, tools

_NO_PROCESS = "no process can be started in a component; run programs with `assay_plugin.exec`"
_NO_NETWORK = "a plugin has no network; send requests to granted hosts with `assay_plugin.http`"
_NO_THREAD = "a component has one thread, and no other can be started; write it as plain calls"
_NO_NATIVE = "native code cannot be loaded into a component"
_NO_SYSTEM = "there is no operating system around a component"
_NO_CODEC = "this codec is no part of the Python inside a component; `zlib` and `gzip` are"

# Modules of the standard library that the Python inside a component lacks, and well-known packages that have
# native code.
_ABSENT = {
    "_ctypes": _NO_NATIVE,
    "ssl": _NO_NETWORK,
    "_ssl": _NO_NETWORK,
    "_multiprocessing": _NO_PROCESS,
    "_posixsubprocess": _NO_PROCESS,
    "bz2": _NO_CODEC,
    "_bz2": _NO_CODEC,
    "lzma": _NO_CODEC,
    "_lzma": _NO_CODEC,
    "cffi": _NO_NATIVE,
    "numpy": _NO_NATIVE,
    "scipy": _NO_NATIVE,
    "torch": _NO_NATIVE,
    "pandas": _NO_NATIVE,
    "regex": f"{_NO_NATIVE}; Python's own `re` is there",
    **dict.fromkeys(
        ("fcntl", "grp", "mmap", "pwd", "resource", "syslog", "termios", "tty", "pty", "curses", "_curses"),
        _NO_SYSTEM,
    ),
    **dict.fromkeys(("tkinter", "_tkinter", "turtle", "readline", "winreg", "msvcrt"), _NO_SYSTEM),
}
# Those that can be imported, and cannot do what they are for.
_USELESS = {
    "ctypes": _NO_NATIVE,
    "socket": _NO_NETWORK,
    "requests": _NO_NETWORK,
    "httpx": _NO_NETWORK,
    "urllib.request": _NO_NETWORK,
    "http.client": _NO_NETWORK,
    "subprocess": _NO_PROCESS,
    "multiprocessing": _NO_PROCESS,
    "concurrent.futures": _NO_THREAD,
    "threading": _NO_THREAD,
}


def useless(module: str) -> str | None:
    """Why an import that works cannot help a plugin, or None."""
    return _USELESS.get(module)


def absent(module: str) -> str | None:
    """Why there can be no such module, or None."""
    return _ABSENT.get(module) or _ABSENT.get(module.split(".")[0])


def not_found(module: str) -> str:
    """What to do about a module that is not there."""
    name = module.split(".")[0]
    reason = absent(module)
    if reason is None and name in sys.stdlib_module_names and name not in standard.MODULES:
        return f"the Python inside a component, {tools.PYTHON_VERSION}, has it no more"
    return reason or f"name it in requirements.txt, if it is a package, or put `{name}` beside plugin.py"


def failure(problem: dict[str, Any]) -> str:
    """What the component said as it was built, and what to do."""
    said = str(problem["traceback"]).rstrip()
    missing = problem.get("missing")
    if missing:
        return f"{said}\n`{missing}` cannot be imported: {not_found(missing)}"
    if problem["kind"] == "MemoryError":
        return f"{said}\nthe imports take more memory than a component has"
    if "can't start new thread" in str(problem["message"]):
        return f"{said}\n{_NO_THREAD}"
    if problem["kind"] == "NotImplementedError" and "describe" in str(problem["message"]):
        return f"{said}\nwrite `describe`: it returns a Description with the name, the version and the stages"
    return said
