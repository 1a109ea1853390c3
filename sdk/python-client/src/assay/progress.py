"""How far a batch is, told as it goes: to a callback, or to a bar of tqdm's."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from assay._batch import BatchCore

_PAUSE_S = 0.1
_log = logging.getLogger("assay")


@dataclass(frozen=True)
class Progress:
    """Requests of a batch: those that are committed, and what became of them so far."""

    submitted: int
    finished: int
    errors: int
    #: As it was announced; absent when it was not.
    size: int | None

    @classmethod
    def of(cls, batch: BatchCore) -> Progress:
        # Another process may have submitted a part.
        submitted = max(len(batch.ids), len(batch.order))
        return cls(submitted, len(batch.order), batch.errors, batch.call.get("expected_size"))


#: Called from the client's own thread, a few times a second and at the end; it must not wait.
Callback: TypeAlias = Callable[[Progress], None]


class Observer:
    """Tells a callback, not too often. One that raises is not told again: a batch does not end by it."""

    def __init__(self, callback: Callback, end: Callable[[], None] = lambda: None) -> None:
        self._callback: Callback | None = callback
        self._end = end
        self._told_at = 0.0

    def __call__(self, progress: Progress, last: bool) -> None:
        now = time.monotonic()
        if self._callback is None or (not last and now - self._told_at < _PAUSE_S):
            return
        self._told_at = now
        try:
            self._callback(progress)
            if last:
                self._end()
        except Exception:
            _log.exception("the progress callback failed; it is not called again")
            self._callback = None
        if last:
            self._callback = None


def observer(wanted: bool | Callback | None, name: str) -> Observer | None:
    """Reads the argument `progress`: a callback, or True for a bar."""
    if wanted is None or wanted is False:
        return None
    return Observer(*_bar(name)) if wanted is True else Observer(wanted)


def _bar(name: str) -> tuple[Callback, Callable[[], None]]:
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415
    except ImportError:
        return _line(name), lambda: None
    bar: Any = tqdm(desc=name, unit=" rewards")

    def show(progress: Progress) -> None:
        bar.total = progress.size or progress.submitted
        bar.n = progress.finished
        if progress.errors:
            bar.set_postfix(errors=progress.errors, refresh=False)
        bar.refresh()

    return show, bar.close


def _line(name: str) -> Callback:
    """Without tqdm: the end alone, in a line."""

    def show(progress: Progress) -> None:
        if progress.finished == (progress.size or progress.submitted):
            print(f"{name}: {progress.finished} rewards, {progress.errors} errors", file=sys.stderr)

    return show
