"""OpenRLHF, from its package: the executor of single turns calls a function in a file
(`--reward.remote_url FILE.py`)."""

import pathlib
import tempfile

import harness
from openrlhf.utils.agent import SingleTurnAgentExecutor

FILE = pathlib.Path(tempfile.mkdtemp(prefix="assay-trainers-"), "reward.py")
FILE.write_text("from assay.adapters.openrlhf import reward_func\n")


async def score(_, case):
    executor = SingleTurnAgentExecutor(str(FILE))
    [answer] = await executor._fetch_rewards_via_func([case.prompt + case.response], [case.prompt], [case.label])
    [reward] = answer["rewards"].tolist()
    return reward


harness.run("openrlhf-function", score, harness.sums(600))
