#!/usr/bin/env python3
"""Limits tried for real: what one crowd costs the server, and what an innocent tenant notices of it.

    tests/chaos/limits.py [--silent N] [--tenants N] [--queued N] [--dashboards N]
                          [--followers N] [--programs FOLDER]

Opens silent, half-spoken and dripping connections; makes tenants; queues programs of some tenants, which sleep; opens event streams of many
tenants and of open batches. Beside each crowd an innocent tenant asks for single rewards and a probe asks `/livez`, each on a new connection.
Prints their times and the server's memory and file descriptors as a table in Markdown. Ends with status 1 when a call of
the innocent tenant was refused or wrong, when half of the probes took longer than the bound, or when a follower was not
told everything.
"""

import argparse
import http.client
import json
import pathlib
import resource
import socket
import statistics
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trainers")]

from load import Connection, sample  # noqa: E402
from service import TARGET, Service  # noqa: E402

WATCHED_S = 15
SUBMITTED_AT_ONCE = 2_000
# A tenant may take three quarters of what the others leave.
GREEDY_TENANTS = 4
# A batch may have somewhat more.
BATCH_SIZE = 100_000
FOLLOWED_BATCHES = 20
FOLLOWED_SIZE = 8
# `/livez` is promised within 100 ms; a machine three times slower keeps this.
PROBE_BOUND_S = 0.3
DRIP = b"POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
# Nothing, half a preface of HTTP/2, an idle HTTP/2 connection, half of the headers, and a body that drips.
BEGINNINGS = [b"", b"PRI * HTTP/2.0\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
              b"GET /v1/batches HTTP/1.1\r\nHost: a\r\n", DRIP]


class Limits:
    def __init__(self, service, arguments):
        self.service, self.arguments, self.wrong = service, arguments, []
        self.port = int(service.url.rpartition(":")[2])
        self.never = threading.Event()
        self.operator = Connection([self.port], service.key, self.never)
        self.keys = {}
        self.innocent = self.tenant("innocent", ["math"])

    def tenant(self, name, plugins=()):
        status, made = self.operator.call("POST", "/v1/tenants", {"name": name})
        scopes = ["batches:write", "batches:read", "plugins:publish", "plugins:promote"]
        answered, key = self.operator.call("POST", "/v1/keys", {"tenant": name, "name": "limits", "scopes": scopes})
        if (status, answered) != (201, 201):
            raise RuntimeError(f"{status} {made} {answered} {key}")
        self.keys[name] = key.get("secret") or key["key"]
        self.service.publish(*plugins, key=self.keys[name])
        return self.keys[name]

    def _timed(self, method, path, body=None, key=None):
        """Status, answer and seconds of a call on a new connection."""
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"} if key else {}
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
            connection.close()
        except (OSError, http.client.HTTPException) as failed:
            status, text = 0, repr(failed).encode()
        return status, text, time.monotonic() - began

    def watch(self, name):
        """Measures for a while, and prints a row."""
        until, probes, rewards, number = time.monotonic() + WATCHED_S, [], [], 0
        while time.monotonic() < until:
            status, text, took = self._timed("GET", "/livez")
            probes.append(took)
            if status != 200:
                self.wrong.append(f"{name}: /livez is {status} {text[:200]}")
            number += 1
            prompt, response, label, right = sample(number)
            status, text, took = self._timed("POST", "/v1/rewards", {
                "plugin": "math@prod", "prompt": prompt, "response": response, "label": label,
                "share_equal": False}, self.innocent)
            rewards.append(took)
            if status != 200 or json.loads(text)["outcome"].get("reward") != right:
                self.wrong.append(f"{name}: an innocent reward is {status} {text[:200]}")
        if statistics.median(probes) > PROBE_BOUND_S:
            self.wrong.append(f"{name}: half of the probes took more than {PROBE_BOUND_S} s")
        memory, descriptors = self.service.cost()
        print(f"| {name} | {times(rewards)} | {times(probes)} | {memory >> 20} MiB | {descriptors:,} |", flush=True)

    def silent(self, count):
        opened = []
        for at in range(count):
            try:
                opened.append(socket.create_connection(("127.0.0.1", self.port), timeout=5))
                opened[-1].sendall(BEGINNINGS[at % len(BEGINNINGS)])
            except OSError:
                pass  # The server closed it, as it may.
        over = threading.Event()
        dripping = threading.Thread(target=drip, args=(opened[4::5], over))
        dripping.start()
        self.watch(f"{count:,} silent, half-spoken and dripping connections")
        over.set()
        dripping.join()
        for stream in opened:
            stream.close()

    def tenants(self, count):
        began = time.monotonic()
        for at in range(count):
            self.tenant(f"tenant-{at}")
        took = time.monotonic() - began
        self.watch(f"{count:,} tenants, made in {took:.0f} s")

    def queued(self, count):
        """Programs that sleep, of as many tenants and in as many batches as it takes; as many as are accepted."""
        accepted, refusals, batches, began = 0, [], [], time.monotonic()
        for greedy in range(GREEDY_TENANTS):
            key = self.tenant(f"greedy-{greedy}", ["run"])
            taken, refusal = self._queue(key, count - accepted, batches)
            accepted += taken
            if not refusal:
                break
            refusals.append(f"{taken:,} of one, then {refusal}")
        took = time.monotonic() - began
        self.watch(f"{accepted:,} requests queued by other tenants, in {took:.0f} s ({'; '.join(refusals)})")
        for key, batch in batches:
            status, text, _ = self._timed("POST", f"/v1/batches/{batch}/cancel", {}, key)
            if status != 200:
                self.wrong.append(f"cancelling {status} {text[:200]}")

    def _queue(self, key, count, batches):
        """Queues requests of one tenant; how many were accepted, and why no more."""
        for first in range(0, count, SUBMITTED_AT_ONCE):
            if first % BATCH_SIZE == 0:
                status, text, _ = self._timed("POST", "/v1/batches", {
                    "plugin": "run@prod", "run": "greedy", "iteration": 1, "share_equal": False}, key)
                if status != 201:
                    return first, json.loads(text)["detail"]
                batches.append((key, json.loads(text)["id"]))
            items = [{"key": str(at), "response": f"import time; time.sleep(5) # {at}", "label": {"language": "python"}}
                     for at in range(first, min(first + SUBMITTED_AT_ONCE, count))]
            status, text, _ = self._timed("POST", f"/v1/batches/{batches[-1][1]}/requests", items, key)
            if status == 0:
                return first, text.decode()
            reply = json.loads(text)
            if status != 200 or reply["rejected"]:
                return first, reply.get("detail") or next(item for item in reply["items"] if item["status"] == "rejected")
        return count, ""

    def dashboards(self, count):
        """Event streams of all tenants there are."""
        callers = [(key, "/v1/live") for key in self.keys.values()]
        statuses, opened = self._open(count, callers)
        self.watch(f"{count:,} dashboards, {len(callers):,} keys: {statuses}")
        for stream, _ in opened:
            stream.close()

    def followers(self, count):
        """Event streams of open batches, which get their requests in the end: each stream must tell every result."""
        followed = {}
        for at in range(FOLLOWED_BATCHES):
            key = self.tenant(f"followed-{at}", ["math"])
            status, text, _ = self._timed("POST", "/v1/batches", {
                "plugin": "math@prod", "run": "followed", "iteration": 1, "share_equal": False}, key)
            if status != 201:
                return self.wrong.append(f"announcing {status} {text[:200]}")
            followed[f"/v1/batches/{json.loads(text)['id']}"] = key
        callers = [(key, f"{path}/events") for path, key in followed.items()]
        statuses, opened = self._open(count, callers)
        self.watch(f"{count:,} followers of {len(callers):,} batches, one tenant each: {statuses}")
        items = [{"key": str(at), "response": response, "label": label}
                 for at in range(FOLLOWED_SIZE) for _, response, label, _ in [sample(at)]]
        began = time.monotonic()
        for path, key in followed.items():
            for call, body in ("requests", items), ("seal", {}):
                status, text, _ = self._timed("POST", f"{path}/{call}", body, key)
                if status != 200:
                    self.wrong.append(f"{call} of a followed batch is {status} {text[:200]}")
        told = sum(told_all(*stream) for stream in opened)
        print(f"{told:,} of {len(opened):,} followers were told every result and the end, "
              f"within {time.monotonic() - began:.1f} s")
        if told < len(opened):
            self.wrong.append(f"{len(opened) - told} followers were not told everything")

    def _open(self, count, callers):
        """How many streams got which status, and those that are open, with what they have told."""
        statuses, opened = {}, []
        for at in range(count):
            key, path = callers[at % len(callers)]
            try:
                stream = socket.create_connection(("127.0.0.1", self.port), timeout=30)
                stream.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
                beginning = stream.recv(4096)
                status = beginning.split(b" ", 2)[1].decode()
                if status == "200":
                    opened.append((stream, beginning))
                else:
                    stream.close()
            except (OSError, IndexError):
                status = "closed"
            statuses[status] = statuses.get(status, 0) + 1
        return statuses, opened


def told_all(stream, text):
    """Whether a follower's stream tells each result and the end of its batch."""
    with stream:
        try:
            while not text.endswith(b"\r\n0\r\n\r\n") and (piece := stream.recv(1 << 16)):
                text += piece
        except OSError:
            return False
    return (text.count(b"event: request.done"), text.count(b"event: batch.done")) == (FOLLOWED_SIZE, 1)


def drip(streams, over):
    while not over.wait(1):
        for stream in streams:
            try:
                stream.send(b" ", socket.MSG_DONTWAIT)
            except OSError:
                pass  # The server closed it, as it must in the end.


def times(seconds):
    ordered = sorted(seconds)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1e3 for part in (0.5, 0.99)]
    return f"{at[0]:.1f} ms, {at[1]:.1f} ms ({len(ordered)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--silent", type=int, default=4_096, help="connections without a call [default: 4096]")
    parser.add_argument("--tenants", type=int, default=1_000, help="[default: 1000]")
    parser.add_argument("--queued", type=int, default=1_000_000, help="queued requests [default: 1000000]")
    parser.add_argument("--dashboards", type=int, default=10_000, help="event streams of tenants [default: 10000]")
    parser.add_argument("--followers", type=int, default=10_000, help="event streams of batches [default: 10000]")
    parser.add_argument("--programs", default=TARGET / "debug", help="folder of `assay` [default: target/debug]")
    arguments = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with Service(arguments.programs) as service:
        limits = Limits(service, arguments)
        print("| beside | an innocent reward: p50, p99 | `/livez`: p50, p99 | memory | descriptors |\n|---|--:|--:|--:|--:|")
        limits.watch("nothing")
        for name in ("silent", "followers", "tenants", "queued", "dashboards"):
            if count := getattr(arguments, name):
                getattr(limits, name)(count)
    print("limits: " + (f"{len(limits.wrong)} wrong: {limits.wrong[:5]}" if limits.wrong else "all is right"))
    return 1 if limits.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
