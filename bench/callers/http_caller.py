"""One caller of a compatible endpoint: a connection that is kept, and calls one after the other. Does as little as a
client can, so that the server is measured and not the caller."""

import asyncio
import json
import time


class Caller:
    def __init__(self, host, key):
        self._host, _, port = host.partition(":")
        self._port = int(port)
        self._head = (f"host: {host}\r\nauthorization: Bearer {key}\r\nxrl-authorization: Bearer {key}\r\n"
                      "content-type: application/json\r\n")
        self._reader = self._writer = None

    async def post(self, path, body, limit_s):
        """The status, the answer and the seconds it took; status 0 where none came within the limit."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(limit_s):
                status, answer = await self._exchange(path, json.dumps(body).encode())
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            self.close()
            status, answer = 0, b""
        return status, answer, time.perf_counter() - began

    async def _exchange(self, path, body):
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        self._writer.write(f"POST {path} HTTP/1.1\r\n{self._head}content-length: {len(body)}\r\n\r\n".encode() + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        status = int(head.split(" ", 2)[1])
        length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
        return status, await self._reader.readexactly(int(length.split(":")[1]))

    def close(self):
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
