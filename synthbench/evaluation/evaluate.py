"""Score predictions on rows, by split and by the columns that say how hard a row is."""

from __future__ import annotations

import collections
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import DatasetError, UsageError, unknown_name
from synthbench.evaluation.final_answer import find_answer
from synthbench.evaluation.predictions import VALUE, Predictions, read_predictions
from synthbench.evaluation.report import Report
from synthbench.evaluation.rows import RowSource, no_column, open_rows
from synthbench.evaluation.scores import score_of, scores_by
from synthbench.tasks.base import Task
from synthbench.tasks.numeric import plain_value
from synthbench.text.lines import one_line, short
from synthbench.text.progress import Bar, progress_bar

#: Predictions may be read as answers (`VALUE`), or as text that contains an answer.
TEXT = "text"
#: No bar is shown for fewer rows: they take no time, and a caller's loop may have its own bar.
_FEW_ROWS = 10_000
_MISSING = object()


def evaluate(
    dataset: Any,
    predictions: Any,
    task: str | Task | None = None,
    *,
    split: str | None = None,
    read: str = "value",
    progress: bool = True,
) -> Report:
    """Score predictions on rows.

    Missing and unreadable predictions score as wrong, the first prediction of a repeated id
    counts, and unknown ids are ignored; the report names the ids of each kind. It gives the
    score over all rows, and over the rows whose prediction could be read.

    Args:
        dataset: a dataset directory; rows as a `datasets.Dataset` or a sequence of dicts; or a
            mapping of split names to such rows, such as a `datasets.DatasetDict`.
        predictions: `{id: prediction}`, a sequence or an array in the order of one split's rows,
            a pandas Series, a table with `id` and `prediction`, an array (rows, classes) of
            scores, or the path of a file; see `predictions.read_predictions` for every form.
        task: the task of the rows, or its name for the task with its defaults. A directory names
            its task; of a directory with several variants, the task says which one counts
            (default: the first).
        split: the split to evaluate; for rows without splits, its name in the report. Default: all
            splits in which some id has a prediction. Predictions in order need a single split.
        read: `value`, if a prediction is the answer and nothing else; or `text`, if the answer
            is somewhere in the predicted text, see `final_answer.find_answer`.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The report. Breakdowns by a column that the rows lack are left out.

    Raises:
        UsageError: an unknown task or split; no task, or no source images; predictions of
            an ambiguous form, in order but more or fewer than the rows, or, if no split is named,
            none with an id of the rows.
        DatasetError: a dataset or a file that is missing or corrupt.

    Example:
        >>> import synthbench
        >>> rows = [{"id": "a", "label": 3}, {"id": "b", "label": 4}, {"id": "c", "label": 5}]
        >>> predictions = {"a": 3, "b": "4", "c": "no idea"}
        >>> report = synthbench.evaluate(rows, predictions, "parity")
        >>> round(report.accuracy, 2), report.unreadable
        (0.67, ('c',))
    """
    if read not in (VALUE, TEXT):
        raise unknown_name("way to read predictions", read, (VALUE, TEXT))
    source = open_rows(dataset, task, split)
    classes = source.task.labels
    given = read_predictions(predictions, split, None if classes is None else len(classes))
    names = [split] if split is not None else _predicted_splits(source, given)
    judgement = _Judgement(source, given, read)
    rows = sum(source.sizes.get(name, 0) for name in names)
    shown = progress and rows > _FEW_ROWS
    with progress_bar(shown, f"evaluate {source.task.name}", "rows", rows) as bar:
        for name in names:
            judgement.add(name, bar)
    left_out = [name for name in source.sizes if split is None and name not in names]
    return judgement.report(left_out)


def _predicted_splits(source: RowSource, given: Predictions) -> list[str]:
    """The splits in which some row has a prediction."""
    names = list(source.sizes)
    if len(names) == 1:
        return names
    if given.by_id is None:
        raise UsageError(
            "Predictions in order belong to a single split; name it, or give predictions by id. "
            f"Splits: {', '.join(names)}."
        )
    predicted = []
    for name in names:
        _check_has_ids(source, name)
        batches = source.batches(name, ["id"])
        if any(not given.by_id.keys().isdisjoint(_ids(name, batch)) for batch in batches):
            predicted.append(name)
    if not predicted:
        raise UsageError(
            f"None of the {len(given.by_id):,} predictions has an id of {source.name}, variant "
            f"{source.task.variant!r}; name a split to have its rows scored as wrong."
        )
    return predicted


def _check_has_ids(source: RowSource, split: str) -> None:
    if "id" not in source.columns(split):
        raise UsageError(f"Predictions are by id, but split {split!r} has no column 'id'.")


def _ids(split: str, batch: Mapping[str, Sequence[Any]]) -> Sequence[str]:
    """The ids of some rows, which must be text."""
    for one in batch["id"]:
        if not isinstance(one, str):
            raise UsageError(f"Split {split!r} has the id {short(one)}: expected text.")
    return batch["id"]


class _Judgement:
    """The scores and problems of predictions, collected split by split."""

    def __init__(self, source: RowSource, given: Predictions, read: str) -> None:
        self._source, self._given, self._task = source, given, source.task
        self._read_text = read == TEXT
        self._metrics: dict[str, NDArray[np.float64]] = {}  # by split, (rows, metrics)
        self._groups: dict[str, list[Any]] = {one.column: [] for one in self._task.breakdowns}
        self._missing: list[str] = []
        self._unreadable = Unreadable(source.task, self._read_text)
        self._answered: list[bool] = []
        self._readings: collections.Counter[str] = collections.Counter()
        self._unknown = set(given.by_id or ())

    def add(self, split: str, bar: Bar) -> None:
        """Judge the predictions of one split."""
        bar.update(0, now=split)
        columns, size = self._source.columns(split), self._source.sizes[split]
        by_id, in_order = self._given.by_id or {}, self._given.in_order
        if in_order is None:
            _check_has_ids(self._source, split)
        elif len(in_order) != size:
            raise UsageError(
                f"{len(in_order):,} predictions in order for the {size:,} rows of split "
                f"{split!r}: expected one prediction for each row."
            )
        judged_by = self._judged_by(columns)
        groups = [name for name in self._groups if name in columns]
        wanted = [name for name in columns if name in {"id", *judged_by, *groups}]
        metrics: list[list[float]] = []
        for batch in self._source.batches(split, wanted):
            cells = zip(*(batch[name] for name in judged_by), strict=True)
            rows = [dict(zip(judged_by, row, strict=True)) for row in cells]
            place = slice(len(metrics), len(metrics) + len(rows))
            if "id" in wanted:
                ids = _ids(split, batch)
            else:
                ids = [f"row {number}" for number in range(place.start, place.stop)]
            if in_order is not None:
                predictions = in_order[place]
            else:
                predictions = [by_id.get(one, _MISSING) for one in ids]
                self._unknown.difference_update(ids)
            for row, name, prediction in zip(rows, ids, predictions, strict=True):
                metrics.append(self._judge(split, row, name, prediction))
            for name in groups:
                self._groups[name].extend(batch[name])
            bar.update(len(rows))
        self._metrics[split] = np.array(metrics, np.float64)

    def _judged_by(self, columns: Sequence[str]) -> list[str]:
        """The columns that answers are judged by; if the task does not name them, all."""
        task = self._task
        if missing := [name for name in task.judged_by if name not in columns]:
            raise no_column(task, missing[0])
        found = [name for name in task.judged_by or task.columns if name in columns]
        if not found:
            raise UsageError(
                f"Rows of {task.name} have the columns {', '.join(task.columns)}; "
                f"these have {', '.join(columns)}."
            )
        return found

    def _judge(self, split: str, row: Mapping[str, Any], name: str, prediction: Any) -> list[float]:
        """The metrics of one row, in the task's order."""
        try:
            answer = None
            if prediction is _MISSING:
                self._missing.append(name)
            else:
                answer = self._read(row, name, prediction)
            self._answered.append(answer is not None)
            measured = self._task.measure(row, answer)
            return [measured[metric] for metric in self._task.metrics]
        except KeyError as error:
            raise no_column(self._task, error.args[0]) from error
        except (ValueError, TypeError, IndexError) as error:  # the row is not one of the task's
            text = f"Row {short(name)} of {split!r} cannot be judged"
            raise DatasetError(one_line(f"{text}: {type(error).__name__}: {error}")) from error

    def _read(self, row: Mapping[str, Any], name: str, prediction: Any) -> Any:
        """The answer that a prediction gives; None if it cannot be read."""
        read_as, found = self._given.read_as, prediction
        if self._read_text and isinstance(found := plain_value(prediction), str):
            read_as, found = TEXT, find_answer(self._task, found)
        answer = self._task.read_answer(row, found)
        if answer is None:
            self._unreadable.add(row, name, prediction)
        else:
            self._readings[read_as] += 1
        return answer

    def report(self, left_out: Sequence[str]) -> Report:
        """The report on everything that was judged; raises as `Unreadable.check`."""
        task, values = self._task, np.concatenate(list(self._metrics.values()))
        answered = np.array(self._answered, np.bool_)
        self._unreadable.check(int(answered.sum()), self._given.shape)
        return Report(
            **vars(score_of(task, values)),
            task=task.name,
            variant=task.variant,
            splits={name: score_of(task, own) for name, own in self._metrics.items()},
            by={
                one.column: scores_by(task, one, column, values)
                for one in task.breakdowns
                if len(column := self._groups[one.column]) == len(values)
            },
            missing=tuple(self._missing),
            unknown=tuple(one for one in self._given.by_id or () if one in self._unknown),
            repeated=self._given.repeated,
            unreadable=tuple(self._unreadable.names),
            baselines=task.baseline(),
            without_predictions=tuple(left_out),
            answered=score_of(task, values[answered]),
            readings=dict(self._readings),
            warning=self._unreadable.warning(len(values) - len(self._missing)),
        )


def may_be_answer(task: Task, prediction: Any) -> bool:
    """Whether a prediction has a type that answers to the task, right or wrong, can have.

    A bool, a dict, or a list where a class is expected must be a mistake in the caller's program.
    Text, None and NaN may come from any model.
    """
    prediction = plain_value(prediction)
    if prediction is None or isinstance(prediction, str | bytes):
        return True
    if isinstance(prediction, float) and math.isnan(prediction):
        return True
    return task.answer.may_be(prediction)


class Unreadable:
    """The predictions that could not be read.

    Attributes:
        names: their ids, in the order of the rows.
    """

    def __init__(self, task: Task, read_text: bool) -> None:
        self.names: list[str] = []
        self._task, self._read_text = task, read_text
        # Row, id and prediction: the first whose type an answer can have, and the first other.
        self._candidate: tuple[Mapping[str, Any], str, Any] | None = None
        self._misfit: tuple[Mapping[str, Any], str, Any] | None = None

    def add(self, row: Mapping[str, Any], name: str, prediction: Any) -> None:
        """Add a prediction with its row and id."""
        self.names.append(name)
        if plain_value(prediction) is None:
            return
        if may_be_answer(self._task, prediction):
            self._candidate = self._candidate or (row, name, prediction)
        else:
            self._misfit = self._misfit or (row, name, prediction)

    @property
    def _example(self) -> tuple[Mapping[str, Any], str, Any] | None:
        return self._candidate or self._misfit

    def check(self, answered: int, shape: tuple[int, ...] | None) -> None:
        """Refuse predictions that must be a mistake in the caller's program.

        Args:
            answered: how many predictions could be read.
            shape: the shape of the array that they were given as, if any.

        Raises:
            UsageError: none could be read, and either none has a type that answers can have, or
                they are an array of the wrong shape.
        """
        found = self._example
        if answered or found is None:
            return
        _, name, prediction = found
        got = f"{short(prediction)} of type {type(prediction).__name__} for id {short(name)}"
        if self._candidate is None:
            expected = self._task.answer.expected
            if self._task.labels is not None:
                expected += ". Scores are given as one floating array (rows, classes)"
            raise UsageError(f"No prediction is an answer: got {got}; expected {expected}.")
        if shape is not None and np.isfinite(np.asarray(prediction, np.float64)).all():
            text = f"Predictions: an array {shape}, but none of its rows is an answer"
            raise UsageError(f"{text}; expected {self._task.answer.expected}.")

    def warning(self, given: int) -> str | None:
        """A warning if most of the `given` predictions cannot be read, else None."""
        if len(self.names) <= given / 2:
            return None
        row, name, prediction = self._example or ({}, self.names[0], None)
        remedy = f"Expected {self._task.answer.expected}."
        if not self._read_text and isinstance(prediction, str):
            answer = find_answer(self._task, prediction)
            if answer is not None and self._task.read_answer(row, answer) is not None:
                remedy = "With --read text (read='text') answers are found in running text."
        return (
            f"{len(self.names):,} of {given:,} predictions cannot be read, such as "
            f"{short(prediction)} for id {short(name)}. {remedy}"
        )
