"""Predictions that cannot be read: which, whether they are a mistake in the program, a warning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from synthbench.errors import UsageError
from synthbench.evaluation.chat_replies import RunningText
from synthbench.evaluation.final_answer import find_answer
from synthbench.evaluation.mark import last_marks
from synthbench.evaluation.message import read_message
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.numeric import plain_value
from synthbench.text.lines import short


def is_plausible_answer(task: Task, prediction: Any) -> bool:
    """True if a prediction has a type that answers to the task, right or wrong, can have.

    A bool, a dict, or a list where a class is expected must be a mistake in the caller's program.
    Text, None and NaN may come from any model.
    """
    prediction = plain_value(prediction)
    if prediction is None or isinstance(prediction, str | bytes):
        return True
    if isinstance(prediction, float) and math.isnan(prediction):
        return True
    return task.answer.is_plausible(prediction)


def why_unread(task: Task, row: Mapping[str, Any], reply: str | None) -> str | None:
    """The reason why a reply is unreadable. None if it has an answer.

    Args:
        task: the task.
        row: the row that was asked.
        reply: the model's text, perhaps as `RunningText`; None if it wrote nothing.
    """
    if reply is None or not reply.strip():
        return "the reply is empty"
    truncated = isinstance(reply, RunningText) and reply.truncated
    if (parts := read_message(reply)) is None:
        return "its thoughts do not end"
    is_label = not truncated and reply.strip() == row.get(LABEL)
    if is_label and task.answer.answers == "text":
        return None
    if (answer := find_answer(task, reply, row, truncated=truncated)) is None:
        if truncated:
            return "it was truncated before it marked an answer"
        marked = any(mark.settles for part in parts for mark in last_marks(*part))
        return "it marks no single answer" if marked else "no answer"
    if task.read_answer(row, answer) is None:
        return f"{short(answer)} is none of the answers to {task.name}"
    return None


class Unreadable:
    """The predictions that could not be read.

    Attributes:
        names: their ids, in the order of the rows.
    """

    def __init__(self, task: Task, read_text: bool) -> None:
        self.names: list[str] = []
        self._task, self._read_text = task, read_text
        # Row, id and prediction: the first whose type an answer can have, and the first other.
        self._candidate: tuple[Mapping[str, Any], str, Any] | None = None
        self._misfit: tuple[Mapping[str, Any], str, Any] | None = None

    def add(self, row: Mapping[str, Any], name: str, prediction: Any) -> None:
        """Add a prediction with its row and id."""
        self.names.append(name)
        if plain_value(prediction) is None:
            return
        if is_plausible_answer(self._task, prediction):
            self._candidate = self._candidate or (row, name, prediction)
        else:
            self._misfit = self._misfit or (row, name, prediction)

    @property
    def _example(self) -> tuple[Mapping[str, Any], str, Any] | None:
        return self._candidate or self._misfit

    def check(self, answered: int, shape: tuple[int, ...] | None) -> None:
        """Refuse predictions that must be a mistake in the caller's program.

        Args:
            answered: how many predictions could be read.
            shape: the shape of the array that they were given as, if any.

        Raises:
            UsageError: all are unreadable, and either none has a type that answers can have, or
                they are an array of the wrong shape.
        """
        example = self._example
        if answered or example is None:
            return
        _, name, prediction = example
        got = f"{short(prediction)} of type {type(prediction).__name__} for id {short(name)}"
        if self._candidate is None:
            expected = self._task.answer.expected
            if self._task.labels is not None:
                expected += ". Scores are given as one floating array (rows, classes)"
            raise UsageError(f"No prediction is an answer: got {got}. Expected {expected}.")
        if shape is not None and np.isfinite(np.asarray(prediction, np.float64)).all():
            text = f"Predictions: an array {shape}, but none of its rows is an answer"
            raise UsageError(f"{text}; expected {self._task.answer.expected}.")

    def warning(self, count: int) -> str | None:
        """A warning if most of the `count` predictions cannot be read, else None."""
        if len(self.names) <= count / 2:
            return None
        row, name, prediction = self._example or ({}, self.names[0], None)
        remedy = f"Expected {self._task.answer.expected}."
        if not self._read_text and isinstance(prediction, str):
            answer = find_answer(self._task, prediction, row)
            if answer is not None and self._task.read_answer(row, answer) is not None:
                remedy = "With --read text (read='text') answers are found in running text."
        return (
            f"{len(self.names):,} of {count:,} predictions cannot be read, such as "
            f"{short(prediction)} for id {short(name)}. {remedy}"
        )
