"""Worked solutions of modular arithmetic: in whole numbers, and then the remainder.

    4 + 19 =       4 + 19 = 23.                        modulo 23
                   23 = 1 * 23 + 0, so the remainder is 0.

To divide is to multiply by the inverse, which Euclid's algorithm finds: each remainder is a
multiple of the divisor, and the last remainder is 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.modular_arithmetic.solver import answer, read_equation
from synthbench.tasks.modular_arithmetic.task import ModularArithmetic
from synthbench.tasks.worked import Sentence, ended, expect, following

_CALCULATION = Sentence("{} {} {} = {}.")
_REMAINDER = Sentence("{} = {} * {} + {}, so the remainder is {}.")
_INVERSE = Sentence("To divide by {} modulo {}, multiply by its inverse.")
_EUCLID = Sentence("{} = {} * {} + {}, so {} is {} - {} * {} = {} times {}.")
_FOUND = Sentence("1 is {} times {}, so the inverse is {}.")
_SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}


def write_steps(task: ModularArithmetic, question: str) -> Iterator[str]:
    """The calculation, for a division after the inverse of b, then the remainder."""
    modulus = task.parameters.modulus
    a, b = read_equation(task.variant, modulus, question)
    match task.variant:
        case "divide":
            yield _INVERSE(b, modulus)
            yield from _euclid(modulus, b)
            inverse = answer("divide", modulus, 1, b)
            whole = a * inverse
            yield _CALCULATION(a, "*", inverse, whole)
        case "sum-of-squares":
            yield _CALCULATION(a, "*", a, a * a)
            yield _CALCULATION(b, "*", b, b * b)
            whole = a * a + b * b
            yield _CALCULATION(a * a, "+", b * b, whole)
        case variant:
            whole = {"add": a + b, "subtract": a - b, "multiply": a * b}[variant]
            yield _CALCULATION(a, _SIGNS[variant], b, whole)
    remainder = answer(task.variant, modulus, a, b)
    yield _REMAINDER(whole, (whole - remainder) // modulus, modulus, remainder, remainder)


def _euclid(modulus: int, b: int) -> Iterator[str]:
    """The steps of Euclid's algorithm. Each remainder is `times` times b."""
    above, below, times_above, times = modulus, b, 0, 1
    while below > 1:
        quotient, rest = divmod(above, below)
        new = times_above - quotient * times
        yield _EUCLID(above, quotient, below, rest, rest, times_above, quotient, times, new, b)
        above, below, times_above, times = below, rest, times, new
    yield _FOUND(times, b, times % modulus)


def replay_steps(task: ModularArithmetic, question: str, steps: Sequence[str]) -> str:
    """Calculations are done again, and an inverse is multiplied with its number.

    Raises:
        ValueError: a step does not follow.
    """
    modulus, words, left = task.parameters.modulus, question.split(), iter(steps)
    a, b = int(words[0]), int(words[-3 if task.variant == "sum-of-squares" else -2])
    match task.variant:
        case "divide":
            inverse = _replay_inverse(modulus, b, left)
            if b * inverse % modulus != 1:
                raise ValueError(f"{inverse} is not the inverse of {b} modulo {modulus}")
            whole = _calculated(following(left), a, "*", inverse)
        case "sum-of-squares":
            squares = [_calculated(following(left), number, "*", number) for number in (a, b)]
            whole = _calculated(following(left), squares[0], "+", squares[1])
        case variant:
            whole = _calculated(following(left), a, _SIGNS[variant], b)
    step = following(left)
    said, times, by, rest, result = _REMAINDER.read(step)
    expect(step, (said, whole), (by, modulus), (rest, result))
    expect(step, (int(times) * modulus + int(rest), whole))
    if not 0 <= int(result) < modulus:
        raise ValueError(f"{result} is not a remainder modulo {modulus}")
    ended(left)
    return result


def _calculated(step: str, number: int, sign: str, other: int) -> int:
    """The result of a calculation, if what a step says of it holds."""
    said, by, another, result = _CALCULATION.read(step)
    true = {"+": number + other, "-": number - other, "*": number * other}[sign]
    expect(step, (said, number), (by, sign), (another, other), (result, true))
    return true


def _replay_inverse(modulus: int, b: int, left: Iterator[str]) -> int:
    """The inverse that the steps find, each remainder checked as a multiple of b."""
    step = following(left)
    expect(step, *zip(_INVERSE.read(step), (b, modulus), strict=True))
    known = [(modulus, 0), (b, 1)]  # numbers, and how many times b they are
    while known[-1][0] > 1:
        step = following(left)
        (above, by_above), (below, by_below) = known[-2:]
        number, quotient, divisor, rest, again, first, factor, second, times, of = map(
            int, _EUCLID.read(step)
        )
        expect(step, (number, above), (divisor, below), (quotient * below + rest, above))
        expect(step, (again, rest), (first, by_above), (factor, quotient), (second, by_below))
        expect(step, (times, by_above - quotient * by_below), (of, b))
        expect(step, ((times * b - rest) % modulus, 0))
        known.append((rest, times))
    step = following(left)
    times, of, inverse = map(int, _FOUND.read(step))
    expect(step, (times, known[-1][1]), (of, b), ((times - inverse) % modulus, 0))
    if not 0 <= inverse < modulus:
        raise ValueError(f"{inverse} is not a number from 0 to {modulus - 1}")
    return inverse
