"""OpenRLHF, from its package: the executor of single turns asks a URL (`--reward.remote_url`)."""

import harness
from openrlhf.utils.agent import SingleTurnAgentExecutor


async def score(trial, case):
    executor = SingleTurnAgentExecutor(trial.address("openrlhf"))
    [answer] = await executor._fetch_rewards_via_http([case.prompt + case.response], [case.prompt], [case.label])
    [reward] = answer["rewards"]
    return reward


harness.run("openrlhf", score, harness.sums(600))
