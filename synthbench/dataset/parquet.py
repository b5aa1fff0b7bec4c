"""Reading Parquet files that anybody may have written, with bounded memory.

The threat model is a corrupt file, not a malicious one. pyarrow refuses what it cannot parse; its
Thrift limits, the sizes in the footer and the sizes of the batches bound how much more memory the
rows may take than the file. `generation.shards` writes our own files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.errors import DatasetError
from synthbench.text.lines import one_line

#: Longest text, in bytes, and longest list in a footer or a page header.
_THRIFT_BYTES, _THRIFT_ENTRIES = 1 << 24, 1 << 20
#: A row group may unpack to `_FREE_BYTES` and `_TIMES` the size of its file; a whole file to ten
#: times as much.
_FREE_BYTES, _TIMES = 1 << 26, 100
#: How many rows are unpacked at once, and about how many bytes a batch has: each row may repeat a
#: large text of a dictionary, which most writers limit to a megabyte.
_UNPACKED_ROWS, _BATCH_BYTES = 1 << 7, 1 << 26
#: Largest value of a fixed length, in bytes; a missing value takes the same space.
_LONGEST = 1 << 16
#: Largest row in Arrow, in bytes; a grid of 100x100 has some 30,000, an image 65,000.
LARGEST_ROW = 1 << 20
#: Smallest row in a shard, in bytes: ids differ, and their 16 digits hardly compress.
SMALLEST_ROW = 4


class OpenParquet:
    """A Parquet file whose footer has been checked.

    Attributes:
        footer: the footer, with which the file can be opened again; it can be pickled.
        schema: the columns.

    Raises:
        ValueError: the footer contradicts itself.
    """

    def __init__(self, path: Path, file: pq.ParquetFile) -> None:
        self._path, self._file, self._size = path, file, path.stat().st_size
        self.footer: pq.FileMetaData = file.metadata
        self.schema: pa.Schema = file.schema_arrow
        # Not `RowGroupMetaData.column`: a corrupt column chunk would end the process.
        self._groups = [self.footer.row_group(group) for group in range(self.footer.num_row_groups)]
        rows = [group.num_rows for group in self._groups]
        if any(group.num_columns != len(file.schema) for group in self._groups):
            raise ValueError("it has row groups without some of its columns")
        if min(rows, default=0) < 0 or sum(rows) != self.footer.num_rows:
            raise ValueError("its row groups do not add up to its rows")
        if any(file.schema.column(leaf).length > _LONGEST for leaf in range(len(file.schema))):
            raise ValueError(f"its columns have values of more than {_LONGEST:,} bytes each")

    def check_rows(self, smallest: int) -> None:
        """Make sure that the file is large enough for its rows, of `smallest` bytes or more each.

        Raises:
            DatasetError: it is not.
        """
        rows = self.footer.num_rows
        if rows * smallest > self._size:
            raise DatasetError(f"{self._path} claims {rows:,} rows in {self._size:,} bytes.")

    def batches(
        self, columns: Sequence[str] | None, batch_rows: int, groups: Sequence[int] | None
    ) -> Iterator[pa.RecordBatch]:
        """Some columns of some row groups (None: all), a few rows at a time.

        Raises:
            DatasetError: they unpack to more than the file's size warrants.
        """
        left = _FREE_BYTES + 10 * _TIMES * self._size
        rows = min(batch_rows, _UNPACKED_ROWS)
        for group in range(len(self._groups)) if groups is None else groups:
            unpacked = self._groups[group].total_byte_size
            if unpacked > _FREE_BYTES + _TIMES * self._size:
                raise DatasetError(
                    f"{self._path} would unpack {unpacked:,} bytes at once from its "
                    f"{self._size:,} bytes."
                )
            for batch in self._file.iter_batches(rows, [group], columns, use_threads=False):
                left -= batch.nbytes + batch.num_rows
                if left < 0:
                    raise DatasetError(
                        f"{self._path} unpacks to far more than its {self._size:,} bytes."
                    )
                batch.validate(full=True)
                yield batch


@contextlib.contextmanager
def open_parquet(path: Path, footer: pq.FileMetaData | None = None) -> Iterator[OpenParquet]:
    """Open a Parquet file for a `with` block.

    Args:
        path: the file.
        footer: its footer, if the file has been opened before; default: it is read.

    Raises:
        DatasetError: it is missing or cannot be read, even if that happens only in the block.
    """
    try:
        with (
            # As bytes: pyarrow would encode the path as UTF-8, which some paths are not.
            pa.OSFile(os.fsencode(path)) as source,
            pq.ParquetFile(
                source,
                metadata=footer,
                thrift_string_size_limit=_THRIFT_BYTES,
                thrift_container_size_limit=_THRIFT_ENTRIES,
                page_checksum_verification=True,
            ) as file,
        ):
            yield OpenParquet(path, file)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = one_line(str(error).partition("\n")[0])
        raise DatasetError(f"{path} cannot be read: {reason}") from None


def read_batches(
    path: Path,
    columns: Sequence[str] | None = None,
    batch_rows: int = 65_536,
    groups: Sequence[int] | None = None,
    smallest_row: int = 0,
    footer: pq.FileMetaData | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file in order, a batch at a time, every value validated.

    Args:
        path: the file.
        columns: names of the columns to read; missing ones are skipped; default: all.
        batch_rows: rows of a batch, at most.
        groups: numbers of the row groups to read; default: all.
        smallest_row: bytes that each row takes in the file at least.
        footer: the file's footer, if it has been read before.

    Raises:
        DatasetError: the file is missing, cannot be read, or claims more than it can hold.
    """
    with open_parquet(path, footer) as opened:
        opened.check_rows(smallest_row)
        batches = opened.batches(None if columns is None else list(columns), batch_rows, groups)
        # A text that a dictionary holds once may be repeated for every row.
        repeating = any(_has_dictionary(field.type) for field in opened.schema)
        yield from batches if repeating else _joined(batches, batch_rows)


def _has_dictionary(kind: pa.DataType) -> bool:
    inner = (kind.field(number).type for number in range(kind.num_fields))
    return pa.types.is_dictionary(kind) or any(map(_has_dictionary, inner))


def _joined(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches, of `most` rows or about `_BATCH_BYTES` bytes."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        first = batch.slice(0, most - rows)
        waiting.append(first)
        rows, size = rows + first.num_rows, size + first.nbytes
        if rows == most or size > _BATCH_BYTES:
            yield pa.concat_batches(waiting)
            rest = batch.slice(first.num_rows)
            waiting, rows, size = [rest], rest.num_rows, rest.nbytes
    if rows:
        yield pa.concat_batches(waiting)


def large_rows(batch: pa.RecordBatch, first: int = 0) -> list[int]:
    """Indices, from `first`, of the rows that are larger than any row of a task."""
    if batch.nbytes <= LARGEST_ROW or not batch.num_rows:
        return []
    if batch.num_rows == 1:
        return [first]
    middle = batch.num_rows // 2
    left, right = batch.slice(0, middle), batch.slice(middle)
    return large_rows(left, first) + large_rows(right, first + middle)
