"""Worked solutions of the regular tasks: the state of an automaton after each symbol.

Here and in `worked_stack` and `worked_tape` the steps of a variant are two functions. The first
writes them, for the symbols of a string and its answer by the reference solver. The second replays
them, and gives the tokens of the answer. `program` says whose rule counts. Functions with a modulus
take it as their last argument.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from synthbench.tasks.worked import Sentence, expect, following

#: Writes steps from symbols, the answer, `program` and perhaps the modulus.
Write = Callable[..., Iterator[str]]
#: The answer from symbols, the steps, `program` and perhaps the modulus.
Replay = Callable[..., list[str]]

_NOTHING = Sentence("So far the number of {} is 0.")
_SO_FAR = Sentence("{}: {} so far.")
_EVEN, _ODD = Sentence("{} is even."), Sentence("{} is odd.")
_START = Sentence("The walk begins at {}.")
_MOVE = Sentence("{}: from {} to {}.")
#: `1 + 2 = 3, which is 3 modulo 5.`
CALCULATION = Sentence("{} {} {} = {}, which is {} modulo {}.")
_ONLY = Sentence("The only number is {}.")
_CHANGES, _ONES = "changes", "1s"


def _write_counted(things: str, symbols: list[str], counted: list[bool]) -> Iterator[str]:
    """A running count of things at each symbol, and its parity."""
    yield _NOTHING(things)
    number = 0
    for symbol, counts in zip(symbols, counted, strict=True):
        number += counts
        yield _SO_FAR(symbol, number)
    yield (_ODD if number % 2 else _EVEN)(number)


def _replay_counted(
    things: str, symbols: list[str], counted: list[bool], steps: Iterator[str]
) -> list[str]:
    step = following(steps)
    expect(step, (_NOTHING.read(step)[0], things))
    before = "0"
    for symbol, counts in zip(symbols, counted, strict=True):
        step = following(steps)
        named, number = _SO_FAR.read(step)
        expect(step, (named, symbol), (number, int(before) + counts))
        before = number
    step, odd = following(steps), before[-1] in "13579"
    expect(step, ((_ODD if odd else _EVEN).read(step)[0], before))
    return ["1" if odd else "0"]


def _changes(x: list[str]) -> tuple[list[str], list[bool]]:
    pairs = list(itertools.pairwise(x))
    return [" ".join(pair) for pair in pairs], [symbol != other for symbol, other in pairs]


def _write_pairs(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    return _write_counted(_CHANGES, *_changes(x))


def _replay_pairs(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    return _replay_counted(_CHANGES, *_changes(x), steps)


def _write_parity(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    return _write_counted(_ONES, x, [symbol == "1" for symbol in x])


def _replay_parity(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    return _replay_counted(_ONES, x, [symbol == "1" for symbol in x], steps)


def _write_walk(x: list[str], answer: list[str], program: bool, modulus: int) -> Iterator[str]:
    place = 0
    yield _START(place)
    for symbol in x:
        before, place = place, (place + {"+": 1, "-": -1, "0": 0}[symbol]) % modulus
        yield _MOVE(symbol, before, place)


def _replay_walk(x: list[str], steps: Iterator[str], program: bool, modulus: int) -> list[str]:
    step = following(steps)
    (place,) = _START.read(step)
    expect(step, (place, 0))
    places = [str(number) for number in range(modulus)]
    for symbol in x:
        step = following(steps)
        move, before, after = _MOVE.read(step)
        circle = {"+": places, "-": places[::-1], "0": [before]}[symbol]
        true = circle[(circle.index(before) + 1) % len(circle)]
        expect(step, (move, symbol), (before, place), (after, true))
        place = after
    return [place]


def _write_simple(x: list[str], answer: list[str], program: bool, modulus: int) -> Iterator[str]:
    """From left to right; with `program` first all products, and then the rest."""
    if len(x) == 1:
        yield _ONLY(x[0])
    for signs in ("*", "+-") if program else ("*+-",):
        left = [x[0]]
        for sign, number in zip(x[1::2], x[2::2], strict=True):
            if sign in signs:
                whole = _calculated(int(left[-1]), sign, int(number))
                yield CALCULATION(left[-1], sign, number, whole, whole % modulus, modulus)
                left[-1] = str(whole % modulus)
            else:
                left += [sign, number]
        x = left


def _calculated(number: int, sign: str, other: int) -> int:
    return {"+": number + other, "-": number - other, "*": number * other}[sign]


def _replay_simple(x: list[str], steps: Iterator[str], program: bool, modulus: int) -> list[str]:
    """Each step takes the place of the next operation: with `program` a product if any."""
    x = list(x)
    if len(x) == 1:
        step = following(steps)
        expect(step, (_ONLY.read(step)[0], x[0]))
    while len(x) > 1:
        step = following(steps)
        place = x.index("*") if program and "*" in x else 1
        number, sign, other, whole, rest, said = CALCULATION.read(step)
        expect(step, *zip((number, sign, other), x[place - 1 : place + 2], strict=True))
        expect(
            step, (whole, _calculated(int(number), sign, int(other))), (rest, int(whole) % modulus)
        )
        expect(step, (said, modulus))
        x[place - 1 : place + 2] = [rest]
    return x


STEPS: dict[str, tuple[Write, Replay]] = {
    "even-pairs": (_write_pairs, _replay_pairs),
    "modular-arithmetic-simple": (_write_simple, _replay_simple),
    "parity-check": (_write_parity, _replay_parity),
    "cycle-navigation": (_write_walk, _replay_walk),
}
