"""verl, from its package: its own reward for programs, which asks SandboxFusion's `/run_code` for each test. It repeats
an answer of 504 and nothing else: while no server is there, it takes each test for failed."""

import json
import threading

import harness
from verl.utils.reward_score import default_compute_score

SEMAPHORE = threading.Semaphore(64)


def score(trial, case):
    pairs = [test.rsplit(" ", 1) for test in case.label.split("; ")]
    tests = json.dumps({"inputs": [numbers for numbers, _ in pairs], "outputs": [total for _, total in pairs]})
    url = trial.address("sandbox-fusion", "run@prod", "/run_code")
    return default_compute_score("codecontests", case.response, tests, sandbox_fusion_url=url,
                                 concurrent_semaphore=SEMAPHORE, memory_limit_mb=512)


harness.run("verl-programs", score, harness.programs(200), at_once=8, plugins=("run",), writes_zero=True)
