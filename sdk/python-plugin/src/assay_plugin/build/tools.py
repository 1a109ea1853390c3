"""The virtual environment that has componentize-py and pip, made once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .problem import BuildFailed, say

COMPONENTIZE = "componentize-py==0.25.1"
"""With CPython 3.14 inside."""
PYTHON_VERSION = "3.14"


@dataclass(frozen=True)
class Toolbox:
    """A virtual environment that is ready."""

    folder: Path

    def program(self, name: str) -> str:
        return str(self.folder / ("Scripts" if os.name == "nt" else "bin") / name)

    def pip(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.program("python"), "-m", "pip", "--disable-pip-version-check", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def ready(folder: Path) -> Toolbox:
    """The environment in that folder, made or renewed where it is not the one that is wanted."""
    toolbox = Toolbox(folder)
    mark = folder / "assay-ready.txt"
    if mark.is_file() and mark.read_text(encoding="utf-8") == COMPONENTIZE:
        return toolbox
    say(f"installing {COMPONENTIZE} in {folder}")
    if folder.exists() and not (folder / "pyvenv.cfg").is_file() and any(folder.iterdir()):
        raise BuildFailed(f"{folder} is no virtual environment; give the builder a folder of its own")
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise BuildFailed(
            "python3 cannot make a virtual environment: install its part for that"
            f" (Debian, Ubuntu: `apt-get install python3-venv`)\n{_last(made.stdout + made.stderr)}"
        )
    installed = toolbox.pip("install", "--quiet", "--only-binary=:all:", COMPONENTIZE)
    if installed.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        raise BuildFailed(
            f"{COMPONENTIZE} cannot be installed; it comes from PyPI, for Linux, macOS and Windows on"
            f" x86-64 and ARM\n{_last(installed.stderr)}"
        )
    mark.write_text(COMPONENTIZE, encoding="utf-8")
    return toolbox


def fresh_folder(parent: Path, name: str) -> Path:
    """An empty folder, whatever an earlier build left there."""
    folder = parent / name
    if folder.exists():
        # Renamed first: what is half removed must not pass for whole.
        doomed = Path(tempfile.mkdtemp(dir=parent))
        folder.rename(doomed / name)
        shutil.rmtree(doomed)
    folder.mkdir(parents=True)
    return folder


def _last(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-8:])
