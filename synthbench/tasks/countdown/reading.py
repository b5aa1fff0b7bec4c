"""Equations as people and models write them, parsed by a grammar of their own and never evaluated.

    equation     expression, expression = target, or target = expression
    expression   numbers with + - * / between them, a minus before an operand, and brackets

Further sides may be between both, as in `(25 - 3) * 2 = 22 * 2 = 44`, if each has the same value.
Time is linear in the length of the text, which is bounded. Nothing is calculated before the numbers
are known to be those of the row, and other sides are short, so no value is large.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Sequence
from fractions import Fraction

#: Longer texts are not read: an equation of six numbers has at most 21 tokens.
_LONGEST = 1_000
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("×·⋅∙•∗✕✖⨯＊xX", "*"),
        **dict.fromkeys("÷∕⁄／∶:➗", "/"),
        **dict.fromkeys("−‐‑‒–—﹣－➖", "-"),
        **dict.fromkeys("＋﹢➕", "+"),
        **dict.fromkeys("＝≡→⇒⟶⟹➡", "="),
        # Blanks of TeX and its marks of alignment.
        **dict.fromkeys("~&", " "),
        **{"（": "(", "）": ")", "\ufe0f": None, "\u200b": None},
    }
)
#: Marks around an equation.
_EDGES = " \t\r\n`$\"'“”,;✓✔✅☑"
#: Other signs before a target, and a target that is written as a decimal.
_EQUALS, _WHOLE = re.compile("[-=]>"), re.compile(r"(=\s*[0-9]{1,9})\.0{1,9}$")
_TEXT = re.compile(r"[-+*/=()\[\]{}0-9\s]*")
_TOKEN = re.compile(r"\s*((?:0|[1-9][0-9]{0,5})(?![0-9])|[-+*/()\[\]{}])")
#: The most numbers and signs of a side between the equation and the target.
_SHORT = 21
_BRACKETS = {")": "(", "]": "[", "}": "{"}
#: A minus before an operand.
_NEGATED = "negated"
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, _NEGATED: 3}


def plain_signs(text: str) -> str | None:
    """An equation with the signs + - * / alone; None for a text that has anything else.

    Example:
        >>> from synthbench.tasks.countdown.reading import plain_signs
        >>> plain_signs("(25 − 3) × 2 = 44."), plain_signs("2 ^ 3")
        ('(25 - 3) * 2 = 44', None)
    """
    if len(text) > _LONGEST:
        return None
    text = _EQUALS.sub("=", text.translate(_SIGNS)).strip(_EDGES).removesuffix(".").rstrip(_EDGES)
    text = _WHOLE.sub(r"\1", text)
    return text if _TEXT.fullmatch(text) and re.search("[0-9]", text) else None


def is_right(
    text: str, numbers: Sequence[int], target: int, operations: str, every_number: bool
) -> bool:
    """True if a text is an equation of these numbers that has the value of the target.

    Args:
        text: any text.
        numbers: the numbers that it may have, each as often as it is in the list.
        target: the value that it must have.
        operations: the operations that it may have, of `+-*/`. A minus before an operand is free.
        every_number: whether it must have all numbers.
    """
    plain = plain_signs(text)
    sides = [] if plain is None else [postfix(side.strip()) for side in plain.split("=")]
    for steps, *others in (sides, sides[::-1]) if sides else ():
        if steps is None or (others and others[-1] != [target]):
            continue
        used = collections.Counter(step for step in steps if isinstance(step, int))
        available = collections.Counter(numbers)
        signs = {step for step in steps if isinstance(step, str) and step != _NEGATED}
        right = used == available if every_number else used <= available
        if right and signs <= set(operations) and _value(steps) == target:
            return all(side and len(side) <= _SHORT and _value(side) == target for side in others)
    return False


def postfix(text: str) -> list[int | str] | None:
    """Numbers and operations of an expression in the order of calculation.

    By Dijkstra's shunting yard. None for a text that is not an expression.
    """
    output: list[int | str] = []
    waiting: list[str] = []
    place, operand = 0, True  # whether an operand comes next
    while place < len(text):
        if (token := _TOKEN.match(text, place)) is None:
            return None
        place, sign = token.end(), token[1]
        if sign.isdecimal():
            if not operand:
                return None
            output.append(int(sign))
            operand = False
        elif sign in _BRACKETS.values():
            if not operand:
                return None
            waiting.append(sign)
        elif sign in _BRACKETS:
            if operand:
                return None
            while waiting and waiting[-1] in _BINDS:
                output.append(waiting.pop())
            if not waiting or waiting.pop() != _BRACKETS[sign]:
                return None
            operand = False
        elif operand:
            if sign != "-" or waiting[-1:] == [_NEGATED]:
                return None
            waiting.append(_NEGATED)
        else:
            while waiting and _BINDS.get(waiting[-1], 0) >= _BINDS[sign]:
                output.append(waiting.pop())
            waiting.append(sign)
            operand = True
    if operand or any(sign not in _BINDS for sign in waiting):
        return None
    return [*output, *reversed(waiting)]


def _value(steps: Sequence[int | str]) -> Fraction | None:
    """The exact value; None if something is divided by 0."""
    values: list[Fraction] = []
    for step in steps:
        if isinstance(step, int):
            values.append(Fraction(step))
        elif step == _NEGATED:
            values.append(-values.pop())
        else:
            second, first = values.pop(), values.pop()
            if step == "/" and not second:
                return None
            values.append(calculated(first, step, second))
    (value,) = values
    return value


def calculations(equation: str) -> list[tuple[Fraction, str, Fraction, Fraction]]:
    """The calculations of an equation without minus before operands, in their order.

    Returns:
        For each its first value, its sign, its second value, and the result.
    """
    operations = []
    values: list[Fraction] = []
    for step in postfix(equation) or ():
        if isinstance(step, int):
            values.append(Fraction(step))
            continue
        second, first = values.pop(), values.pop()
        values.append(calculated(first, step, second))
        operations.append((first, step, second, values[-1]))
    return operations


def calculated(first: Fraction, sign: str, second: Fraction) -> Fraction:
    """The value of one operation."""
    match sign:
        case "+":
            return first + second
        case "-":
            return first - second
        case "*":
            return first * second
    return first / second
