"""A real server with plugins, and a proxy before it that breaks connections as a test tells it to."""

from __future__ import annotations

import json
import os
import pathlib
import re
import socket
import socketserver
import subprocess
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import assay
from assay import _models as models
from assay._batch import BatchCore
from assay._call import Caller, settings
from assay._portal import portal

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = (ROOT / (os.environ.get("CARGO_TARGET_DIR") or "target")).resolve()
READY_WITHIN_S = 60
PLUGINS = ("assay_plugin_math", "examples/liar")


@dataclass
class Server:
    url: str
    key: str
    log: pathlib.Path


def call(server: Server, method: str, path: str, body: bytes | None, kind: str) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {server.key}", "content-type": kind}
    request = urllib.request.Request(server.url + path, data=body, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        answered: dict[str, Any] = json.load(answer)
        return answered


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("assay")
    # Boxed programs enter it as somebody else.
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o711)
    ready, log = folder / "ready.json", folder / "log"
    environment = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "ASSAY_DATA")}
    options = ["--listen", "127.0.0.1:0", "--environment", "client", "--workers", "cpu=2"]
    # Requests are traced; nobody takes the traces.
    options += ["--otlp-endpoint", "http://127.0.0.1:9"]
    places = ["--data", str(folder / "data"), "--ready-file", str(ready)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [TARGET / "debug/assay", "serve", *options, *places],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
        )  # fmt: skip
    try:
        until = time.monotonic() + READY_WITHIN_S
        while not ready.exists():
            alive = process.poll() is None and time.monotonic() < until
            assert alive, f"the server does not start:\n{log.read_text()}"
            time.sleep(0.05)
        facts = json.loads(ready.read_text())
        started = Server(facts["url"], facts["key"], log)
        for name in PLUGINS:
            component = (TARGET / f"wasm32-wasip2/plugin/{name}.wasm").read_bytes()
            plugin = call(started, "POST", "/v1/plugins", component, "application/wasm")
            version = json.dumps({"version": plugin["version"]}).encode()
            channel = f"/v1/plugins/{plugin['name']}/channels/prod"
            call(started, "PUT", channel, version, "application/json")
        yield started
    finally:
        process.terminate()
        process.wait(timeout=60)


@pytest.fixture
def client(server: Server) -> Iterator[assay.Client]:
    with assay.Client(server.url, server.key) as client:
        yield client


@pytest.fixture
def run(request: pytest.FixtureRequest) -> str:
    """A name for a run of this test alone."""
    return re.sub(r"\W+", "-", request.node.name).strip("-")


@pytest.fixture
def environment(server: Server, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a trainer's user exports."""
    for name, value in {
        "ASSAY_URL": server.url, "ASSAY_API_KEY": server.key, "ASSAY_PLUGIN": "math@prod", "ASSAY_RUN": run,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)


@pytest.fixture
def core() -> BatchCore:
    """An open batch without a server: nothing of it is sent, and a test writes its results."""
    core = BatchCore(
        Caller(settings("http://127.0.0.1:9", "key", 1.0, 0.0)), {"plugin": "math@prod", "run": "r"}
    )
    core.info = models.Batch("", models.Counts(0, 0, 0, 0), "id", 0, "math@1.0.0", "", "r", "open")
    core._follows = True

    async def opened() -> None:
        core._open()

    portal().run(opened())
    return core


@dataclass
class Fault:
    """What happens to the next calls of a path.

    `refuse`: closed before the server sees anything. `lose`: carried out, the answer is lost.
    `cut`: the answer breaks off after so many bytes; `late`: once nothing has come for half a second.
    `busy`: 503. `many`: 429, as too many calls wait. `hang`: carried out, never answered.
    """

    path: str
    kind: str
    times: int = 1
    after_bytes: int = 0


@dataclass
class Proxy:
    url: str
    upstream: tuple[str, int]
    faults: deque[Fault] = field(default_factory=deque)
    #: What came, as `METHOD path` with the fault that it met.
    seen: list[tuple[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    released: threading.Event = field(default_factory=threading.Event)

    def fail(self, path: str, kind: str, times: int = 1, after_bytes: int = 0) -> None:
        self.faults.append(Fault(path, kind, times, after_bytes))

    def met(self, call: str) -> list[str]:
        """The faults that calls of a path met, in order; an empty text where all went well."""
        with self.lock:
            return [fault for seen, fault in self.seen if re.search(call, seen)]

    def fault_of(self, call: str) -> Fault | None:
        with self.lock:
            found = next((f for f in self.faults if f.times and re.search(f.path, call)), None)
            if found:
                found.times -= 1
            self.seen.append((call, found.kind if found else ""))
            return found


class Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        proxy: Proxy = self.server.proxy  # type: ignore[attr-defined]
        request = self.read_request()
        if request is None:
            return
        head, body = request
        method, path, _ = head.split(b" ", 2)
        fault = proxy.fault_of(f"{method.decode()} {path.decode()}")
        kind = fault.kind if fault else ""
        if kind == "refuse":
            return
        if kind == "busy":
            self.request.sendall(
                b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n"
                b"connection: close\r\n\r\n"
            )
            return
        if kind == "many":
            problem = json.dumps({
                "type": "about:blank", "title": "Too Many Requests", "status": 429, "code": "too_many_wait",
                "detail": "as a test wants it",
            }).encode()  # fmt: skip
            self.request.sendall(
                b"HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/problem+json\r\n"
                b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(problem), problem)
            )
            return
        left = fault.after_bytes if fault else 0
        with socket.create_connection(proxy.upstream) as upstream:
            upstream.sendall(head + b"connection: close\r\n\r\n" + body)
            if kind == "late":
                upstream.settimeout(0.5)
            while piece := self.received(upstream):
                if kind in ("lose", "hang"):
                    continue
                if kind == "cut":
                    piece = piece[:left]
                    left -= len(piece)
                self.request.sendall(piece)
                if kind == "cut" and left <= 0:
                    return
        if kind == "hang":
            proxy.released.wait(30)

    def received(self, upstream: socket.socket) -> bytes:
        try:
            return upstream.recv(65536)
        except TimeoutError:
            return b""

    def read_request(self) -> tuple[bytes, bytes] | None:
        held = b""
        while b"\r\n\r\n" not in held:
            piece = self.request.recv(65536)
            if not piece:
                return None
            held += piece
        head, body = held.split(b"\r\n\r\n", 1)
        found = re.search(rb"content-length: (\d+)", head, re.I)
        while found and len(body) < int(found[1]):
            body += self.request.recv(65536)
        return re.sub(rb"\r\nconnection: [^\r]*", b"", head, flags=re.I) + b"\r\n", body


class ThreadedServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 128


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    host, port = server.url.removeprefix("http://").split(":")
    with ThreadedServer(("127.0.0.1", 0), Handler) as listening:
        url = f"http://127.0.0.1:{listening.server_address[1]}"
        proxy = listening.proxy = Proxy(url, (host, int(port)))  # type: ignore[attr-defined]
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield proxy
        proxy.released.set()
        listening.shutdown()


@pytest.fixture
def shaky(proxy: Proxy, server: Server) -> Iterator[assay.Client]:
    """A client behind the proxy."""
    with assay.Client(proxy.url, server.key) as client:
        yield client
