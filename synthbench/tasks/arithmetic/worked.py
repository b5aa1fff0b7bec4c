"""Worked solutions of arithmetic: every operation as soon as its operands are known.

((4*7)+2)      (4*7) = 28, which is 8 modulo 10.
               (8+2) = 10, which is 0 modulo 10.

A step is as long as its operation, so all steps together are about as long as the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.arithmetic.task import Arithmetic
from synthbench.tasks.trees.expression import Expression
from synthbench.tasks.trees.rewriting import Rewriting
from synthbench.tasks.worked import Sentence, expect

_OPERATION = Sentence("({}) = {}, which is {} modulo {}.")


def write_steps(task: Arithmetic, question: str) -> Iterator[str]:
    """The value of each operation, the innermost first."""
    yield from _operations(task.read(question), task.parameters.modulus)


def _operations(node: Expression, modulus: int) -> Iterator[str]:
    for operand in node.arguments:
        yield from _operations(operand, modulus)
    if node.arguments:
        left, right = map(_as_written, node.arguments)
        whole = left + right if node.symbol == "+" else left * right
        yield _OPERATION(f"{left}{node.symbol}{right}", whole, node.value, modulus)


def _as_written(node: Expression) -> int:
    """A digit as written in the text, which may be larger than the modulus."""
    return node.value if node.arguments else int(node.symbol)


def replay_steps(task: Arithmetic, question: str, steps: Sequence[str]) -> str:
    """Each step replaces an operation of the text by its value, until a number is left.

    Raises:
        ValueError: a step does not follow.
    """
    left = Rewriting(question)
    for step in steps:
        part, whole, value, modulus = _OPERATION.read(step)
        number, sign, other = part.partition("+" if "+" in part else "*")
        true = int(number) + int(other) if sign == "+" else int(number) * int(other)
        expect(step, (whole, true), (modulus, task.parameters.modulus))
        expect(step, (value, true % int(modulus)))
        left.replace(f"({part})", value)
    if not left.text.isdecimal():
        raise ValueError(f"the steps end before the answer is known: {left.text[:80]!r} is left")
    return str(int(left.text) % task.parameters.modulus)
