"""The processes under test: PostgreSQL with its keeper, two servers of which one stands by, and their workers.

Owns every process that it starts, and whatever those leave behind: orphans become its children, so that none hides.
"""

import ctypes
import os
import pathlib
import signal
import subprocess
import threading
import time

from service import cost

PR_SET_CHILD_SUBREAPER = 36
STARTS_WITHIN_S = 300


def adopt_orphans():
    """Whatever a killed process leaves behind becomes a child of this one."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "this process cannot adopt orphans")


def processes():
    """(pid, parent, name, state) of all processes."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:
            continue
        called, _, rest = stat.partition("(")[2].rpartition(")")
        state, parent = rest.split()[:2]
        yield int(entry.name), int(parent), called, state


def descendants(ancestor):
    """Every process below this one that still runs, as (pid, name)."""
    everything, found, parents = list(processes()), [], [ancestor]
    while parents:
        above = parents.pop()
        below = [(pid, called, state) for pid, parent, called, state in everything if parent == above]
        parents += [pid for pid, _, _ in below]
        found += [(pid, called) for pid, called, state in below if state != "Z"]
    return found


def send(pid, name):
    try:
        os.kill(pid, name)
    except ProcessLookupError:
        pass  # It ended by itself.


class Server:
    """`assay serve` on a port that it keeps; it comes back whenever it ends, until the trial is over."""

    def __init__(self, command, log, environment):
        self._command, self._log, self._environment = command, log, environment
        self._over, self.starts, self.process = threading.Event(), 0, None
        self._start()
        self._watch = threading.Thread(target=self._keep, daemon=True)
        self._watch.start()

    def _start(self):
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self._environment)
        self.starts += 1

    def _keep(self):
        while not self._over.is_set():
            self.process.wait()
            if not self._over.wait(0.2):
                self._start()

    def workers(self):
        return [pid for pid, name in descendants(self.process.pid) if name == "assay-worker"]

    def cost(self):
        """Memory in bytes and the number of file descriptors."""
        return cost(self.process.pid)

    def stop(self):
        """In order; `True` when it ended by itself within two minutes, with status 0."""
        self._over.set()
        send(self.process.pid, signal.SIGCONT)
        self.process.terminate()
        try:
            return self.process.wait(timeout=120) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False


class Database:
    """A private PostgreSQL beside its keeper `assay-postgres`, which restarts it when it is killed."""

    def __init__(self, programs, folder, environment):
        self._data, told = folder / "database", folder / "database-url"
        tell = 'printf "%s\\n%s" "$DATABASE_URL" "$(command -v psql)" >"$0.new" && mv "$0.new" "$0" && exec sleep infinity'
        with (folder / "database.log").open("ab") as log:
            self._keeper = subprocess.Popen([programs / "assay-postgres", self._data, "sh", "-c", tell, told],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        until = time.monotonic() + STARTS_WITHIN_S
        while not told.exists():
            if self._keeper.poll() is not None or time.monotonic() > until:
                raise RuntimeError("PostgreSQL does not start:\n" + (folder / "database.log").read_text()[-2000:])
            time.sleep(0.05)
        self.url, self._psql = told.read_text().split("\n")

    def listen(self, address):
        """Restarts it so that this address is asked for it, by every user of the network."""
        self.rows(f"alter system set listen_addresses = '{address}'")
        with next(self._data.rglob("pg_hba.conf")).open("a") as users:
            users.write("host all all samenet trust\n")
        send(self.processes()[0], signal.SIGINT)
        self.url = self.url.split("?")[0].replace("localhost", address) + "?sslmode=disable"
        until = time.monotonic() + STARTS_WITHIN_S
        while True:
            try:
                return self.rows("select 1")
            except RuntimeError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def processes(self):
        """The postmaster first, then what it started; none while it restarts."""
        try:
            pid = int(next(self._data.rglob("postmaster.pid")).read_text().split("\n")[0])
        except (OSError, ValueError, StopIteration):
            return []
        return [pid, *(below for below, _ in descendants(pid))]

    def rows(self, sql):
        """The rows, their columns parted by `|`."""
        command = [self._psql, "--no-psqlrc", "--tuples-only", "--no-align", "--file", "-", self.url]
        # Many ids are more than an argument may hold.
        ran = subprocess.run(command, input=sql, capture_output=True, text=True, timeout=120)
        if ran.returncode:
            raise RuntimeError(f"{sql}: {ran.stderr.strip()}")
        return [line for line in ran.stdout.splitlines() if line]

    def stop(self):
        self._keeper.terminate()
        self._keeper.wait(timeout=120)
