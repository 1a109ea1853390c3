"""The way through a build. One that would give what is there already does nothing."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import component, packages, sources, tools, world
from .problem import BuildFailed, say

SDK = Path(__file__).resolve().parents[3]
"""The folder with the SDK's `src` and, where it is vendored, `wit`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0, or 1 after a line that begins with `error:`."""
    given = _parser().parse_args(arguments)
    try:
        work = (given.work or given.project / "target" / "assay-python").resolve()
        output = given.output or given.project / "target" / "plugin.wasm"
        build(given.project.resolve(), work, None if given.prepare else output)
    except BuildFailed as problem:
        say(f"error: {problem}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build.py",
        description="Builds a Python plugin as a WebAssembly component.",
        epilog="ASSAY_PYTHON_TOOLS names a folder in which builds share their tools; the project's"
        " target/assay-python otherwise.",
    )
    default = Path.cwd()
    parser.add_argument("--project", type=Path, default=default, help="folder with plugin.py [.]")
    parser.add_argument("--output", type=Path, help="the component [target/plugin.wasm]")
    parser.add_argument("--work", type=Path, help="what is made on the way [target/assay-python]")
    parser.add_argument("--prepare", action="store_true", help="install tools and requirements alone")
    return parser


def build(project: Path, work: Path, output: Path | None) -> None:
    """Builds the project, in the folder `work`; only prepares it where there is no `output`.

    Raises `BuildFailed` where it cannot be built.
    """
    started = time.monotonic()
    work.mkdir(parents=True, exist_ok=True)
    found = sources.read(project)
    shared = os.environ.get("ASSAY_PYTHON_TOOLS")
    toolbox = tools.ready(Path(shared).resolve() if shared else work / "tools")
    installed = packages.installed(toolbox, project / "requirements.txt", work / "packages")
    if output is None:
        return
    found.check_found(installed.modules())
    imports = world.imports(found, SDK)
    inputs = _digest(found, installed, imports)
    if _is_current(work / "built.json", inputs, output):
        say(f"{_shown(output)} is up to date")
        return
    say("building the component (half a minute or so)")
    made = component.make(toolbox, found, installed, imports, SDK, work)
    output.parent.mkdir(parents=True, exist_ok=True)
    made.path.replace(output)
    _remember(work / "built.json", inputs, output)
    size = output.stat().st_size / 2**20
    seconds = time.monotonic() - started
    say(f"{made.name}@{made.version}: {_shown(output)}, {size:.1f} MiB, built in {seconds:.0f} s")


def _shown(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _digest(found: sources.Sources, installed: packages.Installed, imports: world.Imports) -> str:
    """Of everything that the component is made from."""
    digest = hashlib.sha256()
    for line in (tools.COMPONENTIZE, imports.world):
        digest.update(f"{line}\0".encode())
    for root, paths in (
        (found.project, found.files),
        (installed.folder, installed.files),
        (SDK, _own_files()),
        (imports.wit, sorted(imports.wit.rglob("*.wit"))),
    ):
        _add(digest, root, paths)
    return digest.hexdigest()


def _own_files() -> list[Path]:
    package = SDK / "src" / "assay_plugin"
    return sorted(path for path in package.rglob("*.py"))


def _add(digest: hashlib._Hash, root: Path, paths: Iterable[Path]) -> None:
    for path in paths:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(root).as_posix()}\0{content}\0".encode())


def _is_current(memory: Path, inputs: str, output: Path) -> bool:
    try:
        known = json.loads(memory.read_text(encoding="utf-8"))
        return bool(known == {"inputs": inputs, "component": _sha256(output)})
    except (OSError, ValueError):
        return False


def _remember(memory: Path, inputs: str, output: Path) -> None:
    known = {"inputs": inputs, "component": _sha256(output)}
    memory.write_text(json.dumps(known), encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
