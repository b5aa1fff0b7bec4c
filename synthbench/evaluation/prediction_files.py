"""Files of predictions: their records, or their columns, and errors that say where."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from synthbench.checks import needs
from synthbench.dataset.files import read_json
from synthbench.dataset.parquet import open_parquet, read_batches
from synthbench.errors import DatasetError, MissingPathError, SynthbenchError, UsageError
from synthbench.evaluation.logs import open_inspect_log
from synthbench.evaluation.rows import RIGHT_ANSWERS
from synthbench.text.lines import one_line, short

#: The largest line and the largest JSON file that are read, in bytes.
_LONGEST_LINE, _LARGEST_JSON = 1 << 24, 1 << 30
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|nan|NaN|[+-]?inf")
#: A number as `numpy.savetxt` writes it by default.
_SAVED = re.compile(r"[+-]?[0-9]\.[0-9]{18}e[+-][0-9]{2,3}|nan|[+-]?inf")


@dataclasses.dataclass(frozen=True)
class PredictionSource:
    """The source of predictions, for errors.

    Attributes:
        name: the file, or a description of the argument.
        unit: what its entries are called: `line` or `row`.
        kind: the class of errors: a file is bad data, an argument is wrong usage.
    """

    name: str
    unit: str = "row"
    kind: type[SynthbenchError] = DatasetError

    def error(self, text: str, number: int | None = None) -> SynthbenchError:
        """The error for the whole, or for one entry."""
        where = self.name if number is None else f"{self.name}, {self.unit} {number}"
        return self.kind(f"{where}{text}")


@dataclasses.dataclass(frozen=True)
class PredictionTable:
    """A file with named columns.

    Attributes:
        names: the names of its columns.
        rows: given some of these names, each row's number and the values of these columns.
    """

    names: Sequence[str]
    rows: Callable[[Sequence[str]], Iterator[tuple[int, Sequence[Any]]]]


#: The lines of a file that are not blank, each with its number, counted from 1.
_Lines = Iterator[tuple[int, bytes]]


def open_file(path: Path) -> tuple[PredictionSource, Any]:
    """Open a file of predictions. Its extension decides its form.

    Args:
        path: a `.jsonl`, `.json`, `.csv`, `.tsv`, `.txt`, `.parquet`, `.npy`, `.npz`, `.pt` or
            `.eval` file.

    Returns:
        The origin and the contents:

        - `.jsonl`: an iterator over its values, each with the number of its line
        - `.json`: a list or a dict
        - `.txt`: a list of its lines
        - `.npy`, `.npz`, `.pt`: an array, or a dict of several
        - `.eval`: the log as a dict
        - others: a `PredictionTable`, an array if a table lacks names of columns, or an empty list

    Raises:
        UsageError: another kind of file.
        MissingPathError: the file does not exist.
        DatasetError: it cannot be read.
    """
    ending = path.suffix.lower()
    if ending not in _BINARY and ending not in _READERS:
        allowed = ", ".join([*_READERS, *_BINARY])
        raise UsageError(f"Predictions {str(path)!r}: allowed are files {allowed}.")
    _check_regular(path)
    if ending in _BINARY:
        return PredictionSource(str(path)), _BINARY[ending](path)
    unit, longest, read = _READERS[ending]
    origin = PredictionSource(str(path), unit)
    return origin, read(_lines(path, origin, longest), origin)


def _check_regular(path: Path) -> None:
    """Refuse anything but a regular file: reading a pipe could block for ever."""
    try:
        if not path.exists():
            raise MissingPathError(f"{path} is missing.")
        if not path.is_file():
            raise DatasetError(f"{path} cannot be read: it is not a regular file.")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None


def _lines(path: Path, origin: PredictionSource, longest: int) -> _Lines:
    """The lines, without a byte order mark. A longer line is an error."""
    try:
        with path.open("rb") as file:
            for number in itertools.count(1):
                line = file.readline(longest + 1)
                if not line:
                    return
                if len(line) > longest:
                    raise origin.error(f": it has more than {longest:,} bytes.", number)
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                yield number, line
    except OSError as error:
        reason = one_line(error.strerror or str(error))
        raise origin.error(f" cannot be read: {reason}.") from None


def _json_value(data: bytes, origin: PredictionSource, number: int | None = None) -> Any:
    try:
        return read_json(data, constants=True)
    except ValueError as error:
        raise origin.error(f": not valid JSON ({one_line(str(error))}).", number) from None


def _json_lines(lines: _Lines, origin: PredictionSource) -> Iterator[tuple[int, Any]]:
    return ((number, _json_value(line, origin, number)) for number, line in lines if line.strip())


def _json(lines: _Lines, origin: PredictionSource) -> Any:
    pieces, size = [], 0
    for _, line in lines:
        pieces.append(line)
        size += len(line)
        if size > _LARGEST_JSON:
            raise origin.error(f": it has more than {_LARGEST_JSON:,} bytes.")
    text = b"".join(pieces)
    value = _json_value(text, origin) if text.strip() else []
    if not isinstance(value, list | dict):
        raise origin.error(f": expected a list or an object, got {short(value)}.")
    return value


def _separated(delimiter: str) -> Callable[[_Lines, PredictionSource], Any]:
    """A reader of tables as text. Every cell is text."""

    def read(lines: _Lines, origin: PredictionSource) -> Any:
        # The limit is the process's: answers may be long, and a larger limit does no harm.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_LINE))
        reached = 0

        def texts() -> Iterator[str]:
            nonlocal reached
            for reached, line in lines:  # noqa: B007
                yield line.decode("utf-8")

        def all_cells() -> Iterator[list[str]]:
            try:
                for cells in csv.reader(texts(), delimiter=delimiter, strict=True):
                    if cells == [""] or "".join(cells).strip():  # blank lines are skipped
                        yield cells
            except (csv.Error, UnicodeDecodeError) as error:
                raise origin.error(f": {one_line(str(error))}.", reached) from None

        def rows(wanted: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
            indices = [names.index(name) for name in wanted]
            for cells in remaining:
                if len(cells) != len(names):
                    text = f": {len(cells)} cells under {len(names)} names of columns."
                    raise origin.error(text, reached)
                yield reached, [cells[where] for where in indices]

        remaining = all_cells()
        names = next(remaining, [])
        if names and all(map(_is_number, names)):
            return _numbers([names, *remaining], origin)
        return PredictionTable(names, rows) if names else []

    return read


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _numbers(lines: Sequence[Sequence[str]], origin: PredictionSource) -> Any:
    """Lines of numbers without names of columns, as `numpy.savetxt` writes arrays.

    Returns:
        An array `(lines, columns)`, or a list of texts if there is one column of texts.
    """
    if all(len(line) == len(lines[0]) and all(map(_is_number, line)) for line in lines):
        floats = np.array(lines, np.float64)
        written = all(_WHOLE.fullmatch(cell.strip()) for line in lines for cell in line)
        exact = written and bool((np.abs(floats) < 2**53).all())
        if len(lines[0]) > 1 or not written:
            return floats.astype(np.int64) if exact else floats
    if all(len(line) == 1 for line in lines):
        return [line[0] for line in lines]
    expected = f"expected {len(lines[0])} numbers in each line, as in line 1"
    raise origin.error(f": no names of columns; {expected}.")


def _text(lines: _Lines, origin: PredictionSource) -> Any:
    """The lines, empty lines included, or the array that `numpy.savetxt` wrote."""
    decoded = []
    for number, line in lines:
        try:
            decoded.append(line.decode("utf-8").rstrip("\r\n"))
        except UnicodeDecodeError as error:
            raise origin.error(f": {one_line(str(error))}.", number) from None
    words = [line.split() for line in decoded]
    if decoded and all(line and all(map(_SAVED.fullmatch, line)) for line in words):
        return _numbers(words, origin)
    return decoded if any(words) else []


def _array(path: Path) -> Any:
    """The array of a `.npy` file or a `.npz` file. A dict where a `.npz` file has several.

    Raises:
        DatasetError: it cannot be read, or holds Python objects, which could run code.
    """
    try:
        with path.open("rb") as file:  # NumPy leaves a damaged archive open
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return loaded
            with loaded:
                arrays = {name: loaded[name] for name in loaded.files}
    except Exception as error:  # a damaged archive makes zipfile and NumPy raise many kinds
        raise DatasetError(f"{path} cannot be read: {one_line(str(error))}") from None
    alone = len(arrays) == 1 and not set(RIGHT_ANSWERS) & arrays.keys()
    return next(iter(arrays.values())) if alone else arrays


def _tensor(path: Path) -> Any:
    """The tensor, list or dict of a `.pt` file, read without running code.

    Raises:
        DatasetError: it cannot be read, or holds anything but tensors, numbers, texts, lists and
            dicts.
        SynthbenchError: PyTorch is not installed.
    """
    with needs(f"{path.name!r}", "PyTorch", "train"):
        import torch
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged archive makes PyTorch raise many kinds
        # Behind its first sentence PyTorch advises to load the file unsafely.
        reason = one_line(str(error).partition("\n")[0].partition(". ")[0])[:200]
        raise DatasetError(
            f"{path} cannot be read as tensors, numbers, texts, lists and dicts: {reason}"
        ) from None


def _parquet(path: Path) -> PredictionTable:
    with open_parquet(path) as opened:
        names = list(opened.schema_arrow.names)

    def rows(wanted: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        numbers = itertools.count()
        for batch in read_batches(path, list(wanted)):
            try:
                columns = [batch[name].to_pylist() for name in wanted]
            except Exception as error:  # such as a date in the year 0 or an unknown time zone
                raise DatasetError(f"{path} cannot be read: {one_line(str(error))}") from None
            for cells in zip(*columns, strict=True):
                yield next(numbers), cells

    return PredictionTable(names, rows)


#: By the ending of a file's name: the reader of a file that is not text.
_BINARY: dict[str, Callable[[Path], Any]] = {
    ".parquet": _parquet,
    ".npy": _array,
    ".npz": _array,
    ".pt": _tensor,
    ".eval": open_inspect_log,
}
#: By the ending of a file's name: the word for an entry, the longest line, and the reader.
_READERS: dict[str, tuple[str, int, Callable[[_Lines, PredictionSource], Any]]] = {
    ".jsonl": ("line", _LONGEST_LINE, _json_lines),
    ".json": ("row", _LARGEST_JSON, _json),
    ".csv": ("line", _LONGEST_LINE, _separated(",")),
    ".tsv": ("line", _LONGEST_LINE, _separated("\t")),
    ".txt": ("line", _LONGEST_LINE, _text),
}
