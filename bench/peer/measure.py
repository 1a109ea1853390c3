#!/usr/bin/env python3
"""Measures Assay beside what a team would otherwise use for the same rewards, in turns, in one run.

    bench/peer/measure.py [--part NAME]... [--rounds N] [--programs FOLDER]

Contenders: a FastAPI server that gets a whole batch in one call, the same that gets an item a call, Celery on Redis with
its append-only file, FastAPI around Math-Verify, and FastAPI that runs each program in a process. Every answer is checked.
Prints tables in Markdown: medians of the rounds. Processor time is of the whole machine but for the caller's own, so that
nothing else should run.
"""

import argparse
import asyncio
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import redis
from celery import Celery, group

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench/callers"), str(ROOT / "tests/trainers")]

import protocols  # noqa: E402
from http_caller import Caller  # noqa: E402
from service import TARGET, Service, clean_environment, free_port  # noqa: E402

BATCH = 2_048
BATCHES = 4
BODY_BYTES = 2_000
AT_ONCE = 32
PROGRAMS = 256
PROGRAMS_AT_ONCE = 16
STARTS_WITHIN_S = 60
WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett "
ITERATIONS = itertools.count(1)


@contextlib.contextmanager
def running(command, folder, ready, environment=()):
    """A contender's process, from the moment at which `ready` no longer fails; it ends with all that it started."""
    with (folder / f"{pathlib.Path(command[0]).name}-{free_port()}.log").open("wb") as log:
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   cwd=HERE, env=clean_environment() | dict(environment))
    try:
        until = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                ready()
                break
            except Exception:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{command[0]} does not start") from None
                time.sleep(0.1)
        yield
    except RuntimeError:
        print(pathlib.Path(log.name).read_text()[-3000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def busy_seconds():
    """The processor time of the whole machine since its start, without this process."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _waiting, irq, softirq, _stolen = fields
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - time.process_time()


class Contender:
    """Who computes the rewards: a name, and a function that takes the items and returns their rewards."""

    def __init__(self, name, score):
        self.name, self.score, self.rates, self.costs = name, score, [], []

    def round(self, items, wanted):
        busy, began = busy_seconds(), time.perf_counter()
        rewards = self.score(items)
        took, busy = time.perf_counter() - began, busy_seconds() - busy
        if rewards != wanted:
            wrong = sum(got != good for got, good in zip(rewards, wanted, strict=True))
            raise RuntimeError(f"{self.name}: {wrong} of {len(wanted)} answers are wrong")
        self.rates.append(len(items) / took)
        self.costs.append(busy / len(items))


def compare(title, contenders, items, wanted, rounds):
    """Rounds in turns; the first warms up and does not count."""
    for _ in range(rounds + 1):
        for contender in contenders:
            contender.round(items, wanted)
    print(f"\n{title}\n\n| | rate | beside Assay | processor time a request |\n|---|--:|--:|--:|")
    ours = statistics.median(contenders[0].rates[1:])
    for contender in contenders:
        rate, cost = (statistics.median(figures[1:]) for figures in (contender.rates, contender.costs))
        print(f"| {contender.name} | {rate:,.0f}/s | {rate / ours:.2f} | {cost * 1e6:,.0f} µs |", flush=True)


def post(address, path, body, headers=()):
    """One call, and its answer's text."""
    host = http.client.HTTPConnection(address, timeout=600)
    host.request("POST", path, body, {"Content-Type": "application/json"} | dict(headers))
    answer = host.getresponse()
    said = answer.read()
    host.close()
    if answer.status >= 300:
        raise RuntimeError(f"{path}: {answer.status} {said[:300]}")
    return said


class Assay:
    def __init__(self, service):
        self.address, self.key = service.url.removeprefix("http://"), service.key
        self._headers = {"Authorization": f"Bearer {service.key}"}

    def batches(self, plugin):
        def score(items):
            rewards = []
            for at in range(0, len(items), BATCH):
                rewards += self._batch(plugin, items[at:at + BATCH])
            return rewards
        return score

    def _batch(self, plugin, items):
        call = {"plugin": plugin, "run": f"peers-{plugin}", "iteration": next(ITERATIONS), "expected_size": len(items),
                "share_equal": False}
        batch = json.loads(post(self.address, "/v1/batches", json.dumps(call), self._headers))["id"]
        lines = "\n".join(json.dumps({"key": str(at)} | item) for at, item in enumerate(items))
        post(self.address, f"/v1/batches/{batch}/requests", lines, self._headers | {"Content-Type": "application/x-ndjson"})
        host = http.client.HTTPConnection(self.address, timeout=600)
        host.request("GET", f"/v1/batches/{batch}/results", headers=self._headers | {"Accept": "application/x-ndjson"})
        rewards = [None] * len(items)
        for line in host.getresponse().read().splitlines():
            result = json.loads(line)
            rewards[int(result["key"])] = result["outcome"].get("reward")
        host.close()
        return rewards

    def calls(self, plugin):
        def reward(answer):
            return answer["outcome"].get("reward")
        return each(self.address, self.key, "/v1/rewards",
                    lambda item: {"plugin": plugin, "share_equal": False} | item, reward)


def each(address, key, path, body, reward, at_once=AT_ONCE):
    """A function that makes one call an item, some of them at once."""
    async def score(items):
        left, rewards = iter(enumerate(items)), [None] * len(items)

        async def one():
            caller = Caller(address, key)
            for at, item in left:
                status, answer, _ = await caller.post(path, body(item), 600)
                if status != 200:
                    raise RuntimeError(f"{path}: status {status}: {answer[:300]}")
                rewards[at] = reward(json.loads(answer))
            caller.close()

        await asyncio.gather(*(one() for _ in range(at_once)))
        return rewards
    return lambda items: asyncio.run(score(items))


def fastapi(stack, folder):
    """The peer's address."""
    address = f"127.0.0.1:{free_port()}"

    def ready():
        host = http.client.HTTPConnection(address, timeout=5)
        host.request("GET", "/health")
        host.getresponse().read()
    command = [sys.executable, "-m", "uvicorn", "usual_servers:app", "--port", address.split(":")[1], "--workers", "2",
               "--no-access-log"]
    stack.enter_context(running(command, folder, ready))
    return address


def in_one_call(address, task):
    def score(items):
        rewards = []
        for at in range(0, len(items), BATCH):
            rewards += json.loads(post(address, f"/{task}/score_batch", json.dumps(items[at:at + BATCH])))
        return rewards
    return score


def celery(stack, folder, fsync):
    """Tasks in Redis, whose append-only file is written to the disk as `fsync` says."""
    port, data = free_port(), tempfile.mkdtemp(dir=folder)
    url = f"redis://127.0.0.1:{port}/0"
    command = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", data, "--appendonly", "yes",
               "--appendfsync", fsync, "--save", ""]
    stack.enter_context(running(command, folder, redis.Redis(port=port).ping))
    app = Celery("rewards", broker=url, backend=url)

    def task(item):
        return app.signature("queue_tasks.trivial", (item,))

    def score(items):
        rewards = []
        for at in range(0, len(items), BATCH):
            answer = group([task(item) for item in items[at:at + BATCH]], app=app).apply_async()
            rewards += answer.get(timeout=600)
            answer.forget()
        return rewards
    worker = [pathlib.Path(sys.executable).parent / "celery", "--app", "queue_tasks", "worker", "--concurrency", "2",
              "--loglevel", "ERROR"]
    stack.enter_context(running(worker, folder, lambda: score([synthetic(0)]), {"BENCH_REDIS": url}))
    return score


def synthetic(number):
    prompt = f"Question {number}: which of the following words comes last?"
    return {"prompt": prompt, "response": (WORDS * 40)[number % len(WORDS):][:BODY_BYTES - len(prompt)]}


def trivial(arguments, stack, folder):
    service = stack.enter_context(Service(arguments.programs))
    service.publish("trivial")
    items = [synthetic(number) for number in range(BATCHES * BATCH)]
    wanted = [1.0 if len(item["response"]) % 2 == 0 else 0.0 for item in items]
    peer, assay = fastapi(stack, folder), Assay(service)

    def number(answer):
        return answer["reward"]
    compare(f"A trivial reward, items of 2 kB, batches of {BATCH:,}; one by one: {AT_ONCE} at once", [
        Contender("Assay, batches", assay.batches("trivial@prod")),
        Contender("Assay, an item a call", assay.calls("trivial@prod")),
        Contender("FastAPI, a batch a call", in_one_call(peer, "trivial")),
        Contender("FastAPI, an item a call", each(peer, "", "/trivial/score", lambda item: item, number)),
        Contender("Celery, Redis that writes every second", celery(stack, folder, "everysec")),
        Contender("Celery, Redis that writes before it answers", celery(stack, folder, "always")),
    ], items, wanted, arguments.rounds)


def math(arguments, stack, folder):
    service = stack.enter_context(Service(arguments.programs))
    service.publish("math")
    # What both read alike: the plugin's sample also has forms that Math-Verify does not.
    sums = [dict(zip(("prompt", "response", "label"), protocols.sum_of(number), strict=True)) for number in range(BATCH)]
    peer, assay = fastapi(stack, folder), Assay(service)
    compare(f"A sum in a box, batches of {BATCH:,}", [
        Contender("Assay, `math`", assay.batches("math@prod")),
        Contender("FastAPI around Math-Verify, a batch a call", in_one_call(peer, "math_verify")),
    ], sums, [1.0] * BATCH, arguments.rounds)


def programs(arguments, stack, folder):
    service = stack.enter_context(Service(arguments.programs))
    service.publish("run")
    peer, assay = fastapi(stack, folder), Assay(service)
    def said(answer):
        return answer["run_result"]["stdout"]

    def contender(name, address, key, path):
        score = each(address, key, path, protocols.run_code, said, PROGRAMS_AT_ONCE)
        return Contender(name, lambda items: [int(text) - at for text, at in zip(score(items), items, strict=True)])
    compare(f"Programs in Python that compute for a moment, {PROGRAMS_AT_ONCE} at once", [
        contender("Assay, in a box each", assay.address, assay.key, "/compat/sandbox-fusion/run@prod/peers/run_code"),
        contender("FastAPI, in a process each", peer, "", "/run_code"),
    ], list(range(1, PROGRAMS + 1)), [0] * PROGRAMS, arguments.rounds)


PARTS = {"trivial": trivial, "math": math, "programs": programs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="what to measure [default: all]")
    parser.add_argument("--rounds", type=int, default=3, help="rounds that count [default: 3]")
    parser.add_argument("--programs", default=TARGET / "release-lto", help="the folder with `assay` and its helpers")
    arguments = parser.parse_args()
    for part in arguments.part or PARTS:
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-peers-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            PARTS[part](arguments, stack, folder)


if __name__ == "__main__":
    main()
