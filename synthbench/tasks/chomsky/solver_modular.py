"""The reference solvers of answers modulo a number. See `solver`."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable

_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_NUMBER = "<([0-9]+)>"


def solve(variant: str, text: str, program: bool, modulus: int) -> list[str]:
    """The answer to a string of a variant.

    Raises:
        ValueError: the text is not one of the variant's strings.
    """
    words = text.split()
    numbers = set(map(str, range(modulus)))
    # Numbers have marks around them, so that `1 2` is not read as `12`.
    x = "".join(f"<{word}>" if word in numbers else word for word in words)
    solver, form = MODULAR[variant]
    known = all(word in numbers or word in {*"+-*()x="} for word in words)
    try:
        if not known or not re.fullmatch(form.replace("n", _NUMBER), x):
            raise ValueError
        return [str(solver(x, program, modulus))]
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not a string of {variant}") from None


def _modular_arithmetic_simple(x: str, program: bool, modulus: int) -> int:
    """Exact integers, whose remainder is taken at the end."""
    first, *rest = re.findall(rf"([-+*]?){_NUMBER}", x)
    terms = [int(first[1])]
    for sign, number in rest:
        if program and sign != "*":
            terms.append(_OPERATORS[sign](0, int(number)))
        else:
            terms[-1] = _OPERATORS[sign](terms[-1], int(number))
    return sum(terms) % modulus


def _cycle_navigation(x: str, program: bool, modulus: int) -> int:
    """An automaton whose states are in a circle."""
    places = range(modulus)
    step = {"+": [*places[1:], 0], "-": [modulus - 1, *places[:-1]], "0": places}
    return functools.reduce(lambda state, move: step[move][state], re.findall("[-+0]", x), 0)


def _solve_equation(x: str, program: bool, modulus: int) -> int:
    """All numbers are tried."""
    left, right = x.split("=")
    tried = (_value(left.replace("x", f"<{number}>"), modulus) for number in range(modulus))
    return [f"<{value}>" for value in tried].index(right)


def _value(x: str, modulus: int) -> int:
    """The value of an expression, the innermost brackets first."""
    # Only a sign is at the beginning or behind a bracket or an operator.
    x = re.sub(rf"(?<![>)])-{_NUMBER}", lambda match: f"<{-int(match[1]) % modulus}>", x)
    x = re.sub(rf"\({_NUMBER}\)", r"<\1>", x)

    def done(match: re.Match[str]) -> str:
        return f"<{_OPERATORS[match[2]](int(match[1]), int(match[3])) % modulus}>"

    while not (whole := re.fullmatch(_NUMBER, x)):
        shorter = re.sub(rf"\({_NUMBER}([-+*]){_NUMBER}\)", done, x)
        if shorter == x:
            raise ValueError
        x = shorter
    return int(whole[1])


#: For each variant its solver and the form of its strings, in which `n` is a number.
MODULAR: dict[str, tuple[Callable[[str, bool, int], int], str]] = {
    "modular-arithmetic-simple": (_modular_arithmetic_simple, "n([-+*]n)*"),
    "cycle-navigation": (_cycle_navigation, "([-+]|<0>)+"),
    "modular-arithmetic-brackets": (
        lambda x, program, modulus: _value(x, modulus),
        "([-+*()]|n)+",
    ),
    "solve-equation": (_solve_equation, "([-+()]|n)*x([-+()]|n)*=n"),
}
