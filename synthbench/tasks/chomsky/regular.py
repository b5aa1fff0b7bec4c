"""The regular tasks: a finite automaton reads the string once."""

from __future__ import annotations

import numpy as np

from synthbench.tasks.chomsky.functions import DIGITS, StringFunction, Strings


class EvenPairs(StringFunction):
    """The parity of the number of pairs 01 and 10. It is even if both ends are the same."""

    asked = "0 if the number of places where a digit is followed by a different one is even, else 1"
    is_digit = True

    def answer(self, x: Strings) -> Strings:
        y: Strings = (x[:, 1:] != x[:, :-1]).sum(axis=1) % 2
        return y


class ModularArithmeticSimple(StringFunction):
    """A calculation modulo 5 without brackets. Strings have odd lengths.

    The paper's automaton has the result so far as its state, so it calculates from left to right.
    The published program multiplies first.
    """

    given = "a calculation with numbers from 0 to 4"
    asked = (
        "its result modulo 5, a number from 0 to 4, calculated strictly from left to right: "
        "1 + 2 * 3 is 3 * 3"
    )
    program_asked = (
        "its result modulo 5, a number from 0 to 4, where * comes before + and -: "
        "1 + 2 * 3 is 1 + 6"
    )
    symbols = (*DIGITS, "+", "-", "*")
    answers = DIGITS
    is_digit = True
    step = 2

    def shapes(self, length: int) -> tuple[Strings, Strings]:
        is_digit = np.arange(length)[None] % 2 == 0
        return np.where(is_digit, 0, 5), np.where(is_digit, 5, 3)

    def answer(self, x: Strings) -> Strings:
        done, last = np.zeros_like(x[:, 0]), x[:, 0]  # their sum is the result so far
        for operator, digit in zip(x[:, 1::2].T - 5, x[:, 2::2].T, strict=True):
            if not self.program:
                done, last = np.zeros_like(done), done + last
            done = np.where(operator < 2, done + last, done) % 5
            last = np.choose(operator, [digit, -digit, last * digit]) % 5
        return (done + last) % 5


class ParityCheck(StringFunction):
    """The parity of the number of 1s."""

    asked = "0 if the number of 1s is even, else 1"
    is_digit = True

    def answer(self, x: Strings) -> Strings:
        y: Strings = x.sum(axis=1) % 2
        return y


class CycleNavigation(StringFunction):
    """The end of a walk on a cycle of five places."""

    given = (
        "a walk on a cycle of five places, 0 to 4, which begins at 0: + is a step to the next "
        "place (from 4 to 0), - a step to the place before (from 0 to 4), and 0 stays"
    )
    asked = "the place where the walk ends"
    symbols = ("-", "0", "+")
    answers = DIGITS
    is_digit = True

    def answer(self, x: Strings) -> Strings:
        y: Strings = (x - 1).sum(axis=1) % 5
        return y
