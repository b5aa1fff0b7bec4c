"""Predictions as they are given: by id, in the order of rows, or in a file."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from synthbench.dataset import read_batches
from synthbench.errors import DatasetError, UsageError

#: The columns of a predictions file; the first two are needed.
ID, PREDICTION, SPLIT = "id", "prediction", "split"


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
            if it likes, `split`. A prediction may be anything: whether it can be read as an
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
    unit, read = readers[path.suffix.lower()]
    by_id: dict[str, Any] = {}
    repeated: dict[str, None] = {}
    others: set[str] = set()
    for number, name, prediction, of_split in read(path):
        if not isinstance(name, str):
            raise DatasetError(f"{path}, {unit} {number}: id {name!r} is no text.")
        if not (of_split is None or isinstance(of_split, str)):
            raise DatasetError(f"{path}, {unit} {number}: split {of_split!r} is no text.")
        if split is not None and of_split is not None and of_split != split:
            others.add(of_split)
        elif name in by_id:
            repeated[name] = None
        else:
            by_id[name] = prediction
    if not by_id and others:
        raise DatasetError(
            f"{path} has no predictions for split {split!r}; it has some for: "
            f"{', '.join(sorted(others))}."
        )
    if not by_id:
        raise DatasetError(f"{path} is empty: it holds no predictions.")
    return Predictions(by_id=by_id, repeated=tuple(repeated))


def _jsonl(path: Path) -> Iterator[_Entry]:
    """The entries of the lines that are not blank."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    entry = _json_object(line, f"{path}, line {number}")
                    yield number, entry[ID], entry[PREDICTION], entry.get(SPLIT)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing.") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from None


def _json_object(line: bytes, place: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{place}: no valid JSON ({error}).") from None
    if not isinstance(entry, dict):
        raise DatasetError(
            f"{place}: expected an object with {ID!r} and {PREDICTION!r}, got {entry!r:.60}."
        )
    _check_columns(f"{place}", entry)
    return entry


def _parquet(path: Path) -> Iterator[_Entry]:
    """The entries of the rows."""
    number = 0
    for batch in read_batches(path, (ID, PREDICTION, SPLIT)):
        names = batch.schema.names
        _check_columns(str(path), names)
        splits = batch[SPLIT].to_pylist() if SPLIT in names else [None] * len(batch)
        columns = batch[ID].to_pylist(), batch[PREDICTION].to_pylist(), splits
        for entry in zip(*columns, strict=True):
            yield number, *entry
            number += 1


def _check_columns(place: str, names: Sequence[str] | Mapping[str, Any]) -> None:
    for wanted in (ID, PREDICTION):
        if wanted not in names:
            raise DatasetError(f"{place}: no {wanted!r}; expected {ID!r} and {PREDICTION!r}.")
