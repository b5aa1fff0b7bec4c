"""Automata for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.tasks.automaton.solver import states_after
from synthbench.tasks.automaton.task import Automaton
from synthbench.text.lines import beside


def draw_row(task: Automaton, row: Mapping[str, Any]) -> str:
    """The symbols, and below each of them the state after it."""
    return beside({"symbols": row["text"].split(), "states": states_after(task.rule, row["text"])})
