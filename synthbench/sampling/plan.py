"""The plan: numbers of rows by bucket, decided before anything is drawn."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from fractions import Fraction

from synthbench.checks import check_name, whole_number
from synthbench.errors import ParameterError, UsageError
from synthbench.sampling.blocks import list_candidates
from synthbench.tasks.base import Split, Task
from synthbench.tasks.returned import capacity_of, weights_of
from synthbench.tasks.row_ids import share_of
from synthbench.text.lines import short

#: The largest bucket that is listed, to count its rows or to draw from them.
LISTABLE_ROWS = 1 << 22
#: How many times smaller the splits of each preset are than the paper's.
PRESETS = {"paper": 1, "small": 100}
_SMALLEST_PRESET_SPLIT = 100


def share_out(rows: int, limits: list[int | None], weights: tuple[float, ...]) -> list[int]:
    """Divide `rows` in proportion to `weights`. Rows beyond a limit go to the others.

    Args:
        rows: how many to divide.
        limits: the most that each may get, None for no limit.
        weights: positive numbers.

    Returns:
        The shares. Together `rows`, or less if all limits are reached. They are rounded by largest
        remainder, ties in favour of the first.
    """
    shares = [0] * len(limits)
    open_ones = list(range(len(limits)))
    left = rows
    while open_ones:
        total = sum(_exact(weights[index]) for index in open_ones)
        exact = {index: left * _exact(weights[index]) / total for index in open_ones}
        for index in open_ones:
            shares[index] = int(exact[index])
        by_remainder = sorted(open_ones, key=lambda index: shares[index] - exact[index])
        for index in by_remainder[: left - sum(shares[index] for index in open_ones)]:
            shares[index] += 1
        full = {
            index: limit
            for index in open_ones
            if (limit := limits[index]) is not None and shares[index] > limit
        }
        if not full:
            break
        # Those at their limit are done. The others divide the rest anew.
        for index, limit in full.items():
            shares[index] = limit
            left -= limit
        open_ones = [index for index in open_ones if index not in full]
    return shares


@dataclasses.dataclass(frozen=True)
class Plan:
    """Numbers of rows that each split takes from each of its buckets.

    Attributes:
        quotas: rows by split and bucket.
    """

    quotas: dict[str, dict[int, int]]

    def rows(self, split: str) -> int:
        """The number of rows of a split, 0 if it is left out."""
        return sum(self.quotas.get(split, {}).values())


def check_rows(task: Task, rows: Mapping[str, int] | None) -> dict[str, int]:
    """Validate rows by split as a user gives them; None becomes an empty dict.

    A split with 0 rows is left out of the dataset.

    Raises:
        UsageError: not a mapping, an unknown split, or a number that is not allowed.
    """
    if not isinstance(rows, Mapping | None):
        raise UsageError(f"Rows {short(rows)}: expected rows by split, such as {{'train': 1000}}.")
    checked = {}
    for name, count in (rows or {}).items():
        task.split(name)
        if (number := whole_number(count)) is None or number < 0:
            raise UsageError(f"Rows {name}={short(count)}: allowed are whole numbers from 0.")
        checked[name] = number
    return checked


def plan_rows(task: Task, preset: str, rows: Mapping[str, int] | None) -> Plan:
    """Numbers of rows that `generate` makes of each split and bucket of a variant.

    Raises:
        UsageError: a split that does not exist, or a number that is not allowed.
        ParameterError: more rows than exist.
    """
    wanted = check_rows(task, rows)
    check_name("preset", preset, PRESETS)
    sizes = {
        split.name: wanted[split.name]
        if split.name in wanted
        else _usual_rows(task, split, PRESETS[preset])
        for split in task.splits
    }
    if not any(sizes.values()):
        raise UsageError(f"Rows of {task.name}: every split has 0 rows. Keep at least one split.")
    return make_plan(task, sizes)


def _usual_rows(task: Task, split: Split, times_smaller: int) -> int:
    """The rows of a split in a preset, fewer if fewer exist."""
    least = min(split.rows, _SMALLEST_PRESET_SPLIT)
    usual = max(split.rows // times_smaller, least)
    return sum(divide(task, split, usual).values()) or usual


def make_plan(task: Task, rows: Mapping[str, int], at_most: bool = False) -> Plan:
    """Divide every split's rows over its buckets. What one bucket lacks goes to the others.

    Args:
        task: the task.
        rows: rows of each split. With 0 it is left out of the plan.
        at_most: plan fewer rows if fewer exist, instead of raising.

    Raises:
        ParameterError: a split asks for more rows than exist.
    """
    quotas = {}
    for split in task.splits:
        if not (wanted := rows[split.name]):
            continue
        quotas[split.name] = divide(task, split, wanted)
        there = sum(quotas[split.name].values())
        if not there or (there < wanted and not at_most):
            raise ParameterError(_too_many(task, split, wanted, quotas[split.name]))
    return Plan(quotas)


def divide(task: Task, split: Split, rows: int) -> dict[int, int]:
    """Numbers of rows of a split by bucket. Together `rows`, or all that exist."""
    weights = weights_of(task, split)
    limits: list[int | None] = [None] * len(split.buckets)
    while True:
        shares = share_out(rows, limits, weights)
        # Counting takes time, so a bucket is counted only when it may have too few rows.
        counted = [
            rows_there(task, split, bucket, share) if limit is None else limit
            for bucket, share, limit in zip(split.buckets, shares, limits, strict=True)
        ]
        if counted == limits:
            return dict(zip(split.buckets, shares, strict=True))
        limits = counted


def rows_there(task: Task, split: Split, bucket: int, wanted: int) -> int | None:
    """Number of rows of a bucket that a split may have. None if surely enough, or unknown.

    The rows of a bucket that is small enough to be listed are counted. For a larger one this is the
    expected number.
    """
    expected = expected_rows(task, split, bucket)
    # The number of rows that are held out is about Poisson distributed.
    if expected is None or 2 * wanted + 32 <= expected:
        return None
    listable = (capacity_of(task, split, bucket) or 0) <= LISTABLE_ROWS
    return _count(task, split, bucket) if listable else expected


def expected_rows(task: Task, split: Split, bucket: int) -> int | None:
    """About how many rows of a bucket a split may have; None if they cannot be counted."""
    everything = capacity_of(task, split, bucket)
    return None if everything is None else int(everything * _exact(share_of(task, split, bucket)))


@functools.lru_cache(maxsize=1024)
def _count(task: Task, split: Split, bucket: int) -> int:
    (listed,) = list_candidates(task, {}, split, bucket)
    return len(listed.fingerprints)


@functools.cache
def _exact(share: float) -> Fraction:
    """The decimal fraction that a float stands for: 0.65 is 13/20, which leaves exactly 7/20."""
    return Fraction(share).limit_denominator(10**6)


def most_blocks(task: Task, plan: Plan) -> int:
    """An upper bound on the blocks that can be made at once, from the plan's largest split.

    Every bucket has its own blocks. How many candidates become rows is known only when they are
    drawn. We assume that at least one in 16 candidates that the split may have becomes a row.
    """

    def blocks(split: Split, bucket: int, rows: int) -> int:
        allowed = int(task.block_rows * share_of(task, split, bucket))
        return -(-rows // max(1, allowed // 16))

    return max(
        sum(blocks(task.split(name), bucket, rows) for bucket, rows in quotas.items())
        for name, quotas in plan.quotas.items()
    )


def _too_many(task: Task, split: Split, rows: int, there: Mapping[int, int]) -> str:
    which = "are held out" if split.evaluation else "are not held out"
    exist = sum(there.values())
    request = f"Split {split.name} of {task.name}: {rows:,} rows asked for, but "
    if not exist:
        return f"{request}none exist that {which}."
    text = f"{request}only {exist:,} exist that {which}"
    if len(there) > 1:
        each = (f"{task.bucket_name} {task.bucket_label(b)}: {n:,}" for b, n in there.items())
        text += f" ({', '.join(each)})"
    return f"{text}. Allowed are 1 to {exist:,}."
