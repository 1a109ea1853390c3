"""The results of a batch, in the order in which it was submitted. Pure: nothing here waits or calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan
from typing import TYPE_CHECKING, Literal, overload

from assay import _models as models
from assay.errors import BatchErrors, Failure

if TYPE_CHECKING:
    from assay._batch import BatchCore


def reward_of(outcome: models.Outcome) -> float | None:
    """The reward of an outcome; None where there is none. A timeout has that of the plugin's policy."""
    return None if isinstance(outcome, models.OutcomeError) else outcome.reward


class Results(Sequence["models.ResultItem | Failure"]):
    """Results in the order of their submits; a request without any stands there as a `Failure`."""

    def __init__(self, items: Sequence[models.ResultItem | Failure], failures: Sequence[Failure]) -> None:
        self._items = list(items)
        #: Why requests have no reward, in the same order.
        self.failures = list(failures)

    @classmethod
    def of(cls, batch: BatchCore, keys: Sequence[str]) -> Results:
        failures = {key: failure for key in keys if (failure := batch.failure_of(key))}
        return cls([batch.results.get(key) or failures[key] for key in keys], list(failures.values()))

    @overload
    def rewards(self, on_error: Literal["raise"] = "raise") -> list[float]: ...

    @overload
    def rewards(self, on_error: Literal["mask"]) -> tuple[list[float], list[bool]]: ...

    def rewards(
        self, on_error: Literal["raise", "mask"] = "raise"
    ) -> list[float] | tuple[list[float], list[bool]]:
        """A reward for each request, in the order of their submits.

        Raises `BatchErrors` when a request has none. With `on_error="mask"` those are NaN instead, and
        a second list says which rewards are real: a failure of ours never looks like a reward.
        """
        if on_error == "raise" and self.failures:
            raise BatchErrors(self.failures, len(self._items))
        if on_error not in ("raise", "mask"):
            raise ValueError('on_error is "raise" or "mask"')
        given = [None if isinstance(item, Failure) else reward_of(item.outcome) for item in self._items]
        rewards = [nan if reward is None else reward for reward in given]
        return rewards if on_error == "raise" else (rewards, [reward is not None for reward in given])

    @overload
    def __getitem__(self, at: int) -> models.ResultItem | Failure: ...

    @overload
    def __getitem__(self, at: slice) -> list[models.ResultItem | Failure]: ...

    def __getitem__(
        self, at: int | slice
    ) -> models.ResultItem | Failure | list[models.ResultItem | Failure]:
        return self._items[at]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} requests, {len(self.failures)} without a reward>"


class Group(Results):
    """All results of one prompt."""

    def __init__(
        self,
        name: str,
        items: Sequence[models.ResultItem | Failure],
        failures: Sequence[Failure],
    ) -> None:
        super().__init__(items, failures)
        self.name = name


class Grouping:
    """Finds the groups that became complete, as results come in.

    A group is complete with as many results as the batch's group size, or else, once the batch is
    sealed, with a result for each of its requests.
    """

    def __init__(self, batch: BatchCore) -> None:
        self._batch = batch
        self._read = 0
        self._counts: dict[str, int] = {}
        self._told: set[str] = set()
        #: The groups to look at next, in order.
        self._due: dict[str, None] = {}
        self._sealed = self._over = False

    def complete(self) -> Iterator[Group]:
        batch = self._batch
        new = batch.order[self._read :]
        self._read += len(new)
        for item in new:
            if item.group is not None:
                self._counts[item.group] = self._counts.get(item.group, 0) + 1
                self._due[item.group] = None
        if (batch.sealed, batch.over) != (self._sealed, self._over):
            self._sealed, self._over = batch.sealed, batch.over
            # A copy: other threads may be submitting.
            self._due.update(dict.fromkeys(list(batch.groups)))
        size = batch.call.get("group_size")
        for name in list(self._due):
            del self._due[name]
            keys = batch.groups.get(name, [])
            if name in self._told:
                continue
            have = self._counts.get(name, 0)
            # A batch that others began has results of requests that are not submitted here yet.
            enough = min(have, len(keys)) >= size if size else batch.sealed and have >= len(keys)
            full = enough and all(key in batch.results for key in keys)
            if keys and (full or batch.over):
                self._told.add(name)
                whole = Results.of(batch, list(keys))
                yield Group(name, whole[:], whole.failures)
            elif size and have >= size:
                self._due[name] = None

    @property
    def ended(self) -> bool:
        """Whether `complete` has given the last group.

        A batch that became over while `complete` was suspended has groups that only its next call finds.
        """
        return self._over and self._read >= len(self._batch.order)

    def has_news(self) -> bool:
        return len(self._batch.order) > self._read
