"""The component with the interpreter alone: CPython with the SDK and what most plugins import, as far as it is before
the first module of an author. It is made once for each set of capabilities and kept; the worker program continues it.

`assay plugin` names the worker program (ASSAY_WORKER_PROGRAM) and the folder for the cache (ASSAY_CACHE).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import interpreter, tools, world
from .problem import BuildFailed, say, warn

_KEPT_MAX = 6
"""Bases that are kept; each takes 60 MB or so."""
_COMPONENT = "base.wasm"
_PROJECT = "assay-project.json"
_REPORT = "assay-report.json"
_LIBRARIES = ("python", "world", "bundled")
"""The folders that componentize-py shows to Python; a base copies them to `libraries`."""


@dataclass(frozen=True)
class Base:
    """A component, and the libraries of its Python."""

    folder: Path
    worker: str
    cache: Path


def ready(toolbox: tools.Toolbox, imports: world.Imports, sdk: Path) -> Base | None:
    """The base for these imports, made if it is not kept yet; None where nothing could continue it."""
    worker = os.environ.get("ASSAY_WORKER_PROGRAM")
    cache = os.environ.get("ASSAY_CACHE")
    # A base cannot be continued with functions of wasi:http, whose streams are the system interface's.
    if not worker or not cache or not Path(worker).is_file() or "wasi:http/" in imports.world:
        return None
    bases = Path(cache) / "python"
    base = Base(bases / _digest(imports, sdk), worker, Path(cache))
    if (base.folder / _COMPONENT).is_file():
        # The time of its last use.
        os.utime(base.folder)
        return base
    say("preparing Python (half a minute or so, once)")
    bases.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=bases, prefix=".making-") as making:
        made = _make(toolbox, imports, sdk, Path(making))
        try:
            made.rename(base.folder)
        except OSError:
            # Another build made it meanwhile.
            if not (base.folder / _COMPONENT).is_file():
                raise
    _forget_old(bases)
    return base


def extend(base: Base, stage: Path, modules: list[str], project: list[str], output: Path) -> str | None:
    """Imports the modules of the folders `0` and `1` of `stage`. Returns what was said on the way; None where the
    interpreter could not be continued, which is nobody's fault: the component is then made without it.
    """
    given = {"modules": modules, "project": project}
    (stage / "0" / _PROJECT).write_text(json.dumps(given), encoding="utf-8")
    folders = {"0": stage / "0", "1": stage / "1"}
    folders.update((name, base.folder / "libraries" / name) for name in _LIBRARIES)
    command = [base.worker, "snapshot", str(base.folder / _COMPONENT), f"--out={output}"]
    command += [f"--folder={name}={folder}" for name, folder in folders.items()]
    command.append(f"--compiled={base.cache / 'compiled'}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0 or "problem" in report(stage):
        return done.stderr
    warn(f"the kept Python cannot be used: {done.stderr.strip()[-500:]}")
    output.unlink(missing_ok=True)
    return None


def report(stage: Path) -> dict[str, Any]:
    """What the component said of itself as it was built; empty where it said nothing."""
    try:
        return dict(json.loads((stage / "0" / _REPORT).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _make(toolbox: tools.Toolbox, imports: world.Imports, sdk: Path, making: Path) -> Path:
    stage = making / "stage"
    application = stage / "0"
    application.mkdir(parents=True)
    (stage / "1").mkdir()
    interpreter.add_sdk(sdk, application)
    modules = [*interpreter.ALWAYS, *interpreter.sdk_modules(sdk)]
    (application / f"{interpreter.APPLICATION}.py").write_text(
        f"from assay_plugin.component import base\n\nPlugin = base({modules!r}, {list(_LIBRARIES)!r})\n",
        encoding="utf-8",
    )
    made = making / "base"
    made.mkdir()
    done = interpreter.componentize(toolbox, stage, imports, made / _COMPONENT)
    if done.returncode != 0:
        raise BuildFailed("componentize-py failed:\n" + "\n".join(done.stderr.strip().splitlines()[-8:]))
    (application / "libraries").rename(made / "libraries")
    return made


def _digest(imports: world.Imports, sdk: Path) -> str:
    """Of everything that a base is made from."""
    digest = hashlib.sha256()
    for line in (tools.COMPONENTIZE, imports.world, *interpreter.ALWAYS):
        digest.update(f"{line}\0".encode())
    for root in (sdk / "src" / "assay_plugin", imports.wit):
        for path in sorted((*root.rglob("*.py"), *root.rglob("*.wit"))):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(root).as_posix()}\0{content}\0".encode())
    return digest.hexdigest()


def _forget_old(bases: Path) -> None:
    kept = [path for path in bases.iterdir() if not path.name.startswith(".")]
    kept.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for old in kept[_KEPT_MAX:]:
        shutil.rmtree(old, ignore_errors=True)
