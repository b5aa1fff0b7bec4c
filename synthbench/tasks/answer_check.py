"""Checked tasks: a question has several right answers, and the task's own `check` judges them.

    def check(self, row, answer):
        return answer in divisors(row["number"])

The label is one of the right answers. Scores come from `passes`, which calls `check`. It bounds the
length of answers, and refuses verdicts other than True and False from tasks of other packages.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from synthbench.errors import SynthbenchError, TaskError
from synthbench.text.lines import short

#: The metrics of checked tasks.
CHECKED = ("accuracy",)
#: Longer texts are wrong and never reach a checker, which bounds its time.
MOST_CHARACTERS = 100_000


class CheckedTask(Protocol):
    """The part of `Task` that judges answers."""

    name: ClassVar[str]

    @property
    def columns(self) -> Mapping[str, Any]: ...

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> Any: ...

    def check(self, row: Mapping[str, Any], answer: Any) -> bool: ...


def passes(task: CheckedTask, row: Mapping[str, Any], answer: Any) -> bool:
    """Judge one answer by the task's `check`.

    Args:
        task: a checked task.
        row: the row as plain values.
        answer: the answer, as `Task.read_answer` returns it; None is wrong.

    Raises:
        KeyError: the row lacks a column that `check` reads.
        TaskError: `check` raises an error, or returns something other than a truth value.
    """
    if answer is None or (isinstance(answer, str) and len(answer) > MOST_CHARACTERS):
        return False
    call = f"check of {task.name}, asked for {short(answer)},"
    try:
        right = task.check(row, answer)
    except SynthbenchError:
        raise
    except Exception as error:
        missing = task.columns.keys() - row.keys()
        if isinstance(error, KeyError) and error.args and error.args[0] in missing:
            raise
        raise TaskError(
            f"{call} raises {type(error).__name__}: {error}. Return False for an answer that is "
            "not right."
        ) from error
    if not isinstance(right, bool | np.bool_):
        raise TaskError(f"{call} gave {short(right)}: expected True or False.")
    return bool(right)


def accepts(task: CheckedTask, row: Mapping[str, Any], value: Any) -> bool:
    """Judge a value in any form that the task reads, such as a label. Raises as `passes` does."""
    return passes(task, row, task.read_answer(row, value))


def require_check(task: CheckedTask) -> None:
    """Make sure that the `check` of a checked task can be called with a row and an answer.

    Raises:
        TaskError: it cannot.
    """
    check, expected = task.check, "expected check(self, row, answer), which returns a bool."
    if not callable(check):
        raise TaskError(f"check of {task.name} is {short(check)}: {expected}")
    signature = inspect.signature(check)
    try:
        names = list(signature.bind({}, "").arguments)
    except TypeError:
        names = []
    if not names or names[:1] == ["answer"] or names[1:2] == ["row"]:
        raise TaskError(f"check of {task.name} takes {signature}: {expected}")
    kinds = inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction
    if any(is_kind(check) for is_kind in kinds):
        raise TaskError(f"check of {task.name} is a coroutine or a generator: {expected}")
