"""Score shortcuts on every split and level, and decide which of them come near solving."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.sample import Sample
from synthbench.auditing.statistics import Estimate, estimate, is_near
from synthbench.auditing.variant import AuditedVariant
from synthbench.tasks.audit_spec import Columns, Shortcut, Values
from synthbench.tasks.base import Task
from synthbench.tasks.features import is_image, label_names

#: The maximum number of rows per split that reference answers are computed for.
_REFERENCE_ROWS = 1_000


@dataclasses.dataclass(frozen=True)
class Reference:
    """The scores that a shortcut is compared with, by metric."""

    #: the score of a uniform guess if the label is a class; otherwise the score of the reference
    #: answer to another row of the same level
    chance: dict[str, float]
    solution: dict[str, float]  # the score of the reference solver


@dataclasses.dataclass(frozen=True)
class Score:
    """The score of a shortcut on a set of rows."""

    #: the estimate of each metric that is defined on at least one row
    figures: dict[str, Estimate]
    near: bool  # whether the shortcut comes near solving the rows


@dataclasses.dataclass(frozen=True)
class ShortcutScore:
    """The scores of a shortcut."""

    name: str
    text: str  # what it looks at, in a sentence
    splits: dict[str, Score]  # its score on each split with rows that it applies to
    levels: dict[str, dict[str, Score]]  # for each split, its score on each level


@dataclasses.dataclass(frozen=True)
class SplitRows:
    """How many rows of a split were scored, and the scores to compare with."""

    rows: int  # all rows of the split
    scored: int  # the rows that shortcuts are scored on
    reference: Reference  # the scores to compare with on the split
    levels: dict[str, Reference]  # the scores to compare with on each level


@dataclasses.dataclass(frozen=True)
class ScoredSplit:
    """The sample of a split that shortcuts are scored on, with each row's level by name."""

    sample: Sample
    level: NDArray[np.str_]
    rows: SplitRows


def prepare(subject: AuditedVariant, sample: Sample) -> ScoredSplit:
    """Find the level of each row, and score chance and the reference solver."""
    task = subject.task
    numbers, place = np.unique(subject.levels.of(sample.columns), return_inverse=True)
    names = [subject.levels.label(number) for number in numbers.tolist()]
    classes = label_names(task.columns.get("label", {}))
    if classes is not None:
        same = Reference({task.metrics[0]: 1 / len(classes)}, {task.metrics[0]: 1.0})
        whole, levels = same, dict.fromkeys(names, same)
    else:
        count = min(len(sample), _REFERENCE_ROWS)
        chosen = np.arange(count) * len(sample) // count
        few, few_levels = sample.take(chosen).columns, place[chosen]
        answers = [task.solve(question) for question in few[task.inputs[0]].to_pylist()]
        own = measure(task, few, answers)
        others = measure(task, few, [answers[row] for row in _next_of_level(few_levels)])

        def reference(rows: NDArray[np.bool_]) -> Reference:
            return Reference(_means(task, others[rows]), _means(task, own[rows]))

        whole = reference(np.ones(count, np.bool_))
        levels = {name: reference(few_levels == number) for number, name in enumerate(names)}
    rows = SplitRows(sample.split_rows, len(sample), whole, levels)
    return ScoredSplit(sample, np.array(names)[place], rows)


def score_shortcut(
    subject: AuditedVariant,
    shortcut: Shortcut,
    fit: Sample | None,
    splits: Mapping[str, ScoredSplit],
) -> ShortcutScore:
    """Fit a shortcut to rows of train, if there are any, and score it on every split."""
    task, hard = subject.task, subject.levels.hard
    predict = shortcut.fit(fit.columns if fit is not None else {})
    scores: dict[str, Score] = {}
    level_scores: dict[str, dict[str, Score]] = {}
    for name, split in splits.items():
        applies = np.ones(len(split.sample), np.bool_)
        if shortcut.applies is not None:
            applies = shortcut.applies(split.sample.columns)
        if not applies.any():
            continue
        batches = split.sample.take(np.flatnonzero(applies)).batches()
        values = np.concatenate([measure(task, rows, predict(rows)) for rows in batches])
        level = split.level[applies]
        scores[name] = _score(task, values, split.rows.reference, True)
        level_scores[name] = {
            text: _score(task, values[level == text], reference, hard)
            for text, reference in split.rows.levels.items()
            if (level == text).any()
        }
    return ShortcutScore(shortcut.name, shortcut.text, scores, level_scores)


def _score(task: Task, values: NDArray[np.float64], reference: Reference, hard: bool) -> Score:
    found = _estimates(task, values)
    near = hard and any(
        is_near(value, reference.chance[metric], reference.solution[metric])
        for metric, value in found.items()
        if metric in reference.chance and metric in reference.solution
    )
    return Score(found, near)


def _estimates(task: Task, values: NDArray[np.float64]) -> dict[str, Estimate]:
    return {
        metric: estimate(column)
        for metric, column in zip(task.metrics, values.T, strict=True)
        if not np.isnan(column).all()
    }


def _means(task: Task, values: NDArray[np.float64]) -> dict[str, float]:
    return {metric: found.mean for metric, found in _estimates(task, values).items()}


def measure(task: Task, columns: Columns, predictions: Values) -> NDArray[np.float64]:
    """The metrics of each row's prediction, float64 `(rows, metrics)`."""
    names = task.judged_by or [
        name for name, feature in task.columns.items() if not is_image(feature)
    ]
    rows = zip(*(columns[name].to_pylist() for name in names), strict=True)
    values = np.empty((len(predictions), len(task.metrics)))
    for number, (cells, prediction) in enumerate(zip(rows, predictions, strict=True)):
        row = dict(zip(names, cells, strict=True))
        measured = task.measure(row, task.read_answer(row, prediction))
        values[number] = [measured[metric] for metric in task.metrics]
    return values


def _next_of_level(level: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row, the next row of its level; after the last row of a level, the first."""
    following = np.empty_like(level)
    for one in np.unique(level):
        rows = np.flatnonzero(level == one)
        following[rows] = np.roll(rows, -1)
    return following
