"""The errors that end a request without a reward. The platform decides whether to try again.

Any other exception that leaves a stage is the plugin's own fault and counts as `Internal`, with its
traceback in the request's log.
"""

from __future__ import annotations


class Error(Exception):
    """Never a reward: there can be none, and the class says whose fault that is."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadRequest(Error):
    """The request can have no reward: a missing or malformed label, say."""


class BadSettings(Error):
    """The run's settings make no sense."""


class Unavailable(Error):
    """Something that the plugin needs is not there just now; the platform may try again."""


class Internal(Error):
    """The plugin's own fault."""


def unknown_stage(stage: str) -> Error:
    """For a stage that the plugin never described."""
    return Internal(f"there is no stage `{stage}`")
