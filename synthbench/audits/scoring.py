"""What shortcuts score, on every split and level, and where one comes near solving."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.audits.sample import Sample
from synthbench.audits.statistics import Figure, figure, is_near
from synthbench.audits.subject import Subject
from synthbench.features import is_image, label_names
from synthbench.tasks.base import Task
from synthbench.tasks.scrutiny import Columns, Shortcut, Values

#: Rows of a split whose reference answers are worked out, at most.
_REFERENCE_ROWS = 1_000


@dataclasses.dataclass(frozen=True)
class Reference:
    """What there is to compare with, by metric.

    Attributes:
        chance: for a class label what a uniform guess scores; else what the reference answer of
            another row of the same level scores.
        solution: what the reference solver scores.
    """

    chance: dict[str, float]
    solution: dict[str, float]


@dataclasses.dataclass(frozen=True)
class Score:
    """What a shortcut scores on some rows.

    Attributes:
        figures: its figure by metric; a metric of which the rows say nothing is left out.
        near: whether it comes near solving.
    """

    figures: dict[str, Figure]
    near: bool


@dataclasses.dataclass(frozen=True)
class ShortcutScore:
    """What a shortcut scores.

    Attributes:
        name: its name.
        text: what it looks at.
        splits: its score on each split; one without rows that it applies to is left out.
        levels: the same for each level of each split.
    """

    name: str
    text: str
    splits: dict[str, Score]
    levels: dict[str, dict[str, Score]]


@dataclasses.dataclass(frozen=True)
class SplitRows:
    """The rows of a split.

    Attributes:
        rows: how many there are.
        scored: on how many of them shortcuts are scored.
        reference: what there is to compare with.
        levels: the same for each level.
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
        level: the level of each, int64 `(rows,)`.
        names: the levels that there are, as people read them, by number.
        reference: what there is to compare with.
        references: the same for each level.
    """

    sample: Sample
    level: NDArray[np.int64]
    names: dict[int, str]
    reference: Reference
    references: dict[int, Reference]

    def rows(self) -> SplitRows:
        """What an audit keeps of it."""
        levels = {self.names[one]: found for one, found in self.references.items()}
        return SplitRows(self.sample.of, len(self.sample), self.reference, levels)


def prepare(subject: Subject, sample: Sample) -> ScoredSplit:
    """Find out the levels of rows, and what there is to compare with."""
    task, levels = subject.task, subject.levels
    level = levels.of(sample.columns)
    names = {one: levels.label(one) for one in np.unique(level).tolist()}
    classes = label_names(task.columns.get("label", {}))
    if classes is not None:
        same = Reference({task.metrics[0]: 1 / len(classes)}, {task.metrics[0]: 1.0})
        return ScoredSplit(sample, level, names, same, dict.fromkeys(names, same))
    count = min(len(sample), _REFERENCE_ROWS)
    chosen = np.arange(count) * len(sample) // count
    few, of_few = sample.take(chosen), level[chosen]
    answers = [task.solve(one) for one in few.columns[task.inputs[0]].to_pylist()]
    own = measure(task, few.columns, answers)
    others = measure(task, few.columns, [answers[one] for one in _next_of_level(of_few)])

    def reference(rows: NDArray[np.bool_]) -> Reference:
        return Reference(_means(task, others[rows]), _means(task, own[rows]))

    return ScoredSplit(
        sample,
        level,
        names,
        reference(np.ones(count, np.bool_)),
        {one: reference(of_few == one) for one in names},
    )


def score_shortcut(
    subject: Subject, shortcut: Shortcut, fit: Sample | None, splits: Mapping[str, ScoredSplit]
) -> ShortcutScore:
    """Fit a shortcut and score it on every split.

    Args:
        subject: what is audited.
        shortcut: the shortcut.
        fit: the rows to fit it on; None where there are none.
        splits: the rows to score it on.
    """
    task, hard = subject.task, subject.levels.hard
    predict = shortcut.fit(fit.columns if fit is not None else {})
    scores: dict[str, Score] = {}
    of_levels: dict[str, dict[str, Score]] = {}
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
        of_levels[name] = {
            text: _score(task, values[level == one], split.references[one], hard)
            for one, text in split.names.items()
            if (level == one).any()
        }
    return ShortcutScore(shortcut.name, shortcut.text, scores, of_levels)


def _score(task: Task, values: NDArray[np.float64], reference: Reference, hard: bool) -> Score:
    found = _figures(task, values)
    near = hard and any(
        is_near(one, reference.chance[metric], reference.solution[metric])
        for metric, one in found.items()
        if metric in reference.chance and metric in reference.solution
    )
    return Score(found, near)


def _figures(task: Task, values: NDArray[np.float64]) -> dict[str, Figure]:
    return {
        metric: figure(column)
        for metric, column in zip(task.metrics, values.T, strict=True)
        if not np.isnan(column).all()
    }


def _means(task: Task, values: NDArray[np.float64]) -> dict[str, float]:
    return {metric: one.mean for metric, one in _figures(task, values).items()}


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
    """For each row another one of its level: the next, or for the last the first."""
    order = np.argsort(level, kind="stable")
    first = np.flatnonzero(np.diff(level[order], prepend=level[order[0]] - 1))
    following = np.roll(order, -1)
    following[np.append(first[1:], len(order)) - 1] = order[first]
    other = np.empty_like(order)
    other[order] = following
    return other
