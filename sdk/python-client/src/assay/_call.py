"""One HTTP call: address, key, time limits, repetition, and what its answer means.

A call is repeated only where that is harmless: when it surely was not carried out (no connection, 429
or 503 with Retry-After), or when the server makes nothing of a second one (`safe`). Runs on the portal.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import json
import logging
import os
import random
import sys
import time
import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from assay import _models as models
from assay._portal import Portal, portal
from assay.errors import (
    ConfigurationError,
    ProblemError,
    UnexpectedAnswerError,
    UnreachableError,
    of_problem,
)

_log = logging.getLogger("assay")

T = TypeVar("T")

VERSION = "0.1.0"
CONNECT_S = 5.0
CONNECTIONS_MAX = 64
PAUSE_MIN_S, PAUSE_MAX_S = 0.1, 5.0
RETRY_AFTER_MAX_S = 60.0
#: A stream that is silent for so long is made anew: the server may be gone without a word.
SILENCE_S = 90.0
#: A stream that was answered and went on for so long ends a row of failures.
LIVED_S = 2.0
_EXCERPT_CHARS = 200
_EXIT_S = 2.0
# No byte of the call has left where one of these was raised.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
#: Codes of refusals that pass, of calls of which the server makes nothing the second time.
_PASSING = ("idempotency_key_in_use", "too_many_wait", "too_slow")


@dataclass(frozen=True)
class Settings:
    """Where a client calls, as whom, and for how long it tries."""

    url: str
    key: str
    #: Of one attempt, in seconds.
    timeout: float
    #: For how long, in seconds, a call is repeated: it outlasts the restart of a server.
    patience: float

    def __repr__(self) -> str:
        return f"Settings(url={self.url!r}, timeout={self.timeout}, patience={self.patience})"


def settings(url: str | None, key: str | None, timeout: float, patience: float) -> Settings:
    """Arguments that are not given are read from ASSAY_URL and ASSAY_API_KEY."""
    address = (url or _variable("ASSAY_URL")).strip().rstrip("/")
    try:
        parsed = httpx.URL(address)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(
            f"{address!r} is not the address of a server; it should look like http://127.0.0.1:7700"
        )
    if parsed.userinfo:
        raise ConfigurationError("the address has a user in it; give the key as ASSAY_API_KEY")
    if key is not None and not key.strip():
        raise ConfigurationError("the API key is empty; leave `key` out to use ASSAY_API_KEY")
    secret = (key or _variable("ASSAY_API_KEY")).strip()
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ConfigurationError("the API key has characters that no key has")
    if timeout <= 0 or patience < 0:
        raise ConfigurationError("timeout must be positive and patience not negative")
    return Settings(address, secret, timeout, patience)


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigurationError(
            f"{name} is not set; `assay dev` prints the lines that set ASSAY_URL and ASSAY_API_KEY"
        )
    return value


class _Connections:
    """Those of calls, so many at most, and those of streams, which stay for as long as a batch: calls that
    waited for one of them could wait for a batch that waits for these calls."""

    def __init__(self, of: Settings) -> None:
        self.of_calls = self._client(of, CONNECTIONS_MAX)
        self.of_streams = self._client(of, None)

    def _client(self, of: Settings, connections_max: int | None) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=of.url,
            headers={
                "Authorization": f"Bearer {of.key}",
                "User-Agent": f"assay-client-python/{VERSION}",
            },
            limits=httpx.Limits(max_connections=connections_max),
            # Nobody but the server named may ever see the key.
            follow_redirects=False,
        )

    async def close(self) -> None:
        await self.of_calls.aclose()
        await self.of_streams.aclose()


class Caller:
    """Makes calls; its connections belong to the portal's loop and are made with the first one."""

    def __init__(self, of: Settings) -> None:
        self.settings = of
        self._connections: _Connections | None = None
        self._of: Portal | None = None
        # Connections of a forked process's parent; see `_portal`.
        self._inherited: list[_Connections] = []
        _living.add(self)

    def __repr__(self) -> str:
        return f"Caller({self.settings.url!r})"

    def _connected(self) -> _Connections:
        if self._connections is None or self._of is not portal():
            if self._connections is not None:
                self._inherited.append(self._connections)
            self._of = portal()
            self._connections = _Connections(self.settings)
            weakref.finalize(self, _close_later, self._connections, self._of).atexit = False
        return self._connections

    async def close(self) -> None:
        # Taken first: who comes meanwhile gets others, and none that are closed.
        connections, self._connections = self._connections, None
        if connections is not None and self._of is portal():
            await connections.close()

    async def call(
        self,
        read: Callable[[Any], T],
        method: str,
        *segments: str,
        safe: bool,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        timeout: float | None = None,
        trouble: Trouble | None = None,
    ) -> T:
        """The answer of the first attempt that went well, read as JSON.

        `timeout` is for one attempt: waiting for a connection and repeats are not in it. Raises
        `ProblemError` for a refusal, `UnreachableError` once patience is at its end.
        """
        trouble = trouble or Trouble(self.settings.patience)
        while True:
            error: ProblemError | UnreachableError
            try:
                answer = await self._connected().of_calls.request(
                    method,
                    path(segments),
                    content=body,
                    headers=_headers(body, headers),
                    params=query,
                    timeout=self._timeout(timeout),
                )
                if answer.is_success:
                    return parse(read, answer.content)
                error = refusal(answer)
                again = may_repeat(error, safe)
            except httpx.TransportError as broken:
                again = safe or isinstance(broken, _NOT_SENT)
                error = self.unreachable(broken)
            if not again:
                raise error
            await asyncio.sleep(trouble.pause_s(error))

    @asynccontextmanager
    async def stream(
        self,
        *segments: str,
        accept: str,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        trouble: Trouble | None = None,
    ) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of an answer that goes on; one attempt, which ends earlier trouble if it lives."""
        sent = {"Accept": accept, **headers}
        limits = httpx.Timeout(self.settings.timeout, connect=CONNECT_S, read=SILENCE_S)
        async with self._connected().of_streams.stream(
            "GET", path(segments), headers=sent, params=query, timeout=limits
        ) as answer:
            if not answer.is_success:
                await answer.aread()
                raise refusal(answer)
            answered = time.monotonic()
            try:
                yield _lines(answer)
            finally:
                if trouble and time.monotonic() - answered >= LIVED_S:
                    trouble.over()

    def _timeout(self, attempt: float | None) -> httpx.Timeout:
        # A call that waits for a connection waits for other calls, each of which has an end.
        return httpx.Timeout(attempt or self.settings.timeout, connect=CONNECT_S, pool=None)

    def unreachable(self, broken: Exception) -> UnreachableError:
        return UnreachableError(self.settings.url, str(broken) or type(broken).__name__)


_living: weakref.WeakSet[Caller] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for caller in list(_living):
        if caller._connections is not None and caller._of is portal():
            with suppress(Exception):
                portal().start(caller.close()).result(_EXIT_S)


def _close_later(connections: _Connections, of: Portal) -> None:
    """Closes what nobody closed; called by the garbage collector, so it takes no lock."""
    if of is portal():
        of.start_unlocked(connections.close)


async def _lines(answer: httpx.Response) -> AsyncIterator[str]:
    """Ends at line feeds alone: JSON may have other separators of lines in its texts."""
    held = b""
    async for piece in answer.aiter_bytes():
        *whole, held = (held + piece).split(b"\n")
        for line in whole:
            yield line.decode()


def path(segments: tuple[str, ...]) -> str:
    return "/" + "/".join(quote(segment, safe="") for segment in segments)


def _headers(body: bytes | None, given: Mapping[str, str] | None) -> dict[str, str]:
    kind = {} if body is None else {"Content-Type": "application/json"}
    return {**kind, **_trace(), **(given or {})}


def _trace() -> dict[str, str]:
    """The caller's span, if the program uses OpenTelemetry: its rewards are then parts of its trace.

    A call has the context of the code that made it, and a batch's submits that of the code that opened it.
    """
    if "opentelemetry.trace" not in sys.modules:
        return {}
    carrier: dict[str, str] = {}
    importlib.import_module("opentelemetry.propagate").inject(carrier)
    return {name: value for name, value in carrier.items() if name == "traceparent"}


def parse(read: Callable[[Any], T], body: bytes | str) -> T:
    try:
        return read(json.loads(body))
    except (ValueError, KeyError) as error:
        raise UnexpectedAnswerError(f"{type(error).__name__}: {error}") from None


def refusal(answer: httpx.Response) -> ProblemError:
    """The problem that the server tells, or one of its status where something else answered."""
    after = answer.headers.get("retry-after", "")
    retry_after = float(after) if after.isdigit() else None
    try:
        problem = models.Problem.from_json(json.loads(answer.content))
    except (ValueError, KeyError, UnexpectedAnswerError):
        excerpt = answer.text[:_EXCERPT_CHARS] or "an empty body"
        problem = models.Problem(
            kind="about:blank",
            title=answer.reason_phrase,
            status=answer.status_code,
            code="not_assay",
            detail=f"{excerpt!r} is no answer of Assay's",
        )
    return of_problem(problem, retry_after)


def may_repeat(error: ProblemError, safe: bool) -> bool:
    """Whether the same call may go well later, and a second one does no harm."""
    # The server says when, so it has admitted nothing; without a time it is no matter of waiting.
    if error.status in (429, 503) and error.retry_after_s is not None:
        return True
    return safe and (error.status >= 500 or error.code in _PASSING)


class Trouble:
    """Failures in a row: how long to pause behind each, and when patience is at its end."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self.over()

    def over(self) -> None:
        """Something went well: the next failure is a first one."""
        self._failures = 0
        self._until: float | None = None
        #: The last failure of the row.
        self.last: Exception | None = None

    def pause_s(self, error: Exception) -> float:
        """Doubles up to its most, or is what the server told. Logs the error; raises it after patience."""
        now = time.monotonic()
        self.last = error
        self._until = self._until or now + self._patience
        told = getattr(error, "retry_after_s", None)
        full = min(PAUSE_MIN_S * 2.0 ** min(self._failures, 20), PAUSE_MAX_S)
        # A random part keeps clients that lost a server from coming back all at once.
        pause = full * random.uniform(0.5, 1.0) if told is None else min(told, RETRY_AFTER_MAX_S)  # noqa: S311
        self._failures += 1
        if now + pause > self._until:
            raise error
        # One connection that broke is nothing to warn of.
        level = logging.WARNING if self._failures > 1 else logging.INFO
        _log.log(level, "%s; trying again in %.1f s", error, pause)
        return float(pause)
