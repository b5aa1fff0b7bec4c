"""The reference solver of automata: states are classes of prefixes, told apart by Python's `re`.

Two words are in one class if the expression matches the same continuations of both. The state after
a symbol is the class of the word that is the first of the state before it, and the symbol.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable

#: The most symbols of a row.
LONGEST = 1_000


@dataclasses.dataclass(frozen=True)
class Rule:
    """An expression, and words that name its classes.

    Attributes:
        expression: a regular expression, as `re` reads it.
        letters: the letters of words.
        words: the first word of each class, in the order of their numbers.
        continuations: words that separate the classes.
    """

    expression: str
    letters: tuple[str, ...]
    words: tuple[str, ...]
    continuations: tuple[str, ...]


def states_after(rule: Rule, text: str) -> list[str]:
    """The state after each symbol of a row.

    Raises:
        ValueError: the text is not a word, or a prefix of it is in another class.
    """
    symbols = text.split()
    if not 1 <= len(symbols) <= LONGEST:
        raise ValueError(f"expected 1 to {LONGEST} symbols, got {len(symbols)}")
    states, state = [], 0
    for symbol in symbols:
        if symbol not in rule.letters:
            raise ValueError(f"{symbol!r} is not a symbol: expected {', '.join(rule.letters)}")
        state = next_state(rule, state, symbol)
        states.append(f"q{state}")
    return states


@functools.lru_cache(maxsize=1 << 14)
def next_state(rule: Rule, state: int, symbol: str) -> int:
    """The number of the class of the state's first word and a symbol.

    Raises:
        ValueError: the word is in another class.
    """
    word = rule.words[state] + symbol
    successor = _classes(rule).get(_continued(rule, word))
    if successor is None:
        raise ValueError(f"{word!r} is in another class of {rule.expression}")
    return successor


@functools.lru_cache(maxsize=16)
def _classes(rule: Rule) -> dict[tuple[bool, ...], int]:
    """The number of each class by the continuations that match."""
    return {_continued(rule, word): number for number, word in enumerate(rule.words)}


def _continued(rule: Rule, word: str) -> tuple[bool, ...]:
    """For each continuation, True if the word with it is in the language."""
    is_in = _matcher(rule.expression)
    return tuple(is_in(word + continuation) is not None for continuation in rule.continuations)


@functools.lru_cache(maxsize=16)
def _matcher(expression: str) -> Callable[[str], object]:
    return re.compile(expression.replace("(", "(?:")).fullmatch
