"""Scores: mean metrics of rows with 95% intervals, for all rows or by the values of a column."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.errors import UsageError
from synthbench.tasks.base import Breakdown, Task
from synthbench.tasks.block import ACROSS
from synthbench.text.tables import Heading, Table

#: The standard normal deviate of a two-sided 95% interval.
Z = 1.959963984540054
#: The breakdown of sequences by the place in the label, counted from 1.
PLACE = "place"
#: The metric of sequences that has a value at each place.
AT_PLACE = "position_accuracy"
#: An accuracy whose 0 is a uniform guess and whose 1 is all right.
SCALED = "scaled_accuracy"


@dataclasses.dataclass(frozen=True)
class Score:
    """The metrics of some rows.

    Attributes:
        rows: the number of rows that count.
        asked: how many of them have a prediction, readable or not.
        metrics: the mean of each metric over the rows where it is defined (not NaN); NaN if it is
            defined for no row. The last is `scaled_accuracy` if a guess has a chance level: the
            accuracy (of a sequence, of its places) scaled so that a uniform guess has 0, and all
            right is 1.
        intervals: the 95% Wilson interval of each metric that is 0 or 1 for every row.
    """

    rows: int
    asked: int
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    @property
    def accuracy(self) -> float:
        """The task's first metric. An AttributeError if that is not an accuracy."""
        name = next(iter(self.metrics))
        if name.endswith(("accuracy", "exact_match")):
            return self.metrics[name]
        raise AttributeError(f"no accuracy, as the task measures {', '.join(self.metrics)}")

    def to_dict(self) -> dict[str, Any]:
        """The score as JSON values. A mean that is not finite is None."""
        values: dict[str, Any] = {"rows": self.rows, "asked": self.asked}
        for name, mean in self.metrics.items():
            values[name] = mean if math.isfinite(mean) else None
            if name in self.intervals:
                values[f"{name}_interval"] = list(self.intervals[name])
        return values


def by_value(scores: Mapping[Any, Score]) -> dict[str, dict[str, Any]]:
    """The scores of a breakdown as JSON values."""
    return {str(value): score.to_dict() for value, score in scores.items()}


def score_table(
    whole: Score,
    groups: Mapping[str, Mapping[Any, Score]],
    counts: Sequence[str] = ("rows",),
    notes: Sequence[str] = (),
) -> Table:
    """Groups of scores with their intervals, each under a heading.

    Args:
        whole: the score that has all metrics, and an interval of each metric that ever has some.
        groups: the scores of each group, by value, under the name of the group.
        counts: the attributes of `Score` that are columns of numbers of rows.
        notes: sentences below the table.
    """
    head = [*counts]
    for name in whole.metrics:
        head += [name, "95% interval"] if name in whole.intervals else [name]

    def cells(score: Score) -> list[str]:
        shown = [f"{getattr(score, count):,}" for count in counts]
        for name, mean in score.metrics.items():
            shown.append(number(mean))
            if name in whole.intervals:
                shown.append(" to ".join(map(number, score.intervals.get(name, (math.nan,)))))
        return shown

    lines: list[Sequence[str]] = []
    for title, scores in groups.items():
        if lines:
            lines.append(Heading([title, *head]))
        lines += [[str(value), *cells(score)] for value, score in scores.items()]
    return Table([next(iter(groups)), *head], lines, right=range(1, 1 + len(head)), notes=notes)


def number(mean: float) -> str:
    """A mean for a table; `-` if it is not defined."""
    if math.isnan(mean):
        return "-"
    return f"{mean:.4f}" if mean == 0.0 or 1e-3 <= abs(mean) < 1e4 else f"{mean:.2e}"


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """The 95% score interval of a proportion, without continuity correction.

    Args:
        successes: how many trials succeeded, 0 to `trials`.
        trials: the number of trials, at least 1.

    Example:
        >>> from synthbench.evaluation.scores import wilson
        >>> low, high = wilson(9, 10)
        >>> round(low, 3), round(high, 3)
        (0.596, 0.982)

    Source: Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    share, spread = successes / trials, Z * Z / trials
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    # The bounds are exactly 0 and 1 here, but rounding errors would show.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return low, high


def score_of(task: Task, values: NDArray[np.float64], predicted: NDArray[np.bool_]) -> Score:
    """The score of some rows.

    Args:
        task: the task.
        values: the metrics of each row, float64 `(rows, metrics)`, in the task's order.
        predicted: whether a row has a prediction, bool. Only the number of those that have is used.
    """
    metrics, intervals = {}, {}
    for name, column in zip(task.metrics, values.T, strict=True):
        defined = column[~np.isnan(column)]
        total = float(defined.sum())
        metrics[name] = total / len(defined) if len(defined) else math.nan
        if len(defined) and name in task.binary_metrics:
            intervals[name] = wilson(total, len(defined))
    return Score(
        len(values), int(predicted.sum()), {**metrics, **_scaled(task, metrics)}, intervals
    )


def _scaled(task: Task, metrics: Mapping[str, float]) -> dict[str, float]:
    """The scaled accuracy of means, empty for a task without a chance level."""
    name, chance = AT_PLACE if AT_PLACE in metrics else "accuracy", task.chance
    if chance is None or name not in metrics:
        return {}
    return {SCALED: (metrics[name] - chance) / (1 - chance)}


def scores_by(
    task: Task,
    breakdown: Breakdown,
    columns: Sequence[Sequence[Any]],
    values: NDArray[np.float64],
    predicted: NDArray[np.bool_],
) -> dict[Any, Score]:
    """The score of the rows with each value of a column, or in each band of values, sorted.

    Args:
        task: the task.
        breakdown: which column, or which two, and how wide the column's bands are.
        columns: the values of each row, for each of the breakdown's columns.
        values: the metrics of each row, float64 `(rows, metrics)`.
        predicted: whether each row has a prediction, bool `(rows,)`.

    Raises:
        UsageError: as `rows_by`.
    """
    groups = rows_by(task, breakdown, columns)
    return {name: score_of(task, values[rows], predicted[rows]) for name, rows in groups.items()}


def rows_by(
    task: Task, breakdown: Breakdown, columns: Sequence[Sequence[Any]]
) -> dict[Any, list[int]]:
    """The numbers of the rows with each value, length of a list, or band of values.

    Arguments as in `scores_by`.

    Raises:
        UsageError: the column has values that cannot be ordered.
    """
    width = breakdown.width
    classes: Mapping[Any, str] = dict(enumerate(task.columns[breakdown.column].names or ()))

    def name(value: Any) -> Any:
        if breakdown.across:
            return ACROSS.join(map(str, value))
        if width and value is not None:
            return f"{value * width + 1}..{(value + 1) * width}"
        return classes.get(value, value)

    try:
        column: Sequence[Any] = [*zip(*columns, strict=True)] if breakdown.across else columns[0]
        if pa.types.is_list(task.columns[breakdown.column].arrow) and not breakdown.across:
            column = [value if value is None else len(value) for value in column]
        if width:
            column = [value if value is None else (value - 1) // width for value in column]
        rows: dict[Any, list[int]] = {}
        for row, value in enumerate(column):
            rows.setdefault(value, []).append(row)
        ordered = sorted(rows, key=lambda value: (value is None, value))
        return {name(value): rows[value] for value in ordered}
    except TypeError as error:  # values of several kinds
        raise UsageError(
            f"Rows cannot be grouped by their column {breakdown.name!r}: {error}."
        ) from error


def scores_of_places(
    task: Task, right: Mapping[int, Sequence[bool]], predicted: Mapping[int, int]
) -> dict[int, Score]:
    """The share of rows that are right at each place of a sequence, with its interval.

    Args:
        task: a task whose label is a sequence.
        right: for each asked place, whether each row that has it is right there.
        predicted: for each of these places, how many of the rows have a prediction.

    Returns:
        Scores by place, in order. Metrics of whole rows are NaN.
    """
    scores = {}
    for place, flags in sorted(right.items()):
        share = {**dict.fromkeys(task.metrics, math.nan), AT_PLACE: sum(flags) / len(flags)}
        share |= _scaled(task, share)
        interval = {AT_PLACE: wilson(sum(flags), len(flags))}
        scores[place] = Score(len(flags), predicted[place], share, interval)
    return scores
