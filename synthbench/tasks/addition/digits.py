"""Numbers as arrays of digits: how they are drawn, added and multiplied, place by place.

`draw_pairs` draws two numbers whose sum has as many carries as was drawn first. Among all such
pairs each is equally likely. Digits are drawn from the least significant place on. What may follow
depends only on the carry into a place and on the number of carries still to come, so the ways to go
on are counted once, from the last place that both numbers have back to the first.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.numeric import all_digits

Digits = NDArray[np.integer[Any]]
#: The bits of a draw that decides whether a place has a carry.
_BITS = 32


def draw_numbers(draws: Draws, n: int, places: int) -> Digits:
    """Uniform numbers of so many digits, the least significant first, `(n, places)`."""
    return _without_zero(draws, n, places) if places > 1 else draws.integers(10, (n, 1))


def _without_zero(draws: Draws, n: int, places: int) -> Digits:
    """Uniform digits, whose most significant digit is not 0."""
    digits = draws.integers(10, (n, places))
    digits[:, -1] = 1 + draws.integers(9, n)
    return digits


def every_number(places: int) -> Digits:
    """The digits of all numbers of so many digits, the least significant first."""
    return all_digits(10, places)[-how_many(places) :, ::-1]


def how_many(places: int) -> int:
    """Number of numbers with so many digits."""
    return 10 if places == 1 else 9 * 10 ** (places - 1)


def lengths(numbers: Digits) -> NDArray[np.int64]:
    """Number of digits without leading zeros, `(rows,)`. The number 0 has one digit."""
    some = numbers > 0
    if some[:, -1].all():  # as in a block
        return np.full(len(numbers), numbers.shape[1])
    places = np.arange(1, 1 + numbers.shape[1], dtype=np.uint16)
    longest: NDArray[np.int64] = (some * places).max(axis=1, initial=1).astype(np.int64)
    return longest


def draw_pairs(draws: Draws, n: int, places_a: int, places_b: int) -> tuple[Digits, Digits]:
    """Two numbers of so many digits, balanced over carries in the places of the shorter number.

    All numbers of carries that these places can have are equally frequent. In its further places
    the longer number has uniform digits.

    Returns:
        Their digits, the least significant first, `(n, places_a)` and `(n, places_b)`.
    """
    # How much longer the longer number is does not matter.
    behind = min(places_a, places_b) + 1
    shape = _shape(min(places_a, behind), min(places_b, behind))
    left = shape.possible.take(draws.integers(len(shape.possible), n))
    carry = np.zeros(n, np.int64)
    a, b = np.empty((2, len(shape.places), n), np.uint8)
    for number, (place, chances) in enumerate(zip(shape.places, shape.chances, strict=True)):
        onward = (draws.halves(n) < chances.take(carry * chances.shape[1] + left)).astype(np.int64)
        ways = 2 * carry + onward
        drawn = ways * place.most + draws.below(place.counts.take(ways))
        a[number], b[number] = place.a.take(drawn), place.b.take(drawn)
        carry, left = onward, left - onward
    a, b = a.T, b.T
    if rest := abs(places_a - places_b):
        further = _without_zero(draws, n, rest)
        a, b = (
            np.hstack([number, further]) if places > len(shape.places) else number
            for number, places in ((a, places_a), (b, places_b))
        )
    return a, b


class _Place:
    """The pairs of digits that a place can have.

    Attributes:
        counts: how many there are for each carry in and carry out, int64 `(2, 2)`.
        most: the most that there are for any.
        a, b: their digits, uint8 `(2, 2, most)`.
    """

    def __init__(self, digits_a: range, digits_b: range) -> None:
        every = np.array([(a, b) for a in digits_a for b in digits_b])
        self.counts = np.zeros((2, 2), np.int64)
        self.most = len(every)
        self.a, self.b = np.zeros((2, 2, 2, self.most), np.uint8)
        for carry in (0, 1):
            carries_on = every.sum(axis=1) + carry >= 10
            for onward in (0, 1):
                pairs = every[carries_on == onward]
                self.counts[carry, onward] = len(pairs)
                for digits, drawn in ((self.a, pairs[:, 0]), (self.b, pairs[:, 1])):
                    digits[carry, onward, : len(pairs)] = drawn


class _Shape:
    """The law of two numbers' digits at the places that both have.

    Attributes:
        places: these places, the least significant first.
        chances: for each place the chance of a carry by the carry into it and the number of carries
            to come, in units of 2**-32, uint64 `(2, places + 1)`.
        possible: the numbers of carries that these numbers can have, int64.
    """

    def __init__(self, places_a: int, places_b: int) -> None:
        most = min(places_a, places_b)
        self.places = [
            _place(_digits(places_a, place), _digits(places_b, place)) for place in range(most)
        ]
        # ways[carry][left]: how many ways there are to draw the digits of the places behind it.
        ways = [[1] + [0] * most] * 2
        self.chances: list[NDArray[np.uint64]] = []
        for place in reversed(self.places):
            chances, before = np.zeros((2, most + 1), np.uint64), []
            for carry in (0, 1):
                stay, go_on = place.counts[carry].tolist()
                with_carry = [0, *(go_on * count for count in ways[1][:-1])]
                every = [stay * n + m for n, m in zip(ways[0], with_carry, strict=True)]
                for left, (n, m) in enumerate(zip(every, with_carry, strict=True)):
                    chances[carry, left] = (m << _BITS) // n if n else 0
                before.append(every)
            ways = before
            self.chances.insert(0, chances)
        self.possible = np.flatnonzero([count > 0 for count in ways[0]])


@functools.lru_cache(maxsize=256)
def _shape(places_a: int, places_b: int) -> _Shape:
    return _Shape(places_a, places_b)


@functools.cache
def _place(digits_a: range, digits_b: range) -> _Place:
    return _Place(digits_a, digits_b)


def _digits(places: int, place: int) -> range:
    """The digits that a number of so many digits can have at a place."""
    return range(1 if 0 < place == places - 1 else 0, 10)


def sum_digits(a: Digits, b: Digits) -> Digits:
    """The digits of sums, the least significant first; `(rows, width)` to `(rows, width + 1)`."""
    total = np.zeros((a.shape[1] + 1, len(a)), np.uint8)  # each place in consecutive memory
    np.add(a.T, b.T, out=total[:-1], casting="unsafe")
    for place, onward in itertools.pairwise(total):
        carry = place > 9
        place -= 10 * carry.view(np.uint8)
        onward += carry
    return total.T.astype(a.dtype)


def product_digits(a: Digits, b: Digits) -> Digits:
    """The digits of products, the least significant first. Twice as many as the factors have."""
    width = a.shape[1]
    total, b = np.zeros((len(a), 2 * width), np.int64), b.astype(np.int64)
    for place in range(width):
        total[:, place : place + width] += a[:, place, None] * b
    for place in range(2 * width - 1):
        carry, total[:, place] = np.divmod(total[:, place], 10)
        total[:, place + 1] += carry
    return total


def carries(a: Digits, b: Digits) -> NDArray[np.int64]:
    """Number of places of each sum that carry, int64 `(rows,)`."""
    # Every carry takes 10 from one place and adds 1 to the next.
    lost = a.sum(axis=1) + b.sum(axis=1) - sum_digits(a, b).sum(axis=1)
    count: NDArray[np.int64] = lost // 9
    return count
