"""Rewards from an Assay server: submit while the rollout runs, take them batch by batch.

A failure of the service is never a number: what has no reward raises.
"""

from assay._call import VERSION as __version__
from assay._models import (
    Batch as BatchInfo,
)
from assay._models import (
    GoldenCase,
    OutcomeError,
    OutcomeScored,
    OutcomeTimedOut,
    Plugin,
    Request,
    ResultItem,
    Reward,
    RunSummary,
    Sample,
    StreamEvent,
)
from assay.batch import AsyncBatch, Batch
from assay.client import AsyncClient, Client
from assay.errors import (
    AssayError,
    BatchErrors,
    ConfigurationError,
    ConflictError,
    Failure,
    ForkedError,
    GoneError,
    InvalidCallError,
    NotAllowedError,
    NotAuthenticatedError,
    NotFoundError,
    ProblemError,
    QuotaError,
    RequestFailedError,
    SubmitRejectedError,
    UnavailableError,
    UnexpectedAnswerError,
    UnreachableError,
    WaitTimeoutError,
)
from assay.progress import Progress
from assay.results import Group, Results
from assay.scorer import Score, Scorer

__all__ = [
    "AssayError",
    "AsyncBatch",
    "AsyncClient",
    "Batch",
    "BatchErrors",
    "BatchInfo",
    "Client",
    "ConfigurationError",
    "ConflictError",
    "Failure",
    "ForkedError",
    "GoldenCase",
    "GoneError",
    "Group",
    "InvalidCallError",
    "NotAllowedError",
    "NotAuthenticatedError",
    "NotFoundError",
    "OutcomeError",
    "OutcomeScored",
    "OutcomeTimedOut",
    "Plugin",
    "ProblemError",
    "Progress",
    "QuotaError",
    "Request",
    "RequestFailedError",
    "ResultItem",
    "Results",
    "Reward",
    "RunSummary",
    "Sample",
    "Score",
    "Scorer",
    "StreamEvent",
    "SubmitRejectedError",
    "UnavailableError",
    "UnexpectedAnswerError",
    "UnreachableError",
    "WaitTimeoutError",
    "__version__",
]
