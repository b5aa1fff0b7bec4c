"""How many rows come from which bucket, settled before anything is drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

from synthbench.errors import ParameterError, UsageError
from synthbench.tasks.base import Split, Task


def share_out(rows: int, limits: list[int | None], weights: tuple[float, ...]) -> list[int]:
    """Divide `rows` in proportion to `weights`; what a limit cuts off goes to the others.

    Args:
        rows: how many to divide.
        limits: the most each may get, None where there is no limit.
        weights: positive shares.

    Returns:
        One number for each; together `rows`, or less where all limits are reached. What does not
        divide evenly goes to the largest remainders, of equal ones to the first.
    """
    shares = [0] * len(limits)
    open_ones = list(range(len(limits)))
    left = rows
    while open_ones:
        total = sum(_exact(weights[index]) for index in open_ones)
        exact = {index: left * _exact(weights[index]) / total for index in open_ones}
        for index in open_ones:
            shares[index] = int(exact[index])
        by_remainder = sorted(open_ones, key=lambda one: shares[one] - exact[one])
        for index in by_remainder[: left - sum(shares[index] for index in open_ones)]:
            shares[index] += 1
        full = {
            index: limit
            for index in open_ones
            if (limit := limits[index]) is not None and shares[index] > limit
        }
        if not full:
            break
        # Those that are cut off are settled; the others divide the rest anew.
        for index, limit in full.items():
            shares[index] = limit
            left -= limit
        open_ones = [index for index in open_ones if index not in full]
    return shares


@dataclasses.dataclass(frozen=True)
class Plan:
    """How many rows each split takes from each of its buckets.

    Attributes:
        quotas: rows by split and bucket, splits in the order in which they are drawn.
    """

    quotas: dict[str, dict[int, int]]

    def rows(self, split: str) -> int:
        """How many rows a split has in all."""
        return sum(self.quotas[split].values())


def check_rows(task: Task, rows: Mapping[str, int] | None) -> dict[str, int]:
    """Rows by split as a user gives them, none for None.

    Raises:
        UsageError: no mapping, a split that the task has not, or a number that is not allowed.
    """
    if not isinstance(rows, Mapping | None):
        raise UsageError(f"Rows {rows!r}: expected rows by split, such as {{'train': 1000}}.")
    for name, count in (rows or {}).items():
        task.split(name)
        if type(count) is not int or count < 1:
            raise UsageError(f"Rows {name}={count!r}: allowed are whole numbers from 1.")
    return dict(rows or {})


def make_plan(task: Task, rows: Mapping[str, int], at_most: bool = False) -> Plan:
    """Divide every split's rows over its buckets, evaluation splits first.

    A bucket whose rows can be counted gives an evaluation split at most its share of them where
    train wants some too, and train what is left. What it cannot fill goes to the other buckets.

    Args:
        task: the task.
        rows: rows of each split, at least 1.
        at_most: take fewer rows where fewer exist, instead of refusing.

    Raises:
        ParameterError: a split asks for more rows than exist.
    """
    drawn = drawing_order(task)
    wanted_by_train = {b for split in drawn if not split.evaluation for b in split.buckets}
    left: dict[int, int | None] = {}
    quotas: dict[str, dict[int, int]] = {}
    for split in drawn:
        limits: list[int | None] = []
        for bucket in split.buckets:
            capacity = task.capacity(split, bucket)
            remaining = left.setdefault(bucket, capacity)
            shared = split.evaluation and bucket in wanted_by_train
            if shared and remaining is not None and capacity is not None:
                remaining = min(remaining, _part(capacity, split.share))
            limits.append(remaining)
        shares = share_out(rows[split.name], limits, task.bucket_weights(split))
        there = sum(shares)
        if there < rows[split.name] and not (at_most and there > 0):
            raise ParameterError(_too_many(task, split, rows[split.name], limits))
        quotas[split.name] = dict(zip(split.buckets, shares, strict=True))
        for bucket, share in quotas[split.name].items():
            if (remaining := left[bucket]) is not None:
                left[bucket] = remaining - share
    return Plan(quotas)


def _part(count: int, share: float) -> int:
    """A share of a number that may be far beyond what a float can hold."""
    return int(count * _exact(share))


def _exact(share: float) -> Fraction:
    """The decimal fraction that was meant: 0.65 is 13/20, and 0.35 the rest of it."""
    return Fraction(share).limit_denominator(10**6)


#: How many candidates are tried for a row, at a guess, where blocks are counted beforehand.
_CANDIDATES_A_ROW = 16


def most_blocks(task: Task, plan: Plan) -> int:
    """How many blocks can be made at once: those of the plan's split that has the most.

    Every bucket has blocks of its own. How many candidates become rows shows only when they are
    drawn, so their number is a guess, and rather too large.
    """
    per_block = max(1, task.block_rows // _CANDIDATES_A_ROW)
    return max(
        sum(-(-rows // per_block) for rows in quotas.values()) for quotas in plan.quotas.values()
    )


def drawing_order(task: Task) -> list[Split]:
    """The splits in the order in which they are drawn: evaluation before train."""
    return sorted(task.splits, key=lambda split: not split.evaluation)


def _too_many(task: Task, split: Split, rows: int, limits: list[int | None]) -> str:
    exist = sum(limit or 0 for limit in limits)
    if not exist:
        return f"Split {split.name} of {task.name}: no rows are left for it; {rows:,} asked for."
    text = f"Split {split.name} of {task.name}: {rows:,} rows asked for, but only {exist:,} exist"
    if len(split.buckets) > 1:
        each = (
            f"{task.bucket_name} {task.bucket_label(bucket)}: {limit:,}"
            for bucket, limit in zip(split.buckets, limits, strict=True)
        )
        text += f" that are not in another split ({', '.join(each)})"
    return f"{text}. Allowed are 1 to {exist:,}."
