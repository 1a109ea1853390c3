"""The shell and the Python session of one page, and what it runs in the background.

What a block exports and where it changes to is there for the next. Ends all it started.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

# A cold start with a new database, or the import of a large library, with other steps beside it.
BACKGROUND_WITHIN_S = 120
BLOCK_WITHIN_S = 1200

# Reads blocks as JSON, runs them one after the other, answers with what went wrong, if anything.
SESSION = """
import json, sys, traceback
world = {"__name__": "__main__"}
answers = sys.stderr
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "page", "exec"), world)
        failed = False
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        failed = True
    sys.stdout.flush()
    print(json.dumps(failed), file=answers, flush=True)
"""


class Failed(Exception):
    """A block that did not do what the page says."""


class Shells:
    def __init__(self, folder, target, venv, server, variables):
        self.folder, self.server = folder, server
        self.state = folder / ".state"
        self.session = None
        self.background = []
        programs = [str(target / "debug")]
        environment = clean_environment() | variables
        environment |= {"HOME": str(folder), "UV_PYTHON_DOWNLOADS": "never"}
        if venv:
            programs.insert(0, str(venv / "bin"))
            environment["VIRTUAL_ENV"] = str(venv)
        environment["PATH"] = os.pathsep.join([*programs, environment["PATH"]])
        # Read by cargo, rustup and pip, whose folders stay where they are.
        home = pathlib.Path.home()
        environment.setdefault("CARGO_HOME", str(home / ".cargo"))
        environment.setdefault("RUSTUP_HOME", str(home / ".rustup"))
        environment.setdefault("XDG_CACHE_HOME", str(home / ".cache"))
        self.ports = {"7700": server.url.rsplit(":", 1)[1] if server else free_port()}
        environment["ASSAY_LISTEN"] = f"127.0.0.1:{self.ports['7700']}"
        environment["ASSAY_DATA"] = str(folder / "data")
        if server:
            environment |= {"ASSAY_URL": server.url, "ASSAY_API_KEY": server.key}
        self.environment = environment

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.session:
            self.session.kill()
            self.session.wait()
        for process in reversed(self.background):
            end(process)

    def fitted(self, text):
        """The text with this page's ports, data folder and key in the place of those that it names."""
        for written, taken in self.ports.items():
            text = text.replace(f":{written}", f":{taken}")
            text = text.replace(f" {written}", f" {taken}") if written != "7700" else text
        text = text.replace("/var/lib/assay", str(self.folder / "data"))
        return text.replace("assay_dev_...", self.server.key) if self.server else text

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.fitted(text))

    def run(self, block):
        """What the block prints; `Failed` where it does not end as the page says."""
        if "background" in block.words:
            return self.start(block)
        if block.language == "python":
            return self.python(block.text)
        before = f". {self.state}\n" if self.state.exists() else ""
        script = f"{before}set -euo pipefail\n{self.fitted(block.text)}\nset +eu\nexport -p >{self.state}\n" \
                 f"printf 'cd %q\\n' \"$PWD\" >>{self.state}\n"
        process = subprocess.Popen(
            ["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=BLOCK_WITHIN_S)
        finally:
            end(process)
        if (process.returncode != 0) != ("fails" in block.words):
            raise Failed(f"it ended with {process.returncode}:\n{output}")
        return output

    def start(self, block):
        port = block.words["background"]
        if port not in self.ports:
            self.ports[port] = free_port()
        script = f". {self.state}\n{self.fitted(block.text)}" if self.state.exists() else self.fitted(block.text)
        log = self.folder / f"background-{port}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self.background.append(process)
        until = time.monotonic() + BACKGROUND_WITHIN_S
        ready = answers if port == "7700" else listens
        while not ready(self.ports[port]):
            if process.poll() is not None or time.monotonic() > until:
                raise Failed(f"nothing listens on port {port}:\n{log.read_text()}")
            time.sleep(0.05)
        return ""

    def python(self, text):
        if not self.session:
            self.output = (self.folder / ".python").open("w+")
            self.session = subprocess.Popen(
                ["python3", "-c", SESSION], cwd=self.folder, env=self.python_environment(), text=True,
                stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.PIPE)
        before = (self.folder / ".python").stat().st_size
        self.session.stdin.write(json.dumps(self.fitted(text)) + "\n")
        self.session.stdin.flush()
        said, failed = [], None
        # What libraries write to standard error comes between.
        for line in self.session.stderr:
            if line.strip() in ("true", "false"):
                failed = json.loads(line)
                break
            said.append(line)
        output = (self.folder / ".python").read_bytes()[before:].decode() + "".join(said)
        if failed is not False:
            raise Failed(output)
        return output

    def python_environment(self):
        """That of the shell as the page's last block left it."""
        if not self.state.exists():
            return self.environment
        script = f". {self.state}; {sys.executable} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
        made = subprocess.run(["bash", "-c", script], env=self.environment, capture_output=True, check=True)
        return json.loads(made.stdout)

    def logs(self):
        found = [self.server.log] if self.server else []
        found += sorted(self.folder.glob("background-*.log"))
        return "\n".join(f"-- {path.name}\n" + path.read_text()[-4000:] for path in found)


def clean_environment():
    """Ours, less what would lead to somebody else's server or database."""
    unwanted = ("DATABASE_URL", "VIRTUAL_ENV", "PYTHONPATH")
    wanted = ("ASSAY_POSTGRES_BIN", "ASSAY_WORKER_PROGRAM")
    kept = {name: value for name, value in os.environ.items()
            if name in wanted or not (name in unwanted or name.startswith("ASSAY_"))}
    return kept | {"PYTHONUNBUFFERED": "1"}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])


def answers(port):
    """Whether an Assay is there that takes requests."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).close()
        return True
    except OSError:
        return False


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def end(process):
    """Ends a process and all of its group."""
    for sign, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
