"""The regular tasks: a finite automaton reads the string once."""

from __future__ import annotations

import numpy as np

from synthbench.tasks.chomsky.functions import (
    Calculation,
    Modular,
    StringFunction,
    Strings,
)


class EvenPairs(StringFunction):
    """The parity of the number of pairs 01 and 10. It is even if both ends are the same."""

    asked = "0 if the number of places where a digit is followed by a different one is even, else 1"
    is_digit = True

    def answer(self, x: Strings) -> Strings:
        y: Strings = (x[:, 1:] != x[:, :-1]).sum(axis=1) % 2
        return y


class ModularArithmeticSimple(Calculation):
    """A calculation modulo a number without brackets. Strings have odd lengths.

    The paper's automaton has the result so far as its state, so it calculates from left to right.
    The published program multiplies first.
    """

    given = "a calculation with numbers from 0 to {last}"
    asked = (
        "its result modulo {modulus}, a number from 0 to {last}, calculated strictly from left "
        "to right: 1 + 2 * 3 is 3 * 3"
    )
    program_asked = (
        "its result modulo {modulus}, a number from 0 to {last}, where * comes before + and -: "
        "1 + 2 * 3 is 1 + 6"
    )
    signs = ("+", "-", "*")
    step = 2

    def shapes(self, length: int) -> tuple[Strings, Strings]:
        is_digit = np.arange(length)[None] % 2 == 0
        return np.where(is_digit, 0, self.modulus), np.where(is_digit, self.modulus, 3)

    def answer(self, x: Strings) -> Strings:
        modulus = self.modulus
        done, last = np.zeros_like(x[:, 0]), x[:, 0]  # their sum is the result so far
        for operator, digit in zip(x[:, 1::2].T - modulus, x[:, 2::2].T, strict=True):
            if not self.program:
                done, last = np.zeros_like(done), done + last
            done = np.where(operator < 2, done + last, done) % modulus
            last = np.choose(operator, [digit, -digit, last * digit]) % modulus
        return (done + last) % modulus


class ParityCheck(StringFunction):
    """The parity of the number of 1s."""

    asked = "0 if the number of 1s is even, else 1"
    is_digit = True

    def answer(self, x: Strings) -> Strings:
        y: Strings = x.sum(axis=1) % 2
        return y


class CycleNavigation(Modular):
    """The end of a walk on a cycle, which has five places in the paper."""

    given = (
        "a walk on a cycle of {modulus} places, 0 to {last}, which begins at 0: + is a step to "
        "the next place (from {last} to 0), - a step to the place before (from 0 to {last}), and "
        "0 stays"
    )
    asked = "the place where the walk ends"
    symbols = ("-", "0", "+")

    def answer(self, x: Strings) -> Strings:
        y: Strings = (x - 1).sum(axis=1) % self.modulus
        return y
