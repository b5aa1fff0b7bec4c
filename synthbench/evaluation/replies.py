"""Replies of language models among predictions: their answers, and how many were truncated."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from synthbench.evaluation.chat_replies import RunningText
from synthbench.evaluation.final_answer import find_answer
from synthbench.evaluation.message import read_message
from synthbench.tasks.base import Task


@dataclasses.dataclass
class Replies:
    """The replies that were read.

    Attributes:
        count: the number of replies.
        truncated: ids of replies that stopped at the limit of tokens, as far as it is known.
        thoughts_unclosed: ids of replies that end within their thoughts.
    """

    count: int = 0
    truncated: list[str] = dataclasses.field(default_factory=list)
    thoughts_unclosed: list[str] = dataclasses.field(default_factory=list)

    def read(self, task: Task, row: Mapping[str, Any], name: str, reply: str) -> Any:
        """The answer of a reply to the row of this id, as `find_answer` gives it."""
        self.count += 1
        truncated = isinstance(reply, RunningText) and reply.truncated
        if truncated:
            self.truncated.append(name)
        answer = find_answer(task, reply, row, truncated=truncated)
        if answer is None and read_message(reply) is None:
            self.thoughts_unclosed.append(name)
        return answer
