"""What an answer scores that is right, but for another row of the same size."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from synthbench.auditing.scoring import measure, next_of_level
from synthbench.sampling.preview import sample_table
from synthbench.training.recipes import find_study

#: The most rows of a split that are drawn.
_ROWS = 4_000


def chance(comparison: Mapping[str, Any], variant: str, measure_name: str) -> float:
    """One in the number of classes, or what the right answer to the next row of the size scores.

    The audit calls the same chance.
    """
    return _chance(
        comparison["task"], comparison["profile"], comparison["study"], variant, measure_name
    )


@functools.cache
def _chance(
    task_name: str, profile: str, study_name: str, variant: str, measure_name: str
) -> float:
    study = find_study(task_name, profile, study_name)
    (task,) = (task for task in study.tasks() if task.variant == variant)
    (wanted,) = (entry for entry in study.measures if entry.name == measure_name)
    if task.labels is not None:
        return 1 / len(task.labels)
    (split,) = (split for split in task.splits if split.name == wanted.split)
    rows = sample_table(task, split.name, min(_ROWS, split.rows))
    answers, sizes = rows["label"].to_pylist(), np.array(rows[task.bucket_name].to_pylist())
    following = next_of_level([sizes == size for size in np.unique(sizes)])
    others = [answers[place] for place in following]
    column = task.metrics.index(wanted.metric)
    return float(np.nanmean(measure(task, rows, others)[:, column]))
