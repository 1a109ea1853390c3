"""The author's files: what goes into the component, what they import, and what cannot work there."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import explain, standard, tools
from .problem import BuildFailed, warn

MAIN = "plugin.py"
_NOT_PART = frozenset(
    {"target", "vendor", "tests", "cases", "venv", "node_modules", "dist", "build", "__pycache__"}
)
_PROJECT_BYTES_MAX = 64 << 20


@dataclass(frozen=True)
class Import:
    """One import statement's module, and where it stands."""

    module: str
    file: str
    line: int
    certain: bool
    """It runs whenever the file is imported."""


@dataclass(frozen=True)
class Sources:
    """The project's files, and the imports of its Python files."""

    project: Path
    files: list[Path]
    imports: list[Import] = field(default_factory=list)

    def python_files(self) -> list[str]:
        return [self._name(path) for path in self.files if path.suffix == ".py"]

    def modules(self) -> list[str]:
        """All modules of the project."""
        names = []
        for name in self.python_files():
            parts = Path(name).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if parts and all(part.isidentifier() for part in parts) and not _is_test(parts[-1]):
                names.append(".".join(parts))
        return names

    def check_found(self, packages: Iterable[str]) -> None:
        """Fails on an import that nothing can satisfy: half a minute earlier than the build would."""
        own = {name.split(".")[0] for name in (*self.modules(), *packages, "assay_plugin", "wit_world")}
        for one in self.imports:
            name = one.module.split(".")[0]
            there = name in own or (name in standard.MODULES and not explain.absent(one.module))
            if one.certain and not there:
                raise BuildFailed(
                    f"{one.file}:{one.line}: `{one.module}` cannot be imported: {explain.not_found(one.module)}"
                )

    def _name(self, path: Path) -> str:
        return path.relative_to(self.project).as_posix()


def read(project: Path) -> Sources:
    """Reads the project; fails where it is none, warns of what will not work."""
    main = project / MAIN
    if not main.is_file():
        raise BuildFailed(f"there is no {MAIN} in {project}: it holds the plugin")
    files = sorted(_files(project))
    if sum(path.stat().st_size for path in files) > _PROJECT_BYTES_MAX:
        raise BuildFailed(
            f"the project has more than {_PROJECT_BYTES_MAX >> 20} MiB beside"
            f" {', '.join(sorted(_NOT_PART))}; keep large data in the platform's storage"
            " (`assay_plugin.storage`)"
        )
    imports = []
    for path in files:
        if path.suffix == ".py":
            imports += imports_of(path, path.relative_to(project).as_posix(), complain=True)
    if "export" not in main.read_text(encoding="utf-8", errors="replace"):
        raise BuildFailed(
            f"{MAIN} exports no plugin: write `@export` above its class, or `export(plugin)` after the last stage"
        )
    for one in imports:
        problem = explain.useless(one.module)
        if problem:
            warn(f"{one.file}:{one.line}: `{one.module}`: {problem}")
    return Sources(project, files, imports)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in _NOT_PART or path.is_symlink():
            continue
        if path.is_dir():
            if not (path / "pyvenv.cfg").exists():
                yield from _files(path)
        elif path.is_file() and not _is_test(path.stem):
            yield path


def _is_test(module: str) -> bool:
    return module.startswith("test_") or module.endswith("_test") or module == "conftest"


def imports_of(path: Path, name: str, *, package: str = "", complain: bool = False) -> list[Import]:
    """The imports of a Python file, wherever they stand in it; relative ones by the package that it is in."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes(), filename=name)
    except (SyntaxError, ValueError) as problem:
        if complain:
            _complain(name, problem)
        return []
    return list(_imports_in(tree, name, package))


def _complain(name: str, problem: Exception) -> None:
    line = f":{problem.lineno}" if isinstance(problem, SyntaxError) else ""
    said = f"{name}{line}: {problem.msg if isinstance(problem, SyntaxError) else problem}"
    # This Python may know less than the one in the component, which then decides.
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == tools.PYTHON_VERSION:
        raise BuildFailed(said)
    version = sys.version.split(" ", maxsplit=1)[0]
    warn(f"{said} (says Python {version}; the component has {tools.PYTHON_VERSION})")


def _imports_in(tree: ast.Module, name: str, package: str) -> Iterator[Import]:
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        certain = id(node) in top
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, name, node.lineno, certain)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, package)
            if module is None:
                continue
            yield Import(module, name, node.lineno, certain)
            for alias in node.names:
                # Perhaps a module, perhaps not.
                yield Import(f"{module}.{alias.name}", name, node.lineno, False)


def _absolute(node: ast.ImportFrom, package: str) -> str | None:
    if not node.level:
        return node.module
    parts = package.split(".") if package else []
    if node.level > len(parts):
        return None
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
