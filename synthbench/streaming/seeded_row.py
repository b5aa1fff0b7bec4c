"""One fresh row for each seed, without the rows of other seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from synthbench.checks import check_whole_number
from synthbench.errors import ParameterError
from synthbench.seeding import Choice, Draws
from synthbench.tasks.base import Task
from synthbench.tasks.returned import proposed
from synthbench.tasks.row_ids import fingerprints, may_have, rows_table

#: How many candidates are drawn at a time, and how often, before it is said that no row exists.
_CANDIDATES, _TRIES = 64, 256


def seeded_row(task: Task, split: str, seed: int) -> dict[str, Any]:
    """The row of a seed: a pure function of the task, the split and the seed.

    Buckets are drawn in the split's balance. Rows of train are not held out, those of an evaluation
    split are. Rows of two seeds may be equal, as rows that are drawn independently are.

    Args:
        task: the task.
        split: name of the split.
        seed: a whole number from 0.

    Returns:
        The row with its `id`, as plain Python values.

    Raises:
        UsageError: an unknown split, or a seed that is not a whole number from 0.
        ParameterError: no row was found that the split may have.

    Example:
        >>> import synthbench
        >>> from synthbench.streaming.seeded_row import seeded_row
        >>> task = synthbench.task("parity")
        >>> seeded_row(task, "test", 7) == seeded_row(task, "test", 7)
        True
    """
    task_split = task.split(split)
    seed = check_whole_number("Seed", seed, least=0)
    coordinates = {**task.stream, "split": split, "row": seed}
    choice = Choice(np.array(task_split.buckets), task.bucket_weights(task_split))
    for number, bucket in enumerate(choice.draw(Draws(coordinates), _TRIES).tolist(), start=1):
        block = proposed(task, Draws(coordinates, number), _CANDIDATES, task_split, bucket)
        prints = fingerprints(task, block)
        allowed = np.flatnonzero(may_have(task, task_split, bucket, prints))[:1]
        if len(allowed):
            table = rows_table(task, block.take(allowed), prints[allowed])
            return dict(table.to_pylist()[0])
    raise ParameterError(f"Split {split} of {task.name}: no row was found that it may have.")
