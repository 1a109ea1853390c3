"""What a trainer sends for one sample by each protocol, and how long its client waits for the answer."""

import json
import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Protocol:
    name: str
    plugin: str
    rest: str
    # The client's own limit in seconds; None where it waits without end.
    limit_s: float | None
    # Makes the body of a call of its number.
    body: object
    # The calls that each caller makes, one after the other.
    calls: int = 4


def sum_of(number):
    """Every number is another sum, so that no two calls share a computation."""
    return f"What is {number} + {number + 1}? ", f"It is \\boxed{{{2 * number + 1}}}.", str(2 * number + 1)


def openrlhf(number):
    prompt, response, label = sum_of(number)
    return {"query": [prompt + response], "prompts": [prompt], "labels": [label]}


def slime(number):
    prompt, response, label = sum_of(number)
    return {"prompt": prompt, "response": response, "label": label}


def nemo_gym(number):
    prompt, response, label = sum_of(number)
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": response}]}
    return {"responses_create_params": {"input": [{"role": "user", "content": prompt}]}, "label": label,
            "response": {"output": [said]}}


def llama_factory(number):
    answers = [f"<think>{number}</think> <answer>{number + at}</answer>" for at in range(8)]
    return {"model": "model", "messages": answers}


def roll(number):
    prompt, response, label = sum_of(number)
    return {"project_id": "p", "experiment_id": "e", "global_step": 0, "data_id": str(number), "rollout_id": "0",
            "prompt": prompt, "response": response, "reward_info": {"ground_truth": label}, "timeout": 300}


def busy(number):
    """A program that takes 0.05 to 0.1 s of a processor, Python's start included."""
    seconds = random.Random(number).uniform(0.035, 0.085)
    wait = f"import time\nend = time.process_time() + {seconds:.4f}\nwhile time.process_time() < end: pass"
    return f"{wait}\nprint({number})"


def run_code(number):
    return {"code": busy(number), "language": "python", "stdin": "", "compile_timeout": 10, "run_timeout": 10}


def test_program(number):
    return {"program": busy(number) + f"\ndef f(): return {number}", "tests": [f"assert f() == {number}"],
            "max_execution_time": 3.0}


SCORED = [
    Protocol("openrlhf", "math@prod", "", 180, openrlhf),
    Protocol("slime", "math@prod", "", 120, slime),
    Protocol("nemo-gym", "math@prod", "/verify", 60, nemo_gym),
    Protocol("llama-factory", "format@prod", "", None, llama_factory),
    Protocol("roll", "math@prod", "/submit_task", 20, roll, calls=1),
]
RUN_CODE = Protocol("sandbox-fusion", "run@prod", "/run_code", 30, run_code, calls=1)
TEST_PROGRAM = Protocol("open-instruct", "run@prod", "/test_program", 30, test_program, calls=1)


def right(protocol, number, answer):
    """Whether an answer has the right reward; each call of these is right."""
    said = json.loads(answer)
    match protocol.name:
        case "openrlhf":
            return said["rewards"] == [1.0]
        case "slime":
            return said == 1.0
        case "nemo-gym":
            return said.get("reward") == 1.0
        case "llama-factory":
            return said["scores"] == [1.0] * 8
        case "roll":
            return said["errcode"] == 0 and said["reward_score"] == 1.0
        case "sandbox-fusion":
            return said["run_result"]["stdout"] == f"{number}\n"
        case _:
            return said["results"] == [1]
