"""The project's requirements: pure-Python packages, installed for the Python inside the component."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from . import tools
from .problem import BuildFailed, say, warn

_NATIVE = (".so", ".pyd", ".dylib", ".dll")


@dataclass(frozen=True)
class Installed:
    """What is installed, and where."""

    folder: Path
    files: list[Path]

    def modules(self) -> dict[str, Path]:
        """All modules, by name."""
        found = {}
        for path in self.files:
            parts = path.relative_to(self.folder).with_suffix("").parts
            if path.suffix == ".py" and all(part.isidentifier() for part in parts):
                name = parts[:-1] if parts[-1] == "__init__" else parts
                if name:
                    found[".".join(name)] = path
        return found


def installed(toolbox: tools.Toolbox, requirements: Path, folder: Path) -> Installed:
    """Installs what the file asks for, unless that was done before."""
    wanted = _wanted(requirements)
    mark = folder / "assay-installed.txt"
    state = hashlib.sha256(f"{tools.PYTHON_VERSION}\n{wanted}".encode()).hexdigest()
    if _names_files(wanted, requirements.parent):
        # They may change without a change of the requirements.
        mark.unlink(missing_ok=True)
    if not mark.is_file() or mark.read_text(encoding="utf-8") != state:
        tools.fresh_folder(folder.parent, folder.name)
        if wanted:
            _install(toolbox, requirements, folder)
        mark.write_text(state, encoding="utf-8")
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path != mark and "__pycache__" not in path.parts
    )
    _refuse_native(folder, files)
    return Installed(folder, [path for path in files if _is_part(path.relative_to(folder))])


def _is_part(path: Path) -> bool:
    """Without scripts and manuals, and what tells of this installation alone."""
    told = {"RECORD", "direct_url.json", "INSTALLER", "REQUESTED"}
    return path.parts[0] not in ("bin", "share", "etc") and path.name not in told


def _wanted(requirements: Path) -> str:
    """The file without its comments; empty where there is nothing to install."""
    if not requirements.is_file():
        return ""
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in _read(requirements).splitlines()]
    kept = [line for line in lines if line]
    for line in kept:
        if not line.startswith("-") and "==" not in line and "@" not in line:
            warn(f"{requirements.name}: `{line}` names no version (`==`): the plugin may change by itself")
    return "\n".join(kept)


def _names_files(wanted: str, folder: Path) -> bool:
    """Whether a line names other files: requirements, constraints, or a package on this disk."""
    options = ("-r", "-c", "-e", "-f", "--requirement", "--constraint", "--editable", "--find-links")
    return any(
        line.startswith(options) or "file:" in line or (folder / line.split(";")[0].strip()).exists()
        for line in wanted.splitlines()
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise BuildFailed(f"{path.name} cannot be read: {problem}") from problem


def _install(toolbox: tools.Toolbox, requirements: Path, folder: Path) -> None:
    say(f"installing {requirements.name}")
    done = toolbox.pip(
        "install",
        "--quiet",
        "--no-compile",
        "--only-binary=:all:",
        f"--python-version={tools.PYTHON_VERSION}",
        "--implementation=py",
        "--abi=none",
        "--platform=any",
        f"--target={folder}",
        f"--requirement={requirements}",
    )
    if done.returncode == 0:
        return
    missing = re.search(r"No matching distribution found for (\S+)", done.stderr)
    if missing:
        raise BuildFailed(
            f"`{missing[1]}` has no pure-Python wheel (`py3-none-any`) for Python {tools.PYTHON_VERSION}, or"
            " does not exist: a package with native code (numpy, torch, regex, ...) cannot be part of a"
            " component. Use one that is Python alone, or do that work in a boxed program"
            " (`assay_plugin.exec`)"
        )
    said = "\n".join(done.stderr.strip().splitlines()[-8:])
    raise BuildFailed(f"{requirements.name} cannot be installed:\n{said}")


def _refuse_native(folder: Path, files: list[Path]) -> None:
    for path in files:
        if path.suffix in _NATIVE or ".so." in path.name:
            name = path.relative_to(folder)
            raise BuildFailed(
                f"the package `{name.parts[0]}` has native code ({name}), which no component can load"
            )
