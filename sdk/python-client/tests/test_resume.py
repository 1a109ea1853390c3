"""A process goes on with a batch that another one announced: nothing is computed twice or lost."""

from __future__ import annotations

import asyncio
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from conftest import Proxy, Server

import assay
from assay._portal import portal

#: Submits half of a batch and commits it, hands over more, and is killed before it can seal.
TRAINER = """
import sys, time, assay
client = assay.Client()
with client.batch("math@prod", run=sys.argv[1], group_size=2) as batch:
    for at in range(20):
        batch.submit(key=f"k{at}", group=f"g{at // 2}", response=f"A: {41 + at % 2}", label="42")
    batch.flush()
    for at in range(20, 30):
        batch.submit(key=f"k{at}", group=f"g{at // 2}", response=f"A: {41 + at % 2}", label="42")
    print(batch.id, flush=True)
    time.sleep(600)
"""


def announced(client: assay.Client, run: str, keys: int, size: int | None = None) -> assay.Batch:
    """An open batch with requests `k0` and so on, which its process then leaves alone."""
    batch = client.batch("math@prod", run=run, size=size)
    batch.__enter__()
    fill(batch, range(keys))
    batch.flush()
    portal().run(batch._core.stop())
    return batch


def fill(batch: assay.Batch, numbers: range) -> None:
    for at in numbers:
        batch.submit(key=f"k{at}", group=f"g{at // 2}", response=f"A: {41 + at % 2}", label="42")


@pytest.mark.usefixtures("environment")
def test_a_killed_process_is_followed_by_another(client: assay.Client, run: str) -> None:
    source = pathlib.Path(assay.__file__).parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", TRAINER, run],
        env={**os.environ, "PYTHONPATH": str(source)}, stdout=subprocess.PIPE, text=True,
    ) as trainer:  # fmt: skip
        assert trainer.stdout is not None
        id = trainer.stdout.readline().strip()
        trainer.send_signal(signal.SIGKILL)
        assert trainer.wait() == -signal.SIGKILL
    before = client.batch_info(id)
    assert before.state == "open"
    assert before.counts.submitted >= 20

    with client.batch(id) as batch:
        assert batch.id == id
        assert (batch.info.run, batch.url) == (run, f"{client.url}/batches/{id}")
        fill(batch, range(40))
        batch.flush()
        # Those that ended in the first process's time are complete groups here too.
        assert next(batch.groups(timeout=60)).rewards() == [0.0, 1.0]
    results = batch.results(timeout=60)
    assert results.rewards() == [0.0, 1.0] * 20
    assert sorted(group.name for group in batch.groups(timeout=60)) == sorted(f"g{at}" for at in range(20))
    done = client.batch_info(id, wait=60)
    assert (done.state, done.counts.submitted, done.counts.scored) == ("done", 40, 40)
    stored = {item.key: item.id for item in client.results(id)}
    assert [item.id for item in results] == [stored[f"k{at}"] for at in range(40)]


def test_the_rest_alone_may_be_submitted(client: assay.Client, run: str) -> None:
    first = announced(client, run, 6)
    told: list[assay.Progress] = []
    with client.batch(first.id, progress=told.append) as batch:
        fill(batch, range(6, 10))
    assert batch.results(timeout=60).rewards() == [0.0, 1.0] * 2
    assert len(list(batch.stream(timeout=60))) == 10
    assert client.batch_info(first.id, wait=60).counts.scored == 10
    assert all(one.finished <= one.submitted for one in told)


def test_a_group_is_not_complete_before_it_is_submitted_again(client: assay.Client, run: str) -> None:
    with client.batch("math@prod", run=run, group_size=2) as first:
        fill(first, range(4))
        assert len(next(first.groups(timeout=60))) == 2
        with client.batch(first.id) as batch:
            batch.submit(key="k0", group="g0", response="A: 41", label="42")
            batch.flush()
            with pytest.raises(assay.WaitTimeoutError):
                next(batch.groups(timeout=1.0))
            batch.submit(key="k1", group="g0", response="A: 42", label="42")
            assert next(batch.groups(timeout=60)).rewards() == [0.0, 1.0]


def test_a_sized_batch_is_complete_with_its_last_request(client: assay.Client, run: str) -> None:
    first = announced(client, run, 2, size=4)
    with client.batch(first.id) as batch:
        fill(batch, range(4))
        with pytest.raises(ValueError, match="4 requests"):
            batch.submit(key="k4", response="A: 42", label="42")
    assert batch.results(timeout=60).rewards() == [0.0, 1.0] * 2


def test_a_batch_that_takes_no_more_says_so(client: assay.Client, run: str) -> None:
    sealed = client.batch("liar@prod", run=run)
    with sealed:
        sealed.submit(response="sleep")
        sealed.submit(response="spin")
    with (
        pytest.raises(assay.ConflictError, match=r"client\.results") as raised,
        client.batch(sealed.id),
    ):
        pass
    assert raised.value.code in ("batch_sealed", "batch_ended")
    sealed.cancel()
    client.batch_info(sealed.id, wait=60)
    with pytest.raises(assay.ConflictError, match="cancelled") as raised, client.batch(sealed.id):
        pass
    assert raised.value.code == "batch_ended"
    with (
        pytest.raises(assay.NotFoundError),
        client.batch("018f0000-0000-7000-8000-000000000000"),
    ):
        pass


def test_a_batch_that_is_sealed_meanwhile_is_not_cancelled(client: assay.Client, run: str) -> None:
    first = announced(client, run, 2)
    with pytest.raises(assay.ConflictError) as raised, client.batch(first.id) as batch:
        first.seal()
        # What the batch has is no news to it.
        fill(batch, range(2))
        batch.flush()
        batch.submit(key="new", response="A: 42", label="42")
        batch.flush()
    assert raised.value.code in ("batch_sealed", "batch_ended")
    assert first.results(timeout=60).rewards() == [0.0, 1.0]
    assert client.batch_info(first.id, wait=60).state == "done"


def test_misuse_is_told_at_once(client: assay.Client, run: str) -> None:
    with pytest.raises(TypeError, match="needs its `run`"):
        client.batch("math@prod", iteration=3)  # type: ignore[call-overload]
    first = announced(client, run, 1)
    again = client.batch(first.id)
    with pytest.raises(RuntimeError, match="not entered"):
        again.submit(key="k0", response="A: 42")
    with again:
        with pytest.raises(ValueError, match="without a key"):
            again.submit(response="A: 42", label="42")
        fill(again, range(1))
    with pytest.raises(RuntimeError, match="entered already"):
        again.__enter__()


def test_answers_that_are_lost_change_nothing(
    client: assay.Client, shaky: assay.Client, proxy: Proxy, run: str
) -> None:
    first = announced(client, run, 4)
    proxy.fail("GET .*/batches/", "refuse")
    proxy.fail("POST .*/requests", "lose", times=2)
    proxy.fail("POST .*/seal", "lose")
    with shaky.batch(first.id) as batch:
        fill(batch, range(8))
    assert batch.results(timeout=60).rewards() == [0.0, 1.0] * 4
    assert client.batch_info(first.id, wait=60).counts.submitted == 8


def test_all_of_it_awaited(client: assay.Client, server: Server, run: str) -> None:
    first = announced(client, run, 4)

    async def work() -> None:
        async with assay.AsyncClient(server.url, server.key) as other:
            async with other.batch(first.id) as batch:
                for at in range(6):
                    await batch.submit(key=f"k{at}", response=f"A: {41 + at % 2}", label="42")
            assert (await batch.results(timeout=60)).rewards() == [0.0, 1.0] * 3
            await other.batch_info(first.id, wait=60)
            with pytest.raises(assay.ConflictError, match="done"):
                async with other.batch(first.id):
                    pass

    asyncio.run(work())
