"""Many single calls as few batches: for trainers that ask for one reward at a time, from many places.

All calls of a step share a batch, which is announced by the first of them. A sample is sent at once,
together with whatever else came meanwhile, so gathering costs no time; the batch is sealed when nothing
came for a while and all of it has ended, or when a later step began.
"""

from __future__ import annotations

import asyncio
import atexit
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from assay import _models as models
from assay._batch import BatchCore, failed
from assay._call import Caller
from assay._calls import announcement
from assay._portal import Portal, portal
from assay.client import AsyncClient, Client
from assay.errors import AssayError, Failure, RequestFailedError, WaitTimeoutError

#: The most that the server takes into one batch.
BATCH_REQUESTS_MAX = 131_072
#: A batch of a step is kept open for this many times longer: its next step ends it.
_STEP_PATIENCE = 12
_EXIT_S = 3.0


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
    open when nothing comes.
    """

    def __init__(
        self,
        plugin: str,
        run: str,
        *,
        client: Client | AsyncClient | None = None,
        group_size: int | None = None,
        max_extra_delay_ms: int | None = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        idle: float = 5.0,
    ) -> None:
        self._client = client or Client()
        self._announce = (group_size, max_extra_delay_ms, dict(settings) if settings else None)
        self.plugin, self.run, self.timeout, self.idle = plugin, run, timeout, idle
        self._portal: Portal | None = None
        self._open: dict[int | None, _Open] = {}
        self._batches = 0
        _living.add(self)

    def __repr__(self) -> str:
        return f"<Scorer of {self.plugin} for the run {self.run}>"

    def __reduce__(self) -> tuple[Any, ...]:
        group_size, delay, settings = self._announce
        options = {
            "client": self._client,
            "group_size": group_size,
            "max_extra_delay_ms": delay,
            "settings": settings,
            "timeout": self.timeout,
            "idle": self.idle,
        }
        return _rebuilt, (self.plugin, self.run, options)

    def score(self, *, response: str, **sample: Any) -> Score:
        """Waits for the reward of one sample. Takes `prompt`, `label`, `metadata`, `group`, and `step`,
        the trainer's iteration where it is known.

        Raises `RequestFailedError` where there is no reward, `WaitTimeoutError` after `timeout` seconds.
        """
        return portal().run(self._score(response=response, **sample))

    async def ascore(self, *, response: str, **sample: Any) -> Score:
        """`score`, awaited."""
        return await portal().arun(self._score(response=response, **sample))

    def scores(self, samples: Sequence[Mapping[str, Any]]) -> list[Score]:
        """Several samples at once, each with what `score` takes; raises when one has no reward."""
        return portal().run(self._scores(samples))

    async def ascores(self, samples: Sequence[Mapping[str, Any]]) -> list[Score]:
        """`scores`, awaited."""
        return await portal().arun(self._scores(samples))

    def close(self) -> None:
        """Seals what is open; it opens a new batch when it is used again."""
        portal().run(self._close())

    # What follows runs on the portal alone.

    async def _scores(self, samples: Sequence[Mapping[str, Any]]) -> list[Score]:
        return await asyncio.gather(*(self._score(**sample) for sample in samples))

    async def _score(
        self,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        group: str | None = None,
        step: int | None = None,
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
        batch = self._of_step(step)
        try:
            result = await asyncio.wait_for(batch.score(item), self.timeout)
        except asyncio.TimeoutError:
            text = f"no reward after {self.timeout} s; it goes on: {batch.url}"
            raise WaitTimeoutError(text) from None
        return Score.of(self._client._caller, result)

    def _of_step(self, step: int | None) -> _Open:
        found = self._open.get(step)
        if found is not None and found.takes_more():
            return found
        for other in self._open.values():
            other.seal_when_idle(0.0)
        iteration = self._batches if step is None else step
        self._batches += 1
        group_size, delay, settings = self._announce
        call = announcement(self.plugin, self.run, iteration, None, group_size, delay, settings)
        idle = self.idle if step is None else self.idle * _STEP_PATIENCE
        made = self._open[step] = _Open(BatchCore(self._client._caller, call), idle)
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


class _Open:
    """A batch that takes samples, and who waits for each."""

    def __init__(self, core: BatchCore, idle: float) -> None:
        self._core = core
        self._idle = idle
        self._waiting: dict[str, asyncio.Future[models.ResultItem]] = {}
        self._taken = 0
        self._closing = False
        self._timer: asyncio.TimerHandle | None = None
        self._close_task: asyncio.Task[None] | None = None
        self.on_closed: Callable[[], None] = lambda: None
        core.on_result = self._on_result
        core.on_rejected = self._on_rejected
        self._announced = asyncio.create_task(core.announce())
        self._watch = asyncio.create_task(self._until_over())

    @property
    def url(self) -> str:
        return self._core.url if self._core.info else "its batch is not announced yet"

    def takes_more(self) -> bool:
        return not self._closing and self._taken < BATCH_REQUESTS_MAX

    async def score(self, item: models.SubmitItem) -> models.ResultItem:
        key = item["key"] = str(self._taken)
        self._taken += 1
        self._stop_timer()
        mine: asyncio.Future[models.ResultItem] = asyncio.get_running_loop().create_future()
        # Where it fails, its caller may have heard already that nothing was announced.
        mine.add_done_callback(lambda failed: failed.cancelled() or failed.exception())
        self._waiting[key] = mine
        try:
            # Shielded: one caller that gives up is no reason for the others.
            await asyncio.shield(self._announced)
            while (room := self._core.submit(item)) is not None:
                await asyncio.wrap_future(room)
            return await mine
        finally:
            self._waiting.pop(key, None)
            if not self._waiting:
                self.seal_when_idle(self._idle)

    def seal_when_idle(self, seconds: float) -> None:
        if not self._waiting and not self._closing:
            self._stop_timer()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self._start_close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _start_close(self) -> None:
        self._close_task = asyncio.create_task(self.close())

    async def close(self) -> None:
        self._closing = True
        self._stop_timer()
        self.on_closed()
        # A batch that cannot be sealed expires by itself; all of its rewards were given.
        with suppress(AssayError, RuntimeError):
            await self._announced
            await self._core.seal()

    async def _until_over(self) -> None:
        failure: BaseException
        try:
            await asyncio.shield(self._announced)
            await self._core.until(lambda: False, None)
            failure = AssayError(f"the batch ended without a result: {self.url}")
        except Exception as error:
            failure = error
        self._closing = True
        self.on_closed()
        for waiting in list(self._waiting.values()):
            if not waiting.done():
                waiting.set_exception(failure)
        await self._core.stop()

    def _on_result(self, item: models.ResultItem) -> None:
        waiting = self._waiting.get(item.key)
        if waiting is not None and not waiting.done():
            waiting.set_result(item)

    def _on_rejected(self, failure: Failure) -> None:
        waiting = self._waiting.get(failure.key)
        if waiting is not None and not waiting.done():
            waiting.set_exception(RequestFailedError(failure))


_living: weakref.WeakSet[Scorer] = weakref.WeakSet()


def _seal_all() -> None:
    for scorer in list(_living):
        if scorer._portal is portal() and scorer._open:
            with suppress(Exception):
                portal().start(scorer._close()).result(_EXIT_S)


atexit.register(_seal_all)
