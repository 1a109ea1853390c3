#!/usr/bin/env python3
"""Measures a server with many queued requests, and its way back after it was killed.

    bench/long/queued.py [--queued N] [--bytes N] [--tenants N] [--programs FOLDER]

Batches of a trivial plugin are queued for many tenants while no worker runs. Then the server is killed with SIGKILL and
started again, now with two workers; when half of the batches are done it is killed once more. Prints, in Markdown, how
long each took and how much memory the server had. Ends with status 1 if a reward was lost, wrong or came twice.
"""

import argparse
import concurrent.futures
import itertools
import sys
import time

from measure import SIZE, Server, load, submitted, text_of, wrong_with
from service import TARGET, Service

TRAINERS = 6


def line(what, took, memory):
    print(f"| {what} | {text_of(took)} | {memory / 2**20:,.0f} MiB |", flush=True)


class Queue:
    """Batches of all tenants in turns, by some connections at once."""

    def __init__(self, server, items, wanted):
        self.server, self.items, self.wanted = server, items, wanted
        # The key and the path of each batch.
        self.batches, self.wrong = [], []

    def fill(self, count):
        keys = itertools.cycle(self.server.keys)
        with concurrent.futures.ThreadPoolExecutor(TRAINERS) as trainers:
            self.batches = list(trainers.map(self._submit, range(count), itertools.islice(keys, count)))

    def _submit(self, number, key):
        return key, submitted(self.server.connection(key), number, self.items)

    def await_all(self, half_done):
        """Waits for all batches, and calls a function when half of them are done."""
        with concurrent.futures.ThreadPoolExecutor(TRAINERS) as trainers:
            checked = [trainers.submit(self._check, *batch) for batch in self.batches]
            for number, each in enumerate(concurrent.futures.as_completed(checked), 1):
                self.wrong += each.result()
                if number == len(checked) // 2:
                    half_done()

    def _check(self, key, path):
        return wrong_with(self.server.connection(key), path, self.wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queued", type=int, default=1_000_000, help="[default: 1000000]")
    parser.add_argument("--bytes", type=int, default=2_000, help="the length of a response [default: 2000]")
    parser.add_argument("--tenants", type=int, default=64)
    parser.add_argument("--programs", default=TARGET / "release-lto", help="the folder with `assay` and its helpers")
    arguments = parser.parse_args()
    items, wanted = load(arguments.bytes)
    count = -(-arguments.queued // SIZE)
    with Service(arguments.programs, workers=0) as service:
        queue = Queue(Server(service, arguments.tenants), items, wanted)
        memory = lambda: service.cost()[0]  # noqa: E731
        empty = memory()
        print("| | took | the server's memory |\n|---|--:|--:|")
        line("nothing is queued", 0, empty)

        began = time.monotonic()
        queue.fill(count)
        line(f"{count * SIZE:,} requests of {arguments.tenants} tenants are queued", time.monotonic() - began, memory())

        def come_back(when):
            service.kill()
            began = time.monotonic()
            service.start()
            line(f"killed {when}, until it is ready again", time.monotonic() - began, memory())

        service.workers_max = 2
        came_back = time.monotonic()
        come_back("while all are queued")
        queue.await_all(lambda: come_back("when half are done"))
        line("until all are done, with both starts", time.monotonic() - came_back, memory())
    print(f"\n{len(queue.batches) * SIZE:,} requests in {len(queue.batches):,} batches; "
          f"{len(queue.wrong)} batches with a reward that is wrong, lost or there twice")
    for wrong in queue.wrong[:20]:
        print(f"WRONG: {wrong}")
    sys.exit(1 if queue.wrong else 0)


if __name__ == "__main__":
    main()
