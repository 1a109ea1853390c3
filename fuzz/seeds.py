#!/usr/bin/env python3
"""Writes the inputs that a fuzz target begins with, made of what the repository has for other tests.

    fuzz/seeds.py TARGET FOLDER

Every path that seeds come from is in this file. Seeds are written anew for each run and never committed.
"""

import io
import json
import pickle
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from interface import Interface

ROOT = Path(__file__).resolve().parent.parent
PTX = ["host/ptx/fixtures/*.ptx", "host/gpu/tests/*/*.ptx", "host/gpu/src/cuda/*.ptx"]
SCHEMAS = "plugins/*/src/schema/*.json"
MATH = "plugins/math/sample.jsonl"
CODE = "plugins/code/sample.jsonl"
PYTHON = ["plugins/cuda/tasks/conv_swish_mean/*.py", "plugins/cuda/cheats/*.py", "plugins/cuda/kernelbench/*/*.py"]
PROBLEMS = "tests/problems"
INTERFACE = "web/src/api/schema.d.ts"
# Settings that the target math chooses by a character's number.
MATH_SETTINGS = 15
FILE_BYTES_MAX = 16 << 10


def rows(path: str) -> list[dict]:
    return [json.loads(line) for line in (ROOT / path).read_text().splitlines()]


def ptx() -> Iterator[bytes]:
    for pattern in PTX:
        yield from (path.read_bytes() for path in ROOT.glob(pattern))


def schema() -> Iterator[bytes]:
    labels = [json.dumps(row["label"]) for row in rows(CODE)]
    for path in ROOT.glob(SCHEMAS):
        text = path.read_text()
        for value in ["{}", "[]", "null", *dict.fromkeys(labels)]:
            yield f"{text}\0{value}".encode()
    for rules in (
        {"type": "integer", "minimum": 1},
        {"anyOf": [{"type": "string"}, {"not": {"required": ["a"]}}]},
        {
            "properties": {"a": {"$ref": "#/$defs/b"}},
            "$defs": {"b": {"pattern": "^x+$"}},
            "unevaluatedProperties": False,
        },
    ):
        yield json.dumps(rules).encode() + b'\0{"a": [1, "x", {"b": 2.5}]}'


def math() -> Iterator[bytes]:
    for number, row in enumerate(rows(MATH)):
        setting = chr(ord("A") + number % MATH_SETTINGS)
        yield f"{setting}{row['label']}\0{row['response']}".encode()
        yield f"{setting}{row['label']}".encode()


def packed() -> Iterator[bytes]:
    for row in rows(CODE):
        for protocol in (2, 4):
            yield pickle.dumps([row["label"], row["response"], 7, 1 << 20, 0.5, None, True], protocol)


def python() -> Iterator[bytes]:
    for pattern in PYTHON:
        yield from (path.read_bytes() for path in ROOT.glob(pattern))


def slurm() -> Iterator[bytes]:
    ticket = "0195f0a0-0000-7000-8000-000000000001"
    for columns in (("PENDING", "", "Resources"), ("RUNNING", "n1", "None"), ("TIMEOUT", "n[1-2]", "None")):
        state, nodes, reason = columns
        yield f"17|{state}|{nodes}|assay-c1-cpu-{ticket}|{reason}\n".encode()
    yield b"17;cluster\n"


def wire() -> Iterator[bytes]:
    yield from (bytes([kind]) for kind in range(10))


def trace() -> Iterator[bytes]:
    stages = {"stages": ["a", "b"], "timeout_s": [10, 60], "cost": [1, 2.5]}
    first = {"task": 0, "iteration": 0}
    times = {"rollout_s": 3, "service_s": [1.5, None]}
    for pools in ({}, {"pools": ["gpu", "gpu"], "cost": [2.5, 2.5]}):
        lines = [
            {"kind": "meta", "format": "assay-reward-trace-1", **stages, **pools},
            {"kind": "iteration", **first, "requests": 1, "rollout_start_s": 0, "rollout_end_s": 9.5},
            {"kind": "request", **first, "request": 0, **times, "outcome": "x"},
        ]
        yield "\n".join(map(json.dumps, lines)).encode()
        # The first iteration is not simulated.
        second = {"task": 0, "iteration": 1}
        lines += [
            {"kind": "iteration", **second, "requests": 2, "rollout_start_s": 20, "rollout_end_s": 25},
            {"kind": "request", **second, "request": 0, **times, "outcome": "x"},
            {"kind": "request", **second, "request": 1, "rollout_s": 4, "service_s": [2, 30], "outcome": "x"},
        ]
        yield "\n".join(map(json.dumps, lines)).encode()


def hosts() -> Iterator[bytes]:
    yield from (b"example.com", b"a.b-c_d.example.", b"192.0.2.1", b"[2001:db8::1]", b"127.1", b"0x7f000001")
    yield b"private:http://*.a.example:8080"
    yield b"0195f0a0-0000-7000-8000-000000000001"
    yield b"0123456789abcdef" * 4


def judge() -> Iterator[bytes]:
    said = {"mark": "0123456789abcdef", "reason": "so", "scores": {"right": 1, "clear": 0.5}}
    for text in (json.dumps(said), f"```json\n{json.dumps(said)}\n```"):
        message = {"role": "assistant", "content": text}
        yield json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def long() -> Iterator[bytes]:
    texts = [
        r"\boxed{", r"\frac{1}", "1,", "$", "(", "a^", "<think>", "<answer>", "```python\n", "```\n", "    x\n", "`",
        'R"', "f(", "__global__ ", "/*", "'", "#\\\n", "f'{a}' ", "[", "x = (", "if x:\n ", "@a\n", "# \n", "{{",
    ]
    for plugin in range(6):
        yield from (bytes([plugin, 0, 0]) + text.encode() for text in texts)
        yield bytes([plugin, 128, 64]) + b"a = 'xxxxxxxxxxxxxxxx'\nb = f'{a}{a}'\n"


def form() -> Iterator[bytes]:
    yield b"<think>6 * 7</think> <answer>42</answer>"
    settings = {"sections": ["plan", "code-1"], "starts_after": "a", "cut": ["</s>"], "other_text": True}
    yield json.dumps(settings).encode() + b"\0b a<plan>p</plan>c<code-1>d</code-1></s>"


def extract() -> Iterator[bytes]:
    for row in rows(CODE):
        yield f"{{}}\0{json.dumps(row['label'])}\0{row['response']}".encode()
        yield row["response"].encode()


def package() -> Iterator[bytes]:
    for folder in sorted((ROOT / PROBLEMS).iterdir()):
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "submissions" not in path.parts]
        files = [path for path in files if path.stat().st_size <= FILE_BYTES_MAX]
        contents = {str(path.relative_to(folder)): path.read_bytes() for path in files}
        kind = b"\x01" if "init.yml" in contents else b"\x00"
        yield kind + b"".join(b"=== %s\n%s\n" % (path.encode(), content) for path, content in contents.items())
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", method) as files:
            for name in ("1.in", "1.out", "2.in", "2.out"):
                files.writestr(zipfile.ZipInfo(name), "1 2 3\r\n" * 20, compress_type=method)
        yield b"\x02" + archive.getvalue()


def oidc() -> Iterator[bytes]:
    later = 4_102_444_800
    person = {"sub": "1", "email": "A@example.com", "email_verified": True, "name": "A B"}
    ours = {"iss": "https://id.example", "aud": "assay", "exp": later, "nonce": "n"}
    for change in ({}, {"aud": ["assay", "other"], "azp": "assay"}, {"email_verified": "true", "nbf": 1}, {"exp": 1}):
        yield json.dumps(ours | person | change).encode()
    key = {"kty": "RSA", "kid": "k", "alg": "RS256", "use": "sig", "n": "AQAB", "e": "AQAB"}
    yield json.dumps({"keys": [key]}).encode() + b"\0eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.e30.AAAA"


def submit() -> Iterator[bytes]:
    for number, row in enumerate(rows(MATH)[:20]):
        item = {"key": str(number), "group": "g", "metadata": {"a": [1.5, None]}, **row}
        kept = {name: item[name] for name in ("key", "group", "prompt", "response", "label", "metadata") if name in item}
        yield bytes([7 * number + 1]) + json.dumps(kept).encode() + b'\n{"key":"\\ud83d\\ude00","response":"x"}\r\n\n[1]'


def trainers() -> Iterator[bytes]:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}]
    yield json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": parts}]).encode()
    verified = [{"reward": 1.0, "_ng_task_index": 0, "steps": 3, "ok": True}, {"reward": 0, "mask_sample": True}]
    yield json.dumps({"verify_responses": verified}).encode()
    yield b"null"


def http() -> Iterator[bytes]:
    key = "authorization: Bearer {key}"
    session = "cookie: {cookie}\nx-assay-csrf: {csrf}"
    form = 'content-disposition: form-data; name="component"\r\n\r\na'
    for line, media_type, body in Interface((ROOT / INTERFACE).read_text()).calls():
        headers = f"content-type: {media_type}\n" if media_type else ""
        if media_type == "multipart/form-data":
            headers = f"content-type: {media_type}; boundary=x\n"
            body = f"--x\r\n{form}\r\n--x--\r\n".encode()
        # With every parameter at once, and with none.
        for line in dict.fromkeys((line, line.split("?")[0])):
            yield f"{line}\n{headers}{key}\n\n".encode() + body
        if "/session" in line:
            yield f"{line}\n{headers}{session}\n\n".encode() + body
    yield b"POST /v1/batches\nauthorization: Bearer {key}\nidempotency-key: a\ntraceparent: 00-" + (
        b"0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\nrequest-id: a\n\n"
        b'{"plugin": "p@stable", "run": "s", "settings": {"a": 1}}'
    )
    yield b"GET /v1/batches/{batch}/results?wait=1\nauthorization: Bearer {key}\nprefer: wait=1\naccept: text/csv\n"
    yield b"GET /v1/batches/{batch}/events\nauthorization: Bearer {key}\nlast-event-id: 1\naccept: text/event-stream\n"
    yield b"GET /\naccept: text/html, */*;q=0.1\naccept-encoding: gzip;q=0.5, br\nif-none-match: W/\"a\"\nrange: bytes=0-1\n"
    for path in ("/openapi.json", "/livez", "/readyz", "/assets/a.js", "/v1/runs/r/samples?format=csv"):
        yield f"GET {path}\n{key}\nif-none-match: *\naccept-encoding: gzip\n".encode()
    yield b"POST /compat/{key}/slime/p@1/r;timeout=1;label=a?reward_key=a&extra=b\n\n" b'{"response": "a", "label": {}}'
    yield b"GET /compat/roll/p@1/r/task_result\nxrl-authorization: Bearer {key}\n\n" b'{"reward_request_id": "{request}"}'
    yield b"POST /v1/invitations/accept\norigin: http://localhost\nhost: localhost\n\n" + (
        b'{"token": "{invitation}", "name": "B", "password": "a long password of B"}'
    )
    yield b"POST /v1/session\nx-forwarded-for: 192.0.2.1\n\n" b'{"email": "a@example.com", "password": "another password"}'


TARGETS = {
    "extract": extract,
    "format": form,
    "hosts": hosts,
    "http": http,
    "judge": judge,
    "long": long,
    "math": math,
    "oidc": oidc,
    "package": package,
    "pickle": packed,
    "ptx": ptx,
    "python": python,
    "schema": schema,
    "slurm": slurm,
    "submit": submit,
    "trace": trace,
    "trainers": trainers,
    "wire": wire,
}


def main(target: str, folder: str) -> None:
    for number, seed in enumerate(TARGETS[target]()):
        (Path(folder) / f"{number:04}").write_bytes(seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
