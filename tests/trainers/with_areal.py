"""AReaL, from its package: the wrapper in which its workflows call a reward function, in processes of its own."""

import harness

# AReaL itself imports its engines.
harness.bare("areal")
from areal.api.reward_api import AsyncRewardWrapper  # noqa: E402

from assay.adapters.areal import reward_fn  # noqa: E402

wrapped = None


async def score(_, case):
    global wrapped
    # Its processes take the server's address from the environment.
    wrapped = wrapped or AsyncRewardWrapper(reward_fn)
    return await wrapped(case.prompt, case.response, [], [], answer=case.label)


harness.run("areal", score, harness.sums(600))
