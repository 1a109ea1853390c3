"""How the builder ends early, and what it says on the way. Its standard output stays empty."""

from __future__ import annotations

import sys


class BuildFailed(Exception):
    """What is wrong and what to do, for the author."""


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def warn(message: str) -> None:
    say(f"warning: {message}")
