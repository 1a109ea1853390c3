"""A Python plugin that does what its request's response says: what no plugin should, and what every one may.

Each word is a key of the table in `tests/tests/python.rs`, which knows how it must end.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable

from assay_plugin import Artifact, FunctionPlugin, Outcome, Request, Scored, Unavailable, export, log

plugin = FunctionPlugin("python-liar", "0.1.0", timeout_reward=-1.0)
calls = 0


def good(explanation: str = "", reward: float = 1.0) -> Scored:
    return Scored(reward, "success", explanation=explanation)


def spin() -> Outcome:
    while True:
        pass


def catch() -> Outcome:
    """What nobody can catch is the end of its time."""
    while True:
        try:
            spin()
        except BaseException:
            pass


def allocate() -> Outcome:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def allocate_small() -> Outcome:
    kept: list[object] = []
    while True:
        kept = [kept, [0] * 1_000]


def recurse() -> Outcome:
    return recurse()


def recurse_in_c() -> Outcome:
    return good(repr(json.loads("[" * 100_000)))


def raises() -> Outcome:
    return good(str({}["no such key"]))


def exits() -> Outcome:
    sys.exit(0)


def leaves() -> Outcome:
    os._exit(0)


def aborts() -> Outcome:
    os.abort()


def prints() -> Outcome:
    for at in range(2_000):
        print(f"line {at} " + "x" * 2_000)
    return good()


def logs() -> Outcome:
    for at in range(2_000):
        log.info(f"line {at} " + "x" * 2_000)
    return good()


def imports_late() -> Outcome:
    import tkinter.ttk  # noqa: F401

    return good()


def sleeps() -> Outcome:
    before = time.time()
    time.sleep(3_600)
    return good(f"{time.time() - before} {time.gmtime().tm_year}")


def reads_files() -> Outcome:
    with open("/etc/passwd", encoding="utf-8") as file:
        return good(file.read())


def lists_files() -> Outcome:
    return good(repr(os.listdir("/")))


def connects() -> Outcome:
    import socket

    socket.create_connection(("127.0.0.1", 7700), 1)
    return good()


def starts_thread() -> Outcome:
    import threading

    threading.Thread(target=spin).start()
    return good()


def starts_process() -> Outcome:
    import subprocess

    subprocess.run(["/bin/true"], check=True)
    return good()


def environment() -> Outcome:
    return good(repr(dict(os.environ)) + repr(sys.argv))


def remembers() -> Outcome:
    global calls
    calls += 1
    return good(reward=float(calls))


def is_random() -> Outcome:
    return good(f"{os.urandom(8).hex()} {hash('salted')}", random.random())


def unavailable() -> Outcome:
    raise Unavailable("no data today")


_TABLE: dict[str, Callable[[], Outcome]] = {
    function.__name__: function
    for function in (
        spin,
        catch,
        allocate,
        allocate_small,
        recurse,
        recurse_in_c,
        raises,
        exits,
        leaves,
        aborts,
        prints,
        logs,
        imports_late,
        sleeps,
        reads_files,
        lists_files,
        connects,
        starts_thread,
        starts_process,
        environment,
        remembers,
        is_random,
        unavailable,
    )
}
_OUTCOMES: dict[str, object] = {
    "nothing": None,
    "nan": Scored(float("nan"), "success"),
    "no_number": Scored("1", "success"),  # type: ignore[arg-type]
    "surrogate": Scored(1.0, "success", explanation="half \ud800 a pair"),
    "explanation_huge": Scored(1.0, "success", explanation="x" * (1 << 20)),
    "artifact_huge": Artifact.raw(b"x" * ((16 << 20) + 1)),
    "next": Artifact.text("there is no next stage"),
}


@plugin.stage(timeout_ms=2_000, memory_mib_max=128)
def score(request: Request) -> Outcome:
    if request.response in _OUTCOMES:
        return _OUTCOMES[request.response]  # type: ignore[return-value]
    return _TABLE[request.response]()


export(plugin)
