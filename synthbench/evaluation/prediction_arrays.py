"""Predictions in an array: a value, a label, scores or a one-hot row for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import UsageError
from synthbench.evaluation.prediction_columns import ONE_HOT, SCORES, Predictions
from synthbench.tasks.base import Task


def from_array(array: NDArray[Any], task: Task | None) -> Predictions:
    """The predictions in an array of one or more axes, the first of which is the rows.

    `(rows, 1)` is read as `(rows,)` where an answer is a single value. Where answers are classes, a
    floating array `(rows, classes)` is scores, and an integer or boolean one with a single 1 in
    each row is one-hot.

    Raises:
        UsageError: another shape.
    """
    if array.ndim == 2 and array.shape[1] == 1 and _is_single_value(task):
        array = array[:, 0]
    if array.ndim == 1:
        return Predictions(in_order=array.tolist())
    if task is None or task.labels is None:
        return Predictions(in_order=list(array), shape=array.shape)
    classes = len(task.labels)
    if array.shape[1:] == (classes,):
        if array.dtype.kind == "f":
            return Predictions(in_order=_likeliest(array), read_as=SCORES, shape=array.shape)
        if array.dtype.kind in "iub" and _is_one_hot(array):
            labels = array.argmax(axis=1).tolist()
            return Predictions(in_order=labels, read_as=ONE_HOT, shape=array.shape)
    raise UsageError(
        f"Predictions: an array {array.shape} of {array.dtype}. Allowed for {task.name} are "
        f"(rows,) or (rows, 1), floating scores (rows, {classes}), or an integer one-hot array "
        f"(rows, {classes}). If the rows have other parameters than the defaults, give the task "
        f"itself, as made by synthbench.task({task.name!r}, ...)."
    )


def _is_single_value(task: Task | None) -> bool:
    """True if an answer is a class, a number or a text, and not a list of values."""
    return task is not None and not task.answer.is_plausible([0])


def _is_one_hot(array: NDArray[Any]) -> bool:
    return bool(((array == 0) | (array == 1)).all() and (array.sum(axis=1) == 1).all())


def _likeliest(scores: NDArray[np.floating[Any]]) -> list[int | None]:
    """The class of the largest score in each row, None where a score is NaN or masked."""
    scores = np.ma.filled(scores, np.nan)
    known = ~np.isnan(scores).any(axis=1)
    labels = np.where(known, scores.argmax(axis=1), -1).tolist()
    return [None if label < 0 else label for label in labels]
