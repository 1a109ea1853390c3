"""Groups of a batch that ends while one of them is being read. No server: the test writes the results."""

from __future__ import annotations

import asyncio

import pytest

import assay
from assay._batch import BatchCore
from assay.batch import AsyncBatch, Batch


@pytest.fixture
def two_groups(core: BatchCore) -> BatchCore:
    """Sealed, with all of its results, but not over yet: a group of one, then a whole group of two."""
    core.call["group_size"] = 2
    core.groups = {"small": ["a"], "whole": ["b", "c"]}
    for at, (key, group) in enumerate([("a", "small"), ("b", "whole"), ("c", "whole")], start=1):
        item = assay.ResultItem(at, key, key, assay.OutcomeScored(float(at), "right"), [], group)
        core.keys[key], core.results[key] = None, item
        core.order.append(item)
    core.sealed = True
    return core


def test_no_group_is_lost_where_the_batch_ends_meanwhile(two_groups: BatchCore) -> None:
    groups = {}
    for group in Batch(two_groups).groups(timeout=60):
        groups[group.name] = group.rewards()
        two_groups.over = True
    assert groups == {"whole": [2.0, 3.0], "small": [1.0]}


def test_nor_where_it_is_awaited(two_groups: BatchCore) -> None:
    async def work() -> dict[str, list[float]]:
        groups = {}
        async for group in AsyncBatch(two_groups).groups(timeout=60):
            groups[group.name] = group.rewards()
            two_groups.over = True
        return groups

    assert asyncio.run(work()) == {"whole": [2.0, 3.0], "small": [1.0]}
