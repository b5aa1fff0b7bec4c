"""The base of the fifteen variants: a function from strings to strings.

Strings of one length are an array `(rows, length)` of numbers from 0, the places of their symbols
among the function's `symbols`. Answers `(rows,)` or `(rows, tokens)` are places among its
`answers`, followed by the number of the ignored token.
"""

from __future__ import annotations

import abc
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws

Strings = NDArray[np.integer[Any]]

#: The last token of an answer whose length is a part of the answer, and the token behind it.
END, BEHIND = "end", "_"
DIGITS = ("0", "1", "2", "3", "4")
#: The paper's modulus.
MODULUS = 5
#: The longest strings that are counted.
_COUNTED = 40


class StringFunction(abc.ABC):
    """A function of strings. By default of all strings of its symbols, drawn uniformly.

    Args:
        program: whether to answer as the published program does, where the paper says otherwise.
        numbers: how many different symbols strings have, 0, 1 and so on, if it `takes_numbers`.
            0 means the symbols of the paper.
        modulus: the modulus of `Modular` functions.

    Attributes:
        given: the nature of a string, to complete "The line is". In classes, `{modulus}` and
            `{last}` are the modulus and the largest number below it.
        asked: the question, to complete "The answer is", and `program_asked` with `program`.
        symbols: the symbols of strings.
        answers: the tokens of answers.
        is_digit: whether every answer is one number.
        takes_numbers: whether another number of symbols is possible.
        copies: whether every token of an answer is a copy of a symbol, at a place that the length
            of the string decides.
        shortest, step: the lengths of strings are `shortest`, `shortest + step` and so on.
    """

    given: str = "a string of 0 and 1"
    asked: str
    program_asked: str = ""
    symbols: tuple[str, ...] = ("0", "1")
    answers: tuple[str, ...] = ("0", "1")
    is_digit: ClassVar[bool] = False
    takes_numbers: ClassVar[bool] = False
    copies: ClassVar[bool] = False
    shortest: ClassVar[int] = 1
    step: ClassVar[int] = 1

    def __init__(self, program: bool = False, numbers: int = 0, modulus: int = MODULUS) -> None:
        self.program, self.numbers, self.modulus = program, numbers, modulus
        for name in ("given", "asked", "program_asked"):
            words = getattr(self, name).format(modulus=modulus, last=modulus - 1)
            setattr(self, name, words)
        if numbers:
            self.symbols = self.answers = tuple(map(str, range(numbers)))
            self.given = f"a string of numbers from 0 to {numbers - 1}"
            self.asked = self.asked.replace("digits", "numbers")
            self.program_asked = self.program_asked.replace("digits", "numbers")

    @property
    def rule(self) -> tuple[int, ...]:
        """The arguments of an answer besides the string: `program`, in `Modular` also `modulus`."""
        return (self.program,)

    @abc.abstractmethod
    def answer(self, x: Strings) -> Strings:
        """The answers to strings."""

    def shapes(self, length: int) -> tuple[Strings, Strings]:
        """The first symbol and the number of symbols at each place, each `(shapes, length)`."""
        return np.zeros((1, length), int), np.full((1, length), len(self.symbols))

    def draw(self, draws: Draws, n: int, length: int) -> Strings:
        """Random strings: of a uniform shape, with uniform symbols."""
        first, count = self.shapes(length)
        shape = draws.integers(len(first), n)
        # Most functions have strings of one shape, whose array is as small as a string.
        shape = shape if len(first) > 1 else np.zeros(1, int)
        x = draws.below(np.broadcast_to(count[shape], (n, length)))
        x += first[shape]
        return x

    def count(self, length: int) -> int | None:
        """The number of strings of a length; None if they are too many to run out."""
        if length > _COUNTED:
            return None
        return sum(map(math.prod, self.shapes(length)[1].tolist()))

    def every(self, length: int) -> Strings:
        """All strings of a length."""
        parts = []
        for first, count in zip(*self.shapes(length), strict=True):
            units = np.append(np.cumprod(count[:0:-1])[::-1], 1)
            parts.append(first + np.arange(count.prod())[:, None] // units % count)
        return np.concatenate(parts)

    def problem(self, ids: NDArray[np.uint8]) -> NDArray[np.uint64] | None:
        """A hash of rows held out together, from numbers of symbols from 1, padded with 0."""
        return None


class Modular(StringFunction):
    """A function whose answer is a number below a modulus."""

    is_digit = True

    def __init__(self, program: bool = False, numbers: int = 0, modulus: int = MODULUS) -> None:
        super().__init__(program, numbers, modulus)
        self.answers = tuple(map(str, range(modulus)))

    @property
    def rule(self) -> tuple[int, ...]:
        return self.program, self.modulus


class Calculation(Modular):
    """Numbers below a modulus and these signs. The signs follow the numbers among the symbols."""

    signs: ClassVar[tuple[str, ...]]

    def __init__(self, program: bool = False, numbers: int = 0, modulus: int = MODULUS) -> None:
        super().__init__(program, numbers, modulus)
        self.symbols = (*self.answers, *self.signs)
