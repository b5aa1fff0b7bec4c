"""Worked solutions of the context-sensitive tasks: places named one by one, digits with a carry."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from synthbench.tasks.chomsky.worked_regular import Replay, Write
from synthbench.tasks.chomsky.worked_stack import PLACE, replayed_places
from synthbench.tasks.worked import Sentence, expect, following

_STRING = Sentence("The string is {}.")
_AGAIN = Sentence("Behind it the same again: {}.")
_HALVES = Sentence("There are {} digits, so each half has {}.")
_TWIN = Sentence("The ? is at place {}, and in the other half place {} has {}.")
_LEAST_FIRST = "The least significant digit comes first."
_ADD = Sentence("Place {}: {} + {} and the carry {} are {}, so write {} and carry {}.")
_DOUBLES = f"{_LEAST_FIRST} So a 0 in front doubles a number."
_ADDED = Sentence("Digit {} of the second number is 1: {} + {} = {}.")
_SKIPPED = Sentence("Digit {} of the second number is 0: nothing is added.")
_WRITTEN = Sentence("Without zeros at the end: {}.")
_DOWN = Sentence("From the greatest digit down the number is {}.")
_PAIRS = Sentence("The root is taken digit by digit, for each pair of digits from the left: {}.")
_FITS = Sentence(
    "Bring down {}: the remainder is {}. The root so far, {}, followed by 01, is {}. That is not "
    "larger, so the next digit is 1, and the remainder is {} - {} = {}."
)
_LARGER = Sentence(
    "Bring down {}: the remainder is {}. The root so far, {}, followed by 01, is {}. That is "
    "larger, so the next digit is 0."
)
_FROM_BELOW = Sentence("From the last digit to the first: {}.")
_AT = Sentence("{} occurs {}, at {}.")
_NEVER = Sentence("{} does not occur.")


# Copies and orders.


def _write_twice(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    yield _STRING(" ".join(x))
    yield _AGAIN(" ".join(x))


def _replay_twice(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    written = []
    for sentence in (_STRING, _AGAIN):
        step = following(steps)
        (said,) = sentence.read(step)
        expect(step, (said, " ".join(x)))
        written += said.split()
    return written


def _write_twin(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    digits = len(x) - x.count("#")
    half, place = digits // 2, 1 + x.index("?")
    yield _HALVES(digits, half)
    twin = place + half if place <= half else place - half
    yield _TWIN(place, twin, x[twin - 1])


def _replay_twin(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    step = following(steps)
    digits, half = map(int, _HALVES.read(step))
    expect(step, (digits, sum(symbol in "01?" for symbol in x)), (2 * half, digits))
    step = following(steps)
    place, twin, digit = _TWIN.read(step)
    hidden = "".join(x).find("?") + 1
    expect(step, (place, hidden), (twin, hidden + half if hidden <= half else hidden - half))
    expect(step, (digit, x[int(twin) - 1]))
    return [digit]


def _write_odds(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    for first in (2, 1) if program else (1, 2):
        for place in range(first, len(x) + 1, 2):
            yield PLACE(place, x[place - 1])


def _replay_odds(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    order = sorted(enumerate(x, start=1), key=lambda pair: (pair[0] + program + 1) % 2)
    return replayed_places(order, steps)


def _write_sorted(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    for digit in sorted({*"01234", *x}, key=int):
        places = [str(place) for place, symbol in enumerate(x, start=1) if symbol == digit]
        yield _AT(digit, *_times(places)) if places else _NEVER(digit)


def _times(places: list[str]) -> tuple[str, str]:
    """The number of places and their names."""
    many = "" if len(places) == 1 else "s"
    return f"{len(places)} time{many}", f"place{many} {', '.join(places)}"


def _replay_sorted(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    ordered: list[str] = []
    for digit in sorted({*"01234", *x}, key=int):
        step = following(steps)
        if digit not in x:
            expect(step, (_NEVER.read(step)[0], digit))
            continue
        there = [str(place + 1) for place in range(len(x)) if x[place] == digit]
        expect(step, *zip(_AT.read(step), (digit, *_times(there)), strict=True))
        ordered += [digit] * x.count(digit)
    return ordered


# Binary numbers.


def _write_sum(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    plus = x.index("plus")
    addend, other = x[:plus], x[plus + 1 :]
    carry, width = 0, max(len(addend), len(other))
    written = []
    yield _LEAST_FIRST
    for place in range(width):
        digits = [number[place] if place < len(number) else "0" for number in (addend, other)]
        total = sum(map(int, digits)) + carry
        yield _ADD(place + 1, *digits, carry, total, total % 2, total // 2)
        written.append(str(total % 2))
        carry = total // 2
    yield _WRITTEN(_stripped([*written, str(carry)]))


def _stripped(digits: list[str]) -> str:
    """Binary digits, the least one first, without zeros at the end."""
    while len(digits) > 1 and digits[-1] == "0":
        digits = digits[:-1]
    return " ".join(digits)


def _replay_sum(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    addend, _, other = "".join(symbol[0] for symbol in x).partition("p")
    width, carry, written = max(len(addend), len(other)), "0", ""
    step = following(steps)
    expect(step, (step, _LEAST_FIRST))
    pairs = zip(addend.ljust(width, "0"), other.ljust(width, "0"), strict=True)
    for place, pair in enumerate(pairs, start=1):
        step = following(steps)
        named, first, second, third, total, digit, rest = _ADD.read(step)
        expect(step, (named, place), (first, pair[0]), (second, pair[1]), (third, carry))
        ones = (first + second + third).count("1")
        expect(step, (total, ones), (2 * int(rest) + int(digit), ones), (digit, "0101"[ones]))
        carry, written = rest, written + digit
    return _replayed_result(written + carry, steps)


def _replayed_result(written: str, steps: Iterator[str]) -> list[str]:
    step = following(steps)
    (said,) = _WRITTEN.read(step)
    expect(step, (said, " ".join(written.rstrip("0") or "0")))
    return said.split()


def _write_product(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    """The sum of the first number, doubled for each place, wherever the second has a 1."""
    times = x.index("times")
    number, whole = int("".join(x[:times])[::-1], 2), 0
    yield _DOUBLES
    for place, digit in enumerate(x[times + 1 :]):
        if digit == "0":
            yield _SKIPPED(place + 1)
            continue
        part = number << place
        yield _ADDED(place + 1, _from_below(whole), _from_below(part), _from_below(whole + part))
        whole += part
    yield _WRITTEN(_stripped([*_from_below(whole)]))


def _from_below(number: int) -> str:
    """A binary number, the least digit first."""
    return f"{number:b}"[::-1]


def _replay_product(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    """Each sum is added digit by digit, from its own numbers."""
    factor, _, other = "".join(symbol[0] for symbol in x).partition("t")
    factor, whole = factor.rstrip("0"), "0"
    step = following(steps)
    expect(step, (step, _DOUBLES))
    for place, digit in enumerate(other, start=1):
        step = following(steps)
        if digit == "0":
            expect(step, (_SKIPPED.read(step)[0], place))
            continue
        named, so_far, part, added = _ADDED.read(step)
        expect(step, (named, place), (so_far, whole))
        expect(step, (part, "0" * (place - 1) + factor if factor else "0"))
        expect(step, (added, _added(so_far, part)))
        whole = added
    return _replayed_result(whole, steps)


def _added(addend: str, other: str) -> str:
    """The sum of two binary numbers, each with its least digit first."""
    carry, written = 0, ""
    for pair in zip_longest(addend, other, fillvalue="0"):
        ones = (pair[0] + pair[1]).count("1") + carry
        written, carry = written + "0101"[ones], ones // 2
    return (written + str(carry)).rstrip("0") or "0"


def _write_root(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    """As on paper: two digits are brought down, and the root's next digit is tried."""
    if not program:
        yield _LEAST_FIRST
    digits = "".join(x if program else reversed(x))
    yield _DOWN(digits)
    digits = digits.zfill(len(digits) + len(digits) % 2)
    pairs = [digits[place : place + 2] for place in range(0, len(digits), 2)]
    yield _PAIRS(" ".join(pairs))
    root, rest = 0, 0
    for pair in pairs:
        brought, tried = 4 * rest + int(pair, 2), 4 * root + 1
        said = (pair, f"{brought:b}", f"{root:b}", f"{tried:b}")
        fits = tried <= brought
        rest = brought - tried if fits else brought
        yield _FITS(*said, said[1], said[3], f"{rest:b}") if fits else _LARGER(*said)
        root = 2 * root + fits
    if not program:
        yield _FROM_BELOW(" ".join(answer))


def _replay_root(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    """Digits are written behind a number, and the subtracted part is added to a remainder."""
    if not program:
        step = following(steps)
        expect(step, (step, _LEAST_FIRST))
    digits = "".join(x if program else x[::-1])
    step = following(steps)
    expect(step, (_DOWN.read(step)[0], digits))
    digits = "0" * (len(digits) % 2) + digits
    step = following(steps)
    (said_pairs,) = _PAIRS.read(step)
    expect(step, (said_pairs.replace(" ", ""), digits), ({*map(len, said_pairs.split())}, {2}))
    root, rest = "", "0"
    for pair in said_pairs.split():
        step = following(steps)
        brought = (rest + pair).lstrip("0") or "0"
        tried = (root + "01").lstrip("0")
        said = (pair, brought, root.lstrip("0") or "0", tried)
        if (len(tried), tried) > (len(brought), brought):
            expect(step, *zip(_LARGER.read(step), said, strict=True))
            root, rest = root + "0", brought
            continue
        *again, left = _FITS.read(step)
        expect(step, *zip(again, (*said, brought, tried), strict=True))
        expect(step, (_added(left[::-1], tried[::-1])[::-1], brought))
        expect(step, (left, left.lstrip("0") or "0"), ({*left} <= {"0", "1"}, True))
        root, rest = root + "1", left
    if program:
        return list(root)
    step = following(steps)
    (said_root,) = _FROM_BELOW.read(step)
    expect(step, (said_root, " ".join(root[::-1])))
    return said_root.split()


STEPS: dict[str, tuple[Write, Replay]] = {
    "duplicate-string": (_write_twice, _replay_twice),
    "missing-duplicate": (_write_twin, _replay_twin),
    "odds-first": (_write_odds, _replay_odds),
    "binary-addition": (_write_sum, _replay_sum),
    "binary-multiplication": (_write_product, _replay_product),
    "compute-sqrt": (_write_root, _replay_root),
    "bucket-sort": (_write_sorted, _replay_sorted),
}
