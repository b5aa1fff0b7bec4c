"""Questions by seed, for environments that ask one row in each episode."""

from __future__ import annotations

from typing import Any

from synthbench.checks import check_whole_number
from synthbench.errors import UsageError
from synthbench.llm.mixtures import check_mixable
from synthbench.llm.prompts import askable, why_not_text
from synthbench.streaming.seeded_row import seeded_row
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture, Sources


def text_tasks(task: Sources, split: str) -> Mixture[Task]:
    """The tasks whose rows an environment asks.

    Args:
        task: a task, its name, or several of them with weights, as in `synthbench.llm.prompts`.
        split: name of the split. An evaluation split gives held-out rows.

    Raises:
        UsageError: an unknown name, or a task whose rows are not texts with one right answer.
    """
    tasks = Mixture.of(task).map(lambda source: askable(source).task)
    for part in tasks.parts:
        if (reason := why_not_text(part)) is not None:
            raise UsageError(f"Task {part.name!r} cannot be asked as text: {reason}.")
        part.split(split)
    check_mixable(tasks)
    return tasks


def row_of_seed(tasks: Mixture[Task], split: str, seed: int) -> tuple[Task, dict[str, Any]]:
    """The row of a seed with its task: a pure function of the arguments.

    Raises:
        UsageError: the seed is not a whole number from 0.
        ParameterError: the split is empty.
    """
    seed = check_whole_number("Seed", seed, least=0)
    task = tasks.parts[tasks.turns[seed % len(tasks.turns)]]
    return task, seeded_row(task, split, seed)
