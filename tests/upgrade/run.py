#!/usr/bin/env python3
"""A rolling upgrade and the way back: one batch over servers and workers of two releases.

    tests/upgrade/run.py --previous FOLDER [--programs FOLDER] [--there] [--requests N] [--keep FOLDER]

FOLDER has the programs of a release: `assay`, `assay-worker` and those beside them. Servers follow one another on
one database. Each stands by, with another server or other workers than the one before, until that one is
asked to end, and takes over. A trainer submits pieces of one batch the whole time. At the end every request must have
one outcome, with the right reward. Prints what happened and when, and ends with status 1 if anything was wrong.
"""

import argparse
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "chaos"), str(HERE.parent / "trainers")]

from load import Connection, Record, check_items, item, made  # noqa: E402
from machine import STARTS_WITHIN_S, Database, descendants  # noqa: E402
from service import PLUGINS, TARGET, clean_environment, free_port  # noqa: E402

# The server and the workers of each step. On the way back the servers of the release before have a database that the
# new release has migrated.
THERE = [("previous", "previous"), ("new", "previous"), ("new", "new")]
BACK = [("previous", "new"), ("previous", "previous"), ("new", "new")]
WORKERS, PIECE = 2, 100
ENDS_WITHIN_S, STOPS_WITHIN_S = 300, 120


class Server:
    """`assay serve` that stands by, or dispatches if nobody else does."""

    def __init__(self, name, port, program, worker, folder, database, environment):
        self.name = name
        self._log, self._ready = folder / f"{name}.log", folder / f"{name}.json"
        data = folder / name
        data.mkdir()
        # All of them have one folder of objects, as servers on one machine or with a bucket have.
        (data / "objects").symlink_to(folder / "objects")
        command = [program / "assay", "serve", "--listen", f"127.0.0.1:{port}", "--environment", "dev",
                   "--workers", f"cpu={WORKERS}", "--data", data, "--ready-file", self._ready, "--database-url",
                   database.url, "--worker-program", worker / "assay-worker"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def key(self):
        """The administrator's key, once it dispatches."""
        return json.loads(self._until("is ready", lambda: self._ready.exists() and self._ready.read_text()))["key"]

    def stands_by(self):
        self._until("stands by", lambda: "standing by" in self._log.read_text())

    def workers(self):
        """The programs of its workers."""
        programs = set()
        for pid, called in descendants(self._process.pid):
            if called == "assay-worker":
                try:
                    programs.add(pathlib.Path(os.readlink(f"/proc/{pid}/exe")).parent)
                except OSError:
                    pass  # It has ended.
        return programs

    def _until(self, what, asks):
        until = time.monotonic() + STARTS_WITHIN_S
        while not (answer := asks()):
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"it is not so that {self.name} {what}:\n{self._log.read_text()[-4000:]}")
            time.sleep(0.02)
        return answer

    def stop(self):
        """In order, as a service manager does it."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=STOPS_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.returncode:
            raise RuntimeError(f"{self.name} ended with {self._process.returncode}:\n{self._log.read_text()[-4000:]}")


class Upgrade:
    def __init__(self, releases, steps, folder):
        self.releases, self.steps, self.folder = releases, steps, folder
        self.began, self.record, self.over = time.monotonic(), Record(), threading.Event()
        self.environment = clean_environment()
        self.ports = [free_port() for _ in steps]
        self.servers, self.database = [], None

    def say(self, what):
        print(f"{time.monotonic() - self.began:7.2f} s  {what}", flush=True)

    def start(self):
        (self.folder / "objects").mkdir()
        self.database = Database(self.releases["new"], self.folder, self.environment)
        key = self._next().key()
        # It asks one server after the other until one dispatches.
        self.trainer = Connection(self.ports, key, self.over)
        url = {"ASSAY_URL": f"http://127.0.0.1:{self.ports[0]}", "ASSAY_API_KEY": key}
        publish = [self.releases["previous"] / "assay", "plugin", "publish", PLUGINS / "assay_plugin_math.wasm",
                   "--channel", "prod"]
        subprocess.run(publish, check=True, env=self.environment | url, stdout=subprocess.DEVNULL)
        self.say(f"{self.servers[0].name}: the server is ready")

    def _next(self):
        """The server of the next step, which stands by from now on."""
        step = len(self.servers)
        server, workers = self.steps[step]
        name = f"{step + 1}-{server}-server-{workers}-workers"
        programs = self.releases[server], self.releases[workers]
        self.servers.append(Server(name, self.ports[step], *programs, self.folder, self.database, self.environment))
        return self.servers[-1]

    def score(self, requests):
        """The batch, while the servers follow one another."""
        announcement = {"plugin": "math@prod", "run": "upgrade", "iteration": 1, "expected_size": requests}
        batch = made(self.trainer.call("POST", "/v1/batches", announcement, {"Idempotency-Key": "upgrade"}))["id"]
        submitted, each = 0, requests // len(self.steps)
        for step in range(len(self.steps)):
            until = requests if step + 1 == len(self.steps) else submitted + each
            roll = threading.Thread(target=self._roll) if step else None
            if roll:
                roll.start()
            # Half of the pieces come while the servers change places, the others when they have done so.
            half = submitted + (until - submitted) // 2
            submitted = self._submit(batch, submitted, half)
            if roll:
                roll.join()
            submitted = self._submit(batch, submitted, until)
            self._ends(batch, submitted)
            self._check_workers(step)
        made(self.trainer.call("POST", f"/v1/batches/{batch}/seal", {"final_count": requests}))
        self._until(lambda: self._batch(batch)["state"] == "done", "the batch has not ended")
        check_items(self.record, self.trainer, self.database, batch, requests)
        if not self.record.faults:
            self.say(f"{requests:,} requests have one reward each, the right one")

    def _roll(self):
        """The next server stands by, the one before ends, and the next one takes over."""
        try:
            last, following = self.servers[-1], self._next()
            following.stands_by()
            began = time.monotonic()
            last.stop()
            following.key()
            took = time.monotonic() - began
            self.say(f"{following.name}: the server took over, {took:.2f} s after the other was asked to end")
        except RuntimeError as failed:
            self.record.fault(str(failed))

    def _submit(self, batch, submitted, until):
        while submitted < until:
            end = min(submitted + PIECE, until)
            lines = "".join(json.dumps(item(at)) + "\n" for at in range(submitted, end))
            made(self.trainer.call("POST", f"/v1/batches/{batch}/requests", lines.encode(),
                                   {"Content-Type": "application/x-ndjson"}))
            submitted = end
        return submitted

    def _batch(self, batch):
        return made(self.trainer.call("GET", f"/v1/batches/{batch}"))

    def _ends(self, batch, submitted):
        """Waits until all that was submitted has ended, so that the workers of each step run requests."""
        def have_ended():
            counts = self._batch(batch)["counts"]
            return counts["scored"] + counts["timed_out"] + counts["error"] == submitted

        self._until(have_ended, f"not all of {submitted} requests have ended")

    def _check_workers(self, step):
        workers, server = self.servers[-1].workers(), self.steps[step]
        if workers != {self.releases[server[1]]}:
            self.record.fault(f"step {step + 1}: the workers are of {workers}")

    def _until(self, asks, what):
        until = time.monotonic() + ENDS_WITHIN_S
        while not asks():
            if time.monotonic() > until or self.record.faults:
                raise RuntimeError(f"{what} within {ENDS_WITHIN_S} s")
            time.sleep(0.05)

    def stop(self):
        self.over.set()
        for server in reversed(self.servers):
            try:
                server.stop()
            except RuntimeError as failed:
                self.record.fault(str(failed))
        if self.database:
            self.database.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--previous", required=True, metavar="FOLDER", help="the programs of the release before")
    parser.add_argument("--programs", default=TARGET / "release", metavar="FOLDER",
                        help="the programs of this one [default: target/release]")
    parser.add_argument("--there", action="store_true",
                        help="without the way back: releases before migration 30 refuse a database that was migrated")
    parser.add_argument("--requests", type=int, default=6_000, help="size of the batch [default: 6,000]")
    parser.add_argument("--keep", metavar="FOLDER", help="an empty folder where the logs stay")
    arguments = parser.parse_args()
    releases = {"previous": arguments.previous, "new": arguments.programs}
    releases = {name: pathlib.Path(folder).resolve() for name, folder in releases.items()}
    for name, folder in releases.items():
        said = subprocess.run([folder / "assay", "--version"], capture_output=True, text=True, check=True).stdout
        print(f"{name}: {said.strip()}, in {folder}")
    with tempfile.TemporaryDirectory(prefix="assay-upgrade-", ignore_cleanup_errors=True) as scratch:
        folder = pathlib.Path(arguments.keep or scratch).resolve()
        # PostgreSQL runs as a user who must get in.
        folder.chmod(0o755)
        upgrade = Upgrade(releases, THERE if arguments.there else THERE + BACK, folder)
        try:
            upgrade.start()
            upgrade.score(arguments.requests)
        except (RuntimeError, OSError, subprocess.SubprocessError, http.client.HTTPException) as failed:
            upgrade.record.fault(str(failed))
        finally:
            upgrade.stop()
    wrong = upgrade.record.faults
    print(f"upgrade: {int(not wrong)} passed, {int(bool(wrong))} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
