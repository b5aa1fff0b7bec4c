"""The reference solver over whole columns: labels are compared with lists, nothing is sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.lists.task import Lists
from synthbench.tasks.tokens import Vocabulary

Ids = NDArray[np.int64]
#: The right rows, bool `(rows,)`. NumPy's comparisons are untyped.
Right = Any


def prove_rows(task: Lists, block: Block, rows: Mapping[str, pa.Array]) -> Right:
    """Compute True for every right row, bool `(rows,)`."""
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    ids, label = block["tokens"].astype(np.int64), answers.encode(rows["label"]).astype(np.int64)
    lengths, symbols = np.count_nonzero(ids, axis=1), task.parameters.symbols
    right = np.zeros(len(ids), np.bool_)
    check = {"identity": _identity, "delete": _delete}.get(task.variant)
    for length in np.unique(lengths).tolist():
        alike = np.flatnonzero(lengths == length)
        some = ids[alike, :length] - 2, label[alike]  # symbols from 1, as in labels
        right[alike] = _distinct(task.variant, *some, symbols) if check is None else check(*some)
    return right & (numpy_array(rows["length"]) == lengths)


def _identity(ids: Ids, label: Ids) -> Right:
    return _are_symbols(ids) & _is_label(label, ids)


def _delete(ids: Ids, label: Ids) -> Right:
    """Up to the deleted symbol the label is the list, behind it the list from the next place."""
    kept, mark, deleted = ids[:, :-2], ids[:, -2], ids[:, -1]
    if kept.shape[1] < 2:
        return np.zeros(len(ids), np.bool_)
    is_past = np.cumsum(kept == deleted[:, None], axis=1) > 0
    expected = np.where(is_past[:, :-1], kept[:, 1:], kept[:, :-1])
    is_row = _are_symbols(kept) & (mark == 0) & (deleted > 0) & is_past[:, -1]
    return is_row & _is_label(label, expected)


def _distinct(variant: str, ids: Ids, label: Ids, symbols: int) -> Right:
    """The symbols of a label differ, and the list goes through them in their order.

    A symbol of the list is behind those before it in the label by at most one place.
    """
    is_mark = ids == -1  # `union`
    right = is_mark.sum(axis=1) == (variant == "union")
    right &= ~is_mark[:, 0] & ~is_mark[:, -1] & _are_symbols(np.where(is_mark, 1, ids))
    count = (label == symbols + 1).argmax(axis=1)  # the place of `end`
    rows, places = np.arange(len(ids))[:, None], np.arange(label.shape[1])
    width = np.minimum((~is_mark).sum(axis=1), symbols) + 1
    behind = (places > count[:, None]) & (places < width[:, None])
    is_answer = places < count[:, None]
    form = np.select([is_answer, places == count[:, None], behind],
                     [label <= symbols, label == symbols + 1, label == symbols + 2],
                     label == 0)  # fmt: skip
    right &= form.all(axis=1) & (count > 0) & (count < width)
    place_of = np.full((len(ids), symbols + 3), label.shape[1] + 1)
    place_of[rows, np.where(is_answer, label, symbols + 1)] = places
    right &= ((place_of[rows, label] == places) | ~is_answer).all(axis=1)
    reached = place_of[rows, np.clip(ids, 0, symbols)]
    reached[is_mark] = 0
    furthest = np.maximum.accumulate(reached, axis=1)
    right &= (np.diff(furthest, axis=1, prepend=-1) <= 1).all(axis=1)
    return right & (furthest[:, -1] == count - 1)


def _are_symbols(ids: Ids) -> Right:
    return (ids > 0).all(axis=1)


def _is_label(label: Ids, expected: Ids) -> Right:
    """True where a label, which ends in zeros, is this and nothing else."""
    width = expected.shape[1]
    if label.shape[1] < width:
        return np.zeros(len(label), np.bool_)
    return (label[:, :width] == expected).all(axis=1) & (label[:, width:] == 0).all(axis=1)
