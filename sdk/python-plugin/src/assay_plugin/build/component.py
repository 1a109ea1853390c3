"""Makes the component: stages the files, imports them in the component's own Python, reads what the plugin said.

Where there is a worker program, a component with the interpreter alone is taken from a cache and continued (`base`);
otherwise componentize-py makes all of it, which takes longer.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import base, explain, interpreter, packages, reach, sources, tools, world
from .problem import BuildFailed, say


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
    application = _copied(found.project, found.files, stage / "0")
    interpreter.add_sdk(sdk, application)
    _copied(installed.folder, installed.files, stage / "1")
    reached = reach.from_imports((one.module for one in found.imports), installed.modules())
    modules = [*interpreter.ALWAYS, *reached.standard, *found.modules(), *reached.packages]
    modules = list(dict.fromkeys(modules))
    output = stage / "plugin.wasm"
    ready = base.ready(toolbox, imports, sdk)
    said = base.extend(ready, stage, modules, found.python_files(), output) if ready else None
    if said is None:
        (application / f"{interpreter.APPLICATION}.py").write_text(
            "from assay_plugin.component import start\n\n"
            f"Plugin = start({modules!r}, {found.python_files()!r})\n",
            encoding="utf-8",
        )
        said = interpreter.componentize(toolbox, stage, imports, output).stderr
    report = base.report(stage)
    if "problem" in report or not output.is_file():
        raise BuildFailed(_why(said, report))
    _tell_missing(report["missing"], found, installed)
    return Made(output, report["name"], report["version"])


def _copied(root: Path, files: list[Path], to: Path) -> Path:
    to.mkdir(parents=True)
    for path in files:
        target = to / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return to


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
