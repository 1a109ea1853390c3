"""Assay in the trainers that compute rewards in their own process: a file each.

What a trainer loads by its name alone is told by the environment: ASSAY_PLUGIN (such as `math@prod`) and
ASSAY_RUN, and, where wanted, ASSAY_SETTINGS (a JSON object), ASSAY_TIMEOUT (seconds) and ASSAY_LABEL (the
column with the data set's answer). An adapter translates and does nothing else. Whatever has no reward
raises; where a trainer would turn that into a number, its adapter's documentation says so.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import ConfigurationError
from assay.scorer import Scorer

_scorers: dict[tuple[Any, ...], Scorer] = {}
_lock = threading.Lock()


def scorer(
    plugin: str | None = None,
    run: str | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    timeout_default: float = 600.0,
) -> Scorer:
    """The process's scorer of a run; what is not given comes from the environment."""
    plugin = plugin or _variable("ASSAY_PLUGIN", "the plugin, such as math@prod")
    run = run or _variable("ASSAY_RUN", "the name of the training run")
    if settings is None and os.environ.get("ASSAY_SETTINGS"):
        settings = json.loads(os.environ["ASSAY_SETTINGS"])
    timeout = timeout or float(os.environ.get("ASSAY_TIMEOUT") or timeout_default)
    which = (plugin, run, json.dumps(settings, sort_keys=True), timeout)
    with _lock:
        if which not in _scorers:
            _scorers[which] = Scorer(plugin, run, settings=settings, timeout=timeout)
        return _scorers[which]


def _variable(name: str, what: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigurationError(f"{name} is not set: {what}")
    return value


def label_column() -> str:
    return os.environ.get("ASSAY_LABEL") or "answer"


def text_of(said: str | Sequence[Mapping[str, Any]] | None) -> str:
    """A prompt as text: itself, or its messages' texts in order."""
    if said is None or isinstance(said, str):
        return said or ""
    return "\n\n".join(filter(None, (_content(message.get("content")) for message in said)))


def response_of(completion: str | Sequence[Mapping[str, Any]] | None) -> str:
    """The model's own words in a completion: messages of tools and users in it must not be scored."""
    if completion is None or isinstance(completion, str):
        return completion or ""
    return text_of([message for message in completion if message.get("role") in (None, "assistant")])


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else []
    return "".join(part.get("text", "") for part in parts if isinstance(part, Mapping))
