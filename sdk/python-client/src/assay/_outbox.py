"""The lines to submit: filled from any thread, emptied by the portal, and bounded: it pushes back.

Callers that find no room wait in order. Once there is room, their lines are put in for them: no caller is
woken in vain, and one that has given up does not hold up the next.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
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
        #: The lines that wait for room, each with its future and its `accept`.
        self._waiting: deque[tuple[Future[None], bytes, Callable[[], None]]] = deque()
        self._failure: BaseException | None = None
        self._told = False
        # Set when there is something to take; of the portal's loop.
        self.filled = asyncio.Event()

    def put(self, line: bytes, accept: Callable[[], None]) -> Future[None] | None:
        """Puts a line in, at once or when there is room: the future is done once it is in, and one that is
        cancelled before withdraws its line.

        `accept` is called just before anybody may take the line, one call at a time; if it raises, the line
        is not put in.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if not self._waiting and self._has_room(line):
                self._put_in(line, accept)
                return None
            waiting: Future[None] = Future()
            self._waiting.append((waiting, line, accept))
        # The first caller in the row may have given up meanwhile.
        self._admit()
        return waiting

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
        self._admit()

    def fail(self, failure: BaseException) -> None:
        """Nothing more is put in; callers that wait or come later hear why."""
        with self._lock:
            self._failure = self._failure or failure
            self._lines.clear()
            waiting, self._waiting = self._waiting, deque()
        for one, _, _ in waiting:
            if one.set_running_or_notify_cancel():
                one.set_exception(self._failure)

    def _has_room(self, line: bytes) -> bool:
        room = self._items < ITEMS_MAX and self._bytes + len(line) <= BYTES_MAX
        return room or self._items == 0

    def _put_in(self, line: bytes, accept: Callable[[], None]) -> None:
        accept()
        self._lines.append(line)
        self._bytes += len(line)
        self._items += 1
        if not self._told:
            self._told = True
            self._portal.loop().call_soon_threadsafe(self.filled.set)

    def _admit(self) -> None:
        """Puts in the lines that wait, in order, as far as there is room."""
        ended: list[tuple[Future[None], BaseException | None]] = []
        with self._lock:
            while self._waiting:
                one, line, accept = self._waiting[0]
                if not (one.cancelled() or self._has_room(line)):
                    break
                self._waiting.popleft()
                # After this it cannot be cancelled any more.
                if not one.set_running_or_notify_cancel():
                    continue
                refusal: BaseException | None = None
                try:
                    self._put_in(line, accept)
                except Exception as error:
                    refusal = error
                ended.append((one, refusal))
        # Without the lock: the callbacks of a future run here.
        for one, refusal in ended:
            if refusal is None:
                one.set_result(None)
            else:
                one.set_exception(refusal)
