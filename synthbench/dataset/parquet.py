"""Reading Parquet files that may be damaged: errors name the file, and memory is bounded.

pyarrow refuses what it cannot parse. Its Thrift limits and the sizes in the footer bound how much
more memory the rows may take than the file. `generation.shards` writes our own files.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.dataset.files import reading

#: Longest text, in bytes, and longest list in a footer or a page header.
_THRIFT_BYTES, _THRIFT_ENTRIES = 1 << 24, 1 << 20
#: A row group may unpack to `_FREE_BYTES` and `_TIMES` the size of its file.
_FREE_BYTES, _TIMES = 1 << 26, 100
#: Largest value of a fixed length, in bytes. A missing value takes the same space.
_LONGEST = 1 << 16


@contextlib.contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for a `with` block, with its footer checked.

    Raises:
        DatasetError: it is missing or cannot be read, even if that happens only in the block.
    """
    with (
        reading(path),
        # As bytes: pyarrow would encode the path as UTF-8, which some paths are not.
        pa.OSFile(os.fsencode(path)) as source,
        pq.ParquetFile(
            source,
            thrift_string_size_limit=_THRIFT_BYTES,
            thrift_container_size_limit=_THRIFT_ENTRIES,
            page_checksum_verification=True,
        ) as file,
    ):
        _check_footer(file, path.stat().st_size)
        yield file


def _check_footer(file: pq.ParquetFile, size: int) -> None:
    """Raise a ValueError if a footer contradicts itself or claims too much for the file's size."""
    # Not `RowGroupMetaData.column`: a corrupt column chunk would end the process.
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if any(group.num_columns != len(file.schema) for group in groups):
        raise ValueError("it has row groups without some of its columns")
    if min(rows, default=0) < 0 or sum(rows) != file.metadata.num_rows:
        raise ValueError("its row groups do not add up to its rows")
    if any(file.schema.column(leaf).length > _LONGEST for leaf in range(len(file.schema))):
        raise ValueError(f"its columns have values of more than {_LONGEST:,} bytes each")
    unpacked = max((group.total_byte_size for group in groups), default=0)
    if unpacked > _FREE_BYTES + _TIMES * size:
        raise ValueError(f"it would unpack {unpacked:,} bytes at once from its {size:,} bytes")


def read_batches(
    path: Path,
    columns: Sequence[str] | None = None,
    batch_rows: int = 65_536,
    groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of a Parquet file in order, a batch at a time, every value validated.

    Args:
        path: the file.
        columns: names of the columns to read; Missing columns are skipped. Default: all.
        batch_rows: rows of a batch, at most.
        groups: numbers of the row groups to read. Default: all.

    Raises:
        DatasetError: the file is missing, cannot be read, or claims more than it can hold.
    """
    with open_parquet(path) as opened:
        names = None if columns is None else list(columns)
        numbers = range(opened.num_row_groups) if groups is None else groups
        for number in numbers:
            for batch in opened.iter_batches(batch_rows, [number], names, use_threads=False):
                batch.validate(full=True)
                yield batch
