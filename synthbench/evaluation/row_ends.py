"""Warns of answers that have more tokens than their row's label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.base import LABEL, Task
from synthbench.text.lines import short


def extra_tokens(task: Task, row: Mapping[str, Any], answer: Any) -> int:
    """Number of tokens of an answer behind its row's end. 0 unless labels are sequences."""
    vocabulary = task.answer.vocabulary
    if vocabulary is None or task.is_checked or not isinstance(answer, str):
        return 0
    label = _label_tokens(task, row)
    return max(0, len(_tokens(answer, vocabulary.separator)) - len(label)) if label else 0


def _label_tokens(task: Task, row: Mapping[str, Any]) -> list[str]:
    """The tokens of a row's label. None if it is not a sequence."""
    label, vocabulary = row.get(LABEL), task.answer.vocabulary
    if label is not None and not isinstance(label, str):
        label = task.answer.read(label, None)
    return _tokens(label, vocabulary.separator) if label and vocabulary else []


def _tokens(text: str, separator: str) -> list[str]:
    return text.split(separator) if separator else list(text)


class TooLong:
    """The predictions that have more tokens than their rows' labels.

    Attributes:
        names: their ids, in the order of the rows.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._example = ""

    def add(self, task: Task, row: Mapping[str, Any], name: str, answer: Any) -> None:
        """Note an answer, as `Task.read_answer` returned it, if it is too long."""
        extra = extra_tokens(task, row, answer)
        if extra and not self.names:
            self._example = f"{extra:,} more for id {short(name)}"
        if extra:
            self.names.append(name)

    def warning(self, count: int) -> str | None:
        """A warning if most of the `count` predictions are too long, else None."""
        if len(self.names) <= count / 2:
            return None
        return (
            f"{len(self.names):,} of {count:,} predictions have more tokens than their row's label "
            f"({self._example}), and each of these counts as wrong. If they are padding, leave "
            "them out: cut each prediction to the length of its label."
        )
