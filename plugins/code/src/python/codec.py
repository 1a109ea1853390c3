# Plain data as one line of JSON: None, bool, int, float, complex, str, bytes, list, tuple, set,
# frozenset and dict, nothing else. Reading it builds only these types, whatever the line says.
import json

LINE_BYTES_MAX = 4 << 20
VALUES_MAX = 200_000
DEPTH_MAX = 100
# Beyond this a set or a dict could be made to cost its reader quadratic time.
HASHED_MAX = 20_000
INT_PLAIN_MAX = 1 << 53
# Arguments have this much more room than answers, so that an answer can be passed on, with as much again
# around it.
ARGUMENT_ROOM = 2


class Unplain(Exception):
    """A value that cannot cross; the text says why."""


class TooLarge(Unplain):
    """Plain data that is too large to cross."""


class Broken(Exception):
    """A line that no encoder of ours wrote."""


class Room:
    """Counts the values of one line."""

    def __init__(self, error, times=1):
        self.error = error
        self.times = times
        self.left = VALUES_MAX * times

    def enter(self, depth):
        self.left -= 1
        if self.left < 0:
            raise self.error("more than %d values" % (VALUES_MAX * self.times))
        if depth > DEPTH_MAX * self.times:
            raise self.error("nested more than %d deep" % (DEPTH_MAX * self.times))

    def hashed(self, count):
        if count > HASHED_MAX * self.times:
            raise self.error("a set or dict of more than %d" % (HASHED_MAX * self.times))


# A subclass is taken as its base, by the base's own methods.
def pack(value, room, depth=0):
    room.enter(depth)
    if value is None or value is True or value is False:
        return value
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        number = int.__add__(value, 0)
        return number if -INT_PLAIN_MAX < number < INT_PLAIN_MAX else {"i": hex(number)}
    if issubclass(kind, float):
        return {"f": float.hex(value)}
    if issubclass(kind, list):
        return [pack(item, room, depth + 1) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return {"t": [pack(item, room, depth + 1) for item in tuple.__iter__(value)]}
    if issubclass(kind, dict):
        room.hashed(dict.__len__(value))
        return {
            "d": [
                [pack(key, room, depth + 1), pack(item, room, depth + 1)]
                for key, item in dict.items(value)
            ]
        }
    if issubclass(kind, (set, frozenset)):
        base, tag = (set, "s") if issubclass(kind, set) else (frozenset, "z")
        room.hashed(base.__len__(value))
        return {tag: [pack(item, room, depth + 1) for item in base.__iter__(value)]}
    if issubclass(kind, complex):
        return {"c": [float.hex(value.real), float.hex(value.imag)]}
    if issubclass(kind, bytes):
        return {"b": bytes.hex(value)}
    raise Unplain("a value of type %s is no plain data" % kind.__name__)


def unpack(node, room, depth=0):
    room.enter(depth)
    if node is None or node is True or node is False:
        return node
    kind = type(node)
    if kind is str or kind is int:
        return node
    if kind is list:
        return [unpack(item, room, depth + 1) for item in node]
    if kind is dict and len(node) == 1:
        ((tag, body),) = node.items()
        return unpack_tagged(tag, body, room, depth)
    raise Broken("a value of no known form")


def unpack_tagged(tag, body, room, depth):
    if type(body) is str and tag in ("i", "f", "b"):
        return int(body, 16) if tag == "i" else float.fromhex(body) if tag == "f" else bytes.fromhex(body)
    if type(body) is not list:
        raise Broken("a value of no known form")
    if tag == "c":
        real, imaginary = body
        return complex(float.fromhex(real), float.fromhex(imaginary))
    if tag == "t":
        return tuple(unpack(item, room, depth + 1) for item in body)
    if tag in ("s", "z", "d"):
        room.hashed(len(body))
    if tag in ("s", "z"):
        items = [unpack(item, room, depth + 1) for item in body]
        return set(items) if tag == "s" else frozenset(items)
    if tag == "d":
        return {unpack(key, room, depth + 1): unpack(item, room, depth + 1) for key, item in body}
    raise Broken("a value of no known form")


def write_line(message, times=1):
    """A message of plain JSON as one line; values in it have been packed."""
    line = json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
    if len(line) > LINE_BYTES_MAX * times:
        raise TooLarge("more than %d bytes" % (LINE_BYTES_MAX * times))
    return line


def refuse_number(text):
    raise Broken("a number of no known form")


def read_line(line):
    """The message of one line, which may be anything at all."""
    try:
        message = json.loads(line, parse_float=refuse_number, parse_constant=refuse_number)
    except (ValueError, RecursionError):
        raise Broken("a line that is no JSON") from None
    if type(message) is not dict:
        raise Broken("a line that is no message")
    return message


def read_value(node):
    """The value in a message, which may be anything at all."""
    try:
        return unpack(node, Room(Broken))
    except (ValueError, TypeError, OverflowError):
        raise Broken("a value of no known form") from None
