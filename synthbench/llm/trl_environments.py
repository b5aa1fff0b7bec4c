"""Environments for TRL's trainers: `GRPOTrainer(environment_factory=...)`.

The model answers by calling a tool. The environment judges the call, so the trainer needs no other
reward.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from synthbench.arguments import checked
from synthbench.errors import UsageError
from synthbench.llm.conversations import question
from synthbench.llm.mixtures import ROW, TASK, carried_row
from synthbench.llm.scoring import reward_of
from synthbench.llm.seeded import row_of_seed, text_tasks
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Sources


class AnswerEnvironment:
    """One row in each episode, answered by a tool call; TRL makes one for each rollout.

    Args:
        task: a task, its name, or several of them with weights, as in `synthbench.llm.prompts`.
        split: of the rows that are drawn by seed.

    Raises:
        UsageError: an unknown name, or a task whose rows are not texts with one right answer.
    """

    def __init__(self, task: Sources, split: str = "train") -> None:
        self._tasks, self._split = text_tasks(task, split), split
        self._only = self._tasks.parts[0] if self._tasks.is_single else None
        self._asked: tuple[Task, dict[str, Any]] | None = None
        self._reward = 0.0

    def reset(self, **columns: Any) -> str | None:
        """Begin an episode.

        Args:
            columns: a row of `prompts`, whose prompt asks the question, or a `seed`, for which the
                environment has a row of its own.

        Returns:
            With `seed` the question, which TRL appends to the prompt. Else None.

        Raises:
            UsageError: neither a row nor a seed.
        """
        self._reward = 0.0
        if TASK in columns and ROW in columns:
            self._asked = carried_row(columns)
        elif self._only is not None and columns.get(LABEL) is not None:
            self._asked = self._only, columns
        elif columns.get("seed") is not None:
            task, row = self._asked = row_of_seed(self._tasks, self._split, columns["seed"])
            return question(task, row["text"])
        else:
            names = ", ".join(columns) or "none"
            raise UsageError(f"Columns {names}: expected a row of prompts(...), or a seed.")
        return None

    def answer(self, answer: str) -> str:
        """Give the final answer to the question. The first one counts.

        Args:
            answer: The answer and nothing else.

        Returns:
            That the answer was received.
        """
        if self._asked is not None:
            (task, row), self._asked = self._asked, None
            self._reward = reward_of(task, row, answer)
        return "The answer was received."

    def get_reward(self) -> float:
        """1.0 if the answer was right, else 0.0. Also 0.0 without an answer."""
        return self._reward


@checked
def trl_environment(task: Sources, split: str = "train") -> Callable[[], AnswerEnvironment]:
    """A factory of environments for TRL: `GRPOTrainer(environment_factory=...)`.

    Args:
        task: a task, its name, or several of them with weights, as in `prompts`.
        split: of the rows that are drawn by seed.

    Returns:
        A factory, which can be pickled. Its environments have one tool, `answer`, and give the
        reward themselves. A row of the trainer's dataset is one of `prompts`, or has a `seed` and a
        prompt of its own, to which the environment appends a question.

    Raises:
        UsageError: an unknown name, or a task whose rows are not texts with one right answer.

    Example:
        >>> from synthbench import llm
        >>> environment = llm.trl_environment("parity")()
        >>> question = environment.reset(seed=7)
        >>> question == llm.trl_environment("parity")().reset(seed=7)
        True
    """
    AnswerEnvironment(task, split)  # a wrong name is an error at once
    return functools.partial(AnswerEnvironment, task, split)
