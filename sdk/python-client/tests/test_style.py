"""Types and style, by mypy, pyright and ruff; and no file longer than people read."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1]
LINES_MAX = 500


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--cache-dir", "/dev/null"],
        ["pyright", "--pythonpath", sys.executable],
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--no-cache", "--check", "."],
    ],
    ids=["mypy", "pyright", "ruff", "format"],
)
def test_it_is_clean(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=HERE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_is_too_long() -> None:
    files = [file for file in HERE.rglob("*.py") if file.name != "_models.py"]
    assert files
    assert {file.name for file in files if len(file.read_text().splitlines()) > LINES_MAX} == set()
