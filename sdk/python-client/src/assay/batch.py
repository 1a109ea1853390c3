"""A batch of requests: one iteration of a run. `Batch` blocks, `AsyncBatch` is awaited; both are faces
of the same thing on the portal, so either may be used from several threads or event loops at once.

    with client.batch("math@prod", run="r", iteration=1) as batch:      # announced here
        batch.submit(key="a", response="A: 42", label="42")             # does not wait for the server
    rewards = batch.results(timeout=900).rewards()                      # sealed at the end of the block

Another process goes on with an open batch by its id: `with client.batch(id) as batch`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

from assay import _models as models
from assay._batch import BatchCore
from assay._portal import portal
from assay.errors import AssayError
from assay.results import Group, Grouping, Results

Self = TypeVar("Self", bound="_Face")


class _Face:
    """The methods of both batches, blocking and async, that wait for nothing."""

    def __init__(self, core: BatchCore) -> None:
        self._core = core

    @property
    def id(self) -> str:
        return self._core.id

    @property
    def url(self) -> str:
        """The batch's page in the dashboard, for the experiment tracker."""
        return self._core.url

    @property
    def info(self) -> models.Batch:
        """The batch as the server last told: when its `with` was entered, or once it was over."""
        if self._core.info is None:
            raise RuntimeError("the batch is not announced yet: enter it by `with`")
        return self._core.info

    def __len__(self) -> int:
        """Requests that were submitted."""
        return len(self._core.keys)

    def __repr__(self) -> str:
        info = self._core.info
        name = f"{info.id} of {info.plugin}" if info else "not announced"
        return f"<{type(self).__name__} {name}, {len(self)} requests>"

    def _item(
        self,
        response: str,
        key: str | None,
        group: str | None,
        prompt: str,
        label: Any,
        metadata: Any,
        expected_ms: float | None,
    ) -> models.SubmitItem:
        if key is None and self._core.resumes:
            raise ValueError(
                "a batch that is gone on with takes no request without a key: its numbers may be those "
                "of other requests, whose results would be taken for this one's"
            )
        name = str(next(self._core.numbers)) if key is None else key
        item: models.SubmitItem = {"key": name, "response": response}
        if group is not None:
            item["group"] = group
        if prompt != "":
            item["prompt"] = prompt
        if label is not None:
            item["label"] = label
        if metadata is not None:
            item["metadata"] = metadata
        if expected_ms is not None:
            item["expected_ms"] = round(expected_ms)
        return item

    def _awaited(self, keys: list[str]) -> bool:
        """Whether every request has its result."""
        results = self._core.results
        return len(results) >= len(keys) and all(key in results for key in keys)

    def _check_closed(self) -> list[str]:
        core = self._core
        size = core.call.get("expected_size")
        if not core.sealed and (size is None or len(core.keys) < size):
            raise RuntimeError("results are complete once the batch is sealed: leave its `with` first")
        return list(core.keys)


class Batch(_Face):
    """See `Client.batch`. Leaving the block seals; an exception in it cancels."""

    def __enter__(self: Self) -> Self:
        portal().run(self._core.begin())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                self.seal()
            except BaseException:
                self._abandon()
                raise
        else:
            self._abandon()

    def _abandon(self) -> None:
        # The reason why it is cancelled is what the caller should see.
        with suppress(AssayError):
            self.cancel()

    def submit(
        self,
        *,
        response: str,
        key: str | None = None,
        group: str | None = None,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        expected_ms: float | None = None,
    ) -> None:
        """Hands a request over; it is sent in the background.

        Waits only while 32 MiB or 16,384 requests are on their way. `key` is unique in the batch, a
        number when left out; a request under a key that the batch has from another process is not
        computed again. `expected_ms` is the time that the reward will take, where you can tell: the
        longest requests of a batch are served first. Raises what sending met: `SubmitRejectedError`,
        `UnreachableError` once the client's patience is at its end, `ConflictError` when the batch has
        ended.
        """
        item = self._item(response, key, group, prompt, label, metadata, expected_ms)
        waiting = self._core.submit(item)
        if waiting is not None:
            try:
                waiting.result()
            except BaseException:
                # An interrupt withdraws the request, if it is not handed over yet.
                waiting.cancel()
                raise

    def flush(self) -> None:
        """Waits until everything that was submitted is committed."""
        portal().run(self._core.flush())

    def update(self, *, outstanding: int) -> None:
        """Tells how many rollouts of the batch still run, each of which will submit a request, so that
        workers are planned for them. What is submitted is committed first."""
        portal().run(self._core.update(outstanding))

    def seal(self) -> None:
        """No more requests will come; the end of the block does this."""
        portal().run(self._core.seal())

    def cancel(self) -> None:
        """Ends the batch: what has not ended ends as an error."""
        portal().run(self._core.cancel())

    def results(self, timeout: float | None = None) -> Results:
        """All results in the order of their submits, once the batch is sealed.

        Raises `WaitTimeoutError` after `timeout` seconds; the batch goes on and may be asked again.
        """
        keys = self._check_closed()
        portal().run(self._core.until(lambda: self._awaited(keys), timeout))
        return Results.of(self._core, keys)

    def groups(self, timeout: float | None = None) -> Iterator[Group]:
        """Each group as it becomes complete; `timeout` is for each wait.

        Inside of the block this waits for groups of `group_size`; behind it all groups end.
        """
        grouping = Grouping(self._core)
        while True:
            yield from grouping.complete()
            if grouping.ended:
                return
            portal().run(self._core.until(grouping.has_news, timeout))

    def stream(self, timeout: float | None = None) -> Iterator[models.ResultItem]:
        """Each result as it comes, in the order of completion; `timeout` is for each wait."""
        core, read = self._core, 0
        while True:
            for item in core.order[read:]:
                read += 1
                yield item
            if core.over and read >= len(core.order):
                return
            portal().run(core.until(lambda: len(core.order) > read, timeout))  # noqa: B023


class AsyncBatch(_Face):
    """See `AsyncClient.batch`; `Batch` says what each method does."""

    async def __aenter__(self: Self) -> Self:
        await portal().arun(self._core.begin())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                await self.seal()
            except BaseException:
                await self._abandon()
                raise
        else:
            await self._abandon()

    async def _abandon(self) -> None:
        with suppress(AssayError):
            await self.cancel()

    async def submit(
        self,
        *,
        response: str,
        key: str | None = None,
        group: str | None = None,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        expected_ms: float | None = None,
    ) -> None:
        item = self._item(response, key, group, prompt, label, metadata, expected_ms)
        waiting = self._core.submit(item)
        if waiting is not None:
            await asyncio.wrap_future(waiting)

    async def flush(self) -> None:
        await portal().arun(self._core.flush())

    async def update(self, *, outstanding: int) -> None:
        await portal().arun(self._core.update(outstanding))

    async def seal(self) -> None:
        await portal().arun(self._core.seal())

    async def cancel(self) -> None:
        await portal().arun(self._core.cancel())

    async def results(self, timeout: float | None = None) -> Results:
        keys = self._check_closed()
        await portal().arun(self._core.until(lambda: self._awaited(keys), timeout))
        return Results.of(self._core, keys)

    async def groups(self, timeout: float | None = None) -> AsyncIterator[Group]:
        grouping = Grouping(self._core)
        while True:
            for group in grouping.complete():
                yield group
            if grouping.ended:
                return
            await portal().arun(self._core.until(grouping.has_news, timeout))

    async def stream(self, timeout: float | None = None) -> AsyncIterator[models.ResultItem]:
        core, read = self._core, 0
        while True:
            for item in core.order[read:]:
                read += 1
                yield item
            if core.over and read >= len(core.order):
                return
            await portal().arun(core.until(lambda: len(core.order) > read, timeout))  # noqa: B023
