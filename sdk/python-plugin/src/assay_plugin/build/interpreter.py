"""componentize-py: links CPython with folders of modules, runs the imports of one module and keeps the memory that
results. It shows the folders to that Python as /0 (the author's and the SDK's) and /1 (the requirements).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from . import tools, world

APPLICATION = "assay_component"
"""The module that componentize-py imports."""
_HOST_ONLY = ("build", "__main__.py", "testing.py")
# Imported from functions, by name, or by the interpreter itself as something goes wrong.
ALWAYS = [
    "_colorize",
    "_strptime",
    "abc",
    "argparse",
    "array",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "codecs",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "errno",
    "fnmatch",
    "fractions",
    "functools",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "html.entities",
    "html.parser",
    "inspect",
    "io",
    "itertools",
    "json",
    "linecache",
    "locale",
    "logging",
    "math",
    "numbers",
    "operator",
    "pickle",
    "posixpath",
    "pprint",
    "random",
    "re",
    "reprlib",
    "shlex",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "time",
    "timeit",
    "token",
    "tokenize",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "warnings",
    "weakref",
    "xml.etree.ElementTree",
    "zlib",
    "encodings.ascii",
    "encodings.base64_codec",
    "encodings.cp1252",
    "encodings.hex_codec",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.punycode",
    "encodings.raw_unicode_escape",
    "encodings.unicode_escape",
    "encodings.utf_16",
    "encodings.utf_16_be",
    "encodings.utf_16_le",
    "encodings.utf_32",
    "encodings.utf_8",
    "encodings.utf_8_sig",
]


def componentize(
    toolbox: tools.Toolbox, stage: Path, imports: world.Imports, output: Path
) -> subprocess.CompletedProcess[str]:
    """Makes a component of the folders `0` and `1` of `stage`."""
    wit = stage / "wit"
    shutil.copytree(imports.wit, wit)
    (wit / f"{world.NAME}.wit").write_text(imports.world, encoding="utf-8")
    command = [toolbox.program("componentize-py"), f"--wit-path={wit}", f"--world={world.NAME}"]
    for interface, name in world.MODULE_NAMES.items():
        if world.has(imports, interface):
            command.append(f"--import-interface-name={interface}={name}")
    command += ["componentize", f"--python-path={stage / '0'}", f"--python-path={stage / '1'}"]
    command += [f"--output={output}", APPLICATION]
    # Without this it would add the packages of whatever Python it finds on this machine.
    (stage / "empty" / "lib" / "site-packages").mkdir(parents=True)
    outside = {**os.environ, "VIRTUAL_ENV": str(stage / "empty")}
    return subprocess.run(command, env=outside, capture_output=True, text=True, check=False)


def add_sdk(sdk: Path, folder: Path) -> None:
    """Adds the component's side of the SDK to a folder."""
    ignored = shutil.ignore_patterns("__pycache__", *_HOST_ONLY)
    shutil.copytree(sdk / "src" / "assay_plugin", folder / "assay_plugin", ignore=ignored)


def sdk_modules(sdk: Path) -> list[str]:
    """The modules that `add_sdk` adds."""
    source = sdk / "src"
    found = []
    for path in sorted((source / "assay_plugin").rglob("*.py")):
        parts = path.relative_to(source).parts
        if parts[1] not in _HOST_ONLY:
            found.append(".".join(parts).removesuffix(".py").removesuffix(".__init__"))
    return found
