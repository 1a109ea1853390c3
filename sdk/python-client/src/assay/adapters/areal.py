"""AReaL: a reward function for its workflows. ASSAY_PLUGIN and ASSAY_RUN say what scores, ASSAY_LABEL which
column of the data set has the answer (`answer`).

    RLVRWorkflow(reward_fn="assay.adapters.areal.reward_fn", ...)

AReaL gives a reward function 15 s, four times, and then writes 0, as it does for each `TimeoutError`. So
this one raises another error after 13 s, which AReaL repeats and then passes on; a repeated request is
computed once. For slower plugins raise both: `ASSAY_TIMEOUT=170` and
`AsyncRewardWrapper(reward_fn, timeout_seconds=180)`.
"""

from __future__ import annotations

from typing import Any

from assay.adapters import label_column, response_of, scorer, text_of
from assay.errors import AssayError, WaitTimeoutError

_TIMEOUT_S = 13.0


def reward_fn(
    prompt: str,
    completions: str,
    prompt_ids: Any = None,
    completion_ids: Any = None,
    **row: Any,
) -> float:
    """The reward of a sample; runs in one of AReaL's processes."""
    column = label_column()
    if column not in row:
        raise ValueError(f"the row has no {column!r} (ASSAY_LABEL); it has {sorted(row)}")
    try:
        score = scorer(timeout_default=_TIMEOUT_S).score(
            response=response_of(completions), prompt=text_of(prompt), label=row[column]
        )
    except WaitTimeoutError as error:
        raise AssayError(str(error)) from error
    return score.reward
