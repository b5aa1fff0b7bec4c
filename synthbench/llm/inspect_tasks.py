"""Tasks of Inspect: `inspect eval synthbench/listops --model MODEL -T limit=100`.

Inspect imports this module by its entry point and finds one of its own tasks for each of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from synthbench.evaluation.final_answer import find_answer
from synthbench.llm.prompts import TEXT, image_url, metadata, open_rows, question
from synthbench.llm.scoring import reward_of
from synthbench.tasks import registry
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.registry import list_tasks, task_from


def inspect_task(
    task: str | Task | PathLike[str],
    split: str = "test",
    *,
    limit: int | None = None,
    preset: str = "paper",
) -> inspect_ai.Task:
    """See `synthbench.llm.inspect_task`."""
    asked = open_rows(task, split, limit, preset=preset)
    made = asked.task
    samples = [
        Sample(
            id=row["id"],
            input=_input(made, row),
            target=made.answer.format_answer(row[LABEL]),
            metadata=metadata(made, row),
        )
        for row in asked.rows()
    ]
    return inspect_ai.Task(
        dataset=MemoryDataset(samples, name=f"{made.name} {made.variant} {split}"),
        solver=generate(),
        scorer=right_answer(made.name, made.variant, made.seed, made.parameters.to_dict()),
        name=made.name,
        metadata=asked.metadata,
    )


def _input(task: Task, row: Mapping[str, Any]) -> str | list[Any]:
    text = question(task, row.get(TEXT))
    if (url := image_url(task, row)) is None:
        return text
    return [ChatMessageUser(content=[ContentImage(image=url), ContentText(text=text)])]


@scorer(metrics=[accuracy(), stderr()])
def right_answer(task: str, variant: str, seed: int, parameters: dict[str, Any]) -> Scorer:
    """1.0 for a completion that gives the right answer, else 0.0."""
    made = task_from(task, variant, parameters, seed)

    async def score(state: TaskState, target: Target) -> Score:
        completion = state.output.completion
        found = find_answer(made, completion)
        return Score(
            value=reward_of(made, state.metadata, completion),
            answer=None if found is None else str(found),
            explanation=completion,
        )

    return score


def _register(name: str) -> None:
    """Let Inspect find a task by its name."""

    @inspect_ai.task(name=name)
    def made(
        split: str = "test", limit: int | None = None, preset: str = "paper", **chosen: Any
    ) -> inspect_ai.Task:
        """`chosen` is what `synthbench.task` takes: `level`, `variant`, `seed` and parameters."""
        return inspect_task(registry.task(name, **chosen), split, limit=limit, preset=preset)


for _name in list_tasks():
    _register(_name)
