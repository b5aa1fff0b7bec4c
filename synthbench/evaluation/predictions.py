"""Read predictions in the forms that people have them in: by id, or in the order of rows.

Any other form is refused: a prediction that is misread would count as a wrong answer.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.errors import UsageError
from synthbench.evaluation.logs import is_inspect_log, read_inspect_log, read_logs
from synthbench.evaluation.prediction_arrays import from_array
from synthbench.evaluation.prediction_columns import (
    EMPTY,
    Entry,
    Predictions,
    choose_columns,
    collect,
    names_predictions,
)
from synthbench.evaluation.prediction_files import PredictionSource, PredictionTable, open_file
from synthbench.evaluation.rows import ID, PREDICTION, RIGHT_ANSWERS
from synthbench.tasks.base import Task
from synthbench.tasks.numeric import to_array
from synthbench.text.lines import one_line, short

_ALLOWED = (
    "{id: prediction}, a sequence or an array in the order of the rows, a pandas Series or a frame "
    f"with one column, a table (pandas, Polars, Arrow, datasets, a list of dicts) with "
    f"{PREDICTION!r} and, unless it is in the order of the rows, {ID!r}, an array (rows, classes) "
    "of scores, or the path of a file"
)


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """The rows for which predictions are read, as in `read_predictions`.

    `origin` is the file that the predictions come from, None for the argument itself.
    """

    split: str | None
    task: Task | None
    origin: PredictionSource | None = None

    def origin_of(self, predictions: Any) -> PredictionSource:
        name = f"Predictions of type {type(predictions).__name__}"
        return self.origin or PredictionSource(name, kind=UsageError)


def read_predictions(
    predictions: Any, split: str | None = None, task: Task | None = None
) -> Predictions:
    """Read predictions.

    Args:
        predictions: predictions in any of these forms:

            - `{id: prediction}`
            - a sequence or an array in the order of rows, with the rows as its first axis
            - a pandas Series, or a frame with one column, whose index is ids, or 0 to n-1
            - a table with `prediction` (or `pred`, `model_output`, `response`, `completion`) and
              optionally `id` and `split`: a pandas, Polars or Arrow table, a `datasets.Dataset`, a
              list of dicts, a dict of columns. Without `id` its entries are in the order of rows
            - a floating array `(rows, classes)` of scores, of which the largest counts. A row with
              NaN is not a prediction
            - an integer array `(rows, classes)` with a single 1 in each row
            - the path of a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file with these
              columns
            - the path of a `.txt` file with a prediction in each line, or of a `.npy`, `.npz` or
              `.pt` file with an array
            - the path of a log of lm-evaluation-harness (`--log_samples`), of which the first
              filter counts, of a log of Inspect (`.eval`, or `.json`), of which the first epoch
              counts, or of a batch's output

            A prediction may be anything: the task decides whether it can be read as an answer.
        split: the split that is evaluated. A table's predictions for other splits are ignored.
        task: the task that is answered. It says how arrays are read. Without it they are values.

    Raises:
        UsageError: another form, ids that are not text, or another kind of file.
        DatasetError: a file that is missing, empty or malformed. The text says where.
    """
    return _read(predictions, _Wanted(split, task))


def _read(predictions: Any, wanted: _Wanted) -> Predictions:
    if isinstance(predictions, str | os.PathLike):
        return _from_file(predictions, wanted)
    if isinstance(predictions, Mapping):
        return _from_mapping(predictions, wanted)
    if _is_of(predictions, "pandas", "Series"):
        return _from_index(predictions, predictions, wanted)
    if _is_of(predictions, "polars", "Series"):
        return _read(predictions.to_list(), wanted)
    if isinstance(predictions, pa.Array | pa.ChunkedArray):
        return _read(predictions.to_pylist(), wanted)
    if _is_table(predictions):
        return _from_table(predictions, wanted)
    if hasattr(predictions, "__array__"):
        return _from_array(predictions, wanted)
    if isinstance(predictions, Sequence) and not isinstance(
        predictions, bytes | bytearray | memoryview
    ):
        return _from_sequence(predictions, wanted)
    raise UsageError(f"Predictions of type {type(predictions).__name__}: expected {_ALLOWED}.")


def _is_of(instance: Any, module: str, name: str) -> bool:
    """True if a value is of a library's class. The library is not imported for this."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(instance, kind)


def _is_table(table: Any) -> bool:
    """True if `_from_table` may read it. Many libraries export Arrow streams."""
    is_frame, is_stream = _is_of(table, "pandas", "DataFrame"), hasattr(table, "__arrow_c_stream__")
    return is_frame or is_stream or _is_dataset(table)


def _is_dataset(table: Any) -> bool:
    return all(hasattr(table, name) for name in ("column_names", "with_format", "__len__"))


# Columns and records.


def _record_entries(
    records: Iterable[tuple[int, Any]], origin: PredictionSource
) -> Iterator[Entry]:
    """The entries of numbered dicts. A harness's log is read as such."""
    for number, record in read_logs(records):
        if not isinstance(record, dict):
            expected = f"expected an object with {ID!r} and {PREDICTION!r}"
            raise origin.error(f": {expected}, got {short(record)}.", number)
        columns = choose_columns(list(record), origin, number)
        yield columns.entry(number, map(record.get, columns.names))


# By id.


def _from_file(path: str | os.PathLike[str], wanted: _Wanted) -> Predictions:
    origin, content = open_file(Path(path))
    if isinstance(content, PredictionTable):
        columns = choose_columns(content.names, origin)
        rows = content.rows(columns.names)
        return collect((columns.entry(*row) for row in rows), wanted.split, origin)
    if isinstance(content, Iterator):
        return _from_lines(content, dataclasses.replace(wanted, origin=origin))
    if 0 in getattr(content, "shape", ()) or (isinstance(content, list | dict) and not content):
        raise origin.error(EMPTY)
    return _read(content, dataclasses.replace(wanted, origin=origin))


def _from_lines(lines: Iterator[tuple[int, Any]], wanted: _Wanted) -> Predictions:
    """The predictions in numbered values: all dicts, or all predictions in order."""
    origin = wanted.origin_of(lines)
    for number, value in lines:
        lines = chain([(number, value)], lines)
        if isinstance(value, dict):
            return collect(_record_entries(lines, origin), wanted.split, origin)
        values = []
        for number, value in lines:
            if isinstance(value, dict):
                raise origin.error(": an object, but the lines before are predictions.", number)
            values.append(value)
        return _from_sequence(values, wanted)
    raise origin.error(EMPTY)


def _table(
    predictions: Any, names: Sequence[str], column: Callable[[str], Iterable[Any]], wanted: _Wanted
) -> Predictions:
    origin = wanted.origin_of(predictions)
    columns = choose_columns(names, origin)
    cells = [list(column(name)) for name in columns.names]
    for name, others in zip(columns.names[1:], cells[1:], strict=True):
        if len(others) != len(cells[0]):
            raise origin.error(f": {len(others):,} {name}s for {len(cells[0]):,} predictions.")
    rows = enumerate(zip(*cells, strict=True))
    return collect((columns.entry(*row) for row in rows), wanted.split, origin)


def _from_mapping(predictions: Mapping[Any, Any], wanted: _Wanted) -> Predictions:
    if is_inspect_log(predictions):
        origin = dataclasses.replace(wanted.origin_of(predictions), unit="sample")
        records = enumerate(read_inspect_log(predictions))
        return collect(_record_entries(records, origin), wanted.split, origin)
    if names_predictions(predictions) or _is_right_answers(predictions):
        return _from_columns(predictions, wanted)
    for name in predictions:
        if not isinstance(name, str):
            raise UsageError(
                f"Predictions by id: {name!r} is not an id. Ids are text. "
                "Give predictions in the order of rows as a sequence."
            )
    name, value = next(iter(predictions.items()), (None, None))
    if _is_table(value):
        raise UsageError(
            f"Predictions by id: the value of {name!r} is a {type(value).__name__}. Give the table "
            "of one split, and name the split."
        )
    return Predictions(by_id=predictions)


def _from_columns(predictions: Mapping[Any, Any], wanted: _Wanted) -> Predictions:
    """A dict of columns, each a sequence or an array. The predictions may be scores."""
    origin, columns = wanted.origin_of(predictions), {}
    names = choose_columns(list(predictions), origin)
    for name in names.names[::-1]:
        cells = predictions[name]
        if isinstance(cells, str | os.PathLike | Mapping) or not hasattr(cells, "__len__"):
            text = f": {name!r} is {short(cells)}. Expected a sequence or an array."
            raise origin.error(text)
        task = wanted.task if name == names.answers else None
        columns[name] = _read(cells, _Wanted(None, task))
    answers = columns[names.answers]
    table = _table(predictions, names.names, lambda name: columns[name].in_order or [], wanted)
    return dataclasses.replace(table, read_as=answers.read_as, shape=answers.shape)


def _is_right_answers(names: Sequence[Any] | Mapping[Any, Any]) -> bool:
    """True if the only column beside the ids has a name of right answers."""
    return len(others := [name for name in names if name != ID]) == 1 and others[0] in RIGHT_ANSWERS


def _from_index(predictions: Any, series: Any, wanted: _Wanted) -> Predictions:
    """The predictions of a pandas Series, which is `predictions` or its only column."""
    index, cells = list(predictions.index), _cells(series)
    if index == list(range(len(index))):
        return Predictions(in_order=cells)
    if all(isinstance(name, str) for name in index):
        columns = {ID: index, PREDICTION: cells}
        return _table(predictions, list(columns), columns.__getitem__, wanted)
    starts = ", ".join(map(short, index[:3]))
    raise UsageError(
        f"Predictions of type {type(predictions).__name__}: its index begins {starts}. Allowed are "
        f"ids, or 0 to {len(index) - 1} in order. With predictions in the order of the rows, give "
        ".reset_index(drop=True)."
    )


def _cells(series: Any) -> list[Any]:
    """The values of a pandas Series. What pandas calls missing is None."""
    pandas = sys.modules["pandas"]
    return [None if cell is pandas.NA else cell for cell in series.tolist()]


def _from_table(predictions: Any, wanted: _Wanted) -> Predictions:
    """A table of pandas or `datasets`, or of a library that exports Arrow, such as Polars."""
    if _is_of(predictions, "pandas", "DataFrame"):
        names = list(predictions.columns)
        if ID not in names and len(names) == 1 and not _is_right_answers(names):
            return _from_index(predictions, predictions.iloc[:, 0], wanted)
        if ID not in names and predictions.index.name == ID:
            predictions = predictions.reset_index()
        columns = choose_columns(list(predictions.columns), wanted.origin_of(predictions))
        if columns.ids is None and columns.split is None:
            return _from_index(predictions, predictions[columns.answers], wanted)
        return _table(
            predictions, list(predictions.columns), lambda name: _cells(predictions[name]), wanted
        )
    if _is_dataset(predictions):
        return _table(
            predictions, predictions.column_names, predictions.with_format(None).__getitem__, wanted
        )
    try:
        table = pa.table(predictions)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise wanted.origin_of(predictions).error(f": {one_line(str(error))}.") from None
    return _table(predictions, table.column_names, lambda name: table[name].to_pylist(), wanted)


# In order.


def _from_array(predictions: Any, wanted: _Wanted) -> Predictions:
    try:
        array = predictions if isinstance(predictions, np.ndarray) else to_array(predictions)
    except (TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        raise wanted.origin_of(predictions).error(f": {one_line(str(error))}") from None
    if array.ndim == 0:
        raise UsageError("Predictions: a single value. Expected one prediction for each row.")
    if array.dtype.names:
        return _table(predictions, array.dtype.names, lambda name: array[name].tolist(), wanted)
    return from_array(array, wanted.task)


def _from_sequence(predictions: Sequence[Any], wanted: _Wanted) -> Predictions:
    values = list(predictions)
    records = sum(isinstance(value, Mapping) for value in values)
    if not records:
        return Predictions(in_order=values)
    origin = wanted.origin_of(predictions)
    if records < len(values):
        text = f": {records:,} of its {len(values):,} entries are dicts. Expected all or none."
        raise origin.error(text)
    entries = _record_entries(enumerate(map(dict, values)), origin)
    return collect(entries, wanted.split, origin)
