"""Worked solutions of the Chomsky hierarchy: for each variant, the steps of a person.

    parity-check, 0 1 1        So far the number of 1s is 0.
                               0: 0 so far.
                               1: 1 so far.
                               1: 2 so far.
                               2 is even.

The steps of a variant are in `worked_regular`, `worked_stack` or `worked_tape`, by the memory that
the variant needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.chomsky import worked_regular, worked_stack, worked_tape
from synthbench.tasks.chomsky.functions import END
from synthbench.tasks.chomsky.task import Chomsky
from synthbench.tasks.worked import ended

_STEPS = {**worked_regular.STEPS, **worked_stack.STEPS, **worked_tape.STEPS}


def write_steps(task: Chomsky, question: str) -> Iterator[str]:
    """The steps of the variant."""
    answer = task.solve(question)  # a ValueError for a text that is not a string of the variant
    write, _ = _STEPS[task.variant]
    return write(question.split(), answer, *task.function.rule)


def replay_steps(task: Chomsky, question: str, steps: Sequence[str]) -> str:
    """The answer to which the steps of the variant lead, with `end` where the answer has it."""
    _, replay = _STEPS[task.variant]
    left = iter(steps)
    answer = replay(question.split(), left, *task.function.rule)
    ended(left)
    return " ".join([*answer, END] if task.answer.ignored else answer)
