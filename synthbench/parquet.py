"""Parquet files as they are read, whoever wrote them: what they claim must fit their bytes.

What a file may unpack to is limited by its size, so that no claim of its footer or its pages costs
memory or time that its bytes do not warrant.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.errors import DatasetError
from synthbench.findings import one_line
from synthbench.parquet_layout import Group, Pages, read_groups

#: A row group may unpack to so many bytes and values, and beside that to so many for each byte of
#: its file; of what comes out of a whole file there may be ten times as many bytes.
_FREE_BYTES, _FREE_VALUES, _TIMES = 1 << 26, 1 << 24, 100
#: Where each row may repeat a large text, a batch has about so many bytes.
_BATCH_BYTES = 1 << 27
#: Physical types of values of any length.
_TEXTS = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
#: Bytes of a row in Arrow, at most; a grid of 100x100 has some 30,000, an image 65,000.
LARGEST_ROW = 1 << 20
#: Bytes of a row in a shard, at least: ids are different, and have 16 digits that look random.
SMALLEST_ROW = 4


class OpenParquet:
    """A Parquet file whose footer has been looked through.

    Attributes:
        path: its path.
        file: what pyarrow makes of it.
        groups: its row groups.

    Raises:
        ValueError: the row groups have not the columns of the schema.
    """

    def __init__(
        self, path: Path, file: pq.ParquetFile, data: mmap.mmap, groups: list[Group]
    ) -> None:
        self.path, self.file, self.groups = path, file, groups
        self._data = data
        self._leaves = [file.schema.column(leaf) for leaf in range(len(file.schema))]
        if any(len(group.chunks) != len(self._leaves) for group in groups):
            raise ValueError("it has row groups without some of its columns")

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return self.file.schema_arrow

    def check_rows(self, smallest: int) -> None:
        """Make sure that it can have its rows, if each has so many bytes at least.

        Raises:
            DatasetError: it cannot.
        """
        rows = sum(group.rows for group in self.groups)
        if rows * smallest > len(self._data):
            raise DatasetError(f"{self.path} claims {rows:,} rows in {len(self._data):,} bytes.")

    def batches(
        self, columns: Sequence[str] | None, batch_rows: int, groups: Sequence[int]
    ) -> Iterator[pa.RecordBatch]:
        """Some columns of some row groups, see `read_batches`.

        Raises:
            DatasetError: they unpack to more than the file's size warrants.
        """
        size = len(self._data)
        left = _FREE_BYTES + 10 * _TIMES * size
        for group in groups:
            repeated = self._check_pages(columns, self.groups[group])
            rows = max(1, min(batch_rows, _BATCH_BYTES // max(1, repeated)))
            for batch in self.file.iter_batches(rows, [group], columns, use_threads=False):
                left -= batch.nbytes + batch.num_rows
                if left < 0:
                    raise DatasetError(f"{self.path} unpacks to far more than its {size:,} bytes.")
                batch.validate(full=True)
                yield batch

    def _check_pages(self, columns: Sequence[str] | None, group: Group) -> int:
        """Bytes of which each row of a group may have a copy, see `Pages.shared`."""
        texts, others = Pages(), Pages()
        for leaf, chunk in zip(self._leaves, group.chunks, strict=True):
            # As pyarrow chooses them: a column, and what is nested in it.
            path = f"{leaf.path}."
            if columns is None or any(path.startswith(f"{name}.") for name in columns):
                pages = texts if leaf.physical_type in _TEXTS else others
                pages.add(self._data, chunk)
        size = len(self._data)
        for unit, count, free in (
            ("bytes", texts.size + others.size, _FREE_BYTES),
            ("values", texts.values + others.values, _FREE_VALUES),
        ):
            if count > free + _TIMES * size:
                raise DatasetError(
                    f"{self.path} would unpack {count:,} {unit} at once from its {size:,} bytes."
                )
        return texts.shared


@contextlib.contextmanager
def open_parquet(path: Path) -> Iterator[OpenParquet]:
    """A Parquet file for the length of a `with` block.

    Raises:
        DatasetError: it is missing or cannot be read, even if that shows only in the block.
    """
    try:
        if not path.stat().st_size:
            raise DatasetError(f"{path} cannot be read: it is empty.")
        with (
            path.open("rb") as opened,
            mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            groups = read_groups(data)  # pyarrow would end the process at some footers
            with pq.ParquetFile(path) as file:
                yield OpenParquet(path, file, data, groups)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing.") from None
    # Names that are no UTF-8 raise what is no ArrowException.
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = one_line(str(error).partition("\n")[0])
        raise DatasetError(f"{path} cannot be read: {reason}") from None


def read_batches(
    path: Path,
    columns: Sequence[str] | None = None,
    batch_rows: int = 65_536,
    groups: Sequence[int] | None = None,
    smallest_row: int = 0,
) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file in order, some at a time, with every value checked to be one.

    Args:
        path: the file.
        columns: the columns that are wanted, as far as there are such; default: all.
        batch_rows: rows of a batch, at most.
        groups: numbers of the row groups that are wanted; default: all.
        smallest_row: bytes that each row is known to have in the file.

    Raises:
        DatasetError: the file is missing, cannot be read, or claims more than it can hold.
    """
    with open_parquet(path) as opened:
        opened.check_rows(smallest_row)
        names = None if columns is None else list(columns)
        numbers = range(len(opened.groups)) if groups is None else groups
        yield from opened.batches(names, batch_rows, numbers)


def large_rows(batch: pa.RecordBatch, first: int = 0) -> list[int]:
    """Indices of the rows that are larger than any row of a task, counted from `first`."""
    if batch.nbytes <= LARGEST_ROW or not batch.num_rows:
        return []
    if batch.num_rows == 1:
        return [first]
    middle = batch.num_rows // 2
    left, right = batch.slice(0, middle), batch.slice(middle)
    return large_rows(left, first) + large_rows(right, first + middle)
