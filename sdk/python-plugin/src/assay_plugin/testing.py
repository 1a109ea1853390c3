"""Runs a plugin natively, without a component: what a project's own tests use.

    from assay_plugin import testing
    from plugin import plugin

    def test_the_label_is_worth_one():
        assert testing.run(plugin, testing.request(response="42", label="42")).reward == 1.0

It follows the platform's rules for what a stage returns, so that a test fails where the platform would. What
it cannot show is what a component lacks: files, threads, processes, modules that were never imported.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from typing import Any

from .errors import Error, Internal
from .host import plugin_error
from .plugin import Plugin
from .values import Artifact, Description, Outcome, Request, Scored

VERDICT_BYTES_MAX = 64
EXPLANATION_BYTES_MAX = 4 << 10
COMPONENTS_MAX = 32
ARTIFACT_BYTES_MAX = 16 << 20


def request(
    prompt: str = "",
    response: str = "",
    label: Any = None,
    metadata: Any = None,
    *,
    group: str | None = None,
    seed: int = 0,
) -> Request:
    """A first attempt. `label` and `metadata` are values, which become JSON text."""
    return Request(
        id="test",
        group=group,
        prompt=prompt,
        response=response,
        label=json.dumps(label),
        metadata=json.dumps(metadata),
        seed=seed,
    )


def run(
    plugin: Plugin | type[Plugin],
    request: Request,
    settings: Mapping[str, Any] | None = None,
) -> Scored:
    """Runs all stages, as the platform does; the plugin's `Error` is raised."""
    made = plugin() if isinstance(plugin, type) else plugin
    input: Artifact | None = None
    for stage in described(made).stages:
        outcome = run_stage(made, stage.name, request, settings, input)
        if isinstance(outcome, Scored):
            return outcome
        input = outcome
    raise AssertionError("the last stage must return Scored, not an Artifact")


def run_stage(
    plugin: Plugin | type[Plugin],
    stage: str,
    request: Request,
    settings: Mapping[str, Any] | None = None,
    input: Artifact | None = None,
) -> Outcome:
    """Runs one stage; the plugin's `Error` is raised, any other exception as `Internal` from it."""
    made = plugin() if isinstance(plugin, type) else plugin
    random.seed(request.seed)
    try:
        outcome = made.run_stage(stage, json.dumps(settings or {}), request, input)
    except (AssertionError, NotImplementedError):
        # A test's own word, or a function of the host that the test has not replaced.
        raise
    except Exception as problem:
        stands_for = plugin_error(problem)
        if stands_for is not problem:
            raise stands_for from problem
        if isinstance(problem, Error):
            raise
        raise Internal(f"{type(problem).__name__}: {problem}") from problem
    _check(outcome)
    return outcome


def described(plugin: Plugin) -> Description:
    """The plugin's description; `AssertionError` where it is none."""
    description = plugin.describe()
    assert isinstance(description, Description), f"`describe` returned {description!r}"
    assert description.stages, "a plugin has at least one stage"
    names = [stage.name for stage in description.stages]
    assert len(set(names)) == len(names), f"two stages have the same name: {names}"
    return description


def _check(outcome: Outcome) -> None:
    if isinstance(outcome, Artifact):
        assert isinstance(outcome.bytes, bytes), "an artifact is made of bytes"
        assert len(outcome.bytes) <= ARTIFACT_BYTES_MAX, "the artifact is too large"
        return
    assert isinstance(outcome, Scored), f"a stage returns Scored or Artifact, not {outcome!r}"
    assert math.isfinite(outcome.reward), f"the reward {outcome.reward} is not finite"
    assert outcome.verdict, "the verdict is empty"
    assert len(outcome.verdict.encode()) <= VERDICT_BYTES_MAX, "the verdict is too long"
    assert outcome.verdict.isprintable(), "the verdict has a control character"
    assert len(outcome.explanation.encode()) <= EXPLANATION_BYTES_MAX, "the explanation is too long"
    assert len(outcome.components) <= COMPONENTS_MAX, "there are too many components"
    for name, value in outcome.components.items():
        assert math.isfinite(value), f"the component `{name}` is not finite"
