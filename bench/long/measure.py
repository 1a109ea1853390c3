#!/usr/bin/env python3
"""Measures a server that works for long: batches at a part of the highest rate, beside open batches of many tenants.

    bench/long/measure.py [--minutes N] [--part-of-top P] [--bytes N] [--tenants N] [--open N] [--picture FILE]
                         [--programs FOLDER]

Finds the highest rate first, for half a minute. Then batches of a trivial plugin come in even steps, each of another
tenant; single rewards are asked for beside them; and in the middle the server is killed with SIGKILL and started again.
Prints, in Markdown, what every tenth of the time was like: rate, times until a batch was done and until a single reward
came, memory, database, write-ahead log and autovacuum. Draws the same as a picture. Ends early where the disk gets full,
and with status 1 if a reward was lost, wrong or came twice.
"""

import argparse
import contextlib
import itertools
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/chaos"), str(ROOT / "tests/trainers")]

from load import Connection, made  # noqa: E402
from picture import Panel, draw  # noqa: E402
from service import TARGET, Service  # noqa: E402

SIZE = 2_048
TRAINERS = 6
TOP_FOR_S = 30
SAMPLED_EVERY_S = 5
LONE_EVERY_S = 0.2
ROWS = 10
# What the disk keeps free, whatever happens.
RESERVE_BYTES = 8 << 30
WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett "
SCOPES = ["batches:write", "batches:read", "plugins:publish", "plugins:promote"]


def load(length):
    """A batch's items, with responses of this length, and the reward of each."""
    items, wanted = [], {}
    for number in range(SIZE):
        response = (WORDS * (2 + length // len(WORDS)))[number % len(WORDS):][:length - number % 2]
        items.append(json.dumps({"key": str(number), "prompt": f"Question {number}", "response": response}))
        wanted[str(number)] = float(len(response) % 2 == 0)
    return "\n".join(items).encode(), wanted


def submitted(connection, number, items):
    """Submits a batch as an iteration of the run, and returns its path."""
    call = {"plugin": "trivial@prod", "run": "long", "iteration": number, "expected_size": SIZE, "share_equal": False}
    batch = made(connection.call("POST", "/v1/batches", call, {"Idempotency-Key": uuid.uuid4().hex}))
    path = f"/v1/batches/{batch['id']}"
    made(connection.call("POST", f"{path}/requests", items, {"Content-Type": "application/x-ndjson"}))
    return path


def wrong_with(connection, batch, wanted):
    """Waits until a batch is done and says what is wrong with its rewards; nothing is said where they are right."""
    while connection.call("GET", batch, None, {"Prefer": "wait=20"})[1]["state"] != "done":
        pass
    items = made(connection.call("GET", f"{batch}/results?limit={SIZE + 1}"))["items"]
    rewards = {item["key"]: item["outcome"].get("reward") for item in items}
    if len(items) != SIZE or len(rewards) != SIZE:
        return [f"{batch}: {len(items)} results of {len(rewards)} requests"]
    return [] if rewards == wanted else [f"{batch}: other rewards than were right"]


class Server:
    """The server, its tenants' keys, and what it and its database take."""

    def __init__(self, service, tenants):
        self.service, self.never = service, threading.Event()
        self.port = int(service.url.rpartition(":")[2])
        self.operator = self.connection(service.key)
        self.keys = [self._tenant(f"tenant-{at}") for at in range(tenants)]

    def connection(self, key):
        return Connection([self.port], key, self.never)

    def _tenant(self, name):
        self.operator.call("POST", "/v1/tenants", {"name": name})
        answer = made(self.operator.call("POST", "/v1/keys", {"tenant": name, "name": "long", "scopes": SCOPES}))
        key = answer.get("secret") or answer["key"]
        self.service.publish("trivial", key=key)
        return key

    def _query(self, sql):
        done = subprocess.run(["psql", "-h", self.service.folder / "data/postgres/socket", "-U", "assay", "-d", "assay",
                               "-AtF", " ", "-c", sql], check=True, capture_output=True, text=True)
        return [float(field) for field in done.stdout.split()]

    def takes(self):
        """Memory of the server, bytes of the database, bytes of write-ahead log so far, runs of autovacuum."""
        size, log, vacuums = self._query(
            "select pg_database_size(current_database()), pg_current_wal_lsn() - '0/0',"
            " (select coalesce(sum(autovacuum_count + autoanalyze_count), 0) from pg_stat_user_tables)")
        return self.service.cost()[0], size, log, vacuums


class Run:
    def __init__(self, server, items, wanted):
        self.server, self.items, self.wanted = server, items, wanted
        self.over, self.wrong = threading.Event(), []
        # (when, seconds) of each batch that was done, and of each single reward.
        self.batches, self.lone, self.samples = [], [], []
        self._numbers, self._lock = itertools.count(), threading.Lock()

    def for_seconds(self, seconds, rate, beside=()):
        """Batches at a rate, or as fast as they go, for a time; `beside` are functions of threads of their own."""
        self.over.clear()
        self._numbers, self.began = itertools.count(), time.monotonic()
        trainers = [self._thread(lambda: self._trainer(seconds, rate)) for _ in range(TRAINERS)]
        others = [self._thread(each) for each in beside]
        for thread in [*trainers, *others]:
            thread.start()
        for thread in trainers:
            thread.join()
        self.over.set()
        for thread in others:
            thread.join()

    def _thread(self, what):
        """A thread whose failure is the run's."""
        def watched():
            try:
                what()
            except BaseException as failed:
                self.wrong.append(f"{type(failed).__name__}: {failed}")
                raise
        return threading.Thread(target=watched)

    def _trainer(self, seconds, rate):
        connections = [self.server.connection(key) for key in self.server.keys]
        while not self.over.is_set():
            with self._lock:
                number = next(self._numbers)
            due = self.began + number * SIZE / rate if rate else time.monotonic()
            if due - self.began > seconds or time.monotonic() - self.began > seconds:
                return
            self.over.wait(max(0.0, due - time.monotonic()))
            connection = connections[number % len(connections)]
            self.wrong += wrong_with(connection, submitted(connection, number, self.items), self.wanted)
            now = time.monotonic()
            with self._lock:
                self.batches.append((now, now - due))

    def ask(self):
        """Single rewards, one after the other."""
        connection = self.server.connection(self.server.keys[0])
        for number in itertools.count():
            if self.over.wait(LONE_EVERY_S):
                return
            began = time.monotonic()
            call = {"plugin": "trivial@prod", "response": "x" * (2 + number % 2), "share_equal": False}
            status, said = connection.call("POST", "/v1/rewards", call)
            if status != 200 or said["outcome"].get("reward") != float(number % 2 == 0):
                self.wrong.append(f"a single reward: {status} {said}")
            self.lone.append((time.monotonic(), time.monotonic() - began))

    def sample(self):
        """What the server takes, now and then; ends the run before the disk is full."""
        while not self.over.wait(SAMPLED_EVERY_S):
            # It may have been killed just now.
            with contextlib.suppress(OSError, StopIteration, subprocess.CalledProcessError):
                self.samples.append((time.monotonic(), *self.server.takes()))
            if shutil.disk_usage(self.server.service.folder).free < RESERVE_BYTES:
                print("\nThe disk gets full: the run ends here.", flush=True)
                self.over.set()

    def kill_after(self, seconds):
        if not self.over.wait(seconds):
            self.server.service.kill()
            self.server.service.start()


def within(points, first, last):
    return [point[1:] for point in points if first <= point[0] < last]


def quantiles(seconds):
    if not seconds:
        return "-"
    ordered = sorted(seconds)
    return " ".join(text_of(ordered[min(len(ordered) - 1, int(len(ordered) * part))]) for part in (0.5, 0.99))


def text_of(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def report(run):
    took = max(when for when, _ in run.batches) - run.began
    print("\n| from | rate | a batch: p50 p99 | a single reward: p50 p99 | server | database | log | autovacuum |"
          "\n|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in range(ROWS):
        first, last = (run.began + took * at / ROWS for at in (row, row + 1))
        done, lone, taken = (within(points, first, last) for points in (run.batches, run.lone, run.samples))
        takes = "- | - | - | -"
        if taken:
            memory, size, log, vacuums = taken[-1]
            takes = f"{memory / 2**20:,.0f} MiB | {size / 1e9:.1f} GB | {log / 1e9:.1f} GB | {vacuums:.0f}"
        print(f"| {(first - run.began) / 60:.1f} min | {len(done) * SIZE / (last - first):,.0f}/s | "
              f"{quantiles([each for each, in done])} | {quantiles([each for each, in lone])} | {takes} |")
    print(f"\n{len(run.batches) * SIZE:,} requests in {took / 60:.1f} minutes, {len(run.lone):,} single rewards; "
          f"{len(run.wrong)} wrong, lost or twice")
    for wrong in run.wrong[:20]:
        print(f"WRONG: {wrong}")


def panels(run):
    """The same over time, in steps of five seconds."""
    steps, ends = {}, max(when for when, _ in run.batches)
    for at in range(int((ends - run.began) / SAMPLED_EVERY_S)):
        first = run.began + at * SAMPLED_EVERY_S
        steps[at * SAMPLED_EVERY_S / 60] = [
            [each for each, in within(points, first, first + SAMPLED_EVERY_S)] for points in (run.batches, run.lone)]

    def line(pick):
        return [(minute, pick(*values)) for minute, values in steps.items() if all(values)]
    memory = [((when - run.began) / 60, taken / 2**20) for when, taken, *_ in run.samples]
    disk = [((when - run.began) / 60, (size / 1e9)) for when, _, size, *_ in run.samples]
    return [
        Panel("requests a second", {"": [(at, len(done) * SIZE / SAMPLED_EVERY_S) for at, (done, _) in steps.items()]}),
        Panel("until a batch of 2,048 is done, s", {"median": line(lambda done, _: statistics.median(done)),
                                                    "longest": line(lambda done, _: max(done))}),
        Panel("until a single reward comes, ms", {"median": line(lambda _, lone: statistics.median(lone) * 1e3)}),
        Panel("the server's memory, MiB", {"": memory}),
        Panel("the database, GB", {"": disk}),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--part-of-top", type=float, default=0.7)
    parser.add_argument("--bytes", type=int, default=2_000, help="the length of a response [default: 2000]")
    parser.add_argument("--tenants", type=int, default=64)
    parser.add_argument("--open", type=int, default=1_000, help="batches that stay open meanwhile")
    parser.add_argument("--picture", type=pathlib.Path, default=TARGET / "long.svg")
    parser.add_argument("--programs", default=TARGET / "release-lto", help="the folder with `assay` and its helpers")
    arguments = parser.parse_args()
    if not shutil.which("psql"):
        sys.exit("bench-long: there is no psql, by which the database is measured (`apt-get install postgresql-client`)")
    items, wanted = load(arguments.bytes)
    with Service(arguments.programs) as service:
        server = Server(service, arguments.tenants)
        run = Run(server, items, wanted)
        run.for_seconds(TOP_FOR_S, None)
        top = len(run.batches) * SIZE / (time.monotonic() - run.began)
        rate = top * arguments.part_of_top
        print(f"{top:,.0f} requests a second at most; {rate:,.0f} from now on", flush=True)
        for number in range(arguments.open):
            connection = server.connection(server.keys[number % len(server.keys)])
            batch = made(connection.call("POST", "/v1/batches", {"plugin": "trivial@prod", "run": f"open-{number}", "iteration": 0}))
            connection.call("POST", f"/v1/batches/{batch['id']}/requests", b'{"key": "0", "response": "xx"}',
                            {"Content-Type": "application/x-ndjson"})
        run.batches.clear()
        seconds = arguments.minutes * 60
        run.for_seconds(seconds, rate, [run.ask, run.sample, lambda: run.kill_after(seconds / 2)])
        report(run)
        draw(arguments.picture, panels(run))
        print(f"drawn in {arguments.picture}")
    sys.exit(1 if run.wrong else 0)


if __name__ == "__main__":
    main()
