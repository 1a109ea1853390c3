"""A batch's life on the portal: announce, send, follow, seal. `batch.py` has its two faces.

```text
new --announce--> open --seal--> sealed --the last result--> over
 '---resume----->    '-- cancel, or a failure --> failed: every waiter hears why
```
Requests are sent in order, one call at a time; what gathers meanwhile goes with the next. A result is
never given twice and none is left out: each connection goes on behind the last cursor seen, and an end
counts only when the batch itself says that it has ended.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

import httpx

from assay import _models as models
from assay._call import Caller, Trouble, may_repeat, parse
from assay._outbox import Outbox
from assay._portal import portal
from assay._sent import encoded
from assay.errors import (
    AssayError,
    Failure,
    ForkedError,
    ProblemError,
    SubmitRejectedError,
    UnexpectedAnswerError,
    UnreachableError,
    WaitTimeoutError,
    of_problem,
)
from assay.progress import Observer, Progress

T = TypeVar("T")

ENDED = ("done", "cancelled", "expired")
#: The states in which a batch takes requests.
TAKES_REQUESTS = ("announced", "open")
#: The server's words for a batch that takes no more requests.
SEALED = ("batch_sealed", "batch_ended")
CANCEL_S = 15.0
NDJSON = "application/x-ndjson"


class BatchCore:
    """Owned by the portal but for `submit`, which any thread may call."""

    def __init__(
        self,
        caller: Caller,
        call: models.AnnounceBatch,
        observer: Observer | None = None,
        resumes: str | None = None,
    ) -> None:
        self.caller = caller
        self.call = call
        #: The id of a batch that another process announced, with which this one goes on.
        self.resumes = resumes
        self.info: models.Batch | None = None
        #: Keys in the order of their submits, and those of each group.
        self.keys: dict[str, None] = {}
        self.groups: dict[str, list[str]] = {}
        #: Ids of the requests that are committed.
        self.ids: dict[str, str] = {}
        self.results: dict[str, models.ResultItem] = {}
        self.order: list[models.ResultItem] = []
        self.errors = 0
        self.sealed = False
        self.over = False
        self.failure: BaseException | None = None
        #: What else wants each result as it comes, or hears of what is refused.
        self.on_result: Callable[[models.ResultItem], None] = lambda item: None
        self.on_rejected: Callable[[Failure], None] | None = None
        #: The batch takes no more, of a batch that others seal.
        self.on_sealed: Callable[[], None] = lambda: None
        #: Of requests that were given none.
        self.numbers = itertools.count()
        #: Other processes submit to the batch too.
        self._joined = call.get("join") is not None
        self._observer = observer
        self._pid = os.getpid()
        self._tasks: list[asyncio.Task[None]] = []
        self._cursor = 0
        self._follows = False

    # The methods below run on the portal.

    async def begin(self) -> None:
        await (self.announce() if self.resumes is None else self.resume(self.resumes))

    async def announce(self) -> None:
        if self.info is not None:
            raise RuntimeError("this batch was announced already; make another one")
        # The very same call under the very same key makes no second batch.
        self.info = await self.caller.call(
            models.Batch.from_json,
            "POST",
            "v1",
            "batches",
            safe=True,
            body=json.dumps(self.call).encode(),
            headers={"Idempotency-Key": uuid.uuid4().hex},
        )
        # Requests that ended before belong to another process.
        self._cursor = finished(self.info)
        self._start()

    async def resume(self, batch: str) -> None:
        """Goes on with an open batch that another process announced: submits to it and seals it."""
        if self.info is not None:
            raise RuntimeError("this batch was entered already; make another one of its id")
        info = await self.caller.call(models.Batch.from_json, "GET", "v1", "batches", batch, safe=True)
        if info.state not in TAKES_REQUESTS:
            raise of_problem(takes_no_more(info))
        self.call |= {"plugin": info.plugin, "run": info.run, "iteration": info.iteration}
        if info.expected_size is not None:
            self.call["expected_size"] = info.expected_size
        if info.group_size is not None:
            self.call["group_size"] = info.group_size
        self.info = info
        # From the first result on: what is submitted again may have ended long ago.
        self._start()

    def _start(self) -> None:
        self._open()
        self._tasks.append(asyncio.create_task(self._guarded(self._send())))
        if self._observer is not None:
            self.follow()

    async def adopt(self, batch: str, after: int) -> None:
        """Takes a batch that there is already, to follow its results behind a cursor."""
        self.info = await self.caller.call(models.Batch.from_json, "GET", "v1", "batches", batch, safe=True)
        self.sealed = True
        self._cursor = after
        self._open()

    def _open(self) -> None:
        self._outbox = Outbox(portal())
        self._changed = asyncio.Condition()
        self._sent = asyncio.Condition()

    def follow(self) -> None:
        """Reads results from now on; once is enough."""
        if not self._follows:
            self._follows = True
            self._tasks.append(asyncio.create_task(self._guarded(self._follow())))

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedError

    async def flush(self) -> None:
        """Waits until all that was submitted is committed."""
        self._check_process()
        async with self._sent:
            await self._sent.wait_for(lambda: self._pending() == 0 or self.failure is not None)
        if self.failure is not None:
            raise self.failure

    def _pending(self) -> int:
        return len(self.keys) - len(self.ids)

    async def update(self, outstanding: int) -> None:
        # The server adds what it has: a request under way would count twice, or not at all.
        await self.flush()
        body = json.dumps({"outstanding": outstanding}).encode()
        self.info = await self.caller.call(
            models.Batch.from_json, "PATCH", "v1", "batches", self.id, safe=True, body=body
        )

    async def seal(self) -> None:
        await self.flush()
        if not self.sealed:
            # This process may know a part of a resumed batch alone.
            final = {} if self.resumes else {"final_count": len(self.keys)}
            body = json.dumps(final).encode()
            await self._on_batch(models.Batch.from_json, "seal", body)
            self.sealed = True
            self._tasks[0].cancel()
            await self._tell()

    async def cancel(self) -> None:
        """Best effort where nobody answers: a batch to which nothing happens expires."""
        self._check_process()
        self.sealed = True
        if self.failure is None and self.info is not None:
            await self._fail(AssayError(f"batch {self.id} was cancelled here"))
        # A resumed batch that somebody else sealed is theirs now.
        theirs = isinstance(self.failure, ProblemError) and self.failure.code in SEALED
        if self.info is not None and not (self.resumes and theirs):
            await self.caller.call(
                models.Batch.from_json,
                "POST",
                "v1",
                "batches",
                self.id,
                "cancel",
                safe=True,
                trouble=Trouble(CANCEL_S),
            )
        await self.stop()

    def stop_sending(self) -> None:
        """Drops what is not sent yet: the batch takes no more."""
        self._outbox.fail(AssayError(f"batch {self.id} takes no more requests"))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._observe(last=True)

    async def _on_batch(self, read: Callable[[Any], T], verb: str, body: bytes | None) -> T:
        return await self.caller.call(read, "POST", "v1", "batches", self.id, verb, safe=True, body=body)

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except asyncio.CancelledError:
            raise
        except BaseException as failure:  # whoever waits hears of it
            await self._fail(failure)

    async def _fail(self, failure: BaseException) -> None:
        self.failure = self.failure or failure
        self._outbox.fail(self.failure)
        await self._tell()
        async with self._sent:
            self._sent.notify_all()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _send(self) -> None:
        while True:
            await self._outbox.filled.wait()
            chunk = self._outbox.take()
            if not chunk:
                continue
            try:
                reply = await self.caller.call(
                    models.SubmitReply.from_json,
                    "POST",
                    "v1",
                    "batches",
                    self.id,
                    "requests",
                    safe=True,
                    body=b"".join(chunk),
                    headers={"Content-Type": NDJSON},
                )
            except ProblemError as problem:
                if self._joined and problem.code in SEALED:
                    # The requests that the server accepted go on.
                    self.on_sealed()
                    return
                raise
            if len(reply.items) != len(chunk):
                raise UnexpectedAnswerError(f"{len(chunk)} items were sent and {len(reply.items)} answered")
            self._settle(chunk, reply.items)
            self._outbox.acknowledge(chunk)
            self._observe()
            async with self._sent:
                self._sent.notify_all()

    def _settle(self, chunk: list[bytes], items: list[models.Submitted]) -> None:
        refused = []
        for line, item in zip(chunk, items, strict=True):
            key = item.key or json.loads(line)["key"]
            self.ids[key] = item.id or ""
            if item.status == "rejected":
                problem = item.problem
                code, detail = (problem.code, problem.detail) if problem else ("rejected", "")
                refused.append(Failure(key, None, self.url, code, detail, retryable=False))
        if refused and self.on_rejected is None:
            raise SubmitRejectedError(refused)
        for failure in refused:
            del self.ids[failure.key], self.keys[failure.key]
            if self.on_rejected is not None:
                self.on_rejected(failure)

    async def _follow(self) -> None:
        trouble = Trouble(self.caller.settings.patience)
        while not self.over:
            before = self._cursor
            try:
                await self._follow_once(trouble)
                self.over = await self._has_ended()
                if self.over:
                    break
                broken: Exception = UnreachableError(
                    self.caller.settings.url, "the results ended before the batch did"
                )
            except httpx.ReadTimeout:
                # Silence may be a slow stage: no failure.
                continue
            except httpx.TransportError as error:
                broken = self.caller.unreachable(error)
            except ProblemError as error:
                if not may_repeat(error, safe=True):
                    raise
                broken = error
            if self._cursor > before:
                trouble.over()
            await asyncio.sleep(trouble.pause_s(broken))
        self._observe(last=True)
        await self._tell()

    async def _follow_once(self, trouble: Trouble) -> None:
        async with self.caller.stream(
            "v1",
            "batches",
            self.id,
            "results",
            accept=NDJSON,
            headers={},
            query={"after": str(self._cursor)},
            trouble=trouble,
        ) as lines:
            async for line in lines:
                if not line:
                    continue
                item = parse(models.ResultItem.from_json, line)
                if item.cursor <= self._cursor:
                    continue
                self._cursor = item.cursor
                if self._joined and item.key not in self.keys:
                    continue
                self.results[item.key] = item
                self.order.append(item)
                self.errors += isinstance(item.outcome, models.OutcomeError)
                self.on_result(item)
                self._observe()
                await self._tell()

    async def _has_ended(self) -> bool:
        batch = await self.caller.call(models.Batch.from_json, "GET", "v1", "batches", self.id, safe=True)
        self.info = batch
        return batch.state in ENDED and self._cursor >= finished(batch)

    def _observe(self, last: bool = False) -> None:
        if self._observer is not None:
            self._observer(Progress.of(self), last)

    async def until(self, met: Callable[[], bool], timeout: float | None) -> None:
        """Waits for results until something holds, the batch is over or has failed."""
        self._check_process()
        self.follow()

        async def wait() -> None:
            async with self._changed:
                await self._changed.wait_for(lambda: met() or self.over or self.failure is not None)

        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), timeout)
        if self.failure is not None:
            raise self.failure
        if not (met() or self.over):
            raise WaitTimeoutError(
                f"{len(self.order)} of {len(self.keys)} requests have ended after {timeout} s; "
                f"the others go on: {self.url}"
            )

    # Any thread may call the methods below.

    @property
    def id(self) -> str:
        if self.resumes is not None:
            return self.resumes
        if self.info is None:
            raise RuntimeError("the batch is not announced yet: enter it by `with`")
        return self.info.id

    @property
    def url(self) -> str:
        return f"{self.caller.settings.url}/batches/{self.id}"

    def submit(self, item: models.SubmitItem) -> Future[None] | None:
        """Hands an item over, at once or when there is room for it.

        The future is done once it is handed over; one that is cancelled before withdraws it.
        """
        self._check_process()
        if self.info is None or self.sealed:
            new = "not entered yet" if self.resumes else "not announced yet"
            state = new if self.info is None else "sealed"
            raise RuntimeError(f"the batch is {state}: submit between its `with` and its end")
        key, group = item["key"], item.get("group")
        # Encoded once, however long it waits.
        return self._outbox.put(encode(item), lambda: self._accept(key, group))

    def _accept(self, key: str, group: str | None) -> None:
        """Before the portal may see the item, as it counts what it acknowledges. The outbox makes one such
        call at a time."""
        if key in self.keys:
            raise ValueError(f"the key {key!r} was submitted already; it is unique in its batch")
        size = self.call.get("expected_size")
        if size is not None and len(self.keys) >= size:
            raise ValueError(f"the batch was announced with {size} requests, and has them")
        self.keys[key] = None
        if group is not None:
            self.groups.setdefault(group, []).append(key)

    def failure_of(self, key: str) -> Failure | None:
        """Why a request has no reward; nothing where it has one."""
        item = self.results.get(key)
        if item is None:
            state = self.info.state if self.info else "lost"
            text = f"the batch is {state} and has no result of it"
            return Failure(key, self.ids.get(key) or None, self.url, "missing", text, True)
        return failed(self.caller, item)


def takes_no_more(batch: models.Batch) -> models.Problem:
    """The server's refusal of requests for a batch that was sealed or has ended."""
    sealed = batch.state == "sealed"
    return models.Problem(
        code=SEALED[0] if sealed else SEALED[1],
        detail=f"batch {batch.id} is {batch.state} and takes no more requests",
        hint="`client.results(id)` reads its results; announce another batch for more requests",
        status=409,
        title="Conflict",
        kind="about:blank",
    )


def finished(batch: models.Batch) -> int:
    return batch.counts.scored + batch.counts.timed_out + batch.counts.error


def failed(caller: Caller, item: models.ResultItem) -> Failure | None:
    """The failure that a result tells of, if it is one."""
    outcome = item.outcome
    if not isinstance(outcome, models.OutcomeError):
        return None
    url = f"{caller.settings.url}/requests/{item.id}"
    return Failure(item.key, item.id, url, outcome.code, outcome.message, outcome.retryable)


def encode(item: models.SubmitItem) -> bytes:
    """A line of NDJSON."""
    return encoded(f"the request {item['key']!r}" if item["key"] else "the request", item) + b"\n"
