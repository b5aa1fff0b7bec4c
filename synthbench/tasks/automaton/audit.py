"""Shortcuts that `audit` tries on automata: states from the last symbols."""

from __future__ import annotations

from synthbench.tasks.audit_spec import AuditSpec, Levels
from synthbench.tasks.automaton.task import Automaton
from synthbench.tasks.windows import last_symbols

_WINDOWS = {1: "symbol", 2: "two symbols", 4: "four symbols", 8: "eight symbols"}


def audit_spec(task: Automaton) -> AuditSpec:
    """Shortcuts through the last symbols, and the number of them that gives the state."""
    return AuditSpec(
        shortcuts=tuple(
            last_symbols(
                task,
                count,
                f"last {word}",
                f"At each place the most frequent state for the {word} up to there.",
            )
            for count, word in _WINDOWS.items()
        ),
        distributions={
            "last state": lambda columns: [
                label.rpartition(" ")[2] for label in columns["label"].to_pylist()
            ]
        },
        levels=Levels("length", task.buckets, each_must_be_hard=False),
        notes=(_note(task),),
    )


def _note(task: Automaton) -> str:
    states, window = len(task.language.moves), task.language.window
    k = "none" if window is None else str(window)
    left = "" if task.language.live.all() else " No window shows whether a word has left it."
    return (
        f"The least window of last symbols that gives the state of a word that has not left the "
        f"language: k = {k} ({states} states, {task.expression}).{left}"
    )
