"""SkyRL: an environment of one turn, whose reward is a plugin's.

    import skyrl_gym

    skyrl_gym.register(
        id="assay",
        entry_point="assay.adapters.skyrl:AssayEnv",
        kwargs={"plugin": "math@prod", "run": "my-run"},
    )

with `environment.env_class=assay` and rows that have `reward_spec.ground_truth`. SkyRL steps as many
environments at once as `environment.skyrl_gym.max_env_workers` says; 0 would score them one by one. A
request without a reward raises, which ends the generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from assay.adapters import scorer, text_of


def __getattr__(name: str) -> Any:
    if name == "AssayEnv":
        return _environment()
    raise AttributeError(name)


@cache
def _environment() -> type:
    # Here alone SkyRL is needed.
    from skyrl_gym.envs.base_text_env import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
        BaseTextEnv,
    )

    class AssayEnv(BaseTextEnv):  # type: ignore[misc,unused-ignore]
        """One turn: the answer is scored and the episode is over."""

        def __init__(
            self,
            env_config: Any = None,
            extras: Mapping[str, Any] | None = None,
            *,
            plugin: str | None = None,
            run: str | None = None,
            settings: Mapping[str, Any] | None = None,
            timeout: float | None = None,
        ) -> None:
            super().__init__()
            row = extras or {}
            if "ground_truth" not in (row.get("reward_spec") or {}):
                raise ValueError("the row has no reward_spec with a ground_truth")
            self._label = row["reward_spec"]["ground_truth"]
            self._options = (plugin, run, settings, timeout)
            self._prompt = ""
            self._metrics: dict[str, Any] = {}

        def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
            self._prompt = text_of(prompt)
            return prompt, {}

        def step(self, action: str) -> dict[str, Any]:
            plugin, run, settings, timeout = self._options
            score = scorer(plugin, run, settings=settings, timeout=timeout).score(
                response=action, prompt=self._prompt, label=self._label
            )
            self._metrics = {**score.components, "timed_out": float(score.timed_out)}
            said = {"verdict": score.verdict, "request": score.id, "url": score.url}
            return {"observations": [], "reward": score.reward, "done": True, "metadata": said}

        def get_metrics(self) -> dict[str, Any]:
            return self._metrics

    return AssayEnv
