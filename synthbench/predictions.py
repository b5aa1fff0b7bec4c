"""Predictions as they are given: by id, in the order of rows, or in a file."""

from __future__ import annotations

import codecs
import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from synthbench.errors import DatasetError, UsageError
from synthbench.findings import one_line, short
from synthbench.harness_logs import filter_of, is_sample, read_sample
from synthbench.jsonforms import read_json
from synthbench.parquet import read_batches

#: The columns of a predictions file; the first two are needed.
ID, PREDICTION, SPLIT = "id", "prediction", "split"
#: Bytes of a line of JSON, at most.
_LONGEST_LINE = 1 << 24


@dataclasses.dataclass(frozen=True)
class Predictions:
    """Predictions, either by id or in the order of rows.

    Attributes:
        by_id: the prediction of each id; of a repeated id the first. None if they are in order.
        in_order: one prediction for each row. None if they are by id.
        repeated: the ids that have more than one prediction.
    """

    by_id: Mapping[str, Any] | None = None
    in_order: Sequence[Any] | None = None
    repeated: tuple[str, ...] = ()


def read_predictions(given: Any, split: str | None = None) -> Predictions:
    """Predictions in any of the forms in which they may be given.

    Args:
        given: `{id: prediction}`; a sequence or an array in the order of rows, whose first axis
            counts them; or the path of a `.jsonl` or `.parquet` file with `id`, `prediction` and,
            if it likes, `split`, or of a log of lm-evaluation-harness (`--log_samples`), of which
            the first filter counts. A prediction may be anything: whether it can be read as an
            answer is for the task to say.
        split: the split that they are wanted for; a file's predictions for others are set aside.

    Raises:
        UsageError: none of these forms, ids that are no text, or another kind of file.
        DatasetError: a file that is missing, empty or not of this form; the text says where.
    """
    if isinstance(given, str | os.PathLike):
        return _from_file(Path(given), split)
    if isinstance(given, Mapping):
        for name in given:
            if not isinstance(name, str):
                raise UsageError(
                    f"Predictions by id: {name!r} is no id; ids are text. "
                    "Give predictions in the order of rows as a sequence."
                )
        return Predictions(by_id=given)
    if hasattr(given, "__array__"):  # NumPy, torch, pandas
        return Predictions(in_order=_entries(given))
    if isinstance(given, Sequence) and not isinstance(given, bytes | bytearray):
        return Predictions(in_order=list(given))
    raise UsageError(
        f"Predictions of type {type(given).__name__}: expected {{id: prediction}}, a sequence or "
        "an array in the order of rows, or the path of a .jsonl or .parquet file."
    )


def _entries(given: Any) -> list[Any]:
    """The entries of an array's first axis; those of one axis as plain Python values."""
    try:
        array = given if isinstance(given, np.ndarray) else np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:  # on another device, for one
        raise UsageError(f"Predictions of type {type(given).__name__}: {error}") from None
    if array.ndim == 0:
        raise UsageError("Predictions: a single value; expected one prediction for each row.")
    return array.tolist() if array.ndim == 1 else list(array)


# Files.

#: Number of the line or row; id, prediction and split.
_Entry = tuple[int, Any, Any, Any]


def _from_file(path: Path, split: str | None) -> Predictions:
    readers = {".jsonl": ("line", _jsonl), ".parquet": ("row", _parquet)}
    if path.suffix.lower() not in readers:
        raise UsageError(f"Predictions {str(path)!r}: expected a .jsonl or a .parquet file.")
    _check_regular(path)
    unit, read = readers[path.suffix.lower()]
    by_id: dict[str, Any] = {}
    repeated: dict[str, None] = {}
    others: set[str] = set()
    for number, name, prediction, of_split in read(path):
        if not isinstance(name, str):
            raise DatasetError(f"{path}, {unit} {number}: id {short(name)} is no text.")
        if not (of_split is None or isinstance(of_split, str)):
            raise DatasetError(f"{path}, {unit} {number}: split {short(of_split)} is no text.")
        if split is not None and of_split is not None and of_split != split:
            others.add(of_split)
        elif name in by_id:
            repeated[name] = None
        else:
            by_id[name] = prediction
    if not by_id and others:
        raise DatasetError(
            f"{path} has no predictions for split {split!r}; it has some for: "
            f"{one_line(', '.join(sorted(others)))}."
        )
    if not by_id:
        raise DatasetError(f"{path} is empty: it holds no predictions.")
    return Predictions(by_id=by_id, repeated=tuple(repeated))


def _check_regular(path: Path) -> None:
    """Refuse what is no file: of a pipe, a reader would wait for the other end."""
    try:
        if not path.exists():
            raise DatasetError(f"{path} is missing.")
        if not path.is_file():
            raise DatasetError(f"{path} cannot be read: it is no regular file.")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None


def _jsonl(path: Path) -> Iterator[_Entry]:
    """The entries of the lines that are not blank; of a harness's log those of its first filter."""
    first: Any = None
    for number, entry in _json_objects(path):
        if is_sample(entry):
            first = first or filter_of(entry)
            if filter_of(entry) != first:
                continue
            entry = read_sample(entry)
        _check_columns(f"{path}, line {number}", list(entry))
        yield number, entry[ID], entry[PREDICTION], entry.get(SPLIT)


def _json_objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines that are not blank, with their numbers."""
    try:
        with path.open("rb") as file:
            lines = iter(lambda: file.readline(_LONGEST_LINE + 1), b"")
            for number, line in enumerate(lines, start=1):
                place = f"{path}, line {number}"
                if len(line) > _LONGEST_LINE:
                    raise DatasetError(f"{place}: it has more than {_LONGEST_LINE:,} bytes.")
                line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if line.strip():
                    yield number, _json_object(line, place)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from None


def _json_object(line: bytes, place: str) -> dict[str, Any]:
    try:
        entry = read_json(line, constants=True)
    except ValueError as error:
        raise DatasetError(f"{place}: no valid JSON ({one_line(str(error))}).") from None
    if not isinstance(entry, dict):
        raise DatasetError(
            f"{place}: expected an object with {ID!r} and {PREDICTION!r}, got {short(entry)}."
        )
    return entry


def _parquet(path: Path) -> Iterator[_Entry]:
    """The entries of the rows."""
    number = 0
    for batch in read_batches(path, (ID, PREDICTION, SPLIT)):
        names = batch.schema.names
        _check_columns(str(path), names)
        try:
            splits = batch[SPLIT].to_pylist() if SPLIT in names else [None] * len(batch)
            columns = batch[ID].to_pylist(), batch[PREDICTION].to_pylist(), splits
        except Exception as error:  # a date in the year 0, an unknown time zone and so on
            raise DatasetError(f"{path} cannot be read: {one_line(str(error))}") from None
        for entry in zip(*columns, strict=True):
            yield number, *entry
            number += 1


def _check_columns(place: str, names: Sequence[str]) -> None:
    for wanted in (ID, PREDICTION):
        if wanted not in names:
            raise DatasetError(f"{place}: no {wanted!r}; expected {ID!r} and {PREDICTION!r}.")
    for name in (ID, PREDICTION, SPLIT):
        if names.count(name) > 1:
            raise DatasetError(f"{place}: {name!r} is there more than once.")
