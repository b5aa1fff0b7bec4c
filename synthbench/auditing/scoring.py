"""Score shortcuts on every split and level, and decide which of them come near solving.

A shortcut is better than chance if its whole 95% interval is. It comes near solving if its whole
interval lies at least three quarters of the way from the score of chance to the score of the
reference solver. So the end nearer to chance decides.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.variant import AuditedVariant, Sample
from synthbench.evaluation.scores import Z, wilson
from synthbench.tasks.audit_spec import Columns, Shortcut, Values
from synthbench.tasks.base import Task

#: The smallest fraction of the way from chance to the reference solver that is near solving.
NEAR = 0.75
#: The maximum number of rows per split that reference answers are computed for.
_REFERENCE_ROWS = 1_000
#: The signs of a score that is surely better than chance, and of a score that comes near solving.
BETTER, SOLVES = "+", "*"
#: The text of a cell without a value.
NOTHING = "-"


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean over rows with its 95% interval.

    The interval is Wilson's if all values are 0 or 1, otherwise the normal approximation. For a
    single value that is neither 0 nor 1, both ends are the mean.
    """

    rows: int
    mean: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Reference:
    """The scores that a shortcut is compared with, by metric."""

    #: the score of a uniform guess if a class is the only right answer. Otherwise the score of the
    #: reference answer to another row: of the same level or else of the split
    chance: dict[str, float]
    solution: dict[str, float]  # the score of the reference solver


@dataclasses.dataclass(frozen=True)
class ScoreOnRows:
    """The score of a shortcut on a set of rows."""

    #: the estimate of each metric that is defined on at least one row
    figures: dict[str, Estimate]
    near: bool  # whether the shortcut comes near solving the rows


@dataclasses.dataclass(frozen=True)
class ShortcutScore:
    """The scores of a shortcut."""

    name: str
    text: str  # what it looks at, in a sentence
    splits: dict[str, ScoreOnRows]  # its score on each split with rows that it applies to
    levels: dict[str, dict[str, ScoreOnRows]]  # for each split, its score on each level


@dataclasses.dataclass(frozen=True)
class SplitRows:
    """Number of scored rows of a split, and the scores to compare with."""

    rows: int  # all rows of the split
    scored: int  # the rows that shortcuts are scored on
    reference: Reference  # the scores to compare with on the split
    levels: dict[str, Reference]  # the scores to compare with on each level


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of values, float64 `(rows,)`, ignoring NaN, with its interval. Not all are NaN."""
    known = values[~np.isnan(values)]
    mean = float(known.sum() / len(known))
    if np.isin(known, (0.0, 1.0)).all():
        return Estimate(len(known), mean, *wilson(float(known.sum()), len(known)))
    half = Z * float(known.std(ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else 0.0
    return Estimate(len(known), mean, mean - half, mean + half)


def progress_from_chance(estimate: Estimate, chance: float, solution: float) -> float:
    """The fraction of the way from chance to the solver that is surely covered, at most 1.

    The end of the interval nearer to chance counts. The fraction is negative if the estimate is
    not surely better than chance, and NaN if chance scores as well as the solver. If the metric is
    an error, `solution` is below `chance`.
    """
    if solution == chance:
        return math.nan
    nearer = estimate.low if solution > chance else estimate.high
    return min((nearer - chance) / (solution - chance), 1.0)


def is_better(estimate: Estimate, chance: float, solution: float) -> bool:
    """True if an estimate is surely better than chance, as the module defines it."""
    return progress_from_chance(estimate, chance, solution) > 0


def is_near(estimate: Estimate, chance: float, solution: float) -> bool:
    """True if an estimate comes near solving, as the module defines it."""
    return progress_from_chance(estimate, chance, solution) >= NEAR


def compare_with(subject: AuditedVariant, sample: Sample) -> SplitRows:
    """Score chance and the reference solver on the sample of a split, and on each of its levels."""
    task, by_level = subject.task, subject.rows_by_level(sample.columns)
    classes = task.labels
    if classes is not None and not task.is_checked:
        whole = Reference({task.metrics[0]: 1 / len(classes)}, {task.metrics[0]: 1.0})
        return SplitRows(sample.split_rows, len(sample), whole, dict.fromkeys(by_level, whole))
    count = min(len(sample), _REFERENCE_ROWS)
    picks = np.arange(count) * len(sample) // count
    few, few_by_level = sample.take(picks).columns, [rows[picks] for rows in by_level.values()]
    answers = [task.solve(question) for question in few[task.inputs[0]].to_pylist()]
    own = measure(task, few, answers)
    others = np.full_like(own, math.nan)
    if count > 1:
        others = measure(task, few, [answers[row] for row in next_of_level(few_by_level)])

    def reference(rows: NDArray[np.bool_]) -> Reference:
        return Reference(_means(task, others[rows]), _means(task, own[rows]))

    levels = dict(zip(by_level, map(reference, few_by_level), strict=True))
    whole = reference(np.ones(count, np.bool_))
    return SplitRows(sample.split_rows, len(sample), whole, levels)


def score_shortcut(
    subject: AuditedVariant,
    shortcut: Shortcut,
    fit: Sample | None,
    samples: Mapping[str, Sample],
    splits: Mapping[str, SplitRows],
) -> ShortcutScore:
    """Fit a shortcut to rows of train, if there are any, and score it on the sample of each split.

    Args:
        subject: the variant.
        shortcut: the shortcut.
        fit: the rows to fit it to.
        samples: the rows to score it on, by split.
        splits: the scores to compare with, by split.
    """
    task, each = subject.task, subject.levels.each_must_be_hard
    predict = shortcut.fit(fit.columns if fit is not None else {})
    scores: dict[str, ScoreOnRows] = {}
    level_scores: dict[str, dict[str, ScoreOnRows]] = {}
    for name, sample in samples.items():
        applies = np.ones(len(sample), np.bool_)
        if shortcut.applies is not None:
            applies = shortcut.applies(sample.columns)
        if not applies.any():
            continue
        batches = sample.take(np.flatnonzero(applies)).batches()
        values = np.concatenate([measure(task, rows, predict(rows)) for rows in batches])
        scores[name] = _score(task, values, splits[name].reference, True)
        level_scores[name] = {
            level: _score(task, values[rows[applies]], splits[name].levels[level], each)
            for level, rows in subject.rows_by_level(sample.columns).items()
            if rows[applies].any()
        }
    return ShortcutScore(shortcut.name, shortcut.text, scores, level_scores)


def _score(
    task: Task, values: NDArray[np.float64], reference: Reference, may_be_near: bool
) -> ScoreOnRows:
    estimates = _estimates(task, values)
    near = may_be_near and any(
        is_near(value, reference.chance[metric], reference.solution[metric])
        for metric, value in estimates.items()
        if metric in reference.chance and metric in reference.solution
    )
    return ScoreOnRows(estimates, near)


def _estimates(task: Task, values: NDArray[np.float64]) -> dict[str, Estimate]:
    return {
        metric: estimate(column)
        for metric, column in zip(task.metrics, values.T, strict=True)
        if not np.isnan(column).all()
    }


def _means(task: Task, values: NDArray[np.float64]) -> dict[str, float]:
    return {metric: estimate.mean for metric, estimate in _estimates(task, values).items()}


def measure(task: Task, columns: Columns, predictions: Values) -> NDArray[np.float64]:
    """The metrics of each row's prediction, float64 `(rows, metrics)`."""
    names = task.scored_columns or task.plain_columns
    rows = zip(*(columns[name].to_pylist() for name in names), strict=True)
    values = np.empty((len(predictions), len(task.metrics)))
    for number, (cells, prediction) in enumerate(zip(rows, predictions, strict=True)):
        row = dict(zip(names, cells, strict=True))
        measured = task.measure(row, task.read_answer(row, prediction))
        values[number] = [measured[metric] for metric in task.metrics]
    return values


def next_of_level(levels: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """For each row, the next row of its level. After the last row of a level, the first.

    The one row of a level gets the next row of the split.
    """
    following = np.roll(np.arange(len(levels[0])), -1)
    for level in levels:
        rows = np.flatnonzero(level)
        if len(rows) > 1:
            following[rows] = np.roll(rows, -1)
    return following


# Scores as text.


def decimals(value: float | None, places: int = 3) -> str:
    """A number as text with `places` decimal places or digits; None is an empty cell."""
    if value is None:
        return NOTHING
    fits = value == 0 or 10**-places <= abs(value) < 1e3
    return f"{value:.{places}f}" if fits else f"{value:.{places}g}"


def interval(estimate: Estimate) -> str:
    """The ends of an interval as text."""
    return f"{decimals(estimate.low)} to {decimals(estimate.high)}"


def score_text(
    score: ScoreOnRows | None, metric: str, reference: Reference, with_interval: bool = False
) -> str:
    """The score of a shortcut with its sign, `-` without a sign."""
    if score is None or metric not in score.figures:
        return NOTHING
    estimate = score.figures[metric]
    text = decimals(estimate.mean) + (f" ({interval(estimate)})" if with_interval else "")
    return f"{text} {sign(score, metric, reference)}".rstrip()


def sign(score: ScoreOnRows, metric: str, reference: Reference) -> str:
    """The sign of a score that comes near solving or is better than chance. Otherwise empty."""
    if metric not in reference.chance or metric not in reference.solution:
        return ""
    compared = score.figures[metric], reference.chance[metric], reference.solution[metric]
    if score.near and is_near(*compared):
        return SOLVES
    return BETTER if is_better(*compared) else ""
