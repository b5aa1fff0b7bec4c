"""Scores for completions of language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from os import PathLike
from typing import Any

from synthbench.arguments import checked
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.chat_replies import RunningText
from synthbench.evaluation.evaluate import evaluate as evaluate_rows
from synthbench.evaluation.final_answer import score_answer
from synthbench.evaluation.report import Report
from synthbench.evaluation.rows import NO_ROW, cannot_be_judged, data_first
from synthbench.llm.prompts import askable, check_askable
from synthbench.tasks.base import Task
from synthbench.tasks.numeric import is_number, plain_value
from synthbench.text.lines import short

_SEVERAL = (
    "With several completions to a row, repeat the row: rows = [row for row in rows for _ in "
    "range(4)]."
)


def score(
    task: str | Task | PathLike[str],
    row: Mapping[str, Any],
    completion: str | Sequence[Mapping[str, Any]] | None,
    *,
    truncated: bool = False,
) -> float:
    r"""Score one completion: find the answer in its text, then compare it strictly.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        row: the row, with its `label`.
        completion: a text, a chat message, or chat messages, of which the last counts; a number
            stands for its text; None is wrong.
        truncated: whether the completion stopped at the limit of tokens. It then has an answer
            only where it is marked.

    Returns:
        1.0 if the text gives the right answer, else 0.0.

    Raises:
        UsageError: an unknown name, a task without a single right answer, a row without its label,
            or a completion of another type.

    Example:
        >>> from synthbench import llm
        >>> row = {"text": "3 4 7 2 =", "label": 7}
        >>> llm.score("parity", row, "3 is odd and 4 is even.\nAnswer: 7")
        1.0
        >>> llm.score("parity", row, "7 or 2")
        0.0
    """
    task = askable(task).task
    return reward_of(task, row, completion, truncated=truncated)


@data_first("llm.evaluate(data, completions, task)")
@checked
def evaluate(
    data: Any,
    completions: Any,
    task: str | Task | PathLike[str] | None = None,
    *,
    split: str | None = None,
) -> Report:
    """Score a completion to each row, with breakdowns and intervals.

    Args:
        data: a dataset directory, or rows as `prompts` gives them.
        completions: a completion to each row, in order, as in `score`, or a dict of completions
            by id.
        task: the task of the rows, its name, or its dataset directory. A directory of data names
            its task.
        split: the split to evaluate, as in `synthbench.evaluate`.

    Returns:
        The report of `synthbench.evaluate`, which finds the answers in running text.

    Raises:
        UsageError: an unknown name, no task, a task without a single right answer, more or fewer
            completions than rows, or a completion of another type.
        DatasetError: completions by id that all belong to other rows, or a missing or corrupt
            directory.

    Example:
        >>> import synthbench
        >>> from synthbench import llm
        >>> ctl = synthbench.task("ctl", level="easy")
        >>> rows = llm.prompts(ctl, limit=2, preset="small")
        >>> completions = [f"Answer: {rows[0]['answer']}", "I cannot say."]
        >>> llm.evaluate(rows, completions, ctl).accuracy
        0.5
    """
    is_directory = isinstance(data, str | PathLike)
    if task is not None:
        task = askable(task).task
    elif is_directory:
        task = DatasetDirectory.open(data).make_task()
        check_askable(task)
    texts: Any
    if isinstance(completions, Mapping):
        texts = {name: _text_of(completion) for name, completion in completions.items()}
    else:
        texts = list(map(_text_of, checked_completions(completions)))
        if not is_directory:
            _refuse_several_a_row(len(texts), data)
    return evaluate_rows(data, texts, task, split=split, read="text")


def checked_completions(completions: Any) -> Iterable[Any]:
    """Completions of several rows.

    Raises:
        UsageError: a text or something else that is not one completion for each row.
    """
    is_one = isinstance(completions, str | bytes | Mapping) or is_scalar(completions)
    if is_one or not isinstance(completions, Iterable):
        raise UsageError(
            f"Completions {short(completions)}: expected a list with one for each row."
        )
    return completions


def is_scalar(array: Any) -> bool:
    """True if this is an array or a tensor without axes, which lacks a length."""
    return getattr(array, "shape", None) == ()


def _refuse_several_a_row(completions: int, rows: Any) -> None:
    counted = isinstance(rows, Sized) and not (isinstance(rows, Mapping) or is_scalar(rows))
    size = len(rows) if counted else 0
    if size and completions > size and completions % size == 0:
        raise UsageError(
            f"{completions:,} completions for {size:,} rows: expected one for each row. {_SEVERAL}"
        )


def reward_of(
    task: Task, row: Mapping[str, Any], completion: Any, *, truncated: bool = False
) -> float:
    """1.0 or 0.0 for one completion. A UsageError if it or the row is not what `score` takes."""
    if not isinstance(row, dict | Mapping):  # a dict is known sooner
        raise UsageError(
            f"Row {short(row)}: expected a dict with the columns of {task.name}. The order is "
            "task, row, completion."
        )
    text = _text_of(completion)
    try:
        truncated = truncated or (isinstance(text, RunningText) and text.truncated)
        return score_answer(task, row, text, truncated=truncated)
    except KeyError as error:
        raise UsageError(
            f"The row has no column {error.args[0]!r}, by which answers to {task.name} are judged; "
            f"it has {', '.join(map(str, row)) or 'none'}."
        ) from None
    except SynthbenchError:
        raise
    except NO_ROW as error:
        raise UsageError(cannot_be_judged("The row", error)) from error


def _text_of(completion: Any) -> str | None:
    """The text of a completion, or of the last chat message.

    Raises:
        UsageError: it is neither a text nor a number nor messages.
    """
    content = plain_value(completion)
    if isinstance(content, str):
        return content
    if isinstance(content, bytes):
        return content.decode("utf-8", "replace")
    if is_number(content):
        try:
            return str(content)
        except ValueError:  # thousands of digits, which Python does not write
            return None
    if isinstance(content, list | tuple):
        content = content[-1] if content else None
        if isinstance(content, str):
            raise UsageError(f"Completion {short(completion)}: a list of texts. {_SEVERAL}")
    if isinstance(content, Mapping):
        content = content.get("content", completion)
    if isinstance(content, list | tuple):
        parts = [part.get("text") or "" if isinstance(part, Mapping) else part for part in content]
        content = "".join(parts) if all(isinstance(part, str) for part in parts) else completion
    if content is None or isinstance(content, str):
        return content
    raise UsageError(
        f"Completion {short(completion)} of type {type(completion).__name__}: expected a text or "
        "chat messages, of which the last counts."
    )
