"""What can be imported from the project on: the modules of packages that any import statement leads to, in
whatever function it stands, and those of the standard library.

A package is not imported as a whole: what SymPy has beside its core is four times as large.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import standard
from .sources import imports_of


@dataclass(frozen=True)
class Reached:
    """Names of modules, sorted."""

    packages: list[str]
    standard: list[str]


def from_imports(names: Iterable[str], modules: dict[str, Path]) -> Reached:
    """Follows imports through the modules of packages."""
    waiting = set(names)
    seen: set[str] = set()
    packages: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        parent = name.rpartition(".")[0]
        if parent:
            waiting.add(parent)
        path = modules.get(name)
        if path is not None:
            packages.add(name)
            package = name if path.name == "__init__.py" else parent
            waiting.update(one.module for one in imports_of(path, path.name, package=package))
    return Reached(sorted(packages), sorted(filter(_is_standard, seen)))


def _is_standard(name: str) -> bool:
    """Perhaps: what is no module is found out as it is imported."""
    parts = name.split(".")
    return parts[0] in standard.MODULES and all(part.isidentifier() for part in parts) and parts[-1].islower()
