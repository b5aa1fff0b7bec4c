"""Regular expressions of letters with `( ) | * +`, as positions that may follow each other.

    (ab)*c     positions   1 a, 2 b, 3 c; 0 is the start
               follows     0: 1 3    1: 2    2: 1 3
               ends        3

Source: Glushkov, The abstract theory of automata (1961).
"""

from __future__ import annotations

import dataclasses
import string

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.text.lines import short

#: The position before the first letter.
START = 0
#: The most signs of an expression.
_LONGEST = 300
_LETTERS = frozenset(string.ascii_letters)


@dataclasses.dataclass(frozen=True, eq=False)
class Positions:
    """The letters of an expression in order, and which of them may follow which.

    Attributes:
        letters: the letter of each position, from position 1 on.
        follows: in how many ways each position may follow another, int64 `(positions, positions)`.
        ends: positions that a word may end at, bool `(positions,)`.
    """

    letters: str
    follows: NDArray[np.int64]
    ends: NDArray[np.bool_]


@dataclasses.dataclass(frozen=True)
class _Matched:
    """A part of an expression: whether the empty word matches it, its first and last positions."""

    empty: bool
    first: tuple[int, ...]
    last: tuple[int, ...]


def read_expression(expression: str) -> Positions:
    """The positions of an expression.

    Raises:
        ParameterError: the expression is malformed or too long.
    """
    if not 1 <= len(expression) <= _LONGEST:
        raise ParameterError(
            f"Parameter language has {len(expression)} signs: allowed are 1 to {_LONGEST}."
        )
    letters = "".join(sign for sign in expression if sign in _LETTERS)
    follows = np.zeros((1 + len(letters), 1 + len(letters)), np.int64)

    def joined(part: _Matched, other: _Matched) -> _Matched:
        follows[np.ix_(part.last, other.first)] += 1
        first = part.first + (other.first if part.empty else ())
        last = other.last + (part.last if other.empty else ())
        return _Matched(part.empty and other.empty, first, last)

    def sequence(parts: list[_Matched]) -> _Matched:
        whole = parts[0]
        for part in parts[1:]:
            whole = joined(whole, part)
        return whole

    # For each open bracket, and for the whole: alternatives, the last one as its parts so far.
    opened: list[list[list[_Matched]]] = [[[]]]
    position = START
    for place, sign in enumerate(expression, 1):
        parts = opened[-1][-1]
        before = expression[place - 2] if place > 1 else ""
        if sign in _LETTERS:
            position += 1
            parts.append(_Matched(False, (position,), (position,)))
        elif sign == "(":
            opened.append([[]])
        elif sign not in "|)*+":
            raise _malformed(expression, place, "allowed are letters and ( ) | * +")
        elif sign in "*+" and before in ("*", "+"):
            raise _malformed(expression, place, "it repeats a repetition")
        elif not parts:
            raise _malformed(expression, place, "a letter or a bracket must be in front of it")
        elif sign == "|":
            opened[-1].append([])
        elif sign == ")":
            if len(opened) == 1:
                raise _malformed(expression, place, "its opening bracket is missing")
            opened[-2][-1].append(_either([*map(sequence, opened.pop())]))
        else:
            part = parts.pop()
            follows[np.ix_(part.last, part.first)] += 1
            parts.append(_Matched(part.empty or sign == "*", part.first, part.last))
    if len(opened) > 1 or not opened[-1][-1]:
        missing = "a closing bracket" if len(opened) > 1 else "an alternative"
        raise ParameterError(
            f"Parameter language={short(expression)}: {missing} is missing at its end."
        )
    whole = _either([*map(sequence, opened[0])])
    follows[START, list(whole.first)] += 1
    ends = np.zeros(len(follows), bool)
    ends[[*whole.last, *([START] if whole.empty else [])]] = True
    return Positions(letters, follows, ends)


def _either(parts: list[_Matched]) -> _Matched:
    return _Matched(
        any(part.empty for part in parts),
        tuple(position for part in parts for position in part.first),
        tuple(position for part in parts for position in part.last),
    )


def _malformed(expression: str, place: int, problem: str) -> ParameterError:
    return ParameterError(
        f"Parameter language={short(expression)}: sign {place} is {expression[place - 1]!r}, and "
        f"{problem}, as in (ab|ba)*."
    )
