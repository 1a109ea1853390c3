"""Connections that break, answers that are lost, servers that are busy: nothing is lost or comes twice."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from conftest import Proxy, Server, call

import assay
from assay import _call, _outbox


def score_all(client: assay.Client, run: str, size: int = 40) -> assay.Results:
    with client.batch("math@prod", run=run, group_size=2) as batch:
        for at in range(size):
            batch.submit(key=f"k{at}", group=f"g{at // 2}", response=f"A: {42 - at % 2}", label="42")
    results = batch.results(timeout=60)
    assert results.rewards() == [1.0, 0.0] * (size // 2)
    counts = client.batch_info(batch.id, wait=60).counts
    assert (counts.submitted, counts.scored) == (size, size)
    return results


@pytest.mark.parametrize("kind", ["refuse", "lose", "busy"])
def test_an_announcement_makes_one_batch(
    shaky: assay.Client, proxy: Proxy, server: Server, run: str, kind: str
) -> None:
    proxy.fail("POST /v1/batches$", kind, times=2)
    score_all(shaky, run)
    assert proxy.met("POST /v1/batches$") == [kind, kind, ""]
    listed = call(server, "GET", f"/v1/batches?run={run}", None, "application/json")
    assert [listing["batch"]["run"] for listing in listed["items"]] == [run]


@pytest.mark.parametrize("kind", ["refuse", "lose", "busy"])
def test_a_submit_is_repeated_and_counts_once(
    shaky: assay.Client, proxy: Proxy, run: str, kind: str
) -> None:
    proxy.fail("POST .*/requests", kind, times=3)
    score_all(shaky, run)
    assert proxy.met("POST .*/requests")[:4] == [kind] * 3 + [""]


@pytest.mark.parametrize("kind", ["refuse", "lose", "busy"])
def test_a_seal_is_repeated(shaky: assay.Client, proxy: Proxy, run: str, kind: str) -> None:
    proxy.fail("POST .*/seal", kind, times=2)
    score_all(shaky, run)
    assert proxy.met("POST .*/seal") == [kind, kind, ""]


def test_results_that_break_off_go_on_behind_the_last_one(
    shaky: assay.Client, proxy: Proxy, run: str
) -> None:
    # Somewhere in the head, in a line, a few lines on.
    for after in (20, 700, 1500, 4000):
        proxy.fail("GET .*/results", "cut", after_bytes=after)
    proxy.fail("GET .*/results", "busy")
    results = score_all(shaky, run)
    cursors = sorted(item.cursor for item in results if isinstance(item, assay.ResultItem))
    assert cursors == list(range(1, 41))
    assert len(proxy.met("GET .*/results")) == 6
    assert any("after=" in seen and "after=0" not in seen for seen, _ in proxy.seen)


def test_events_that_break_off_go_on_behind_the_last_one(
    shaky: assay.Client, client: assay.Client, proxy: Proxy, run: str
) -> None:
    with client.batch("math@prod", run=run) as batch:
        for _ in range(30):
            batch.submit(response="A: 42", label="42")
    batch.results(timeout=60)
    for after in (900, 2500):
        proxy.fail("GET .*/events", "cut", after_bytes=after)
    events = [event for event in shaky.events(batch.id) if event.event == "request.done"]
    assert [event.id for event in events] == [str(n) for n in range(1, 31)]
    assert len(proxy.met("GET .*/events")) == 3


def test_results_that_may_not_be_followed_now_are_asked_for_again(
    shaky: assay.Client, proxy: Proxy, run: str
) -> None:
    proxy.fail("GET .*/results", "many", times=2)
    score_all(shaky, run)
    assert proxy.met("GET .*/results") == ["many", "many", ""]


def test_each_break_of_a_stream_that_lived_is_a_first_one(
    proxy: Proxy, server: Server, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_call, "LIVED_S", 0.3)
    proxy.fail("GET .*/results", "late", times=4)
    with (
        assay.Client(proxy.url, server.key, patience=0.7) as client,
        client.batch("math@prod", run=run, progress=lambda told: None) as batch,
    ):
        while len(proxy.met("GET .*/results")) < 5:
            # Raises once the batch has failed.
            batch.flush()
        batch.submit(response="A: 42", label="42")
    assert batch.results(timeout=60).rewards() == [1.0]


def test_followed_batches_leave_connections_to_calls(
    server: Server, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_call, "CONNECTIONS_MAX", 1)
    with assay.Client(server.url, server.key) as client, contextlib.ExitStack() as stack:
        batches = [
            stack.enter_context(client.batch("math@prod", run=f"{run}-{at}", progress=lambda told: None))
            for at in range(3)
        ]
        for batch in batches:
            batch.submit(response="A: 42", label="42")
            batch.flush()
    assert [batch.results(timeout=60).rewards() for batch in batches] == [[1.0]] * 3


def test_one_reward_is_not_computed_twice_by_a_retry(shaky: assay.Client, proxy: Proxy) -> None:
    for kind in ("refuse", "lose"):
        proxy.fail("POST /v1/rewards", kind)
        with pytest.raises(assay.UnreachableError):
            shaky.reward("math@prod", response="A: 42", label="42")
    proxy.fail("POST /v1/rewards", "busy", times=2)
    assert shaky.reward("math@prod", response="A: 42", label="42") == 1.0
    assert proxy.met("POST /v1/rewards") == ["refuse", "lose", "busy", "busy", ""]


def test_a_repeat_is_logged(shaky: assay.Client, proxy: Proxy, caplog: pytest.LogCaptureFixture) -> None:
    proxy.fail("POST /v1/rewards", "busy", times=2)
    with caplog.at_level("INFO", logger="assay"):
        assert shaky.reward("math@prod", response="A: 42", label="42") == 1.0
    told = [record for record in caplog.records if record.name == "assay"]
    # A batch of an earlier test may still look for its server.
    told = [record for record in told if "cannot reach" not in record.getMessage()]
    assert [record.levelname for record in told] == ["INFO", "WARNING"]
    assert all("trying again in" in record.getMessage() for record in told)


def test_patience_has_an_end(proxy: Proxy, server: Server, run: str) -> None:
    proxy.fail("POST .*/requests", "refuse", times=10_000)
    with assay.Client(proxy.url, server.key, patience=0.5) as client:
        batch = client.batch("math@prod", run=run)
        with pytest.raises(assay.UnreachableError, match="ASSAY_URL") as raised, batch:
            batch.submit(response="A: 42", label="42")
        assert isinstance(raised.value, ConnectionError)
        assert client.batch_info(batch.id, wait=60).state == "cancelled"
        with pytest.raises(assay.UnreachableError):
            batch.results(timeout=60)


def test_an_answer_that_never_comes_is_asked_for_again(proxy: Proxy, server: Server, run: str) -> None:
    proxy.fail("POST .*/requests", "hang")
    with assay.Client(proxy.url, server.key, timeout=1.0) as client:
        score_all(client, run)
    assert proxy.met("POST .*/requests")[:2] == ["hang", ""]


def test_nobody_listens(server: Server) -> None:
    with (
        assay.Client("http://127.0.0.1:9", server.key, patience=0.2) as client,
        pytest.raises(assay.UnreachableError, match="assay dev"),
    ):
        client.plugins()


def test_what_is_not_assay_is_said_to_be_so(proxy: Proxy, server: Server) -> None:
    # The proxy's own 503 has no body.
    proxy.fail("GET /v1/plugins", "busy", times=10_000)
    with (
        assay.Client(proxy.url, server.key, patience=0.2) as client,
        pytest.raises(assay.UnavailableError, match="no answer of Assay's"),
    ):
        client.plugins()


def test_submits_wait_for_room_and_all_arrive(
    monkeypatch: pytest.MonkeyPatch, shaky: assay.Client, proxy: Proxy, server: Server, run: str
) -> None:
    monkeypatch.setattr(_outbox, "ITEMS_MAX", 8)
    monkeypatch.setattr(_outbox, "CHUNK_ITEMS_MAX", 3)
    proxy.fail("POST .*/requests", "lose", times=4)
    score_all(shaky, run)

    async def work() -> None:
        client = assay.AsyncClient(server.url, server.key)
        async with client, client.batch("math@prod", run=run) as batch:
            for _ in range(40):
                await batch.submit(response="A: 42", label="42")
        assert (await batch.results(timeout=60)).rewards() == [1.0] * 40

    asyncio.run(work())
