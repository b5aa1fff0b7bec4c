"""A few rows of a split, without drawing the rest."""

from __future__ import annotations

import collections
import heapq
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from synthbench.engine.engine import Engine
from synthbench.errors import ExhaustedError
from synthbench.sampling.blocks import KeyedRows
from synthbench.sampling.splits import BucketStream
from synthbench.tasks.base import Split, Task


def first_rows(task: Task, split: Split, quotas: Mapping[int, int], count: int) -> KeyedRows:
    """Some rows of a split: from each bucket the first that a dataset accepts.

    The buckets take turns in the split's balance, so that fewer rows are the first rows of more.
    All are rows of the dataset that has these quotas, in another order.

    Args:
        task: the task.
        split: the split.
        quotas: rows of the whole split by bucket.
        count: how many rows. There are fewer if the whole split has fewer.

    Raises:
        ExhaustedError: no row was found.
    """
    total = sum(quotas.values())
    there, exhausted, drawn = dict(quotas), dict[int, int](), dict[int, list[KeyedRows]]()
    while True:
        turns = _turns(task, split, there, min(count, total))
        wanted = collections.Counter(turns)
        for bucket in wanted.keys() - drawn.keys():
            drawn[bucket] = _first_of(task, split, bucket, wanted[bucket])
        got = {bucket: sum(map(len, drawn[bucket])) for bucket in wanted}
        lacking = {bucket: rows for bucket, rows in got.items() if rows < wanted[bucket]}
        if not lacking:
            break
        # These are exhausted earlier than planned. The others take their turns.
        exhausted |= lacking
        there = {bucket: exhausted.get(bucket, total) for bucket in quotas}
        drawn = {bucket: drawn[bucket] for bucket in exhausted}
    if not turns:
        raise ExhaustedError(f"Split {split.name} of {task.name}: no row was found.")
    rows = KeyedRows.concatenate([part for bucket in wanted for part in drawn[bucket]])
    ends = np.cumsum([got[bucket] for bucket in wanted])
    following = dict(zip(wanted, ends - list(got.values()), strict=True))
    order = []
    for bucket in turns:
        order.append(following[bucket])
        following[bucket] += 1
    return rows.take(np.array(order))


def _turns(task: Task, split: Split, there: Mapping[int, int], count: int) -> list[int]:
    """The bucket of each row: always the bucket furthest behind its share."""
    weights = map(Fraction, task.bucket_weights(split))
    waiting = [
        (1 / weight, index, bucket, 1 / weight)
        for index, (bucket, weight) in enumerate(zip(split.buckets, weights, strict=True))
        if there.get(bucket, 0)
    ]
    heapq.heapify(waiting)
    taken: collections.Counter[int] = collections.Counter()
    turns: list[int] = []
    while waiting and len(turns) < count:
        due, index, bucket, step = heapq.heappop(waiting)
        turns.append(bucket)
        taken[bucket] += 1
        if taken[bucket] < there[bucket]:
            heapq.heappush(waiting, (due + step, index, bucket, step))
    return turns


def _first_of(task: Task, split: Split, bucket: int, count: int) -> list[KeyedRows]:
    """The first rows of a bucket, fewer if it is exhausted, by the blocks that they come from."""
    coordinates = {**task.stream, "split": split.name}
    stream = BucketStream(task, split, bucket, coordinates, count, Engine(None, 1))
    parts = []
    for call, index, picks in stream.take(count, count):
        drawn = call.result()[index]
        of_bucket = np.full(len(picks), bucket, np.int64)
        parts.append(KeyedRows(drawn.block.take(picks), drawn.fingerprints[picks], of_bucket))
    return parts
