"""Specification of a task's audit: shortcuts, near duplicates, distributions, claims.

A shortcut predicts labels without solving the task. Some need no knowledge of the task (the most
frequent label, bags of tokens, pixels); `audit` tries them on every task. Those that a task's own
rules suggest are in the module `audit` of its package, in a function `audit_spec(task)` that
returns an `AuditSpec`. Functions take the columns of some rows, as in the files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.seeding import hash_rows

Columns = Mapping[str, pa.Array]
Values = Sequence[Any] | NDArray[Any]
#: From rows to predictions, one for each row, in a form that `Task.read_answer` reads.
Predictor = Callable[[Columns], Values]


@dataclasses.dataclass(frozen=True)
class Shortcut:
    """A predictor that does not solve the task.

    Attributes:
        name: its name, in a few words.
        text: its input, in a sentence.
        fit: makes a predictor from rows of train. Without a train split it is given no columns.
        applies: which rows it is scored on, bool `(rows,)`; None: all.
        learned: whether `fit` trains a classifier, whose cost grows with the number of labels.
    """

    name: str
    text: str
    fit: Callable[[Columns], Predictor]
    applies: Callable[[Columns], NDArray[np.bool_]] | None = None
    learned: bool = False


def by_key(
    name: str,
    text: str,
    key: Callable[[Columns], NDArray[Any]],
    applies: Callable[[Columns], NDArray[np.bool_]] | None = None,
) -> Shortcut:
    """A shortcut that predicts the most frequent label among the rows of train with the same key.

    Labels are whole numbers or texts. Keys that train does not have get train's most frequent
    label. Of equally frequent labels the smallest is taken, of texts the first in alphabetical
    order.

    Args:
        name: see `Shortcut`, as for `text` and `applies`.
        text: its input.
        key: from rows to integers `(rows,)` or `(rows, parts)`.
        applies: which rows it is scored on.
    """
    return Shortcut(name, text, lambda train: _fit_lookup(key, train), applies)


def fixed(name: str, text: str, answer: Predictor) -> Shortcut:
    """A shortcut that predicts from the row alone, with nothing to fit."""
    return Shortcut(name, text, lambda train: answer)


def _fit_lookup(key: Callable[[Columns], NDArray[Any]], train: Columns) -> Predictor:
    def key_codes(columns: Columns) -> NDArray[Any]:
        values = key(columns)
        return values if values.ndim == 1 else codes(values)

    keys, index = np.unique(key_codes(train), return_inverse=True)
    labels, label = np.unique(labels_of(train), return_inverse=True)
    # The pairs of key and label that occur. Each key's most frequent label comes first.
    pairs, counts = np.unique(index * len(labels) + label, return_counts=True)
    of_key, of_label = np.divmod(pairs, len(labels))
    order = np.lexsort((of_label, -counts, of_key))
    first = order[np.searchsorted(of_key[order], np.arange(len(keys)))]
    answers, majority = labels[of_label[first]], labels[np.bincount(label).argmax()]

    def predict(rows: Columns) -> NDArray[Any]:
        row_keys = key_codes(rows)
        index = np.minimum(np.searchsorted(keys, row_keys), len(keys) - 1)
        predictions: NDArray[Any] = np.where(keys[index] == row_keys, answers[index], majority)
        return predictions

    return predict


def codes(parts: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit code of each row of integers, uint64 `(rows,)`. Trailing zeros do not count."""
    return hash_rows(np.ascontiguousarray(parts, "<i8").view(np.uint8))


@dataclasses.dataclass(frozen=True)
class Claim:
    """A column that says how difficult a row is.

    Attributes:
        column: the column, of integers.
        text: which rows overstate their difficulty, in a sentence.
        needed: the difficulty that the rows really have, int64 `(rows,)`.
    """

    column: str
    text: str
    needed: Callable[[Columns], NDArray[np.int64]]


@dataclasses.dataclass(frozen=True)
class Levels:
    """Groups of rows that get figures of their own, beside the figures of the whole split.

    Attributes:
        name: the property whose values are the levels.
        of: the level of each row, int64 `(rows,)`.
        label: the name of a level.
        each_must_be_hard: whether shortcuts should fail on each level by itself. False if the
            levels are the cases of a rule: some shortcut is always right in one case.
    """

    name: str
    of: Callable[[Columns], NDArray[np.int64]]
    label: Callable[[int], str] = str
    each_must_be_hard: bool = True


@dataclasses.dataclass(frozen=True)
class AuditSpec:
    """Specification of a task's audit, beside the checks that all tasks share.

    Attributes:
        shortcuts: shortcuts that the task's own rules suggest.
        near_duplicate_keys: by name, a key of each row, uint64 `(rows,)`. Rows with equal keys are
            near duplicates: a model that has seen one of them has practically seen the others.
        distributions: by name, values that should be balanced: integers or text, one or several
            for each row.
        claims: columns that say how difficult a row is.
        levels: groups of rows that get figures of their own; None: the buckets.
        notes: facts about the rule that the report states, as sentences.
    """

    shortcuts: tuple[Shortcut, ...] = ()
    near_duplicate_keys: Mapping[str, Callable[[Columns], NDArray[np.uint64]]] = dataclasses.field(
        default_factory=dict
    )
    distributions: Mapping[str, Callable[[Columns], Values]] = dataclasses.field(
        default_factory=dict
    )
    claims: tuple[Claim, ...] = ()
    levels: Levels | None = None
    notes: tuple[str, ...] = ()


def numbers(column: pa.Array) -> NDArray[np.int64]:
    """A column of integers or truth values, int64 `(rows,)`."""
    return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)


def labels_of(columns: Columns) -> NDArray[Any]:
    """The labels of rows, `(rows,)`: int64, or texts as Python's strings."""
    column = columns["label"]
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist(), object)
    return numbers(column)
