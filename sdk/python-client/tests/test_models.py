"""What the server sends, read: whatever is no reward must never pass for one."""

from __future__ import annotations

import re
from typing import Any

import pytest

import assay
from assay import _models as models
from assay._batch import encode
from assay._call import parse

RESULT: dict[str, Any] = {
    "cursor": 1, "id": "b.0", "key": "k", "stages": [],
    "outcome": {"kind": "scored", "reward": 1, "verdict": "right"},
}  # fmt: skip


def test_what_is_new_is_passed_over() -> None:
    item = models.ResultItem.from_json({**RESULT, "later": {"x": 1}})
    assert item.outcome == assay.OutcomeScored(reward=1.0, verdict="right")


@pytest.mark.parametrize(
    "outcome",
    [
        {"kind": "guessed", "reward": 1.0, "verdict": "x"},
        {"kind": "scored", "reward": None, "verdict": "x"},
        {"kind": "scored", "reward": "1.0", "verdict": "x"},
        {"kind": "scored", "reward": True, "verdict": "x"},
        {"kind": "scored", "reward": float("nan"), "verdict": "x"},
        {"kind": "scored", "verdict": "x"},
        {"reward": 1.0},
        1.0,
        None,
    ],
)
def test_what_is_no_outcome_is_an_error(outcome: object) -> None:
    with pytest.raises(assay.UnexpectedAnswerError):
        parse(lambda _: models.ResultItem.from_json({**RESULT, "outcome": outcome}), "{}")


def test_an_error_that_is_new_is_an_error() -> None:
    outcome = {"kind": "error", "code": "eaten", "message": "m", "retryable": False, "attempts": 1}
    item = models.ResultItem.from_json({**RESULT, "outcome": outcome})
    assert isinstance(item.outcome, assay.OutcomeError)
    assert item.outcome.code == "eaten"
    assert not hasattr(item.outcome, "reward")


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


def test_arrays_are_sent_as_lists() -> None:
    assert encode({"key": "k", "response": "ä", "label": Array()}) == (
        '{"key": "k", "response": "ä", "label": [1, 2]}\n'.encode()
    )


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("response", "\ud800", "`response` of the request 'k' has half a character"),
        ("response", object(), "`response` of the request 'k' must be a text, not object"),
        ("prompt", None, "`prompt` of the request 'k' must be a text, not None"),
        ("group", 7, "`group` of the request 'k' must be a text, not int"),
        ("label", {"text": ["\udfff"]}, "`label` of the request 'k' has half a character"),
        ("label", float("nan"), "`label` of the request 'k': Out of range float"),
        ("metadata", {"x": object()}, "`metadata` of the request 'k': a object cannot be sent"),
    ],
)
def test_what_is_no_json_is_refused_here_by_request_and_field(field: str, value: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        encode({"key": "k", "response": "", field: value})  # type: ignore[misc]
