"""The lines to submit: filled from any thread, emptied by the portal, and bounded: it pushes back."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future

from assay._portal import Portal

BYTES_MAX = 32 << 20
ITEMS_MAX = 16_384
CHUNK_BYTES_MAX = 4 << 20
CHUNK_ITEMS_MAX = 1_024


class Outbox:
    """Lines of NDJSON in order. Lines on their way count until they are acknowledged."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._items = 0
        self._waiting: list[Future[None]] = []
        self._failure: BaseException | None = None
        self._told = False
        # Set when there is something to take; of the portal's loop.
        self.filled = asyncio.Event()

    def put(self, line: bytes) -> Future[None] | None:
        """Takes a line, or returns what to wait for before it is tried again."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            room = self._items < ITEMS_MAX and self._bytes + len(line) <= BYTES_MAX
            if not room and self._items > 0:
                waiting: Future[None] = Future()
                self._waiting.append(waiting)
                return waiting
            self._lines.append(line)
            self._bytes += len(line)
            self._items += 1
            tell, self._told = not self._told, True
        if tell:
            self._portal.loop().call_soon_threadsafe(self.filled.set)
        return None

    def take(self) -> list[bytes]:
        """The next lines, as many as one call carries; none when all were taken."""
        chunk: list[bytes] = []
        size = 0
        with self._lock:
            while self._lines and len(chunk) < CHUNK_ITEMS_MAX:
                size += len(self._lines[0])
                if chunk and size > CHUNK_BYTES_MAX:
                    break
                chunk.append(self._lines.popleft())
            if not self._lines:
                self._told = False
                self.filled.clear()
        return chunk

    def acknowledge(self, chunk: list[bytes]) -> None:
        """Its lines are committed, or were refused: there is room again."""
        with self._lock:
            self._bytes -= sum(map(len, chunk))
            self._items -= len(chunk)
        self._wake()

    def fail(self, failure: BaseException) -> None:
        """Nothing more is taken; whoever waits or comes hears why."""
        with self._lock:
            self._failure = self._failure or failure
            self._lines.clear()
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for one in waiting:
            # A waiter that was cancelled is no matter.
            if one.set_running_or_notify_cancel():
                one.set_result(None)
