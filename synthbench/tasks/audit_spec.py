"""What `audit` looks for in a task's rows: shortcuts, near duplicates, distributions, claims.

A shortcut predicts labels without solving the task. `audit` tries on every task the shortcuts that
need no knowledge of it (the most frequent label, bags of tokens, pixels). Those that a task's own
rules suggest stand in the module `audit` beside the task's, in a function `audit_spec(task)` that
returns an `AuditSpec`. Functions here take columns of some rows, as in the files.
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
        name: what it is called, in a few words.
        text: what it looks at, in a sentence.
        fit: makes a predictor from rows of train (from no columns where there is no train).
        applies: which rows it is scored on, bool `(rows,)`; None: all.
        learned: whether a classifier is trained, at a cost that grows with the number of labels.
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
    """The label that train has most often among rows of the same key.

    A key that train does not have gets train's most frequent label. Of equally frequent labels the
    smallest is taken.

    Args:
        name: what it is called.
        text: what it looks at.
        key: from rows to integers `(rows,)` or `(rows, parts)`.
        applies: see `Shortcut`.
    """
    return Shortcut(name, text, lambda train: _fit_lookup(key, train), applies)


def fixed(name: str, text: str, answer: Predictor) -> Shortcut:
    """A shortcut that is a rule on the row, with nothing to fit."""
    return Shortcut(name, text, lambda train: answer)


def _fit_lookup(key: Callable[[Columns], NDArray[Any]], train: Columns) -> Predictor:
    """The most frequent label of every key."""

    def key_codes(columns: Columns) -> NDArray[Any]:
        found = key(columns)
        return found if found.ndim == 1 else codes(found)

    keys, place = np.unique(key_codes(train), return_inverse=True)
    labels, label = np.unique(numbers(train["label"]), return_inverse=True)
    # Pairs of key and label that occur, the most frequent of each key first.
    pairs, counts = np.unique(place * len(labels) + label, return_counts=True)
    of_key, of_label = np.divmod(pairs, len(labels))
    order = np.lexsort((of_label, -counts, of_key))
    first = order[np.searchsorted(of_key[order], np.arange(len(keys)))]
    answers, majority = labels[of_label[first]], labels[np.bincount(label).argmax()]

    def predict(rows: Columns) -> NDArray[np.int64]:
        asked = key_codes(rows)
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        found: NDArray[np.int64] = np.where(keys[place] == asked, answers[place], majority)
        return found

    return predict


def codes(parts: NDArray[Any]) -> NDArray[np.uint64]:
    """A 64-bit code of every row of integers, uint64 `(rows,)`; zeros at its end do not count."""
    return hash_rows(np.ascontiguousarray(parts, "<i8").view(np.uint8))


@dataclasses.dataclass(frozen=True)
class Claim:
    """A column that says how difficult a row is.

    Attributes:
        name: the column.
        text: what is compared, in a sentence.
        compare: from rows to what they claim and what they really need, both int64 `(rows,)`.
    """

    name: str
    text: str
    compare: Callable[[Columns], tuple[NDArray[np.int64], NDArray[np.int64]]]


@dataclasses.dataclass(frozen=True)
class Levels:
    """Groups of rows for which figures are given beside those of the whole split.

    Attributes:
        name: what the levels are values of.
        of: the level of each row, int64 `(rows,)`.
        label: a level as people read it.
        hard: whether shortcuts should fail on each level by itself. False where levels are the
            cases of a rule: there is always a shortcut that is right in one case.
    """

    name: str
    of: Callable[[Columns], NDArray[np.int64]]
    label: Callable[[int], str] = str
    hard: bool = True


@dataclasses.dataclass(frozen=True)
class AuditSpec:
    """What `audit` looks for in a task's rows, beside what it looks for in those of every task.

    Attributes:
        shortcuts: shortcuts that the task's own rules suggest.
        near_duplicate_keys: by name, a key of each row, uint64 `(rows,)`. Rows with equal keys are
            near duplicates: a model that has seen one of them has as good as seen the other.
        distributions: by name, what rows should be balanced in: one value or several for each
            row, of one type, integers or text.
        claims: columns that say how difficult a row is.
        levels: groups of rows for which figures are given; None: the buckets.
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


def numbers(column: pa.Array) -> NDArray[np.int64]:
    """A column of integers or truth values, int64 `(rows,)`."""
    return np.asarray(column.to_numpy(zero_copy_only=False), np.int64)
