#!/usr/bin/env python3
"""Runs every command in the book and in README.md, page by page, from top to bottom.

Starts a server of its own with the shipped plugins; pages that say so start theirs. Every page has a
scratch folder that looks like the checkout. What the marks in the pages mean: README.md beside this.

    docs/book/run.py [--trainers] [PAGE...]     with the programs of $CARGO_TARGET_DIR or target

With --trainers, also what is marked `later`: large installations, in $target/trainers/NAME. Ends with
`docs: N passed, N failed, N skipped`, in pages; a page is skipped when its environment is missing.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import pages
import shells

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "src"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
PLUGINS = TARGET / "wasm32-wasip2/plugin"
# As `assay dev` does it: `judge` asks for a host that nobody has granted.
PUBLISHED = ("code", "cuda", "format", "hello", "math", "run")
READY_WITHIN_S = 60
PYTHON_OF_TRAINERS = "3.12"
CLIENT = re.compile(r"^(import|from) assay\b", re.MULTILINE)


class Running:
    """A server that somebody else started, with the shipped plugins."""

    log = pathlib.Path(os.devnull)

    def __init__(self, url):
        self.url, self.key = url, os.environ["ASSAY_API_KEY"]

    def stop(self):
        pass


class Server:
    """What pages ask, unless they start a server of their own."""

    def __init__(self, folder):
        self.log = folder / "server.log"
        ready = folder / "ready.json"
        command = [TARGET / "debug/assay", "serve", "--listen", "127.0.0.1:0", "--environment", "dev",
                   "--workers", "cpu=2", "--data", folder / "data", "--ready-file", ready]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=shells.clean_environment())
        until = time.monotonic() + READY_WITHIN_S
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                sys.exit(f"docs: the server does not start:\n{self.log.read_text()}")
            time.sleep(0.05)
        facts = json.loads(ready.read_text())
        self.url, self.key = facts["url"], facts["key"]
        environment = shells.clean_environment() | {"ASSAY_URL": self.url, "ASSAY_API_KEY": self.key}
        for component in [PLUGINS / f"assay_plugin_{name}.wasm" for name in PUBLISHED]:
            subprocess.run([TARGET / "debug/assay", "plugin", "publish", component, "--channel", "prod"],
                           check=True, env=environment, stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trainers", action="store_true", help="also what `make test` leaves out")
    parser.add_argument("--at", metavar="URL", help="a server that runs already; its key in ASSAY_API_KEY")
    parser.add_argument("--list", action="store_true", help="only list what is not run, and why")
    parser.add_argument("pages", nargs="*", help="below docs/book/src, or README.md [default: all]")
    options = parser.parse_args()
    try:
        chosen = [pages.read(path, name) for name, path in found(options.pages)]
    except (pages.Wrong, OSError) as wrong:
        sys.exit(f"docs: {wrong}\ndocs: 0 passed, 1 failed, 0 skipped")
    if options.trainers and not options.pages:
        chosen = [page for page in chosen if any(block.later for block in page.blocks)]
    elsewhere = () if options.pages else pages.ELSEWHERE.values()
    if options.list:
        return list_left_out(chosen, elsewhere, options.trainers)
    ended = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="assay-docs-") as folder:
        folder = pathlib.Path(folder)
        # Started by root, PostgreSQL runs as a user who must get in.
        folder.chmod(0o711)
        server = Running(options.at) if options.at else Server(folder)
        try:
            for page in chosen:
                if any(block.runs for block in page.blocks):
                    ended[run_page(page, folder, server, options.trainers)] += 1
        finally:
            server.stop()
    list_left_out(chosen, elsewhere, options.trainers)
    print("docs: " + ", ".join(f"{count} {how}" for how, count in ended.items()))
    return 1 if ended["failed"] else 0


def found(names):
    """Pages by name, in the order of their names; README.md of the checkout is one of them."""
    if not names:
        names = ["README.md", *sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.md"))]
        names.remove("SUMMARY.md")
    for name in names:
        yield name, (ROOT if name == "README.md" else SOURCE) / name


def list_left_out(chosen, elsewhere, trainers):
    for path, who in elsewhere:
        print(f"run elsewhere: {path}; run by {who}")
    for page in chosen:
        for block in page.blocks:
            if block.why and block.runs and not (block.later and trainers):
                place = "make test-trainers" if block.later else "not run"
                print(f"{place}: {page.name}:{block.line}: {block.why}")
    return 0


def run_page(page, folder, server, trainers):
    began = time.monotonic()
    try:
        environment = venv_of(page, trainers)
    except LookupError as missing:
        print(f"SKIPPED: {page.name}: {missing}", flush=True)
        return "skipped"
    scratch = folder / page.name.removesuffix(".md").replace("/", "-")
    make_scratch(scratch)
    # The client of this checkout, where no page installs it.
    client = {} if trainers else {"PYTHONPATH": str(ROOT / "sdk/python-client/src")}
    with shells.Shells(scratch, TARGET, environment, None if page.own_server else server, client) as shell:
        output = ""
        for block in page.blocks:
            try:
                if block.why and not (block.later and trainers):
                    output = None
                elif "file" in block.words:
                    shell.write(block.words["file"], block.text)
                elif "output" in block.words:
                    if output is not None:
                        expect(block.text, output)
                elif block.runs:
                    output = shell.run(block)
            except (shells.Failed, subprocess.TimeoutExpired) as failure:
                where = "README.md" if page.name == "README.md" else f"docs/book/src/{page.name}"
                print(f"FAILED: {where}:{block.line}\n{block.text}--\n{failure}", flush=True)
                print(shell.logs(), flush=True)
                return "failed"
    print(f"passed: {page.name} ({time.monotonic() - began:.1f} s)", flush=True)
    return "passed"


def make_scratch(scratch):
    """A folder that looks like the checkout and its `make release plugins`; what is made in it is its own."""
    scratch.mkdir()
    for entry in ROOT.iterdir():
        if entry.name not in ("target", ".git"):
            (scratch / entry.name).symlink_to(entry)
    (scratch / "target").mkdir()
    (scratch / "target/release").symlink_to(TARGET / "debug")
    (scratch / "target/wasm32-wasip2").symlink_to(TARGET / "wasm32-wasip2")


def venv_of(page, trainers):
    """The virtual environment that a page is run with: its trainer's, or that of the Python client's tests."""
    later = any(block.later for block in page.blocks)
    if page.environment is None or (later and not trainers):
        folder = TARGET / "python-client-venv"
        if (folder / "bin/python3").exists():
            return folder
        if any(CLIENT.search(block.text) for block in page.blocks if not block.why):
            raise LookupError("no Python client (scripts/setup.sh test makes its environment)")
        return None
    folder = TARGET / "trainers" / page.environment
    if not (folder / "bin/python3").exists():
        if not trainers:
            raise LookupError(f"no {folder} (scripts/setup.sh test makes it where there is a Python 3.12)")
        subprocess.run([python_of_trainers(), "-m", "venv", folder], check=True)
    return folder


def python_of_trainers():
    version = PYTHON_OF_TRAINERS
    versions = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}*/bin/python{version}"))
    for program in [f"python{version}", *versions]:
        try:
            subprocess.run([program, "-c", ""], check=True, capture_output=True)
            return program
        except (OSError, subprocess.CalledProcessError):
            continue
    raise LookupError(f"no Python {version}")


def expect(expected, output):
    """Each line stands in the output, in this order; `…` is anything, alone on a line any lines."""
    rows = [row.rstrip() for row in output.split("\n")]
    at = 0
    for line in filter(None, (line.strip() for line in expected.split("\n"))):
        if line == "…":
            continue
        pattern = ".*".join(re.escape(part) for part in re.split("…|\\.\\.\\.", line))
        while at < len(rows) and not re.fullmatch(pattern, rows[at].strip()):
            at += 1
        if at == len(rows):
            raise shells.Failed(f"the line `{line}` is not in the output:\n{output}")
        at += 1


if __name__ == "__main__":
    sys.exit(main())
