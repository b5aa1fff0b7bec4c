"""Score predictions on rows, by split and by the columns that say how hard a row is."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from synthbench.arguments import checked
from synthbench.checks import check_name
from synthbench.errors import DatasetError, UsageError
from synthbench.evaluation.chat_replies import RunningText
from synthbench.evaluation.prediction_columns import TEXT, VALUE, Predictions
from synthbench.evaluation.predictions import read_predictions
from synthbench.evaluation.replies import Replies
from synthbench.evaluation.report import Report
from synthbench.evaluation.row_ends import TooLong
from synthbench.evaluation.rows import (
    NO_ROW,
    RowSource,
    cannot_be_judged,
    data_first,
    no_column,
    open_rows,
)
from synthbench.evaluation.scores import PLACE, score_of, scores_by, scores_of_places
from synthbench.evaluation.unreadable import Unreadable
from synthbench.tasks.base import Task
from synthbench.tasks.numeric import plain_value
from synthbench.text.lines import short
from synthbench.text.progress import Bar, progress_bar

#: No bar is shown for fewer rows: they take no time, and a caller's loop may have its own bar.
_FEW_ROWS = 10_000
_MISSING = object()


@data_first("evaluate(data, predictions, task)")
@checked
def evaluate(
    data: Any,
    predictions: Any,
    task: str | Task | None = None,
    *,
    split: str | None = None,
    read: str = "value",
    answered_only: bool = False,
    progress: bool = True,
) -> Report:
    """Score predictions on rows.

    Missing and unreadable predictions score as wrong, the first prediction of a repeated id
    counts, and unknown ids are ignored. The report names the ids of each kind. It gives the
    score over all rows, and over the rows whose prediction could be read.

    Args:
        data: a dataset directory, or rows as a `datasets.Dataset` or a sequence of dicts, or a
            mapping of split names to such rows, such as a `datasets.DatasetDict`.
        predictions: `{id: prediction}`, a sequence or an array in the order of one split's rows,
            a pandas Series, a table with `id` and `prediction`, an array (rows, classes) of
            scores, or the path of a file. The guide *Evaluate predictions* lists every form.
        task: the task of the rows, or its name for the task with its defaults. A directory names
            its task. In a directory with several variants, the task's variant counts
            (default: the first).
        split: the split to evaluate. For rows without splits, its name in the report. Default: all
            splits in which some id has a prediction. Predictions in order need a single split.
        read: `value`, if a prediction is the answer and nothing else, or `text`, if the answer
            is somewhere in the predicted text, see `synthbench.answers.find_answer`. Logs of
            Inspect, outputs of batches and what `llm.ask` keeps are always read as text.
        answered_only: leave out rows without a prediction, which otherwise score as wrong. A
            prediction that cannot be read is still wrong.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The report. Breakdowns by a column that the rows lack are left out.

    Raises:
        UsageError: an unknown task or split, no task, no source images, predictions of
            an ambiguous form, or in order but more or fewer than the rows, or rows of another task.
        DatasetError: a dataset or a file that is missing or corrupt, or predictions that never
            has an id of the rows.

    Example:
        >>> import synthbench
        >>> rows = [{"id": "a", "label": 3}, {"id": "b", "label": 4}, {"id": "c", "label": 5}]
        >>> predictions = {"a": 3, "b": "4", "c": "no idea"}
        >>> report = synthbench.evaluate(rows, predictions, "parity")
        >>> round(report.accuracy, 2), report.unparsed
        (0.67, ('c',))
    """
    check_name("way to read predictions", read, (VALUE, TEXT))
    source = open_rows(data, task, split)
    predictions = read_predictions(predictions, split, source.task)
    names = [split] if split is not None else _predicted_splits(source, predictions)
    judgement = _Judgement(source, predictions, read, answered_only)
    rows = sum(source.sizes.get(name, 0) for name in names)
    shown = progress and rows > _FEW_ROWS
    with progress_bar(shown, f"evaluate {source.task.name}", "rows", rows) as bar:
        for name in names:
            judgement.add(name, bar)
    left_out = [name for name in source.sizes if split is None and name not in names]
    if judgement.no_id_is_known:
        raise _no_known_id(source, predictions, split)
    return judgement.report(left_out)


def _predicted_splits(source: RowSource, predictions: Predictions) -> list[str]:
    """The splits in which some row has a prediction."""
    names = list(source.sizes)
    if len(names) == 1:
        return names
    if predictions.by_id is None:
        raise UsageError(
            "Predictions in order belong to a single split. Name it, or give predictions by id. "
            f"Splits: {', '.join(names)}."
        )
    predicted = []
    for name in names:
        _check_has_ids(source, name)
        batches = source.batches(name, ["id"])
        if any(not predictions.by_id.keys().isdisjoint(_ids(name, batch)) for batch in batches):
            predicted.append(name)
    if not predicted:
        raise _no_known_id(source, predictions)
    return predicted


def _no_known_id(
    source: RowSource, predictions: Predictions, split: str | None = None
) -> DatasetError:
    """The error for predictions whose ids all belong to other rows."""
    ids = list(predictions.by_id or ())
    rows = f"{source.name}, variant {source.task.variant!r}"
    rows += "" if split is None else f", split {split!r}"
    some = f"; their ids begin {', '.join(map(short, ids[:3]))}" if ids else ""
    return DatasetError(f"None of the {len(ids):,} predictions has an id of {rows}{some}.")


def _check_has_ids(source: RowSource, split: str) -> None:
    if "id" not in source.columns(split):
        raise UsageError(f"Predictions are by id, but split {split!r} lacks the column 'id'.")


def _ids(split: str, batch: Mapping[str, Sequence[Any]]) -> Sequence[str]:
    """The ids of some rows, which must be text."""
    for row_id in batch["id"]:
        if not isinstance(row_id, str):
            raise UsageError(f"Split {split!r} has the id {short(row_id)}: expected text.")
    return batch["id"]


class _Judgement:
    """The scores and problems of predictions, collected split by split."""

    def __init__(
        self, source: RowSource, predictions: Predictions, read: str, answered_only: bool
    ) -> None:
        self._source, self._given, self._task = source, predictions, source.task
        self._read_text = read == TEXT
        self._answered_only = answered_only
        self._metrics: list[list[float]] = []  # of each row, in the task's order
        self._rows_of: dict[str, slice] = {}  # the rows of each split
        columns = dict.fromkeys(
            name for breakdown in self._task.group_by for name in breakdown.columns
        )
        self._groups: dict[str, list[Any]] = {name: [] for name in columns}
        self._missing: list[str] = []
        self._unreadable = Unreadable(source.task, self._read_text)
        self._too_long = TooLong()
        self._replies = Replies()
        self._answered: list[bool] = []
        self._asked: list[bool] = []
        self._readings: collections.Counter[str] = collections.Counter()
        self._unknown = set(predictions.by_id or ())
        self._right: dict[int, list[bool]] = {}  # by place of a label that is a sequence
        self._asked_at: collections.Counter[int] = collections.Counter()

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
        scored_columns = self._scored_columns(columns)
        groups = [name for name in self._groups if name in columns]
        wanted = [name for name in columns if name in {"id", *scored_columns, *groups}]
        start, number = len(self._metrics), 0
        for batch in self._source.batches(split, wanted):
            cells = zip(*(batch[name] for name in scored_columns), strict=True)
            rows = [dict(zip(scored_columns, row, strict=True)) for row in cells]
            numbers = range(number, number := number + len(rows))
            ids = (
                _ids(split, batch)
                if "id" in wanted
                else [f"row {row_number}" for row_number in numbers]
            )
            if in_order is not None:
                predictions = in_order[numbers.start : numbers.stop]
            else:
                predictions = [by_id.get(row_id, _MISSING) for row_id in ids]
                self._unknown.difference_update(ids)
            for place, judged in enumerate(zip(rows, ids, predictions, strict=True)):
                predicted = judged[-1] is not _MISSING
                if predicted or not self._answered_only:
                    self._asked.append(predicted)
                    self._metrics.append(self._judge(split, *judged))
                    for name in groups:
                        self._groups[name].append(batch[name][place])
            self._missing += [row_id for row_id in ids if in_order is None and row_id not in by_id]
            bar.update(len(rows))
        self._rows_of[split] = slice(start, len(self._metrics))

    @property
    def no_id_is_known(self) -> bool:
        """True if predictions are by id, and all of them are for other rows."""
        return self._given.by_id is not None and self._unknown == set(self._given.by_id)

    def _scored_columns(self, columns: Sequence[str]) -> list[str]:
        """The columns that answers are judged by. If the task does not name them, all."""
        task = self._task
        if missing := [name for name in task.scored_columns if name not in columns]:
            raise no_column(task, missing[0])
        scored = [name for name in task.scored_columns or task.columns if name in columns]
        if not scored:
            raise UsageError(
                f"Rows of {task.name} have the columns {', '.join(task.columns)}; "
                f"these have {', '.join(map(str, columns))}."
            )
        return scored

    def _judge(self, split: str, row: Mapping[str, Any], name: str, prediction: Any) -> list[float]:
        """The metrics of one row, in the task's order."""
        try:
            answer = None
            if prediction is not _MISSING:
                answer = self._read(row, name, prediction)
            self._answered.append(answer is not None)
            measured = self._task.measure(row, answer)
            if not self._task.is_checked:
                self._count_places(row, answer, prediction is not _MISSING)
            return [measured[metric] for metric in self._task.metrics]
        except KeyError as error:
            raise no_column(self._task, error.args[0]) from error
        except NO_ROW as error:
            text = cannot_be_judged(f"Row {short(name)} of {split!r}", error)
            raise DatasetError(text) from error

    def _count_places(self, row: Mapping[str, Any], answer: Any, predicted: bool) -> None:
        """Note which places of a sequence are right."""
        for place, is_right in self._task.right_places(row, answer).items():
            self._right.setdefault(place, []).append(is_right)
            self._asked_at[place] += predicted

    def _read(self, row: Mapping[str, Any], name: str, prediction: Any) -> Any:
        """The answer that a prediction gives; None if it cannot be read."""
        read_as, content = self._given.read_as, prediction
        is_reply = self._read_text or isinstance(prediction, RunningText)
        if is_reply and isinstance(content := plain_value(prediction), str):
            read_as, content = TEXT, self._replies.read(self._task, row, name, content)
        answer = self._task.read_answer(row, content)
        if answer is None:
            self._unreadable.add(row, name, prediction)
        else:
            self._readings[read_as] += 1
            self._too_long.add(self._task, row, name, answer)
        return answer

    def report(self, left_out: Sequence[str]) -> Report:
        """The report on everything that was judged. Raises as `Unreadable.check`."""
        task, values = self._task, np.array(self._metrics, np.float64)
        answered, predicted = np.array(self._answered, np.bool_), np.array(self._asked, np.bool_)
        self._unreadable.check(int(answered.sum()), self._given.shape)
        count = int(predicted.sum())
        warnings = (self._unreadable.warning(count), self._too_long.warning(count))
        return Report(
            **vars(score_of(task, values, predicted)),
            task=task.name,
            variant=task.variant,
            splits={
                name: score_of(task, values[place], predicted[place])
                for name, place in self._rows_of.items()
            },
            by={
                breakdown.name: scores_by(task, breakdown, columns, values, predicted)
                for breakdown in task.group_by
                if {len(values)}
                == {*map(len, columns := [self._groups[n] for n in breakdown.columns])}
            }
            | ({PLACE: scores_of_places(task, self._right, self._asked_at)} if self._right else {}),
            missing=tuple(self._missing),
            unknown=tuple(row_id for row_id in self._given.by_id or () if row_id in self._unknown),
            repeated=self._given.repeated,
            unparsed=tuple(self._unreadable.names),
            too_long=tuple(self._too_long.names),
            replies=self._replies.count,
            truncated=tuple(self._replies.truncated),
            thoughts_unclosed=tuple(self._replies.thoughts_unclosed),
            baselines=task.baseline(),
            without_predictions=tuple(left_out),
            answered_only=self._answered_only,
            parsed=score_of(task, values[answered], answered[answered]),
            parsed_as=dict(self._readings),
            matched_by="id" if self._given.in_order is None else "order",
            warning=next(filter(None, warnings), None),
        )
