"""TRL: a reward function for `GRPOTrainer` and its relatives. A step is a batch.

    from assay.adapters.trl import reward_func

    GRPOTrainer(reward_funcs=reward_func("math@prod", run="my-run", label="answer"), ...)

A request without a reward raises and so ends the step: TRL would take None for "does not apply", and a
sample to which nothing applies has no say in the step without anybody noticing.

Where TRL runs as several processes (WORLD_SIZE, as `torchrun` and `accelerate` set it), each asks for its
own part of a step; the parts are one batch, which the server seals when the next step begins.

Where a completion is a list of messages, those of the assistant are scored, and no answer of a tool.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any

from assay import _models as models
from assay.adapters import response_of, text_of
from assay.client import AsyncClient
from assay.errors import Failure
from assay.results import Results
from assay.scorer import Scorer

RewardFunc = Callable[..., Awaitable[list["float | None"]]]


def reward_func(
    plugin: str,
    run: str,
    *,
    label: str | None = "answer",
    metadata: Sequence[str] = (),
    expected_ms: str | None = None,
    not_applicable: Collection[str] = (),
    settings: Mapping[str, Any] | None = None,
    max_extra_delay_ms: int | None = None,
    timeout: float = 900.0,
    name: str | None = None,
    client: AsyncClient | None = None,
) -> RewardFunc:
    """A plain `async def` for `reward_funcs`.

    `label` is the column with the data set's answer, `metadata` those that the plugin sees besides,
    `expected_ms` that with the time that each reward will take, where you can tell.
    Verdicts in `not_applicable` are None for TRL. `name` is what TRL logs, the plugin's when left out.
    """
    of = client or AsyncClient()
    is_one_of_many = int(os.environ.get("WORLD_SIZE") or 1) > 1
    scorer = Scorer(
        plugin,
        run,
        client=of,
        settings=settings,
        max_extra_delay_ms=max_extra_delay_ms,
        timeout=timeout,
    )

    async def whole_step(step: int, samples: list[dict[str, Any]]) -> tuple[list[float], list[str]]:
        batch = of.batch(
            plugin,
            run=run,
            iteration=step,
            size=len(samples),
            settings=settings,
            max_extra_delay_ms=max_extra_delay_ms,
        )
        async with batch:
            for at, sample in enumerate(samples):
                await batch.submit(key=str(at), **sample)
        results = await batch.results(timeout)
        return list(results.rewards()), _verdicts(results)

    async def part_of_step(step: int, samples: list[dict[str, Any]]) -> tuple[list[float], list[str]]:
        scores = await scorer.ascores([{**sample, "step": step} for sample in samples])
        return [score.reward for score in scores], [score.verdict for score in scores]

    async def assay_reward(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        trainer_state: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        step = int(getattr(trainer_state, "global_step", 0) or 0)
        samples = _samples(prompts, completions, label, metadata, expected_ms, columns)
        rewards, verdicts = await (part_of_step if is_one_of_many else whole_step)(step, samples)
        if log_extra is not None:
            log_extra("assay_verdict", verdicts)
        if log_metric is not None:
            log_metric("assay/timed_out", verdicts.count("timed_out") / len(verdicts))
        return [
            None if verdict in not_applicable else reward
            for reward, verdict in zip(rewards, verdicts, strict=True)
        ]

    assay_reward.__name__ = assay_reward.__qualname__ = name or plugin.split("@", maxsplit=1)[0]
    return assay_reward


def _samples(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    label: str | None,
    metadata: Sequence[str],
    expected_ms: str | None,
    columns: Mapping[str, Any],
) -> list[dict[str, Any]]:
    labels = _column(columns, label, len(completions))
    expected = _column(columns, expected_ms, len(completions))
    kept = {name: _column(columns, name, len(completions)) for name in metadata}
    samples = []
    for at, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        text = text_of(prompt)
        samples.append(
            {
                # A prompt comes once for each of its completions, some of them in another process.
                "group": f"prompt-{sha256(text.encode(errors='replace')).hexdigest()[:16]}",
                "prompt": text,
                "response": response_of(completion),
                "label": labels[at],
                "metadata": {name: values[at] for name, values in kept.items()} or None,
                "expected_ms": expected[at],
            }
        )
    return samples


def _column(columns: Mapping[str, Any], name: str | None, size: int) -> Sequence[Any]:
    if name is None:
        return [None] * size
    if name not in columns:
        raise ValueError(f"the data set has no column {name!r}; it has {sorted(columns)}")
    values: Sequence[Any] = columns[name]
    return values


def _verdicts(results: Results) -> list[str]:
    verdicts = []
    for item in results:
        assert not isinstance(item, Failure), "failures have raised"
        scored = isinstance(item.outcome, models.OutcomeScored)
        verdicts.append(item.outcome.verdict if scored else "timed_out")  # type: ignore[union-attr]
    return verdicts
