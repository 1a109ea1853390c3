"""The two clients: `Client` blocks, `AsyncClient` is awaited. Whatever they do is in `_calls`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar, overload

from assay import _calls as calls
from assay import _models as models
from assay._call import Caller, settings
from assay._portal import portal
from assay.batch import AsyncBatch, Batch
from assay.progress import Callback

Self = TypeVar("Self", bound="_Face")


class _Face:
    """An Assay server and who calls it. Cheap; one for a process is enough, for all of its threads.

    `url` and `key` are taken from ASSAY_URL and ASSAY_API_KEY when they are not given. `timeout` is
    for one attempt of a call, `patience` for how long a call that may be repeated is: both in seconds.
    Works in a forked child, where it opens connections of its own.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        patience: float = 120.0,
    ) -> None:
        self._caller = Caller(settings(url, key, timeout, patience))
        self._given = url is not None or key is not None

    @property
    def url(self) -> str:
        """The server's address."""
        return self._caller.settings.url

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.url}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._given:
            raise TypeError(
                "a client that was given its key is not pickled, so that no key lies in a pickle: "
                "leave url and key out and set ASSAY_URL and ASSAY_API_KEY"
            )
        limits = self._caller.settings
        return _from_environment, (type(self), limits.timeout, limits.patience)


def _from_environment(kind: type[_Face], timeout: float, patience: float) -> _Face:
    return kind(timeout=timeout, patience=patience)


def _reward_request(
    plugin: str,
    response: str,
    prompt: str,
    label: Any,
    metadata: Any,
    run_settings: Mapping[str, Any] | None,
) -> models.RewardRequest:
    call: models.RewardRequest = {"plugin": plugin, "response": response, "prompt": prompt}
    if label is not None:
        call["label"] = label
    if metadata is not None:
        call["metadata"] = metadata
    if run_settings is not None:
        call["settings"] = dict(run_settings)
    return call


class Client(_Face):
    __doc__ = _Face.__doc__

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections; it opens new ones when it is used again."""
        portal().run(self._caller.close())

    @overload
    def batch(
        self,
        plugin: str,
        *,
        run: str,
        iteration: int = 0,
        size: int | None = None,
        group_size: int | None = None,
        max_extra_delay_ms: int | None = None,
        settings: Mapping[str, Any] | None = None,
        share_equal: bool = True,
        consumes: models.Consumes | None = None,
        progress: bool | Callback | None = None,
    ) -> Batch: ...

    @overload
    def batch(self, id: str, /, *, progress: bool | Callback | None = None) -> Batch: ...

    def batch(
        self,
        plugin: str,
        *,
        run: str | None = None,
        iteration: int = 0,
        size: int | None = None,
        group_size: int | None = None,
        max_extra_delay_ms: int | None = None,
        settings: Mapping[str, Any] | None = None,
        share_equal: bool = True,
        consumes: models.Consumes | None = None,
        progress: bool | Callback | None = None,
    ) -> Batch:
        """A batch, announced as its `with` is entered: do that when the rollout starts.

        `run` keeps the plugin's version and the settings of its first batch. With `size` the batch is
        complete as soon as it has so many requests, and the server plans ahead for them; `group_size`
        is how many samples a prompt has. Equal requests share one computation, and their results say so
        (`shared_from`), unless `share_equal` is False. With `consumes="groups"` the server has groups
        wait less, for a trainer that streams mini-batches: give `group_size` too. `progress=True` shows a
        bar, a callback is told.

        With nothing but the id of an open batch, this process goes on with a batch that another one
        announced: entering it raises `ConflictError` when it was sealed or has ended. Each request needs
        a `key`; those that the batch has already are not computed again, and their results come here.
        """
        if run is None:
            return Batch(calls.open_batch(self._caller, plugin, progress))
        call = calls.announcement(
            plugin,
            run,
            iteration,
            size,
            group_size,
            max_extra_delay_ms,
            settings,
            share_equal,
            consumes,
        )
        return Batch(calls.new_batch(self._caller, call, progress))

    def score(
        self,
        plugin: str,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
    ) -> models.Reward:
        """One request with its outcome, whatever that is. For a training step use a batch.

        Raises `WaitTimeoutError` when it has not ended after `timeout` seconds, 300 at most, or 15 seconds
        later where no connection is free or the server does not answer.
        """
        call = _reward_request(plugin, response, prompt, label, metadata, settings)
        return portal().run(calls.score(self._caller, call, timeout))

    def reward(
        self,
        plugin: str,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
    ) -> float:
        """The reward of one request, within the same time as `score`.

        Raises `RequestFailedError` where there is none.
        """
        call = _reward_request(plugin, response, prompt, label, metadata, settings)
        scored = portal().run(calls.score(self._caller, call, timeout))
        return calls.reward(self._caller, scored)

    def batch_info(self, id: str, *, wait: float | None = None) -> models.Batch:
        """A batch as it stands; with `wait` once it has ended, or after so many seconds (300 at most)."""
        return portal().run(calls.batch(self._caller, id, wait))

    def cancel_batch(self, id: str) -> models.Batch:
        """Ends a batch: what has not ended ends as an error."""
        return portal().run(calls.cancel(self._caller, id))

    def results(
        self, batch: str, *, after: int = 0, timeout: float | None = None
    ) -> Iterator[models.ResultItem]:
        """Follows a batch's results to its end, behind the cursor of the last one that was seen.

        `timeout` is for each wait. Connections that break are made anew; nothing comes twice.
        """
        core = portal().run(calls.adopt(self._caller, batch, after))
        try:
            yield from Batch(core).stream(timeout)
        finally:
            portal().run(core.stop())

    def events(self, batch: str, *, last_event_id: str | None = None) -> Iterator[models.StreamEvent]:
        """Follows a batch's events to its end, behind the id of the last one that was seen:
        request.done, group.done, batch.estimate, batch.done; `data` is JSON."""
        feed = calls.events(self._caller, batch, last_event_id)

        async def step() -> models.StreamEvent | None:
            return await anext(feed, None)

        async def end() -> None:
            await feed.aclose()

        try:
            while (event := portal().run(step())) is not None:
                yield event
        finally:
            portal().run(end())

    def request(self, id: str) -> models.Request:
        """One request with all that is kept of it."""
        return portal().run(calls.request(self._caller, id))

    def plugins(self) -> list[models.Plugin]:
        """Every version of the tenant's plugins."""
        return portal().run(calls.plugins(self._caller))

    def golden_cases(self, name: str, version: str) -> list[models.GoldenCase]:
        """The golden cases of a version with their results."""
        return portal().run(calls.golden_cases(self._caller, name, version))

    def runs(self) -> list[models.RunSummary]:
        """The tenant's runs; what was active last comes first."""
        return portal().run(calls.runs(self._caller))

    def run(self, name: str, *, last: int = 200) -> models.RunView:
        """A run with its last iterations as columns: rewards, verdicts, pass@k, components, delays."""
        return portal().run(calls.run(self._caller, name, last))

    def solve_rates(self, run: str, group: str) -> models.SolveRates:
        """The solve rate of one prompt, which is a group, over the batches of a run."""
        return portal().run(calls.solve_rates(self._caller, run, group))

    def find_samples(
        self,
        run: str | None = None,
        *,
        batch: str | None = None,
        plugin: str | None = None,
        q: str | None = None,
        sort: str | None = None,
        **filters: str | float,
    ) -> Iterator[models.SampleSummary]:
        """The samples of a run, a batch or a plugin version (`name@version`): requests of ended batches,
        with the beginnings of their texts.

        `q` are words of the prompt or response, `sort` a column such as `reward` or `-response_chars`, and
        `filters` those of `GET /v1/samples`, such as `verdict`, `group_rewards`, `reward_min`. Samples are
        prepared after the end of their batch; those that are not prepared yet are left out.
        """
        query = calls.sample_query(
            {"run": run, "batch": batch, "plugin": plugin, "q": q, "sort": sort, **filters}
        )
        found = calls.find_samples(self._caller, query)

        async def step() -> models.SampleSummary | None:
            return await anext(found, None)

        async def end() -> None:
            await found.aclose()

        try:
            while (sample := portal().run(step())) is not None:
                yield sample
        finally:
            portal().run(end())

    def samples(self, run: str, *, batch: str | None = None, texts: bool = True) -> Iterator[models.Sample]:
        """The requests of a run, or of one batch of it, with their texts and outcomes, one by one.

        Without `texts` they have no prompt, response, label and metadata. Raises `UnreachableError` if the
        connection breaks before the last one.
        """
        found = calls.samples(self._caller, run, batch, texts)

        async def step() -> models.Sample | None:
            return await anext(found, None)

        async def end() -> None:
            await found.aclose()

        try:
            while (sample := portal().run(step())) is not None:
                yield sample
        finally:
            portal().run(end())


class AsyncClient(_Face):
    """`Client`, awaited: for any event loop, and for several. `Client` says what each method does."""

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await portal().arun(self._caller.close())

    @overload
    def batch(
        self,
        plugin: str,
        *,
        run: str,
        iteration: int = 0,
        size: int | None = None,
        group_size: int | None = None,
        max_extra_delay_ms: int | None = None,
        settings: Mapping[str, Any] | None = None,
        share_equal: bool = True,
        consumes: models.Consumes | None = None,
        progress: bool | Callback | None = None,
    ) -> AsyncBatch: ...

    @overload
    def batch(self, id: str, /, *, progress: bool | Callback | None = None) -> AsyncBatch: ...

    def batch(
        self,
        plugin: str,
        *,
        run: str | None = None,
        iteration: int = 0,
        size: int | None = None,
        group_size: int | None = None,
        max_extra_delay_ms: int | None = None,
        settings: Mapping[str, Any] | None = None,
        share_equal: bool = True,
        consumes: models.Consumes | None = None,
        progress: bool | Callback | None = None,
    ) -> AsyncBatch:
        if run is None:
            return AsyncBatch(calls.open_batch(self._caller, plugin, progress))
        call = calls.announcement(
            plugin,
            run,
            iteration,
            size,
            group_size,
            max_extra_delay_ms,
            settings,
            share_equal,
            consumes,
        )
        return AsyncBatch(calls.new_batch(self._caller, call, progress))

    async def score(
        self,
        plugin: str,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
    ) -> models.Reward:
        call = _reward_request(plugin, response, prompt, label, metadata, settings)
        return await portal().arun(calls.score(self._caller, call, timeout))

    async def reward(
        self,
        plugin: str,
        *,
        response: str,
        prompt: str = "",
        label: Any = None,
        metadata: Any = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 60.0,
    ) -> float:
        call = _reward_request(plugin, response, prompt, label, metadata, settings)
        scored = await portal().arun(calls.score(self._caller, call, timeout))
        return calls.reward(self._caller, scored)

    async def batch_info(self, id: str, *, wait: float | None = None) -> models.Batch:
        return await portal().arun(calls.batch(self._caller, id, wait))

    async def cancel_batch(self, id: str) -> models.Batch:
        return await portal().arun(calls.cancel(self._caller, id))

    async def results(
        self, batch: str, *, after: int = 0, timeout: float | None = None
    ) -> AsyncIterator[models.ResultItem]:
        core = await portal().arun(calls.adopt(self._caller, batch, after))
        try:
            async for item in AsyncBatch(core).stream(timeout):
                yield item
        finally:
            await portal().arun(core.stop())

    async def events(
        self, batch: str, *, last_event_id: str | None = None
    ) -> AsyncIterator[models.StreamEvent]:
        feed = calls.events(self._caller, batch, last_event_id)

        async def step() -> models.StreamEvent | None:
            return await anext(feed, None)

        async def end() -> None:
            await feed.aclose()

        try:
            while (event := await portal().arun(step())) is not None:
                yield event
        finally:
            await portal().arun(end())

    async def request(self, id: str) -> models.Request:
        return await portal().arun(calls.request(self._caller, id))

    async def plugins(self) -> list[models.Plugin]:
        return await portal().arun(calls.plugins(self._caller))

    async def golden_cases(self, name: str, version: str) -> list[models.GoldenCase]:
        return await portal().arun(calls.golden_cases(self._caller, name, version))

    async def runs(self) -> list[models.RunSummary]:
        return await portal().arun(calls.runs(self._caller))

    async def run(self, name: str, *, last: int = 200) -> models.RunView:
        return await portal().arun(calls.run(self._caller, name, last))

    async def solve_rates(self, run: str, group: str) -> models.SolveRates:
        return await portal().arun(calls.solve_rates(self._caller, run, group))

    async def find_samples(
        self,
        run: str | None = None,
        *,
        batch: str | None = None,
        plugin: str | None = None,
        q: str | None = None,
        sort: str | None = None,
        **filters: str | float,
    ) -> AsyncIterator[models.SampleSummary]:
        query = calls.sample_query(
            {"run": run, "batch": batch, "plugin": plugin, "q": q, "sort": sort, **filters}
        )
        found = calls.find_samples(self._caller, query)

        async def step() -> models.SampleSummary | None:
            return await anext(found, None)

        async def end() -> None:
            await found.aclose()

        try:
            while (sample := await portal().arun(step())) is not None:
                yield sample
        finally:
            await portal().arun(end())

    async def samples(
        self, run: str, *, batch: str | None = None, texts: bool = True
    ) -> AsyncIterator[models.Sample]:
        found = calls.samples(self._caller, run, batch, texts)

        async def step() -> models.Sample | None:
            return await anext(found, None)

        async def end() -> None:
            await found.aclose()

        try:
            while (sample := await portal().arun(step())) is not None:
                yield sample
        finally:
            await portal().arun(end())
