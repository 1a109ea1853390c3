"""The REST interface's shapes. Written by `make python-api`; never edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypedDict

from assay._checked import flag, integer, items, mapping, number, record, text, unknown

class _AnnounceBatchRequired(TypedDict):
    plugin: str
    run: str


class AnnounceBatch(_AnnounceBatchRequired, total=False):
    """`POST /v1/batches`: a rollout has started and a batch of requests will come."""

    consumes: Consumes | str
    #: Number of requests after which the batch is complete without a seal.
    expected_size: int
    #: Number of samples of each prompt; a group is complete with this many.
    group_size: int
    #: Number of the iteration in its run.
    iteration: int
    join: JoinBatch
    #: Extra delay that the run tolerates, in milliseconds (the paper's D).
    max_extra_delay_ms: int
    #: The plugin's settings for this run.
    settings: dict[str, Any]
    #: Whether equal requests to a deterministic plugin share one computation; true when
    #: absent.
    share_equal: bool


@dataclass(frozen=True, slots=True)
class ArrivalCurve:
    """Arrivals of the requests of a batch over time."""

    #: Times since the first request in milliseconds, evenly spaced up to the last arrival.
    at_ms: list[float]
    #: Id of the batch.
    batch: str
    #: Number of the iteration in its run.
    iteration: int
    #: Part of the requests that had arrived by each of these times.
    share: list[float]

    @classmethod
    def from_json(cls, value: Any) -> ArrivalCurve:
        value = record(value)
        return cls(
            at_ms=[number(item) for item in items(value["at_ms"])],
            batch=text(value["batch"]),
            iteration=integer(value["iteration"]),
            share=[number(item) for item in items(value["share"])],
        )


@dataclass(frozen=True, slots=True)
class ArtifactSummary:
    """An artifact that a stage handed to the next one, without its bytes."""

    #: Size in bytes.
    bytes: int
    #: Content type of the artifact.
    content_type: str
    #: Time at which the artifact was stored.
    created_at: str
    #: Name of the stage that returned it.
    stage: str

    @classmethod
    def from_json(cls, value: Any) -> ArtifactSummary:
        value = record(value)
        return cls(
            bytes=integer(value["bytes"]),
            content_type=text(value["content_type"]),
            created_at=text(value["created_at"]),
            stage=text(value["stage"]),
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch."""

    #: Time of the announcement.
    announced_at: str
    #: Numbers of ended requests by ending.
    counts: Counts
    #: Id of the batch.
    id: str
    #: Number of the iteration in its run.
    iteration: int
    #: `name@version`.
    plugin: str
    #: SHA-256 of the plugin's component.
    plugin_digest: str
    #: Name of the run.
    run: str
    #: State.
    state: BatchState | str
    #: The unit for which the trainer waits.
    consumes: Consumes | str | None = None
    #: Time at which the last request ended; absent before it.
    done_at: str | None = None
    #: Time at which the last request is expected to end.
    estimated_done_at: str | None = None
    #: Expected number of requests; absent if the trainer gave none.
    expected_size: int | None = None
    #: Time at which its requests and results were deleted; its totals are kept.
    expired_at: str | None = None
    #: Time from the earliest possible end of the batch to its end, in milliseconds (the
    #: paper's d).
    extra_delay_ms: float | None = None
    #: Time of the first request; absent before it.
    first_request_at: str | None = None
    #: Expected number of requests in a group; absent if the trainer gave none.
    group_size: int | None = None
    #: Extra delay that the run tolerates, in milliseconds (the paper's D); absent if it
    #: sets none.
    max_extra_delay_ms: int | None = None
    #: Mean over all requests with a reward; absent while there is none.
    mean_reward: float | None = None
    #: Number of requests that are still to come, by what the trainer last said of its
    #: rollouts; absent if it said nothing since the server's start.
    outstanding: int | None = None
    #: Time at which the batch was sealed; absent before it.
    sealed_at: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> Batch:
        value = record(value)
        return cls(
            announced_at=text(value["announced_at"]),
            consumes=None if (it := value.get("consumes")) is None else text(it),
            counts=Counts.from_json(value["counts"]),
            done_at=None if (it := value.get("done_at")) is None else text(it),
            estimated_done_at=None if (it := value.get("estimated_done_at")) is None else text(it),
            expected_size=None if (it := value.get("expected_size")) is None else integer(it),
            expired_at=None if (it := value.get("expired_at")) is None else text(it),
            extra_delay_ms=None if (it := value.get("extra_delay_ms")) is None else number(it),
            first_request_at=None if (it := value.get("first_request_at")) is None else text(it),
            group_size=None if (it := value.get("group_size")) is None else integer(it),
            id=text(value["id"]),
            iteration=integer(value["iteration"]),
            max_extra_delay_ms=None if (it := value.get("max_extra_delay_ms")) is None else integer(it),
            mean_reward=None if (it := value.get("mean_reward")) is None else number(it),
            outstanding=None if (it := value.get("outstanding")) is None else integer(it),
            plugin=text(value["plugin"]),
            plugin_digest=text(value["plugin_digest"]),
            run=text(value["run"]),
            sealed_at=None if (it := value.get("sealed_at")) is None else text(it),
            state=text(value["state"]),
        )


BatchState: TypeAlias = Literal[
    "announced",
    "open",
    "sealed",
    "done",
    "cancelled",
    "expired",
]


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """Numbers of golden cases of a version, by state. No case of a published version failed."""

    #: Number of cases that were not run.
    not_run: int
    #: Number of cases that passed.
    passed: int
    #: Number of cases that were skipped.
    skipped: int

    @classmethod
    def from_json(cls, value: Any) -> CaseCounts:
        value = record(value)
        return cls(
            not_run=integer(value["not_run"]),
            passed=integer(value["passed"]),
            skipped=integer(value["skipped"]),
        )


Consumes: TypeAlias = Literal[
    "batch",
    "groups",
]


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of requests of a batch, by outcome."""

    #: Number of requests that ended as an error.
    error: int
    #: Number of requests with a reward.
    scored: int
    #: Requests that were acknowledged.
    submitted: int
    #: Number of requests that timed out.
    timed_out: int
    #: Requests among these that did not run, because they share the outcome of an equal
    #: request.
    shared: int | None = None

    @classmethod
    def from_json(cls, value: Any) -> Counts:
        value = record(value)
        return cls(
            error=integer(value["error"]),
            scored=integer(value["scored"]),
            shared=None if (it := value.get("shared")) is None else integer(it),
            submitted=integer(value["submitted"]),
            timed_out=integer(value["timed_out"]),
        )


ErrorCode: TypeAlias = Literal[
    "plugin_trap",
    "plugin_error",
    "out_of_memory",
    "stack_overflow",
    "bad_outcome",
    "bad_request",
    "bad_settings",
    "unavailable",
    "plugin_unloadable",
    "worker_lost",
    "lease_expired",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One golden case with its result."""

    #: Actual outcome with the plugin's explanation; empty if the case was skipped.
    actual: str
    #: SHA-256 of the file.
    digest: str
    #: Expected outcome, such as `scored, reward 1`; empty if the case was skipped.
    expected: str
    #: Name of its file in the project.
    file: str
    #: Name of the case; empty if it was skipped.
    name: str
    #: Run time of all stages, in milliseconds.
    ran_ms: float
    #: Reason why the case was not run; empty otherwise.
    reason: str
    #: State of the case.
    state: GoldenCaseState | str

    @classmethod
    def from_json(cls, value: Any) -> GoldenCase:
        value = record(value)
        return cls(
            actual=text(value["actual"]),
            digest=text(value["digest"]),
            expected=text(value["expected"]),
            file=text(value["file"]),
            name=text(value["name"]),
            ran_ms=number(value["ran_ms"]),
            reason=text(value["reason"]),
            state=text(value["state"]),
        )


@dataclass(frozen=True, slots=True)
class GoldenCaseList:
    """The golden cases of a version."""

    #: The golden cases.
    items: list[GoldenCase]

    @classmethod
    def from_json(cls, value: Any) -> GoldenCaseList:
        value = record(value)
        return cls(
            items=[GoldenCase.from_json(item) for item in items(value["items"])],
        )


GoldenCaseState: TypeAlias = Literal[
    "passed",
    "not_run",
    "skipped",
]


GroupRewards: TypeAlias = Literal[
    "all_right",
    "all_wrong",
    "mixed",
]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Bins of equal width between two bounds; both bounds are inclusive."""

    #: Number of values in each bin; all bins have the same width.
    counts: list[int]
    #: Start of the first bin.
    from_: float
    #: End of the last bin.
    to: float

    @classmethod
    def from_json(cls, value: Any) -> Histogram:
        value = record(value)
        return cls(
            counts=[integer(item) for item in items(value["counts"])],
            from_=number(value["from"]),
            to=number(value["to"]),
        )


@dataclass(frozen=True, slots=True)
class ItemProblem:
    """The reason why an item was rejected."""

    #: Stable code of the error.
    code: str
    #: Description as a sentence.
    detail: str
    #: Position of the item in the call, from 1 (its line number in NDJSON).
    line: int

    @classmethod
    def from_json(cls, value: Any) -> ItemProblem:
        value = record(value)
        return cls(
            code=text(value["code"]),
            detail=text(value["detail"]),
            line=integer(value["line"]),
        )


@dataclass(frozen=True, slots=True)
class Iterations:
    """
    The last batches of a run as columns, the newest last. Values of the batch summary are
    null for live batches and for those that ended before summaries were kept.
    """

    #: Part of the complete groups whose rewards are all equal and above zero; null until
    #: the samples of the batch are prepared.
    all_right_share: list[float | None]
    #: Times of the announcements.
    announced_at: list[str]
    #: Ids of the batches.
    batch: list[str]
    #: Means of the components of rewards, by name, of the first 32; empty until the samples
    #: of the batch are prepared.
    components: list[dict[str, float]]
    #: Cost of these seconds, by pool.
    cost: list[dict[str, float]]
    #: Numbers of ended requests by ending.
    counts: list[Counts]
    #: Time from the first request to the end of the batch, in milliseconds.
    duration_ms: list[float | None]
    #: Times at which the batches ended; null for live ones.
    ended_at: list[str | None]
    #: Extra delay, in milliseconds (the paper's d).
    extra_delay_ms: list[float | None]
    #: Histogram of the rewards.
    histogram: list[Histogram | None]
    #: Numbers of the iterations.
    iteration: list[int]
    #: Largest reward.
    max: list[float | None]
    #: Extra delay that the run tolerates, in milliseconds; null if it sets none.
    max_extra_delay_ms: list[int | None]
    #: Mean reward.
    mean: list[float | None]
    #: Smallest reward.
    min: list[float | None]
    #: pass@k by k, for powers of two: the chance that at least one of k samples of a prompt
    #: passes, by the unbiased estimator 1 - C(n-c, k) / C(n, k) for c of n samples that
    #: passed, as a mean over the groups with at least k rewards. A sample passes with a
    #: reward of at least 1. Empty without groups, and until the samples of the batch are
    #: prepared.
    pass_at: list[dict[str, float]]
    #: Number of groups by solve rate, the part of their samples that passed; null where
    #: `pass_at` is empty.
    solve_rates: list[Histogram | None]
    #: States.
    state: list[BatchState | str]
    #: Standard deviation of the rewards.
    std: list[float | None]
    #: Number of requests by verdict; empty without a batch summary.
    verdicts: list[dict[str, int]]
    #: Seconds for which workers were busy, by pool.
    worker_seconds: list[dict[str, float]]
    #: Part of the complete groups whose rewards are all equal.
    zero_variance_share: list[float | None]

    @classmethod
    def from_json(cls, value: Any) -> Iterations:
        value = record(value)
        return cls(
            all_right_share=[None if (it := item) is None else number(it) for item in items(value["all_right_share"])],
            announced_at=[text(item) for item in items(value["announced_at"])],
            batch=[text(item) for item in items(value["batch"])],
            components=[{name: number(item) for name, item in mapping(item)} for item in items(value["components"])],
            cost=[{name: number(item) for name, item in mapping(item)} for item in items(value["cost"])],
            counts=[Counts.from_json(item) for item in items(value["counts"])],
            duration_ms=[None if (it := item) is None else number(it) for item in items(value["duration_ms"])],
            ended_at=[None if (it := item) is None else text(it) for item in items(value["ended_at"])],
            extra_delay_ms=[None if (it := item) is None else number(it) for item in items(value["extra_delay_ms"])],
            histogram=[None if (it := item) is None else Histogram.from_json(it) for item in items(value["histogram"])],
            iteration=[integer(item) for item in items(value["iteration"])],
            max=[None if (it := item) is None else number(it) for item in items(value["max"])],
            max_extra_delay_ms=[None if (it := item) is None else integer(it) for item in items(value["max_extra_delay_ms"])],
            mean=[None if (it := item) is None else number(it) for item in items(value["mean"])],
            min=[None if (it := item) is None else number(it) for item in items(value["min"])],
            pass_at=[{name: number(item) for name, item in mapping(item)} for item in items(value["pass_at"])],
            solve_rates=[None if (it := item) is None else Histogram.from_json(it) for item in items(value["solve_rates"])],
            state=[text(item) for item in items(value["state"])],
            std=[None if (it := item) is None else number(it) for item in items(value["std"])],
            verdicts=[{name: integer(item) for name, item in mapping(item)} for item in items(value["verdicts"])],
            worker_seconds=[{name: number(item) for name, item in mapping(item)} for item in items(value["worker_seconds"])],
            zero_variance_share=[None if (it := item) is None else number(it) for item in items(value["zero_variance_share"])],
        )


class _JoinBatchRequired(TypedDict):
    by: JoinBy | str
    idle_ms: int


class JoinBatch(_JoinBatchRequired, total=False):
    """
    How the processes of a trainer share a batch. The server seals it, after a time without
    calls.
    """



JoinBy: TypeAlias = Literal[
    "run",
    "iteration",
]


@dataclass(frozen=True, slots=True)
class OutcomeScored:
    """The plugin gave a reward."""

    #: The reward.
    reward: float
    #: The plugin's word for the result, such as `correct_exact`.
    verdict: str
    #: Named parts of the reward.
    components: dict[str, float] = field(default_factory=dict)
    #: The plugin's explanation for people.
    explanation: str = ""
    kind: Literal["scored"] = "scored"

    @classmethod
    def from_json(cls, value: Any) -> OutcomeScored:
        value = record(value)
        return cls(
            components={name: number(item) for name, item in mapping(value.get("components") or {})},
            explanation=text(value.get("explanation") or ""),
            reward=number(value["reward"]),
            verdict=text(value["verdict"]),
        )


@dataclass(frozen=True, slots=True)
class OutcomeTimedOut:
    """
    A stage timed out; the reward is the one that the plugin gives for timeouts (the paper's
    negative reward).
    """

    #: The plugin's reward for timeouts.
    reward: float
    #: Name of the stage.
    stage: str
    kind: Literal["timed_out"] = "timed_out"

    @classmethod
    def from_json(cls, value: Any) -> OutcomeTimedOut:
        value = record(value)
        return cls(
            reward=number(value["reward"]),
            stage=text(value["stage"]),
        )


@dataclass(frozen=True, slots=True)
class OutcomeError:
    """The request ended without a reward."""

    #: Number of attempts.
    attempts: int
    #: Stable code of the error.
    code: ErrorCode | str
    #: Description for people.
    message: str
    #: Whether the same request may succeed if it is sent again.
    retryable: bool
    kind: Literal["error"] = "error"

    @classmethod
    def from_json(cls, value: Any) -> OutcomeError:
        value = record(value)
        return cls(
            attempts=integer(value["attempts"]),
            code=text(value["code"]),
            message=text(value["message"]),
            retryable=flag(value["retryable"]),
        )


Outcome: TypeAlias = OutcomeScored | OutcomeTimedOut | OutcomeError


def read_outcome(value: Any) -> Outcome:
    """The variant that the value's `kind` names."""
    kind = record(value).get("kind")
    if kind == "scored":
        return OutcomeScored.from_json(value)
    if kind == "timed_out":
        return OutcomeTimedOut.from_json(value)
    if kind == "error":
        return OutcomeError.from_json(value)
    raise unknown("Outcome", kind)


@dataclass(frozen=True, slots=True)
class Plugin:
    """One version of a plugin."""

    #: Channels that point to this version, such as `prod`.
    channels: list[str]
    #: Whether equal input always has an equal reward.
    deterministic: bool
    #: SHA-256 of the component.
    digest: str
    #: Name of the plugin.
    name: str
    #: Time of the publication.
    published_at: str
    #: The stages, in order.
    stages: list[Stage]
    #: Summary for people.
    summary: str
    #: Reward of a request when a stage exceeds its timeout.
    timeout_reward: float
    #: Version.
    version: str
    #: Numbers of golden cases by state; all 0 if the version has none.
    golden_cases: CaseCounts | None = None
    #: JSON Schema of the labels; absent if there is none.
    label_schema: Any = None
    #: Name of the key, or address of the person, that published it; absent if unknown.
    published_by: str | None = None
    #: JSON Schema of the settings; absent if there is none.
    settings_schema: Any = None
    #: Reason why no new run may use this version; absent while it is not yanked.
    yanked: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> Plugin:
        value = record(value)
        return cls(
            channels=[text(item) for item in items(value["channels"])],
            deterministic=flag(value["deterministic"]),
            digest=text(value["digest"]),
            golden_cases=None if (it := value.get("golden_cases")) is None else CaseCounts.from_json(it),
            label_schema=value.get("label_schema"),
            name=text(value["name"]),
            published_at=text(value["published_at"]),
            published_by=None if (it := value.get("published_by")) is None else text(it),
            settings_schema=value.get("settings_schema"),
            stages=[Stage.from_json(item) for item in items(value["stages"])],
            summary=text(value["summary"]),
            timeout_reward=number(value["timeout_reward"]),
            version=text(value["version"]),
            yanked=None if (it := value.get("yanked")) is None else text(it),
        )


@dataclass(frozen=True, slots=True)
class PluginList:
    """A page of versions of plugins."""

    #: The versions of this page.
    items: list[Plugin]
    #: Cursor of the next page, to be sent as `after`; absent on the last page.
    next: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> PluginList:
        value = record(value)
        return cls(
            items=[Plugin.from_json(item) for item in items(value["items"])],
            next=None if (it := value.get("next")) is None else text(it),
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """RFC 9457 problem, `application/problem+json`."""

    #: Stable code of the error, for programs.
    code: str
    #: Description as a sentence.
    detail: str
    #: HTTP status.
    status: int
    #: Title of the HTTP status.
    title: str
    #: URI of the problem type.
    kind: str
    #: Member of the body that is at fault, with dots between levels, such as
    #: `quotas.workers_max.cpu`; absent if it is none or not a single one.
    field: str | None = None
    #: Advice on what to do.
    hint: str | None = None
    #: Id of the HTTP request, as in the server's log.
    request_id: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> Problem:
        value = record(value)
        return cls(
            code=text(value["code"]),
            detail=text(value["detail"]),
            field=None if (it := value.get("field")) is None else text(it),
            hint=None if (it := value.get("hint")) is None else text(it),
            request_id=None if (it := value.get("request_id")) is None else text(it),
            status=integer(value["status"]),
            title=text(value["title"]),
            kind=text(value["type"]),
        )


@dataclass(frozen=True, slots=True)
class Promotion:
    """A change of the version that a channel of a plugin points to."""

    #: Time of the change.
    at: str
    #: Name of the channel.
    channel: str
    #: Whether it was a rollback.
    rollback: bool
    #: Version that it points to since then.
    version: str
    #: Version that it pointed to before; absent for a new channel.
    before: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> Promotion:
        value = record(value)
        return cls(
            at=text(value["at"]),
            before=None if (it := value.get("before")) is None else text(it),
            channel=text(value["channel"]),
            rollback=flag(value["rollback"]),
            version=text(value["version"]),
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One request with everything that is stored about it."""

    #: Time of the arrival.
    arrived_at: str
    #: Id of the request.
    id: str
    #: Key of the request, which is unique in its batch.
    key: str
    #: The prompt.
    prompt: str
    #: The response.
    response: str
    context: RequestContext | None = None
    #: Name of the group; absent without one.
    group: str | None = None
    #: The label, which the plugin compares with.
    label: Any = None
    #: Metadata for the plugin.
    metadata: Any = None
    result: ResultItem | None = None

    @classmethod
    def from_json(cls, value: Any) -> Request:
        value = record(value)
        return cls(
            arrived_at=text(value["arrived_at"]),
            context=None if (it := value.get("context")) is None else RequestContext.from_json(it),
            group=None if (it := value.get("group")) is None else text(it),
            id=text(value["id"]),
            key=text(value["key"]),
            label=value.get("label"),
            metadata=value.get("metadata"),
            prompt=text(value["prompt"]),
            response=text(value["response"]),
            result=None if (it := value.get("result")) is None else ResultItem.from_json(it),
        )


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The run and batch of a request, and its stages in time."""

    #: Artifacts that its stages returned.
    artifacts: list[ArtifactSummary]
    #: State of the batch.
    batch_state: BatchState | str
    #: Number of the iteration in its run.
    iteration: int
    #: `name@version`.
    plugin: str
    #: SHA-256 of the plugin's component.
    plugin_digest: str
    #: Name of the run.
    run: str
    #: Settings of the run.
    settings: dict[str, Any]
    #: The stages that have ended, in order.
    spans: list[Span]
    #: Time at which it could have ended without any waiting.
    earliest_end_at: str | None = None
    #: Time of the end; absent while it waits or runs.
    finished_at: str | None = None
    #: Arrival of the first request of its batch.
    first_request_at: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> RequestContext:
        value = record(value)
        return cls(
            artifacts=[ArtifactSummary.from_json(item) for item in items(value["artifacts"])],
            batch_state=text(value["batch_state"]),
            earliest_end_at=None if (it := value.get("earliest_end_at")) is None else text(it),
            finished_at=None if (it := value.get("finished_at")) is None else text(it),
            first_request_at=None if (it := value.get("first_request_at")) is None else text(it),
            iteration=integer(value["iteration"]),
            plugin=text(value["plugin"]),
            plugin_digest=text(value["plugin_digest"]),
            run=text(value["run"]),
            settings=record(value["settings"]),
            spans=[Span.from_json(item) for item in items(value["spans"])],
        )


@dataclass(frozen=True, slots=True)
class ResultItem:
    """One finished request."""

    #: Position in the order of completion, from 1; sent as `after`, it asks for the results
    #: after this one.
    cursor: int
    #: Id of the request.
    id: str
    #: Key of the request, which is unique in its batch.
    key: str
    #: The outcome.
    outcome: Outcome
    #: The stages that ran, in order; empty if the outcome comes from an equal request.
    stages: list[StageTime]
    #: Name of the group; absent without one.
    group: str | None = None
    #: Id of the equal request that ran and whose outcome this request shares.
    shared_from: str | None = None
    #: Id of the trace that the request was recorded in, for OpenTelemetry; absent if it was
    #: not.
    trace_id: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> ResultItem:
        value = record(value)
        return cls(
            cursor=integer(value["cursor"]),
            group=None if (it := value.get("group")) is None else text(it),
            id=text(value["id"]),
            key=text(value["key"]),
            outcome=read_outcome(value["outcome"]),
            shared_from=None if (it := value.get("shared_from")) is None else text(it),
            stages=[StageTime.from_json(item) for item in items(value["stages"])],
            trace_id=None if (it := value.get("trace_id")) is None else text(it),
        )


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """A page of results."""

    #: Whether this is the last page.
    done: bool
    #: The results of this page.
    items: list[ResultItem]
    #: Cursor of the next page, to be sent as `after`.
    next: int

    @classmethod
    def from_json(cls, value: Any) -> ResultsPage:
        value = record(value)
        return cls(
            done=flag(value["done"]),
            items=[ResultItem.from_json(item) for item in items(value["items"])],
            next=integer(value["next"]),
        )


@dataclass(frozen=True, slots=True)
class Reward:
    """The answer to a single request."""

    #: Id of the request.
    id: str
    #: The outcome.
    outcome: Outcome
    #: SHA-256 of the plugin's component.
    plugin_digest: str
    #: Times of the stages that ran.
    stages: list[StageTime]
    #: Id of the equal request that ran and whose outcome this request shares.
    shared_from: str | None = None
    #: Id of the trace that the request was recorded in, for OpenTelemetry; absent if it was
    #: not.
    trace_id: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> Reward:
        value = record(value)
        return cls(
            id=text(value["id"]),
            outcome=read_outcome(value["outcome"]),
            plugin_digest=text(value["plugin_digest"]),
            shared_from=None if (it := value.get("shared_from")) is None else text(it),
            stages=[StageTime.from_json(item) for item in items(value["stages"])],
            trace_id=None if (it := value.get("trace_id")) is None else text(it),
        )


class _RewardRequestRequired(TypedDict):
    plugin: str
    response: str


class RewardRequest(_RewardRequestRequired, total=False):
    """`POST /v1/rewards`: one request, its outcome in the response."""

    #: The label, which the plugin compares with.
    label: Any
    #: Metadata for the plugin.
    metadata: Any
    #: The prompt.
    prompt: str
    #: Settings of the plugin; `{}` when absent.
    settings: dict[str, Any]
    #: Whether equal requests share one computation, as in `POST /v1/batches`.
    share_equal: bool


@dataclass(frozen=True, slots=True)
class RunList:
    """`GET /v1/runs`: the run that was active last comes first."""

    #: The runs of this page.
    items: list[RunSummary]
    #: Cursor of the next page, to be sent as `after`; absent on the last page.
    next: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> RunList:
        value = record(value)
        return cls(
            items=[RunSummary.from_json(item) for item in items(value["items"])],
            next=None if (it := value.get("next")) is None else text(it),
        )


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run."""

    #: Number of batches that have ended.
    batches: int
    #: Time at which the run began.
    created_at: str
    #: Number of live batches.
    live_batches: int
    #: Name of the run.
    name: str
    #: `name@version` of the run's first batch, which all later ones use.
    plugin: str
    #: SHA-256 of the plugin's component.
    plugin_digest: str
    #: Time at which its last batch ended.
    last_batch_at: str | None = None
    #: Number of the last iteration; absent if there is none.
    last_iteration: int | None = None
    #: Mean reward of the last batch with rewards; absent if there is none.
    last_mean_reward: float | None = None

    @classmethod
    def from_json(cls, value: Any) -> RunSummary:
        value = record(value)
        return cls(
            batches=integer(value["batches"]),
            created_at=text(value["created_at"]),
            last_batch_at=None if (it := value.get("last_batch_at")) is None else text(it),
            last_iteration=None if (it := value.get("last_iteration")) is None else integer(it),
            last_mean_reward=None if (it := value.get("last_mean_reward")) is None else number(it),
            live_batches=integer(value["live_batches"]),
            name=text(value["name"]),
            plugin=text(value["plugin"]),
            plugin_digest=text(value["plugin_digest"]),
        )


@dataclass(frozen=True, slots=True)
class RunView:
    """`GET /v1/runs/{run}`."""

    #: Arrivals of the requests of the last batches.
    curves: list[ArrivalCurve]
    #: Whether the run has earlier batches than those shown.
    earlier: bool
    #: The last batches as columns.
    iterations: Iterations
    #: Promotions and rollbacks of the run's plugin since the announcement of the first of
    #: these batches, the oldest first, the last 100. The run itself keeps its version.
    promotions: list[Promotion]
    #: The run.
    run: RunSummary
    #: Settings of the run.
    settings: dict[str, Any]

    @classmethod
    def from_json(cls, value: Any) -> RunView:
        value = record(value)
        return cls(
            curves=[ArrivalCurve.from_json(item) for item in items(value["curves"])],
            earlier=flag(value["earlier"]),
            iterations=Iterations.from_json(value["iterations"]),
            promotions=[Promotion.from_json(item) for item in items(value["promotions"])],
            run=RunSummary.from_json(value["run"]),
            settings=record(value["settings"]),
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One request of a run with its texts and, once it has ended, its outcome."""

    #: Time of the arrival.
    arrived_at: str
    #: Id of the batch.
    batch: str
    #: Id of the request.
    id: str
    #: Number of the iteration in its run.
    iteration: int
    #: Key of the request, which is unique in its batch.
    key: str
    #: The parts that the reward was made from.
    components: dict[str, float] = field(default_factory=dict)
    #: Time of the end; absent while it waits or runs.
    finished_at: str | None = None
    #: Name of the group; absent without one.
    group: str | None = None
    #: `scored`, `timed_out` or `error`; absent while it waits or runs.
    kind: str | None = None
    #: The label; absent without texts.
    label: Any = None
    #: The plugin's explanation, or the error's message.
    message: str | None = None
    #: Metadata for the plugin; absent without texts.
    metadata: Any = None
    #: The prompt; absent without texts.
    prompt: str | None = None
    #: The response; absent without texts.
    response: str | None = None
    #: The reward; absent for an error.
    reward: float | None = None
    #: The plugin's verdict, `timed_out`, or the error's code.
    verdict: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> Sample:
        value = record(value)
        return cls(
            arrived_at=text(value["arrived_at"]),
            batch=text(value["batch"]),
            components={name: number(item) for name, item in mapping(value.get("components") or {})},
            finished_at=None if (it := value.get("finished_at")) is None else text(it),
            group=None if (it := value.get("group")) is None else text(it),
            id=text(value["id"]),
            iteration=integer(value["iteration"]),
            key=text(value["key"]),
            kind=None if (it := value.get("kind")) is None else text(it),
            label=value.get("label"),
            message=None if (it := value.get("message")) is None else text(it),
            metadata=value.get("metadata"),
            prompt=None if (it := value.get("prompt")) is None else text(it),
            response=None if (it := value.get("response")) is None else text(it),
            reward=None if (it := value.get("reward")) is None else number(it),
            verdict=None if (it := value.get("verdict")) is None else text(it),
        )


@dataclass(frozen=True, slots=True)
class SampleList:
    """A page of samples."""

    #: The samples, in the order asked for.
    items: list[SampleSummary]
    #: Whether samples are prepared, and whether their words are.
    prepared: SamplesPrepared | str
    #: Number of ended batches whose samples are still being prepared and are not in the
    #: list; at most 1,000. A batch that has not ended counts where it is asked for.
    preparing: int
    #: Number of newest samples of the runs among which the items are, where older ones were
    #: left out: no index has the order, or few samples match the filters. `iteration_min`
    #: and `iteration_max` reach older ones.
    newest: int | None = None
    #: Cursor of the next page; absent on the last page.
    next: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> SampleList:
        value = record(value)
        return cls(
            items=[SampleSummary.from_json(item) for item in items(value["items"])],
            newest=None if (it := value.get("newest")) is None else integer(it),
            next=None if (it := value.get("next")) is None else text(it),
            prepared=text(value["prepared"]),
            preparing=integer(value["preparing"]),
        )


@dataclass(frozen=True, slots=True)
class SampleSummary:
    """A sample as a row of a list, with the beginnings of its texts."""

    #: The time at which it arrived.
    arrived_at: str
    #: The id of its batch.
    batch: str
    #: The id of the request.
    id: str
    #: The iteration of the batch.
    iteration: int
    #: The key that the trainer gave the request.
    key: str
    #: `scored`, `timed_out` or `error`.
    kind: str
    #: The first characters of the text, as for `response` and `label`.
    prompt: str
    #: Number of characters of the prompt.
    prompt_chars: int
    #: The first characters of the response.
    response: str
    #: Number of characters of the response.
    response_chars: int
    #: The name of the run.
    run: str
    #: Milliseconds from its arrival to its end.
    took_ms: float
    #: The plugin's verdict, `timed_out`, or the error's code.
    verdict: str
    #: The distance of the reward from the mean of its group, in standard deviations; absent
    #: without a group or a reward.
    advantage: float | None = None
    #: The parts that the reward was made from.
    components: dict[str, float] = field(default_factory=dict)
    #: The name of its group; absent without one.
    group: str | None = None
    group_rewards: GroupRewards | str | None = None
    #: The label as JSON; absent without one.
    label: str | None = None
    #: Absent for an error.
    reward: float | None = None

    @classmethod
    def from_json(cls, value: Any) -> SampleSummary:
        value = record(value)
        return cls(
            advantage=None if (it := value.get("advantage")) is None else number(it),
            arrived_at=text(value["arrived_at"]),
            batch=text(value["batch"]),
            components={name: number(item) for name, item in mapping(value.get("components") or {})},
            group=None if (it := value.get("group")) is None else text(it),
            group_rewards=None if (it := value.get("group_rewards")) is None else text(it),
            id=text(value["id"]),
            iteration=integer(value["iteration"]),
            key=text(value["key"]),
            kind=text(value["kind"]),
            label=None if (it := value.get("label")) is None else text(it),
            prompt=text(value["prompt"]),
            prompt_chars=integer(value["prompt_chars"]),
            response=text(value["response"]),
            response_chars=integer(value["response_chars"]),
            reward=None if (it := value.get("reward")) is None else number(it),
            run=text(value["run"]),
            took_ms=number(value["took_ms"]),
            verdict=text(value["verdict"]),
        )


SamplesPrepared: TypeAlias = Literal[
    "words",
    "rows",
    "nothing",
]


class _SealBatchRequired(TypedDict):
    pass


class SealBatch(_SealBatchRequired, total=False):
    """`POST /v1/batches/{id}/seal`: no more requests will come."""

    #: Expected number of requests; the seal is refused if the batch has another number.
    final_count: int


@dataclass(frozen=True, slots=True)
class SolveRates:
    """
    `GET /v1/runs/{run}/solve-rates`: the solve rate of a prompt as columns, the oldest
    batch first.
    """

    #: Ids of the batches.
    batch: list[str]
    #: Whether earlier batches were not read.
    earlier: bool
    #: Name of the group.
    group: str
    #: Numbers of their iterations.
    iteration: list[int]
    #: Mean rewards.
    mean: list[float]
    #: The smallest reward that is a pass.
    pass_reward: float
    #: Number of those that passed; the solve rate is their part.
    passed: list[int]
    #: Number of samples of the group that have a reward.
    samples: list[int]

    @classmethod
    def from_json(cls, value: Any) -> SolveRates:
        value = record(value)
        return cls(
            batch=[text(item) for item in items(value["batch"])],
            earlier=flag(value["earlier"]),
            group=text(value["group"]),
            iteration=[integer(item) for item in items(value["iteration"])],
            mean=[number(item) for item in items(value["mean"])],
            pass_reward=number(value["pass_reward"]),
            passed=[integer(item) for item in items(value["passed"])],
            samples=[integer(item) for item in items(value["samples"])],
        )


@dataclass(frozen=True, slots=True)
class Span:
    """One stage of one request, with absolute times."""

    #: Number of attempts of the stage.
    attempts: int
    #: Time at which the stage ended.
    ended_at: str
    #: Name of the pool.
    pool: str
    #: Time at which the request was ready for the stage.
    queued_at: str
    #: Name of the stage.
    stage: str
    #: Time at which the stage started.
    started_at: str
    #: Timeout of the stage, in milliseconds.
    timeout_ms: int

    @classmethod
    def from_json(cls, value: Any) -> Span:
        value = record(value)
        return cls(
            attempts=integer(value["attempts"]),
            ended_at=text(value["ended_at"]),
            pool=text(value["pool"]),
            queued_at=text(value["queued_at"]),
            stage=text(value["stage"]),
            started_at=text(value["started_at"]),
            timeout_ms=integer(value["timeout_ms"]),
        )


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a plugin: `stage` of `assay:reward/types`."""

    memory_bytes_max: int
    name: str
    #: Pool on which the stage runs: `cpu`, `gpu`, or one of the operator's own.
    pool: str
    retries_max: int
    timeout_ms: int

    @classmethod
    def from_json(cls, value: Any) -> Stage:
        value = record(value)
        return cls(
            memory_bytes_max=integer(value["memory_bytes_max"]),
            name=text(value["name"]),
            pool=text(value["pool"]),
            retries_max=integer(value["retries_max"]),
            timeout_ms=integer(value["timeout_ms"]),
        )


@dataclass(frozen=True, slots=True)
class StageTime:
    """Times of one stage of one request."""

    #: Number of attempts of the stage.
    attempts: int
    #: Time from the moment the stage was ready to its grant to the worker that finished it,
    #: in milliseconds.
    queued_ms: float
    #: Run time of the attempt that finished, in milliseconds.
    ran_ms: float
    #: Name of the stage.
    stage: str

    @classmethod
    def from_json(cls, value: Any) -> StageTime:
        value = record(value)
        return cls(
            attempts=integer(value["attempts"]),
            queued_ms=number(value["queued_ms"]),
            ran_ms=number(value["ran_ms"]),
            stage=text(value["stage"]),
        )


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One server-sent event, by its fields."""

    #: Data of the event, as JSON text.
    data: str
    #: Name of the event.
    event: str
    #: Id of the event; a reconnecting client sends it as `Last-Event-ID` and gets the
    #: events after it.
    id: str | None = None

    @classmethod
    def from_json(cls, value: Any) -> StreamEvent:
        value = record(value)
        return cls(
            data=text(value["data"]),
            event=text(value["event"]),
            id=None if (it := value.get("id")) is None else text(it),
        )


class _SubmitItemRequired(TypedDict):
    key: str
    response: str


class SubmitItem(_SubmitItemRequired, total=False):
    """
    One request as a trainer submits it. Its `key` is unique in the batch, so that a
    repeated call changes nothing.
    """

    #: Time that the reward is expected to take once a worker has the request, all stages
    #: together, in milliseconds, up to a day; absent, it counts as long as requests of the
    #: run usually take. Where whole batches are waited for, the longest waiting request of
    #: a batch is served first.
    expected_ms: int
    #: Name of the item's group, such as its prompt's id; absent without one.
    group: str
    #: The data set's answer as any JSON value; the plugin gets its JSON text.
    label: Any
    #: Metadata for the plugin.
    metadata: Any
    #: The prompt.
    prompt: str


@dataclass(frozen=True, slots=True)
class SubmitReply:
    """The answer to a submission."""

    #: Number of items that were accepted.
    accepted: int
    #: The result of each item, in order.
    items: list[Submitted]
    #: Number of items that were rejected.
    rejected: int
    #: Number of items that are repeats of known ones.
    repeated: int

    @classmethod
    def from_json(cls, value: Any) -> SubmitReply:
        value = record(value)
        return cls(
            accepted=integer(value["accepted"]),
            items=[Submitted.from_json(item) for item in items(value["items"])],
            rejected=integer(value["rejected"]),
            repeated=integer(value["repeated"]),
        )


SubmitStatus: TypeAlias = Literal[
    "accepted",
    "repeated",
    "rejected",
]


@dataclass(frozen=True, slots=True)
class Submitted:
    """Result of one submitted item; the results have the order of the items."""

    #: Key of the item; empty if the item could not be parsed.
    key: str
    #: The result for this item.
    status: SubmitStatus | str
    #: Id of the request; absent if the item was rejected.
    id: str | None = None
    problem: ItemProblem | None = None

    @classmethod
    def from_json(cls, value: Any) -> Submitted:
        value = record(value)
        return cls(
            id=None if (it := value.get("id")) is None else text(it),
            key=text(value["key"]),
            problem=None if (it := value.get("problem")) is None else ItemProblem.from_json(it),
            status=text(value["status"]),
        )


__all__ = [
    "AnnounceBatch",
    "ArrivalCurve",
    "ArtifactSummary",
    "Batch",
    "BatchState",
    "CaseCounts",
    "Consumes",
    "Counts",
    "ErrorCode",
    "GoldenCase",
    "GoldenCaseList",
    "GoldenCaseState",
    "GroupRewards",
    "Histogram",
    "ItemProblem",
    "Iterations",
    "JoinBatch",
    "JoinBy",
    "Outcome",
    "OutcomeError",
    "OutcomeScored",
    "OutcomeTimedOut",
    "Plugin",
    "PluginList",
    "Problem",
    "Promotion",
    "Request",
    "RequestContext",
    "ResultItem",
    "ResultsPage",
    "Reward",
    "RewardRequest",
    "RunList",
    "RunSummary",
    "RunView",
    "Sample",
    "SampleList",
    "SampleSummary",
    "SamplesPrepared",
    "SealBatch",
    "SolveRates",
    "Span",
    "Stage",
    "StageTime",
    "StreamEvent",
    "SubmitItem",
    "SubmitReply",
    "SubmitStatus",
    "Submitted",
]
