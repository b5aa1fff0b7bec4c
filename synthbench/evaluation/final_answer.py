r"""Find the answer in a language model's reply, and score it: the message, the mark, the value.

1. The message is the reply without thoughts, special tokens, and questions that the model makes up.
2. The mark is the last of `\boxed{7}`, `<answer>7</answer>`, "Answer: 7", "the answer is 7",
   `#### 7` and `{"answer": 7}`. Without a mark the message is the answer alone, or its last line.
3. The value is read from there by the kind of label. Two different values do not count.

`score` and `evaluate` read it strictly. No step looks at the label.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from synthbench.evaluation.value import Reader, read_answer, reader
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.column import Column
from synthbench.tasks.registry import as_task


def find_answer(
    task: Task, text: str, row: Mapping[str, Any] | None = None, *, truncated: bool = False
) -> Any:
    """The answer that a reply gives.

    Args:
        task: the task, which determines what an answer looks like.
        text: the reply of a language model.
        row: the row that was asked. Its label says at which positions a sequence is not asked, and
            not read. The rest of the row is not used.
        truncated: whether the reply stopped at the limit of tokens. It then has an answer only
            where it is marked.

    Returns:
        The answer in a form that `score` and `evaluate` read: a number, a name or a sequence as
        text, several numbers as nested lists. None without an answer, or with several.

    Example:
        >>> from synthbench.answers import find_answer
        >>> import synthbench
        >>> task = synthbench.task("arithmetic")
        >>> find_answer(task, "First I get 3, then 8. **The answer is 7.** Ask me 2 more!")
        '7'
        >>> find_answer(task, "The answer is 7 or 8.") is None
        True
    """
    column, checked = task.answer, getattr(task, "is_checked", False)
    if (ignored := column.ignored) is not None and row and row.get(LABEL) is not None:
        label = column.read(row[LABEL], None) or ""
        read = reader(**kind_of(column, checked), label=label, ignored=ignored)
    else:
        read = _reader(column, checked)
    return read_answer(text, read, truncated)


def kind_of(column: Column, checked: bool = False) -> dict[str, Any]:
    """The kind of label, as `synthbench.evaluation.value.reader` takes it.

    Args:
        column: the column of labels.
        checked: whether the task checks answers itself.
    """
    names, vocabulary = column.names or (), column.vocabulary
    if column.answers == "numbers":
        nested = pa.types.is_list(column.arrow) and pa.types.is_list(column.arrow.value_type)
        return {"kind": "lists" if nested else "numbers"}
    if column.is_number:
        return {"kind": "digits"}
    if vocabulary is not None:
        kind = "checked sequence" if checked else "sequence"
        return {"kind": kind, "names": vocabulary.tokens, "separator": vocabulary.separator}
    if column.answers == "text":
        return {"kind": "checked" if checked else "text"}
    counted = all(name.isdecimal() and str(int(name)) == name for name in names)
    return {"kind": "number"} if counted else {"kind": "name", "names": names}


@functools.lru_cache(maxsize=64)
def _reader(column: Column, checked: bool) -> Reader:
    return reader(**kind_of(column, checked))


def score_answer(
    task: str | Task, row: Mapping[str, Any], answer: str | None, *, truncated: bool = False
) -> float:
    r"""Score a reply. Usable as a reward for reinforcement learning.

    Args:
        task: the task, or its name for the task with its defaults.
        row: the row as plain values, with the columns that its answer is judged by.
        answer: the reply of a language model; None for nothing.
        truncated: as in `find_answer`.

    Returns:
        The task's first metric: for tasks with classes 1.0 or 0.0. If labels are text, exactly
        the label always scores as right.

    Raises:
        UsageError: an unknown task.
        KeyError: a row without one of these columns.

    Example:
        >>> from synthbench.answers import score_answer
        >>> row = {"text": "((4*7)+2)", "label": 0}
        >>> score_answer("arithmetic", row, r"So it is $\boxed{0}$.")
        1.0
        >>> score_answer("arithmetic", row, "So it is 10.")
        0.0
    """
    task = as_task(task)
    may_be_label = task.answer.answers == "text" and answer is not None and not truncated
    if may_be_label and answer.strip() == row.get(LABEL):  # type: ignore[union-attr]
        return task.score(row, row[LABEL])
    final_answer = None if answer is None else find_answer(task, answer, row, truncated=truncated)
    return task.score(row, final_answer)
