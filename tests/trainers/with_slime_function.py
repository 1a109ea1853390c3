"""slime, from its sources: `--custom-rm-path`, by the function that its rollouts call for each sample."""

import types

import harness

harness.source("slime", "slime")
from slime.rollout.rm_hub import async_rm  # noqa: E402
from slime.utils.types import Sample  # noqa: E402

OPTIONS = types.SimpleNamespace(custom_rm_path="assay.adapters.slime.custom_rm", reward_key="score")


async def score(_, case):
    rewarded = await async_rm(OPTIONS, Sample(prompt=case.prompt, response=case.response, label=case.label))
    return rewarded["score"]


harness.run("slime-function", score, harness.sums(600), at_once=64)
