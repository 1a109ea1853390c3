"""TRL: a reward function for `GRPOTrainer` and its relatives. A step is a batch.

    from assay.adapters.trl import reward_func

    GRPOTrainer(reward_funcs=reward_func("math@prod", run="my-run", label="answer"), ...)

A request without a reward raises and so ends the step: TRL would take None for "does not apply", and a
sample to which nothing applies has no say in the step without anybody noticing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from assay import _models as models
from assay.adapters import text_of
from assay.batch import AsyncBatch
from assay.client import AsyncClient
from assay.errors import Failure
from assay.results import Results

RewardFunc = Callable[..., Awaitable[list["float | None"]]]


def reward_func(
    plugin: str,
    run: str,
    *,
    label: str | None = "answer",
    metadata: Sequence[str] = (),
    not_applicable: Collection[str] = (),
    settings: Mapping[str, Any] | None = None,
    max_extra_delay_ms: int | None = None,
    timeout: float = 900.0,
    name: str | None = None,
    client: AsyncClient | None = None,
) -> RewardFunc:
    """A plain `async def` for `reward_funcs`.

    `label` is the column with the data set's answer, `metadata` those that the plugin sees besides.
    Verdicts in `not_applicable` are None for TRL. `name` is what TRL logs, the plugin's when left out.
    """
    of = client or AsyncClient()

    async def assay_reward(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        trainer_state: Any = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        labels = _column(columns, label, len(completions))
        step = int(getattr(trainer_state, "global_step", 0) or 0)
        batch = of.batch(
            plugin,
            run=run,
            iteration=step,
            size=len(completions),
            settings=settings,
            max_extra_delay_ms=max_extra_delay_ms,
        )
        async with batch:
            await _submit(batch, prompts, completions, labels, metadata, columns)
        results = await batch.results(timeout)
        rewards = results.rewards()
        verdicts = _verdicts(results)
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


async def _submit(
    batch: AsyncBatch,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    labels: Sequence[Any],
    metadata: Sequence[str],
    columns: Mapping[str, Any],
) -> None:
    kept = {name: _column(columns, name, len(completions)) for name in metadata}
    groups: dict[str, str] = {}
    for at, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        text = text_of(prompt)
        # TRL gives a prompt once for each of its completions.
        group = groups.setdefault(text, f"prompt-{len(groups)}")
        await batch.submit(
            key=str(at),
            group=group,
            prompt=text,
            response=text_of(completion),
            label=labels[at],
            metadata={name: values[at] for name, values in kept.items()} or None,
        )


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
