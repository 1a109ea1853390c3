"""slime, from its sources: `--rm-type remote_rm`, by the function that its rollouts call for each sample."""

import types

import harness

harness.source("slime", "slime")
from slime.rollout.rm_hub import async_rm  # noqa: E402
from slime.utils.types import Sample  # noqa: E402


async def score(trial, case):
    options = types.SimpleNamespace(rm_type="remote_rm", rm_url=trial.address("slime"), custom_rm_path=None)
    return await async_rm(options, Sample(prompt=case.prompt, response=case.response, label=case.label))


harness.run("slime", score, harness.sums(600), at_once=64)
