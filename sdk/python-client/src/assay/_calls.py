"""The calls that both clients make, each once; all of it runs on the portal."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import httpx

from assay import _models as models
from assay._batch import BatchCore, failed
from assay._call import Caller, Trouble, may_repeat, parse
from assay._sent import encoded
from assay.errors import ProblemError, RequestFailedError, UnreachableError, WaitTimeoutError
from assay.progress import Callback, observer
from assay.results import reward_of

#: The most that the server lets one call wait, in seconds.
WAIT_MAX_S = 300
_GRACE_S = 15.0


def announcement(
    plugin: str,
    run: str,
    iteration: int,
    size: int | None,
    group_size: int | None,
    max_extra_delay_ms: int | None,
    settings: Mapping[str, Any] | None,
    share_equal: bool = True,
    consumes: models.Consumes | None = None,
    join: models.JoinBatch | None = None,
) -> models.AnnounceBatch:
    call: models.AnnounceBatch = {"plugin": plugin, "run": run, "iteration": iteration}
    if size is not None:
        call["expected_size"] = size
    if group_size is not None:
        call["group_size"] = group_size
    if max_extra_delay_ms is not None:
        call["max_extra_delay_ms"] = max_extra_delay_ms
    if consumes is not None:
        call["consumes"] = consumes
    if settings is not None:
        call["settings"] = dict(settings)
    if not share_equal:
        call["share_equal"] = False
    if join is not None:
        call["join"] = join
    return call


def new_batch(caller: Caller, call: models.AnnounceBatch, progress: bool | Callback | None) -> BatchCore:
    return BatchCore(caller, call, observer(progress, f"{call['run']} {call.get('iteration', 0)}"))


def open_batch(caller: Caller, id: str, progress: bool | Callback | None) -> BatchCore:
    """A batch that another process announced, to go on with it."""
    try:
        uuid.UUID(id)
    except ValueError:
        raise TypeError(
            f'{id!r} is no batch\'s id; a new batch needs its `run`, as in batch("math@prod", run="r")'
        ) from None
    return BatchCore(caller, {"plugin": "", "run": ""}, observer(progress, id), resumes=id)


async def score(caller: Caller, call: models.RewardRequest, timeout: float) -> models.Reward:
    """One request and its outcome. Not made again once it may have been carried out.

    Ends `_GRACE_S` after `timeout` at the latest, whether it waits for a free connection, for the answer or
    for its repeat.
    """
    seconds = min(timeout, WAIT_MAX_S)
    wait, limit = max(1, int(seconds)), seconds + _GRACE_S
    trouble = Trouble(caller.settings.patience)
    made = caller.call(
        models.Reward.from_json,
        "POST",
        "v1",
        "rewards",
        safe=False,
        body=encoded("the request", call),
        headers={"Prefer": f"wait={wait}"},
        timeout=limit,
        trouble=trouble,
    )
    try:
        return await asyncio.wait_for(made, limit)
    except asyncio.TimeoutError:
        why = f": {trouble.last}" if trouble.last else "; it goes on if it was submitted"
        raise WaitTimeoutError(f"no reward after {seconds:g} s{why}") from trouble.last
    except ProblemError as error:
        if error.code == "not_finished":
            raise WaitTimeoutError(str(error)) from None
        raise


def reward(caller: Caller, scored: models.Reward) -> float:
    """The number of an outcome that has one."""
    number = reward_of(scored.outcome)
    if number is None:
        item = models.ResultItem(1, scored.id, "0", scored.outcome, scored.stages)
        failure = failed(caller, item)
        assert failure is not None, "an outcome without a reward is a failure"
        raise RequestFailedError(failure)
    return number


async def batch(caller: Caller, id: str, wait: float | None) -> models.Batch:
    seconds = 0 if wait is None else min(int(wait), WAIT_MAX_S)
    return await caller.call(
        models.Batch.from_json,
        "GET",
        "v1",
        "batches",
        id,
        safe=True,
        headers={"Prefer": f"wait={seconds}"} if seconds else None,
        timeout=caller.settings.timeout + seconds,
    )


async def cancel(caller: Caller, id: str) -> models.Batch:
    return await caller.call(models.Batch.from_json, "POST", "v1", "batches", id, "cancel", safe=True)


async def adopt(caller: Caller, id: str, after: int) -> BatchCore:
    core = BatchCore(caller, {"plugin": "", "run": ""})
    await core.adopt(id, after)
    return core


async def request(caller: Caller, id: str) -> models.Request:
    return await caller.call(models.Request.from_json, "GET", "v1", "requests", id, safe=True)


async def plugins(caller: Caller) -> list[models.Plugin]:
    found: list[models.Plugin] = []
    after: str | None = None
    while True:
        query = {} if after is None else {"after": after}
        page = await caller.call(
            models.PluginList.from_json, "GET", "v1", "plugins", safe=True, query=query
        )
        found += page.items
        after = page.next
        if after is None:
            return found


async def golden_cases(caller: Caller, name: str, version: str) -> list[models.GoldenCase]:
    path = ("v1", "plugins", name, "versions", version, "cases")
    listed = await caller.call(models.GoldenCaseList.from_json, "GET", *path, safe=True)
    return listed.items


async def runs(caller: Caller) -> list[models.RunSummary]:
    found: list[models.RunSummary] = []
    after: str | None = None
    while True:
        page = await caller.call(
            models.RunList.from_json,
            "GET",
            "v1",
            "runs",
            safe=True,
            query={"after": after} if after else None,
        )
        found += page.items
        after = page.next
        if after is None:
            return found


async def run(caller: Caller, name: str, last: int) -> models.RunView:
    return await caller.call(
        models.RunView.from_json, "GET", "v1", "runs", name, safe=True, query={"last": str(last)}
    )


async def solve_rates(caller: Caller, run: str, group: str) -> models.SolveRates:
    return await caller.call(
        models.SolveRates.from_json,
        "GET",
        "v1",
        "runs",
        run,
        "solve-rates",
        safe=True,
        query={"group": group},
    )


async def samples(
    caller: Caller, run: str, batch: str | None, texts: bool
) -> AsyncGenerator[models.Sample, None]:
    """The samples of a run, over one connection: raises `UnreachableError` if it breaks."""
    query = {"texts": "true" if texts else "false", **({"batch": batch} if batch else {})}
    try:
        async with caller.stream(
            "v1", "runs", run, "samples", accept="application/x-ndjson", headers={}, query=query
        ) as lines:
            async for line in lines:
                yield parse(models.Sample.from_json, line)
    except httpx.TransportError as error:
        raise caller.unreachable(error) from None


async def find_samples(
    caller: Caller, query: Mapping[str, str]
) -> AsyncGenerator[models.SampleSummary, None]:
    """The samples that match, page by page."""
    after: str | None = None
    while True:
        page = await caller.call(
            models.SampleList.from_json,
            "GET",
            "v1",
            "samples",
            safe=True,
            query={**query, **({"after": after} if after else {})},
        )
        for sample in page.items:
            yield sample
        after = page.next
        if after is None:
            return


def sample_query(filters: Mapping[str, str | float | None]) -> dict[str, str]:
    """The filters of a list of samples that are given, as a query."""
    return {name: str(value) for name, value in filters.items() if value is not None}


async def events(
    caller: Caller, id: str, last_event_id: str | None
) -> AsyncGenerator[models.StreamEvent, None]:
    """Events behind an id, over as many connections as it takes, to the batch's end.

    A `group.done` may come twice around a connection that broke, never not at all.
    """
    trouble = Trouble(caller.settings.patience)
    while True:
        broken: UnreachableError | ProblemError
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        try:
            async with caller.stream(
                "v1",
                "batches",
                id,
                "events",
                accept="text/event-stream",
                headers=headers,
                query={},
                trouble=trouble,
            ) as lines:
                fields: dict[str, str] = {}
                async for line in lines:
                    if line:
                        name, _, value = line.partition(":")
                        fields[name] = value.removeprefix(" ")
                        continue
                    event = models.StreamEvent(
                        event=fields.get("event", ""),
                        id=fields.get("id"),
                        data=fields.get("data", ""),
                    )
                    fields = {}
                    if not event.event:
                        continue
                    last_event_id = event.id or last_event_id
                    trouble.over()
                    yield event
                    if event.event == "batch.done":
                        return
            broken = UnreachableError(caller.settings.url, "the events ended before the batch did")
        except httpx.TransportError as error:
            broken = caller.unreachable(error)
        except ProblemError as error:
            if not may_repeat(error, safe=True):
                raise
            broken = error
        await asyncio.sleep(trouble.pause_s(broken))
