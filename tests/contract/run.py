#!/usr/bin/env python3
"""Tries the whole REST interface against its own OpenAPI document, by schemathesis.

Starts a server of its own in a folder of its own, makes a tenant with a plugin, batches and people,
and calls every operation as the platform's administrator, as a trainer, and as a person by cookie.
Fails when an answer is a 5xx or breaks the document, or when the server's log has an error.

    tests/contract/run.py [--long]      with the programs of $CARGO_TARGET_DIR or target
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
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or HERE.parents[1] / "target").resolve()
TOOL = pathlib.Path(os.environ.get("CONTRACT_TOOL") or TARGET / "contract-venv/bin/schemathesis")
READY_WITHIN_S = 60
EMAIL, PASSWORD = "person@contract.example", "correct horse battery staple"
# Calls of one operation in one phase.
EXAMPLES = {"short": {"key": 12, "trainer": 5, "cookie": 6}, "long": 200}
SEED = 20260
LIVE_BATCHES = 12
SPARE_KEYS = 8
# What nobody can generate: tokens that are shown once, passwords, components, an OpenID provider,
# bounds of pools that fit a batch, a channel that pointed elsewhere before, a worker that joined, incidents,
# the scopes that a personal key may have, a webhook to a host that was granted; and a spare key that none of the
# pass's many calls has revoked yet.
NEVER = {
    "POST /v1/session", "POST /v1/bootstrap", "POST /v1/invitations/accept", "POST /v1/plugins",
    "GET /v1/session/oidc", "GET /v1/session/oidc/callback", "POST /v1/session/password",
    "POST /v1/simulations", "POST /v1/plugins/{name}/channels/{channel}/rollback",
    "DELETE /v1/workers/remote/{id}", "POST /v1/keys/{id}/rotate",
    "POST /v1/incidents/{id}/acknowledge", "POST /v1/incidents/{id}/reopen",
    "POST /v1/session/keys", "POST /v1/session/keys/{id}/revoke",
    "POST /v1/webhooks", "POST /v1/webhooks/{id}/test", "GET /v1/webhooks/{id}/deliveries",
    "DELETE /v1/webhooks/{id}",
}
REFUSED = {
    "key": NEVER | {"DELETE /v1/session", "POST /v1/session/tenant", "GET /v1/session/keys"},
    "trainer": set(),
    "cookie": NEVER,
}
# The tags of calls that are not tried here.
PROTOCOLS = {"llama-factory", "nemo-gym", "open-instruct", "openrlhf", "roll", "sandbox-fusion", "slime"}
# What a trainer's key is for; of everything else it must be refused.
TRAINERS = {
    "POST /v1/batches", "GET /v1/batches/{id}", "POST /v1/batches/{id}/requests",
    "POST /v1/batches/{id}/seal", "POST /v1/batches/{id}/cancel", "GET /v1/batches/{id}/results",
    "GET /v1/batches/{id}/events", "POST /v1/rewards", "GET /v1/requests/{id}", "GET /v1/plugins",
}


class Server:
    """A server and what is called through its REST interface."""

    def __init__(self, folder):
        self.log = folder / "log"
        ready = folder / "ready.json"
        options = ["--listen", "127.0.0.1:0", "--environment", "contract", "--workers", "cpu=2",
                   "--worker-listen", "127.0.0.1:0"]
        places = ["--data", str(folder / "data"), "--ready-file", str(ready)]
        environment = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "ASSAY_DATA")}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [TARGET / "debug/assay", "serve", *options, *places],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        until = time.monotonic() + READY_WITHIN_S
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                sys.exit(f"contract: the server does not start:\n{self.log.read_text()}")
            time.sleep(0.05)
        facts = json.loads(ready.read_text())
        self.url, self.key = facts["url"], facts["key"]

    def call(self, method, path, body=None, kind="application/json", key=None, headers=None):
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {"content-type": kind, **(headers or {})}
        if not headers:
            sent["authorization"] = f"Bearer {key or self.key}"
        call = urllib.request.Request(self.url + path, data=data, headers=sent, method=method)
        try:
            with urllib.request.urlopen(call, timeout=60) as answer:
                text = answer.read()
                self.cookie = answer.headers.get("set-cookie")
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            sys.exit(f"contract: {method} {path}: {error}: {error.read().decode()}")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=60)


def make_world(server):
    """Things to ask for, and others in the place of those that the run itself stands on."""
    call = server.call
    plugins = TARGET / "wasm32-wasip2/plugin"
    versions = set()
    for file in ("assay_plugin_math", "assay_plugin_hello", "examples/trivial"):
        component = (plugins / f"{file}.wasm").read_bytes()
        plugin = call("POST", "/v1/plugins", component, "application/wasm")
        versions.add(plugin["version"])
        call("PUT", f"/v1/plugins/{plugin['name']}/channels/prod", {"version": plugin["version"]})
    call("POST", "/v1/tenants", {"name": "spare"})
    spare_key = {"name": "spare", "scopes": ["batches:read"]}
    spares = [call("POST", "/v1/keys", spare_key)["id"] for _ in range(SPARE_KEYS)]
    trainer = call("POST", "/v1/keys", {
        "name": "trainer", "scopes": ["batches:write", "batches:read", "plugins:publish"]})
    own = next(key for key in call("GET", "/v1/keys")["items"] if key["prefix"] in server.key)
    person = call("POST", "/v1/members", {"email": EMAIL, "role": "admin"})
    accepted = {"token": person["invitation"]["token"], "password": PASSWORD, "name": "A Person"}
    call("POST", "/v1/invitations/accept", accepted)
    other = call("POST", "/v1/members", {"email": "spare@contract.example", "role": "viewer"})
    stand_ins = {
        own["id"]: spares[0], trainer["id"]: spares[0], person["person"]: other["person"],
        # Without quota or workers every other call would end the same way.
        "platform": "spare", "cpu": "spare",
    }
    versions = sorted(versions)
    words = {
        "path.stage": ["extract"], "path.run": ["first"], "path.channel": ["prod"],
        "path.name": ["math", "math", "trivial", "spare"], "path.version": versions,
        "path.pool": ["cpu", "spare"], "path.person": [other["person"]],
        "body.plugin": ["math@prod"], "body.version": versions, "body.tenant": ["platform", "spare"],
        "body.email": ["new@contract.example"], "body.reason": ["it is wrong"],
        "body.policy": ["assay", "distrs"],
    }
    return {"url": server.url, "stand_ins": stand_ins,
            # What is yanked scores no more.
            "yanked": {"math": "trivial", "hello": "trivial"}, "words": words, "spare_keys": spares,
            "trainer": trainer["secret"],
            # Now: wrong passwords of the passes make the server refuse more tries.
            "session": sign_in(server), "session_to_end": sign_in(server)}


def make_batches(server):
    """Ids of what a pass may follow, seal, cancel: the pass before has ended its own."""
    call = server.call
    batch = {"plugin": "math@prod", "run": "first", "iteration": 1, "expected_size": 2}
    done, *live = (call("POST", "/v1/batches", batch)["id"] for _ in range(1 + LIVE_BATCHES))
    items = [{"key": str(key), "response": "A: 42", "label": 42} for key in range(2)]
    call("POST", f"/v1/batches/{done}/requests", items)
    wait = {"authorization": f"Bearer {server.key}", "prefer": "wait=60"}
    call("GET", f"/v1/batches/{done}", headers=wait)
    # Each pass asks the same, and what did not run left no artifact.
    reward = {"plugin": "hello@prod", "response": "Answer: 42", "label": "42", "share_equal": False}
    return done, live, call("POST", "/v1/rewards", reward)["id"]


def sign_in(server):
    call = {"email": EMAIL, "password": PASSWORD}
    session = server.call("POST", "/v1/session", call, headers={"accept": "application/json"})
    return {"Cookie": server.cookie.split(";")[0], "X-Assay-Csrf": session["csrf"]}


def configuration(words, ids, headers, ended):
    """What there is, for more than half of the calls; the rest ask for what never was."""
    text = (HERE / "schemathesis.toml").read_text()
    for name, values in [*words.items(), *ids.items()]:
        text += f"\n[dictionaries.{dictionary(name)}]\nvalues = {json.dumps(values)}\n"
    text += f"\n[headers]\n{table(headers)}"
    text += f'\n[[operations]]\ninclude-name = "DELETE /v1/session"\n[operations.headers]\n{table(ended)}'
    text += "\n[parameters]\n"
    for name in words:
        text += f'"{name}" = {{ dictionary = "{dictionary(name)}", probability = 0.6 }}\n'
    for prefix in ids:
        text += f"""
[[operations]]
include-path-regex = "^/v1/{prefix}/"
parameters = {{ "path.id" = {{ dictionary = "{dictionary(prefix)}", probability = 0.7 }} }}
"""
    return text


def table(pairs):
    return "".join(f"{json.dumps(name)} = {json.dumps(value)}\n" for name, value in pairs.items())


def dictionary(name):
    return name.replace(".", "-")


def without_protocols(document):
    """The document without the protocols of trainers.

    A drawn call of theirs opens a batch of its own, waits until its plugin has answered, and is answered
    as that plugin and the trainer's client have it. tests/tests/compat calls them as those clients do.
    """
    def is_protocol(operation):
        return bool(PROTOCOLS & set(operation.get("tags", [])))
    paths = document["paths"]
    found = {tag for item in paths.values() for operation in item.values() for tag in operation.get("tags", [])}
    if not PROTOCOLS <= found:
        sys.exit(f"contract: the document has no tag {', '.join(sorted(PROTOCOLS - found))}")
    kept = {path: {method: operation for method, operation in item.items() if not is_protocol(operation)}
            for path, item in paths.items()}
    return document | {"paths": {path: item for path, item in kept.items() if item}}


def attempt(server, name, headers, examples, folder, world):
    """One pass over all operations; returns whether everything held."""
    done, live, request = make_batches(server)
    ids = {"batches": [done, *live], "requests": [request], "keys": world["spare_keys"]}
    world_file, config = folder / f"{name}.json", folder / f"{name}.toml"
    calls = folder / f"{name}.calls"
    # A session of its own to be ended, where there are sessions.
    ended = world["session_to_end"] if name == "cookie" else headers
    world_file.write_text(json.dumps({
        **world, "calls": str(calls)}))
    words = {**world["words"], "body.batch": [done]}
    config.write_text(configuration(words, ids, headers, ended))
    command = [TOOL, "--config-file", config, "run", folder / "openapi.json", "--url", world["url"],
               "--seed", str(SEED), "--max-examples", str(examples), "--workers", "1", "--no-shrink",
               "--output-sanitize", "true"]
    environment = {
        **os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE),
        "CONTRACT_WORLD": str(world_file), "PYTHONDONTWRITEBYTECODE": "1"}
    print(f"\n-- contract: as {name}", flush=True)
    started = time.monotonic()
    tried = subprocess.run(command, env=environment, cwd=folder, check=False)
    print(f"-- contract: as {name}: {time.monotonic() - started:.0f} s", flush=True)
    # Dies if the pass has taken its own credentials away.
    server.call("GET", "/v1/session", headers=headers)
    return saw_enough(name, calls) and tried.returncode == 0


def saw_enough(name, calls):
    """A pass that is only ever refused has tried nothing."""
    answers = {}
    for line in calls.read_text().splitlines():
        label, status = line.split("\t")
        answers.setdefault(label, set()).add(status)
    refused = {label for label, seen in answers.items() if not any(s[0] == "2" for s in seen)}
    blind = sorted(refused & (TRAINERS if name == "trainer" else refused) - REFUSED[name])
    # What can be done once was done by the pass before.
    blind = [label for label in blind if name != "cookie" or label.startswith("GET ")]
    for label in blind:
        print(f"contract: as {name}: no call of {label} succeeded: {sorted(answers[label])}")
    return not blind


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--long", action="store_true", help="many more calls of each operation")
    arguments.add_argument("--only", choices=("key", "trainer", "cookie"), help="one pass alone")
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-contract-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o711)
        server = Server(folder)
        try:
            world = make_world(server)
            document = without_protocols(server.call("GET", "/openapi.json"))
            (folder / "openapi.json").write_text(json.dumps(document))
            passes = {
                "key": {"Authorization": f"Bearer {server.key}"},
                "trainer": {"Authorization": f"Bearer {world['trainer']}"},
                "cookie": world["session"],
            }
            held = []
            for name, headers in passes.items():
                if arguments.only in (None, name):
                    examples = EXAMPLES["long"] if arguments.long else EXAMPLES["short"][name]
                    held.append(attempt(server, name, headers, examples, folder, world))
        finally:
            server.stop()
        # A refused query, a panic: whatever was answered, somebody should look.
        log = re.sub(r"\x1b\[[0-9;]*m", "", server.log.read_text())
        errors = [line for line in log.splitlines() if re.search(r"\bERROR\b|panicked", line)]
        for line in errors[:20]:
            print(f"contract: the server's log: {line}")
        failed = held.count(False) + bool(errors)
        print(f"contract: {held.count(True)} passed, {failed} failed")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
