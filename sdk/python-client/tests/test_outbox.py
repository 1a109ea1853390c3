"""Waiting for room in the outbox: in order, with one wake-up for each, and none that is lost."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

import pytest

import assay
from assay import _batch, _models, _outbox, scorer
from assay._batch import BatchCore
from assay._outbox import Outbox
from assay._portal import portal
from assay.batch import AsyncBatch, Batch


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> Outbox:
    """Has room for three lines."""
    monkeypatch.setattr(_outbox, "ITEMS_MAX", 3)
    return Outbox(portal())


def put(outbox: Outbox, line: bytes) -> Future[None]:
    """Puts a line in that has to wait."""
    waiting = outbox.put(line, lambda: None)
    assert waiting is not None
    return waiting


def fill(outbox: Outbox, *lines: bytes) -> None:
    assert [outbox.put(line, lambda: None) for line in lines] == [None] * len(lines)


def take(outbox: Outbox) -> list[bytes]:
    async def taken() -> list[bytes]:
        return outbox.take()

    return portal().run(taken())


def test_it_pushes_back(three: Outbox) -> None:
    fill(three, b"a", b"b", b"c")
    waiting = put(three, b"d")
    assert not waiting.done()
    chunk = take(three)
    assert chunk == [b"a", b"b", b"c"]
    # On its way is not there yet.
    assert not waiting.done()
    three.acknowledge(chunk)
    assert waiting.done()
    assert take(three) == [b"d"]
    put_when_full = [three.put(b"x", lambda: None) for _ in range(3)]
    three.fail(assay.AssayError("gone"))
    assert put_when_full[:2] == [None, None]
    with pytest.raises(assay.AssayError, match="gone"):
        put_when_full[2].result()  # type: ignore[union-attr]
    with pytest.raises(assay.AssayError, match="gone"):
        three.put(b"z", lambda: None)


def test_who_came_first_is_served_first_and_nobody_is_woken_in_vain(three: Outbox) -> None:
    fill(three, b"a", b"b", b"c")
    waiting = [put(three, line) for line in (b"d", b"e", b"f", b"g")]
    chunk = take(three)
    three.acknowledge(chunk[:2])
    assert [one.done() for one in waiting] == [True, True, False, False]
    # A caller that comes now is served after those that wait.
    waiting.append(put(three, b"h"))
    assert take(three) == [b"d", b"e"]
    three.acknowledge([b"c", b"d", b"e"])
    assert [one.done() for one in waiting] == [True, True, True, True, True]
    assert take(three) == [b"f", b"g", b"h"]


def test_a_long_line_is_not_overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_outbox, "BYTES_MAX", 10)
    outbox = Outbox(portal())
    fill(outbox, b"6bytes", b"3by")
    long, short = put(outbox, b"8 bytes!"), put(outbox, b"1")
    outbox.acknowledge(take(outbox)[:1])
    assert not long.done()
    assert not short.done()
    outbox.acknowledge([b"3by"])
    assert (long.done(), short.done()) == (True, True)
    assert take(outbox) == [b"8 bytes!", b"1"]


def test_who_gave_up_holds_nobody_up(three: Outbox) -> None:
    fill(three, b"a", b"b", b"c")
    first, second, third = (put(three, line) for line in (b"d", b"e", b"f"))
    assert first.cancel()
    three.acknowledge(take(three)[:1])
    assert (second.done(), third.done()) == (True, False)
    # A line that is in cannot be withdrawn.
    assert not second.cancel()
    assert third.cancel()
    three.acknowledge([b"b", b"c", *take(three)])
    fill(three, b"g", b"h", b"i")
    assert take(three) == [b"g", b"h", b"i"]


def test_a_long_line_that_was_withdrawn_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_outbox, "BYTES_MAX", 10)
    outbox = Outbox(portal())
    fill(outbox, b"6bytes")
    assert put(outbox, b"8 bytes!").cancel()
    assert put(outbox, b"1").done()
    assert take(outbox) == [b"6bytes", b"1"]


def test_a_line_that_is_not_accepted_takes_no_room(three: Outbox) -> None:
    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        three.put(b"x", refuse)
    fill(three, b"a", b"b", b"c")
    refused, after = three.put(b"d", refuse), put(three, b"e")
    assert refused is not None
    three.acknowledge(take(three)[:1])
    assert isinstance(refused.exception(timeout=0), ValueError)
    assert after.done()
    assert take(three) == [b"e"]


def pass_on(core: BatchCore) -> list[bytes]:
    """Sends what is in the outbox, and has it acknowledged."""
    chunk = take(core._outbox)
    core._outbox.acknowledge(chunk)
    return chunk


def test_what_waits_is_encoded_once(
    core: BatchCore, three: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    encode = _batch.encode

    def noting(item: _models.SubmitItem) -> bytes:
        encoded.append(item["key"])
        return encode(item)

    monkeypatch.setattr(_batch, "encode", noting)
    keys = [f"k{at}" for at in range(20)]
    waiting = [core.submit({"key": key, "group": "g", "response": "A: 42"}) for key in keys]
    assert waiting[:3] == [None] * 3
    # An item that waits is no request of the batch yet.
    assert list(core.keys) == core.groups["g"] == keys[:3]
    sent = [line for _ in range(7) for line in pass_on(core)]
    assert len(sent) == 20
    assert all(one.done() for one in waiting[3:] if one is not None)
    assert encoded == list(core.keys) == core.groups["g"] == keys


def test_a_key_that_waits_twice_is_told(core: BatchCore, three: Outbox) -> None:
    for key in "abc":
        core.submit({"key": key, "response": ""})
    first, again = (core.submit({"key": "d", "response": ""}) for _ in range(2))
    pass_on(core)
    assert first is not None
    assert first.exception(timeout=0) is None
    assert again is not None
    with pytest.raises(ValueError, match="submitted already"):
        again.result(timeout=0)


def test_a_submit_that_is_given_up_is_withdrawn(core: BatchCore, three: Outbox) -> None:
    async def work() -> None:
        batch = AsyncBatch(core)
        for key in "abc":
            await batch.submit(key=key, response="")
        given_up = asyncio.create_task(batch.submit(key="d", response=""))
        stays = asyncio.create_task(batch.submit(key="e", response=""))
        while len(core._outbox._waiting) < 2:
            await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        pass_on(core)
        await asyncio.wait_for(stays, 60)
        # It may be submitted again.
        await batch.submit(key="d", response="")

    asyncio.run(work())
    assert list(core.keys) == ["a", "b", "c", "e", "d"]


def test_a_submit_that_is_interrupted_is_withdrawn(
    core: BatchCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(Future[None]):
        def result(self, timeout: float | None = None) -> None:
            raise KeyboardInterrupt

    waiting = Interrupted()
    monkeypatch.setattr(core, "submit", lambda item: waiting)
    with pytest.raises(KeyboardInterrupt):
        Batch(core).submit(key="a", response="")
    assert waiting.cancelled()


def test_samples_that_wait_leave_a_batch_that_is_full(
    core: BatchCore, three: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_outbox, "CHUNK_ITEMS_MAX", 2)

    async def nothing() -> None:
        pass

    core.announce = nothing  # type: ignore[method-assign]

    async def work() -> list[object]:
        opened = scorer._Open(core)
        calls = [asyncio.create_task(opened.score({"key": "", "response": str(at)})) for at in range(5)]
        while len(core._outbox._waiting) < 2:
            await asyncio.sleep(0)
        # The server takes one of the first two. One is not sent yet, and two wait for room.
        chunk = core._outbox.take()
        accepted, refused = list(core.keys)[:2]
        full = _models.ItemProblem("batch_full", "", 2)
        items = [("accepted", accepted, "id", None), ("rejected", refused, None, full)]
        core._settle(chunk, [_models.Submitted(key, state, id, why) for state, key, id, why in items])
        others = await asyncio.wait_for(asyncio.gather(*calls[1:], return_exceptions=True), 60)
        assert not calls[0].done()
        core.on_result(assay.ResultItem(1, "id", accepted, assay.OutcomeScored(1.0, "right"), []))
        assert (await calls[0]).id == "id"
        assert not opened.takes_more()
        opened._watch.cancel()
        return list(others)

    moved_on = portal().run(work())
    assert [type(each) for each in moved_on] == [scorer._TakesNoMoreError] * 4
