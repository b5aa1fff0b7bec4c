"""The reference solver against rows: what follows from a row's inputs is derived again."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from synthbench.dataset.parquet import read_batches
from synthbench.engine.engine import Engine
from synthbench.tasks.base import Task
from synthbench.text.lines import one_line, short
from synthbench.verification.files import RowGroup, SplitFiles

A = TypeVar("A", bound=tuple[object, ...])
R = TypeVar("R")
#: Rows that are held as Python values at a time.
_BATCH_ROWS = 1_024


def derived_columns(task: Task) -> list[str]:
    """The columns that `Task.recompute_columns` gives."""
    return [name for name in task.plain_columns if name not in task.inputs]


def first_wrong_row(task: Task, rows: pa.Table) -> tuple[int, str] | None:
    """The first row that the reference solver refutes, and why; None if all are right."""
    names, first = derived_columns(task), 0
    for batch in rows.to_batches(_BATCH_ROWS) if names else ():
        questions = batch.select(list(task.inputs)).to_pylist()
        stored = batch.select(names).to_pylist()
        for index, (question, there) in enumerate(zip(questions, stored, strict=True), first):
            try:
                derived = task.recompute_columns(question)
            except Exception as error:  # a solver may raise anything on what is not a row
                reason = f"{type(error).__name__}: {error}".partition("\n")[0]
                return index, one_line(f"the reference solver fails: {reason}")
            if derived != there:
                wrong = [
                    f"{name} is {short(there[name])}, the reference solver gives "
                    f"{short(derived.get(name))}"
                    for name in names
                    if there[name] != derived.get(name)
                ]
                if wrong:
                    return index, "; ".join(wrong)
        first += batch.num_rows
    return None


def solve_rows(
    files: SplitFiles, engine: Engine, advance: Callable[[int], object]
) -> Iterator[str]:
    """Solve the rows in a split's files; yields the first row that the solver refutes, if any."""
    calls = ((files.task, files.directory, group) for group in files.groups)
    for (_, _, group), wrong in in_order(engine, _first_wrong_of_group, calls):
        if wrong is not None:
            yield f"{files.place(group.start + wrong[0])}: {wrong[1]}"
            return
        advance(group.rows)


def _first_wrong_of_group(task: Task, directory: Path, group: RowGroup) -> tuple[int, str] | None:
    batches = read_batches(directory / group.file, groups=[group.number])
    return first_wrong_row(task, pa.Table.from_batches(batches))


def in_order(
    engine: Engine, function: Callable[..., R], calls: Iterable[A]
) -> Iterator[tuple[A, R]]:
    """The arguments and the result of each call, in order; a few are asked for ahead."""
    ahead: collections.deque[tuple[A, Any]] = collections.deque()
    for arguments in calls:
        ahead.append((arguments, engine.submit(function, *arguments)))
        if len(ahead) > engine.ahead:
            arguments, asked = ahead.popleft()
            yield arguments, asked.result()
    for arguments, asked in ahead:
        yield arguments, asked.result()
