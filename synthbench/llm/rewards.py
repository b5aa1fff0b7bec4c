"""Rewards: objects that a trainer calls with completions and columns, and that can be pickled.

Asynchronous trainers send the reward to other processes, where a closure cannot go.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from typing import Any

from synthbench.arguments import checked
from synthbench.checks import check_name
from synthbench.errors import UsageError
from synthbench.evaluation.chat_replies import is_truncated
from synthbench.llm.mixtures import ROW, TASK, carried_row
from synthbench.llm.prompts import askable
from synthbench.llm.scoring import checked_completions, is_scalar, reward_of
from synthbench.tasks.base import Task
from synthbench.tasks.mixture import Mixture, Sources
from synthbench.tasks.spec import task_spec
from synthbench.text.lines import short

#: Columns that say whether a completion was truncated: its finish reason, and its tokens, which
#: TRL gives.
FINISH_REASON, COMPLETION_IDS = "finish_reason", "completion_ids"


class Reward:
    """1.0 for every completion that gives the right answer to its row, else 0.0.

    Args:
        tasks: the tasks whose rows it judges.
        end_tokens: as in `trl_reward`.
    """

    def __init__(self, tasks: Sequence[Task], end_tokens: Sequence[int] = ()) -> None:
        self._end_tokens = frozenset(map(int, end_tokens))
        self._tasks = {task_spec(task): task for task in tasks}
        names = dict.fromkeys(task.name.replace("-", "_") for task in tasks)
        self.__name__ = "_".join(["synthbench", *names])  # its name in the trainer's logs

    def __repr__(self) -> str:
        """The call that makes it."""
        tasks = [*self._tasks.values()]
        shown = repr(tasks[0]) if len(tasks) == 1 else repr(tasks)
        ends = f", end_tokens={sorted(self._end_tokens)}" if self._end_tokens else ""
        return f"synthbench.llm.trl_reward({shown}{ends})"

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
        """Score completions.

        Args:
            completions: texts or lists of chat messages.
            columns: the columns of their rows, as `prompts` gives them, as lists as long as
                `completions`. A label may be given as text, too.

        Raises:
            UsageError: a column is missing or has another length or type, or a row is of another
                task.
        """
        if len(self._tasks) == 1:
            (task,) = self._tasks.values()
            pairs = [(task, row) for row in rows_of(completions, task.columns, columns)]
        else:
            pairs = [self._carried(row) for row in rows_of(completions, (TASK, ROW), columns)]
        truncated = truncations(completions, columns, self._end_tokens)
        return [
            reward_of(task, row, completion, truncated=is_cut)
            for (task, row), completion, is_cut in zip(pairs, completions, truncated, strict=True)
        ]

    def _carried(self, record: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
        task, row = carried_row(record)
        check_name("task of this reward", record[TASK], self._tasks)
        return task, row


@checked
def trl_reward(task: Sources, *, end_tokens: int | Sequence[int] = ()) -> Reward:
    """A reward for TRL's GRPOTrainer: `reward_funcs=[llm.trl_reward("listops")]`.

    Args:
        task: a task, its name, or a dataset directory, as in `prompts`, or several of them.
        end_tokens: the ids of tokens that end a completion, such as `tokenizer.eos_token_id`. A
            completion whose `completion_ids` end with another token was truncated, and has an
            answer only where it is marked.

    Returns:
        `reward(completions, **columns)`, which gives 1.0 or 0.0 for each completion, a text or a
        list of chat messages. `columns` are the columns that `prompts` gives, as lists as long as
        `completions`. A label may be given as text, too. A column `finish_reason`, such as
        `length`, says which completions were truncated. It can be pickled.

    Raises:
        UsageError: an unknown name, or a task without a single right answer.

    Example:
        >>> from synthbench import llm
        >>> reward = llm.trl_reward("parity")
        >>> reward(["Answer: 7", "Answer: 8"], label=[7, 7])
        [1.0, 0.0]
    """
    ends = (end_tokens,) if isinstance(end_tokens, int) else end_tokens
    return Reward([askable(part).task for part in Mixture.of(task).parts], ends)


def truncations(
    completions: Sequence[Any], columns: Mapping[str, Any], end_tokens: Collection[int] = ()
) -> list[bool]:
    """Report the completions that are known to have stopped at the limit of tokens.

    Args:
        completions: the completions.
        columns: the trainer's columns, perhaps with `finish_reason` or `completion_ids`.
        end_tokens: the ids of tokens that end a completion.
    """
    if columns.get(FINISH_REASON) is None and columns.get(COMPLETION_IDS) is None:
        return [False] * len(completions)
    rows = rows_of(completions, (FINISH_REASON, COMPLETION_IDS), columns)
    if any(FINISH_REASON in row for row in rows):
        return [is_truncated(row[FINISH_REASON]) for row in rows]
    ids: list[Any] = [row.get(COMPLETION_IDS, ()) if end_tokens else () for row in rows]
    return [_last_token(tokens) not in {None, *end_tokens} for tokens in ids]


def _last_token(ids: Any) -> int | None:
    """The last of a completion's token ids. None for an empty list."""
    try:
        return operator.index(ids[-1]) if len(ids) else None
    except (TypeError, LookupError):
        raise UsageError(
            f"Column {COMPLETION_IDS!r} has {short(ids)}: expected a list of token ids."
        ) from None


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
    if not isinstance(checked_completions(completions), Sized):
        raise UsageError(f"Completions of type {type(completions).__name__}: expected a list.")
    present = [name for name in names if columns.get(name) is not None]
    for name in present:
        values = columns[name]
        is_one = isinstance(values, str | bytes | Mapping) or is_scalar(values)
        if is_one or not (hasattr(values, "__len__") and hasattr(values, "__getitem__")):
            raise UsageError(f"Column {name!r} is {short(values)}: expected a list of values.")
        if len(values) != len(completions):
            raise UsageError(
                f"Column {name!r} has {len(values):,} values for {len(completions):,} completions."
            )
    values_of = (list(columns[name]) for name in present)
    rows = [dict(zip(present, cells, strict=True)) for cells in zip(*values_of, strict=True)]
    return rows or [{} for _ in completions]
