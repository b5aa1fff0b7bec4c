"""Read predictions in the forms that people have them in: by id, or in the order of rows.

Any other form is refused: a prediction that is misread would count as a wrong answer.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.errors import UsageError
from synthbench.evaluation.logs import is_inspect_log, read_inspect_log, read_logs
from synthbench.evaluation.prediction_files import PredictionSource, PredictionTable, open_file
from synthbench.evaluation.rows import ANSWERS, ID, PREDICTION, SPLIT
from synthbench.tasks.numeric import to_array
from synthbench.text.lines import one_line, short

#: The number of the line or row, the id, the prediction, and the split or None.
_Entry = tuple[int, Any, Any, Any]
#: How predictions were read, as reports call it.
VALUE, TEXT, SCORES = "value", "text", "argmax of scores"

_ALLOWED = (
    "{id: prediction}, a sequence or an array in the order of the rows, a pandas Series or a frame "
    f"with one column, a table (pandas, Polars, Arrow, datasets, a list of dicts) with {ID!r} and "
    f"{PREDICTION!r}, an array (rows, classes) of scores, or the path of a file"
)
_EMPTY = " is empty: it holds no predictions."


@dataclasses.dataclass(frozen=True)
class Predictions:
    """Predictions, either by id or in the order of rows.

    Attributes:
        by_id: the (first) prediction of each id; None if in order.
        in_order: one prediction for each row; None if by id.
        repeated: the ids that have more than one prediction.
        read_as: `VALUE`, or `SCORES` if they are the classes of the largest scores.
        shape: the shape of the array that they were given as, if it has several axes.
    """

    by_id: Mapping[str, Any] | None = None
    in_order: Sequence[Any] | None = None
    repeated: tuple[str, ...] = ()
    read_as: str = VALUE
    shape: tuple[int, ...] | None = None


@dataclasses.dataclass(frozen=True)
class _Wanted:
    """What predictions are read for: as in `read_predictions`.

    `origin` is the file that the predictions come from, None for the argument itself.
    """

    split: str | None
    classes: int | None
    origin: PredictionSource | None = None

    def origin_of(self, given: Any) -> PredictionSource:
        name = f"Predictions of type {type(given).__name__}"
        return self.origin or PredictionSource(name, kind=UsageError)


def read_predictions(
    given: Any, split: str | None = None, classes: int | None = None
) -> Predictions:
    """Read predictions.

    Args:
        given: predictions in any of these forms:

            - `{id: prediction}`
            - a sequence or an array in the order of rows, with the rows as its first axis
            - a pandas Series, or a frame with one column, whose index is ids, or 0 to n-1
            - a table with `id` and `prediction` (or `response` or `completion`) and optionally
              `split`: a pandas, Polars or Arrow table, a `datasets.Dataset`, a list of dicts, a
              dict of columns
            - a floating array `(rows, classes)` of scores, of which the largest counts; a row with
              NaN has no prediction
            - the path of a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file with these
              columns; of a log of lm-evaluation-harness (`--log_samples`), of which the first
              filter counts; of a log of Inspect (`.eval`, or `.json`), of which the first epoch
              counts; or of a batch's output

            A prediction may be anything: the task decides whether it can be read as an answer.
        split: the split that is evaluated; a table's predictions for other splits are ignored.
        classes: the number of classes, if answers are classes.

    Raises:
        UsageError: another form, ids that are not text, or another kind of file.
        DatasetError: a file that is missing, empty or malformed; the text says where.
    """
    return _read(given, _Wanted(split, classes))


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
    """Whether a value is of a library's class; the library is not imported to tell."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(given, kind)


def _is_table(given: Any) -> bool:
    """Whether `_from_table` may read it; many libraries export Arrow streams."""
    is_frame, is_stream = _is_of(given, "pandas", "DataFrame"), hasattr(given, "__arrow_c_stream__")
    return is_frame or is_stream or _is_dataset(given)


def _is_dataset(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("column_names", "with_format", "__len__"))


# Columns and records.


def _choose_columns(
    names: Sequence[str], origin: PredictionSource, number: int | None = None
) -> list[str]:
    """The columns of ids and predictions, and of splits if there is one.

    Raises:
        SynthbenchError: of the origin's class, if a column is missing, ambiguous or repeated.
    """
    answers = [PREDICTION] if PREDICTION in names else [one for one in ANSWERS if one in names]
    if ID not in names or not answers:
        missing = PREDICTION if ID in names else ID
        got = one_line(", ".join(map(str, names))) or "nothing"
        expected = f"{ID!r} and {PREDICTION!r} (or {' or '.join(map(repr, ANSWERS))})"
        raise origin.error(f": no {missing!r}; expected {expected}, got {got}.", number)
    if len(answers) > 1:
        both = " and ".join(map(repr, answers))
        raise origin.error(f": both {both}; name one of them {PREDICTION!r}.", number)
    chosen = [ID, *answers, *([SPLIT] if SPLIT in names else [])]
    for name in chosen:
        if list(names).count(name) > 1:
            raise origin.error(f": {name!r} appears more than once.", number)
    return chosen


def _entry(number: int, cells: Iterable[Any]) -> _Entry:
    """The entry with these cells, in the order of `_choose_columns`."""
    name, prediction, *split = cells
    return number, name, prediction, split[0] if split else None


def _record_entries(
    records: Iterable[tuple[int, Any]], origin: PredictionSource
) -> Iterator[_Entry]:
    """The entries of numbered dicts; a harness's log is read as such."""
    for number, record in read_logs(records):
        if not isinstance(record, dict):
            expected = f"expected an object with {ID!r} and {PREDICTION!r}"
            raise origin.error(f": {expected}, got {short(record)}.", number)
        yield _entry(number, map(record.get, _choose_columns(list(record), origin, number)))


# By id.


def _from_file(given: str | os.PathLike[str], wanted: _Wanted) -> Predictions:
    origin, found = open_file(Path(given))
    if isinstance(found, PredictionTable):
        rows = found.rows(_choose_columns(found.names, origin))
        return _collect((_entry(number, cells) for number, cells in rows), wanted, origin)
    if not isinstance(found, list | dict):
        return _collect(_record_entries(found, origin), wanted, origin)
    if not found:
        raise origin.error(_EMPTY)
    return _read(found, dataclasses.replace(wanted, origin=origin))


def _collect(entries: Iterable[_Entry], wanted: _Wanted, origin: PredictionSource) -> Predictions:
    """The predictions of a table, without those for other splits."""
    by_id: dict[str, Any] = {}
    repeated: dict[str, None] = {}
    others: set[str] = set()
    for number, name, prediction, of_split in entries:
        if not isinstance(name, str):
            raise origin.error(f": id {short(name)} is not text.", number)
        if not (of_split is None or isinstance(of_split, str)):
            raise origin.error(f": split {short(of_split)} is not text.", number)
        if wanted.split is not None and of_split is not None and of_split != wanted.split:
            others.add(of_split)
        elif name in by_id:
            repeated[name] = None
        else:
            by_id[name] = prediction
    if not by_id:
        named = one_line(", ".join(sorted(others)))
        text = f" has no predictions for split {wanted.split!r}; it has some for: {named}."
        raise origin.error(text if others else _EMPTY)
    return Predictions(by_id=by_id, repeated=tuple(repeated))


def _table(
    given: Any, names: Sequence[str], column: Callable[[str], Iterable[Any]], wanted: _Wanted
) -> Predictions:
    origin = wanted.origin_of(given)
    columns = [list(column(name)) for name in _choose_columns(names, origin)]
    if len(columns[0]) != len(columns[1]):
        raise origin.error(f": {len(columns[0]):,} ids for {len(columns[1]):,} predictions.")
    rows = enumerate(zip(*columns, strict=True))
    return _collect((_entry(number, cells) for number, cells in rows), wanted, origin)


def _from_mapping(given: Mapping[Any, Any], wanted: _Wanted) -> Predictions:
    if is_inspect_log(given):
        origin = dataclasses.replace(wanted.origin_of(given), unit="sample")
        records = enumerate(read_inspect_log(given))
        return _collect(_record_entries(records, origin), wanted, origin)
    if ID in given and any(name in given for name in (PREDICTION, *ANSWERS)):
        return _from_columns(given, wanted)
    for name in given:
        if not isinstance(name, str):
            raise UsageError(
                f"Predictions by id: {name!r} is not an id; ids are text. "
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
    """A dict of columns, each a sequence or an array; the predictions may be scores."""
    origin, columns = wanted.origin_of(given), {}
    names = _choose_columns(list(given), origin)
    answers = names[1]
    for name in names:
        if isinstance(given[name], str | os.PathLike | Mapping):
            text = f": {name!r} is {short(given[name])}; expected a sequence or an array."
            raise origin.error(text)
        classes = wanted.classes if name == answers else None
        columns[name] = _read(given[name], _Wanted(None, classes))
    predictions = _table(given, names, lambda name: columns[name].in_order or [], wanted)
    return dataclasses.replace(predictions, read_as=columns[answers].read_as)


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
        f"Predictions of type {type(given).__name__}: its index begins {starts}; allowed are ids, "
        f"or 0 to {len(index) - 1} in order. With predictions in the order of the rows, give "
        ".reset_index(drop=True)."
    )


def _cells(series: Any) -> list[Any]:
    """The values of a pandas Series; what pandas calls missing is None."""
    pandas = sys.modules["pandas"]
    return [None if cell is pandas.NA else cell for cell in series.tolist()]


def _from_table(given: Any, wanted: _Wanted) -> Predictions:
    """A table of pandas or `datasets`, or of a library that exports Arrow, such as Polars."""
    if _is_of(given, "pandas", "DataFrame"):
        if ID not in given.columns and given.shape[1] == 1:
            return _from_index(given, given.iloc[:, 0], wanted)
        if ID not in given.columns and given.index.name == ID:
            given = given.reset_index()
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
        raise UsageError("Predictions: a single value; expected one prediction for each row.")
    if array.dtype.names:
        return _table(given, array.dtype.names, lambda name: array[name].tolist(), wanted)
    if array.ndim == 1:
        return Predictions(in_order=array.tolist())
    if wanted.classes is None:
        return Predictions(in_order=list(array), shape=array.shape)
    if array.dtype.kind == "f" and array.shape[1:] == (wanted.classes,):
        return Predictions(in_order=_likeliest(array), read_as=SCORES, shape=array.shape)
    raise UsageError(
        f"Predictions: an array {array.shape} of {array.dtype}; allowed are (rows,), or floating "
        f"scores (rows, {wanted.classes}); if the task has other parameters, give "
        "the task itself, such as synthbench.task('parity', n_values=3)."
    )


def _likeliest(scores: NDArray[np.floating[Any]]) -> list[int | None]:
    """The class of the largest score in each row, None where a score is NaN or masked."""
    scores = np.ma.filled(scores, np.nan)
    known = ~np.isnan(scores).any(axis=1)
    chosen = np.where(known, scores.argmax(axis=1), -1).tolist()
    return [None if one < 0 else one for one in chosen]


def _from_sequence(given: Sequence[Any], wanted: _Wanted) -> Predictions:
    values = list(given)
    records = sum(isinstance(value, Mapping) for value in values)
    if not records:
        return Predictions(in_order=values)
    origin = wanted.origin_of(given)
    if records < len(values):
        text = f": {records:,} of its {len(values):,} entries are dicts; expected all or none."
        raise origin.error(text)
    return _collect(_record_entries(enumerate(map(dict, values)), origin), wanted, origin)
