"""Rows with their answers, for supervised fine-tuning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from synthbench.arguments import checked
from synthbench.llm.conversations import Conversation
from synthbench.llm.mixtures import TASK, carried_row
from synthbench.llm.prompts import askable, prompts
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture, Sources

if TYPE_CHECKING:
    import datasets


@checked
def sft_examples(
    task: Sources, split: str = "train", *, solutions: bool = False, **options: Any
) -> datasets.Dataset:
    """Rows with their right answers as conversations, for supervised fine-tuning.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        split: the split.
        solutions: whether completions are worked solutions, which end with the answer.
        options: all other arguments of `prompts`.

    Returns:
        `id`, `prompt` as in `prompts`, and `completion`, one chat message of the assistant: the
        form that TRL's SFTTrainer takes. If rows have an image, its column follows. Rows of several
        tasks have `task`.

    Raises:
        UsageError: an unknown name, a task without a single right answer, or without worked
            solutions where they are wanted.

    Example:
        >>> from synthbench import llm
        >>> llm.sft_examples("parity", limit=1, preset="small")[0]["completion"]
        [{'role': 'assistant', 'content': 'Answer: 7'}]
        >>> (message,) = llm.sft_examples("parity", limit=1, solutions=True)[0]["completion"]
        >>> print(message["content"])
        a = 0 is even, and b = 1 is odd.
        Exactly one of a and b is odd, so the answer is c = 7.
        Answer: 7
    """
    rows = prompts(task, split, solutions=solutions, **options)
    pictures = [
        name for name, feature in rows.features.items() if type(feature).__name__ == "Image"
    ]
    mixture, plain = Mixture.of(task), rows.remove_columns(pictures)
    pairs: Iterable[tuple[Task, Mapping[str, Any]]]
    if mixture.is_single:
        part = askable(mixture.parts[0]).task
        mixed, pairs = [], ((part, row) for row in plain)
    else:
        mixed, pairs = [TASK], map(carried_row, plain)
    completions = [[Conversation(task, None, (), solutions).reply(row)] for task, row in pairs]
    rows = rows.add_column("completion", completions)
    return rows.select_columns(["id", "prompt", "completion", *mixed, *pictures])
