#!/usr/bin/env python3
"""Trainers' own reward code against real servers that are killed in the middle: each `with_NAME.py`, one after another.

    tests/trainers/run.py [NAME...]     with the programs in $ASSAY_PROGRAMS or target/debug

Each is run in the environment that scripts/setup.sh made for it, and skipped where there is none. Trainers that are in
no package index are read from checkouts in $ASSAY_TRAINERS_SOURCES: `slime`, `ROLL` and `open-instruct`. Ends with
`trainers: N passed, N failed, N skipped`. A trainer that is skipped is not tried, so that the whole fails, unless
ASSAY_TRAINERS_MAY_SKIP=1 says otherwise.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from service import ROOT, TARGET, clean_environment

HERE = pathlib.Path(__file__).resolve().parent
WITHIN_S = 900
# The environment of a file, where it has not the file's own name.
ENVIRONMENTS = {"openrlhf_function": "openrlhf", "slime_function": "slime", "verl_programs": "verl"}


def main(names):
    known = sorted(path.stem.removeprefix("with_") for path in HERE.glob("with_*.py"))
    if unknown := set(names) - set(known):
        sys.exit(f"trainers: unknown {sorted(unknown)}: one of {known}")
    ended = {"passed": [], "failed": [], "skipped": []}
    for name in names or known:
        ended[follow(name)].append(name)
    may_skip = os.environ.get("ASSAY_TRAINERS_MAY_SKIP") == "1"
    if ended["skipped"] and not may_skip:
        print(f"not tried: {', '.join(ended['skipped'])} (ASSAY_TRAINERS_MAY_SKIP=1 does without)")
    print("trainers: " + ", ".join(f"{len(names)} {how}" for how, names in ended.items()))
    return 1 if ended["failed"] or (ended["skipped"] and not may_skip) else 0


def follow(name):
    environment = ENVIRONMENTS.get(name, name).replace("_", "-")
    python = TARGET / "trainers" / environment / "bin/python3"
    if not python.exists():
        print(f"SKIPPED: {name}: no {python} (scripts/setup.sh trainers makes it)", flush=True)
        return "skipped"
    variables = {"PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT / "sdk/python-client/src")]),
                 "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    for kept in ("ASSAY_PROGRAMS", "ASSAY_TRAINERS_SOURCES"):
        variables |= {kept: os.environ[kept]} if kept in os.environ else {}
    # With -P the folder of the file is not searched, whose names could hide a trainer's.
    command = [python, "-P", HERE / f"with_{name}.py"]
    try:
        # Some trainers write logs where they are started.
        with tempfile.TemporaryDirectory(prefix="assay-trainers-") as folder:
            ran = subprocess.run(command, env=clean_environment() | variables, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WITHIN_S, cwd=folder)
        said, status = ran.stdout, ran.returncode
    except subprocess.TimeoutExpired as late:
        said, status = f"{(late.stdout or b'').decode()}\nit ran for more than {WITHIN_S} s", 1
    if status == 0 and said.startswith("SKIPPED: "):
        print(said, end="", flush=True)
        return "skipped"
    if status == 0:
        figures = [line.removeprefix("figures: ") for line in said.splitlines() if line.startswith("figures: ")]
        print("passed:", *figures, flush=True)
        return "passed"
    print(f"FAILED: {name}\n{said[-8000:]}", flush=True)
    return "failed"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
