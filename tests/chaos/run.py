#!/usr/bin/env python3
"""Chaos: real servers under load while their processes are killed, stopped and cut off; then everything is checked.

    tests/chaos/run.py [--minutes M] [--seed S] [--busy N] [--stops] [--programs FOLDER]

Two servers share a PostgreSQL, one of them stands by. Trainers of three tenants submit batches, single rewards and calls
of compatible protocols whose right reward is known by construction, and repeat what broke. The faults, their times and
their lengths follow from the seed. At the end every acknowledged request must have one outcome, the right one, in the
REST interface and in the database, no stage may have timed out, no error may carry a number, and nothing may run on.
Ends with tables of faults and recovery times, and status 1 if anything was wrong.
"""

import argparse
import collections
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trainers")]

from load import Connection, Record, Trainer  # noqa: E402
from machine import STARTS_WITHIN_S, Database, Server, adopt_orphans, descendants, send  # noqa: E402
from service import PLUGINS, TARGET, clean_environment, free_port  # noqa: E402

TENANTS = ["amber", "birch", "cedar"]
PLUGINS_USED = ["math", "run"]
KINDS = ["kill a worker", "kill a server", "kill PostgreSQL", "stop a worker", "stop a server", "stop PostgreSQL",
         "cut the database's connections", "fill the disk"]
STOPS = ["stop a worker"]
# PostgreSQL's disk has room for what a release build acknowledges.
DISK_MIB, DISK_MIB_A_MINUTE = 768, 128
# Longer than any fault and what follows it: a service that answers nobody for so long has not recovered.
GAP_MAX_S = 120
# A server that has ended its load may hold so much more than one that has not begun it.
MORE_MEMORY_BYTES, MORE_DESCRIPTORS = 256 << 20, 64


class Trial:
    def __init__(self, arguments, folder):
        self.folder, self.seed = folder, arguments.seed
        self.programs = pathlib.Path(arguments.programs).resolve()
        self.faults, self.over = [], threading.Event()
        # Every helper of boxes that was seen: its cgroups are named after its id.
        self.helpers = set()
        self.disk = self._mount(DISK_MIB + int(arguments.minutes * DISK_MIB_A_MINUTE))
        self.kinds = STOPS if arguments.stops else [kind for kind in KINDS if self.disk or kind != "fill the disk"]
        self.record = Record()
        temporary = folder / "temporary"
        temporary.mkdir(mode=0o1777)
        temporary.chmod(0o1777)
        self.environment = clean_environment() | {"TMPDIR": str(temporary)}
        self.database = Database(self.programs, self.disk or folder, self.environment)
        self.ports = [free_port(), free_port()]
        self.servers, self.busy = [], []

    def _mount(self, mib):
        """A disk for PostgreSQL that can be filled; `None` where mounting is not permitted."""
        disk = self.folder / "disk"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=711", "assay-chaos", str(disk)]
        if shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0:
            return disk
        print("no fault `fill the disk`: a tmpfs cannot be mounted here", flush=True)
        return None

    def start(self):
        objects = None
        for name, port in zip(["first", "second"], self.ports):
            data = self.folder / name
            data.mkdir()
            if objects:
                (data / "objects").symlink_to(objects)
            command = [self.programs / "assay", "serve", "--listen", f"127.0.0.1:{port}", "--environment", "dev",
                       "--workers", "cpu=2", "--data", data, "--ready-file", data / "ready.json",
                       "--database-url", self.database.url]
            self.servers.append(Server(command, self.folder / f"{name}.log", self.environment))
            if objects is None:
                self._until("the server is ready", (data / "ready.json").exists)
                objects = data / "objects"
        return json.loads((self.folder / "first/ready.json").read_text())["key"]

    def _until(self, what, is_so):
        until = time.monotonic() + STARTS_WITHIN_S
        while not is_so():
            if time.monotonic() > until:
                raise RuntimeError(f"not within {STARTS_WITHIN_S} s: {what}")
            time.sleep(0.05)

    def tenants(self, key):
        """Makes the tenants, publishes their plugins and returns their trainers."""
        operator = Connection(self.ports, key, self.over)
        numbers, trainers = itertools.count(1), []
        for tenant in TENANTS:
            self._made(operator.call("POST", "/v1/tenants", {"name": tenant}))
            scopes = ["batches:write", "batches:read", "plugins:publish", "plugins:promote"]
            made = self._made(operator.call("POST", "/v1/keys", {"tenant": tenant, "name": "chaos", "scopes": scopes}))
            theirs = made.get("secret") or made["key"]
            for plugin in PLUGINS_USED:
                command = [self.programs / "assay", "plugin", "publish", PLUGINS / f"assay_plugin_{plugin}.wasm",
                           "--channel", "prod"]
                url = {"ASSAY_URL": f"http://127.0.0.1:{self.ports[0]}", "ASSAY_API_KEY": theirs}
                subprocess.run(command, check=True, env=self.environment | url, stdout=subprocess.DEVNULL)
            trainers.append(Trainer(self.record, self.ports, theirs, tenant, numbers, self.over))
        return trainers

    @staticmethod
    def _made(answer):
        status, made = answer
        if status not in (200, 201):
            raise RuntimeError(f"{status}: {made}")
        return made

    def leader(self):
        """The server that has workers; the first one while none has."""
        return next((server for server in self.servers if server.workers()), self.servers[0])

    def storm(self, seconds):
        """Faults until the time is over; their kinds, times and lengths follow from the seed alone."""
        chance, until = random.Random(self.seed), time.monotonic() + seconds
        said = time.monotonic()
        while time.monotonic() < until:
            pause, kind = chance.uniform(2, 9), chance.choice(self.kinds)
            length, pick = chance.choice([0.2, 1, 3, 8, 20]), chance.random()
            time.sleep(pause)
            self._fault(kind, length, pick)
            if time.monotonic() - said >= 15:
                said = time.monotonic()
                self._progress()
        # The load goes on until the last fault is over, so that its recovery is measured as well.
        if self.faults:
            self._until("an answer after the last fault", lambda: self.record.recovery(self.faults[-1][1]) is not None)

    def _progress(self):
        counts = self.record.counts
        print(f"minute {(time.monotonic() - self.record.began) / 60:.1f}: {len(self.faults)} faults, "
              f"{counts.get('acknowledged in batches', 0):,} requests acknowledged in batches, "
              f"{len(self.record.answers):,} answers, longest gap {self.record.longest_gap():.1f} s", flush=True)

    def _fault(self, kind, length, pick):
        self.helpers |= {pid for pid, name in descendants(os.getpid()) if name.startswith("assay-exec")}
        server = self.leader() if pick < 0.7 else self.servers[int(pick * 1000) % 2]
        what = {"worker": server.workers(), "server": [server.process.pid],
                "PostgreSQL": self.database.processes()}.get(kind.split()[-1], [])
        if kind.endswith("worker"):
            what = [what[int(pick * 1000) % len(what)]] if what else []
        if kind.startswith("kill"):
            for pid in what[:1]:
                send(pid, signal.SIGKILL)
        elif kind.startswith("stop"):
            for pid in what:
                send(pid, signal.SIGSTOP)
            # PostgreSQL is away for less than a server waits, a server for longer than its successor waits.
            time.sleep(min(length, 8) if kind.endswith("PostgreSQL") else length)
            for pid in what:
                send(pid, signal.SIGCONT)
        elif kind.startswith("cut"):
            try:
                what = self.database.rows("select pg_terminate_backend(pid) from pg_stat_activity "
                                          "where pid <> pg_backend_pid() and backend_type = 'client backend'")
            except (RuntimeError, subprocess.TimeoutExpired):
                what = []  # PostgreSQL restarts just now.
        else:
            what = [self.disk]
            self._fill(min(length, 8))
        if what:
            self.faults.append((kind, time.monotonic()))

    def _fill(self, seconds):
        filler = self.disk / "filler"
        with filler.open("wb") as file:
            size = 64 << 20
            while size >= 4096:
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                except OSError:
                    size //= 2
        time.sleep(seconds)
        filler.unlink()

    def calm(self, trainers):
        """No faults any more: everything under way ends, and is compared with the database."""
        self.over.set()
        self.record.ended = time.monotonic()
        for trainer in trainers:
            for thread in trainer.threads:
                thread.join(timeout=STARTS_WITHIN_S * 2)
                if thread.is_alive():
                    self.record.fault(f"a caller of {trainer.tenant} still waits")
        self.over.clear()
        self._until("a server dispatches", lambda: any(server.workers() for server in self.servers))

    def check(self):
        for batch, (trainer, right) in list(self.record.batches.items()):
            trainer.check_batch(batch, right)
        ids = ",".join(f"'{batch}'" for batch in self.record.batches) or "null"
        self._is("acknowledged and stored requests", f"select count(*) from requests where batch_id in ({ids})",
                 self.record.counts.get("results of batches", 0))
        self._is("outcomes of them", "select count(*) from (select distinct batch_id, seq from all_outcomes "
                 f"where batch_id in ({ids})) as them", self.record.counts.get("results of batches", 0))
        self._is("second outcomes", "select count(*) - count(distinct (batch_id, seq)) from all_outcomes", 0)
        self._is("errors with a number or rewards without", "select count(*) from all_results "
                 "where (kind = 'error') <> (reward is null)", 0)
        self._is("stages that timed out", "select count(*) from all_results where kind = 'timed_out'", 0)
        self._is("own batches that are open", f"select count(*) from batches where ended_at is null and id in ({ids})", 0)

    def _is(self, what, sql, expected):
        found = int(self.database.rows(sql)[0])
        print(f"database: {what}: {found:,}", flush=True)
        if found != expected:
            self.record.fault(f"the database has {found} {what}, not {expected}")

    def stop(self):
        for loop in self.busy:
            loop.kill()
            loop.wait()
        for server in reversed(self.servers):
            if not server.stop():
                self.record.fault("a server did not stop in order")
        self.database.stop()
        until = time.monotonic() + 30
        while (left := descendants(os.getpid())) and time.monotonic() < until:
            time.sleep(0.1)
        if left:
            self.record.fault(f"still running: {left}")
            for pid, _ in left:
                send(pid, signal.SIGKILL)
        if boxes := list((self.folder / "temporary").iterdir()):
            self.record.fault(f"still there: {boxes}")
        if cgroups := [path for pid in self.helpers for path in pathlib.Path("/sys/fs/cgroup").glob(f"*/assay-exec-{pid}")]:
            self.record.fault(f"still there: {cgroups}")
        if self.disk:
            subprocess.run(["umount", "--lazy", self.disk], check=False)

    def tables(self):
        print("\n| fault | times | median recovery | longest recovery |\n|---|--:|--:|--:|")
        by_kind = collections.defaultdict(list)
        for kind, at in self.faults:
            by_kind[kind].append(self.record.recovery(at))
        for kind, times in sorted(by_kind.items()):
            known = [time for time in times if time is not None]
            print(f"| {kind} | {len(times)} | {statistics.median(known):.2f} s | {max(known):.2f} s |" if known else
                  f"| {kind} | {len(times)} | | |")
        print("\n| seen | number |\n|---|--:|")
        for name, count in sorted(self.record.counts.items()):
            print(f"| {name} | {count:,} |")
        print(f"\nlongest gap without an answer: {self.record.longest_gap():.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="length of the storm [default: 10]")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the faults [default: 1]")
    parser.add_argument("--busy", type=int, default=0, help="number of busy loops beside it [default: 0]")
    parser.add_argument("--stops", action="store_true", help="stop workers, and no other fault")
    parser.add_argument("--programs", default=TARGET / "debug", help="folder of `assay` [default: target/debug]")
    parser.add_argument("--keep", metavar="FOLDER", help="an empty folder where the logs stay")
    arguments = parser.parse_args()
    # Ends as an interrupt does: with everything stopped that was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="assay-chaos-", ignore_cleanup_errors=True) as made:
        folder = pathlib.Path(arguments.keep or made)
        # Started by root, PostgreSQL runs as a user who must get in.
        folder.chmod(0o711)
        trial = Trial(arguments, folder)
        try:
            trainers = trial.tenants(trial.start())
            before = trial.leader().cost()
            trial.busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(arguments.busy)]
            trial.record.began = time.monotonic()
            for trainer in trainers:
                for thread in trainer.threads:
                    thread.start()
            print(f"seed {arguments.seed}, {arguments.minutes:g} minutes, {arguments.busy} busy loops", flush=True)
            trial.storm(arguments.minutes * 60)
            trial.calm(trainers)
            trial.check()
            after = trial.leader().cost()
            print(f"the leader: {before[0] >> 20} MiB and {before[1]} file descriptors before, "
                  f"{after[0] >> 20} MiB and {after[1]} after", flush=True)
            if after[0] > before[0] + MORE_MEMORY_BYTES or after[1] > before[1] + MORE_DESCRIPTORS:
                trial.record.fault("the leader holds more than before")
        finally:
            trial.stop()
        trial.tables()
    if (gap := trial.record.longest_gap()) > GAP_MAX_S:
        trial.record.fault(f"nobody was answered for {gap:.0f} s")
    wrong = trial.record.faults
    for text in wrong[:10]:
        print(f"FAILED: {text}")
    print(f"chaos: {int(not wrong)} passed, {int(bool(wrong))} failed (seed {arguments.seed}, {len(wrong)} wrong)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
