"""The rows to evaluate: from a dataset directory, or in memory."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import UsageError, unknown_name
from synthbench.tasks.base import Task
from synthbench.tasks.registry import as_task

_BATCH_ROWS = 1_024

Columns = Mapping[str, Sequence[Any]]


def no_column(task: Task, name: Any) -> UsageError:
    """The error for rows that lack a column that answers are judged by."""
    return UsageError(f"A row has no column {name!r}, by which answers of {task.name} are judged.")


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
    if isinstance(data, str | os.PathLike):
        return _in_directory(os.fspath(data), task, split)
    if task is None:
        raise UsageError(
            f"Rows of type {type(data).__name__} do not name their task; give it after the "
            "predictions."
        )
    return _in_memory(data, as_task(task), split)


def _in_directory(path: str, given: str | Task | None, split: str | None) -> RowSource:
    dataset = DatasetDirectory.open(path)
    task = dataset.task_like(given)
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
    if split is not None and split not in splits:
        raise unknown_name("split of the rows", split, splits)
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

    sizes = {name: len(rows) for name, rows in splits.items()}
    return RowSource("the rows", task, sizes, columns, batches)


def _is_table(rows: Any) -> bool:
    """Whether these are rows of `datasets`, which is not imported to tell."""
    return hasattr(rows, "column_names") and hasattr(rows, "select_columns")


def _check_rows(split: str, rows: Any) -> None:
    if isinstance(rows, str | bytes) or not (_is_table(rows) or isinstance(rows, Sequence)):
        raise UsageError(
            f"Rows of split {split!r} are of type {type(rows).__name__}: expected a "
            "datasets.Dataset or a sequence of dicts."
        )
    if not hasattr(rows, "__len__"):
        raise UsageError(f"Rows of split {split!r} are streamed; give them as list(...).")
    if not len(rows):
        raise UsageError(f"Split {split!r} has no rows.")
    if not _is_table(rows) and not isinstance(rows[0], Mapping):
        raise UsageError(f"Row 0 of split {split!r} is {rows[0]!r:.60}: expected a dict.")
