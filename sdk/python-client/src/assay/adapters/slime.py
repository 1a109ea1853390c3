"""slime: a custom reward function. ASSAY_PLUGIN and ASSAY_RUN say what scores.

    --custom-rm-path assay.adapters.slime.custom_rm
    --reward-key score          # optional: keeps verdict and components beside the reward

`expected_ms` in a sample's metadata is the time that its reward will take, where you can tell: the
longest are served first.

A request without a reward raises, which ends the rollout.
"""

from __future__ import annotations

from typing import Any

from assay.adapters import scorer, text_of
from assay.scorer import Score


async def custom_rm(args: Any, sample: Any, **_: Any) -> Any:
    """The reward of a sample, or those of a list of samples (`--group-rm`)."""
    many = isinstance(sample, (list, tuple))
    wanted = [
        {
            "response": one.response,
            "prompt": text_of(one.prompt),
            "label": one.label,
            "group": None if one.group_index is None else str(one.group_index),
            "metadata": one.metadata or None,
            "expected_ms": (one.metadata or {}).get("expected_ms"),
        }
        for one in (sample if many else [sample])
    ]
    scores = await scorer().ascores(wanted)
    key = getattr(args, "reward_key", None)
    rewards = [_with_details(score, key) if key else score.reward for score in scores]
    return rewards if many else rewards[0]


def _with_details(score: Score, key: str) -> dict[str, Any]:
    return {
        **score.components,
        "verdict": score.verdict,
        "timed_out": score.timed_out,
        key: score.reward,
    }
