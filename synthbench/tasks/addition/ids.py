"""Numbers as ids of a row's tokens, and back as digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.addition.digits import Digits
from synthbench.tasks.tokens import packed

Ids = NDArray[np.uint8]
#: The ids of the tokens: the digit d has the id d + 1.
PLUS, TIMES, EQUALS = 11, 12, 13


def signs(tokens: Ids) -> tuple[Digits, Digits]:
    """Places of the sign between the numbers and of the =, `(rows,)` each. 0 if it is missing."""
    between = (tokens == PLUS) | (tokens == TIMES)
    return between.argmax(axis=1), (tokens == EQUALS).argmax(axis=1)


def all_equal(numbers: Digits) -> bool:
    """Return true for equal numbers, at least one."""
    return len(numbers) > 0 and bool((numbers == numbers[0]).all())


def numbers(tokens: Ids) -> tuple[Digits, Digits]:
    """The digits of both numbers, the least significant first, int64 `(rows, longest)` each."""
    a, b = small_numbers(tokens)
    return a.astype(np.int64), b.astype(np.int64)


def small_numbers(tokens: Ids) -> tuple[Ids, Ids]:
    """The digits of both numbers as `numbers` has them, in a byte each."""
    sign, equals = signs(tokens)
    counts = np.maximum([sign, equals - sign - 1], 0)
    a, b = (
        _digits_before(tokens, end, count, counts.max(initial=1))
        for end, count in zip((sign, equals), counts, strict=True)
    )
    return a, b


def _digits_before(tokens: Ids, end: Digits, count: Digits, width: int) -> Ids:
    """The `count` digits before the place `end` of each row, the last one first."""
    if all_equal(end) and all_equal(count):  # as in a block
        digits = np.zeros((len(tokens), width), np.uint8)
        first = end[0] - count[0]
        digits[:, : count[0]] = tokens[:, first : end[0]][:, ::-1] - np.uint8(1)
        return digits
    places = np.arange(width)[:, None]  # each place in consecutive memory
    at = np.arange(len(tokens)) * tokens.shape[1] + end - 1 - places
    ids = tokens.ravel().take(at, mode="clip") - np.uint8(1)
    return np.where(places < count, ids, np.uint8(0)).T


def written(number: Digits, length: Digits) -> Ids:
    """The ids of numbers, the most significant digit first, behind zeros; `length` digits each."""
    if all_equal(length) and length[0] == number.shape[1]:  # as in a block
        return number[:, ::-1].astype(np.uint8) + np.uint8(1)
    width = max(int(length.max(initial=1)), number.shape[1])
    ids = np.zeros((len(number), width), np.uint8)
    ids[:, : number.shape[1]] = number
    ids += 1
    ids *= np.arange(width) < length[:, None]
    return ids[:, ::-1]


def trimmed(ids: Ids) -> Ids:
    """Ids `(rows, width)` with the zeros of each row behind all others, as few as there can be."""
    width = np.count_nonzero(ids, axis=1).max(initial=1)
    return packed(ids)[:, :width].astype(np.uint8, copy=False)
