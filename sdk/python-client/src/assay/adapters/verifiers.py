"""verifiers (0.4 and newer, so prime-rl): a judge for a task's `@vf.reward`.

    from assay.adapters.verifiers import Judge

    judge = Judge("math@prod", run="my-run")

    class MyTask(vf.Task[MyData]):
        @vf.reward(weight=1.0)
        async def assay(self, trace: vf.Trace) -> float:
            return await judge(trace, label=self.data.answer)

A request without a reward raises: verifiers notes the error in the trace, whose reward stays unset. (The
rubrics of older versions write 0 where a reward function raises; there is no adapter for those.) Where an
environment limits the time of scoring (`timeout.scoring`), give the judge a shorter `timeout`: when that
limit ends the scoring, the trace's reward is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.adapters import scorer, text_of


class Judge:
    """Scores traces of a run; each component of a reward becomes a metric of its trace."""

    def __init__(
        self,
        plugin: str | None = None,
        run: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        self._options = (plugin, run, settings, timeout)

    async def __call__(
        self,
        trace: Any,
        *,
        label: Any = None,
        prompt: Any = None,
        metadata: Any = None,
        group: str | None = None,
        step: int | None = None,
    ) -> float:
        """The reward of a trace's last reply."""
        plugin, run, settings, timeout = self._options
        score = await scorer(plugin, run, settings=settings, timeout=timeout).ascore(
            response=trace.last_reply,
            prompt=text_of(prompt),
            label=label,
            metadata=metadata,
            group=group,
            step=step,
        )
        for name, value in score.components.items():
            trace.record_metric(name, value)
        trace.info["assay"] = {"verdict": score.verdict, "request": score.id, "url": score.url}
        return score.reward
