"""What an answer scores that is right, but for another row of the same size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from synthbench.auditing.scoring import measure
from synthbench.sampling.preview import sample_table
from synthbench.training.recipes import find_study

#: Rows of a split that are drawn.
_ROWS = 1_000


def chance(comparison: Mapping[str, Any], variant: str, measure_name: str) -> float:
    """The figure of a measure for guesses: of classes uniform, else the next row's right answer.

    It is what the audit calls chance.
    """
    key = (comparison["task"], comparison["profile"], comparison["study"])
    study = find_study(*key)
    (task,) = (one for one in study.tasks() if one.variant == variant)
    (asked,) = (one for one in study.measures if one.name == measure_name)
    if task.labels is not None:
        return 1 / len(task.labels)
    rows = sample_table(task, asked.split, _ROWS)
    answers, sizes = rows["label"].to_pylist(), rows[task.bucket_name].to_pylist()
    others = list(answers)
    for size in set(sizes):
        places = [place for place, one in enumerate(sizes) if one == size]
        for place, following in zip(places, [*places[1:], places[0]], strict=True):
            others[place] = answers[following]
    column = task.metrics.index(asked.metric)
    return float(np.nanmean(measure(task, rows, others)[:, column]))
