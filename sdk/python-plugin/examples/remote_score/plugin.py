"""The score that a service gives a response.

The service gets `{"response": ..., "label": ...}` and answers `{"score": NUMBER}`. Whatever else it answers is never a
reward: the platform tries again where that may help.
"""

from dataclasses import dataclass
from typing import Any

from assay_plugin import FunctionPlugin, Scored, Unavailable, export, http


@dataclass
class Settings:
    """What a run sets."""

    url: str
    secret: str | None = None


plugin = FunctionPlugin("remote_score", "0.1.0", summary="asks a service for the score", deterministic=False)


@plugin.stage(timeout_ms=30_000, retries_max=2)
def score(response: str, label: Any, settings: Settings) -> Scored:
    question = {"response": response, "label": label}
    answer = http.post(settings.url, json=question, secret=settings.secret, timeout_ms=10_000)
    if answer.status == 503:
        # Once more, after the time that it asks for.
        http.sleep_ms(1_000 * int(answer.header("retry-after") or 1))
        answer = http.post(settings.url, json=question, secret=settings.secret, timeout_ms=10_000)
    if answer.status != 200:
        raise Unavailable(f"the service answered with the status {answer.status}")
    given = answer.json()
    if not isinstance(given, dict) or not isinstance(given.get("score"), (int, float)):
        raise Unavailable("the service answered without a score")
    return Scored(float(given["score"]), "scored")


export(plugin)
