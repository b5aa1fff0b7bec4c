"""Tasks of Inspect: `inspect eval synthbench/listops --model MODEL -T limit=100`.

Inspect imports this module by its entry point and finds one of its own tasks for each of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    ModelOutput,
)
from inspect_ai.scorer import Score, Scorer, Target, accuracy, grouped, scorer, stderr
from inspect_ai.solver import TaskState, generate

from synthbench.evaluation.chat_replies import running_text
from synthbench.evaluation.final_answer import find_answer
from synthbench.evaluation.message import read_message
from synthbench.evaluation.unreadable import why_unread
from synthbench.llm.conversations import metadata
from synthbench.llm.mixtures import ROW, TASK, carried_row
from synthbench.llm.prompts import askable, open_rows, prompts
from synthbench.llm.scoring import reward_of
from synthbench.tasks import registry
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import list_tasks, task_from


def inspect_task(
    task: Any,
    split: str = "test",
    *,
    limit: int | None = None,
    offset: int = 0,
    preset: str = "paper",
    shots: int = 0,
    system: str | None = None,
) -> inspect_ai.Task:
    """See `synthbench.llm.inspect_task`."""
    sources = Mixture.of(task)
    if not sources.is_single:
        options: dict[str, Any] = {"limit": limit, "offset": offset, "preset": preset}
        return _mixed_task(prompts(task, split, shots=shots, system=system, **options), split)
    asked_rows = open_rows(askable(sources.parts[0]), split, limit, offset=offset, preset=preset)
    task, conversation = asked_rows.task, asked_rows.conversation(shots, system)
    samples = [
        Sample(
            id=row["id"],
            input=_input(conversation.messages(row)),
            target=task.answer.format_answer(row[LABEL]),
            metadata=metadata(task, row),
        )
        for row in asked_rows.rows()
    ]
    return inspect_ai.Task(
        dataset=MemoryDataset(samples, name=f"{task.name} {task.variant} {split}"),
        solver=generate(),
        scorer=right_answer(task.name, task.variant, task.seed, task.parameters.to_dict()),
        name=task.name,
        metadata=asked_rows.metadata,
    )


def _mixed_task(rows: Any, split: str) -> inspect_ai.Task:
    """A task for Inspect with rows of several tasks of ours."""
    samples = [
        Sample(
            id=row["id"],
            input=_input(row["prompt"]),
            target=row["answer"],
            metadata={TASK: row[TASK], ROW: row[ROW]},
        )
        for row in rows
    ]
    dataset = MemoryDataset(samples, name=f"mixture {split}")
    return inspect_ai.Task(
        dataset=dataset, solver=generate(), scorer=right_answers(), name="mixture"
    )


_MESSAGES = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


def _input(messages: list[dict[str, Any]]) -> str | list[Any]:
    """Messages as Inspect has them. A single text stands for itself."""
    contents = [_content(message["content"]) for message in messages]
    if len(contents) == 1 and isinstance(contents[0], str):
        return contents[0]
    pairs = zip(messages, contents, strict=True)
    return [_MESSAGES[message["role"]](content=content) for message, content in pairs]


def _content(content: str | list[dict[str, Any]]) -> Any:
    if isinstance(content, str):
        return content
    return [
        ContentImage(image=part["image_url"]["url"])
        if part["type"] == "image_url"
        else ContentText(text=part["text"])
        for part in content
    ]


@scorer(metrics=[accuracy(), stderr()])
def right_answer(task: str, variant: str, seed: int, parameters: dict[str, Any]) -> Scorer:
    """1.0 for a completion that gives the right answer, else 0.0.

    A score's explanation is the completion. The reason comes first if it was not read.
    """
    synthbench_task = task_from(task, variant, parameters, seed)

    async def score(state: TaskState, target: Target) -> Score:
        return _judged(synthbench_task, state.metadata, state.output)

    return score


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), TASK), grouped(stderr(), TASK)])
def right_answers() -> Scorer:
    """As `right_answer`, for rows of several tasks, which say whose they are."""

    async def score(state: TaskState, target: Target) -> Score:
        return _judged(*carried_row(state.metadata), state.output)

    return score


def _judged(task: Task, row: Mapping[str, Any], output: ModelOutput) -> Score:
    reason = output.choices[0].stop_reason if output.choices else None
    completion = running_text(output.completion, reason)
    answer = find_answer(task, completion, row, truncated=completion.truncated)
    unread = why_unread(task, row, completion)
    return Score(
        value=reward_of(task, row, completion),
        answer=None if answer is None else str(answer),
        explanation=completion if unread is None else f"Not read: {unread}.\n\n{completion}",
        metadata={
            "unread": unread,
            "truncated": completion.truncated,
            "thoughts_unclosed": read_message(completion) is None,
        },
    )


def _register(name: str) -> None:
    """Let Inspect find a task by its name."""

    @inspect_ai.task(name=name)
    def make_task(
        split: str = "test",
        limit: int | None = None,
        offset: int = 0,
        preset: str = "paper",
        shots: int = 0,
        system: str | None = None,
        **task_options: Any,
    ) -> inspect_ai.Task:
        """`task_options` are those of `synthbench.task`, such as `level` and parameters."""
        options: dict[str, Any] = {"limit": limit, "offset": offset, "preset": preset}
        return inspect_task(
            registry.task(name, **task_options), split, shots=shots, system=system, **options
        )


for _name in list_tasks():
    _register(_name)
