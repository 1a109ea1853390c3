"""LLaMA-Factory, from its package: the function by which PPO asks an API for the rewards of a batch. It tries once; the
training stops where that fails, and is begun again from its last checkpoint."""

import dataclasses

import harness

# LLaMA-Factory itself imports its trainers.
harness.bare("llamafactory", "llamafactory.train", "llamafactory.train.ppo")
from llamafactory.train.ppo.ppo_utils import get_rewards_from_server  # noqa: E402

GOOD, BAD = "<think>{}</think> <answer>{}</answer>", "<answer>{}</answer> {}"


def formed(case):
    """The protocol has no labels, so the form is judged."""
    form = GOOD if case.reward else BAD
    return dataclasses.replace(case, response=form.format(case.prompt, case.label))


def score(trial, cases):
    messages = [case.response for case in cases]
    return get_rewards_from_server(trial.address("llama-factory", "format@prod"), messages).tolist()


harness.run("llama-factory", score, [formed(case) for case in harness.sums(960)], at_once=4, batch=16,
            plugins=("format",), stops=True)
