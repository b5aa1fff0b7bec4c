"""The reference solver over whole columns: brackets are paired by sorting.

The bracket that is due is found among the places of one height if brackets are nested, and in a
linked list of open brackets if they may cross.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.dyck.task import Dyck
from synthbench.tasks.tokens import Vocabulary

Ids = NDArray[np.int64]


def prove_rows(task: Dyck, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`."""
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    ids, label = (x.astype(np.int64) for x in (block["tokens"], answers.encode(rows["label"])))
    lengths = np.count_nonzero(ids, axis=1)
    right: NDArray[np.bool_] = np.count_nonzero(label, axis=1) == lengths
    right &= numpy_array(rows["length"]) == lengths
    for length in np.unique(lengths[right]).tolist():
        alike = np.flatnonzero(right & (lengths == length))
        brackets = ids[alike, :length]
        kinds, is_up = (brackets + 1) // 2, brackets % 2 == 1
        heights = np.cumsum(np.where(is_up, 1, -1), axis=1)
        partners, is_word = _partners(kinds, is_up)
        if task.variant == "nested":
            last, in_order = _at_height(kinds, is_up, heights)
        else:
            last, in_order = _in_list(kinds, is_up, partners), True
        expected = np.where(last == 0, task.parameters.kinds + 1, last)
        same = (expected == label[alike, :length]).all(axis=1)
        depth = numpy_array(rows["depth"])[alike] == heights.max(axis=1)
        right[alike] = is_word & in_order & same & depth
    return right


def _partners(kinds: Ids, is_up: NDArray[np.bool_]) -> tuple[Ids, Any]:
    """The place of the bracket that each closing bracket closes, and which rows are words."""
    by_kind = np.argsort(kinds, axis=1, kind="stable")
    steps = np.where(np.take_along_axis(is_up, by_kind, axis=1), 1, -1)
    levels = np.cumsum(steps, axis=1)
    ends = np.diff(np.take_along_axis(kinds, by_kind, axis=1), axis=1, append=0) != 0
    is_word = (levels >= 0).all(axis=1) & ((levels == 0) | ~ends).all(axis=1)
    level = np.empty_like(levels)
    np.put_along_axis(level, by_kind, levels - (steps > 0), axis=1)
    # In each kind and level brackets open and close in turn.
    order = np.argsort(kinds * kinds.shape[1] + level, axis=1, kind="stable")
    partners = np.zeros_like(kinds)
    np.put_along_axis(partners, order[:, 1:], order[:, :-1], axis=1)
    return partners, is_word


def _at_height(kinds: Ids, is_up: NDArray[np.bool_], heights: Ids) -> tuple[Ids, Any]:
    """The kind that led to each place's height, 0 at the bottom, and which rows are nested."""
    order = np.argsort(heights, axis=1, kind="stable")
    up = np.take_along_axis(is_up, order, axis=1)
    latest = np.maximum.accumulate(np.where(up, np.arange(kinds.shape[1]), 0), axis=1)
    kind = np.take_along_axis(np.take_along_axis(kinds, order, axis=1), latest, axis=1)
    last = np.empty_like(kinds)
    np.put_along_axis(last, order, kind, axis=1)
    last[heights == 0] = 0
    closed = np.pad(last[:, :-1], ((0, 0), (1, 0)))
    return last, ((closed == kinds) | is_up).all(axis=1)


def _in_list(kinds: Ids, is_up: NDArray[np.bool_], partners: Ids) -> Ids:
    """The kind of the last open bracket, 0 if all are closed.

    Each open bracket knows the one before and the one behind it, so that any of them is taken out
    at once. Place 0 is the end of the list on both sides.
    """
    rows, width = kinds.shape
    before, behind = (np.zeros((width + 1, rows), np.int64) for _ in "12")
    kind_at = np.vstack([np.zeros((1, rows), np.int64), kinds.T])
    top, last, every = np.zeros(rows, np.int64), np.zeros((width, rows), np.int64), np.arange(rows)
    for place in range(1, width + 1):
        opened, closed = np.flatnonzero(is_up[:, place - 1]), np.flatnonzero(~is_up[:, place - 1])
        before[place, opened] = top[opened]
        behind[top[opened], opened] = place
        top[opened] = place
        partner = partners[closed, place - 1] + 1
        left, right = before[partner, closed], behind[partner, closed]
        behind[left, closed], before[right, closed] = right, left
        top[closed] = np.where(top[closed] == partner, left, top[closed])
        behind[top[closed], closed] = 0
        last[place - 1] = kind_at[top, every]
    return last.T
