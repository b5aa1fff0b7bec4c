"""Files of predictions, and tables in general: which column is what, and what is wrong with it."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import gzip
import io
import itertools
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

from synthbench.dataset.forms import read_json
from synthbench.dataset.parquet import open_parquet, read_batches
from synthbench.errors import DatasetError, MissingPathError, SynthbenchError, UsageError
from synthbench.evaluation.harness_logs import filter_of, is_sample, read_sample
from synthbench.text.lines import one_line, short

#: The columns of a table of predictions; `SPLIT` may be missing. `ANSWERS` are other names of
#: `PREDICTION`, which are looked for where that is missing.
ID, PREDICTION, SPLIT = "id", "prediction", "split"
ANSWERS = ("response", "completion")
#: The name under which standard input is read.
STANDARD_INPUT = "-"
#: Bytes of a line and of a whole JSON file, at most.
_LONGEST_LINE, _LARGEST_JSON = 1 << 24, 1 << 30

#: Number of the line or row; id, prediction and split.
Entry = tuple[int, Any, Any, Any]


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where predictions come from, as errors call it.

    Attributes:
        name: the file, or what else was given.
        unit: what its entries are, `line` or `row`.
        kind: the class of errors; a file is bad data, an argument is wrong usage.
    """

    name: str
    unit: str = "row"
    kind: type[SynthbenchError] = DatasetError

    def error(self, text: str, number: int | None = None) -> SynthbenchError:
        """The error for the whole, or for one entry."""
        place = self.name if number is None else f"{self.name}, {self.unit} {number}"
        return self.kind(f"{place}{text}")


# Tables.


def choose_columns(names: Sequence[str], origin: Origin, number: int | None = None) -> list[str]:
    """The columns of a table that hold ids and predictions, and splits if it has them.

    Raises:
        SynthbenchError: of the origin's class, if a column is missing, ambiguous or repeated.
    """
    answers = [PREDICTION] if PREDICTION in names else [one for one in ANSWERS if one in names]
    if ID not in names or not answers:
        missing = PREDICTION if ID in names else ID
        there = one_line(", ".join(map(str, names))) or "nothing"
        expected = f"{ID!r} and {PREDICTION!r} (or {' or '.join(map(repr, ANSWERS))})"
        text = f": no {missing!r}; expected {expected}, got {there}."
        raise origin.error(text, number)
    if len(answers) > 1:
        text = f": both {' and '.join(map(repr, answers))}; name one of them {PREDICTION!r}."
        raise origin.error(text, number)
    chosen = [ID, *answers, *([SPLIT] if SPLIT in names else [])]
    for name in chosen:
        if list(names).count(name) > 1:
            raise origin.error(f": {name!r} is there more than once.", number)
    return chosen


def table_entries(
    names: Sequence[str], column: Callable[[str], Iterable[Any]], origin: Origin
) -> Iterator[Entry]:
    """The entries of a table whose columns are given by name."""
    ids, predictions, *splits = [list(column(name)) for name in choose_columns(names, origin)]
    if len(ids) != len(predictions):
        raise origin.error(f": {len(ids):,} ids for {len(predictions):,} predictions.")
    of_rows = splits[0] if splits else [None] * len(ids)
    for number, entry in enumerate(zip(ids, predictions, of_rows, strict=True)):
        yield number, *entry


def record_entries(records: Iterable[tuple[int, Any]], origin: Origin) -> Iterator[Entry]:
    """The entries of numbered dicts; of a harness's log those of its first filter."""
    first: Any = None
    for number, record in records:
        if not isinstance(record, dict):
            expected = f"expected an object with {ID!r} and {PREDICTION!r}"
            raise origin.error(f": {expected}, got {short(record)}.", number)
        if is_sample(record):
            first = first or filter_of(record)
            if filter_of(record) != first:
                continue
            record = read_sample(record)
        name, answer, *split = choose_columns(list(record), origin, number)
        yield number, record[name], record[answer], record[split[0]] if split else None


# Files.

#: A line with its number, counted from 1.
_Lines = Iterator[tuple[int, bytes]]


def open_file(path: str | Path) -> tuple[Origin, Any]:
    """Open a file of predictions, whose form the ending of its name tells.

    Args:
        path: a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file; all but the last may be
            compressed (`.jsonl.gz`). `-` is standard input, which may be any of these but Parquet
            and whose first line tells its form.

    Returns:
        What errors call it, and an iterator over its entries; of JSON in one piece its value,
        which may be predictions of any form.

    Raises:
        UsageError: another kind of file.
        MissingPathError: there is no file.
        DatasetError: it cannot be read.
    """
    if str(path) == STANDARD_INPUT:
        return _standard_input()
    path = Path(path)
    packed = path.suffix.lower() == ".gz"
    ending = Path(path.stem if packed else path).suffix.lower()
    if ending not in _READERS and (ending != ".parquet" or packed):
        raise UsageError(
            f"Predictions {str(path)!r}: allowed are files {', '.join(_READERS)} (each also with "
            f".gz) and .parquet, and {STANDARD_INPUT} for standard input."
        )
    _check_regular(path)
    if ending == ".parquet":
        return Origin(str(path)), _parquet(path)
    unit, read = _READERS[ending]
    origin = Origin(str(path), unit)
    longest = _LARGEST_JSON if read is _json else _LONGEST_LINE
    return origin, read(_lines(lambda: _opened(path, packed), origin, longest), origin)


def _opened(path: Path, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _opened_input() -> IO[bytes]:
    stream = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
    packed = stream.peek(2)[:2] == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(stream)) if packed else stream


def _standard_input() -> tuple[Origin, Any]:
    origin = Origin("Standard input", "line")
    if sys.stdin is None:
        raise origin.error(" cannot be read: it is closed.")
    lines = _lines(_opened_input, origin, _LARGEST_JSON)  # of which form it is shows only then
    first = list(itertools.islice(lines, 1))
    start = first[0][1].lstrip() if first else b"{"
    if start[:1] in (b"[", b"{"):
        ending = ".json" if start[:1] == b"[" else ".jsonl"
    else:
        ending = ".tsv" if b"\t" in start else ".csv"
    return origin, _READERS[ending][1](itertools.chain(first, lines), origin)


def _check_regular(path: Path) -> None:
    """Refuse what is no file: of a pipe, a reader would wait for the other end."""
    try:
        if not path.exists():
            raise MissingPathError(f"{path} is missing.")
        if not path.is_file():
            raise DatasetError(f"{path} cannot be read: it is no regular file.")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None


def _lines(opened: Callable[[], IO[bytes]], origin: Origin, longest: int) -> _Lines:
    """The lines that are not blank and not longer than this, without a byte order mark."""
    try:
        with opened() as file:
            for number in itertools.count(1):
                line = file.readline(longest + 1)
                if not line:
                    return
                if len(line) > longest:
                    raise origin.error(f": it has more than {longest:,} bytes.", number)
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error) as error:  # the last two of a damaged .gz
        reason = getattr(error, "strerror", None) or error
        raise origin.error(f" cannot be read: {one_line(str(reason))}.") from None


def _json_lines(lines: _Lines, origin: Origin) -> Iterator[Entry]:
    """The entries of a file that has a JSON object in each line."""
    return record_entries(
        ((number, _json_value(line, origin, number)) for number, line in lines), origin
    )


def _json_value(data: bytes, origin: Origin, number: int | None = None) -> Any:
    try:
        return read_json(data, constants=True)
    except ValueError as error:
        raise origin.error(f": no valid JSON ({one_line(str(error))}).", number) from None


def _json(lines: _Lines, origin: Origin) -> Any:
    """The value of a JSON file."""
    pieces, size = [], 0
    for _, line in lines:
        pieces.append(line)
        size += len(line)
        if size > _LARGEST_JSON:
            raise origin.error(f": it has more than {_LARGEST_JSON:,} bytes.")
    value = _json_value(b"".join(pieces), origin) if pieces else []
    if not isinstance(value, list | dict):
        raise origin.error(f": expected a list or an object, got {short(value)}.")
    return value


def _separated(delimiter: str) -> Callable[[_Lines, Origin], Iterator[Entry]]:
    """A reader of tables as text; all their cells are text."""

    def entries(lines: _Lines, origin: Origin) -> Iterator[Entry]:
        # For all readers of the process: answers may be long, and a larger limit harms none.
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_LINE))
        reached = 0

        def texts() -> Iterator[str]:
            nonlocal reached
            for reached, line in lines:  # noqa: B007
                yield line.decode("utf-8")

        try:
            rows = csv.reader(texts(), delimiter=delimiter, strict=True)
            names = next(rows, None)
            if names is None:
                return
            columns = [names.index(name) for name in choose_columns(names, origin)]
            for row in rows:
                if len(row) != len(names):
                    text = f": {len(row)} cells under {len(names)} names of columns."
                    raise origin.error(text, reached)
                name, answer, *split = (row[column] for column in columns)
                yield reached, name, answer, split[0] if split else None
        except (csv.Error, UnicodeDecodeError) as error:
            raise origin.error(f": {one_line(str(error))}.", reached) from None

    return entries


def _parquet(path: Path) -> Iterator[Entry]:
    """The entries of the rows."""
    origin, number = Origin(str(path)), 0
    with open_parquet(path) as opened:
        chosen = choose_columns(opened.schema.names, origin)
    for batch in read_batches(path, chosen):
        try:
            columns = [batch[name].to_pylist() for name in chosen]
        except Exception as error:  # a date in the year 0, an unknown time zone and so on
            raise DatasetError(f"{path} cannot be read: {one_line(str(error))}") from None
        for name, answer, *split in zip(*columns, strict=True):
            yield number, name, answer, split[0] if split else None
            number += 1


#: By the ending of a file's name: what an entry is called, and the reader.
_READERS: dict[str, tuple[str, Callable[[_Lines, Origin], Any]]] = {
    ".jsonl": ("line", _json_lines),
    ".json": ("row", _json),
    ".csv": ("line", _separated(",")),
    ".tsv": ("line", _separated("\t")),
}
