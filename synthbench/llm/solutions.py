"""Worked solutions of rows, for fine-tuning and for examples in prompts."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from synthbench.arguments import checked
from synthbench.errors import UsageError
from synthbench.llm.prompts import askable
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.worked import solution


@checked
def worked_solution(task: str | Task | PathLike[str], row: Mapping[str, Any]) -> str:
    r"""The steps that lead to a row's answer, in words, and the answer in the last line.

    The task's reference solver makes the steps. Before they are returned they are replayed, each
    from the question and the steps before it, and must lead to the label.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        row: the row, with its `label`.

    Returns:
        The steps, one in each line, and the answer in the form that prompts ask for.

    Raises:
        UsageError: a task without worked solutions, something that is not one of its rows, or a
            label that is not the answer.

    Example:
        >>> from synthbench import llm
        >>> row = {"text": "[SM 8 [MIN 5 3 ] ]", "label": 1}
        >>> print(llm.worked_solution("listops", row))
        [MIN 5 3 ]: the smallest is 3.
        [SM 8 3 ]: 8 + 3 = 11, and its last digit is 1.
        Answer: 1
    """
    task = askable(task).task
    if LABEL not in row:
        raise UsageError(f"The row has no label. It has {', '.join(map(str, row)) or 'none'}.")
    return solution(task, row)
