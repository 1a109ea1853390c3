#!/usr/bin/env python3
"""The plugin `cuda` through the whole service on this machine's GPU: service.py BUNDLE OUT

Starts Assay out of the bundle, and judges there every candidate of the plugin's tasks, every cheat, and each task of
kernelbench.jsonl where the bundle has one, answered by its own reference or by the response in its line. Times the good
candidates, and those tasks beside PyTorch where this machine's Python has it. Writes OUT/report.jsonl (appended), OUT/service.log, and a line `test NAME ... ok`
or `FAILED` for each part. ASSAY_GPU=simulated tries all of it without a GPU, with no times.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

BUNDLE, OUT = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.path.insert(0, str(BUNDLE))
import sample  # noqa: E402 - it lies in the bundle

DEVICE = os.environ.get("ASSAY_GPU", "cuda")
SIMULATED = DEVICE == "simulated"
ASSAY = BUNDLE / "bin/assay"
# An endless kernel is killed after this time.
PLAN_MS = 300 if SIMULATED else 2_000
# For each part; the tasks of KernelBench that were not reached by then are reported as such.
PART_SECONDS = int(os.environ.get("ASSAY_GPU_PART_SECONDS", "600"))


def report(test, name, value, unit=""):
    with open(OUT / "report.jsonl", "a") as file:
        file.write(json.dumps({"test": test, "name": name, "value": value, "unit": unit}) + "\n")


class Service:
    def __init__(self):
        self.data = OUT / "data"
        shutil.rmtree(self.data, ignore_errors=True)
        self.log = open(OUT / "assay.log", "w")
        command = [ASSAY, "dev", "--data", self.data, "--plugins", BUNDLE / "plugins", "--gpu", DEVICE]
        command += ["--workers", f"cpu={min(os.cpu_count(), 12)}", "--workers", "gpu=1", "--planner", "fixed"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.environment = dict(os.environ)
        for line in self.process.stdout:
            self.log.write(line)
            if line.strip().startswith("export "):
                name, value = line.split()[1].split("=", 1)
                self.environment[name] = value
            if "There is no plugin" in line or "curl" in line:
                return
        sys.exit(f"assay dev ended: see {OUT}/assay.log")

    def score(self, name, lines, settings):
        """The result of each line, by its key."""
        answers, results = OUT / f"{name}.jsonl", OUT / f"{name}.results.jsonl"
        answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
        results.unlink(missing_ok=True)
        command = [ASSAY, "score", answers, "--plugin", "cuda@prod", "--output", results, "--compute-each"]
        command += ["--settings", json.dumps(settings), "--run", name]
        started = time.monotonic()
        with open(OUT / f"{name}.log", "w") as log:
            try:
                subprocess.run(command, env=self.environment, stdout=log, stderr=log, timeout=PART_SECONDS)
            except subprocess.TimeoutExpired:
                log.write(f"stopped after {PART_SECONDS} s\n")
        report("service", f"{name}: {len(lines)} responses", time.monotonic() - started, "s")
        answers.unlink()
        found = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        return {result["key"]: result for result in found}

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        shutil.rmtree(self.data, ignore_errors=True)


def mistakes(results, expected):
    """What is wrong with the results: (key, verdicts that are right) of each line that was scored."""
    found = []
    for key, verdicts in expected:
        result = results.get(key)
        outcome = result and result["outcome"]
        if not outcome:
            found.append(f"{key}: no result")
        elif outcome.get("verdict") not in verdicts:
            told = json.dumps(outcome)[:600]
            found.append(f"{key}: not {' or '.join(verdicts)}: {told}")
    return found


def concluded(name, count, wrong):
    for line in wrong:
        print(f"  {line}")
    report("service", f"{name}: as expected", f"{count - len(wrong)} of {count}")
    print(f"test service::{name} ... {'FAILED' if wrong else 'ok'}", flush=True)
    return not wrong


def is_here(said):
    return said.get("needs") != ("gpu" if SIMULATED else "simulated")


def judged(service, name, responses):
    """Those with settings of their own, and the others."""
    by_settings = {}
    for line, said in responses:
        if is_here(said):
            by_settings.setdefault(said.get("settings", "{}"), []).append((line, said["expect"].split(" or ")))
    wrong, count = [], 0
    for number, (settings, some) in enumerate(by_settings.items()):
        part = f"{name}-{number}" if number else name
        results = service.score(part, [line for line, _ in some], {"plan_ms": PLAN_MS, **json.loads(settings)})
        wrong += mistakes(results, [(line["key"], verdicts) for line, verdicts in some])
        count += len(some)
    return concluded(name, count, wrong)


def told_times(test, results, baseline):
    for key, result in sorted(results.items()):
        components = result["outcome"].get("components", {})
        if "speedup" in components:
            report(test, f"{key}, {baseline}", components["baseline_ns"], "ns")
            report(test, key, components["candidate_ns"], "ns")
            report(test, f"{key}, times as fast", components["speedup"])


def timed(service):
    """Speed-ups over each task's own baseline."""
    lines = [line for line, _ in sample.candidates(BUNDLE) if "-good" in line["key"]]
    results = service.score("speed", lines, {"policy": "speedup", "speedup_max": 1_000_000, "trials": 10})
    wrong = mistakes(results, [(line["key"], ["success"]) for line in lines])
    told_times("speed", results, "the baseline")
    return concluded("speed", len(lines), wrong)


def kernelbench(service):
    """Each task answered by its own reference; and those with a response in their lines, timed beside PyTorch."""
    path = BUNDLE / "kernelbench.jsonl"
    tasks = [json.loads(text) for text in path.read_text().splitlines()]
    answers = [task for task in tasks if "response" in task]
    settings = {"seeds": 1, "plan_ms": 30_000}
    good = True
    if answers and not SIMULATED:
        timed = OUT / "kernelbench.timed.jsonl"
        command = [ASSAY, "cuda", "time", path, "--output", timed, "--python", sys.executable]
        with open(OUT / "pytorch.log", "w") as log:
            subprocess.run([*command, *[f"--task={task['key']}" for task in answers]], stdout=log, stderr=log, check=True)
        answers = [json.loads(text) for text in timed.read_text().splitlines()]
        answers = [task for task in answers if "response" in task]
        results = service.score("answers", answers, {**settings, "policy": "speedup", "speedup_max": 1_000_000})
        told_times("kernelbench", results, "PyTorch")
        good = concluded("answers", len(answers), mistakes(results, [(it["key"], [it["expect"]]) for it in answers]))
    lines = []
    for task in tasks:
        if "response" not in task:
            answer = task["label"]["reference"]["source"].replace("void reference(", "void forward(")
            lines.append({**task, "response": f"```cuda\n{answer}```\n"})
    results = service.score("kernelbench", lines, settings)
    reached = [(line["key"], ["success"]) for line in lines if line["key"] in results]
    report("service", "kernelbench: not reached in time", len(lines) - len(reached))
    return concluded("kernelbench", len(reached), mistakes(results, reached)) and good


def main():
    service = Service()
    wanted = os.environ.get("ASSAY_GPU_PARTS", "candidates cheats speed kernelbench").split()
    good = True
    try:
        if "candidates" in wanted:
            good &= judged(service, "candidates", sample.candidates(BUNDLE))
        if "cheats" in wanted:
            good &= judged(service, "cheats", sample.cheats(BUNDLE))
        if "speed" in wanted and not SIMULATED:
            good &= timed(service)
        if "kernelbench" in wanted and (BUNDLE / "kernelbench.jsonl").exists():
            good &= kernelbench(service)
    finally:
        service.stop()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
