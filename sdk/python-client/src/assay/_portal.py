"""The thread whose event loop makes every call: one for each process, whoever asks.

So a client works from any thread and from any event loop, and goes on sending while a trainer's own
loop is busy. A forked child gets a thread of its own; what its parent had open is left alone.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """Runs coroutines on a loop of its own; its thread starts with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        # A loop holds its tasks weakly.
        self._forgotten: set[asyncio.Task[None]] = set()

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="assay-client", daemon=True
                )
                self._thread.start()
            return self._loop

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Has it run; the future may be waited for from anywhere but the portal's own thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop())

    def start_unlocked(self, make: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Has something run if the loop does, and forgets it."""
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._forget, make)

    def _forget(self, make: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.get_running_loop().create_task(make())
        self._forgotten.add(task)
        task.add_done_callback(self._forgotten.discard)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Has it run and waits for it; it is cancelled when the wait is interrupted."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a callback of the client may not wait for the client")
        future = self.start(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """The same, for another event loop."""
        return await asyncio.wrap_future(self.start(work))


_portal = Portal()
# A forked child keeps what it inherits and never touches it: closing it would reach into its parent's.
_inherited: list[Portal] = []


def portal() -> Portal:
    """This process's."""
    return _portal


def _renew() -> None:
    global _portal  # noqa: PLW0603
    _inherited.append(_portal)
    _portal = Portal()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
