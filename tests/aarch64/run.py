#!/usr/bin/env python3
"""Workers on two architectures: one for Arm, in an emulator, joins a server on x86-64.

    tests/aarch64/run.py --worker FILE [--programs FOLDER] [--requests N]

FILE is `assay-worker` for aarch64. The sample of the plugin `math` and the plugin `format` are scored by a worker of this
machine alone and by the emulated one alone: every outcome must be the same. Then both score a batch together, whose
right rewards are known. Prints what happened and when, and ends with status 1 if anything was wrong.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "chaos"), str(HERE.parent / "trainers")]

from load import Connection, Record, check, item, made, sample  # noqa: E402
from service import ROOT, TARGET, Service, clean_environment, free_port  # noqa: E402

EMULATOR = "qemu-aarch64"
# Where Debian's packages for cross-compiling have the libraries.
LIBRARIES = "/usr/aarch64-linux-gnu"
ENDS_WITHIN_S = 300
MATH = [{name: value for name, value in json.loads(line).items() if name != "expected"}
        for line in (ROOT / "plugins/math/sample.jsonl").read_text().splitlines()]
FORMAT = [{"response": text} for text in
          ("<think>a</think><answer>b</answer>", "<think>a</think>", "no tags", "", "<answer>\u00e9</answer>")]


class Trial:
    def __init__(self, service, programs, worker):
        self.began, self.record = time.monotonic(), Record()
        self.service, self.programs, self.folder = service, programs, service.folder
        self.connection = Connection([service.url.removeprefix("http://")], service.key, threading.Event())
        self.serve = self.folder / "serve"
        self.serve.write_text(f"#!/bin/sh\nexec {EMULATOR} -L {LIBRARIES} {shlex.quote(str(worker))} \"$@\"\n")
        self.serve.chmod(0o755)
        # How each joins: the emulated one starts its child by the emulator, too.
        self.joins = {
            "x86_64": [programs / "assay-worker", "join"],
            "aarch64": [EMULATOR, "-L", LIBRARIES, worker, "join", "--serve-program", self.serve],
        }
        self.running = {}

    def say(self, what):
        print(f"{time.monotonic() - self.began:7.2f} s  {what}", flush=True)

    def join(self, name):
        """A worker with a token joins, and the server knows it."""
        before = self._workers()
        environment = clean_environment() | {"ASSAY_URL": self.service.url, "ASSAY_API_KEY": self.service.key}
        token = [self.programs / "assay", "worker", "token", "--pool", "cpu"]
        said = subprocess.run(token, check=True, env=environment, capture_output=True, text=True).stdout
        options = shlex.split(said)[3:]
        log = self.folder / f"{name}.log"
        with log.open("ab") as file:
            process = subprocess.Popen([*self.joins[name], *options], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                       env=clean_environment())
        self._until(lambda: process.poll() is not None or set(self._workers()) - set(before), f"{name} does not join")
        if process.poll() is not None:
            raise RuntimeError(f"the worker ended:\n{log.read_text()[-2000:]}")
        (joined,) = set(self._workers()) - set(before)
        if self._workers()[joined]["architecture"] != name:
            self.record.fault(f"the server takes a worker on {name} for {self._workers()[joined]['architecture']}")
        self.running[name] = (process, joined)
        self.say(f"{name}: a worker joined")

    def leave(self, name):
        process, joined = self.running.pop(name)
        process.terminate()
        process.wait(timeout=60)
        self._until(lambda: joined not in self._workers(), f"{name} does not leave")

    def stages(self, name):
        """The number of stages that a worker finished."""
        return self._workers()[self.running[name][1]]["stages_done"]

    def _workers(self):
        found = made(self.connection.call("GET", "/v1/workers"))["items"]
        return {worker["id"]: worker for worker in found if worker["joined_at"]}

    def score(self, plugin, run, requests):
        """The results of a batch by key, each computed by itself."""
        announcement = {"plugin": f"{plugin}@prod", "run": run, "iteration": 1, "expected_size": len(requests),
                        "share_equal": False}
        batch = made(self.connection.call("POST", "/v1/batches", announcement, {"Idempotency-Key": run}))["id"]
        lines = "".join(json.dumps({"prompt": "", "key": str(at)} | request) + "\n" for at, request in enumerate(requests))
        began = time.monotonic()
        made(self.connection.call("POST", f"/v1/batches/{batch}/requests", lines.encode(),
                                  {"Content-Type": "application/x-ndjson"}))
        made(self.connection.call("POST", f"/v1/batches/{batch}/seal", {"final_count": len(requests)}))
        self._until(lambda: made(self.connection.call("GET", f"/v1/batches/{batch}"))["state"] == "done",
                    "the batch has not ended")
        self.say(f"{run}: {len(requests):,} requests of {plugin} took {time.monotonic() - began:.1f} s")
        page = made(self.connection.call("GET", f"/v1/batches/{batch}/results?limit=10000"))
        return {result["key"]: result["outcome"] for result in page["items"]}

    def compare(self, plugin, requests):
        """Whether both architectures come to the same outcomes, to the last digit."""
        outcomes = {}
        for name in self.joins:
            self.join(name)
            outcomes[name] = self.score(plugin, f"{plugin}-{name}", requests)
            self._until(lambda name=name: self.stages(name) == len(requests), f"{name} has not run all of them")
            self.leave(name)
        for key, outcome in outcomes["x86_64"].items():
            if outcomes["aarch64"].get(key) != outcome or outcome["kind"] != "scored":
                self.record.fault(f"{plugin} {key}: {outcome}, on aarch64 {outcomes['aarch64'].get(key)}")
        self.say(f"{plugin}: {len(outcomes['x86_64']):,} outcomes compared")

    def together(self, requests):
        """Both have work of one batch, whose right rewards are known."""
        for name in self.joins:
            self.join(name)
        outcomes = self.score("math", "together", [item(number) for number in range(requests)])
        for number in range(requests):
            check(self.record, str(number), outcomes[str(number)], sample(number)[3])
        stages = {}

        def all_ran():
            stages.update({name: self.stages(name) for name in self.joins})
            return sum(stages.values()) == requests

        self._until(all_ran, "not all of them were run by these two")
        if 0 in stages.values():
            self.record.fault(f"one of them ran nothing: {stages}")
        self.say(f"{requests:,} requests by {stages}")

    def _until(self, asks, what):
        until = time.monotonic() + ENDS_WITHIN_S
        while not asks():
            if time.monotonic() > until:
                raise RuntimeError(f"{what} within {ENDS_WITHIN_S} s")
            time.sleep(0.05)

    def stop(self):
        for process, _ in self.running.values():
            process.terminate()
            process.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", required=True, metavar="FILE", help="assay-worker for aarch64")
    parser.add_argument("--programs", default=TARGET / "debug", metavar="FOLDER",
                        help="the programs of this machine [default: target/debug]")
    parser.add_argument("--requests", type=int, default=2_000, help="size of the batch for both [default: 2,000]")
    arguments = parser.parse_args()
    if not shutil.which(EMULATOR):
        sys.exit(f"{EMULATOR} is missing: Debian has it as qemu-user")
    programs = pathlib.Path(arguments.programs).resolve()
    listen = f"127.0.0.1:{free_port()}"
    options = ["--worker-listen", listen, "--worker-architectures", "aarch64"]
    with Service(programs, workers=0, options=options) as service:
        service.publish("math", "format")
        trial = Trial(service, programs, pathlib.Path(arguments.worker).resolve())
        try:
            trial.compare("math", MATH)
            trial.compare("format", FORMAT)
            trial.together(arguments.requests)
        except (RuntimeError, OSError, subprocess.SubprocessError) as failed:
            trial.record.fault(f"{failed}\n{service.log.read_text()[-2000:]}")
        finally:
            trial.stop()
    sys.exit(1 if trial.record.faults else 0)


if __name__ == "__main__":
    main()
