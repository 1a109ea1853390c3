"""Why something failed, in words that say what to do about it. No text here ever has the key in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay._models import Problem

_SHOWN_MAX = 5


class AssayError(Exception):
    """Whatever this package raises, but for wrong arguments."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Trainers send exceptions between processes; ours have arguments of their own.
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[AssayError], arguments: tuple[Any, ...]) -> AssayError:
    error = kind.__new__(kind)
    error.args = arguments
    return error


class ConfigurationError(AssayError):
    """The client was not told where to go or who it is."""


class UnreachableError(AssayError, ConnectionError):
    """No answer: the server does not run, cannot be reached, or the connection broke too often."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"cannot reach the Assay server at {url}: {reason}. Check that it runs (`assay dev` "
            "starts one) and that ASSAY_URL is its address"
        )


class UnexpectedAnswerError(AssayError):
    """An answer that is not Assay's, or of a version that this client does not know."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the server answered with something else than expected: {reason}. Check that ASSAY_URL "
            "is the address of an Assay server and that its version fits this client's"
        )


class WaitTimeoutError(AssayError, TimeoutError):
    """The time that the caller gave has passed. Whatever was submitted goes on being computed."""


class ForkedError(AssayError):
    """A batch was used in a process that was forked from the one which announced it."""

    def __init__(self) -> None:
        super().__init__("this batch belongs to the process that announced it; announce another one here")


class ProblemError(AssayError):
    """The server understood the call and refused it (RFC 9457); branch on `code`, which is stable."""

    def __init__(self, problem: Problem, retry_after_s: float | None = None) -> None:
        self.code = problem.code
        self.status = problem.status
        self.title = problem.title
        self.detail = problem.detail
        self.hint = problem.hint
        self.request_id = problem.request_id
        self.retry_after_s = retry_after_s
        text = f"{problem.detail or problem.title} ({problem.code}, HTTP {problem.status})"
        if problem.hint:
            text += f". {problem.hint}"
        if problem.request_id:
            text += f" [Request-Id {problem.request_id}]"
        super().__init__(text)


class InvalidCallError(ProblemError):
    """400, 413 or 422: the call itself is wrong."""


class NotAuthenticatedError(ProblemError):
    """401: the key is missing, wrong, expired or revoked."""


class NotAllowedError(ProblemError):
    """403: the key lacks a scope, or the tenant a grant."""


class NotFoundError(ProblemError):
    """404: it may belong to another tenant, or never have been."""


class ConflictError(ProblemError):
    """409: it does not fit what there is, such as a batch that was sealed."""


class GoneError(ProblemError):
    """410: the tenant keeps it no longer."""


class QuotaError(ProblemError):
    """429: a quota of the tenant; nothing was admitted."""


class UnavailableError(ProblemError):
    """503: for now. The very same call may be made again where `retry_after_s` says when; without it the
    request may have been taken, and a repeat is another one."""


_BY_STATUS: dict[int, type[ProblemError]] = {
    400: InvalidCallError,
    401: NotAuthenticatedError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: InvalidCallError,
    422: InvalidCallError,
    429: QuotaError,
    503: UnavailableError,
}


def of_problem(problem: Problem, retry_after_s: float | None = None) -> ProblemError:
    """The exception of the problem's status."""
    return _BY_STATUS.get(problem.status, ProblemError)(problem, retry_after_s)


@dataclass(frozen=True)
class Failure:
    """A request that has no reward, and why."""

    key: str
    #: The request's id; absent when the server never took it.
    id: str | None
    #: Its page in the dashboard, else its batch's.
    url: str
    #: Stable, such as `worker_lost`; `missing` when the batch ended without it.
    code: str
    message: str
    #: Whether the very same request may end otherwise when it is submitted again.
    retryable: bool

    def __str__(self) -> str:
        return f"{self.key}: {self.code}: {self.message} ({self.url})"


class RequestFailedError(AssayError):
    """One request has no reward. It is never given as a number."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(f"no reward for {failure}")


class BatchErrors(AssayError):
    """Requests of a batch have no reward; `failures` names each with its id and URL."""

    def __init__(self, failures: Sequence[Failure], of: int) -> None:
        self.failures = list(failures)
        shown = "".join(f"\n  {failure}" for failure in self.failures[:_SHOWN_MAX])
        more = len(self.failures) - _SHOWN_MAX
        shown += f"\n  and {more} more" if more > 0 else ""
        super().__init__(
            f"{len(self.failures)} of {of} requests have no reward; "
            f'`rewards(on_error="mask")` leaves them out:{shown}'
        )


class SubmitRejectedError(AssayError):
    """The server refused items, so their batch would be judged by half; `failures` says which."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self.failures = list(failures)
        shown = "".join(f"\n  {failure}" for failure in self.failures[:_SHOWN_MAX])
        super().__init__(f"{len(self.failures)} items were rejected:{shown}")
