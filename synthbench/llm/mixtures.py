"""Prompts of several tasks in one dataset."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from synthbench.checks import check_whole_number
from synthbench.dataset.files import read_json
from synthbench.errors import UsageError
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.spec import task_of, task_spec
from synthbench.text.lines import short

if TYPE_CHECKING:
    import datasets

#: Columns for programs that know nothing of synthbench: the task, as `task_spec` writes it, and the
#: row's columns as JSON.
TASK, ROW = "task", "row"


def mixed_prompts(
    tasks: Mixture[Task],
    limit: int | None,
    offset: int,
    prompts: Callable[[int, int | None], datasets.Dataset],
) -> datasets.Dataset:
    """Prompts of several tasks, which take turns.

    Args:
        tasks: the tasks.
        limit: how many rows; None for as many as give the weights exactly.
        offset: how many rows before them are left out.
        prompts: makes the prompts of a part by its number, all of them or so many.

    Returns:
        `id`, `prompt`, `answer`, `task` and `row`.

    Raises:
        UsageError: a task is there twice, its rows are images, or no row is behind the offset.
    """
    import datasets

    check_mixable(tasks)
    check_whole_number("Offset", offset, least=0, most=sys.maxsize)
    if limit is None:
        parts = [prompts(part, None) for part in range(len(tasks.parts))]
        sizes = [len(part) for part in parts]
        if not (end := tasks.whole_rows(sizes)):
            raise UsageError(
                f"{' and '.join(f'{size:,}' for size in sizes)} rows are too few for the weights "
                f"{', '.join(map(str, tasks.weights))}."
            )
    else:
        end = offset + check_whole_number("Limit", limit, least=1, most=sys.maxsize)
        parts = [prompts(part, max(count, 1)) for part, count in enumerate(tasks.counts(end))]
    rows = [map(_carried_of(task), part) for task, part in zip(tasks.parts, parts, strict=True)]
    mixed = list(itertools.islice(tasks.interleave(rows), offset, end))
    if not mixed:
        raise UsageError(f"Offset {offset:,}: the mixture ends before it.")
    return datasets.Dataset.from_list(mixed)


def check_mixable(tasks: Mixture[Task]) -> None:
    """Raise a UsageError if a task is in a mixture twice, or its rows are images."""
    specs = [task_spec(task) for task in tasks.parts]
    for number, task in enumerate(tasks.parts):
        if specs[number] in specs[:number]:
            raise UsageError(f"Task {specs[number]}: it may be in a mixture once.")
        if task.image_column is not None:
            raise UsageError(
                f"Task {task.name!r}: its rows are images, and a mixture is of tasks of text."
            )


def _carried_of(task: Task) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A row of `prompts` as a row of a mixture."""

    def carry(row: dict[str, Any]) -> dict[str, Any]:
        prompt = {name: row.pop(name) for name in ("id", "prompt", "answer")}
        return {**prompt, **carried(task, row)}

    return carry


def carried(task: Task, row: Mapping[str, Any]) -> dict[str, str]:
    """The texts that judge answers to a row: `task` and `row`. A framework passes them back."""
    columns = {name: row[name] for name in task.plain_columns if name in row}
    return {TASK: task_spec(task), ROW: json.dumps(columns, ensure_ascii=False)}


def carried_row(record: Any) -> tuple[Task, dict[str, Any]]:
    """The task and the row that a program has carried.

    Raises:
        UsageError: it has carried something else.
    """
    carried = record if isinstance(record, Mapping) else {}
    task, row = carried.get(TASK), carried.get(ROW)
    try:
        columns = read_json(row.encode()) if isinstance(row, str) else None
    except ValueError:
        columns = None
    if not (isinstance(task, str) and isinstance(columns, dict)):
        raise UsageError(
            f"Expected 'task' and 'row' as prompts and exports of synthbench write them. Got "
            f"{short(record)}."
        )
    return task_of(task), columns
