"""The conformance suite: what every task must do, checked on one task."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from synthbench.engine.error_origin import where_raised
from synthbench.errors import MissingSourceError
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.registry import make_task, task_class
from synthbench.text.lines import one_line
from synthbench.verification.conformance import datasets, draws, rows
from synthbench.verification.conformance.datasets import SmallDataset
from synthbench.verification.conformance.rows import Problems

#: How many rows per bucket, and how many buckets per split, are checked.
_ROWS, _BUCKETS = 20, 12


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        variant: the variant that was checked.
        statement: what a task should do, such as "Same rows when made twice".
        problems: what is wrong, in sentences; empty if the statement holds.
    """

    variant: str
    statement: str
    problems: list[str]


def check_task(name: str, variant: str | None = None) -> Iterator[Finding]:
    """Check a task of this or another package, as `synthbench check` does.

    Args:
        name: the task's name. It is checked with its default parameters, on small datasets in a
            temporary directory.
        variant: the variant to check; default: all of them.

    Returns:
        The results, one after another. Checks of datasets are skipped if an earlier check fails.

    Raises:
        UsageError: no task or variant has this name, or the task's class cannot be registered.
        SynthbenchError: the task is in another package that cannot be loaded.
        MissingSourceError: the task's source images are missing; raised when they are needed.

    Example:
        >>> from synthbench.verification.conformance.check import check_task
        >>> all(not finding.problems for finding in check_task("parity"))
        True
    """
    variants = task_class(name).variants if variant is None else [variant]
    tasks = [make_task(name, one) for one in variants]
    return itertools.chain.from_iterable(map(_check_variant, tasks))


def _check_variant(task: Task) -> Iterator[Finding]:
    sound = True
    for statement, check in [*_of_the_task(task), *_of_rows(task)]:
        finding = _ask(task, statement, check)
        sound &= not finding.problems
        yield finding
    if sound:
        yield from _check_datasets(task)
    else:
        skipped = "Not tried: fix the problems above first."
        yield Finding(task.variant, "A small dataset can be made and verified", [skipped])


def _of_the_task(task: Task) -> Iterator[tuple[str, Callable[[], Problems]]]:
    """The checks of the task itself."""
    splits = task.splits
    ends = [(split, bucket) for split in splits for bucket in {split.buckets[0], split.buckets[-1]}]

    def of_ends(check: Callable[[Task, Split, int], Problems]) -> Callable[[], Problems]:
        return lambda: _distinct(check(task, *end) for end in ends)

    def columns(task: Task, split: Split, bucket: int) -> Problems:
        block, _ = draws.propose_rows(task, split, bucket, _ROWS)
        return rows.check_columns(task, block)

    yield "Says what it is, with well-formed splits", lambda: draws.check_names(task)
    yield "Can be sent to worker processes", lambda: draws.check_pickling(task)
    yield "Columns are as declared", of_ends(columns)
    yield "Refuses impossible parameters", lambda: draws.check_parameters(task)
    yield "Uses no global random state", of_ends(draws.check_global_state)
    yield "Same block from the same draws", of_ends(draws.check_repeatable)
    yield (
        "Blocks of a split have one form",
        lambda: _distinct(draws.check_blocks(task, split) for split in splits),
    )


def _of_rows(task: Task) -> Iterator[tuple[str, Callable[[], Problems]]]:
    """The checks of a few rows from some buckets of every split."""
    buckets = [(split, bucket) for split in task.splits for bucket in _spread(split.buckets)]

    @functools.cache
    def proposed() -> list[tuple[Split, int, Block, int]]:
        return [
            (split, bucket, *draws.propose_rows(task, split, bucket, _ROWS))
            for split, bucket in buckets
        ]

    @functools.cache
    def listed() -> list[tuple[Split, int, Block]]:
        every = ((*one, draws.enumerated_rows(task, *one)) for one in buckets)
        return [(split, bucket, block) for split, bucket, block in every if block is not None]

    def some() -> Iterator[tuple[int, Block]]:
        """Rows that were proposed, and a few of those that are listed."""
        yield from ((bucket, block) for _, bucket, block, _ in proposed() if len(block))
        yield from ((bucket, block.take(slice(0, _ROWS))) for _, bucket, block in listed())

    def starved() -> Problems:
        return _distinct(
            draws.starved(task, split, bucket, tried)
            for split, bucket, block, tried in proposed()
            if not len(block)
        )

    def in_buckets() -> Problems:
        return _distinct(rows.check_buckets(task, block, bucket) for bucket, block in some())

    def enumerated() -> Problems:
        return _distinct(draws.check_enumerated(task, *one) for one in listed())

    def each(check: Callable[[Task, Block], Problems]) -> Callable[[], Problems]:
        return lambda: _distinct(check(task, block) for _, block in some())

    yield "Every bucket gets rows", starved
    yield "Rows do not depend on their neighbours", each(rows.check_parts)
    yield "Rows are in the bucket they were proposed for", in_buckets
    yield "Listed rows are those that are proposed", enumerated
    yield "Rows read from a file keep their ids", each(rows.check_ids)
    yield "solve gives every label and column", each(rows.check_solver)
    yield "solve refuses other texts with a ValueError", each(rows.check_refusals)
    yield "The right answer scores best, a wrong one does not", each(rows.check_answers)
    yield "Rows can be shown to people", each(rows.check_drawing)


def _check_datasets(task: Task) -> Iterator[Finding]:
    """The checks of a small dataset; if it cannot be made, the rest is skipped."""
    with tempfile.TemporaryDirectory(prefix="synthbench-check-") as place:
        made: list[SmallDataset] = []

        def make() -> Problems:
            made.append(SmallDataset.make(task, Path(place)))
            return []

        first = _ask(task, "A small dataset can be made", make)
        yield first
        if first.problems:
            return
        for statement, check in (
            ("Every bucket fills", datasets.check_full),
            ("No row comes twice", datasets.check_distinct),
            ("Same rows when made twice", datasets.check_again),
            ("Same rows from another process", datasets.check_elsewhere),
            ("Same rows with two workers", datasets.check_two_workers),
            ("synthbench verify finds nothing wrong", datasets.check_verified),
        ):
            yield _ask(task, statement, functools.partial(check, made[0]))


def _ask(task: Task, statement: str, check: Callable[[], Problems]) -> Finding:
    """The result of a check; an exception in the task's code is a problem, too."""
    try:
        with draws.restored_state():
            problems = check()
    except MissingSourceError:  # says nothing about the task
        raise
    except Exception as error:
        where = where_raised(error)
        place = "" if where is None else f", raised in {where}"
        problems = [one_line(f"{type(error).__name__}: {error}") + place]
    return Finding(task.variant, statement, problems)


def _spread(buckets: tuple[int, ...]) -> list[int]:
    """At most `_BUCKETS` of the buckets, including the first and the last."""
    count = min(len(buckets), _BUCKETS)
    return [buckets[index * (len(buckets) - 1) // max(1, count - 1)] for index in range(count)]


def _distinct(problems: Iterator[Problems]) -> Problems:
    """All problems, each once, in order."""
    return list(dict.fromkeys(itertools.chain.from_iterable(problems)))
