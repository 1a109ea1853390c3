#!/usr/bin/env python3
"""A cluster on one machine: a batch that goes on while its server and a node with workers are killed.

    tests/cluster/run.py [--programs FOLDER] [--requests N] [--cut] [--keep FOLDER]

Three hosts are network namespaces: `head` has PostgreSQL, Slurm's controller and the trainer; `one` and `two` have a
server and a node of Slurm each. The server of `two` stands by, and the workers are jobs of Slurm on both nodes. The
trainer submits a batch in pieces, a second apart. In the middle of one piece the server that works is killed with
SIGKILL, later all processes of the node on `two`. With `--cut` the host `one` loses its network instead, and has it
again later: its server must then end by itself. At the end every request must have one outcome, with the right reward.
Prints what happened and when, and ends with status 1 if anything was wrong.

Needs root, the programs of Slurm and munge, and `ip`, `unshare` and `nsenter`. Everything runs in namespaces of its
own, which end with it; what they share is the file system, as the hosts of a cluster share a folder.
"""

import argparse
import ctypes
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "chaos"), str(HERE.parent / "trainers")]

from load import Connection, Record, check_items, item, made  # noqa: E402
from machine import STARTS_WITHIN_S, Database, descendants, processes, send  # noqa: E402
from service import PLUGINS, TARGET, clean_environment  # noqa: E402

CLONE_NEWNET = 0x40000000
PROGRAMS = ["ip", "unshare", "nsenter", "munged", "slurmctld", "slurmd", "sbatch"]
SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
ADDRESSES = {"head": "10.77.0.1", "one": "10.77.0.2", "two": "10.77.0.3"}
NODES = {"n1": "one", "n2": "two"}
REST_PORT, WORKER_PORT, SLURM_PORT = 7700, 7701, 6817
WORKERS, PIECES = 4, 20
# The pieces in whose middle something happens, from 1: the server that works is killed or cut off, and then the other
# node is killed or the network is back.
FIRST_IN, SECOND_IN = 7, 13
ENDS_WITHIN_S = 300
# A host that is cut off does not refuse a call.
CALL_LIMIT_S = 5


def in_namespaces():
    """Starts this program again where it has a network, mounts and processes of its own, which end with it."""
    if os.environ.pop("ASSAY_CLUSTER_INSIDE", None):
        return
    inside = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable]
    os.execvpe(inside[0], [*inside, *sys.argv], os.environ | {"ASSAY_CLUSTER_INSIDE": "1"})


class Network:
    """The hosts, on one bridge."""

    def __init__(self):
        pathlib.Path("/run/netns").mkdir(exist_ok=True)
        self._call("mount", "-t", "tmpfs", "assay-cluster", "/run/netns")
        self._call("ip", "link", "set", "lo", "up")
        self._call("ip", "link", "add", "bridge", "type", "bridge")
        self._call("ip", "link", "set", "bridge", "up")
        for host, address in ADDRESSES.items():
            self._call("ip", "netns", "add", host)
            self._call("ip", "link", "add", f"to-{host}", "type", "veth", "peer", "name", "eth0", "netns", host)
            self._call("ip", "link", "set", f"to-{host}", "master", "bridge", "up")
            self._call("ip", "-n", host, "address", "add", f"{address}/24", "dev", "eth0")
            for device in ["lo", "eth0"]:
                self._call("ip", "-n", host, "link", "set", device, "up")

    @staticmethod
    def _call(*command):
        subprocess.run(command, check=True)

    @classmethod
    def link(cls, host, state):
        """Connects this host with the others, or cuts it off from them (`up`, `down`)."""
        cls._call("ip", "-n", host, "link", "set", "eth0", state)

    @staticmethod
    def command(host, command):
        """The command that runs another one on this host."""
        return ["nsenter", f"--net=/run/netns/{host}", "--", *command]

    @staticmethod
    def enter(host):
        """Puts this thread, and all that it starts from now on, on this host."""
        with open(f"/run/netns/{host}") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), f"cannot enter {host}")

    @staticmethod
    def processes(host):
        """The processes that run on this host."""
        here = os.stat(f"/run/netns/{host}").st_ino
        for pid, *_ in processes():
            try:
                if os.stat(f"/proc/{pid}/ns/net").st_ino == here:
                    yield pid
            except OSError:
                pass  # It has ended.


class Cluster:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        self.began = time.monotonic()
        self.record, self.over = Record(), threading.Event()
        path = os.environ.get("PATH", "") + ":" + SYSTEM_PATH
        self.environment = clean_environment() | {"PATH": path, "SLURM_CONF": str(folder / "slurm.conf")}
        self.servers, self.daemons, self.database = {}, [], None

    def say(self, what):
        print(f"{time.monotonic() - self.began:7.2f} s  {what}", flush=True)

    def start(self):
        """Brings everything up; the connection of the trainer."""
        Network()
        Network.enter("head")
        self.database = Database(self.programs, self.folder, self.environment)
        self.database.listen(ADDRESSES["head"])
        self.say("head: PostgreSQL runs")
        self._start_slurm()
        self.say(f"Slurm runs: its controller on head, the nodes {' and '.join(NODES)} on {' and '.join(NODES.values())}")
        self._start_server("one")
        key = json.loads(self._until("the first server is ready", self._ready("one")))["key"]
        self.say("one: the server is ready")
        (self.folder / "two").mkdir()
        (self.folder / "two/objects").symlink_to(self.folder / "one/objects")
        self._start_server("two")
        self._until("the second server stands by", lambda: "standing by" in self._log("two"))
        self.say("two: the server stands by")
        servers = [f"{ADDRESSES[host]}:{REST_PORT}" for host in self.servers]
        self.trainer, self.operator = (Connection(servers, key, self.over, CALL_LIMIT_S) for _ in range(2))
        url = {"ASSAY_URL": f"http://{servers[0]}", "ASSAY_API_KEY": key}
        publish = [self.programs / "assay", "plugin", "publish", PLUGINS / "assay_plugin_math.wasm", "--channel", "prod"]
        subprocess.run(publish, check=True, env=self.environment | url, stdout=subprocess.DEVNULL)
        self._until("all workers have joined", lambda: self._workers_by_node() == {"n1": 2, "n2": 2})
        self.say("4 workers have joined: 2 jobs of Slurm on each node")

    def _ready(self, host):
        file = self.folder / host / "ready.json"
        return lambda: file.exists() and file.read_text()

    def _log(self, name):
        file = self.folder / f"{name}.log"
        return file.read_text() if file.exists() else ""

    def _until(self, what, asks):
        """The first answer that is not empty."""
        until = time.monotonic() + STARTS_WITHIN_S
        while not (answer := asks()):
            if time.monotonic() > until:
                logs = "".join(f"\n--- {file.name}\n{file.read_text()[-2000:]}" for file in self.folder.glob("*.log"))
                raise RuntimeError(f"not within {STARTS_WITHIN_S} s: {what}{logs}")
            time.sleep(0.1)
        return answer

    def _run(self, host, name, command):
        with (self.folder / f"{name}.log").open("ab") as log:
            ran = subprocess.Popen(Network.command(host, command), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=self.environment)
        self.daemons.append(ran)
        return ran

    def _start_server(self, host):
        address = ADDRESSES[host]
        command = [self.programs / "assay", "serve", "--listen", f"{address}:{REST_PORT}", "--environment", "dev",
                   "--workers", f"cpu={WORKERS}", "--data", self.folder / host, "--worker-listen",
                   f"{address}:{WORKER_PORT}", "--slurm", self.folder / "workers.toml", "--ready-file",
                   self.folder / host / "ready.json", "--database-url", self.database.url]
        self.servers[host] = self._run(host, host, command)

    def _start_slurm(self):
        folder, name = self.folder, os.uname().nodename.partition(".")[0]
        for below in ["state", "spool", "jobs"]:
            (folder / below).mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o400)
        nodes = "".join(f"NodeName={node} NodeHostname={name} NodeAddr={ADDRESSES[host]} Port={SLURM_PORT + 1} CPUs=2 "
                        "RealMemory=1000 State=UNKNOWN\n" for node, host in NODES.items())
        (folder / "slurm.conf").write_text(f"""ClusterName=demo
SlurmctldHost={name}({ADDRESSES["head"]})
SlurmctldPort={SLURM_PORT}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MessageTimeout=5
MpiDefault=none
{nodes}PartitionName=all Nodes=ALL Default=YES MaxTime=01:00:00 State=UP
""")
        if " 22." not in self._ask("slurmctld", "-V"):
            # Newer ones start their plugin of cgroups whether or not it is used.
            (folder / "cgroup.conf").write_text("CgroupPlugin=disabled\n")
        workers = ",".join(f"{ADDRESSES[host]}:{WORKER_PORT}" for host in NODES.values())
        (folder / "workers.toml").write_text(f"""server = "{workers}"
program = "{self.programs / "assay-worker"}"
logs = "{folder / "jobs"}"
[pools.cpu]
minutes = 30
drain_seconds = 60
""")
        self._run("head", "munge", ["munged", "--foreground", "--force", f"--socket={folder}/munge.sock",
                                    f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid",
                                    f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"])
        self._until("munge runs", (folder / "munge.sock").exists)
        self._run("head", "slurmctld", ["slurmctld", "-D"])
        for node, host in NODES.items():
            (folder / "spool" / node).mkdir()
            self._run(host, node, ["slurmd", "-D", "-N", node])
        self._until("the nodes are idle", lambda: self._ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * 2)

    def _ask(self, *command):
        asked = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        return asked.stdout

    def _workers_by_node(self):
        """How many workers are connected, by the node that runs their job."""
        status, page = self.operator.call("GET", "/v1/workers")
        if status != 200:
            raise RuntimeError(f"{status}: {page}")
        tickets = {worker["ticket"] for worker in page["items"] if worker.get("id") is not None}
        jobs = [line.split() for line in self._ask("squeue", "-h", "-t", "RUNNING", "-o", "%N %j").splitlines()]
        found = [node for node, name in jobs if any(name.endswith(ticket) for ticket in tickets)]
        return {node: found.count(node) for node in sorted(set(found))}

    def watch(self):
        """Tells of the server that takes over, until it does, and of every change of the workers, until the end."""
        last, took_over = None, False
        while not self.over.wait(0.25):
            if not took_over and (took_over := bool(self._ready("two")())):
                self.say("two: the server has taken over")
            now = self._workers_by_node()
            if now != last:
                where = ", ".join(f"{count} on {node}" for node, count in now.items())
                self.say(f"workers: {where or 'none'}")
                last = now

    def kill_server(self):
        self.say("one: the server is killed")
        send(self.servers["one"].pid, signal.SIGKILL)

    def kill_node(self):
        """Ends everything of Slurm on the host, workers too, as a lost node does; the server there goes on."""
        kept = self.servers["two"].pid
        kept = {kept, *(pid for pid, _ in descendants(kept))}
        lost = [pid for pid in Network.processes("two") if pid not in kept]
        self.say(f"two: the node n2 is killed, {len(lost)} processes")
        for pid in lost:
            send(pid, signal.SIGKILL)

    def cut_host(self):
        self.say("one: the network is cut")
        Network.link("one", "down")

    def mend_host(self):
        self.say("one: the network is back")
        Network.link("one", "up")

    def score(self, requests, events):
        """Submits the batch, with the two events meanwhile, and checks every result."""
        announcement = {"plugin": "math@prod", "run": "cluster", "iteration": 1, "expected_size": requests}
        batch = made(self.trainer.call("POST", "/v1/batches", announcement, {"Idempotency-Key": "cluster"}))["id"]
        piece = requests // PIECES
        events = dict(zip([FIRST_IN, SECOND_IN], events, strict=True))
        for number in range(1, PIECES + 1):
            due, event = time.monotonic() + 1, None
            if number in events:
                # The call is on its way by then.
                event = threading.Timer(0.01, events[number])
                event.start()
            lines = "".join(json.dumps(item(at)) + "\n" for at in range((number - 1) * piece, number * piece))
            began = time.monotonic()
            reply = made(self.trainer.call("POST", f"/v1/batches/{batch}/requests", lines.encode(),
                                           {"Content-Type": "application/x-ndjson"}))
            took = time.monotonic() - began
            repeated = f", {reply['repeated']:,} of them for the second time" if reply["repeated"] else ""
            if number % 5 == 0 or {number, number - 1} & events.keys():
                self.say(f"{number * piece:,} requests acknowledged{repeated}; the last call took {took:.2f} s")
            if event:
                event.join()
            time.sleep(max(0, due - time.monotonic()))
        made(self.trainer.call("POST", f"/v1/batches/{batch}/seal", {"final_count": PIECES * piece}))
        self.say("the batch is sealed")
        until = time.monotonic() + ENDS_WITHIN_S
        while made(self.trainer.call("GET", f"/v1/batches/{batch}"))["state"] != "done":
            if time.monotonic() > until:
                raise RuntimeError(f"the batch has not ended within {ENDS_WITHIN_S} s")
            time.sleep(0.05)
        self.say("the batch has ended")
        results = check_items(self.record, self.trainer, self.database, batch, PIECES * piece)
        again = sum(any(stage["attempts"] > 1 for stage in result["stages"]) for result in results.values())
        if not self.record.faults:
            self.say(f"{len(results):,} requests have one reward each, the right one; {again} ran twice")

    def check_former(self):
        """The server that was cut off must see that another one has taken its place, and end."""
        self._until("the server that was cut off ends", lambda: self.servers["one"].poll() is not None)
        self.say("one: the server has ended by itself")

    def stop(self):
        self.over.set()
        # The servers first: they cancel their jobs of Slurm, which needs its daemons for that.
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=30)
            except subprocess.TimeoutExpired:
                daemon.kill()
        if self.database:
            self.database.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=TARGET / "release", help="folder of `assay` [default: target/release]")
    parser.add_argument("--requests", type=int, default=20_000, help="size of the batch [default: 20,000]")
    parser.add_argument("--cut", action="store_true", help="cut off the host of the server instead of killing it")
    parser.add_argument("--keep", metavar="FOLDER", help="an empty folder where the logs stay")
    arguments = parser.parse_args()
    missing = [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":" + SYSTEM_PATH)]
    if os.geteuid() or missing:
        print(f"cluster: needs root, and these programs: {', '.join(PROGRAMS)}; missing: {', '.join(missing) or 'none'}",
              file=sys.stderr)
        return 2
    in_namespaces()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="assay-cluster-", ignore_cleanup_errors=True) as scratch:
        folder = pathlib.Path(arguments.keep or scratch).resolve()
        # PostgreSQL, and Slurm for its jobs, run as users who must get in.
        folder.chmod(0o755)
        cluster = Cluster(pathlib.Path(arguments.programs).resolve(), folder)
        try:
            cluster.start()
            threading.Thread(target=cluster.watch, daemon=True).start()
            if arguments.cut:
                cluster.score(arguments.requests, [cluster.cut_host, cluster.mend_host])
                cluster.check_former()
            else:
                cluster.score(arguments.requests, [cluster.kill_server, cluster.kill_node])
        except (RuntimeError, OSError, http.client.HTTPException) as failed:
            cluster.record.fault(str(failed))
        finally:
            cluster.stop()
    wrong = cluster.record.faults
    print(f"cluster: {int(not wrong)} passed, {int(bool(wrong))} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
