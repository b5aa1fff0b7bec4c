"""The conformance suite: what every task must do, checked on one task."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path

from synthbench.errors import MissingSourceError, unknown_name
from synthbench.tasks import registry
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.images.source_dirs import use_source_dir
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.verification.conformance import answers, datasets, draws, rows
from synthbench.verification.conformance.card import check_card
from synthbench.verification.conformance.datasets import SmallDataset
from synthbench.verification.conformance.isolated import Step, Stopped, in_words, run_isolated
from synthbench.verification.conformance.levels import check_levels
from synthbench.verification.conformance.rows import Problems
from synthbench.verification.global_state import restored_state

#: How many rows per bucket, and how many buckets per split, are checked.
_ROWS, _BUCKETS = 20, 12


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        variant: the variant that was checked.
        statement: a requirement for tasks, such as "Same rows when made twice".
        problems: faults, in sentences. Empty if the statement holds.
    """

    variant: str
    statement: str
    problems: list[str]


#: The most seconds that a check may take.
SECONDS = 120.0
#: How many checks a variant gets that passes all of them.
CHECKS = 27
#: How many problems of one check are shown. More mostly have the same cause.
_TOLD = 2


def check_task(task: str | Task, seconds: float = SECONDS) -> Iterator[CheckResult]:
    """Check a task of this or another package, as `synthbench check-task` does.

    The checks run in a process of their own, because a task may end its process or never return.

    Args:
        task: the task, or its name for all of its variants with the default parameters. It is
            checked at every level, too, on small datasets in a temporary directory.
        seconds: the most seconds that one check may take.

    Returns:
        The results, one after another. A check that cannot be done, or that raises, is the last of
        its variant, and the first variant with a problem is the last that is checked.

    Raises:
        UsageError: no task has this name, or the task's class cannot be registered.
        SynthbenchError: the task is in another package that cannot be loaded.
        MissingSourceError: the task's source images are missing. Raised when they are needed.

    Example:
        >>> from synthbench.verification.conformance.check import check_task
        >>> all(not finding.problems for finding in check_task("parity"))
        True
    """
    if not isinstance(task, Task) and task not in list_tasks():
        raise unknown_name("task", task, list_tasks())
    return _findings(task, seconds)


def _findings(task: str | Task, seconds: float) -> Iterator[CheckResult]:
    for result in run_isolated(_run, task, seconds):
        if isinstance(result, CheckResult):
            yield result
        elif isinstance(result, Stopped):
            yield CheckResult(result.step.variant, result.step.statement, [result.problem])


def _run(task: str | Task) -> Iterator[Step | CheckResult]:
    """The checks of a task: before each of them, which it is, and then what was found."""
    yield Step(task.variant if isinstance(task, Task) else "", "Can be made")
    variants = [task.variant] if isinstance(task, Task) else list(task_class(task).variants)
    for number, variant in enumerate(variants):
        sound = True
        variant_task = task if isinstance(task, Task) else registry.task(task, variant)
        for step in _check_variant(variant_task):
            sound &= not (isinstance(step, CheckResult) and step.problems)
            yield step
        if not sound:
            if left := variants[number + 1 :]:
                untried = f"Not tried: {', '.join(left)}. Fix the problems above first."
                yield CheckResult(variant, "Other variants", [untried])
            return


def _check_variant(task: Task) -> Iterator[Step | CheckResult]:
    sources = task.source_dirs if isinstance(task, ImageTask) else None
    with (
        tempfile.TemporaryDirectory(prefix="synthbench-check-") as directory,
        use_source_dir(sources),
    ):
        sound = yield from _ask_each(task, [*_of_the_task(task), *_of_rows(task)])
        if sound:
            yield from _ask_each(task, _of_datasets(task, Path(directory)))
        else:
            skipped = "Not tried: fix the problems above first."
            yield CheckResult(task.variant, "A small dataset can be made and verified", [skipped])


def _ask_each(
    task: Task, checks: Iterable[tuple[str, Callable[[], Problems]]]
) -> Generator[Step | CheckResult, None, bool]:
    """Do checks, up to the first that raises an error. Returns whether all of them hold."""
    sound = True
    for statement, check in checks:
        yield Step(task.variant, statement)
        try:
            with restored_state():
                problems = check()
        except MissingSourceError:  # says nothing about the task
            raise
        except (Exception, SystemExit) as error:  # later checks would say the same
            yield CheckResult(task.variant, statement, [in_words(error)])
            return False
        if len(problems) > _TOLD:
            problems = [*problems[:_TOLD], f"... and {len(problems) - _TOLD} more like these."]
        yield CheckResult(task.variant, statement, problems)
        sound &= not problems
    return sound


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
        every = ((*pair, draws.enumerated_rows(task, *pair)) for pair in buckets)
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
        return _distinct(draws.check_enumerated(task, *listing) for listing in listed())

    def each(check: Callable[[Task, Block], Problems]) -> Callable[[], Problems]:
        return lambda: _distinct(check(task, block) for _, block in some())

    def questions() -> list[object]:
        return [row[task.inputs[0]] for _, block in some() for row in rows.plain_rows(task, block)]

    yield "Every bucket gets rows", starved
    yield "Rows do not depend on their neighbours", each(rows.check_parts)
    yield "Rows are in the bucket they were proposed for", in_buckets
    yield "Listed rows are those that are proposed", enumerated
    yield "Rows read from a file keep their ids", each(rows.check_ids)
    yield "solve gives every label and column", each(rows.check_solver)
    yield "solve refuses other texts with a ValueError", each(rows.check_refusals)
    yield "The right answer scores best, a wrong answer does not", each(rows.check_answers)
    yield "Its check takes right answers alone, and any text at all", each(answers.check_checker)
    yield "Rows can be shown to people", each(rows.check_drawing)
    yield "Worked solutions lead to the label", each(rows.check_worked)
    yield "Its card and summary are its own", lambda: check_card(task, questions())


def _of_datasets(task: Task, directory: Path) -> Iterator[tuple[str, Callable[[], Problems]]]:
    """The checks of small datasets."""

    @functools.cache
    def dataset() -> SmallDataset:
        return SmallDataset.make(task, directory)

    def make() -> Problems:
        dataset()
        return []

    yield "A small dataset can be made", make
    for statement, check in (
        ("Every bucket fills", datasets.check_full),
        ("No row comes twice", datasets.check_distinct),
        ("Same rows when made twice", datasets.check_again),
        ("Same rows from another process", datasets.check_elsewhere),
        ("Same rows with two workers", datasets.check_two_workers),
        ("synthbench verify finds nothing wrong", datasets.check_verified),
    ):
        yield statement, lambda check=check: check(dataset())  # type: ignore[misc]
    yield "Every level has rows and a stream", lambda: check_levels(task, directory)


def _spread(buckets: tuple[int, ...]) -> list[int]:
    """At most `_BUCKETS` of the buckets, including the first and the last."""
    count = min(len(buckets), _BUCKETS)
    return [buckets[index * (len(buckets) - 1) // max(1, count - 1)] for index in range(count)]


def _distinct(problems: Iterator[Problems]) -> Problems:
    """All problems, each once, in order."""
    return list(dict.fromkeys(itertools.chain.from_iterable(problems)))
