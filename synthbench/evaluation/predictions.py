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

    def origin_of(self, given: Any) -> PredictionSource:
        name = f"Predictions of type {type(given).__name__}"
        return self.origin or PredictionSource(name, kind=UsageError)


def read_predictions(given: Any, split: str | None = None, task: Task | None = None) -> Predictions:
    """Read predictions.

    Args:
        given: predictions in any of these forms:

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
    return _read(given, _Wanted(split, task))


def _read(given: Any, wanted: _Wanted) -> Predictions:
    if isinstance(given, str | os.PathLike):
        return _from_file(given, wanted)
    if isinstance(given, Mapping):
        return _from_mapping(given, wanted)
    if _is_of(given, "pandas", "Series"):
        return _from_index(given, given, wanted)
    if _is_of(given, "polars", "Series"):
        return _read(given.to_list(), wanted)
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return _read(given.to_pylist(), wanted)
    if _is_table(given):
        return _from_table(given, wanted)
    if hasattr(given, "__array__"):
        return _from_array(given, wanted)
    if isinstance(given, Sequence) and not isinstance(given, bytes | bytearray | memoryview):
        return _from_sequence(given, wanted)
    raise UsageError(f"Predictions of type {type(given).__name__}: expected {_ALLOWED}.")


def _is_of(given: Any, module: str, name: str) -> bool:
    """True if a value is of a library's class. The library is not imported for this."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(given, kind)


def _is_table(given: Any) -> bool:
    """True if `_from_table` may read it. Many libraries export Arrow streams."""
    is_frame, is_stream = _is_of(given, "pandas", "DataFrame"), hasattr(given, "__arrow_c_stream__")
    return is_frame or is_stream or _is_dataset(given)


def _is_dataset(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("column_names", "with_format", "__len__"))


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


def _from_file(given: str | os.PathLike[str], wanted: _Wanted) -> Predictions:
    origin, found = open_file(Path(given))
    if isinstance(found, PredictionTable):
        columns = choose_columns(found.names, origin)
        rows = found.rows(columns.names)
        return collect((columns.entry(*row) for row in rows), wanted.split, origin)
    if isinstance(found, Iterator):
        return _from_lines(found, dataclasses.replace(wanted, origin=origin))
    if 0 in getattr(found, "shape", ()) or (isinstance(found, list | dict) and not found):
        raise origin.error(EMPTY)
    return _read(found, dataclasses.replace(wanted, origin=origin))


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
    given: Any, names: Sequence[str], column: Callable[[str], Iterable[Any]], wanted: _Wanted
) -> Predictions:
    origin = wanted.origin_of(given)
    columns = choose_columns(names, origin)
    cells = [list(column(name)) for name in columns.names]
    for name, others in zip(columns.names[1:], cells[1:], strict=True):
        if len(others) != len(cells[0]):
            raise origin.error(f": {len(others):,} {name}s for {len(cells[0]):,} predictions.")
    rows = enumerate(zip(*cells, strict=True))
    return collect((columns.entry(*row) for row in rows), wanted.split, origin)


def _from_mapping(given: Mapping[Any, Any], wanted: _Wanted) -> Predictions:
    if is_inspect_log(given):
        origin = dataclasses.replace(wanted.origin_of(given), unit="sample")
        records = enumerate(read_inspect_log(given))
        return collect(_record_entries(records, origin), wanted.split, origin)
    if names_predictions(given) or _is_right_answers(given):
        return _from_columns(given, wanted)
    for name in given:
        if not isinstance(name, str):
            raise UsageError(
                f"Predictions by id: {name!r} is not an id. Ids are text. "
                "Give predictions in the order of rows as a sequence."
            )
    name, value = next(iter(given.items()), (None, None))
    if _is_table(value):
        raise UsageError(
            f"Predictions by id: the value of {name!r} is a {type(value).__name__}. Give the table "
            "of one split, and name the split."
        )
    return Predictions(by_id=given)


def _from_columns(given: Mapping[Any, Any], wanted: _Wanted) -> Predictions:
    """A dict of columns, each a sequence or an array. The predictions may be scores."""
    origin, columns = wanted.origin_of(given), {}
    names = choose_columns(list(given), origin)
    for name in names.names[::-1]:
        cells = given[name]
        if isinstance(cells, str | os.PathLike | Mapping) or not hasattr(cells, "__len__"):
            text = f": {name!r} is {short(cells)}. Expected a sequence or an array."
            raise origin.error(text)
        task = wanted.task if name == names.answers else None
        columns[name] = _read(cells, _Wanted(None, task))
    answers = columns[names.answers]
    found = _table(given, names.names, lambda name: columns[name].in_order or [], wanted)
    return dataclasses.replace(found, read_as=answers.read_as, shape=answers.shape)


def _is_right_answers(names: Sequence[Any] | Mapping[Any, Any]) -> bool:
    """True if the only column beside the ids has a name of right answers."""
    return len(others := [name for name in names if name != ID]) == 1 and others[0] in RIGHT_ANSWERS


def _from_index(given: Any, series: Any, wanted: _Wanted) -> Predictions:
    """The predictions of a pandas Series, which is `given` or its only column."""
    index, cells = list(given.index), _cells(series)
    if index == list(range(len(index))):
        return Predictions(in_order=cells)
    if all(isinstance(name, str) for name in index):
        columns = {ID: index, PREDICTION: cells}
        return _table(given, list(columns), columns.__getitem__, wanted)
    starts = ", ".join(map(short, index[:3]))
    raise UsageError(
        f"Predictions of type {type(given).__name__}: its index begins {starts}. Allowed are ids, "
        f"or 0 to {len(index) - 1} in order. With predictions in the order of the rows, give "
        ".reset_index(drop=True)."
    )


def _cells(series: Any) -> list[Any]:
    """The values of a pandas Series. What pandas calls missing is None."""
    pandas = sys.modules["pandas"]
    return [None if cell is pandas.NA else cell for cell in series.tolist()]


def _from_table(given: Any, wanted: _Wanted) -> Predictions:
    """A table of pandas or `datasets`, or of a library that exports Arrow, such as Polars."""
    if _is_of(given, "pandas", "DataFrame"):
        names = list(given.columns)
        if ID not in names and len(names) == 1 and not _is_right_answers(names):
            return _from_index(given, given.iloc[:, 0], wanted)
        if ID not in names and given.index.name == ID:
            given = given.reset_index()
        columns = choose_columns(list(given.columns), wanted.origin_of(given))
        if columns.ids is None and columns.split is None:
            return _from_index(given, given[columns.answers], wanted)
        return _table(given, list(given.columns), lambda name: _cells(given[name]), wanted)
    if _is_dataset(given):
        return _table(given, given.column_names, given.with_format(None).__getitem__, wanted)
    try:
        table = pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise wanted.origin_of(given).error(f": {one_line(str(error))}.") from None
    return _table(given, table.column_names, lambda name: table[name].to_pylist(), wanted)


# In order.


def _from_array(given: Any, wanted: _Wanted) -> Predictions:
    try:
        array = given if isinstance(given, np.ndarray) else to_array(given)
    except (TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        raise wanted.origin_of(given).error(f": {one_line(str(error))}") from None
    if array.ndim == 0:
        raise UsageError("Predictions: a single value. Expected one prediction for each row.")
    if array.dtype.names:
        return _table(given, array.dtype.names, lambda name: array[name].tolist(), wanted)
    return from_array(array, wanted.task)


def _from_sequence(given: Sequence[Any], wanted: _Wanted) -> Predictions:
    values = list(given)
    records = sum(isinstance(value, Mapping) for value in values)
    if not records:
        return Predictions(in_order=values)
    origin = wanted.origin_of(given)
    if records < len(values):
        text = f": {records:,} of its {len(values):,} entries are dicts. Expected all or none."
        raise origin.error(text)
    entries = _record_entries(enumerate(map(dict, values)), origin)
    return collect(entries, wanted.split, origin)
