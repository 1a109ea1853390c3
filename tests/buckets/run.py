#!/usr/bin/env python3
"""Buckets as others make them: emulators of S3, Google Cloud Storage and Azure, filled by the vendors' own clients.

    tests/buckets/run.py --azurite FILE [--programs FOLDER] [STORE...]

FILE is the program `azurite-blob`. STORE is `s3`, `gs` or `az`; by default all of them, one after another. Each holds what
the server keeps of plugins, and the tests of a programming problem. `assay doctor` has to put, get and delete an object
there; plugins are published, and a program is judged; a test that is changed in the bucket counts at once; a server with
nothing but the database finds its plugins; and while the store does not answer, nothing becomes a number. Prints what
happened and when, and ends with status 1 if anything was wrong.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "trainers")]

from service import TARGET, Service, clean_environment  # noqa: E402
from stores import BUCKET, S3, Azure, Gcs  # noqa: E402

STORES = {store.scheme: store for store in (S3, Gcs, Azure)}
ANSWERS_WITHIN_S = 180
ADDS = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"


class Trial:
    def __init__(self, programs, store, folder):
        self.began, self.store, self.programs = time.monotonic(), store, programs
        self.file = folder / "storage.toml"
        options = "".join(f"{name} = {json.dumps(value)}\n" for name, value in store.options().items())
        self.file.write_text(
            f'[objects]\nurl = "{store.scheme}://{BUCKET}/objects"\n[objects.options]\n{options}'
            f'[roots.judge]\nurl = "{store.scheme}://{BUCKET}/problems"\ntenants = ["*"]\n[roots.judge.options]\n{options}')

    def say(self, what):
        print(f"{self.store.scheme}  {time.monotonic() - self.began:7.2f} s  {what}", flush=True)

    def expect(self, what, right, found):
        if not right:
            raise AssertionError(f"{self.store.scheme}: {what}: {found}")
        self.say(what)

    def doctor(self):
        done = subprocess.run([self.programs / "assay", "doctor", "--storage", self.file], env=clean_environment(),
                              capture_output=True, text=True)
        told = [line for line in done.stdout.splitlines() if BUCKET in line or "judge" in line]
        self.say("doctor: " + " | ".join(line.strip() for line in told))
        return told

    def judged(self, service, tests):
        """The outcome of a right program by the tests of a folder in the bucket."""
        call = {"plugin": "code@prod", "response": ADDS, "label": {"tests": f"judge/{tests}", "language": "python"}}
        request = urllib.request.Request(f"{service.url}/v1/rewards", json.dumps(call).encode(), {
            "Authorization": f"Bearer {service.key}", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=ANSWERS_WITHIN_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{self.store.scheme}: status {error.code}: {error.read()[:500]}") from None

    def run(self):
        for name, text in (("sum/1.in", "1 2\n"), ("sum/1.ans", "3\n"), ("away/1.in", "1 2\n"), ("away/1.ans", "3\n")):
            self.store.put(f"problems/{name}", text)
        told = self.doctor()
        self.expect("doctor put, got and deleted an object",
                    any("read and deleted" in line for line in told) and any("4 objects" in line for line in told), told)
        with Service(self.programs, workers=1, options=["--storage", self.file]) as service:
            service.publish("code")
            kept = self.store.names("objects/")
            self.expect("the plugin and its compiled code are in the bucket", len(kept) == 2, kept)
            found = self.judged(service, "sum")
            self.expect("a right program has reward 1", found["outcome"].get("reward") == 1, found)
            self.store.put("problems/sum/1.ans", "4\n")
            found = self.judged(service, "sum")
            self.expect("by the changed test it has reward 0", found["outcome"].get("reward") == 0, found)
            with self.store.silent():
                found = self.judged(service, "away")
            error = found["outcome"].get("code"), found["outcome"].get("retryable")
            self.expect("while the bucket is silent there is an error, and no reward", error == ("unavailable", True), found)
            found = self.judged(service, "away")
            self.expect("then the same call has reward 1", found["outcome"].get("reward") == 1, found)
            service.kill()
            shutil.rmtree(service.folder / "data/cache")
            service.start()
            found = self.judged(service, "sum")
            self.expect("a server without files finds its plugin in the bucket", found["outcome"].get("reward") == 0, found)


def main():
    os.environ["BUCKET_SECRET"] = "test"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", metavar="STORE")
    parser.add_argument("--azurite", type=pathlib.Path, metavar="FILE", help="the program `azurite-blob`")
    parser.add_argument("--programs", type=pathlib.Path, default=TARGET / "debug", metavar="FOLDER")
    options = parser.parse_args()
    unknown = set(options.stores) - set(STORES)
    if unknown:
        parser.error(f"there is no store {', '.join(unknown)}: {', '.join(STORES)}")
    if options.azurite is None and "az" in (options.stores or STORES):
        parser.error("`az` needs --azurite")
    Azure.program = options.azurite and options.azurite.absolute()
    for scheme in options.stores or STORES:
        with tempfile.TemporaryDirectory(prefix="assay-bucket-") as folder, \
                STORES[scheme](pathlib.Path(folder)) as store:
            Trial(options.programs.resolve(), store, pathlib.Path(folder)).run()


if __name__ == "__main__":
    main()
