"""Scores and rewards for completions of language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from synthbench.errors import UsageError
from synthbench.evaluation.evaluate import evaluate as evaluate_rows
from synthbench.evaluation.final_answer import score_answer
from synthbench.evaluation.report import Report
from synthbench.llm.prompts import askable_task
from synthbench.tasks.base import Task


def score(
    task: str | Task | PathLike[str],
    row: Mapping[str, Any],
    completion: str | Sequence[Mapping[str, Any]] | None,
) -> float:
    r"""Score one completion: find the answer in its text, then compare it strictly.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        row: the row as plain values, with its `label`.
        completion: a text, or chat messages, of which the last counts; None is wrong.

    Returns:
        1.0 if the text gives the right answer, else 0.0.

    Raises:
        UsageError: an unknown name, a task without a single right answer, or a row without its
            label.

    Example:
        >>> from synthbench import llm
        >>> row = {"text": "3 4 7 2 =", "label": 7}
        >>> llm.score("parity", row, "3 is odd and 4 is even.\nAnswer: 7")
        1.0
        >>> llm.score("parity", row, "7 or 2")
        0.0
    """
    made, _ = askable_task(task)
    return reward_of(made, row, completion)


def evaluate(task: str | Task | PathLike[str], rows: Any, completions: Sequence[Any]) -> Report:
    """Score a completion to each row, with breakdowns and intervals.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        rows: the rows, as `prompts` gives them.
        completions: a completion to each row, in order, as in `score`.

    Returns:
        The report of `synthbench.evaluate`, which finds the answers in running text.

    Raises:
        UsageError: an unknown name, a task without a single right answer, or more or fewer
            completions than rows.

    Example:
        >>> import synthbench
        >>> from synthbench import llm
        >>> ctl = synthbench.task("ctl", level="easy")
        >>> rows = llm.prompts(ctl, limit=2, preset="small")
        >>> completions = [f"Answer: {rows[0]['answer']}", "I cannot say."]
        >>> llm.evaluate(ctl, rows, completions).accuracy
        0.5
    """
    made, _ = askable_task(task)
    return evaluate_rows(rows, list(map(_text_of, completions)), made, read="text")


def trl_reward(task: str | Task | PathLike[str]) -> Callable[..., list[float]]:
    """A reward function for TRL's GRPOTrainer: `reward_funcs=[llm.trl_reward("listops")]`.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.

    Returns:
        `reward(completions, **columns)`, which gives 1.0 or 0.0 for each completion, a text or a
        list of chat messages. `columns` are the columns that `prompts` gives, as lists as long as
        `completions`.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.

    Example:
        >>> from synthbench import llm
        >>> reward = llm.trl_reward("parity")
        >>> reward(["Answer: 7", "Answer: 8"], label=[7, 7])
        [1.0, 0.0]
    """
    made, _ = askable_task(task)

    def reward(completions: Sequence[Any], **columns: Any) -> list[float]:
        names = [name for name in made.columns if columns.get(name) is not None]
        rows = [
            {name: columns[name][number] for name in names} for number in range(len(completions))
        ]
        return [reward_of(made, *pair) for pair in zip(rows, completions, strict=True)]

    reward.__name__ = f"synthbench_{made.name.replace('-', '_')}"  # its name in TRL's logs
    return reward


def reward_of(task: Task, row: Mapping[str, Any], completion: Any) -> float:
    """1.0 or 0.0 for one completion; a UsageError if the row lacks its label."""
    try:
        return score_answer(_text_of(completion), row, task)
    except KeyError as error:
        raise UsageError(
            f"The row has no column {error.args[0]!r}, by which answers to {task.name} are judged; "
            f"it has {', '.join(map(str, row)) or 'none'}."
        ) from None


def _text_of(completion: Any) -> str | None:
    """The text of a completion; of chat messages, the last one's."""
    if completion is None or isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else None
    if content is None or isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content)
