"""Worked solutions of automata: a move for each symbol.

    a b      a takes q0 to q1.
             b takes q1 to q0.

The moves come from the reference solver, and are followed in the table of the automaton.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from synthbench.tasks.automaton.solver import states_after
from synthbench.tasks.automaton.task import Automaton
from synthbench.tasks.worked import Sentence, ended, expect, following

_MOVE = Sentence("{} takes {} to {}.")


def write_steps(task: Automaton, question: str) -> Iterator[str]:
    """The state after each symbol."""
    state = "q0"
    for symbol, after in zip(question.split(), states_after(task.rule, question), strict=True):
        yield _MOVE(symbol, state, after)
        state = after


def replay_steps(task: Automaton, question: str, steps: Sequence[str]) -> str:
    """The table of the automaton is read at every step."""
    left, state, states = iter(steps), 0, []
    for symbol in question.split():
        step = following(left)
        after = int(task.language.moves[state, task.language.letters.index(symbol)])
        pairs = zip(_MOVE.read(step), (symbol, f"q{state}", f"q{after}"), strict=True)
        expect(step, *pairs)
        states.append(f"q{after}")
        state = after
    ended(left)
    return " ".join(states)
