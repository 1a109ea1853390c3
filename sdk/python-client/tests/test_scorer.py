"""Single calls that share batches: how many batches, who hears what, and what a step changes."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import Proxy, Server

import assay


def batch_of(score: assay.Score) -> str:
    """A request's id begins with its batch's."""
    return score.id.split(".")[0]


def test_calls_from_threads_and_loops_share_a_batch(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("math@prod", run, client=client, idle=600)
    with ThreadPoolExecutor(8) as threads:
        scores = list(threads.map(lambda at: scorer.score(response=f"A: {at}", label="7"), range(16)))
    assert [score.reward for score in scores] == [float(at == 7) for at in range(16)]

    async def more() -> list[assay.Score]:
        return await scorer.ascores([{"response": "A: 7", "label": "7"}] * 16)

    scores += asyncio.run(more())
    assert {score.verdict for score in scores[16:]} == {"correct_exact"}
    assert len({batch_of(score) for score in scores}) == 1
    scorer.close()
    assert client.batch_info(batch_of(scores[0]), wait=60).counts.scored == 32


def test_a_step_has_a_batch_and_ends_the_one_before(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("math@prod", run, client=client, idle=600)
    first = [scorer.score(response="A: 1", label="1", step=4) for _ in range(3)]
    second = scorer.score(response="A: 1", label="1", step=5)
    assert len({batch_of(score) for score in first}) == 1
    before = client.batch_info(batch_of(first[0]), wait=60)
    assert (before.state, before.iteration) == ("done", 4)
    assert client.batch_info(batch_of(second)).iteration == 5
    scorer.close()


def test_a_batch_is_sealed_once_nothing_comes(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("math@prod", run, client=client, idle=0.01)
    score = scorer.score(response="A: 1", label="1")
    assert client.batch_info(batch_of(score), wait=60).state == "done"
    again = scorer.score(response="A: 1", label="1")
    assert batch_of(again) != batch_of(score)


def test_who_has_no_reward_hears_it_alone(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("liar@prod", run, client=client, timeout=60)

    async def work() -> list[object]:
        calls = [scorer.ascore(response=word) for word in ("panic", "random", "spin")]
        too_long = scorer.ascore(response="random", group="x" * 300)
        return list(await asyncio.gather(*calls, too_long, return_exceptions=True))

    trap, fine, late, rejected = asyncio.run(work())
    assert isinstance(trap, assay.RequestFailedError)
    assert trap.failure.code == "plugin_trap"
    assert isinstance(fine, assay.Score)
    assert fine.url == f"{client.url}/requests/{fine.id}"
    assert isinstance(late, assay.Score)
    assert (late.timed_out, late.verdict) == (True, "timed_out")
    assert isinstance(rejected, assay.RequestFailedError)
    assert rejected.failure.code == "invalid_item"
    scorer.close()


def test_a_call_that_gives_up_leaves_the_others_alone(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("liar@prod", run, client=client, timeout=60)
    hasty = assay.Scorer("liar@prod", run, client=client, timeout=0.001)
    with pytest.raises(assay.WaitTimeoutError, match="goes on"):
        hasty.score(response="spin")
    assert scorer.score(response="random").reward == 1.0


def test_nobody_waits_for_a_batch_that_cannot_be_announced(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("nothing@prod", run, client=client)

    async def work() -> list[object]:
        calls = [scorer.ascore(response="x") for _ in range(3)]
        return list(await asyncio.gather(*calls, return_exceptions=True))

    assert {type(error) for error in asyncio.run(work())} == {assay.NotFoundError}


def test_a_server_that_is_gone_is_told_to_all(proxy: Proxy, server: Server, run: str) -> None:
    with assay.Client(proxy.url, server.key, patience=0.3) as client:
        scorer = assay.Scorer("math@prod", run, client=client)
        assert scorer.score(response="A: 1", label="1").reward == 1.0
        proxy.fail(".", "refuse", times=10_000)

        async def work() -> list[object]:
            calls = [scorer.ascore(response="A: 1", label="1") for _ in range(3)]
            return list(await asyncio.gather(*calls, return_exceptions=True))

        assert {type(error) for error in asyncio.run(work())} == {assay.UnreachableError}
        proxy.faults.clear()
        # What failed is left behind.
        assert scorer.score(response="A: 1", label="1").reward == 1.0
        scorer.close()


@pytest.mark.usefixtures("environment")
def test_a_scorer_travels_without_its_key(server: Server, run: str) -> None:
    scorer = assay.Scorer("math@prod", run, timeout=50)
    pickled = pickle.dumps(scorer)
    assert server.key.encode() not in pickled
    again = pickle.loads(pickled)
    assert again.timeout == 50
    assert again.score(response="A: 1", label="1").reward == 1.0
