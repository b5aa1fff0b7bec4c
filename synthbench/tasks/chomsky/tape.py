"""The context-sensitive tasks: they need a tape, on which to go back and forth."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, hash_rows, mix
from synthbench.tasks.chomsky.functions import DIGITS, END, StringFunction, Strings
from synthbench.tasks.numeric import all_digits


class DuplicateString(StringFunction):
    """The string twice."""

    asked = "the string twice, one after the other"
    takes_numbers = copies = True

    def answer(self, x: Strings) -> Strings:
        return np.hstack([x, x])


class MissingDuplicate(StringFunction):
    """The hidden bit of a repeated string. Strings of odd length end with a #."""

    given = (
        "a string of 0 and 1 twice, one after the other, in which a ? hides one digit. A # at the "
        "end means nothing"
    )
    asked = "the hidden digit"
    symbols = ("0", "1", "?", "#")
    is_digit = True
    shortest = 2

    def draw(self, draws: Draws, n: int, length: int) -> Strings:
        half = length // 2
        return self._hide(draws.integers(2, (n, half)), draws.integers(2 * half, n), length)

    def count(self, length: int) -> int:
        return (length // 2 * 2) << length // 2

    def every(self, length: int) -> Strings:
        words, places = all_digits(2, length // 2), np.arange(length // 2 * 2)
        return self._hide(words.repeat(len(places), 0), np.tile(places, len(words)), length)

    def _hide(self, word: Strings, place: Strings, length: int) -> Strings:
        x = np.hstack([word, word, np.full((len(word), length % 2), 3)])
        x[np.arange(len(x)), place] = 2
        return x

    def answer(self, x: Strings) -> Strings:
        # With the hidden bit the number of 1s is even.
        y: Strings = (x == 1).sum(axis=1) % 2
        return y

    def problem(self, ids: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """A hash of the string without the # at its end."""
        return hash_rows(np.where(ids == 4, 0, ids).astype(np.uint8))


class OddsFirst(StringFunction):
    """The symbols at odd places, counted from 1, and then those at even places.

    The published program puts the even places first.
    """

    asked = "first the digits at the places 1, 3, 5 and so on, then those at 2, 4, 6 and so on"
    program_asked = (
        "first the digits at the places 2, 4, 6 and so on, then those at 1, 3, 5 and so on"
    )
    takes_numbers = copies = True

    def answer(self, x: Strings) -> Strings:
        halves = [x[:, 0::2], x[:, 1::2]]
        return np.hstack(halves[::-1] if self.program else halves)


class BinaryAddition(StringFunction):
    """The sum of two binary numbers, the least digit first."""

    given = "two binary numbers, each with its least significant digit first (0 1 is two)"
    asked = (
        "their sum, its least significant digit first, too, without zeros at its end (but zero is "
        "0)"
    )
    symbols = ("0", "1", "plus")
    answers = ("0", "1", END)
    shortest = 3

    def shapes(self, length: int) -> tuple[Strings, Strings]:
        is_operator = np.arange(length) == np.arange(1, length - 1)[:, None]
        return np.where(is_operator, 2, 0), np.where(is_operator, 1, 2)

    def answer(self, x: Strings) -> Strings:
        return _ended([sum(_numbers(row)) for row in x], x.shape[1] + 1)

    def problem(self, ids: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """A hash of both numbers, whatever their order."""
        operator, places = (ids == 3).argmax(axis=1)[:, None], np.arange(ids.shape[1])
        left = np.where(places < operator, ids, 0).astype(np.uint8)
        padded = np.pad(ids, [(0, 0), (0, ids.shape[1])])
        right = np.take_along_axis(padded, operator + 1 + places, axis=1)
        return mix(hash_rows(left) + hash_rows(right))


class BinaryMultiplication(BinaryAddition):
    """The product of two binary numbers, the least digit first."""

    asked = (
        "their product, its least significant digit first, too, without zeros at its end (but zero "
        "is 0)"
    )
    symbols = ("0", "1", "times")

    def answer(self, x: Strings) -> Strings:
        return _ended([math.prod(_numbers(row)) for row in x], x.shape[1])


class ComputeSqrt(StringFunction):
    """The root of a binary number, rounded down, with half as many digits, the least one first.

    The published program has the greatest digit first.
    """

    given = "a binary number"
    asked = (
        "its square root, rounded down, with half as many digits (rounded up). Both numbers have "
        "their least significant digit first (0 1 is two)"
    )
    program_asked = "its square root, rounded down, with half as many binary digits (rounded up)"

    def answer(self, x: Strings) -> Strings:
        order, width = slice(None, None, -1 if self.program else 1), (x.shape[1] + 1) // 2
        roots = [math.isqrt(*_numbers(row[order])) for row in x]
        return np.array([_digits(f"{root:0{width}b}") for root in roots])[:, order]


class BucketSort(StringFunction):
    """The symbols in ascending order."""

    given = "a string of digits from 0 to 4"
    asked = "the same digits in ascending order"
    symbols = DIGITS
    answers = DIGITS
    takes_numbers = True

    def answer(self, x: Strings) -> Strings:
        return np.sort(x, axis=1)


def _numbers(x: Strings) -> list[int]:
    """The binary numbers on both sides of a 2, or the only number, the least digit first."""
    text = (x + ord("0")).astype(np.uint8).tobytes().decode("ascii")
    return [int(part[::-1], 2) for part in text.split("2")]


def _digits(binary: str) -> NDArray[np.uint8]:
    """The digits of a binary number, the least digit first."""
    return np.frombuffer(binary.encode("ascii"), np.uint8)[::-1] - ord("0")


def _ended(numbers: list[int], width: int) -> Strings:
    """Numbers in binary digits, the least digit first. Then the token 2, then ignored tokens."""
    answers = np.full((len(numbers), width), 3)
    for answer, number in zip(answers, numbers, strict=True):
        digits = _digits(f"{number:b}")
        answer[: len(digits)], answer[len(digits)] = digits, 2
    return answers
