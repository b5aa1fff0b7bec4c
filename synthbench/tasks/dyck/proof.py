"""The reference solver over whole columns: places are sorted, and no brackets are stacked.

If brackets are nested, each place is compared with the one before it of the same height. If they
may cross, brackets are paired by their kind, and the last that is open is looked for.
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

Ids = NDArray[np.integer[Any]]
#: Flags of places, bool `(rows, length)`, or of rows. NumPy's comparisons are untyped.
Flags = Any


def prove_rows(task: Dyck, block: Block, rows: Mapping[str, pa.Array]) -> Flags:
    """Compute True for every right row, bool `(rows,)`."""
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    ids, label, nothing = block["tokens"], answers.encode(rows["label"]), len(answers.tokens)
    lengths, depths = np.count_nonzero(ids, axis=1), numpy_array(rows["depth"])
    right: Flags = np.count_nonzero(label, axis=1) == lengths
    right &= numpy_array(rows["length"]) == lengths  # of two bytes, as heights are
    are_right = _are_nested if task.variant == "nested" else _are_shuffled
    for length in np.unique(lengths[right]).tolist():
        alike = np.flatnonzero(right & (lengths == length))
        brackets, due = ids[alike, :length], label[alike, :length]
        is_up, kinds = brackets % 2 == 1, (brackets + 1) // 2
        heights = np.cumsum(2 * is_up.view(np.int8) - 1, axis=1, dtype=np.int16)
        is_word = (heights >= 0).all(axis=1) & (heights[:, -1] == 0)
        is_word &= depths[alike] == heights.max(axis=1)
        right[alike] = is_word & are_right(kinds, is_up, heights, due, nothing)
    return right


def _are_nested(kinds: Ids, is_up: Flags, heights: Ids, due: Ids, nothing: int) -> Flags:
    """The right rows among words of brackets without kinds.

    A bracket that opens is due, one that closes was due before. Then what was due at the last place
    of the same height is due again.
    """
    was_due = np.zeros_like(due)
    was_due[:, 1:] = due[:, :-1]
    right = (np.where(is_up, due, was_due) == kinds).all(axis=1)
    is_bottom = heights == 0
    right &= ((due == nothing) >= is_bottom).all(axis=1)
    # In a word the first place of a height opens, so that no row is compared with another.
    order = np.argsort(heights, axis=None, kind="stable")
    again = due.ravel()[order]
    changes = order[1:][again[1:] != again[:-1]]
    right[changes[~(is_up | is_bottom).ravel()[changes]] // due.shape[1]] = False
    return right


def _are_shuffled(kinds: Ids, is_up: Flags, heights: Ids, due: Ids, nothing: int) -> Flags:
    """The right rows. The kind of the last open bracket is due."""
    partners, right = _partners(kinds, is_up)
    last = _last_open(kinds[right], is_up[right], partners[right])
    right[right] = (np.where(last == 0, nothing, last) == due[right]).all(axis=1)
    return right


def _partners(kinds: Ids, is_up: NDArray[np.bool_]) -> tuple[Ids, Any]:
    """The place of the bracket that each closing bracket closes, and which rows are words."""
    width = kinds.shape[1]
    by_kind = np.argsort(kinds, axis=1, kind="stable")
    steps = np.where(np.take_along_axis(is_up, by_kind, axis=1), np.int32(1), np.int32(-1))
    levels = np.cumsum(steps, axis=1, dtype=np.int32)
    sorted_kinds = np.take_along_axis(kinds, by_kind, axis=1)
    ends = np.ones(kinds.shape, np.bool_)
    np.not_equal(sorted_kinds[:, 1:], sorted_kinds[:, :-1], out=ends[:, :-1])
    is_word = (levels >= 0).all(axis=1) & ((levels == 0) | ~ends).all(axis=1)
    level = np.empty_like(levels)
    np.put_along_axis(level, by_kind, levels - (steps > 0), axis=1)
    # In each kind and level brackets open and close in turn.
    keys = kinds.astype(np.int32) * width + level
    if (1 + int(kinds.max(initial=0))) * width < 1 << 16:
        keys = keys.astype(np.uint16)  # numbers of two bytes are sorted in a fraction of the time
    order = np.argsort(keys, axis=1, kind="stable")
    partners = np.zeros(kinds.shape, np.int64)
    np.put_along_axis(partners, order[:, 1:], order[:, :-1], axis=1)
    return partners, is_word


def _last_open(kinds: Ids, is_up: NDArray[np.bool_], partners: Ids) -> Ids:
    """The kind of the last open bracket after each place, 0 if all are closed.

    If the last closes, the last that was open before it opened follows, or if that is closed by
    now, the last before that one. Place 0 is that of no bracket, which never closes.
    """
    # Places are counted from 1, row by row within a place, so that a number names place and row.
    rows, width = kinds.shape
    ups = np.ascontiguousarray(is_up.T)
    numbers = np.arange((width + 1) * rows).reshape(width + 1, rows)
    closing = np.full((width + 1) * rows, width + 1, np.int32)
    place, row = np.nonzero(~ups)
    closing[(partners.T[place, row] + 1) * rows + row] = place + 1
    closing[rows:][~ups.ravel()] = 0
    last = np.zeros((width + 1, rows), np.int64)
    last[0] = numbers[0]
    for number, up in enumerate(ups, start=1):
        current = np.where(up, numbers[number], last[number - 1])
        (closed,) = (closing.take(current) <= number).nonzero()
        while len(closed):
            before = last.take(current.take(closed) - rows)
            current[closed] = before
            closed = closed[closing.take(before) <= number]
        last[number] = current
    kind_at = np.vstack([np.zeros((1, rows), kinds.dtype), kinds.T])
    found: Ids = kind_at.take(last[1:]).T
    return found
