"""Worked solutions of the context-free tasks: the stack, and brackets from the inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synthbench.tasks.chomsky.worked_regular import Replay, Write
from synthbench.tasks.trees.rewriting import Rewriting
from synthbench.tasks.worked import Sentence, expect, following

_BEGIN = Sentence("Digits on the stack: {}.")
_PUSH = Sentence("{}: {} is on top, {} in all.")
_POP = Sentence("pop: {} is taken away, {} left.")
_EMPTY = "pop: the stack is empty."
_RESULT = Sentence("From the top down: {}.")
_NONE = "Nothing is left on the stack."
#: `place 3: 0`, several of them in one step.
PLACE = Sentence("place {}: {}")

_OPERATION = Sentence("({}) = {}, which is {} modulo {}.")
_VALUE = Sentence("{} is {} modulo {}.")
_BEFORE = Sentence("{} {} E = {}, so E = {}, which is {} modulo {}.")
_BEHIND = Sentence("E {} {} = {}, so E = {}, which is {} modulo {}.")
_X = Sentence("E is {}, so x = {}.")
_OPERATE = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}
#: An operation whose operands are numbers, perhaps with a sign or brackets.
_NUMBER = r"(-?[0-9]+|\(-?[0-9]+\))"
_INNERMOST = re.compile(rf"\({_NUMBER}([-+*]){_NUMBER}\)")
#: An operation of a number and a part with x, or the other way round.
_NUMBER_FIRST = re.compile(rf"\({_NUMBER}([-+])(.*x.*)\)")
_NUMBER_LAST = re.compile(rf"\((.*x.*?)([-+]){_NUMBER}\)")


# Stack manipulation.


def _write_stack(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    stack = [symbol for symbol in x if symbol in "01"]
    yield _BEGIN(len(stack))
    for action in x[len(stack) :]:
        if action != "pop":
            stack.append(action[-1])
            yield _PUSH(action, stack[-1], len(stack))
        elif stack:
            top = stack.pop()
            yield _POP(top, len(stack))
        else:
            yield _EMPTY
    yield _RESULT(" ".join(reversed(stack))) if stack else _NONE


def _replay_stack(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    """The stack is a text, the top first."""
    stack = "".join(x).partition("p")[0][::-1]
    step = following(steps)
    expect(step, (_BEGIN.read(step)[0], len(stack)))
    for action in x[len(stack) :]:
        step = following(steps)
        if action != "pop":
            stack = action[-1] + stack
            expect(step, *zip(_PUSH.read(step), (action, stack[0], len(stack)), strict=True))
        elif stack:
            top, stack = stack[0], stack[1:]
            expect(step, *zip(_POP.read(step), (top, len(stack)), strict=True))
        else:
            expect(step, (step, _EMPTY))
    step = following(steps)
    if not stack:
        expect(step, (step, _NONE))
        return []
    (said,) = _RESULT.read(step)
    expect(step, (said, " ".join(stack)))
    return said.split()


# Reverse string.


def _write_reversed(x: list[str], answer: list[str], program: bool) -> Iterator[str]:
    for place in range(len(x), 0, -1):
        yield PLACE(place, x[place - 1])


def _replay_reversed(x: list[str], steps: Iterator[str], program: bool) -> list[str]:
    return replayed_places(list(enumerate(x, start=1))[::-1], steps)


def replayed_places(places: list[tuple[int, str]], steps: Iterator[str]) -> list[str]:
    """The symbols that steps name, if they name these places in this order."""
    for place, symbol in places:
        step = following(steps)
        expect(step, *zip(PLACE.read(step), (place, symbol), strict=True))
    return [symbol for _, symbol in places]


# Brackets and equations.


def _write_brackets(x: list[str], answer: list[str], program: bool, modulus: int) -> Iterator[str]:
    left, steps = _reduced("".join(x), modulus)
    yield from steps
    if not (steps and left.isdecimal()):
        yield _VALUE(left, answer[0], modulus)


def _reduced(x: str, modulus: int) -> tuple[str, list[str]]:
    """The rest after all operations on numbers, and the steps of doing them.

    An automaton with a stack: a bracket that closes takes its operation from the stack.
    """
    stack: list[str] = []
    steps = []
    for symbol in x:
        stack.append(symbol)
        if symbol != ")":
            continue
        opening = max(place for place, entry in enumerate(stack) if entry == "(")
        part = "".join(stack[opening:])
        if match := _INNERMOST.fullmatch(part):
            number, sign, other = match.groups()
            whole = _OPERATE[sign](_number(number), _number(other))
            steps.append(_OPERATION(part[1:-1], whole, whole % modulus, modulus))
            stack[opening:] = [str(whole % modulus)]
        else:  # a number in brackets, or a part with x: one symbol of a larger part
            stack[opening:] = [part]
    return "".join(stack), steps


def _number(text: str) -> int:
    return int(text.strip("()"))


def _replay_brackets(x: list[str], steps: Iterator[str], program: bool, modulus: int) -> list[str]:
    left, step = _rewritten("".join(x), steps, modulus)
    if left.isdecimal() and len(x) > 1:
        if step is not None:
            raise ValueError(f"the step {step!r} comes after the answer is known")
        return [left]
    step = step or following(steps)
    said, value, named = _VALUE.read(step)
    expect(step, (said, left), (value, _number(left) % modulus), (named, modulus))
    return [value]


def _rewritten(x: str, steps: Iterator[str], modulus: int) -> tuple[str, str | None]:
    """The rest after each step has replaced an operation by its value, and the step behind."""
    left = Rewriting(x)
    for step in steps:
        if not step.startswith("("):
            return left.text, step
        try:
            part, whole, value, named = _OPERATION.read(step)
        except ValueError:  # `(-3) is 2 modulo 5.`
            return left.text, step
        if (match := _INNERMOST.fullmatch(f"({part})")) is None:
            raise ValueError(f"the step {step!r} has no operation on two numbers")
        number, sign, other = match.groups()
        true = _operated(_number(number), sign, _number(other))
        expect(step, (whole, true), (value, true % modulus), (named, modulus))
        left.replace(f"({part})", value)
    return left.text, None


def _operated(number: int, sign: str, other: int) -> int:
    """The value of an operation, by repeated addition."""
    if sign == "*":
        return sum([number] * other) if other >= 0 else -sum([number] * -other)
    return number + other if sign == "+" else number + -other


def _write_equation(x: list[str], answer: list[str], program: bool, modulus: int) -> Iterator[str]:
    """Operations on numbers are done. Then the surroundings of x go, from the outside."""
    left, _, value = "".join(x).partition("=")
    left, steps = _reduced(left, modulus)
    yield from steps
    result = int(value)
    while not re.fullmatch(r"\(?-?x\)?", left):
        left, result, step = _unwrapped(left, result, modulus)
        yield step
    yield _X(left, answer[0])


def _unwrapped(left: str, result: int, modulus: int) -> tuple[str, int, str]:
    """The operand with x of the outermost operation, its value, and the step that says so."""
    if match := _NUMBER_FIRST.fullmatch(left):
        number, sign, inner = match.groups()
        whole = result - _number(number) if sign == "+" else _number(number) - result
        rest = whole % modulus
        return inner, rest, _BEFORE(number, sign, result, whole, rest, modulus)
    match = _NUMBER_LAST.fullmatch(left)
    if match is None:
        raise ValueError(f"{left!r} is not a side of an equation")
    inner, sign, number = match.groups()
    whole = result - _number(number) if sign == "+" else result + _number(number)
    rest = whole % modulus
    return inner, rest, _BEHIND(sign, number, result, whole, rest, modulus)


def _replay_equation(x: list[str], steps: Iterator[str], program: bool, modulus: int) -> list[str]:
    """Each step after the operations takes one number away, and names the rest for E."""
    text, _, result = "".join(x).partition("=")
    left, step = _rewritten(text, steps, modulus)
    while step is not None and not step.startswith("E is "):
        if step.startswith("E "):
            sign, number, said, whole, value, named = _BEHIND.read(step)
            start, end = "(", f"{sign}{number})"
            again = _operated(int(whole), sign, _number(number))
        else:
            number, sign, said, whole, value, named = _BEFORE.read(step)
            start, end = f"({number}{sign}", ")"
            again = _operated(_number(number), sign, int(whole))
        if not (left.startswith(start) and left.endswith(end)):
            raise ValueError(f"the step {step!r} is not about {left[:80]!r}")
        left = left[len(start) : len(left) - len(end)]
        expect(step, (said, result), (again, result), (value, int(whole) % modulus))
        expect(step, (named, modulus))
        result, step = value, next(steps, None)
    if step is None or left.strip("()") not in ("x", "-x"):
        raise ValueError(f"the steps end before x is known: {left[:80]!r} is left")
    said, hidden = _X.read(step)
    true = -int(hidden) if "-" in left else int(hidden)
    expect(step, (said, left), ((true - int(result)) % modulus, 0))
    expect(step, (hidden, int(hidden) % modulus))
    return [hidden]


STEPS: dict[str, tuple[Write, Replay]] = {
    "stack-manipulation": (_write_stack, _replay_stack),
    "reverse-string": (_write_reversed, _replay_reversed),
    "modular-arithmetic-brackets": (_write_brackets, _replay_brackets),
    "solve-equation": (_write_equation, _replay_equation),
}
