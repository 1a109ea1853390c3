"""The load: trainers of several tenants whose right rewards are known by construction, and who repeat what broke.

Every reward is compared where it arrives; a wrong one, a second answer or an error with a number is a fault of the
server, which the record keeps.
"""

import http.client
import json
import random
import socket
import struct
import threading
import time
import uuid

SIZE, CHUNK = 60, 20
CALL_LIMIT_S = 90
# No call is repeated for longer than this: a server that is away for so long does not come back.
PATIENCE_S = 300


class Record:
    """Everything that the trainers saw."""

    def __init__(self):
        self._lock = threading.Lock()
        self.faults, self.counts, self.answers = [], {}, []
        self.batches = {}
        self.began = time.monotonic()
        # The end of the faults; absent while they go on.
        self.ended = None

    def fault(self, text):
        with self._lock:
            self.faults.append(text)
            print(f"WRONG: {text}", flush=True)

    def count(self, name, more=1):
        with self._lock:
            self.counts[name] = self.counts.get(name, 0) + more

    def answered(self, began):
        """A call that began at this time was answered just now, and rightly."""
        with self._lock:
            self.answers.append((began, time.monotonic()))

    def longest_gap(self):
        with self._lock:
            last = self.ended or time.monotonic()
            ends = [self.began, *sorted(end for _, end in self.answers if end < last), last]
        return max((later - earlier for earlier, later in zip(ends, ends[1:])), default=0.0)

    def recovery(self, at):
        """Seconds from a time to the first answer of a call that began after it; `None` when none came."""
        with self._lock:
            ends = [end for began, end in self.answers if began >= at]
        return min(ends) - at if ends else None


class Gone(Exception):
    """No server answered within the patience."""


class Connection:
    """Calls with one tenant's key; each goes to the server that answered last, and is repeated at the other one.

    Servers are addresses, or ports of this machine.
    """

    def __init__(self, servers, key, over, limit_s=CALL_LIMIT_S):
        self._limit_s = limit_s
        self._servers = [server if isinstance(server, str) else f"127.0.0.1:{server}" for server in servers]
        self._key, self._over = key, over
        self._at, self._connection = 0, None

    def call(self, method, path, body=None, headers=()):
        """The status and the JSON of the first answer that is not `come again later`."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            try:
                status, text = self._once(method, path, body, dict(headers))
                if status < 500 and status != 429:
                    return status, json.loads(text or "null")
            except (OSError, http.client.HTTPException):
                self._connection = None
            self._at += 1
            self._connection = None
            self._over.wait(0.2)
        raise Gone(f"{method} {path}")

    def _server(self):
        return self._servers[self._at % len(self._servers)]

    def _once(self, method, path, body, headers):
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._server(), timeout=self._limit_s)
        headers |= {"Authorization": f"Bearer {self._key}"}
        if body is not None and not isinstance(body, bytes):
            headers["Content-Type"], body = "application/json", json.dumps(body).encode()
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def cut(self, path, body):
        """Sends half of a body, then resets the connection."""
        try:
            host, _, port = self._server().rpartition(":")
            with socket.create_connection((host, int(port)), timeout=5) as half:
                half.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                head = (f"POST {path} HTTP/1.1\r\nHost: assay\r\nAuthorization: Bearer {self._key}\r\n"
                        f"Content-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n")
                half.sendall(head.encode() + body[:len(body) // 2])
        except OSError:
            pass  # No server is there to be cut off from.

    def events(self, path, after):
        """The events of a stream until it ends or breaks, as (name, id, data)."""
        stream = http.client.HTTPConnection(self._server(), timeout=self._limit_s)
        try:
            stream.request("GET", path, headers={"Authorization": f"Bearer {self._key}", "Last-Event-ID": str(after)})
            answer = stream.getresponse()
            if answer.status != 200:
                return
            event = {}
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(":")
                if name:
                    event[name] = value.removeprefix(" ")
                elif "event" in event:
                    yield event["event"], int(event.get("id", 0)), json.loads(event.get("data") or "null")
                    event = {}
        except (OSError, http.client.HTTPException):
            return
        finally:
            self._at += 1
            stream.close()


def sample(number):
    """Prompt, response, label and the right reward; one of four responses is wrong."""
    right = number % 4 != 3
    said = 2 * number + (1 if right else 2)
    return (f"What is {number} + {number + 1}?", f"It is \\boxed{{{said}}}.", str(2 * number + 1),
            1.0 if right else 0.0)


def check(record, name, outcome, right):
    """Whether an outcome has the right reward; an error without a number is counted, and no fault."""
    kind = outcome["kind"]
    record.count(f"outcomes: {kind}" + (f" {outcome['code']}" if kind == "error" else ""))
    if kind == "error" and outcome.get("reward") is not None:
        record.fault(f"{name}: an error with a number: {outcome}")
    if kind == "timed_out" or (kind == "scored" and outcome["reward"] != right):
        record.fault(f"{name}: {outcome} instead of {right}")


def item(number):
    """The request of a sample, whose key is its number."""
    prompt, response, label, _ = sample(number)
    return {"key": str(number), "prompt": prompt, "response": response, "label": label}


def made(answer):
    """What a call returned that must succeed."""
    status, body = answer
    if status not in (200, 201, 202):
        raise RuntimeError(f"{status}: {body}")
    return body


def check_items(record, connection, database, batch, requests):
    """Whether every request of a batch of `item`s has one outcome, the right reward, by the REST interface and in the
    database. Returns the results by key."""
    seen, after = {}, 0
    while len(seen) < requests:
        page = made(connection.call("GET", f"/v1/batches/{batch}/results?limit=10000&after={after}"))
        for result in page["items"]:
            if result["key"] in seen:
                record.fault(f"{result['key']} has two results")
            seen[result["key"]] = result
            check(record, result["key"], result["outcome"], sample(int(result["key"]))[3])
        if not page["items"]:
            break
        after = page["next"]
    scored = sum(result["outcome"]["kind"] == "scored" for result in seen.values())
    stored = database.rows(f"select count(*), count(distinct seq) from all_outcomes where batch_id = '{batch}'")
    if scored != requests or stored != [f"{requests}|{requests}"]:
        record.fault(f"{scored:,} of {requests:,} requests have a reward; the database has {stored}")
    return seen


class Trainer:
    """The callers of one tenant. `numbers` gives each request a number that no other one has."""

    def __init__(self, record, ports, key, tenant, numbers, over):
        self.record, self.tenant, self._numbers, self._over = record, tenant, numbers, over
        self._ports, self._key = ports, key
        # One for all checks: a standby holds each first call for seconds.
        self._checking = self.connect()
        self.threads = [threading.Thread(target=self._repeat, args=(what, at), daemon=True) for at, what in
                        enumerate([self._batch, self._batch, self._reward, self._reward, self._slime, self._program])]

    def connect(self):
        return Connection(self._ports, self._key, self._over)

    def _repeat(self, what, at):
        connection, chance = self.connect(), random.Random(f"{self.tenant} {at}")
        try:
            while not self._over.is_set():
                what(connection, chance)
        except Exception as failed:
            self.record.fault(f"{self.tenant}, {what.__name__}: {failed!r}")

    def _reward(self, connection, _):
        prompt, response, label, right = sample(next(self._numbers))
        began = time.monotonic()
        body = {"plugin": "math@prod", "prompt": prompt, "response": response, "label": label}
        status, answer = connection.call("POST", "/v1/rewards", body, {"Prefer": "wait=60"})
        if status != 200:
            return self.record.fault(f"a single reward: {status} {answer}")
        check(self.record, "a single reward", answer["outcome"], right)
        self.record.count("single rewards")
        self.record.answered(began)

    def _slime(self, connection, _):
        prompt, response, label, right = sample(next(self._numbers))
        began = time.monotonic()
        status, answer = connection.call("POST", "/compat/slime/math@prod/slime",
                                         {"prompt": prompt, "response": response, "label": label})
        if status != 200 or answer != right:
            return self.record.fault(f"slime: {status} {answer} instead of {right}")
        self.record.count("calls of slime")
        self.record.answered(began)

    def _program(self, connection, _):
        number, began = next(self._numbers), time.monotonic()
        status, answer = connection.call("POST", "/compat/sandbox-fusion/run@prod/programs/run_code", {
            "code": f"print({number})", "language": "python", "compile_timeout": 10, "run_timeout": 10})
        # A 4xx or a status other than success says that there is no result; the caller asks again.
        if status == 200 and answer.get("status") == "Success":
            if answer["run_result"]["stdout"] != f"{number}\n":
                return self.record.fault(f"a program: {answer} instead of {number}")
            self.record.count("programs")
            self.record.answered(began)
        elif status == 200 and answer.get("status") == "Failed":
            self.record.fault(f"a program: {answer}")
        else:
            self.record.count("programs without a result")
            self._over.wait(0.5)

    def _batch(self, connection, chance):
        began = time.monotonic()
        announcement = {"plugin": "math@prod", "run": f"chaos-{self.tenant}", "iteration": 1}
        status, batch = connection.call("POST", "/v1/batches", announcement, {"Idempotency-Key": str(uuid.uuid4())})
        if status not in (200, 201):
            return self.record.fault(f"announcing: {status} {batch}")
        path, right, items = f"/v1/batches/{batch['id']}", {}, []
        for at in range(SIZE):
            prompt, response, label, reward = sample(next(self._numbers))
            right[f"{at}"] = reward
            items.append({"key": f"{at}", "prompt": prompt, "response": response, "label": label})
        self.record.batches[batch["id"]] = (self, right)
        for at in range(0, SIZE, CHUNK):
            lines = "".join(json.dumps(item) + "\n" for item in items[at:at + CHUNK]).encode()
            if chance.random() < 0.1:
                connection.cut(f"{path}/requests", lines)
                self.record.count("submits that were cut off")
            status, reply = connection.call("POST", f"{path}/requests", lines,
                                            {"Content-Type": "application/x-ndjson"})
            if status not in (200, 202) or reply["accepted"] + reply["repeated"] != len(items[at:at + CHUNK]):
                return self.record.fault(f"submitting to {batch['id']}: {status} {reply}")
            self.record.count("acknowledged in batches", CHUNK)
        status, reply = connection.call("POST", f"{path}/seal", {"final_count": SIZE})
        if status != 200:
            return self.record.fault(f"sealing {batch['id']}: {status} {reply}")
        self._follow(connection, batch["id"], began)

    def _follow(self, connection, batch, began):
        """The stream to its end, over all the connections that it takes."""
        seen, after, until = set(), 0, time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            for name, cursor, _ in connection.events(f"/v1/batches/{batch}/events", after):
                if name == "request.done":
                    if cursor in seen:
                        self.record.fault(f"{batch}: the stream told of {cursor} twice")
                    seen.add(cursor)
                    after = max(after, cursor)
                    self.record.answered(began)
                elif name == "batch.done":
                    if seen != set(range(1, SIZE + 1)):
                        self.record.fault(f"{batch}: the stream ended with {len(seen)} of {SIZE} requests")
                    return self.record.count("batches that ended")
            self._over.wait(0.2)
        self.record.fault(f"{batch}: open for {PATIENCE_S} s after its seal, {len(seen)} of {SIZE} requests ended")

    def check_batch(self, batch, right):
        """Every acknowledged request once, with the right reward, as the REST interface tells of it now."""
        status, page = self._checking.call("GET", f"/v1/batches/{batch}/results?limit=10000")
        if status != 200 or not page["done"]:
            return self.record.fault(f"{batch}: its results are {status}, done: {page.get('done')}")
        keys = sorted(item["key"] for item in page["items"])
        if keys != sorted(right) or len({item["id"] for item in page["items"]}) != len(right):
            self.record.fault(f"{batch}: {len(keys)} results instead of {len(right)}, or not of its keys")
        for item in page["items"]:
            check(self.record, f"{batch} {item['key']}", item["outcome"], right.get(item["key"]))
        self.record.count("results of batches", len(keys))
