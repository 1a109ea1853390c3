"""Batches against a real server: what is submitted comes back, in order."""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import pickle
import threading
import time
from typing import Any

import pytest
from conftest import Server

import assay


def fill(batch: assay.Batch, answers: list[str]) -> None:
    for at, answer in enumerate(answers):
        batch.submit(key=f"k{at}", group=f"g{at // 2}", prompt="6*7?", response=answer, label="42")


def test_rewards_come_in_the_order_of_their_submits(client: assay.Client, run: str) -> None:
    answers = ["A: 42", "A: 41"] * 300
    with client.batch("math@prod", run=run, iteration=3, size=600, group_size=2) as batch:
        fill(batch, answers)
        assert batch.url == f"{client.url}/batches/{batch.id}"
    results = batch.results(timeout=60)
    assert results.rewards() == [1.0, 0.0] * 300
    assert [item.key for item in results if isinstance(item, assay.ResultItem)] == [
        f"k{at}" for at in range(600)
    ]
    info = client.batch_info(batch.id, wait=60)
    assert (info.state, info.iteration, info.counts.scored, info.run) == ("done", 3, 600, run)


def test_what_has_no_reward_raises_with_ids_and_urls(client: assay.Client, run: str) -> None:
    with client.batch("liar@prod", run=run) as batch:
        batch.submit(key="good", response="random")
        batch.submit(key="trap", response="panic")
        batch.submit(key="bad", response="bad_request")
    results = batch.results(timeout=60)
    with pytest.raises(assay.BatchErrors) as raised:
        results.rewards()
    trap, bad = raised.value.failures
    assert (trap.key, trap.code, bad.key, bad.code) == ("trap", "plugin_trap", "bad", "bad_request")
    assert trap.url == f"{client.url}/requests/{trap.id}"
    assert str(trap.id) in str(raised.value)
    rewards, mask = results.rewards(on_error="mask")
    assert mask == [True, False, False]
    assert rewards[0] == 1.0
    assert all(math.isnan(reward) for reward in rewards[1:])
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.failures) == (
        assay.BatchErrors, str(raised.value), raised.value.failures,
    )  # fmt: skip


def test_a_timeout_has_the_reward_of_the_plugins_policy(client: assay.Client, run: str) -> None:
    with client.batch("liar@prod", run=run) as batch:
        batch.submit(response="spin")
    results = batch.results(timeout=60)
    item = results[0]
    assert isinstance(item, assay.ResultItem)
    assert isinstance(item.outcome, assay.OutcomeTimedOut)
    assert results.rewards() == [item.outcome.reward]


@pytest.mark.parametrize("share_equal", [True, False])
def test_equal_requests_share_one_computation_if_they_may(
    client: assay.Client, run: str, share_equal: bool
) -> None:
    with client.batch("math@prod", run=run, share_equal=share_equal) as batch:
        for _ in range(4):
            batch.submit(response=f"for {run} {share_equal} A: 42", label="42")
    results = batch.results(timeout=60)
    assert results.rewards() == [1.0] * 4
    origins = {item.shared_from for item in results if isinstance(item, assay.ResultItem)}
    counts = client.batch_info(batch.id, wait=60).counts
    if share_equal:
        assert counts.shared == 3
        assert origins == {None, results[0].id}
    else:
        assert not counts.shared
        assert origins == {None}


def test_groups_come_as_they_become_complete(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run, group_size=2, consumes="groups") as batch:
        fill(batch, ["A: 42", "A: 41", "A: 42", "A: 42"])
        # Inside of the block: complete groups are known before the batch is sealed.
        first = next(batch.groups(timeout=60))
        assert sorted(first.rewards()) in ([0.0, 1.0], [1.0, 1.0])
        batch.submit(key="single", group="half", response="A: 42", label="42")
    groups = {group.name: group.rewards() for group in batch.groups(timeout=60)}
    assert groups == {"g0": [1.0, 0.0], "g1": [1.0, 1.0], "half": [1.0]}
    assert client.batch_info(batch.id).consumes == "groups"


def test_what_is_known_beforehand_is_told(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run) as batch:
        batch.submit(key="long", response="A: 42", label="42", expected_ms=60_000.4)
        batch.update(outstanding=3)
        assert (batch.info.outstanding, batch.info.counts.submitted) == (3, 1)
        batch.submit(key="short", response="A: 42", label="42", expected_ms=1)
    assert batch.results(timeout=60).rewards() == [1.0, 1.0]
    endless = client.batch("math@prod", run=run)
    with pytest.raises(assay.SubmitRejectedError, match="the limit is 86400000"), endless:
        endless.submit(key="endless", response="A: 42", label="42", expected_ms=1e9)


def test_groups_without_a_size_are_complete_with_their_batch(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run) as batch:
        fill(batch, ["A: 42"] * 6)
    assert [len(group) for group in batch.groups(timeout=60)] == [2, 2, 2]


def test_results_are_followed_behind_a_cursor(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run) as batch:
        fill(batch, ["A: 42"] * 10)
    streamed = list(batch.stream(timeout=60))
    assert [item.cursor for item in streamed] == list(range(1, 11))
    behind = list(client.results(batch.id, after=7, timeout=60))
    assert behind == streamed[7:]


def test_events_are_followed_behind_an_id(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run, group_size=2) as batch:
        fill(batch, ["A: 42"] * 4)
    batch.results(timeout=60)
    events = list(client.events(batch.id))
    names = [event.event for event in events if event.event != "batch.estimate"]
    assert names.count("request.done") == 4
    assert names.count("group.done") == 2
    assert names[-1] == "batch.done"
    done = [event for event in events if event.event == "request.done"]
    assert json.loads(done[0].data)["outcome"]["reward"] == 1.0
    later = [event for event in client.events(batch.id, last_event_id=done[1].id)]
    assert [event.event for event in later].count("request.done") == 2


def test_an_exception_in_the_block_cancels(client: assay.Client, run: str) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        client.batch("liar@prod", run=run) as batch,
    ):
        # More than there are workers.
        for _ in range(3):
            batch.submit(response="spin")
        batch.flush()
        raise ZeroDivisionError
    info = client.batch_info(batch.id, wait=60)
    assert (info.state, info.counts.error) == ("cancelled", 3)


def test_a_batch_that_is_cancelled_elsewhere_has_failures_not_numbers(
    client: assay.Client, run: str
) -> None:
    with client.batch("liar@prod", run=run) as batch:
        for _ in range(3):
            batch.submit(response="spin")
        batch.flush()
        client.cancel_batch(batch.id)
    with pytest.raises(assay.BatchErrors, match="cancelled"):
        batch.results(timeout=60).rewards()


def test_waiting_has_an_end_and_may_be_tried_again(client: assay.Client, run: str) -> None:
    with client.batch("liar@prod", run=run) as batch:
        batch.submit(response="spin")
        batch.submit(response="random")
    with pytest.raises(assay.WaitTimeoutError, match=batch.id) as raised:
        batch.results(timeout=0.0)
    assert isinstance(raised.value, TimeoutError)
    assert batch.results(timeout=60).rewards()[1] == 1.0


def test_misuse_is_told_at_once(client: assay.Client, run: str) -> None:
    batch = client.batch("math@prod", run=run, size=2)
    with pytest.raises(RuntimeError, match="not announced"):
        batch.submit(response="A: 42")
    with batch:
        batch.submit(key="a", response="A: 42", label="42")
        with pytest.raises(ValueError, match="submitted already"):
            batch.submit(key="a", response="A: 41", label="42")
        with pytest.raises(RuntimeError, match="sealed"):
            batch.results(timeout=1)
        with pytest.raises(ValueError, match="JSON"):
            batch.submit(key="b", response="A: 42", label=math.nan)
        batch.submit(key="b", response="A: 42", label="42")
        with pytest.raises(ValueError, match="2 requests"):
            batch.submit(key="c", response="A: 42", label="42")
    with pytest.raises(RuntimeError, match="sealed"):
        batch.submit(key="d", response="A: 42")
    assert batch.results(timeout=60).rewards() == [1.0, 1.0]


def test_rejected_items_end_their_batch(client: assay.Client, run: str) -> None:
    batch = client.batch("math@prod", run=run)
    with pytest.raises(assay.SubmitRejectedError) as raised, batch:
        batch.submit(key="good", response="A: 42", label="42")
        batch.submit(key="x" * 300, response="A: 42", label="42")
    assert "key has 300 bytes" in raised.value.failures[0].message
    assert client.batch_info(batch.id, wait=60).state == "cancelled"


def test_many_threads_submit_to_one_batch(client: assay.Client, run: str) -> None:
    def submit(thread: int) -> None:
        for at in range(100):
            right = (thread + at) % 2
            batch.submit(key=f"{thread}-{at}", response=f"A: {42 - right}", label="42")

    with client.batch("math@prod", run=run, size=800) as batch:
        threads = [threading.Thread(target=submit, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    results = batch.results(timeout=120)
    assert len(results) == 800
    for item, reward in zip(results, results.rewards(), strict=True):
        assert isinstance(item, assay.ResultItem)
        thread, at = map(int, item.key.split("-"))
        assert reward == 1.0 - (thread + at) % 2


def test_progress_is_told(client: assay.Client, run: str) -> None:
    told: list[assay.Progress] = []
    with client.batch("math@prod", run=run, size=50, progress=told.append) as batch:
        fill(batch, ["A: 42"] * 50)
    batch.results(timeout=60)
    client.batch_info(batch.id, wait=60)
    assert told[-1].submitted == told[-1].size == 50
    assert [one.finished for one in told] == sorted(one.finished for one in told)


def test_a_callback_that_fails_ends_no_batch(
    client: assay.Client, run: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_: assay.Progress) -> None:
        raise ValueError("no screen")

    with client.batch("math@prod", run=run, progress=fails) as batch:
        fill(batch, ["A: 42"] * 5)
    assert batch.results(timeout=60).rewards() == [1.0] * 5
    assert caplog.text.count("is not called again") == 1


def test_one_reward(client: assay.Client) -> None:
    assert client.reward("math@prod", response="A: 42", label="42") == 1.0
    scored = client.score("math@prod", response="A: 41", label="42")
    assert isinstance(scored.outcome, assay.OutcomeScored)
    assert client.request(scored.id).response == "A: 41"
    with pytest.raises(assay.RequestFailedError, match="plugin_trap") as raised:
        client.reward("liar@prod", response="panic")
    assert raised.value.failure.url.startswith(client.url)


def test_what_there_is(client: assay.Client, run: str) -> None:
    assert {"math", "liar"} <= {plugin.name for plugin in client.plugins()}
    math = next(plugin for plugin in client.plugins() if plugin.name == "math")
    assert client.golden_cases(math.name, math.version) == []
    with client.batch("math@prod", run=run) as batch:
        fill(batch, ["A: 42"])
    batch.results(timeout=60)
    assert run in {known.name for known in client.runs()}


def test_samples_of_a_run_have_texts_and_no_reward_for_a_failure(client: assay.Client, run: str) -> None:
    with client.batch("liar@prod", run=run, iteration=4) as batch:
        batch.submit(key="good", prompt="6*7?", response="random", label={"answer": 42})
        batch.submit(key="trap", response="panic")
    batch.results(timeout=60)
    good, trap = client.samples(run)
    assert (good.key, good.prompt, good.label, good.iteration) == ("good", "6*7?", {"answer": 42}, 4)
    assert (good.kind, trap.kind, trap.reward) == ("scored", "error", None)
    assert good.reward is not None
    short = list(client.samples(run, batch=batch.id, texts=False))
    assert [(sample.key, sample.prompt) for sample in short] == [("good", None), ("trap", None)]
    with pytest.raises(assay.NotFoundError):
        next(client.samples("no such run"))
    # A reader may stop in the middle.
    assert next(client.samples(run)).id == good.id


def test_samples_are_found_by_their_words_and_sorted(client: assay.Client, run: str) -> None:
    with client.batch("liar@prod", run=run, iteration=4) as batch:
        batch.submit(key="good", prompt="what is 6*7?", response="random")
        batch.submit(key="trap", prompt="who knows?", response="panic")
    batch.results(timeout=60)
    until = time.monotonic() + 60
    while len(found := list(client.find_samples(run, sort="-key"))) < 2:
        assert time.monotonic() < until, "samples are prepared within a minute"
    assert [(sample.key, sample.response) for sample in found] == [("trap", "panic"), ("good", "random")]
    assert [sample.key for sample in client.find_samples(batch=batch.id, q="KNOWS")] == ["trap"]
    assert [sample.key for sample in client.find_samples(run, kind="scored")] == ["good"]


def test_the_solve_rate_of_a_prompt_and_pass_at_k(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run, iteration=4) as batch:
        for key, response in [("right", "A: 42"), ("wrong", "A: 41")]:
            batch.submit(key=key, group="sum", prompt="6*7?", response=response, label="42")
    batch.results(timeout=60)
    until = time.monotonic() + 60
    while not (rates := client.solve_rates(run, "sum")).batch:
        assert time.monotonic() < until, "samples are prepared within a minute"
    assert (rates.iteration, rates.samples, rates.passed, rates.mean) == ([4], [2], [1], [0.5])
    while not (pass_at := client.run(run).iterations.pass_at[0]):
        assert time.monotonic() < until, "the batch is marked soon after its samples"
    assert pass_at == {"1": 0.5, "2": 1.0}


def test_refusals_have_types(client: assay.Client, server: Server, run: str) -> None:
    with pytest.raises(assay.NotFoundError) as raised, client.batch("nothing@prod", run=run):
        pass
    error = raised.value
    assert (error.status, error.code) == (404, "not_found")
    assert error.request_id
    assert error.request_id in str(pickle.loads(pickle.dumps(error)))
    with client.batch("math@prod", run=run):
        pass
    with pytest.raises(assay.ConflictError) as conflict, client.batch("liar@prod", run=run):
        pass
    assert conflict.value.code == "run_pinned"
    assert conflict.value.hint
    stranger = assay.Client(server.url, "assay_client_aaaaaaaaaaaa_" + "b" * 40)
    with pytest.raises(assay.NotAuthenticatedError) as refused:
        stranger.plugins()
    assert "bbbb" not in f"{refused.value!r} {refused.value}"


def test_the_key_is_shown_and_pickled_nowhere(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client = assay.Client(server.url, server.key)
    batch = client.batch("math@prod", run="r")
    shown = f"{client!r} {batch!r} {client._caller!r} {client._caller.settings!r} {vars(batch)}"
    assert server.key not in shown
    with pytest.raises(TypeError, match="ASSAY_API_KEY"):
        pickle.dumps(client)
    monkeypatch.setenv("ASSAY_URL", server.url)
    monkeypatch.setenv("ASSAY_API_KEY", server.key)
    pickled = pickle.dumps(assay.Client(timeout=7))
    assert server.key.encode() not in pickled
    assert pickle.loads(pickled).plugins()


@pytest.mark.parametrize("url", ["", "localhost:7700", "ftp://host", "http://", "http://u:p@host"])
def test_a_wrong_address_is_explained(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_URL", "")
    with pytest.raises(assay.ConfigurationError):
        assay.Client(url, "key")


def test_an_empty_key_is_none_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_API_KEY", "the key of somebody else")
    for key in ("", " "):
        with pytest.raises(assay.ConfigurationError, match="the API key is empty"):
            assay.Client("http://127.0.0.1:7700", key)


def in_child(queue: Any, client: assay.Client, batch: assay.Batch, run: str) -> None:
    try:
        batch.submit(response="A: 42", label="42")
    except assay.ForkedError:
        with client.batch("math@prod", run=run) as own:
            own.submit(response="A: 42", label="42")
        queue.put(own.results(timeout=60).rewards())


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_connections_of_its_own(client: assay.Client, run: str) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with client.batch("math@prod", run=run) as batch:
        batch.submit(response="A: 42", label="42")
        child = context.Process(target=in_child, args=(queue, client, batch, run))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        assert queue.get() == [1.0]
        batch.submit(response="A: 41", label="42")
    assert batch.results(timeout=60).rewards() == [1.0, 0.0]


def test_all_of_it_awaited(server: Server, run: str) -> None:
    async def work() -> None:
        async with assay.AsyncClient(server.url, server.key) as client:
            async with client.batch("math@prod", run=run, group_size=2) as batch:
                for at in range(6):
                    await batch.submit(key=f"k{at}", group=f"g{at // 2}", response="A: 42", label="42")
                await batch.flush()
            assert (await batch.results(timeout=60)).rewards() == [1.0] * 6
            groups = [group.name async for group in batch.groups(timeout=60)]
            assert sorted(groups) == ["g0", "g1", "g2"]
            assert len([item async for item in batch.stream(timeout=60)]) == 6
            assert len([item async for item in client.results(batch.id, after=4, timeout=60)]) == 2
            events = [event.event async for event in client.events(batch.id)]
            assert events[-1] == "batch.done"
            assert await client.reward("math@prod", response="A: 42", label="42") == 1.0
            scored = await client.score("math@prod", response="A: 42", label="42")
            assert (await client.request(scored.id)).id == scored.id
            assert (await client.batch_info(batch.id, wait=60)).state == "done"
            assert await client.plugins()
            assert await client.runs()
            with pytest.raises(KeyError):
                async with client.batch("math@prod", run=run) as left:
                    raise KeyError
            assert (await client.batch_info(left.id)).state == "cancelled"
            assert (await client.cancel_batch(left.id)).state == "cancelled"

    asyncio.run(work())
    # A second event loop, as trainers have them.
    asyncio.run(work_again(server, run))


async def work_again(server: Server, run: str) -> None:
    client = assay.AsyncClient(server.url, server.key)
    rewards = [client.reward("math@prod", response=f"A: {at}", label="3") for at in range(5)]
    assert await asyncio.gather(*rewards) == [0.0, 0.0, 0.0, 1.0, 0.0]
