"""The calls of the REST interface and of trainers' protocols, read from the dashboard's types of the OpenAPI document.

Each has a value for every parameter and every member of its body: of the type that the document says, and for the names
in `NAMED` what the server of the target has (targets/http/server.rs).
"""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

Type = tuple[str, Any]

METHODS = ("get", "put", "post", "delete", "patch")
# Keys are a name alone, or a name after a part of the path.
NAMED = {
    "batches id": "{batch}",
    "requests id": "{request}",
    "keys id": "{key-id}",
    "webhooks id": "{webhook}",
    "incidents id": "1",
    "remote id": "{batch}",
    "workers id": "1",
    "plugins name": "p",
    "tenants name": "other",
    "batch": "{batch}",
    "channel": "stable",
    "email": "b@example.com",
    "expires_at": "2100-01-01T00:00:00Z",
    "from": "2026-01-01T00:00:00Z",
    "person": "{person}",
    "plugin": "p@1",
    "pool": "cpu",
    "run": "r",
    "since": "2026-01-01T00:00:00Z",
    "stage": "score",
    "tenant": "main",
    "to": "2027-01-01T00:00:00Z",
    "url": "https://hooks.example.com/",
    "version": "1",
}
# The bodies of seeds must not end what other seeds use.
SPARED = {"/v1/batches/{id}/cancel": "{ended}", "/v1/batches/{id}/seal": "{ended}", "/yank": "2"}
DEPTH_MAX = 6


class Reader:
    """Reads the types that `openapi-typescript` writes."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        self.tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[\w$.-]+|\S', text)
        self.at = 0

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, token: str) -> bool:
        is_next = self.at < len(self.tokens) and self.tokens[self.at] == token
        self.at += is_next
        return is_next

    def interfaces(self) -> dict[str, Type]:
        found: dict[str, Type] = {}
        while self.at < len(self.tokens):
            kind = self.next()
            if kind in ("interface", "type"):
                name = self.next()
                self.take("=")
                found[name] = self.union()
        return found

    def union(self) -> Type:
        self.take("|")
        parts = [self.both()]
        while self.take("|"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else ("union", parts)

    def both(self) -> Type:
        parts = [self.suffixed()]
        while self.take("&"):
            parts.append(self.suffixed())
        return parts[0] if len(parts) == 1 else ("both", parts)

    def suffixed(self) -> Type:
        kind = self.single()
        while self.take("["):
            if self.take("]"):
                kind = ("list", kind)
            else:
                kind = ("member", (kind, self.next().strip('"')))
                self.take("]")
        return kind

    def single(self) -> Type:
        token = self.next()
        if token == "{":
            return self.members()
        if token == "(":
            kind = self.union()
            self.take(")")
            return kind
        if self.take("<"):
            while not self.take(">"):
                self.next()
            return "object", {}
        if token[0] == '"':
            return "value", json.loads(token)
        return "name", token

    def members(self) -> Type:
        found = {}
        while not self.take("}"):
            name = self.next().strip('"')
            if name == "[":
                while not self.take("]"):
                    name = self.next()
                name = "cpu"
            self.take("?")
            self.take(":")
            found[name] = self.union()
            self.take(";")
        return "object", found


class Interface:
    def __init__(self, text: str) -> None:
        self.types = Reader(text).interfaces()

    def resolve(self, kind: Type) -> Type:
        if kind[0] == "member":
            of, name = kind[1]
            return self.resolve(self.resolve(of)[1][name])
        if kind[0] == "name" and kind[1] in self.types:
            return self.resolve(self.types[kind[1]])
        return kind

    def member(self, kind: Type, *names: str) -> Type:
        for name in names:
            kind = self.resolve(kind)
            if kind[0] != "object":
                return "name", "never"
            kind = kind[1].get(name, ("name", "never"))
        return self.resolve(kind)

    def value(self, kind: Type, name: str = "", depth: int = 0) -> Any:
        what, of = kind = self.resolve(kind)
        if depth > DEPTH_MAX:
            return None
        if what == "object":
            return {name: self.value(kind, name, depth + 1) for name, kind in of.items()}
        if what == "both":
            values = [self.value(part, name, depth + 1) for part in of]
            return {name: value for part in values if isinstance(part, dict) for name, value in part.items()}
        if what == "union":
            wanted = [part for part in of if part not in (("name", "null"), ("name", "never"))]
            return self.value(wanted[0], name, depth)
        if what == "list":
            return [self.value(of, name, depth + 1)]
        if what == "value":
            return of
        return {"string": NAMED.get(name, "a"), "number": 1, "boolean": True, "unknown": {"a": 1}}.get(of)

    def calls(self) -> Iterator[tuple[str, str, str, bytes]]:
        """The method and the path with a query, the body's media type, and the body."""
        for path, item in self.types["paths"][1].items():
            for method in METHODS:
                operation = self.member(item, method)
                if operation[0] != "object":
                    continue
                parameters = self.member(operation, "parameters", "query")
                query = self.value(parameters) if parameters[0] != "name" else {}
                pairs = "&".join(f"{name}={text(value)}" for name, value in (query or {}).items())
                bodies = self.member(operation, "requestBody", "content")
                line = f"{method.upper()} {fill(path)}{'?' if pairs else ''}{pairs}"
                if bodies[0] != "object":
                    yield line, "", b""
                    continue
                for media_type, kind in bodies[1].items():
                    yield line, media_type, json.dumps(self.value(kind)).encode()


def text(value: Any) -> str:
    if isinstance(value, list):
        return text(value[0])
    return value if isinstance(value, str) else json.dumps(value)


def fill(path: str) -> str:
    """The path with a value for each of its parameters."""
    spared = next((value for end, value in SPARED.items() if path.endswith(end)), None)
    parts = path.split("/")
    if spared:
        last = max(number for number, part in enumerate(parts) if part.startswith("{"))
        parts[last] = spared
    for number, (before, part) in enumerate(itertools.pairwise(path.split("/")), 1):
        name = part.strip("{}")
        if part.startswith("{") and parts[number] == part:
            parts[number] = NAMED.get(f"{before} {name}", NAMED.get(name, "a"))
    return "/".join(parts)
