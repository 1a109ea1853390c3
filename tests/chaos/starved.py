#!/usr/bin/env python3
"""A machine that starves: no request may time out, and each outcome is what it was on a calm machine.

    tests/chaos/starved.py [--requests N] [--busy N] [--jumps] [--seed S] [--programs FOLDER]

Every shipped plugin (`cuda` on a simulated GPU, `judge` with a model of this program's own), and a plugin made of each
template (Rust, Python, JavaScript), first runs its requests in calm. Then busy loops run beside the server, workers are stopped for 0.2 to 5 s, and the same
requests run again and again, N in all. `--jumps` sets the clock of the server and its workers forward and back by up to
hours meanwhile (Debian's faketime; the machine's own clock stays). Prints a table in Markdown. Ends with status 1 where an
outcome differs from the calm one, or a request timed out.
"""

import argparse
import collections
import http.server
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trainers")]

from load import Connection, sample  # noqa: E402
from machine import send  # noqa: E402
from service import ROOT, TARGET, Service, clean_environment  # noqa: E402

TEMPLATES = ["rust", "python", "javascript"]
# Requests that are repeated. Those of boxes take as long as hundreds of others: their share of all is small, and so are
# their batches.
DISTINCT = 20
CUDA_TASKS = ["gelu", "histogram", "saxpy"]
SHARES = {"code": 0.01, "cuda": 0.006, "run": 0.08, "python": 0.09, "judge": 0.05}
BATCHES = {"code": 20, "cuda": 20, "run": 40, "python": 100, "judge": 100}
BATCH = 200
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
CUDA = TARGET / "cuda"
# A batch of boxed programs beside 24 busy loops takes minutes.
BATCH_WITHIN_S = 1_800


def exact(number):
    """A request of the templates and of `hello`: one of two is right."""
    return {"response": f"So it is.\nAnswer: {number}", "label": str(number + number % 2)}


def requests():
    """The distinct requests of each plugin."""
    math = [sample(number)[:3] for number in range(DISTINCT)]
    lines = (ROOT / "plugins/code/sample.jsonl").read_text().splitlines()
    code = [json.loads(line) for line in lines][:DISTINCT]
    lines = (ROOT / "plugins/cuda/sample.jsonl").read_text().splitlines()
    cuda = [row for row in map(json.loads, lines) if row["group"] in CUDA_TASKS][:DISTINCT]
    simple = [exact(number) for number in range(DISTINCT)]
    return {
        "math": [{"prompt": prompt, "response": response, "label": label} for prompt, response, label in math],
        "hello": simple,
        "format": [{"response": "<think>a</think><answer>b</answer>" + "c" * (number % 2)} for number in range(DISTINCT)],
        "run": [{"response": f"print({number})", "label": {"language": "python"}} for number in range(DISTINCT)],
        "code": [{name: row[name] for name in ("prompt", "response", "label")} for row in code],
        "cuda": [{name: row[name] for name in ("prompt", "response", "label")} for row in cuda],
        "judge": [{"prompt": "Count.", "response": str(number), "label": None} for number in range(DISTINCT)],
        **{template: simple for template in TEMPLATES},
    }


class Model(http.server.BaseHTTPRequestHandler):
    """A model that finds every even number right. It runs beside the busy loops, and may be as slow as they make it."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        system, user = (message["content"] for message in question["messages"][:2])
        mark = system.partition('{"mark": "')[2].partition('"')[0]
        numbers = [int(word) for word in re.findall(r"\b\d+\b", user)]
        said = {"mark": mark, "reason": "because", "scores": {"even": 1 - numbers[-1] % 2}}
        message = {"role": "assistant", "content": json.dumps(said)}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Trial:
    def __init__(self, service, arguments):
        self.service, self.arguments = service, arguments
        self.over, self.wrong = threading.Event(), []
        self.connection = Connection([int(service.url.rpartition(":")[2])], service.key, self.over)
        self.iterations = itertools.count()
        self.stops = self.jumps = 0
        self.model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=self.model.serve_forever, daemon=True).start()

    def allow_model(self):
        """The first tenant's plugins may ask the model."""
        status, tenants = self.connection.call("GET", "/v1/tenants")
        assert status == 200, tenants
        hosts = [f"private:http://127.0.0.1:{self.model.server_port}"]
        status, reply = self.connection.call(
            "PATCH", f"/v1/tenants/{tenants['items'][0]['name']}", {"grants": {"hosts": hosts}})
        assert status == 200, reply

    def settings(self, plugin):
        if plugin != "judge":
            return {}
        criteria = [{"name": "even", "description": "Is it even?"}]
        url = f"http://127.0.0.1:{self.model.server_port}/v1"
        return {"url": url, "model": "counts", "criteria": criteria, "scale": [0, 1]}

    def publish_templates(self, folder):
        environment = clean_environment() | {"ASSAY_URL": self.service.url, "ASSAY_API_KEY": self.service.key}
        environment.pop("LD_PRELOAD", None)
        program = self.service.programs / "assay"
        for template in TEMPLATES:
            for command in (["new", template, "--template", template, "--to", folder / template],
                            ["publish", "--channel", "prod"]):
                here = folder if command[0] == "new" else folder / template
                subprocess.run([program, "plugin", *command], check=True, cwd=here, env=environment,
                               stdout=subprocess.DEVNULL)

    def outcomes(self, plugin, items):
        """The outcome of each key, with what may differ left out."""
        path = "/v1/batches"
        status, batch = self.connection.call("POST", path, {
            "plugin": f"{plugin}@prod", "run": plugin, "iteration": next(self.iterations),
            "settings": self.settings(plugin), "share_equal": False, "expected_size": len(items)})
        assert status == 201, batch
        lines = "".join(json.dumps({"prompt": "", **item, "key": key}) + "\n" for key, item in items.items())
        status, reply = self.connection.call("POST", f"{path}/{batch['id']}/requests", lines.encode(),
                                             {"Content-Type": "application/x-ndjson"})
        assert status in (200, 202) and not reply["rejected"], reply
        until, found, after = time.monotonic() + BATCH_WITHIN_S, {}, 0
        while len(found) < len(items):
            assert time.monotonic() < until, f"{plugin}: {len(found)} of {len(items)} results"
            status, page = self.connection.call("GET", f"{path}/{batch['id']}/results?after={after}&limit=500")
            assert status == 200, page
            if not page["items"]:
                time.sleep(0.2)
            for item in page["items"]:
                found[item["key"]] = told(item["outcome"])
            after = page.get("next", after)
        return found

    def storm(self):
        """Stops workers, and sets the clock, until the trial is over."""
        chance = random.Random(self.arguments.seed)
        jumped = time.monotonic()
        while not self.over.wait(chance.uniform(0.5, 4)):
            stopped = [pid for pid in self.service.workers() if chance.random() < 0.6]
            for pid in stopped:
                send(pid, signal.SIGSTOP)
            self.over.wait(chance.choice([0.2, 1, 5]))
            for pid in stopped:
                send(pid, signal.SIGCONT)
            self.stops += len(stopped)
            if self.arguments.jumps and time.monotonic() - jumped > 5:
                jumped = time.monotonic()
                set_clock(self.service.folder, chance.choice([-7_200, -60, -1, 0, 1, 60, 7_200]))
                self.jumps += 1


def told(outcome):
    return {name: outcome.get(name) for name in ("kind", "reward", "verdict", "code")}


def set_clock(folder, seconds):
    """What the server and its workers take for now, as a distance from the machine's time."""
    new = folder / "clock.new"
    new.write_text(f"{seconds:+d}")
    new.rename(folder / "clock")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000, help="requests in all [default: 10000]")
    parser.add_argument("--busy", type=int, default=8, help="number of busy loops [default: 8]")
    parser.add_argument("--jumps", action="store_true", help="the clock jumps as well")
    parser.add_argument("--seed", type=int, default=1, help="the seed of stops and jumps [default: 1]")
    parser.add_argument("--programs", default=TARGET / "debug", help="folder of `assay` [default: target/debug]")
    arguments = parser.parse_args()
    plugins = requests()
    with tempfile.TemporaryDirectory(prefix="assay-starved-") as made:
        gpu = ["--workers", "gpu=1", "--gpu", "simulated", "--cuda", CUDA]
        service = Service(arguments.programs, options=gpu)
        if arguments.jumps:
            if not pathlib.Path(FAKETIME).exists():
                sys.exit("--jumps needs Debian's package libfaketime")
            set_clock(service.folder, 0)
            # Waits are measured by another clock, as on a machine whose time is corrected.
            os.environ.update(LD_PRELOAD=FAKETIME, FAKETIME_TIMESTAMP_FILE=str(service.folder / "clock"),
                              FAKETIME_CACHE_DURATION="1", DONT_FAKE_MONOTONIC="1")
        with service:
            trial = Trial(service, arguments)
            trial.allow_model()
            os.environ.pop("LD_PRELOAD", None)
            service.publish(*(name for name in plugins if name not in TEMPLATES))
            trial.publish_templates(pathlib.Path(made))
            calm = {name: trial.outcomes(name, dict(enumerate_keys(items))) for name, items in plugins.items()}
            for name, outcomes in calm.items():
                failed = [outcome for outcome in outcomes.values() if outcome["kind"] != "scored"]
                assert not failed, f"{name} in calm: {failed[0]}"
            print(f"{arguments.busy} busy loops, seed {arguments.seed}, {arguments.requests:,} requests", flush=True)
            loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(arguments.busy)]
            storm = threading.Thread(target=trial.storm)
            storm.start()
            try:
                rows = starve(trial, plugins, calm)
            finally:
                trial.over.set()
                storm.join()
                for loop in loops:
                    loop.kill()
                    loop.wait()
    print("\n| plugin | requests | scored | timed out | errors | as in calm | seconds |\n|---|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(f"\n{trial.stops} times a worker was stopped; the clock jumped {trial.jumps} times")
    for text in trial.wrong[:10]:
        print(f"FAILED: {text}")
    print(f"starved: {int(not trial.wrong)} passed, {int(bool(trial.wrong))} failed ({len(trial.wrong)} wrong)")
    return 1 if trial.wrong else 0


def enumerate_keys(items):
    return ((str(number), item) for number, item in enumerate(items))


def starve(trial, plugins, calm):
    """Runs the share of each plugin and compares it; the rows of the table."""
    rows, share = [], (1 - sum(SHARES.values())) / (len(plugins) - len(SHARES))
    for name, items in plugins.items():
        each = round(trial.arguments.requests * SHARES.get(name, share))
        began, seen = time.monotonic(), collections.Counter()
        for first in range(0, each, BATCHES.get(name, BATCH)):
            size = min(BATCHES.get(name, BATCH), each - first)
            batch = {f"{first + at}": items[(first + at) % len(items)] for at in range(size)}
            for key, outcome in trial.outcomes(name, batch).items():
                expected = calm[name][str(int(key) % len(items))]
                seen[outcome["kind"]] += 1
                seen["same"] += outcome == expected
                if outcome != expected:
                    trial.wrong.append(f"{name} {key}: {outcome}, in calm {expected}")
        took = round(time.monotonic() - began)
        numbers = [each, seen["scored"], seen["timed_out"], seen["error"], seen["same"], took]
        rows.append((name, *(f"{number:,}" for number in numbers)))
        print(f"{name}: {each:,} requests in {took} s, {seen['timed_out']} timed out", flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())
