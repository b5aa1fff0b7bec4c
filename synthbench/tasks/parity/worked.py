"""Worked solutions of parity: which of a and b are odd, and the number that this chooses.

3 4 7 2 =      a = 3 is odd, and b = 4 is even.
               Exactly one of a and b is odd, so the answer is c = 7.

There are always two steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.parity.solver import asks_for_c, read_equation
from synthbench.tasks.parity.task import Parity
from synthbench.tasks.worked import Sentence, ended, expect, following

_KINDS = Sentence("a = {} is {}, and b = {} is {}.")
_FIRST = Sentence("Exactly one of a and b is odd, so the answer is c = {}.")
_SECOND = Sentence("Not exactly one of a and b is odd, so the answer is d = {}.")


def write_steps(task: Parity, question: str) -> Iterator[str]:
    """The parities, then the number that is chosen by them."""
    a, b, c, d = read_equation(question, task.parameters.n_values)
    kinds = ["odd" if number % 2 else "even" for number in (a, b)]
    yield _KINDS(a, kinds[0], b, kinds[1])
    yield _FIRST(c) if asks_for_c(a, b) else _SECOND(d)


def replay_steps(task: Parity, question: str, steps: Sequence[str]) -> str:
    """The kinds follow from the last digits, and the choice from the kinds."""
    a, b, c, d, _ = question.split()
    left = iter(steps)
    step = following(left)
    first, kind, second, other = _KINDS.read(step)
    expect(step, (first, a), (second, b))
    for number, said in ((a, kind), (b, other)):
        expect(step, (said, "odd" if number[-1] in "13579" else "even"))
    differ, step = kind != other, following(left)
    (answer,) = (_FIRST if differ else _SECOND).read(step)
    expect(step, (answer, c if differ else d))
    ended(left)
    return answer
