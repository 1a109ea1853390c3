"""OpenRLHF: a reward function in a file, for `--reward.remote_url FILE.py`. ASSAY_PLUGIN and ASSAY_RUN say
what scores.

    from assay.adapters.openrlhf import reward_func

`rewards` are as the plugin gave them; `scores` are the same, limited to 0 and 1.

In an agent's own `step`, `assay.Scorer(...).ascore(...)` scores an action.

A request without a reward raises. OpenRLHF logs that and leaves the sample without one, which ends the
step where no reward model is configured; let `ASSAY_TIMEOUT` (600 s) be enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.adapters import scorer


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any
) -> dict[str, Any]:
    """Called in a thread for each sample, with lists of one. Returns tensors, as OpenRLHF takes them."""
    import torch  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

    samples = [
        {"response": answer(query, prompt), "prompt": prompt, "label": label}
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    scores = scorer().scores(samples)
    rewards = [score.reward for score in scores]
    # OpenRLHF filters prompts by `scores`, which must be from 0 to 1.
    limited = [min(max(reward, 0.0), 1.0) for reward in rewards]
    timed_out = torch.tensor([float(score.timed_out) for score in scores])
    return {
        "rewards": torch.tensor(rewards),
        "scores": torch.tensor(limited),
        "extra_logs": {"timed_out": timed_out},
    }


def answer(query: str, prompt: str) -> str:
    """The text after the prompt in a query. Raises where the prompt is not in it: scored as a whole, a
    prompt with an answer in it would be rewarded."""
    _, found, after = query.partition(prompt)
    if not found:
        raise ValueError("the query does not contain its prompt as it is, so its answer is not known")
    return after
