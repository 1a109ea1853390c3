"""Single calls that share batches: how many batches, who hears what, and what a step changes."""

from __future__ import annotations

import asyncio
import os
import pathlib
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from conftest import Proxy, Server

import assay
from assay import _batch, _outbox
from assay import _models as models
from assay._portal import portal


def batch_of(score: assay.Score) -> str:
    """A request's id begins with its batch's."""
    return score.id.split(".")[0]


def seal(server: Server, batch: str) -> None:
    key = {"Authorization": f"Bearer {server.key}"}
    httpx.post(f"{server.url}/v1/batches/{batch}/seal", json={}, headers=key).raise_for_status()


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
    assert client.batch_info(batch_of(scores[0])).counts.scored == 32


def test_samples_that_wait_for_room_are_encoded_once(
    monkeypatch: pytest.MonkeyPatch, client: assay.Client, run: str
) -> None:
    monkeypatch.setattr(_outbox, "ITEMS_MAX", 8)
    monkeypatch.setattr(_outbox, "CHUNK_ITEMS_MAX", 3)
    encoded: list[str] = []
    encode = _batch.encode

    def noting(item: models.SubmitItem) -> bytes:
        encoded.append(item["response"])
        return encode(item)

    monkeypatch.setattr(_batch, "encode", noting)
    scorer = assay.Scorer("math@prod", run, client=client, idle=600)
    scores = scorer.scores([{"response": f"A: {at}", "label": "7"} for at in range(40)])
    assert [score.reward for score in scores] == [float(at == 7) for at in range(40)]
    assert encoded == [f"A: {at}" for at in range(40)]
    assert client.batch_info(batch_of(scores[0])).counts.submitted == 40
    scorer.close()


def test_closing_waits_for_no_sample_that_moved_on(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("math@prod", run, client=client, idle=600)

    async def work() -> assay.Score:
        sample = asyncio.create_task(scorer.ascore(response="A: 1", label="1"))
        while not scorer._open:
            await asyncio.sleep(0)
        # Its batch is not announced yet: the sample goes to the next one.
        await asyncio.wait_for(scorer._close(), 60)
        return await sample

    assert portal().run(work()).reward == 1.0
    scorer.close()


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


#: As a trainer's processes see it.
PROCESS_ENVIRONMENT = {"PYTHONPATH": str(pathlib.Path(assay.__file__).parent.parent)}
#: What one of a trainer's processes does.
PROCESS = """
import sys, assay
run, step, which = sys.argv[1], int(sys.argv[2]), sys.argv[3]
scorer = assay.Scorer("math@prod", run, idle=0.05)
for at in range(4):
    print(scorer.score(response=f"A: {which}{at}", label=f"{which}1", step=None if step < 0 else step).id)
"""


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("step", [-1, 3])
def test_the_processes_of_a_trainer_share_a_batch(
    client: assay.Client, server: Server, run: str, step: int
) -> None:
    # Open until all have come: they start at different times.
    holder = assay.Scorer("math@prod", run, client=client, idle=600)
    ours = holder.score(response="A: 1", label="1", step=None if step < 0 else step)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, run, str(step), str(which)],
            stdout=subprocess.PIPE,
            env={**os.environ, **PROCESS_ENVIRONMENT},
        )
        for which in range(3)
    ]
    ids = [line for process in processes for line in process.communicate()[0].decode().split()]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(set(ids)) == 12
    assert {identity.split(".")[0] for identity in ids} == {batch_of(ours)}
    seal(server, batch_of(ours))
    ended = client.batch_info(batch_of(ours), wait=60)
    assert (ended.state, ended.counts.submitted) == ("done", 13)
    assert ended.iteration == (1 if step < 0 else 3)


TRL_PROCESS = """
import asyncio, sys, types
from assay.adapters import trl

run, which = sys.argv[1], int(sys.argv[2])
f = trl.reward_func("math@prod", run)
state = types.SimpleNamespace(global_step=5)
answers = [f"A: {42 + which}", f"A: {which}"]
print(asyncio.run(f(prompts=["6 * 7?"] * 2, completions=answers, answer=["42"] * 2, trainer_state=state)))
"""


@pytest.mark.usefixtures("environment")
def test_the_processes_of_trl_share_a_batch(client: assay.Client, server: Server, run: str) -> None:
    # Open until all have come: they start at different times.
    holder = assay.Scorer("math@prod", run, client=client, idle=600)
    ours = holder.score(response="A: 42", label="42", step=5)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TRL_PROCESS, run, str(which)],
            stdout=subprocess.PIPE,
            env={**os.environ, **PROCESS_ENVIRONMENT, "WORLD_SIZE": "2"},
        )
        for which in range(2)
    ]
    said = [process.communicate()[0].decode().strip() for process in processes]
    assert said == ["[1.0, 0.0]", "[0.0, 0.0]"]
    seal(server, batch_of(ours))
    ended = client.batch_info(batch_of(ours), wait=60)
    assert (ended.iteration, ended.counts.submitted, ended.state) == (5, 5, "done")


@pytest.mark.usefixtures("environment")
def test_a_process_that_is_gone_leaves_no_open_batch(client: assay.Client, run: str) -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROCESS, run, "-1", "0"],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, **PROCESS_ENVIRONMENT},
    ).stdout
    batch = said.decode().split(".")[0]
    assert client.batch_info(batch, wait=60).state == "done"


def test_a_sample_moves_on_where_its_batch_was_sealed(
    client: assay.Client, server: Server, run: str
) -> None:
    scorer = assay.Scorer("liar@prod", run, client=client, idle=600)

    async def work() -> tuple[assay.Score, list[assay.Score]]:
        running = asyncio.create_task(scorer.ascore(response="spin"))
        first = await scorer.ascore(response="random")
        seal(server, batch_of(first))
        moved = [await scorer.ascore(response="random") for _ in range(3)]
        # What the sealed batch had accepted is not computed again.
        assert batch_of(await running) == batch_of(first)
        return first, moved

    first, moved = asyncio.run(work())
    assert {score.reward for score in moved} == {1.0}
    assert batch_of(first) not in {batch_of(score) for score in moved}


def test_samples_with_unknown_names_are_refused(client: assay.Client, run: str) -> None:
    scorer = assay.Scorer("math@prod", run, client=client)
    with pytest.raises(TypeError, match="sample 1 has 'lable'; a sample has response, prompt, label"):
        scorer.scores([{"response": "A: 42"}, {"response": "A: 42", "lable": "42"}])
    with pytest.raises(TypeError, match="sample 0 has no 'response'"):
        scorer.scores([{"label": "42"}])
    with pytest.raises(TypeError, match="lable"):
        scorer.score(response="A: 42", lable="42")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="`prompt` of the request"):
        scorer.score(response="A: 42", prompt=None, label="42")  # type: ignore[arg-type]


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
    scorer = assay.Scorer("math@prod", run, timeout=50, consumes="groups")
    pickled = pickle.dumps(scorer)
    assert server.key.encode() not in pickled
    again = pickle.loads(pickled)
    assert (again.timeout, again._announce) == (50, scorer._announce)
    assert again.score(response="A: 1", label="1").reward == 1.0
