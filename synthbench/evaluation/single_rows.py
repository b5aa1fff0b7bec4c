"""One row at a time: score an answer to it, solve it, or find out whether it is held out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from synthbench.arguments import checked
from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.rows import NO_ROW, cannot_be_judged, no_column
from synthbench.evaluation.unreadable import is_plausible_answer
from synthbench.tasks.base import Task, TextTask
from synthbench.tasks.registry import as_task, variants_of
from synthbench.tasks.row_ids import are_held_out, fingerprints
from synthbench.text.lines import short


@checked
def score(
    task: str | Task,
    row: Mapping[str, Any],
    answer: Any,
) -> float:
    """The score of one answer. An answer that cannot be read is wrong.

    Args:
        task: the task, or its name for the task with its defaults.
        row: the row as plain values, with the columns that its answer is judged by.
        answer: the answer, in any form that the task reads.

    Returns:
        The task's first metric: for most tasks 1.0 (right) or 0.0.

    Raises:
        UsageError: an unknown task, a row that is not a dict or lacks one of these columns, or an
            answer that is neither text nor of a type that answers have.

    Example:
        >>> import synthbench
        >>> row = {"text": "3 4 7 2 =", "label": 7}
        >>> synthbench.score("parity", row, "7"), synthbench.score("parity", row, 2)
        (1.0, 0.0)
    """
    task = as_task(task)
    if not isinstance(row, Mapping):
        raise UsageError(f"Row {short(row)}: expected a dict with the columns of {task.name}.")
    try:
        parsed = task.read_answer(row, answer)
        if parsed is None and not is_plausible_answer(task, answer):
            raise UsageError(
                f"Answer {short(answer)} of type {type(answer).__name__}: expected "
                f"{task.answer.expected}."
            )
        return task.score(row, answer)
    except UsageError:
        raise
    except KeyError as error:
        raise no_column(task, error.args[0]) from error
    except SynthbenchError:
        raise
    except NO_ROW as error:
        raise UsageError(cannot_be_judged("The row", error)) from error


@checked
def solve(
    task: str | Task,
    question: Any,
) -> Any:
    """The answer to one row's input, by the task's plain reference solver.

    Args:
        task: the task, or its name for the task with its defaults. The tables of `ctl` depend on
            the task's seed.
        question: the row's input: its text, grid or numbers.

    Returns:
        The answer: the name of the class, as text, or the number, as an `int`, if the classes
        are called 0, 1, 2 and so on. If the label is not a class, a value of its column (a grid).

    Raises:
        UsageError: an unknown task, or a question that is not valid for the task.

    Example:
        >>> import synthbench
        >>> synthbench.solve("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]")
        6
        >>> synthbench.solve("arithmetic", "((4*7)+2)")
        0
    """
    task = as_task(task)
    try:
        return task.solve(question)
    except (TypeError, AttributeError) as error:
        expected = " and ".join(f"{name!r}" for name in task.inputs)
        raise UsageError(
            f"Cannot solve {short(question)}: {task.name} expects the {expected} of a row."
        ) from error
    except (ValueError, LookupError, RecursionError) as error:
        raise UsageError(
            f"Cannot solve {short(question)}: not a row of {task.name}: {error}"
        ) from error


@checked
def is_held_out(
    task: str | Task,
    text_or_row: Any,
) -> bool:
    """True if a row is held out: it is in no train split or stream of any seed.

    Evaluation splits have only held-out rows, whose ids begin with 0 or 1. Rows are held out
    together if they differ only in the order of commuting arguments (`listops`, `arithmetic`), in
    the start symbol (`ctl`), in the order of a and b (`parity`, and `modular-arithmetic` where they
    may be exchanged), in the order of the pairs and where their keys are asked (`mqar`), in the
    order of the two numbers of a sum or product (`addition`, and `binary-addition` and
    `binary-multiplication` of `chomsky`), or in the `#` at the end (`missing-duplicate` of
    `chomsky`).

    Args:
        task: the task, or its name, for the task with its defaults in the first of its variants
            that can have the row.
        text_or_row: a row's text (or grid, or numbers), or the whole row as a mapping, whose `id`
            is ignored. Tokens of a text may be separated by any white space.

    Returns:
        Whether its id begins with 0 or 1.

    Raises:
        UsageError: an unknown task, or something that is not a row of the task.

    Example:
        >>> import synthbench
        >>> synthbench.is_held_out("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]")
        False
        >>> [synthbench.is_held_out("parity", text) for text in ("1 2 3 4 =", "2 1 3 4 =")]
        [False, False]
    """
    tasks = variants_of(task) if isinstance(task, str) else [as_task(task)]
    reasons: list[Exception] = []
    for variant in tasks:
        try:
            inputs = _inputs(variant, text_or_row)
            variant.solve(inputs[variant.inputs[0]][0].as_py())  # refuses what only resembles a row
            return bool(are_held_out(fingerprints(variant, variant.parse(inputs)))[0])
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            reasons.append(error)
    if isinstance(reasons[0], UsageError):
        raise reasons[0]
    what = f"{short(text_or_row)} is not a row of {tasks[0].name}"
    raise UsageError(f"{what}: {reasons[0]}") from reasons[0]


def _inputs(task: Task, text_or_row: Any) -> dict[str, pa.Array]:
    """The columns that determine a row's id, of one row each.

    Raises:
        UsageError: a column is missing, or a value is of another type than its column's.
    """
    row = text_or_row if isinstance(text_or_row, Mapping) else {task.inputs[0]: text_or_row}
    if missing := [name for name in task.inputs if name not in row]:
        raise UsageError(
            f"{short(text_or_row)} is not a row of {task.name}: it has no {missing[0]!r}. A row "
            f"needs {', '.join(task.inputs)}."
        )
    row = {name: row[name] for name in task.inputs}
    if isinstance(task, TextTask) and isinstance(row["text"], str):
        row["text"] = task.separator.join(row["text"].split())
    arrays = {}
    for name in task.inputs:
        column = task.columns[name]
        try:
            arrays[name] = pa.array([row[name]], column.arrow)
        except (pa.ArrowException, ValueError, TypeError, AttributeError, OverflowError) as error:
            raise _wrong_type(task, name, row[name], text_or_row) from error
        if arrays[name].null_count:
            raise _wrong_type(task, name, row[name], text_or_row)
    return arrays


def _wrong_type(task: Task, name: str, value: Any, text_or_row: Any) -> UsageError:
    """The error for a value that its column cannot have."""
    expected = "a text" if task.columns[name].arrow == pa.string() else str(task.columns[name])
    expected += "" if isinstance(text_or_row, Mapping) else ", or the whole row as a dict"
    return UsageError(
        f"{short(value)} of type {type(value).__name__} is not the {name!r} of a row of "
        f"{task.name}: expected {expected}."
    )
