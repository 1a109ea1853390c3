#!/usr/bin/env python3
"""Writes src/assay/_models.py from the server's OpenAPI document: the shapes that the client uses.

    generate.py OPENAPI.json            writes the file
    generate.py --check OPENAPI.json    fails when the file is not what would be written

What the server sends becomes a frozen dataclass with `from_json`, what it is sent a TypedDict. A field
that is new is passed over, a value of an enumeration that is new goes through as a string, a variant
that is new is an error: nobody may take it for a reward.
"""

import json
import keyword
import pathlib
import re
import sys
import textwrap

FILE = pathlib.Path(__file__).resolve().parent / "src/assay/_models.py"
RECEIVED = [
    "Batch",
    "SubmitReply",
    "ResultItem",
    "ResultsPage",
    "Reward",
    "Request",
    "Plugin",
    "PluginList",
    "GoldenCaseList",
    "RunList",
    "RunView",
    "Sample",
    "SampleList",
    "SolveRates",
    "Problem",
    "StreamEvent",
]
SENT = ["AnnounceBatch", "SubmitItem", "SealBatch", "RewardRequest"]
HEAD = '''"""The REST interface's shapes. Written by `make python-api`; never edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

from assay._checked import flag, integer, items, mapping, number, record, text, unknown

'''
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
CHECKED = {"string": "text", "integer": "integer", "number": "number", "boolean": "flag"}


class Shapes:
    """The document's schemas, and the Python of those that are asked for, each once."""

    def __init__(self, document):
        self.schemas = document["components"]["schemas"]
        self.done = {}

    def receive(self, name):
        if name in self.done:
            return
        schema = self.schemas[name]
        self.done[name] = ""
        if "enum" in schema:
            self.done[name] = self.enumeration(name, schema)
        elif "oneOf" in schema:
            self.done[name] = self.union(name, schema)
        else:
            self.done[name] = self.dataclass(name, schema, [])

    @staticmethod
    def enumeration(name, schema):
        values = "\n".join(f"    {json.dumps(value)}," for value in schema["enum"])
        return f"{name}: TypeAlias = Literal[\n{values}\n]\n"

    def union(self, name, schema):
        """A union of variants that a `kind` tells apart."""
        variants = {}
        body = ""
        for variant in schema["oneOf"]:
            merged = {"type": "object", "properties": {}, "required": []}
            for part in variant.get("allOf", [variant]):
                if "$ref" in part:
                    part = self.schemas[self.named(part)]
                merged["properties"] |= part["properties"]
                merged["required"] += part.get("required", [])
            kind = merged["properties"].pop("kind")["enum"][0]
            merged["required"] = [field for field in merged["required"] if field != "kind"]
            variants[kind] = name + "".join(word.title() for word in kind.split("_"))
            tag = [f"    kind: Literal[{json.dumps(kind)}] = {json.dumps(kind)}"]
            text = self.dataclass(variants[kind], {**variant, **merged}, tag)
            body += text + "\n\n"
        body += f"{name}: TypeAlias = {' | '.join(variants.values())}\n\n\n"
        body += f"def read_{snake(name)}(value: Any) -> {name}:\n"
        body += '    """The variant that the value\'s `kind` names."""\n'
        body += '    kind = record(value).get("kind")\n'
        for kind, variant in variants.items():
            body += f'    if kind == "{kind}":\n        return {variant}.from_json(value)\n'
        return body + f'    raise unknown("{name}", kind)\n'

    def dataclass(self, name, schema, tag):
        required = set(schema.get("required", []))
        fields = {}
        for field, of in schema["properties"].items():
            kind, read = self.received(of, field in required)
            fields[field] = (kind, read, default_of(of, field in required), of.get("description"))
        lines = ["@dataclass(frozen=True, slots=True)", f"class {name}:"]
        lines += doc(schema.get("description"), f"`{name}` of the REST interface.")
        for field, (kind, _, default, said) in sorted(fields.items(), key=lambda f: f[1][2] != ""):
            lines += comment(said)
            lines.append(f"    {safe(field)}: {kind}{default}")
        lines += tag
        lines += ["", "    @classmethod", f"    def from_json(cls, value: Any) -> {name}:"]
        lines.append("        value = record(value)")
        lines.append("        return cls(")
        for field, (_, read, _, _) in fields.items():
            value = f'value["{field}"]' if field in required else f'value.get("{field}")'
            lines.append(f"            {safe(field)}={read(value)},")
        return "\n".join([*lines, "        )"]) + "\n"

    def received(self, schema, required):
        """The Python type of a field, and how its JSON is read."""
        schema, nullable = not_null(schema)
        kind, read = self.present(schema)
        if required and not nullable:
            return kind, read
        empty = {"object": "{}", "string": '""'}.get(schema.get("type", ""))
        if empty is not None and not nullable:
            return kind, lambda value: read(f"{value} or {empty}")
        if kind == "Any":
            return kind, read
        return f"{kind} | None", lambda value: f"None if (it := {value}) is None else {read('it')}"

    def present(self, schema):
        if "$ref" in schema:
            name = self.named(schema)
            self.receive(name)
            referred = self.schemas[name]
            if "enum" in referred:
                return f"{name} | str", lambda value: f"text({value})"
            if "oneOf" in referred:
                return name, lambda value: f"read_{snake(name)}({value})"
            return name, lambda value: f"{name}.from_json({value})"
        kind = schema.get("type")
        if kind in PLAIN:
            return PLAIN[kind], lambda value: f"{CHECKED[kind]}({value})"
        if kind == "array":
            of, read = self.received(schema["items"], True)
            return f"list[{of}]", lambda value: f"[{read('item')} for item in items({value})]"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            of, read = self.received(schema["additionalProperties"], True)
            each = f"{{name: {read('item')} for name, item in mapping(%s)}}"
            return f"dict[str, {of}]", lambda value: each % value
        if kind == "object":
            return "dict[str, Any]", lambda value: f"record({value})"
        return "Any", lambda value: value

    def send(self, name):
        schema = self.schemas[name]
        required = set(schema.get("required", []))
        fields = schema["properties"].items()
        lines = []
        needed = [item for item in fields if item[0] in required]
        lines += [f"class _{name}Required(TypedDict):"]
        lines += [f"    {field}: {self.sent(of)}" for field, of in needed] or ["    pass"]
        lines += ["", "", f"class {name}(_{name}Required, total=False):"]
        lines += doc(schema.get("description"), "")
        lines += [
            line
            for field, of in fields
            if field not in required
            for line in [*comment(of.get("description")), f"    {field}: {self.sent(of)}"]
        ]
        self.done[name] = "\n".join(lines) + "\n"

    def sent(self, schema):
        schema, _ = not_null(schema)
        if "$ref" in schema and "properties" in self.schemas[self.named(schema)]:
            name = self.named(schema)
            self.send(name)
            return name
        return self.present(schema)[0]

    @staticmethod
    def named(schema):
        return schema["$ref"].rsplit("/", 1)[1]


def not_null(schema):
    """A schema without its null, and whether it had one."""
    if isinstance(schema.get("type"), list):
        kinds = [kind for kind in schema["type"] if kind != "null"]
        rest = {**schema, "type": kinds[0]} if len(kinds) == 1 else {}
        return rest, "null" in schema["type"]
    if "oneOf" in schema:
        rest = [of for of in schema["oneOf"] if of.get("type") != "null"]
        if len(rest) == 1:
            return rest[0], True
    return schema, False


def default_of(schema, required):
    """The default of a field that may be left out."""
    if required:
        return ""
    if schema.get("type") == "string":
        return ' = ""'
    if schema.get("type") == "object":
        return " = field(default_factory=dict)"
    return " = None"


def doc(said, otherwise):
    text = " ".join((said or otherwise).replace("\\", "\\\\").split())
    if len(text) <= 88:
        return [f'    """{text}"""', ""]
    return [
        '    """',
        *textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    "),
        '    """',
        "",
    ]


def comment(said):
    return textwrap.wrap(
        " ".join((said or "").split()), 92, initial_indent="    #: ", subsequent_indent="    #: "
    )


def safe(field):
    """A name for Python: no keyword, and none that hides a builtin."""
    if field == "type":
        return "kind"
    return f"{field}_" if keyword.iskeyword(field) else field


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def module(document):
    shapes = Shapes(document)
    for name in RECEIVED:
        shapes.receive(name)
    for name in SENT:
        shapes.send(name)
    # Aliases are values: what they stand for must be there before them.
    text = HEAD + "\n\n".join(shapes.done[name] for name in sorted(shapes.done))
    exported = sorted(
        {
            *re.findall(r"^class ([A-Z]\w+)", text, re.M),
            *re.findall(r"^(\w+): TypeAlias", text, re.M),
        }
    )
    names = "".join(f'    "{name}",\n' for name in exported)
    return f"{text}\n\n__all__ = [\n{names}]\n"


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    written = module(json.loads(pathlib.Path(arguments[-1]).read_text()))
    if not check:
        FILE.write_text(written)
    elif FILE.read_text() != written:
        sys.exit("the Python client's models are not the server's: run `make python-api`")


if __name__ == "__main__":
    main()
