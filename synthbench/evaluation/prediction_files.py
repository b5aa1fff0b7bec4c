"""Files and tables of predictions: their columns and entries, and errors that say where."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import gzip
import io
import itertools
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from synthbench.dataset.forms import read_json
from synthbench.dataset.parquet import open_parquet, read_batches
from synthbench.errors import DatasetError, MissingPathError, SynthbenchError, UsageError
from synthbench.text.lines import one_line, short

#: The columns of a table of predictions; `SPLIT` is optional, and `ANSWERS` are accepted in place
#: of `PREDICTION`.
ID, PREDICTION, SPLIT = "id", "prediction", "split"
ANSWERS = ("response", "completion")
#: The name under which standard input is read.
STANDARD_INPUT = "-"
#: The largest line and the largest JSON file that are read, in bytes.
_LONGEST_LINE, _LARGEST_JSON = 1 << 24, 1 << 30

#: The number of the line or row, the id, the prediction, and the split or None.
Entry = tuple[int, Any, Any, Any]


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where predictions come from, for errors.

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
        place = self.name if number is None else f"{self.name}, {self.unit} {number}"
        return self.kind(f"{place}{text}")


def choose_columns(names: Sequence[str], origin: Origin, number: int | None = None) -> list[str]:
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


def _entry(number: int, cells: Iterable[Any]) -> Entry:
    """The entry with these cells, in the order of `choose_columns`."""
    name, prediction, *split = cells
    return number, name, prediction, split[0] if split else None


def table_entries(
    names: Sequence[str], column: Callable[[str], Iterable[Any]], origin: Origin
) -> Iterator[Entry]:
    """The entries of a table with these columns; `column` gives the values of each."""
    columns = [list(column(name)) for name in choose_columns(names, origin)]
    if len(columns[0]) != len(columns[1]):
        raise origin.error(f": {len(columns[0]):,} ids for {len(columns[1]):,} predictions.")
    for number, cells in enumerate(zip(*columns, strict=True)):
        yield _entry(number, cells)


def record_entries(records: Iterable[tuple[int, Any]], origin: Origin) -> Iterator[Entry]:
    """The entries of numbered dicts; of a harness's log only those of its first filter."""
    first: Any = None
    for number, record in records:
        if not isinstance(record, dict):
            expected = f"expected an object with {ID!r} and {PREDICTION!r}"
            raise origin.error(f": {expected}, got {short(record)}.", number)
        if _is_harness_log(record):
            first = first or record.get("filter")
            if record.get("filter") != first:
                continue
            record = _read_harness_log(record)
        yield _entry(number, map(record.get, choose_columns(list(record), origin, number)))


# Logs of lm-evaluation-harness (`--log_samples`): a line has the row under `doc`, and under
# `filtered_resps` what a filter made of the answer: a text, or for a multiple choice the
# log-likelihood of each choice and whether it was the likeliest text.


def _is_harness_log(record: Mapping[str, Any]) -> bool:
    row, answers = record.get("doc"), record.get("filtered_resps")
    return isinstance(row, dict) and isinstance(answers, list) and PREDICTION not in record


def _read_harness_log(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row's id, if any, and the prediction: a text, or the number of the likeliest choice."""
    row, answers = record["doc"], record["filtered_resps"]
    answer = answers[0] if answers else None
    if isinstance(answer, list):
        try:
            values = [float(choice[0]) for choice in answers]
            answer = values.index(max(values))
        except (TypeError, ValueError, LookupError, OverflowError):
            answer = None  # a choice without a log-likelihood
    return {**({ID: row[ID]} if ID in row else {}), PREDICTION: answer}


# Files.

#: A line with its number, counted from 1.
_Lines = Iterator[tuple[int, bytes]]


def open_file(path: str | Path) -> tuple[Origin, Any]:
    """Open a file of predictions; its extension tells its form.

    Args:
        path: a `.jsonl`, `.json`, `.csv`, `.tsv` or `.parquet` file; all but the last may be
            compressed (`.jsonl.gz`). `-` is standard input, whose first line tells its form; it
            cannot be Parquet.

    Returns:
        The origin and an iterator over the entries; for `.json` instead its value, which may be
        predictions in any form.

    Raises:
        UsageError: another kind of file.
        MissingPathError: there is no such file.
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
    opened = gzip.open if packed else open
    lines = _lines(lambda: cast(IO[bytes], opened(path, "rb")), origin, longest)
    return origin, read(lines, origin)


def _standard_input() -> tuple[Origin, Any]:
    origin = Origin("Standard input", "line")
    if sys.stdin is None:
        raise origin.error(" cannot be read: it is closed.")
    stream = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))

    def opened() -> IO[bytes]:
        packed = stream.peek(2)[:2] == b"\x1f\x8b"
        return cast(IO[bytes], gzip.open(stream)) if packed else stream

    lines = _lines(opened, origin, _LARGEST_JSON)  # the first line tells the form
    first = list(itertools.islice(lines, 1))
    start = first[0][1].lstrip() if first else b"{"
    endings = {b"[": ".json", b"{": ".jsonl"}
    ending = endings.get(start[:1]) or (".tsv" if b"\t" in start else ".csv")
    return origin, _READERS[ending][1](itertools.chain(first, lines), origin)


def _check_regular(path: Path) -> None:
    """Refuse anything but a regular file: reading a pipe could block for ever."""
    try:
        if not path.exists():
            raise MissingPathError(f"{path} is missing.")
        if not path.is_file():
            raise DatasetError(f"{path} cannot be read: it is not a regular file.")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror}.") from None


def _lines(opened: Callable[[], IO[bytes]], origin: Origin, longest: int) -> _Lines:
    """The lines that are not blank, without a byte order mark; a longer line is an error."""
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
    except (OSError, EOFError, zlib.error) as error:  # the last two from a damaged .gz
        reason = getattr(error, "strerror", None) or error
        raise origin.error(f" cannot be read: {one_line(str(reason))}.") from None


def _json_value(data: bytes, origin: Origin, number: int | None = None) -> Any:
    try:
        return read_json(data, constants=True)
    except ValueError as error:
        raise origin.error(f": not valid JSON ({one_line(str(error))}).", number) from None


def _json_lines(lines: _Lines, origin: Origin) -> Iterator[Entry]:
    records = ((number, _json_value(line, origin, number)) for number, line in lines)
    return record_entries(records, origin)


def _json(lines: _Lines, origin: Origin) -> Any:
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
    """A reader of tables as text; every cell is text."""

    def entries(lines: _Lines, origin: Origin) -> Iterator[Entry]:
        # The limit is the process's: answers may be long, and a larger limit does no harm.
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
                yield _entry(reached, map(row.__getitem__, columns))
        except (csv.Error, UnicodeDecodeError) as error:
            raise origin.error(f": {one_line(str(error))}.", reached) from None

    return entries


def _parquet(path: Path) -> Iterator[Entry]:
    numbers = itertools.count()
    with open_parquet(path) as opened:
        chosen = choose_columns(opened.schema.names, Origin(str(path)))
    for batch in read_batches(path, chosen):
        try:
            columns = [batch[name].to_pylist() for name in chosen]
        except Exception as error:  # such as a date in the year 0 or an unknown time zone
            raise DatasetError(f"{path} cannot be read: {one_line(str(error))}") from None
        for cells in zip(*columns, strict=True):
            yield _entry(next(numbers), cells)


#: By the ending of a file's name: what an entry is called, and the reader.
_READERS: dict[str, tuple[str, Callable[[_Lines, Origin], Any]]] = {
    ".jsonl": ("line", _json_lines),
    ".json": ("row", _json),
    ".csv": ("line", _separated(",")),
    ".tsv": ("line", _separated("\t")),
}
