"""Whether a row is held out for evaluation, or may be in training data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from synthbench.errors import UsageError
from synthbench.evaluation.rows import choose_task
from synthbench.tasks.base import Parameters, Task, TextTask
from synthbench.tasks.features import arrow_type
from synthbench.tasks.row_ids import fingerprints, is_held_out
from synthbench.text.lines import short


def held_out(
    task: str | Task,
    text_or_row: Any,
    *,
    variant: str | None = None,
    parameters: Mapping[str, Any] | Parameters | None = None,
) -> bool:
    """Whether a row is held out, so that no train split and no stream of any seed has it.

    Evaluation splits have only held-out rows, whose ids begin with 0 or 1. Rows that differ only
    in the order of commuting arguments (`listops`, `arithmetic`), in the start symbol (`ctl`) or
    in the order of a and b (`parity`) are held out together.

    Args:
        task: the task's name or the task itself.
        text_or_row: a row's text (or grid, or numbers), or the whole row as a mapping, whose `id`
            is ignored. Any white space may stand between the tokens of a text.
        variant: the variant; default: the first that can have the row.
        parameters: parameters that differ from their defaults, if the row needs them.

    Returns:
        Whether its id begins with 0 or 1.

    Raises:
        UsageError: an unknown task or variant, or something that is not a row of the task.
        ParameterError: unknown or impossible parameters.

    Example:
        >>> import synthbench
        >>> synthbench.held_out("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]")
        False
        >>> synthbench.held_out("parity", "1 2 3 4 ="), synthbench.held_out("parity", "2 1 3 4 =")
        (False, False)
    """
    chosen = choose_task(task, variant, parameters, 0)
    names = [chosen.variant]
    if not isinstance(task, Task) and variant is None:
        names = list(chosen.variants)
    reasons: list[Exception] = []
    for name in names:
        one = choose_task(chosen.name, name, chosen.parameters, 0) if len(names) > 1 else chosen
        try:
            inputs = _inputs(one, text_or_row)
            one.solve(inputs[one.inputs[0]][0].as_py())  # refuses what only resembles a row
            return bool(is_held_out(fingerprints(one, one.parse(inputs)))[0])
        except (ValueError, TypeError, LookupError, pa.ArrowException) as error:
            reasons.append(error)
    what = f"{short(text_or_row)} is not a row of {chosen.name}"
    raise UsageError(f"{what}: {reasons[0]}") from reasons[0]


def _inputs(task: Task, text_or_row: Any) -> dict[str, pa.Array]:
    """The columns that determine a row's id, of one row each."""
    row = text_or_row
    if not isinstance(row, Mapping):
        row = {task.inputs[0]: row}
    row = {name: row[name] for name in task.inputs}
    if isinstance(task, TextTask) and isinstance(row["text"], str):
        row["text"] = task.separator.join(row["text"].split())
    return {name: pa.array([row[name]], arrow_type(task.columns[name])) for name in task.inputs}
