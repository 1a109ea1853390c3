"""A single reward ends soon after its timeout, whatever it waits for. No server here gives a reward."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import threading
from collections.abc import Iterator

import pytest
from conftest import ThreadedServer

import assay
from assay import _call, _calls
from assay._portal import portal

#: So long that a first answer comes before it on a machine that is busy.
TIMEOUT_S = 4.0
PATIENCE_S = 20.0


@pytest.fixture(autouse=True)
def grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls, "_GRACE_S", 0.1)


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        yield listening


def url_of(listening: socket.socket) -> str:
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def away() -> str:
    """The address of a server that does not run."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return url_of(listening)


class Busy(socketserver.BaseRequestHandler):
    """Always asks to come again after ten seconds."""

    def handle(self) -> None:
        self.request.recv(65536)
        self.request.sendall(
            b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\ncontent-length: 4\r\n"
            b"connection: close\r\n\r\nbusy"
        )


@pytest.fixture
def busy() -> Iterator[str]:
    with ThreadedServer(("127.0.0.1", 0), Busy) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield url_of(listening.socket)
        listening.shutdown()


def hears(url: str, timeout: float, why: str) -> None:
    """Both clients raise `WaitTimeoutError` and say why."""
    with (
        assay.Client(url, "key", patience=PATIENCE_S) as client,
        pytest.raises(assay.WaitTimeoutError, match=why),
    ):
        client.reward("math@prod", response="A: 42", timeout=timeout)

    async def work() -> None:
        async with assay.AsyncClient(url, "key", patience=PATIENCE_S) as client:
            with pytest.raises(assay.WaitTimeoutError, match=why):
                await client.score("math@prod", response="A: 42", timeout=timeout)

    asyncio.run(work())


def test_an_answer_that_never_comes(silent: socket.socket) -> None:
    hears(url_of(silent), 0.1, "no reward after 0.1 s; it goes on")


def test_a_server_that_is_away(away: str) -> None:
    hears(away, TIMEOUT_S, "no reward after 4 s: cannot reach")


def test_a_repeat_that_would_come_too_late(busy: str) -> None:
    hears(busy, TIMEOUT_S, "no reward after 4 s: 'busy'")


def test_no_connection_is_free(silent: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_call, "CONNECTIONS_MAX", 1)
    with assay.Client(url_of(silent), "key") as client:
        call = {"plugin": "math@prod", "response": "A: 42", "prompt": ""}
        first = portal().start(_calls.score(client._caller, call, 30.0))  # type: ignore[arg-type]
        taken, _ = silent.accept()
        with taken:
            with pytest.raises(assay.WaitTimeoutError):
                client.reward("math@prod", response="A: 42", timeout=0.1)
            # It still has the only connection.
            assert not first.done()
            first.cancel()


def test_patience_may_end_before(away: str) -> None:
    with (
        assay.Client(away, "key", patience=0.0) as client,
        pytest.raises(assay.UnreachableError),
    ):
        client.reward("math@prod", response="A: 42", timeout=60)
