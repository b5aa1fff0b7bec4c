"""Brackets of many rows at once: words from paths, and the brackets that are due.

Ids are uint8 `(rows, width)`, padded with 0: 1 and 2 open and close a bracket of kind 1, 3 and 4 of
kind 2, and so on. Kinds are numbered from 1; 0 means that no bracket is open. All rows take a step
at a time, so arrays have a line for each place here.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws

Ids = NDArray[np.uint8]


def nested_word(draws: Draws, ups: NDArray[np.bool_], kinds: int) -> Ids:
    """Words of paths, bool `(length, rows)`: kinds are uniform, the last open bracket is closed."""
    drawn = (1 + draws.integers(kinds, ups.shape)).astype(np.uint8)
    words, _ = _stacked(ups, _heights(2 * ups.view(np.int8) - 1), drawn)
    return _ids(words, ups)


def shuffled_word(draws: Draws, ups: NDArray[np.bool_], kinds: int) -> Ids:
    """Words of paths, bool `(length, rows)`: uniform kinds, a uniform open bracket is closed."""
    drawn = (1 + draws.integers(kinds, ups.shape)).astype(np.uint8)
    before, rows = _heights(2 * ups.view(np.int8) - 1) + ~ups, np.arange(ups.shape[1])
    closed = np.where(ups, before, 1 + draws.below(before))
    is_open = np.zeros((int(before.max(initial=0)) + 1) * len(rows), np.uint8)
    places, last = (numbers * len(rows) + rows for numbers in (closed, before))
    words, moved = np.empty(ups.shape, np.uint8), np.empty(len(rows), np.uint8)
    for up, kind, place, end, word in zip(ups, drawn, places, last, words, strict=True):
        is_open.take(place, out=word, mode="clip")
        np.copyto(word, kind, where=up)
        # The last takes the place of the bracket that closes.
        is_open.take(end, out=moved, mode="clip")
        np.copyto(moved, kind, where=up)
        is_open[place] = moved
    return _ids(words, ups)


def _heights(steps: NDArray[np.int8]) -> NDArray[np.int64]:
    """The number of open brackets after each step, a sum of 1 and -1."""
    heights = steps.astype(np.int64)
    for before, after in itertools.pairwise(heights):
        after += before  # much faster than a cumulative sum of columns
    return heights


def _ids(kinds: Ids, ups: NDArray[np.bool_]) -> Ids:
    ids: Ids = np.ascontiguousarray((2 * kinds - ups).T)
    return ids


def _stacked(ups: NDArray[np.bool_], heights: NDArray[np.int64], kinds: Ids) -> tuple[Ids, Ids]:
    """The kind of the bracket that each step pushes or pops, and of the top after it."""
    rows = np.arange(ups.shape[1])
    stack = np.zeros((int(heights.max(initial=0)) + 2) * len(rows), np.uint8)
    tops = heights * len(rows) + rows
    places = tops + ~ups * len(rows)
    words, top_kinds = np.empty_like(kinds), np.empty_like(kinds)
    for up, kind, place, top, word, last in zip(
        ups, kinds, places, tops, words, top_kinds, strict=True
    ):
        stack.take(place, out=word, mode="clip")
        np.copyto(word, kind, where=up)
        stack[place] = word
        stack.take(top, out=last, mode="clip")
    return words, top_kinds


def due(ids: Ids, variant: str) -> tuple[Ids, NDArray[np.int64]]:
    """The kind of bracket that is due at each place, and the most brackets that are open.

    Raises:
        ValueError: a row is not a word.
    """
    tokens = np.ascontiguousarray(ids.T)
    ups, used, kinds = tokens % 2 == 1, tokens > 0, (tokens + 1) // 2
    heights = _heights(2 * ups.view(np.int8) - used)
    if (heights < 0).any() or heights[-1].any() or not used[0].all():
        raise ValueError("dyck: not every row has each bracket closed")
    if variant == "nested":
        words, due_kinds = _stacked(ups, heights, kinds)
        wrong = (words != kinds) & used
    else:
        due_kinds, wrong = _last_of_kinds(ups, heights, kinds)
    if wrong.any():
        raise ValueError(f"dyck: not every row has {variant} brackets")
    return np.ascontiguousarray(due_kinds.T), heights.max(axis=0)


def _last_of_kinds(
    ups: NDArray[np.bool_], heights: NDArray[np.int64], kinds: Ids
) -> tuple[Ids, NDArray[np.bool_]]:
    """The kind of the last open bracket after each step, and where no bracket of a kind is open.

    Open brackets are a list from which the last of a kind is taken. Those behind it move up.
    """
    rows = np.arange(ups.shape[1])
    slots = np.zeros(
        (int(heights.max(initial=0)) + 2, len(rows)), np.uint8
    )  # the first is always empty
    numbers, flat = np.arange(len(slots), dtype=np.uint8)[:, None], slots.reshape(-1)
    tops = heights * len(rows) + rows
    due_kinds, wrong = np.empty_like(kinds), np.zeros(kinds.shape, np.bool_)
    for up, kind, top, last, is_wrong in zip(ups, kinds, tops, due_kinds, wrong, strict=True):
        place = ((slots == kind) * numbers).max(axis=0)
        np.equal(place, 0, out=is_wrong)
        place[up | is_wrong] = 255
        np.copyto(slots[:-1], slots[1:], where=numbers[:-1] >= place)
        flat[top[up]] = kind[up]
        flat.take(top, out=last, mode="clip")
    return due_kinds, wrong & ~ups & (kinds > 0)
