"""Scores and rewards for completions of language models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from os import PathLike
from typing import Any

from synthbench.arguments import checked
from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.evaluate import evaluate as evaluate_rows
from synthbench.evaluation.final_answer import score_answer
from synthbench.evaluation.report import Report
from synthbench.evaluation.rows import NO_ROW, cannot_be_judged
from synthbench.llm.prompts import askable_task
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
) -> float:
    r"""Score one completion: find the answer in its text, then compare it strictly.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        row: the row, with its `label`.
        completion: a text, a chat message, or chat messages, of which the last counts; a number
            stands for its text; None is wrong.

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
    made, _ = askable_task(task)
    return reward_of(made, row, completion)


def evaluate(
    task: str | Task | PathLike[str], rows: Any, completions: Iterable[Any] | Mapping[str, Any]
) -> Report:
    """Score a completion to each row, with breakdowns and intervals.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.
        rows: the rows, as `prompts` gives them.
        completions: a completion to each row, in order, as in `score`; or a dict of completions
            by id.

    Returns:
        The report of `synthbench.evaluate`, which finds the answers in running text.

    Raises:
        UsageError: an unknown name, a task without a single right answer, more or fewer
            completions than rows, or a completion of another type.
        DatasetError: completions by id of which none is for a row.

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
    texts: Any
    if isinstance(completions, Mapping):
        texts = {name: _text_of(one) for name, one in completions.items()}
    else:
        texts = list(map(_text_of, _checked(completions)))
        _refuse_several_a_row(len(texts), rows)
    return evaluate_rows(rows, texts, made, read="text")


def _checked(completions: Any) -> Iterable[Any]:
    """Completions of several rows; a text or something else is refused."""
    is_one = isinstance(completions, str | bytes | Mapping) or _is_scalar(completions)
    if is_one or not isinstance(completions, Iterable):
        raise UsageError(
            f"Completions {short(completions)}: expected a list with one for each row."
        )
    return completions


def _is_scalar(given: Any) -> bool:
    """Whether this is an array or a tensor without axes, which has no length."""
    return getattr(given, "shape", None) == ()


def _refuse_several_a_row(completions: int, rows: Any) -> None:
    counted = isinstance(rows, Sized) and not (isinstance(rows, Mapping) or _is_scalar(rows))
    size = len(rows) if counted else 0
    if size and completions > size and completions % size == 0:
        raise UsageError(
            f"{completions:,} completions for {size:,} rows: expected one for each row. {_SEVERAL}"
        )


@checked
def trl_reward(task: str | Task | PathLike[str]) -> Callable[..., list[float]]:
    """A reward function for TRL's GRPOTrainer: `reward_funcs=[llm.trl_reward("listops")]`.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`.

    Returns:
        `reward(completions, **columns)`, which gives 1.0 or 0.0 for each completion, a text or a
        list of chat messages. `columns` are the columns that `prompts` gives, as lists as long as
        `completions`; a label may be given as text, too.

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
        rows = rows_of(completions, made.columns, columns)
        return [reward_of(made, *pair) for pair in zip(rows, completions, strict=True)]

    reward.__name__ = f"synthbench_{made.name.replace('-', '_')}"  # its name in TRL's logs
    return reward


def rows_of(
    completions: Sequence[Any], names: Iterable[str], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The row of each completion, as a trainer hands rows on.

    Args:
        completions: the completions.
        names: the columns that rows have, as far as they are given.
        columns: sequences or arrays of values, each as long as `completions`.

    Raises:
        UsageError: completions or a column of another type or length.
    """
    if not isinstance(_checked(completions), Sized):
        raise UsageError(f"Completions of type {type(completions).__name__}: expected a list.")
    found = [name for name in names if columns.get(name) is not None]
    for name in found:
        values = columns[name]
        is_one = isinstance(values, str | bytes | Mapping) or _is_scalar(values)
        if is_one or not (hasattr(values, "__len__") and hasattr(values, "__getitem__")):
            raise UsageError(f"Column {name!r} is {short(values)}: expected a list of values.")
        if len(values) != len(completions):
            raise UsageError(
                f"Column {name!r} has {len(values):,} values for {len(completions):,} completions."
            )
    values_of = (list(columns[name]) for name in found)
    rows = [dict(zip(found, cells, strict=True)) for cells in zip(*values_of, strict=True)]
    return rows or [{} for _ in completions]


def reward_of(task: Task, row: Mapping[str, Any], completion: Any) -> float:
    """1.0 or 0.0 for one completion; a UsageError if it or the row is not what `score` takes."""
    if not isinstance(row, Mapping):
        raise UsageError(
            f"Row {short(row)}: expected a dict with the columns of {task.name}; the order is "
            "task, row, completion."
        )
    text = _text_of(completion)
    try:
        return score_answer(task, row, text)
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
    """The text of a completion; of chat messages, the last one's.

    Raises:
        UsageError: it is neither a text nor a number nor messages.
    """
    given = plain_value(completion)
    if isinstance(given, bytes):
        return given.decode("utf-8", "replace")
    if is_number(given):
        try:
            return str(given)
        except ValueError:  # thousands of digits, which Python does not write
            return None
    if isinstance(given, list | tuple):
        given = given[-1] if given else None
        if isinstance(given, str):
            raise UsageError(f"Completion {short(completion)}: a list of texts. {_SEVERAL}")
    if isinstance(given, Mapping):
        given = given.get("content", completion)
    if isinstance(given, list | tuple):
        parts = [one.get("text") or "" if isinstance(one, Mapping) else one for one in given]
        given = "".join(parts) if all(isinstance(one, str) for one in parts) else completion
    if given is None or isinstance(given, str):
        return given
    raise UsageError(
        f"Completion {short(completion)} of type {type(completion).__name__}: expected a text or "
        "chat messages, of which the last counts."
    )
