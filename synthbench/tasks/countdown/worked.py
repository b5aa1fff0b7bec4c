"""Worked solutions of countdown: each step replaces two values by their result.

    3 7 25 100 -> 46      7 - 25 = -18, so there are 3, 100, -18.
                          3 * -18 = -54, so there are 100, -54.
                          100 + -54 = 46, so there are 46.

The equation is put together from these steps when they are replayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from synthbench.tasks.countdown.reading import calculations
from synthbench.tasks.countdown.task import Countdown
from synthbench.tasks.worked import Sentence, expect

_STEP = Sentence("{} {} {} = {}, so there are {}.")


def write_steps(task: Countdown, question: str) -> Iterator[str]:
    """The calculations of the solver's equation, each with the values that are left."""
    left = [Fraction(word) for word in question.split()[:-2]]
    for first, sign, second, result in calculations(task.solve(question)):
        left.remove(first)
        left.remove(second)
        left.append(result)
        yield _STEP(first, sign, second, result, ", ".join(map(str, left)))


def replay_steps(task: Countdown, question: str, steps: Sequence[str]) -> str:
    """Put the equation together from steps, each of which takes two values that are left.

    Raises:
        ValueError: a step is not of the form, takes other values, or has another result.
    """
    *numbers, _, target = question.split()
    values, texts = [Fraction(number) for number in numbers], list(numbers)
    for step in steps:
        first, sign, second, result, left = _STEP.read(step)
        operands = []
        for operand in map(Fraction, (first, second)):
            if operand not in values:
                raise ValueError(f"the step {step!r} takes {operand}, which is not there")
            place = values.index(operand)
            operands.append((values.pop(place), texts.pop(place)))
        (a, text), (b, other) = operands
        if sign == "/" and not b:
            raise ValueError(f"the step {step!r} divides by 0")
        match sign:
            case "+":
                value = a + b
            case "-":
                value = a - b
            case "*":
                value = a * b
            case "/":
                value = a / b
            case _:
                raise ValueError(f"the step {step!r} has the sign {sign!r}")
        values.append(value)
        texts.append(f"( {text} {sign} {other} )")
        expect(step, (result, value), (left, ", ".join(map(str, values))))
    if Fraction(target) not in values or (task.variant == "all" and len(values) > 1):
        raise ValueError(f"the steps do not lead to {target}")
    return texts[-1 - values[::-1].index(Fraction(target))].removeprefix("( ").removesuffix(" )")
