"""The rows to evaluate: from a dataset directory, or in memory."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from synthbench.checks import check_name
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import MissingPathError, UsageError
from synthbench.seeding import Draws
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.features import row_values
from synthbench.tasks.registry import as_task, list_tasks
from synthbench.text.lines import one_line, short

_BATCH_ROWS = 1_024
#: About how many rows of a split are checked to be questions of the task.
_CHECKED_ROWS = 64
#: The columns of a table of predictions. `ID` and `SPLIT` are optional, and `ANSWERS` are accepted
#: in place of `PREDICTION`.
ID, PREDICTION, SPLIT = "id", "prediction", "split"
ANSWERS = ("pred", "model_output", "response", "completion")
#: Columns of right answers, which are never read as predictions.
RIGHT_ANSWERS = (LABEL, "answer")
#: Columns that rows may have beside those of the task.
PREDICTED = (ID, PREDICTION, SPLIT, *ANSWERS)

P = ParamSpec("P")
R = TypeVar("R")

Columns = Mapping[str, Sequence[Any]]


#: What `Task.measure` raises for a row that is not one of the task's.
NO_ROW = (ValueError, TypeError, IndexError, ArithmeticError)


def cannot_be_judged(row: str, error: Exception) -> str:
    """The text of an error for a row whose values are not those of its task."""
    return one_line(f"{row} cannot be judged: {type(error).__name__}: {error}")


def no_column(task: Task, name: Any) -> UsageError:
    """The error for rows that lack a column that answers are judged by."""
    return UsageError(f"A row has no column {name!r}, by which answers of {task.name} are judged.")


def data_first(call: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function of data, predictions and a task refuse another order of these three.

    Args:
        call: the right call, such as `evaluate(data, predictions, task)`.

    Returns:
        A decorator. The decorated function raises the errors below, which show the right call.

    Raises:
        UsageError: a task in the place of the data, or something else in the place of the task.
        MissingPathError: the name of a task in the place of the data.
    """
    order = f"The order is {call}."

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        names = list(inspect.signature(function).parameters)[:3]

        @functools.wraps(function)
        def checked_call(*arguments: P.args, **named: P.kwargs) -> R:
            bound = {**dict(zip(names, arguments, strict=False)), **named}
            data, predictions, task = map(bound.get, names)
            if isinstance(data, Task):
                raise UsageError(f"The task {data.name!r} is in the place of the data. {order}")
            if isinstance(data, str) and data in list_tasks() and not Path(data).exists():
                raise MissingPathError(
                    f"{data} is missing: expected a dataset directory, as made by `synthbench "
                    f"generate {data}`, or rows. {data!r} is the name of a task. {order}"
                )
            if isinstance(data, list | tuple) and data and not isinstance(data[0], Mapping):
                raise UsageError(f"Row 0 of the data is {short(data[0])}: expected a dict. {order}")
            if isinstance(predictions, Task):
                what = f"The task {predictions.name!r} is in the place of the"
                raise UsageError(f"{what} {names[1]}. {order}")
            if not isinstance(task, str | os.PathLike | Task | None):
                raise UsageError(f"Task {short(task)}: expected a name or a Task. {order}")
            return function(*arguments, **named)

        return checked_call

    return decorate


@dataclasses.dataclass(frozen=True)
class RowSource:
    """Rows of some splits.

    Attributes:
        name: what errors call it.
        task: the task with its variant, parameters and seed.
        sizes: the number of rows of each split.
        columns: the names of a split's columns.
        batches: the rows of a split in order: the given columns as plain values, in batches.
    """

    name: str
    task: Task
    sizes: Mapping[str, int]
    columns: Callable[[str], Sequence[str]]
    batches: Callable[[str, Sequence[str]], Iterator[Columns]]


def open_rows(data: Any, task: str | Task | None, split: str | None) -> RowSource:
    """Open rows in any of the forms that `evaluate.evaluate` describes.

    Raises:
        UsageError: another form, an unknown name, or a directory with the rows of another task.
        DatasetError: a directory without a dataset.
    """
    if not isinstance(split, str | None):
        raise UsageError(f"Split {short(split)}: expected the name of a split.")
    if isinstance(data, str | os.PathLike):
        return _in_directory(os.fspath(data), task, split)
    if task is None:
        raise UsageError(
            f"Rows of type {type(data).__name__} do not name their task. Give it after the "
            "predictions."
        )
    return _in_memory(data, as_task(task), split)


def _in_directory(path: str, wanted_task: str | Task | None, split: str | None) -> RowSource:
    dataset = DatasetDirectory.open(path)
    task = dataset.task_like(wanted_task)
    variant = task.variant
    if split is not None:
        dataset.split(variant, split)
    sizes = {name: record.rows for name, record in dataset.manifest.variants[variant].items()}

    def batches(split: str, columns: Sequence[str]) -> Iterator[Columns]:
        for batch in dataset.batches(task.variant, split, columns, _BATCH_ROWS):
            yield batch.to_pydict()

    return RowSource(path, task, sizes, lambda split: ["id", *task.columns], batches)


def _in_memory(data: Any, task: Task, split: str | None) -> RowSource:
    splits = data
    if not isinstance(data, Mapping):
        splits = {split or str(getattr(data, "split", None) or "rows"): data}
    if split is not None:
        check_name("split of the rows", split, splits)
    for name, rows in splits.items():
        _check_rows(name, rows)

    def columns(split: str) -> Sequence[str]:
        rows = splits[split]
        return list(rows.column_names if _is_table(rows) else rows[0])

    def batches(split: str, columns: Sequence[str]) -> Iterator[Columns]:
        rows = splits[split]
        if _is_table(rows):
            yield from rows.with_format(None).select_columns(list(columns)).iter(_BATCH_ROWS)
            return
        for first in range(0, len(rows), _BATCH_ROWS):
            batch = rows[first : first + _BATCH_ROWS]
            for number, row in enumerate(batch, start=first):
                if not isinstance(row, Mapping) or not all(name in row for name in columns):
                    raise UsageError(
                        f"Row {number} of split {split!r} is not a dict with the columns "
                        f"{', '.join(columns)}, as row 0 is."
                    )
            yield {name: [row[name] for row in batch] for name in columns}

    def plain_batches(split: str, columns: Sequence[str]) -> Iterator[Columns]:
        for number, batch in enumerate(batches(split, columns)):
            yield _plain(task, split, batch, number * _BATCH_ROWS)

    for name in splits:
        _check_columns(task, name, columns(name))
        if all(column in columns(name) for column in task.inputs):
            rows = splits[name]
            if _is_table(rows):
                rows = rows.with_format(None).select_columns(list(task.inputs))
            for number in _numbers_to_check(len(rows)):
                _check_question(task, name, number, rows[number])
    sizes = {name: len(rows) for name, rows in splits.items()}
    return RowSource("the rows", task, sizes, columns, plain_batches)


def _plain(task: Task, split: str, batch: Columns, first: int) -> Columns:
    """The columns of a batch, whose first row is number `first`, with plain values."""
    rows = []
    for number, cells in enumerate(zip(*batch.values(), strict=True), start=first):
        try:
            row = dict(zip(batch, cells, strict=True))
            rows.append(row_values(task.columns, row))
        except UsageError as error:
            raise UsageError(f"Row {number} of split {split!r}: {error}") from None
    return {name: [row[name] for row in rows] for name in batch}


def _check_columns(task: Task, split: str, columns: Sequence[str]) -> None:
    """Refuse the rows of another task: they lack columns of this task, and have others instead."""
    missing = ", ".join(name for name in task.columns if name not in columns)
    known = {*task.columns, *PREDICTED}
    others = ", ".join(str(name) for name in columns if name not in known)
    if missing and others:
        raise UsageError(
            f"Rows of split {split!r} are not rows of {task.name}: they have the columns {others} "
            f"and lack {missing}. Give all columns, or only columns of the task."
        )


def _numbers_to_check(rows: int) -> list[int]:
    """The first and the last row, and one drawn from each of as many equal parts between them.

    Drawn, because every so many rows of a mixture may be of one task.
    """
    parts = min(rows, _CHECKED_ROWS)
    ends = np.arange(parts + 1) * rows // parts
    picks = ends[:-1] + (Draws({"check": "rows"}).floats(parts) * np.diff(ends)).astype(np.int64)
    return sorted({0, *picks.tolist(), rows - 1})


def _check_question(task: Task, split: str, number: int, row: Any) -> None:
    """Refuse a row of another task with the same columns: this task cannot ask it."""
    if not isinstance(row, Mapping) or not all(name in row for name in task.inputs):
        return  # who reads the rows says so
    cells = {name: [row[name]] for name in task.inputs}
    question = _plain(task, split, cells, number)[task.inputs[0]][0]
    try:
        task.solve(question)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"Row {number} of split {split!r} is not a row of {task.name} with these parameters: "
            f"{short(question)}: {one_line(str(error))}"
        ) from None


def _is_table(rows: Any) -> bool:
    """True if these are rows of `datasets`, which is not imported for this."""
    return hasattr(rows, "column_names") and hasattr(rows, "select_columns")


def _check_rows(split: str, rows: Any) -> None:
    if isinstance(rows, str | bytes) or not (_is_table(rows) or isinstance(rows, Sequence)):
        raise UsageError(
            f"Rows of split {split!r} are of type {type(rows).__name__}: expected a "
            "datasets.Dataset or a sequence of dicts."
        )
    if not hasattr(rows, "__len__"):
        raise UsageError(f"Rows of split {split!r} are streamed. Give them as list(...).")
    if not len(rows):
        raise UsageError(f"Split {split!r} is empty.")
    if not _is_table(rows) and not isinstance(rows[0], Mapping):
        raise UsageError(f"Row 0 of split {split!r} is {short(rows[0])}: expected a dict.")
