"""The reference solvers: for one string, by another rule than `StringFunction.answer`.

Where that counts or calculates, a solver is an automaton, or the other way round. Symbols and
tokens are single characters here; `$` ends an answer.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable

_CHARACTERS = {symbol: symbol for symbol in "01234?#"}
_CHARACTERS |= {"pop": "p", "push0": "a", "push1": "b", "plus": "&", "times": "@"}


def solve(variant: str, text: str, program: bool, numbers: int = 0) -> list[str]:
    """The answer to a string of a variant.

    Args:
        variant: the variant.
        text: the string, with a space between symbols.
        program: whether to answer as the published program does.
        numbers: how many different numbers strings have; 0: they have the symbols of the paper.

    Raises:
        ValueError: the text is not one of the variant's strings.
    """
    if numbers:
        words = text.split()
        if not words or not set(words) <= set(map(str, range(numbers))):
            raise ValueError(f"{text[:80]!r} is not a string of {variant}")
        return _of_numbers(variant, words, program)
    try:
        x = "".join(_CHARACTERS.get(word, "!") for word in text.split())
        solver, form = _SOLVERS[variant]
        if not re.fullmatch(form, x):
            raise ValueError
        return ["end" if token == "$" else token for token in solver(x, program)]
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not a string of {variant}") from None


def _of_numbers(variant: str, x: list[str], program: bool) -> list[str]:
    """The four functions of strings of any symbols."""
    if variant == "odds-first":
        return x[1::2] + x[::2] if program else x[::2] + x[1::2]
    if variant == "bucket-sort":
        return sorted(x, key=int)
    return x + x if variant == "duplicate-string" else x[::-1]


def _parity_check(x: str, program: bool) -> str:
    """An automaton of two states."""
    return functools.reduce(lambda state, bit: {"0": "01", "1": "10"}[bit][int(state)], x, "0")


def _stack_manipulation(x: str, program: bool) -> str:
    """From the end: a pop takes away the nearest push before it that no other pop has taken."""
    content, pops = "", 0
    for symbol in reversed(x):
        if symbol == "p":
            pops += 1
        elif pops:
            pops -= 1
        else:
            content += {"a": "0", "b": "1"}.get(symbol, symbol)
    return f"{content}$".ljust(len(x) + 1, "_")


def _missing_duplicate(x: str, program: bool) -> str:
    """The digit half a string away from the hidden digit."""
    x = x.removesuffix("#")
    half, place = len(x) // 2, x.index("?")
    digit = x[place - half]
    whole = x.replace("?", digit)
    if whole != 2 * whole[:half] or digit == "?":
        raise ValueError
    return digit


def _odds_first(x: str, program: bool) -> str:
    """The places in the order of the answer."""
    return "".join(
        x[place] for place in sorted(range(len(x)), key=lambda index: (index + program) % 2)
    )


def _binary_addition(x: str, program: bool) -> str:
    """Digit by digit, with a carry."""
    total, carry = "", 0
    for bit, other in itertools.zip_longest(*x.split("&"), fillvalue="0"):
        carry, digit = divmod(int(bit) + int(other) + carry, 2)
        total += str(digit)
    digits = f"{total}{carry}".rstrip("0") or "0"
    return f"{digits}$".ljust(len(x) + 1, "_")


def _binary_multiplication(x: str, program: bool) -> str:
    """As on paper: column by column, with a carry."""
    factor, other = ([*map(int, part)] for part in x.split("@"))
    backwards, product, carry = other[::-1], "", 0
    for column in range(len(factor) + len(other)):
        skipped = max(0, column + 1 - len(other))
        digits = backwards[max(0, len(other) - 1 - column) :]
        carry, digit = divmod(carry + sum(map(operator.mul, factor[skipped:], digits)), 2)
        product += str(digit)
    return f"{product.rstrip('0') or 0}$".ljust(len(x), "_")


def _compute_sqrt(x: str, program: bool) -> str:
    """From the greatest digit on: a digit is 1 if the square stays small enough."""
    number, root, width = int(x if program else x[::-1], 2), 0, (len(x) + 1) // 2
    for place in reversed(range(width)):
        if (root | 1 << place) ** 2 <= number:
            root |= 1 << place
    y = "".join(str(root >> place & 1) for place in range(width))
    return y[::-1] if program else y


#: For each variant the form of its strings, and from a string and `program` the answer.
_SOLVERS: dict[str, tuple[Callable[[str, bool], str], str]] = {
    # Each change undoes the one before, so only both ends count.
    "even-pairs": (lambda x, program: "0" if x[0] == x[-1] else "1", "[01]+"),
    "parity-check": (_parity_check, "[01]+"),
    "stack-manipulation": (_stack_manipulation, "[01]+[pab]*"),
    "reverse-string": (lambda x, program: "".join(reversed(x)), "[01]+"),
    "duplicate-string": (lambda x, program: 2 * x, "[01]+"),
    "missing-duplicate": (_missing_duplicate, r"[01]*\?[01]*#?"),
    "odds-first": (_odds_first, "[01]+"),
    "binary-addition": (_binary_addition, "[01]+&[01]+"),
    "binary-multiplication": (_binary_multiplication, "[01]+@[01]+"),
    "compute-sqrt": (_compute_sqrt, "[01]+"),
    "bucket-sort": (
        lambda x, program: "".join(digit * x.count(digit) for digit in "01234"),
        "[0-4]+",
    ),
}
