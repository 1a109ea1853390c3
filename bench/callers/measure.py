#!/usr/bin/env python3
"""Measures many parallel callers: each compatible protocol, programs in boxes, and the async Python client.

    bench/callers/measure.py [--part NAME]... [--callers N]... [--programs FOLDER]

Starts a server of its own for each measurement and compares every answer with what is known: a wrong one ends it with
status 1. Prints tables in Markdown.
"""

import argparse
import asyncio
import itertools
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/trainers"), str(ROOT / "sdk/python-client/src")]

import protocols  # noqa: E402
from http_caller import Caller  # noqa: E402
from service import TARGET, Service  # noqa: E402

# ROLL asks for a result so often.
ROLL_ASKS_EVERY_S = 2.0
ROLL_ASKS_FOR_S = 305.0
CLIENT_REQUESTS = 20_000
CLIENT_AT_ONCE = 1_000
NUMBERS = itertools.count(1)


class Figures:
    """The times of calls, and how many were answered with the right reward within the client's limit."""

    def __init__(self):
        self.seconds, self.good, self.statuses = [], 0, {}
        self.began = time.perf_counter()

    def add(self, seconds, status, right):
        self.seconds.append(seconds)
        self.good += right
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def row(self, name, callers, limit_s):
        """A line of the table; `callers` made these calls."""
        took = time.perf_counter() - self.began
        times = sorted(self.seconds)
        at = [text_of(times[min(len(times) - 1, int(len(times) * part))]) for part in (0.5, 0.99)]
        limit = "none" if limit_s is None else f"{limit_s:g} s"
        answered = self.statuses.pop(200, 0)
        others = [f"{count} x {status or 'no answer'}" for status, count in sorted(self.statuses.items())]
        wrong = answered - self.good
        if wrong:
            sys.exit(f"{name}: {wrong} answers are wrong")
        return (f"| {name} | {callers:,} | {at[0]} | {at[1]} | {self.good:,} of {len(times):,} | {limit} | "
                f"{len(times) / took:,.0f}/s | {', '.join(others)} |")


def text_of(seconds):
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms"


def head(title):
    columns = "| | callers | p50 | p99 | right and in time | the client's limit | rate | other answers |"
    print(f"\n{title}\n\n{columns}\n|---|--:|--:|--:|--:|--:|--:|---|", flush=True)


async def call(service, protocol, callers):
    """`callers` at once, each with a connection and calls one after the other."""
    path = f"/compat/{protocol.name}/{protocol.plugin}/callers{protocol.rest}"
    host = service.url.removeprefix("http://")
    figures = Figures()

    async def one():
        caller = Caller(host, service.key)
        for _ in range(protocol.calls):
            number = next(NUMBERS)
            status, answer, seconds = await caller.post(path, protocol.body(number), protocol.limit_s)
            if status == 200 and protocol.name == "roll":
                status, answer, seconds = await asked_again(caller, path, answer, seconds)
            figures.add(seconds, status, status == 200 and protocols.right(protocol, number, answer))
        caller.close()

    await asyncio.gather(*(one() for _ in range(callers)))
    return figures


async def asked_again(caller, path, answer, seconds):
    """ROLL's way to a reward after it submitted a sample."""
    ask = {"reward_request_id": json.loads(answer)["reward_request_id"]}
    began = time.perf_counter()
    while True:
        status, answer, _ = await caller.post(path.replace("submit_task", "task_result"), ask, 20)
        waited = seconds + time.perf_counter() - began
        if status != 200 or json.loads(answer)["errcode"] != 1 or waited > ROLL_ASKS_FOR_S:
            return status, answer, waited
        await asyncio.sleep(ROLL_ASKS_EVERY_S)


async def warm(service, protocol):
    """The first call waits for a worker and its plugin."""
    await call(service, protocol, 4)


def measure(arguments, chosen, callers):
    """Each in a server of its own, so that nothing is left over from the one before."""
    with Service(arguments.programs) as service:
        service.publish(chosen.plugin.split("@")[0])
        asyncio.run(warm(service, chosen))
        figures = asyncio.run(call(service, chosen, callers))
        limit = ROLL_ASKS_FOR_S if chosen.name == "roll" else chosen.limit_s
        print(figures.row(chosen.name, callers, limit), flush=True)


def scored(arguments):
    head("Each protocol: four samples of each caller, one after another; of `roll` and programs one")
    for protocol in [*protocols.SCORED, protocols.RUN_CODE, protocols.TEST_PROGRAM]:
        for callers in arguments.callers or [256, 1_000]:
            measure(arguments, protocol, callers)


def programs(arguments):
    head("Programs that take 0.05 to 0.1 s each, all at once")
    measure(arguments, protocols.RUN_CODE, 256)
    measure(arguments, protocols.TEST_PROGRAM, 900)


def client(arguments):
    head(f"{CLIENT_REQUESTS:,} requests by the async Python client")
    with Service(arguments.programs) as service:
        service.publish("math")
        os.environ |= {"ASSAY_URL": service.url, "ASSAY_API_KEY": service.key}
        asyncio.run(_scorer(service))
        asyncio.run(_batch(service))


async def _scorer(service):
    import assay

    scorer = assay.Scorer("math@prod", run="scorer", client=assay.AsyncClient(service.url, service.key))
    numbers = iter(range(CLIENT_REQUESTS + 4))

    async def one(figures):
        for number in numbers:
            prompt, response, label = protocols.sum_of(number)
            began = time.perf_counter()
            score = await scorer.ascore(prompt=prompt, response=response, label=label)
            figures.add(time.perf_counter() - began, 200, score.reward == 1.0)
            if number < 4:
                return

    await asyncio.gather(*(one(Figures()) for _ in range(4)))
    figures = Figures()
    await asyncio.gather(*(one(figures) for _ in range(CLIENT_AT_ONCE)))
    print(figures.row("`Scorer.ascore`", CLIENT_AT_ONCE, 600), flush=True)
    scorer.close()


async def _batch(service):
    import assay

    async with assay.AsyncClient(service.url, service.key) as asked:
        figures = Figures()
        async with asked.batch("math@prod", run="batch", size=CLIENT_REQUESTS) as batch:
            for number in range(CLIENT_REQUESTS):
                prompt, response, label = protocols.sum_of(number)
                await batch.submit(key=str(number), prompt=prompt, response=response, label=label)
        rewards = (await batch.results(600)).rewards()
        for reward in rewards:
            figures.add(time.perf_counter() - figures.began, 200, reward == 1.0)
        print(figures.row("one batch: until all results are there", 1, 600), flush=True)


PARTS = {"protocols": scored, "programs": programs, "client": client}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="what to measure [default: all]")
    parser.add_argument("--callers", action="append", type=int, help="callers of each protocol [default: 256 and 1000]")
    parser.add_argument("--programs", default=TARGET / "release", help="the folder with `assay` and its helpers")
    arguments = parser.parse_args()
    for part in arguments.part or PARTS:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
