"""Reads JSON as the types that a plugin's hints name, and tells their JSON schema.

Known are `Any`, `None`, `bool`, `int`, `float`, `str`, `list`, `dict`, `tuple`, `Literal`, `Optional`,
`Union`, enumerations and dataclasses, in any combination. Nothing is converted: `"1"` is no `int`, `true`
is no number. An object has all the fields of a dataclass that have no default, and no others.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

_UNIONS: tuple[Any, ...] = (Union, getattr(types, "UnionType", Union))
_SIMPLE: dict[Any, tuple[str, str]] = {
    str: ("string", "a string"),
    bool: ("boolean", "true or false"),
    int: ("integer", "an integer"),
    float: ("number", "a number"),
    type(None): ("null", "null"),
}


class DoesNotFit(ValueError):
    """Says where and what was expected instead."""


def text(source: str, hint: Any, name: str) -> Any:
    """JSON text as a value of the hint's type."""
    try:
        value = json.loads(source)
    except ValueError as problem:
        raise DoesNotFit(f"{name}: no JSON: {problem}") from problem
    return value_as(value, hint, name)


def value_as(value: Any, hint: Any, name: str) -> Any:
    """A value that was read from JSON as one of the hint's type."""
    if hint is Any or hint is object:
        return value
    if hint is None or hint in _SIMPLE:
        return _simple(value, type(None) if hint is None else hint, name)
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in _UNIONS:
        return _one_of(value, arguments, name)
    if origin is Literal:
        if any(value == one and type(value) is type(one) for one in arguments):
            return value
        raise DoesNotFit(f"{name}: {_shown(value)} is none of {', '.join(map(repr, arguments))}")
    if origin is list:
        return _items(_expect(value, list, "a list", name), arguments or (Any,), name)
    if origin is tuple:
        return _tuple(_expect(value, list, "a list", name), arguments, name)
    if origin is dict:
        found = _expect(value, dict, "an object", name)
        inner = arguments[1] if arguments else Any
        return {key: value_as(found[key], inner, f"{name}.{key}") for key in found}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _member(value, hint, name)
    if dataclasses.is_dataclass(hint):
        return _record(_expect(value, dict, "an object", name), hint, name)
    raise unknown(hint)


def plain(value: Any) -> Any:
    """Dataclasses as the objects that they are read from."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def schema(hint: Any) -> dict[str, Any]:
    """The JSON schema of a hint; `TypeError` where it is none that can be read."""
    if hint is Any or hint is object:
        return {}
    if hint is None or hint in _SIMPLE:
        return {"type": _SIMPLE[type(None) if hint is None else hint][0]}
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in _UNIONS:
        return {"anyOf": [schema(one) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": schema(arguments[0] if arguments else Any)}
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return {"type": "array", "items": schema(arguments[0])}
        count = len(arguments)
        items = [schema(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema(arguments[1] if arguments else Any)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint):
        return _record_schema(hint)
    raise unknown(hint)


def unknown(hint: Any) -> TypeError:
    return TypeError(
        f"`{hint!r}` is no type that JSON is read as: use bool, int, float, str, list, dict, tuple,"
        " Literal, Optional, Union, an Enum, a dataclass or Any"
    )


def _record_schema(hint: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(hint)
    properties: dict[str, Any] = {}
    for one in dataclasses.fields(hint):
        properties[one.name] = schema(hints[one.name])
        if one.default is not dataclasses.MISSING:
            properties[one.name]["default"] = plain(one.default)
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [one.name for one in dataclasses.fields(hint) if not _has_default(one)]
    return {**made, "required": required} if required else made


def _has_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def _simple(value: Any, hint: Any, name: str) -> Any:
    if hint is float and type(value) is int:
        return float(value)
    return _expect(value, hint, _SIMPLE[hint][1], name)


def _expect(value: Any, kind: type, words: str, name: str) -> Any:
    # `bool` is an `int` for Python, not for JSON.
    if type(value) is kind:
        return value
    raise DoesNotFit(f"{name}: {words} is expected, not {_shown(value)}")


def _one_of(value: Any, hints: tuple[Any, ...], name: str) -> Any:
    problems = []
    for hint in hints:
        try:
            return value_as(value, hint, name)
        except DoesNotFit as problem:
            problems.append(str(problem))
    raise DoesNotFit("; or ".join(dict.fromkeys(problems)))


def _items(found: list[Any], arguments: tuple[Any, ...], name: str) -> list[Any]:
    return [value_as(one, arguments[0], f"{name}[{at}]") for at, one in enumerate(found)]


def _tuple(found: list[Any], arguments: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not arguments:
        return tuple(found)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_items(found, arguments, name))
    if len(found) != len(arguments):
        raise DoesNotFit(f"{name}: {len(arguments)} items are expected, not {len(found)}")
    return tuple(value_as(one, hint, f"{name}[{at}]") for at, (one, hint) in enumerate(zip(found, arguments)))


def _member(value: Any, hint: type[enum.Enum], name: str) -> enum.Enum:
    for member in hint:
        if member.value == value and type(member.value) is type(value):
            return member
    known = ", ".join(repr(member.value) for member in hint)
    raise DoesNotFit(f"{name}: {_shown(value)} is none of {known}")


def _record(found: dict[str, Any], hint: Any, name: str) -> Any:
    hints = typing.get_type_hints(hint)
    fields = {one.name: one for one in dataclasses.fields(hint)}
    for key in found:
        if key not in fields:
            raise DoesNotFit(f"{name}: there is no `{key}`, but {', '.join(fields)}")
    for key, one in fields.items():
        if key not in found and not _has_default(one):
            raise DoesNotFit(f"{name}: `{key}` is missing")
    try:
        return hint(**{key: value_as(found[key], hints[key], f"{name}.{key}") for key in found})
    except DoesNotFit:
        raise
    except ValueError as problem:
        # What a dataclass checks itself, in `__post_init__`.
        raise DoesNotFit(f"{name}: {problem}") from problem


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
