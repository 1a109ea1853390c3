"""verl: a custom reward function. verl asks for one sample at a time, from several workers; the samples
that a worker asks for together are a batch.

    reward.custom_reward_function.path=pkg://assay.adapters.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.plugin=math@prod
    +reward.custom_reward_function.reward_kwargs.run=my-run

`expected_ms` in a row's `extra_info` is the time that its reward will take, where you can tell: the
longest are served first. The samples of one prompt are a group: they have the same `data_source` and, in
`extra_info`, the same `split` and `index`; without an `index` they are in no group.

A request without a reward raises, which ends the step. Not so with `reward_manager.name=rate_limited`: that
manager turns whatever a reward function raises, and its own time limit, into 0. Use another one (`naive`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from hashlib import sha256
from math import nan
from typing import Any

from assay.adapters import scorer, text_of

#: The arguments that are ours, and may be misspelt.
_OURS = ("plugin", "run", "settings", "components", "timeout")
#: The server refuses longer names of groups.
_GROUP_BYTES_MAX = 256


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    plugin: str | None = None,
    run: str | None = None,
    settings: Mapping[str, Any] | None = None,
    components: Sequence[str] = (),
    timeout: float | None = None,
    **verls: Any,
) -> dict[str, Any]:
    """The score of a sample, with the same keys for each, as verl demands: `score`, `acc`, `verdict`,
    `timed_out`, and those `components` of the reward that are asked for, NaN where there is none.

    verl adds arguments of its own (`sandbox_fusion_url`, `reward_router_address` and others), which are
    left alone; one that looks like a misspelt argument of ours is an error.
    """
    for name in verls:
        if meant := get_close_matches(name, _OURS, n=1, cutoff=0.75):
            raise TypeError(f"compute_score has no argument {name!r}; {meant[0]!r} is meant")
    extra = extra_info or {}
    score = await scorer(plugin, run, settings=settings, timeout=timeout).ascore(
        response=solution_str,
        prompt=text_of(extra.get("prompt") or extra.get("question")),
        label=ground_truth,
        metadata={"data_source": data_source},
        group=_group(data_source, extra),
        expected_ms=extra.get("expected_ms"),
    )
    return {
        "score": score.reward,
        "acc": score.reward,
        "verdict": score.verdict,
        "timed_out": float(score.timed_out),
        **{name: score.components.get(name, nan) for name in components},
    }


def _group(data_source: str, extra: Mapping[str, Any]) -> str | None:
    """The prompt of a sample: verl counts the index anew in each split of each data set."""
    if extra.get("index") is None:
        return None
    parts = (data_source, extra.get("split"), extra["index"])
    name = "/".join(str(part) for part in parts if part is not None)
    encoded = name.encode(errors="replace")
    return name if len(encoded) <= _GROUP_BYTES_MAX else sha256(encoded).hexdigest()
