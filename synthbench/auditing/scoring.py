"""Score shortcuts on every split and level, and decide which of them come near solving."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.sample import Sample
from synthbench.auditing.statistics import Estimate, estimate, is_near
from synthbench.auditing.variant import AuditedVariant
from synthbench.tasks.audit_spec import Columns, Shortcut, Values
from synthbench.tasks.base import Task
from synthbench.tasks.features import is_image, label_names

#: The most rows of a split to compute reference answers for.
_REFERENCE_ROWS = 1_000


@dataclasses.dataclass(frozen=True)
class Reference:
    """The scores that a shortcut is compared with, by metric.

    Attributes:
        chance: the score of a uniform guess if the label is a class; otherwise the score of the
            reference answer to another row of the same level.
        solution: the score of the reference solver.
    """

    chance: dict[str, float]
    solution: dict[str, float]


@dataclasses.dataclass(frozen=True)
class Score:
    """The score of a shortcut on a set of rows.

    Attributes:
        figures: its estimate for each metric that is defined on at least one of the rows.
        near: whether the shortcut comes near solving the rows.
    """

    figures: dict[str, Estimate]
    near: bool


@dataclasses.dataclass(frozen=True)
class ShortcutScore:
    """The scores of a shortcut.

    Attributes:
        name: the shortcut's name.
        text: what it looks at, in a sentence.
        splits: its score on each split that has rows to which it applies.
        levels: for each split, its score on each level.
    """

    name: str
    text: str
    splits: dict[str, Score]
    levels: dict[str, dict[str, Score]]


@dataclasses.dataclass(frozen=True)
class SplitRows:
    """How many rows of a split were scored, and what scores are compared with.

    Attributes:
        rows: the number of rows of the split.
        scored: the number of rows that shortcuts are scored on.
        reference: the scores to compare with.
        levels: the scores to compare with on each level.
    """

    rows: int
    scored: int
    reference: Reference
    levels: dict[str, Reference]


@dataclasses.dataclass(frozen=True)
class ScoredSplit:
    """The rows of a split that shortcuts are scored on.

    Attributes:
        sample: the rows.
        level: the level of each row, int64 `(rows,)`.
        names: the names of the levels that occur.
        reference: the scores to compare with.
        references: the scores to compare with on each level.
    """

    sample: Sample
    level: NDArray[np.int64]
    names: dict[int, str]
    reference: Reference
    references: dict[int, Reference]

    def rows(self) -> SplitRows:
        """What the report of the audit says about these rows."""
        levels = {self.names[level]: found for level, found in self.references.items()}
        return SplitRows(self.sample.split_rows, len(self.sample), self.reference, levels)


def prepare(subject: AuditedVariant, sample: Sample) -> ScoredSplit:
    """Find the levels of rows, and the scores of chance and of the reference solver on them."""
    task, levels = subject.task, subject.levels
    level = levels.of(sample.columns)
    names = {number: levels.label(number) for number in np.unique(level).tolist()}
    classes = label_names(task.columns.get("label", {}))
    if classes is not None:
        same = Reference({task.metrics[0]: 1 / len(classes)}, {task.metrics[0]: 1.0})
        return ScoredSplit(sample, level, names, same, dict.fromkeys(names, same))
    count = min(len(sample), _REFERENCE_ROWS)
    chosen = np.arange(count) * len(sample) // count
    few, few_levels = sample.take(chosen), level[chosen]
    answers = [task.solve(question) for question in few.columns[task.inputs[0]].to_pylist()]
    own = measure(task, few.columns, answers)
    others = measure(task, few.columns, [answers[row] for row in _next_of_level(few_levels)])

    def reference(rows: NDArray[np.bool_]) -> Reference:
        return Reference(_means(task, others[rows]), _means(task, own[rows]))

    return ScoredSplit(
        sample,
        level,
        names,
        reference(np.ones(count, np.bool_)),
        {number: reference(few_levels == number) for number in names},
    )


def score_shortcut(
    subject: AuditedVariant,
    shortcut: Shortcut,
    fit: Sample | None,
    splits: Mapping[str, ScoredSplit],
) -> ShortcutScore:
    """Fit a shortcut and score it on every split.

    Args:
        subject: the audited variant.
        shortcut: the shortcut.
        fit: the rows to fit it on; None without a train split.
        splits: the rows of each split to score it on.
    """
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
        scores[name] = _score(task, values, split.reference, True)
        level_scores[name] = {
            text: _score(task, values[level == number], split.references[number], hard)
            for number, text in split.names.items()
            if (level == number).any()
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
    """The metrics of predictions for some rows, float64 `(rows, metrics)`."""
    names = task.judged_by or [
        name for name, feature in task.columns.items() if not is_image(feature)
    ]
    cells = zip(*(columns[name].to_pylist() for name in names), strict=True)
    values = np.empty((len(predictions), len(task.metrics)))
    for number, (row, prediction) in enumerate(zip(cells, predictions, strict=True)):
        values[number] = _measure(task, dict(zip(names, row, strict=True)), prediction)
    return values


def _measure(task: Task, row: Mapping[str, Any], prediction: Any) -> list[float]:
    measured = task.measure(row, task.read_answer(row, prediction))
    return [measured[metric] for metric in task.metrics]


def _next_of_level(level: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row the next row of its level; for the last row of a level the first."""
    order = np.argsort(level, kind="stable")
    first = np.flatnonzero(np.diff(level[order], prepend=level[order[0]] - 1))
    following = np.roll(order, -1)
    following[np.append(first[1:], len(order)) - 1] = order[first]
    other = np.empty_like(order)
    other[order] = following
    return other
