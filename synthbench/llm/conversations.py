"""Prompts: a system message, worked examples as turns, the question."""

from __future__ import annotations

import base64
import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.worked import answer_line, solution

TEXT = "text"


@dataclasses.dataclass(frozen=True)
class Conversation:
    """The prompts of a task's rows.

    Attributes:
        task: the task.
        system: a system message for the model, or None.
        examples: rows with their labels, shown as answered questions before each question. The
            first of them states the rule, and the question leaves it out.
        solutions: whether answers come with the steps that lead to them.
    """

    task: Task
    system: str | None = None
    examples: Sequence[Mapping[str, Any]] = ()
    solutions: bool = False

    @functools.cached_property
    def opening(self) -> list[dict[str, Any]]:
        """The messages before every question."""
        turns: list[dict[str, Any]] = []
        if self.system is not None:
            # Messages of one conversation have contents of one type, as Arrow requires.
            text = [{"type": "text", "text": self.system}]
            in_parts = self.task.image_column is not None
            turns.append({"role": "system", "content": text if in_parts else self.system})
        for row in self.examples:
            first = row is self.examples[0]
            question_text = question(self.task, row[TEXT]) if first else shown(self.task, row[TEXT])
            turns += [{"role": "user", "content": question_text}, self.reply(row)]
        return turns

    def ask(self, text: str | None, image: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """The messages that ask a row with this text and this part for its image."""
        question_text = shown(self.task, text) if self.examples else question(self.task, text)
        content = (
            question_text if image is None else [image, {"type": "text", "text": question_text}]
        )
        return [*self.opening, {"role": "user", "content": content}]

    def messages(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A row's prompt as messages of OpenAI's chat interface, with its image."""
        url = image_url(self.task, row)
        image = None if url is None else {"type": "image_url", "image_url": {"url": url}}
        return self.ask(row.get(TEXT), image)

    def reply(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The right answer as a message of the assistant, in the form that prompts ask for.

        Raises:
            UsageError: steps are wanted, and the task lacks worked solutions.
        """
        if self.solutions:
            return {"role": "assistant", "content": solution(self.task, row)}
        answer = self.task.answer.format_answer(row[LABEL])
        return {"role": "assistant", "content": answer_line(answer)}


def question(task: Task, text: str | None) -> str:
    """The text of a question: the rule, the row's text, and the form of the answer."""
    parts = [_instruction(task), shown(task, text), answer_format(task)]
    return "\n\n".join(filter(None, parts))


def shown(task: Task, text: str | None) -> str | None:
    """A row's text as people write it."""
    return text and task.columns[TEXT].show(text)


def answer_format(task: Task) -> str:
    """The form of the answer; `find_answer` reads such a line, whatever comes before it.

    It says what to write in place of the dots, because small models copy them otherwise.
    """
    return (
        "Write your answer on the last line, in the form 'Answer: ...', with "
        f"{task.answer.wanted} in place of the dots."
    )


@functools.lru_cache(maxsize=64)
def _instruction(task: Task) -> str:
    return task.instruction


def image_url(task: Task, row: Mapping[str, Any]) -> str | None:
    """A row's image as a `data:` URL, or None."""
    if (column := task.image_column) is None:
        return None
    return f"data:image/png;base64,{base64.b64encode(row[column]['bytes']).decode()}"


def metadata(task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row as JSON values, without its `id` and image."""
    return {name: row[name] for name in task.plain_columns if name in row}
