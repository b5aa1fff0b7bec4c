"""Worked solutions of compositional table lookup: what each function makes of the symbol.

101 d a b      d takes 101 to 100.
               a takes 100 to 101.
               b takes 101 to 101.

There is a step for each function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.ctl.task import STEPS, CompositionalTableLookup
from synthbench.tasks.worked import Sentence, ended, expect, following

_TAKES = Sentence("{} takes {} to {}.")


def write_steps(task: CompositionalTableLookup, question: str) -> Iterator[str]:
    """The symbol after each function."""
    symbol, functions = task.solver.read(question)
    for function, reached in zip(functions, task.solver.apply(symbol, functions), strict=True):
        yield _TAKES(function, symbol, reached)
        symbol = reached


def replay_steps(task: CompositionalTableLookup, question: str, steps: Sequence[str]) -> str:
    """Each step looks up the symbol in the table of the next function."""
    words, left = question.split(), iter(steps)
    symbol, *functions = words[::-1] if task.variant == "backward" else words
    reached = []
    for function in functions:
        step = following(left)
        named, before, after = _TAKES.read(step)
        table = task.tables[function]
        expect(step, (named, function), (before, symbol))
        expect(step, (after, table[task.symbols.index(symbol)]))
        symbol = after
        reached.append(after)
    ended(left)
    return " ".join(reached if task.variant == STEPS else reached[-1:])
