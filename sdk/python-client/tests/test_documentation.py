"""Every example is run: the README's as one program after the other, those of the modules as they stand."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

HERE = pathlib.Path(__file__).resolve().parents[1]
README = (HERE / "README.md").read_text()
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("example", PYTHON, ids=range(len(PYTHON)))
def test_examples_of_the_readme(example: str) -> None:
    # In a process of its own, as a user runs it: it must end by itself, and say nothing of its end.
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        env={**os.environ, "PYTHONPATH": str(HERE / "src")},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    for line in re.findall(r"# prints (.*)$", example, re.M):
        assert line in done.stdout


def test_the_readme_has_examples() -> None:
    assert len(PYTHON) >= 5


def test_the_examples_of_both_readmes_have_types(tmp_path: pathlib.Path) -> None:
    first = re.findall(r"^```python\n(.*?)^```", (HERE.parents[1] / "README.md").read_text(), re.M | re.S)
    assert "client.reward(" in first[0], "the first is a reward or an exception"
    examples = [example for example in [*PYTHON, *first] if "import assay\n" in example]
    assert len(examples) >= 6
    for at, example in enumerate(examples):
        (tmp_path / f"example_{at}.py").write_text(example)
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(HERE / "src")]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    for checker in (
        ["mypy", "--strict", "--cache-dir", "/dev/null", str(tmp_path)],
        ["pyright", "--pythonpath", sys.executable, "-p", str(tmp_path)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *checker],
            # Pyright is the one that is installed, and does not look for a newer one.
            env={**os.environ, "MYPYPATH": str(HERE / "src"), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_modules_examples_compile() -> None:
    found = 0
    for file in sorted((HERE / "src/assay").rglob("*.py")):
        module = re.match(r'"""(.*?)"""', file.read_text(), re.S)
        assert module, f"{file.name} says nothing of its purpose"
        for block in re.findall(r"\n((?: {4}.*\n|\n)+)", module[1] + "\n"):
            example = textwrap.dedent(block).strip()
            if re.match(r"(from|import|with|RLVR|reward\.|--|judge)", example) is None:
                continue
            if re.match(r"reward\.|--", example) is None:
                compile(re.sub(r", \.\.\.\)", ")", example), str(file), "exec")
                found += 1
    assert found >= 4
