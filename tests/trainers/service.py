"""A server of one's own, for tests and measurements: its processes can be killed, and it comes back with its data.

Owns every process that it starts. Never says that it is ready before it takes requests.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
PLUGINS = TARGET / "wasm32-wasip2/plugin"
READY_WITHIN_S = 120


class Service:
    """`assay serve` in a folder of its own, on a port that it keeps. `programs` is the folder with `assay`.

    `workers_max` may be changed before another start.
    """

    def __init__(self, programs=None, workers=2, options=()):
        self.programs = pathlib.Path(programs or os.environ.get("ASSAY_PROGRAMS") or TARGET / "debug").resolve()
        self._scratch = tempfile.TemporaryDirectory(prefix="assay-trainers-", ignore_cleanup_errors=True)
        self.folder = pathlib.Path(self._scratch.name)
        # Started by root, PostgreSQL runs as a user who must get in.
        self.folder.chmod(0o711)
        self.log = self.folder / "server.log"
        self._ready = self.folder / "ready.json"
        self.workers_max = workers
        self._command = [self.programs / "assay", "serve", "--listen", f"127.0.0.1:{free_port()}",
                         "--environment", "dev", "--data", self.folder / "data", "--ready-file", self._ready, *options]
        self._process = None
        self.url = self.key = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._scratch.cleanup()

    def start(self):
        self._ready.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            command = [*self._command, "--workers", f"cpu={self.workers_max}"]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             env=clean_environment())
        until = time.monotonic() + READY_WITHIN_S
        while not self._ready.exists():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server does not start:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)
        facts = json.loads(self._ready.read_text())
        self.url, self.key = facts["url"], facts["key"]

    def publish(self, *names, key=None):
        """Publishes shipped plugins, or guests of the tests, on the channel `prod` of a key's tenant."""
        environment = clean_environment() | {"ASSAY_URL": self.url, "ASSAY_API_KEY": key or self.key}
        for name in names:
            component = PLUGINS / f"assay_plugin_{name}.wasm"
            if not component.exists():
                component = PLUGINS / f"examples/{name}.wasm"
            subprocess.run([self.programs / "assay", "plugin", "publish", component, "--channel", "prod"],
                           check=True, env=environment, stdout=subprocess.DEVNULL)

    def workers(self):
        """The processes of its workers."""
        return list(children(self._process.pid, "assay-worker"))

    def kill_worker(self):
        """Kills a worker with SIGKILL, once there is one."""
        until = time.monotonic() + READY_WITHIN_S
        while True:
            for pid in self.workers():
                try:
                    os.kill(pid, signal.SIGKILL)
                    return
                except ProcessLookupError:
                    pass
            if time.monotonic() > until:
                raise RuntimeError("there is no worker to kill")
            time.sleep(0.01)

    def kill(self):
        """Kills the server with SIGKILL; `start` brings it back."""
        self._process.kill()
        self._process.wait()

    def cost(self):
        """The server's memory in bytes and the number of its file descriptors."""
        return cost(self._process.pid)

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def address(self, protocol, plugin, run, rest=""):
        """What a trainer is told: the key is the password."""
        host = self.url.removeprefix("http://")
        return f"http://trainer:{self.key}@{host}/compat/{protocol}/{plugin}/{run}{rest}"


def children(parent, name):
    """The processes of this name that a process started."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        called, _, rest = stat.partition("(")[2].rpartition(")")
        # A name is cut off after 15 bytes.
        if called == name[:15] and int(rest.split()[1]) == parent:
            yield int(entry.name)


def cost(pid):
    """The memory of a process in bytes and the number of its file descriptors."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    memory = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(memory.split()[1]) << 10, len(os.listdir(f"/proc/{pid}/fd"))


def clean_environment():
    """Ours, without what would lead to somebody else's server, database or packages."""
    unwanted = ("DATABASE_URL", "VIRTUAL_ENV", "PYTHONPATH")
    wanted = ("ASSAY_POSTGRES_BIN", "ASSAY_WORKER_PROGRAM")
    return {name: value for name, value in os.environ.items()
            if name in wanted or not (name in unwanted or name.startswith("ASSAY_"))}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
