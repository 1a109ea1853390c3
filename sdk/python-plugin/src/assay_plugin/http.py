"""Requests to other hosts: those that an administrator granted to the tenant, and no others.

    answer = http.post("https://api.example.com/v1/score", json={"text": response}, secret="example")
    if answer.status != 200:
        raise Unavailable(f"the scorer answered with the status {answer.status}")
    return Scored(float(answer.json()["score"]), "scored")

Importing this module is asking for the capability. A plugin that sends requests is `deterministic=False`, unless its
answers never change. Requests end a second before the stage does (a tenth of its time, where that is less): a request
without an answer raises, and must never be made a reward.

Only a component has a host to call: natively these functions raise `NotImplementedError`; a test replaces them
(`unittest.mock.patch`).
"""

from __future__ import annotations

import json as _json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from componentize_py_types import Err
from wit_world.imports import http_types as _types
from wit_world.imports import io_streams as _streams
from wit_world.imports import monotonic_clock as _clock
from wit_world.imports.http_handler import handle as _handle

from .errors import BadSettings, Internal, Unavailable

ANSWER_BYTES_MAX = 1 << 20
"""The bytes of an answer that are read unless a request allows more."""
_WRITE_BYTES_MAX = 4_096
_READ_BYTES = 64 << 10
_SECRET = "assay-secret"
_METHODS = {
    "GET": _types.Method_Get,
    "HEAD": _types.Method_Head,
    "POST": _types.Method_Post,
    "PUT": _types.Method_Put,
    "DELETE": _types.Method_Delete,
    "OPTIONS": _types.Method_Options,
    "PATCH": _types.Method_Patch,
}


class Invalid(Internal):
    """No request that anybody can send: an address, a header or a method. The plugin's fault."""


class Denied(BadSettings):
    """The tenant was not granted the host, its address or the secret. The settings' fault."""


class NoAnswer(Unavailable):
    """No complete answer came in time. Nobody's fault: the platform tries again."""


class TooLarge(Internal):
    """More bytes or requests than a call may send or read. The plugin's fault."""


@dataclass(frozen=True)
class Answer:
    """A whole answer, whatever its status. Redirects are answers like others."""

    status: int
    headers: list[tuple[str, bytes]]
    """Names in lower case."""
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of this name, or None."""
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value.decode("latin-1")
        return None

    def text(self) -> str:
        """The body as text; `NoAnswer` if it is none."""
        try:
            return self.body.decode("utf-8")
        except ValueError as problem:
            raise NoAnswer(f"the answer is not as expected: {problem}") from None

    def json(self) -> Any:
        """The body as JSON; `NoAnswer` if it is none."""
        try:
            return _json.loads(self.body)
        except ValueError as problem:
            raise NoAnswer(f"the answer is not as expected: {problem}") from None


def get(url: str, **options: Any) -> Answer:
    """`send` with the method GET."""
    return send("GET", url, **options)


def post(url: str, **options: Any) -> Answer:
    """`send` with the method POST."""
    return send("POST", url, **options)


def send(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    body: bytes = b"",
    json: Any = None,
    secret: str | None = None,
    timeout_ms: int | None = None,
    answer_bytes_max: int = ANSWER_BYTES_MAX,
) -> Answer:
    """Sends a request and reads its whole answer.

    `json` is a body instead of `body`, and sets the content type. `secret` names a secret that the host puts on the
    request; the plugin never sees it. `timeout_ms` is the limit of the wait for the answer to begin, and of each wait
    for its next part. An answer of more than `answer_bytes_max` bytes raises `TooLarge`.
    """
    named = headers.items() if isinstance(headers, Mapping) else headers
    fields = [(name.lower(), value.encode("latin-1")) for name, value in named]
    if json is not None:
        body = _json.dumps(json).encode()
        fields.append(("content-type", b"application/json"))
    if secret is not None:
        fields.append((_SECRET, secret.encode()))
    outgoing = _outgoing(method, url, fields)
    sink = _taken(outgoing.body, "it has no body")
    try:
        future = _handle(outgoing, _options(timeout_ms))
    except Err as problem:
        raise _failed(problem.value) from None
    _write(sink, body)
    with future.subscribe() as answered:
        answered.block()
    with future:
        incoming = _response(future.get())
    return _read(incoming, answer_bytes_max)


def sleep_ms(span_ms: int) -> None:
    """Waits, to try again later; less where the stage's time for requests ends before."""
    with _clock.subscribe_duration(span_ms * 1_000_000) as over:
        over.block()


def _invalid(problem: str) -> Invalid:
    return Invalid(f"the request cannot be sent: {problem}")


def _taken(call: Any, problem: str, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Err:
        raise _invalid(problem) from None


def _options(timeout_ms: int | None) -> Any:
    if timeout_ms is None:
        return None
    options = _types.RequestOptions()
    span = timeout_ms * 1_000_000
    for limit in (
        options.set_connect_timeout,
        options.set_first_byte_timeout,
        options.set_between_bytes_timeout,
    ):
        _taken(limit, "its timeout is not taken", span)
    return options


def _outgoing(method: str, url: str, fields: list[tuple[str, bytes]]) -> Any:
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("http", "https"):
        raise _invalid("its URL begins with neither https:// nor http://")
    rest = rest.partition("#")[0]
    end = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    authority, path = rest[:end], rest[end:]
    if not path.startswith("/"):
        path = f"/{path}"
    try:
        headers = _types.Fields.from_list(fields)
    except Err as problem:
        raise _invalid(f"a header is refused: {type(problem.value).__name__}") from None
    outgoing = _types.OutgoingRequest(headers)
    kind = _METHODS[method]() if method in _METHODS else _types.Method_Other(method)
    taken = "its URL or method is not taken"
    _taken(outgoing.set_method, taken, kind)
    _taken(outgoing.set_scheme, taken, _types.Scheme_Https() if scheme == "https" else _types.Scheme_Http())
    _taken(outgoing.set_authority, taken, authority)
    _taken(outgoing.set_path_with_query, taken, path)
    return outgoing


def _write(sink: Any, body: bytes) -> None:
    """Where writing fails, the answer says why."""
    try:
        with sink.write() as stream:
            for start in range(0, len(body), _WRITE_BYTES_MAX):
                stream.blocking_write_and_flush(body[start : start + _WRITE_BYTES_MAX])
        _types.OutgoingBody.finish(sink, None)
    except Err:
        pass


def _response(answered: Any) -> Any:
    if answered is None:
        raise NoAnswer("there is no answer")
    if isinstance(answered, Err):
        raise _invalid("it was answered before")
    inner = answered.value
    if isinstance(inner, Err):
        raise _failed(inner.value)
    return inner.value


def _read(incoming: Any, bytes_max: int) -> Answer:
    status = incoming.status()
    with incoming.headers() as fields:
        headers = [(name.lower(), bytes(value)) for name, value in fields.entries()]
    body = bytearray()
    with incoming, _taken(incoming.consume, "its answer was read before") as content:
        with _taken(content.stream, "its answer was read before") as stream:
            while True:
                try:
                    body += stream.blocking_read(_READ_BYTES)
                except Err as problem:
                    if isinstance(problem.value, _streams.StreamError_Closed):
                        return Answer(status, headers, bytes(body))
                    raise _broken_off(problem.value.value.to_debug_string()) from None
                if len(body) > bytes_max:
                    raise TooLarge(f"the answer has more than {bytes_max} bytes")


def _broken_off(said: str) -> Exception:
    """The interface has a code for too large a body, which the host does not give here: its text is looked at."""
    said = said[:200]
    if "response body size" in said:
        return TooLarge(f"too much for one call ({said})")
    return NoAnswer(f"the answer broke off ({said})")


def _failed(code: Any) -> Exception:
    name = type(code).__name__.removeprefix("ErrorCode_")
    if isinstance(code, (_types.ErrorCode_HttpRequestDenied, _types.ErrorCode_DestinationIpProhibited)):
        return Denied(f"the tenant may not send this request; the log says why ({name})")
    if isinstance(
        code,
        (
            _types.ErrorCode_HttpRequestUriInvalid,
            _types.ErrorCode_HttpRequestUriTooLong,
            _types.ErrorCode_HttpRequestMethodInvalid,
        ),
    ):
        return _invalid(f"the host refuses it ({name})")
    if isinstance(
        code,
        (
            _types.ErrorCode_HttpRequestBodySize,
            _types.ErrorCode_HttpResponseBodySize,
            _types.ErrorCode_ConnectionLimitReached,
        ),
    ):
        return TooLarge(f"too much for one call ({name})")
    if isinstance(code, _types.ErrorCode_InternalError) and code.value is not None:
        return NoAnswer(code.value)
    return NoAnswer(f"there is no answer ({name})")


__all__ = ["Answer", "Denied", "Invalid", "NoAnswer", "TooLarge", "get", "post", "send", "sleep_ms"]
