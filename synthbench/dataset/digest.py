"""Digests of rows, which stay the same however the rows are stored, and checksums of files.

The digest of rows is a pure function of their values. It does not depend on shards, row groups,
batches, compression or the version of pyarrow. Changing anything here breaks every manifest.
"""

from __future__ import annotations

import collections
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.column import Column
from synthbench.tasks.features import Columns

#: Rows that are hashed together.
CHUNK_ROWS = 8_192


def whole_chunks(rows: int) -> int:
    """The number of rows, rounded up to whole chunks."""
    return -(-rows // CHUNK_ROWS) * CHUNK_ROWS


class RowDigest:
    """A running digest over rows, in order.

    Every `CHUNK_ROWS` rows are a chunk with its own digest, whatever shards they are in. The digest
    of all rows is a SHA-256 over the digests of the chunks and the number of rows, so chunks can be
    hashed anywhere, in any order.

    Args:
        columns: the columns, `id` included.
        checked: whether the checksums inside images are checked. Not needed for images just made.

    Attributes:
        chunks: the digests of the full chunks, in order.
        rows: the number of rows so far.
    """

    def __init__(self, columns: Columns, checked: bool = True) -> None:
        self._columns, self._checked = columns, checked
        self._open = _Chunk(columns, checked)
        self.chunks: list[bytes] = []
        self.rows = 0

    def update(self, table: pa.Table | pa.RecordBatch) -> None:
        """Add the rows of a table with the digest's columns."""
        first = 0
        while first < table.num_rows:
            part = table.slice(first, CHUNK_ROWS - self._open.rows)
            self._open.update(part)
            first += part.num_rows
            if self._open.rows == CHUNK_ROWS:
                self.chunks.append(self._open.digest())
                self._open = _Chunk(self._columns, self._checked)
        self.rows += table.num_rows

    def all_chunks(self) -> list[bytes]:
        """The digests of all chunks so far, including the last, which may not be full."""
        return [*self.chunks, self._open.digest()] if self._open.rows else self.chunks

    def hexdigest(self) -> str:
        """The digest of the rows so far."""
        return digest_of_chunks(b"".join(self.all_chunks()), self.rows)


def digest_of_chunks(chunks: bytes, rows: int) -> str:
    """The digest of all rows, in hexadecimal, from the digests of their chunks, joined in order."""
    total = hashlib.sha256(chunks)
    total.update(f"rows:{rows}\n".encode())
    return total.hexdigest()


class _Chunk:
    """A running digest over the rows of one chunk.

    Every leaf of every column has SHA-256s of its own over three things: which values are missing
    (their positions in the chunk, little-endian int64), the lengths of lists and texts
    (little-endian int64), and the values (little-endian, 0 for missing values). Of an image, its
    height, width and pixels are hashed, so that the encoder does not matter.
    """

    def __init__(self, columns: Columns, checked: bool) -> None:
        self._columns, self._checked = columns, checked
        self._leaves: dict[str, Any] = {}
        self._counts: collections.Counter[str] = collections.Counter()
        self.rows = 0

    def update(self, table: pa.Table | pa.RecordBatch) -> None:
        for name, column in self._columns.items():
            values = table.column(name)
            for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
                self._add(name, column, chunk)
        self.rows += table.num_rows

    def digest(self) -> bytes:
        """SHA-256 over the digests of all leaves, in order of their paths."""
        total = hashlib.sha256()
        for path in sorted(self._leaves):
            total.update(f"{path}:{self._leaves[path].hexdigest()}\n".encode())
        return total.digest()

    def _hash(self, path: str, values: Any) -> None:
        self._leaves.setdefault(path, hashlib.sha256()).update(np.ascontiguousarray(values))

    def _add(self, path: str, column: Column, array: pa.Array) -> None:
        missing = np.zeros(0, "<i8")
        if array.null_count:
            nulls = np.flatnonzero(numpy_array(array.is_null()))
            missing = (nulls + self._counts[path]).astype("<i8")
        self._hash(f"{path}#missing", missing)
        self._counts[path] += len(array)
        for name, values in column.hashed(array, self._checked):
            self._hash(f"{path}{name}", values)
        for name, inner, values in column.inner(array):
            self._add(f"{path}{name}", inner, values)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
