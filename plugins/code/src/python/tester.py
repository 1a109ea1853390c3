# The tests' side of function tests: runs the data set's own code with functions that ask the program
# over the wire. The answer is read as plain data, so that nothing of the program runs here. The
# result is the file `report.json` together with exit status 42; the program can reach neither.
import builtins
import os
import random
import sys

REPORTED = 42
TEXT_MAX = 600
# From this many bytes of answers on, an argument that is too large is due to them.
GIVEN_BYTES_MAX = LINE_BYTES_MAX // 2


class Stop(BaseException):
    """The conversation is over; `except Exception` in a test must not hide it."""

    def __init__(self, kind, detail):
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Wire:
    def __init__(self):
        self.incoming, self.outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        self.rest = b""
        self.number = 0
        self.over = None
        # The bytes of the answers to the running test.
        self.given = 0

    def ask(self, request):
        if self.over is not None:
            raise self.over
        try:
            return self.exchange(request)
        except Broken as why:
            self.over = Stop("broken", "the program wrote %s to the wire" % why)
        except OSError:
            self.over = Stop("gone", "the program ended before it answered")
        raise self.over

    def exchange(self, request):
        self.number += 1
        request["number"] = self.number
        line = write_line(request, ARGUMENT_ROOM)
        while line:
            line = line[os.write(self.outgoing, line) :]
        reply = read_line(self.next_line())
        if reply.pop("number", None) != self.number:
            raise Broken("an answer to no question")
        return reply

    def next_line(self):
        parts, size = [self.rest], len(self.rest)
        while b"\n" not in parts[-1]:
            if size > LINE_BYTES_MAX:
                raise Broken("more than %d bytes" % LINE_BYTES_MAX)
            part = os.read(self.incoming, 1 << 16)
            if not part:
                raise OSError("closed")
            parts.append(part)
            size += len(part)
        line, _, self.rest = b"".join(parts).partition(b"\n")
        self.given += len(line)
        return line


class Refused(Exception):
    """The program returned what is no plain data."""


def proxy(wire, name):
    def candidate(*args, **kwargs):
        try:
            request = {
                "call": name,
                "args": [pack(item, Room(TooLarge, ARGUMENT_ROOM)) for item in args],
                "kwargs": {
                    key: pack(item, Room(TooLarge, ARGUMENT_ROOM)) for key, item in kwargs.items()
                },
            }
            reply = wire.ask(request)
        except Unplain as why:
            if isinstance(why, TooLarge) and wire.given > GIVEN_BYTES_MAX:
                raise Stop("wrong", "its answers are too large to be passed on: %s" % why) from None
            raise Stop("task", "an argument of the test cannot be passed: %s" % why) from None
        try:
            return value_of(reply)
        except Broken as why:
            wire.over = Stop("broken", "the program wrote %s to the wire" % why)
            raise wire.over from None

    candidate.__name__ = candidate.__qualname__ = name
    return candidate


def value_of(reply):
    if "value" in reply:
        return read_value(reply["value"])
    if "refused" in reply:
        raise Refused(text_of(reply["refused"]))
    raise exception_of(reply)


def text_of(value):
    if type(value) is not str:
        raise Broken("a text of no known form")
    return value[:TEXT_MAX]


class Shown(str):
    """A text that stands for itself where a `KeyError` shows its key."""

    __repr__ = str.__str__


def exception_of(reply):
    """An exception like the program's: of the same built-in class, or derived from the nearest."""
    names, line = reply.get("raised"), reply.get("line", 0)
    if type(names) is not list or not names or type(line) is not int:
        raise Broken("an answer of no known form")
    names, text = [text_of(name) for name in names[:10]], text_of(reply.get("text", ""))
    if not all(name.isidentifier() for name in names):
        raise Broken("an exception of no known form")
    error = None
    for name in names + ["Exception"]:
        kind = getattr(builtins, name, None)
        if not isinstance(kind, type) or not issubclass(kind, Exception):
            continue
        # As in a generator: one that ends an iteration would make a test skip the rest of it.
        base = RuntimeError if issubclass(kind, (StopIteration, StopAsyncIteration)) else kind
        try:
            made = base if name == names[0] and base is kind else type(names[0], (base,), {})
            error = made(Shown(text) if issubclass(base, KeyError) else text)
            break
        except (TypeError, ValueError):
            continue
    error.of_program = "%s: %s%s" % (names[0], text, " (line %d)" % line if line else "")
    error.of_program_kind = names[0]
    return error


def run(task, wire):
    tests = tests_of(task, wire)
    names = sorted(task["names"])
    reply = wire.ask({"load": names})
    if "missing" in reply:
        raise Stop("missing", "the program defines no `%s`" % text_of(reply["missing"]))
    if "loaded" not in reply:
        error = exception_of(reply)
        raise Stop(raised_kind(error), "the program does not load: %s" % error.of_program)
    passed, first = 0, None
    for number, test in enumerate(tests):
        wire.given = 0
        failure = run_one(test)
        if failure is None and wire.over is not None:
            # A test may hide it, with `except:`.
            failure = stop_failure(wire.over)
        if failure is None:
            passed += 1
            continue
        failure["test"] = number + 1
        first = first or failure
        if failure["kind"] == "task" or task["stop"] or wire.over is not None:
            break
    return {"total": len(tests), "passed": passed, "first": first}


def raised_kind(error):
    return "memory" if error.of_program_kind == "MemoryError" else "raised"


def run_one(test):
    """None, or why the test failed."""
    random.seed(0)
    try:
        test()
        return None
    except Stop as stop:
        return stop_failure(stop)
    except Refused as why:
        return {"kind": "refused", "detail": str(why), "shown": ""}
    except BaseException as error:
        shown = place_of(error)
        if hasattr(error, "of_program"):
            return {"kind": raised_kind(error), "detail": error.of_program, "shown": shown}
        name, text = type(error).__name__, text_of_error(error)
        if is_of_task(error):
            return {"kind": "task", "detail": "%s: %s" % (name, text), "shown": shown}
        if isinstance(error, SystemExit) and is_of_test_code(error):
            if error.code is None or (isinstance(error.code, int) and error.code == 0):
                return None
            return {"kind": "wrong", "detail": "the test exited", "shown": shown}
        if isinstance(error, AssertionError):
            shown = ("%s %s" % (shown, text)).strip()
            return {"kind": "wrong", "detail": "an assertion failed", "shown": shown}
        detail = "the test could not use the answer (%s)" % name
        return {"kind": "wrong", "detail": detail, "shown": "%s %s" % (shown, text)}


def stop_failure(stop):
    return {"kind": stop.kind, "detail": stop.detail, "shown": ""}


def text_of_error(error):
    try:
        return str(error)[:TEXT_MAX]
    except Exception:
        # It shows an answer, such as a number of too many digits.
        return ""


def is_of_task(error):
    """Whether the test code is at fault, and no answer can be."""
    kind = type(error)
    if kind in (ImportError, ModuleNotFoundError):
        return True
    # An answer decides whether a statement that binds a name is reached.
    if kind is not NameError or not is_of_test_code(error):
        return False
    _, bound = names_in("\n".join(lines) for lines in SOURCES.values())
    return missing_name(error) not in bound


def missing_name(error):
    """Python before 3.10 has the name in the message alone."""
    quoted = text_of_error(error).split("'")[1:2]
    return getattr(error, "name", None) or "".join(quoted)


def is_of_test_code(error):
    """Whether test code raised it, and not what it calls."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename in SOURCES


SOURCES = {}


def place_of(error):
    """The line of test code on which it failed."""
    found, trace = "", error.__traceback__
    while trace is not None:
        lines = SOURCES.get(trace.tb_frame.f_code.co_filename)
        if lines is not None and trace.tb_lineno <= len(lines):
            found = lines[trace.tb_lineno - 1].strip()[:TEXT_MAX]
        trace = trace.tb_next
    return found


def execute(source, name, space):
    SOURCES[name] = source.split("\n")
    exec(compile(source, name, "exec"), space)


def tests_of(task, wire):
    space = {"__name__": "tests", "__builtins__": builtins}
    # Python's own raise in a frame of theirs, not in the test's.
    space["exit"] = space["quit"] = sys.exit
    try:
        execute(task["prompt"], "<prompt>", space)
        execute(task["setup"], "<setup>", space)
        form = {"check": check_tests, "code": code_tests, "cases": case_tests}[task["form"]]
        return form(task, wire, space)
    except (Stop, MemoryError):
        raise
    except Exception as error:
        text = "the test code does not load: %s: %s" % (type(error).__name__, error)
        raise Stop("task", text) from None


def check_tests(task, wire, space):
    (name,) = task["names"]
    space[name] = candidate = proxy(wire, name)
    execute(task["test"], "<test>", space)
    check = space["check"]
    return [lambda: check(candidate)]


def code_tests(task, wire, space):
    codes = []
    for number, source in enumerate(task["tests"]):
        name = "<test %d>" % (number + 1)
        SOURCES[name] = source.split("\n")
        codes.append(compile(source, name, "exec"))
    methods = methods_in(task["tests"])
    if not task["names"]:
        task["names"] = called_names(task["tests"], space)
    if methods:
        task["names"] = sorted({*task["names"], *methods} - {"Solution"})
        stand_in = {name: staticmethod(proxy(wire, name)) for name in methods}
        space["Solution"] = type("Solution", (), stand_in)
    space.update((name, proxy(wire, name)) for name in task["names"])
    return [lambda code=code: exec(code, space) for code in codes]


def methods_in(sources):
    """The methods that tests call of `Solution()`, which the program's class of that name has."""
    import ast

    def makes(node):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return is_call and node.func.id == "Solution"

    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    objects = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and makes(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and (makes(node.value) or (isinstance(node.value, ast.Name) and node.value.id in objects))
    }


def called_names(sources, space):
    """The names that the tests call and only the program can define."""
    called, bound = names_in(sources)
    names = {name for name in called - bound if name not in space and not hasattr(builtins, name)}
    if not names:
        raise Stop("task", "the tests call no function: give `entry_point`")
    return sorted(names)


# The syntax that binds a name of its own, by name: patterns are not in every version of Python. That of an
# exception handler is unbound again at its end.
BINDING = {
    "FunctionDef": "name",
    "AsyncFunctionDef": "name",
    "ClassDef": "name",
    "MatchAs": "name",
    "MatchStar": "name",
    "MatchMapping": "rest",
}


def names_in(sources):
    """The names that code calls, and those that it binds."""
    import ast

    called, bound = set(), set()
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called.add(node.func.id)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
            elif isinstance(node, ast.alias):
                bound.add((node.asname or node.name).split(".")[0])
            elif type(node).__name__ in BINDING:
                bound.add(getattr(node, BINDING[type(node).__name__]))
    return called, bound - {None}


def case_tests(task, wire, space):
    (name,) = task["names"]
    candidate = proxy(wire, name)

    def test_of(case):
        def test():
            value = candidate(*case["args"], **case["kwargs"])
            if not equal(value, case["expected"], task["tolerance"]):
                found, expected = repr(value)[:200], repr(case["expected"])[:200]
                raise AssertionError("returned %s, expected %s" % (found, expected))

        return test

    return [test_of(case) for case in task["cases"]]


def equal(value, expected, tolerance):
    """The expected value was JSON, which has no tuples: a tuple equals a list."""
    if isinstance(expected, list):
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(expected)
            and all(equal(a, b, tolerance) for a, b in zip(value, expected))
        )
    if isinstance(expected, dict):
        return (
            isinstance(value, dict)
            and value.keys() == expected.keys()
            and all(equal(value[key], expected[key], tolerance) for key in expected)
        )
    if tolerance is not None and is_number(value) and is_number(expected):
        absolute, relative = tolerance
        far = abs(value - expected)
        return value == expected or far <= absolute or far <= relative * abs(expected)
    return value == expected


def is_number(value):
    return isinstance(value, (int, float))


def main():
    import json

    wire = Wire()
    with open("input", encoding="utf-8") as file:
        task = json.load(file)
    try:
        report = run(task, wire)
    except Stop as stop:
        report = stopped(task, stop.kind, stop.detail)
    except Broken as why:
        report = stopped(task, "broken", "the program wrote %s to the wire" % why)
    # Half of a surrogate pair, from an answer, is no text for the reader.
    with open("report.json", "w", encoding="utf-8", errors="replace") as file:
        json.dump(report, file, ensure_ascii=False)
    # The program sees the end of its input only now, and nothing of Python's own end can fail.
    os._exit(REPORTED)


def stopped(task, kind, detail):
    total = {"check": 1, "code": len(task["tests"]), "cases": len(task["cases"])}[task["form"]]
    return {"total": total, "passed": 0, "first": {"kind": kind, "detail": detail, "shown": "", "test": 1}}


main()
