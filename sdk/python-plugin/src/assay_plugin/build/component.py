"""Makes the component: stages the files, runs componentize-py on them, reads what the plugin said.

componentize-py links CPython with the files, runs their imports and keeps the memory that results. It shows
the staged folders to that Python as /0 (the author's and the SDK's) and /1 (the requirements).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import explain, packages, reach, sources, tools, world
from .problem import BuildFailed, say

_APPLICATION = "assay_component"
_REPORT = "assay-report.json"
_HOST_ONLY = ("build", "__main__.py", "testing.py")
# Imported from functions, by name, or by the interpreter itself as something goes wrong.
_ALWAYS = [
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


@dataclass(frozen=True)
class Made:
    """A component, and what it calls itself."""

    path: Path
    name: str
    version: str


def make(
    toolbox: tools.Toolbox,
    found: sources.Sources,
    installed: packages.Installed,
    imports: world.Imports,
    sdk: Path,
    work: Path,
) -> Made:
    """Builds into the folder `work`; `BuildFailed` where the plugin or a package is at fault."""
    stage = tools.fresh_folder(work, "stage")
    application = _stage_application(stage / "0", found, installed, sdk)
    third_party = _copied(installed.folder, installed.files, stage / "1")
    wit = stage / "wit"
    shutil.copytree(imports.wit, wit)
    (wit / f"{world.NAME}.wit").write_text(imports.world, encoding="utf-8")
    output = stage / "plugin.wasm"
    command = [toolbox.program("componentize-py"), f"--wit-path={wit}", f"--world={world.NAME}"]
    for interface, name in world.MODULE_NAMES.items():
        if interface.split("/")[0] in imports.world or interface.startswith("assay:reward/"):
            command.append(f"--import-interface-name={interface}={name}")
    command += ["componentize", f"--python-path={application}", f"--python-path={third_party}"]
    command += [f"--output={output}", _APPLICATION]
    # Without this it would add the packages of whatever Python it finds on this machine.
    (stage / "empty" / "lib" / "site-packages").mkdir(parents=True)
    outside = {**os.environ, "VIRTUAL_ENV": str(stage / "empty")}
    done = subprocess.run(command, env=outside, capture_output=True, text=True, check=False)
    report = _report(application / _REPORT)
    if done.returncode != 0 or "problem" in report or not output.is_file():
        raise BuildFailed(_why(done.stderr, report))
    _tell_missing(report["missing"], found, installed)
    return Made(output, report["name"], report["version"])


def _stage_application(
    folder: Path, found: sources.Sources, installed: packages.Installed, sdk: Path
) -> Path:
    _copied(found.project, found.files, folder)
    package = sdk / "src" / "assay_plugin"
    shutil.copytree(
        package, folder / "assay_plugin", ignore=shutil.ignore_patterns("__pycache__", *_HOST_ONLY)
    )
    reached = reach.from_imports((one.module for one in found.imports), installed.modules())
    modules = [*_ALWAYS, *reached.standard, *found.modules(), *reached.packages]
    (folder / f"{_APPLICATION}.py").write_text(
        "from assay_plugin.component import start\n\n"
        f"Plugin = start({list(dict.fromkeys(modules))!r}, {found.python_files()!r})\n",
        encoding="utf-8",
    )
    return folder


def _copied(root: Path, files: list[Path], to: Path) -> Path:
    to.mkdir(parents=True)
    for path in files:
        target = to / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return to


def _report(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _why(said: str, report: dict[str, Any]) -> str:
    problem = report.get("problem")
    if isinstance(problem, dict):
        return f"the plugin cannot be built:\n{explain.failure(problem)}"
    # What follows is componentize-py's own trace.
    kept = said.split("Stack backtrace:")[0].strip().splitlines()[-30:]
    return "componentize-py failed:\n" + "\n".join(kept)


def _tell_missing(missing: object, found: sources.Sources, installed: packages.Installed) -> None:
    if not isinstance(missing, dict):
        return
    theirs = [name for name in sorted(installed.modules()) if name in missing]
    for name in found.modules():
        if name in missing:
            say(f"warning: `{name}` cannot be imported, and will not be there: {missing[name]}")
    if theirs:
        shown = "".join(f"\n  {name}: {missing[name]}" for name in theirs[:5])
        more = f"\n  and {len(theirs) - 5} more" if len(theirs) > 5 else ""
        say(
            f"note: {len(theirs)} modules of packages cannot be imported, and will not be there:{shown}{more}"
        )
