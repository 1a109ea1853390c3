"""Many single calls as few batches: for trainers that ask for one reward at a time, from many places.

All calls of a step share a batch, whichever process makes them: the first call of each process joins it. A
sample is sent at once, together with whatever else came meanwhile, so gathering costs no time. The server
seals the batch when nothing came for a while and all of it has ended, or when a later step began.
"""

from __future__ import annotations

import asyncio
import atexit
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from assay import _models as models
from assay._batch import BatchCore, failed
from assay._call import Caller
from assay._calls import announcement
from assay._portal import Portal, portal
from assay.client import AsyncClient, Client
from assay.errors import AssayError, Failure, RequestFailedError, WaitTimeoutError

#: The most that the server takes into one batch.
BATCH_REQUESTS_MAX = 131_072
#: The longest time without samples for which the server keeps a batch open.
IDLE_MS_MAX = 3_600_000
#: A batch of a step is kept open for this many times longer: its next step ends it.
_STEP_PATIENCE = 12
#: How long the end of the process waits for samples that somebody still waits for.
_EXIT_S = 3.0
#: What a sample has, in the order of the arguments of `Scorer._score`.
_DEFAULTS = {
    "response": None,
    "prompt": "",
    "label": None,
    "metadata": None,
    "group": None,
    "step": None,
    "expected_ms": None,
}
#: The server's word for an item that is one too many for its batch.
_FULL = "batch_full"


@dataclass(frozen=True)
class Score:
    """A reward, and what the plugin said of it. A request without a reward is never one of these."""

    reward: float
    #: The plugin's word for what happened; `timed_out` when a stage ran into its limit.
    verdict: str
    components: dict[str, float] = field(default_factory=dict)
    explanation: str = ""
    timed_out: bool = False
    #: The request's id, and its page in the dashboard.
    id: str = ""
    url: str = ""

    @classmethod
    def of(cls, caller: Caller, item: models.ResultItem) -> Score:
        """Raises `RequestFailedError` when the result has no reward."""
        failure = failed(caller, item)
        if failure is not None:
            raise RequestFailedError(failure)
        url = f"{caller.settings.url}/requests/{item.id}"
        outcome = item.outcome
        if isinstance(outcome, models.OutcomeScored):
            return cls(
                outcome.reward,
                outcome.verdict,
                outcome.components,
                outcome.explanation,
                False,
                item.id,
                url,
            )
        assert isinstance(outcome, models.OutcomeTimedOut), "what is no failure has a reward"
        return cls(outcome.reward, "timed_out", {}, "", True, item.id, url)


class Scorer:
    """Scores single samples of a run; usable from any thread and any event loop at once.

    `timeout` is for each call, in seconds: let it be less than the trainer's own, which would take a
    call that it gave up for a reward of 0. `idle` is for how many seconds a batch without a step stays
    open when nothing comes; one with a step stays open 12 times as long, or until the next step.
    """

    def __init__(
        self,
        plugin: str,
        run: str,
        *,
        client: Client | AsyncClient | None = None,
        group_size: int | None = None,
        max_extra_delay_ms: int | None = None,
        consumes: models.Consumes | None = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        idle: float = 5.0,
    ) -> None:
        self._client = client or Client()
        self._announce = (
            group_size,
            max_extra_delay_ms,
            consumes,
            dict(settings) if settings else None,
        )
        self.plugin, self.run, self.timeout, self.idle = plugin, run, timeout, idle
        self._portal: Portal | None = None
        self._open: dict[int | None, _Open] = {}
        _living.add(self)

    def __repr__(self) -> str:
        return f"<Scorer of {self.plugin} for the run {self.run}>"

    def __reduce__(self) -> tuple[Any, ...]:
        group_size, delay, consumes, settings = self._announce
        options = {
            "client": self._client,
            "group_size": group_size,
            "max_extra_delay_ms": delay,
            "consumes": consumes,
            "settings": settings,
            "timeout": self.timeout,
            "idle": self.idle,
        }
        return _rebuilt, (self.plugin, self.run, options)

    def score(
        self,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        group: str | None = None,
        step: int | None = None,
        expected_ms: float | None = None,
    ) -> Score:
        """Waits for the reward of one sample; `step` is the trainer's iteration where it is known,
        `expected_ms` the time that the reward will take.

        Raises `RequestFailedError` where there is no reward, `WaitTimeoutError` after `timeout` seconds.
        """
        return portal().run(self._score(response, prompt, label, metadata, group, step, expected_ms))

    async def ascore(
        self,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        group: str | None = None,
        step: int | None = None,
        expected_ms: float | None = None,
    ) -> Score:
        """`score`, awaited."""
        return await portal().arun(self._score(response, prompt, label, metadata, group, step, expected_ms))

    def scores(self, samples: Sequence[Mapping[str, Any]]) -> list[Score]:
        """Several samples at once, each with what `score` takes; raises when one has no reward."""
        return portal().run(self._scores(samples))

    async def ascores(self, samples: Sequence[Mapping[str, Any]]) -> list[Score]:
        """`scores`, awaited."""
        return await portal().arun(self._scores(samples))

    def close(self) -> None:
        """Leaves the open batches, which the server seals; it joins a batch again when it is used again."""
        portal().run(self._close())

    # The methods below run on the portal alone.

    async def _scores(self, samples: Sequence[Mapping[str, Any]]) -> list[Score]:
        fields = [_fields(at, sample) for at, sample in enumerate(samples)]
        return await asyncio.gather(*(self._score(*each) for each in fields))

    async def _score(
        self,
        response: str,
        prompt: str,
        label: Any,
        metadata: Any,
        group: str | None,
        step: int | None,
        expected_ms: float | None,
    ) -> Score:
        if self._portal is not portal():
            # In a forked child: the batches are its parent's.
            self._portal, self._open = portal(), {}
        item: models.SubmitItem = {"key": "", "response": response, "prompt": prompt}
        if label is not None:
            item["label"] = label
        if metadata is not None:
            item["metadata"] = metadata
        if group is not None:
            item["group"] = group
        if expected_ms is not None:
            item["expected_ms"] = round(expected_ms)
        try:
            result = await asyncio.wait_for(self._result(item, step), self.timeout)
        except asyncio.TimeoutError:
            batch = self._open.get(step)
            where = batch.url if batch else self._client._caller.settings.url
            raise WaitTimeoutError(f"no reward after {self.timeout} s; it goes on: {where}") from None
        return Score.of(self._client._caller, result)

    async def _result(self, item: models.SubmitItem, step: int | None) -> models.ResultItem:
        while True:
            batch = self._of_step(step)
            try:
                return await batch.score(item)
            except _TakesNoMoreError:
                self._forget(step, batch)

    def _of_step(self, step: int | None) -> _Open:
        found = self._open.get(step)
        if found is not None and found.takes_more():
            return found
        group_size, delay, consumes, settings = self._announce
        by: Literal["run", "iteration"] = "run" if step is None else "iteration"
        idle = self.idle if step is None else self.idle * _STEP_PATIENCE
        join: models.JoinBatch = {"by": by, "idle_ms": min(max(1, round(idle * 1e3)), IDLE_MS_MAX)}
        call = announcement(
            self.plugin,
            self.run,
            step or 0,
            None,
            group_size,
            delay,
            settings,
            consumes=consumes,
            join=join,
        )
        made = self._open[step] = _Open(BatchCore(self._client._caller, call))
        made.on_closed = lambda: self._forget(step, made)
        return made

    def _forget(self, step: int | None, closed: _Open) -> None:
        if self._open.get(step) is closed:
            del self._open[step]

    async def _close(self) -> None:
        if self._portal is portal():
            await asyncio.gather(*(batch.close() for batch in list(self._open.values())))


def _rebuilt(plugin: str, run: str, options: dict[str, Any]) -> Scorer:
    return Scorer(plugin, run, **options)


def _fields(at: int, sample: Mapping[str, Any]) -> tuple[Any, ...]:
    """What `score` takes, of one of several samples."""
    unknown = sorted(sample.keys() - _DEFAULTS.keys())
    if unknown:
        raise TypeError(f"sample {at} has {unknown[0]!r}; a sample has {', '.join(_DEFAULTS)}")
    if "response" not in sample:
        raise TypeError(f"sample {at} has no 'response'")
    return tuple(sample.get(name, default) for name, default in _DEFAULTS.items())


class _TakesNoMoreError(Exception):
    """The batch was sealed or is full, and has not accepted the sample: the next batch takes it."""


class _Open:
    """A batch that takes samples, and who waits for each."""

    def __init__(self, core: BatchCore) -> None:
        self._core = core
        self._waiting: dict[str, asyncio.Future[models.ResultItem]] = {}
        self._taken = 0
        # Keys are unique in a batch, and other processes give them too.
        self._prefix = uuid.uuid4().hex[:16]
        self._closing = False
        self.on_closed: Callable[[], None] = lambda: None
        core.on_result = self._on_result
        core.on_rejected = self._on_rejected
        core.on_sealed = self._on_sealed
        self._announced = asyncio.create_task(core.announce())
        self._watch = asyncio.create_task(self._until_over())

    @property
    def url(self) -> str:
        return self._core.url if self._core.info else "its batch is not announced yet"

    def takes_more(self) -> bool:
        return not self._closing and self._taken < BATCH_REQUESTS_MAX

    async def score(self, item: models.SubmitItem) -> models.ResultItem:
        key = item["key"] = f"{self._prefix}-{self._taken}"
        self._taken += 1
        mine: asyncio.Future[models.ResultItem] = asyncio.get_running_loop().create_future()
        # Where it fails, its caller may have heard already that nothing was announced.
        mine.add_done_callback(lambda failed: failed.cancelled() or failed.exception())
        self._waiting[key] = mine
        room: Future[None] | None = None
        try:
            # Shielded: one caller that gives up is no reason for the others.
            await asyncio.shield(self._announced)
            if self._closing:
                raise _TakesNoMoreError
            room = self._core.submit(item)
            # `_move_on` ends this also where the sample still waits for room.
            return await mine
        finally:
            if room is not None:
                room.cancel()
            # `close` waits for it.
            mine.cancel()
            self._waiting.pop(key, None)

    async def close(self) -> None:
        """Waits until nobody waits for it, then stops to follow it."""
        self._retire()
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)
        with suppress(AssayError, RuntimeError):
            await self._announced
        self._watch.cancel()
        await self._core.stop()

    def _retire(self) -> None:
        self._closing = True
        self.on_closed()

    async def _until_over(self) -> None:
        failure: BaseException | None = None
        try:
            await asyncio.shield(self._announced)
            await self._core.until(lambda: False, None)
        except Exception as error:
            failure = error
        self._retire()
        self._move_on(failure)
        await self._core.stop()

    def _on_sealed(self) -> None:
        self._retire()
        self._core.stop_sending()
        self._move_on(None)

    def _move_on(self, failure: BaseException | None) -> None:
        """Tells those whose samples were not accepted that the next batch takes them; all, where there is a
        failure."""
        ended = AssayError(f"the batch ended without a result: {self.url}")
        for key, waiting in list(self._waiting.items()):
            if waiting.done():
                continue
            if failure is not None:
                waiting.set_exception(failure)
            elif key not in self._core.ids:
                waiting.set_exception(_TakesNoMoreError())
            elif self._core.over:
                waiting.set_exception(ended)

    def _on_result(self, item: models.ResultItem) -> None:
        waiting = self._waiting.get(item.key)
        if waiting is not None and not waiting.done():
            waiting.set_result(item)

    def _on_rejected(self, failure: Failure) -> None:
        waiting = self._waiting.get(failure.key)
        if waiting is None or waiting.done():
            return
        if failure.code == _FULL:
            waiting.set_exception(_TakesNoMoreError())
            if not self._closing:
                self._on_sealed()
        else:
            waiting.set_exception(RequestFailedError(failure))


_living: weakref.WeakSet[Scorer] = weakref.WeakSet()


def _leave_all() -> None:
    for scorer in list(_living):
        if scorer._portal is portal() and scorer._open:
            with suppress(Exception):
                portal().start(scorer._close()).result(_EXIT_S)


atexit.register(_leave_all)
