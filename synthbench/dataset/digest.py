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

from synthbench.tasks.features import Feature, Features, is_image
from synthbench.tasks.numeric import split_bytes

#: Rows that are hashed together.
CHUNK_ROWS = 8_192


class RowDigest:
    """A running digest over rows, in order.

    Every `CHUNK_ROWS` rows are a chunk with its own digest, whatever shards they are in. The digest
    of all rows is a SHA-256 over the digests of the chunks and the number of rows, so chunks can be
    hashed anywhere, in any order.

    Args:
        features: the columns, `id` included.
        checked: whether the checksums inside images are checked; not needed for images just made.

    Attributes:
        chunks: the digests of the full chunks, in order.
        rows: the number of rows so far.
    """

    def __init__(self, features: Features, checked: bool = True) -> None:
        self._features, self._checked = features, checked
        self._open = _Chunk(features, checked)
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
                self._open = _Chunk(self._features, self._checked)
        self.rows += table.num_rows

    def extend(self, chunks: list[bytes], rows: int) -> None:
        """Add rows hashed elsewhere; `chunks` begins with the rows of the chunk that is open."""
        self.chunks += chunks
        self.rows += rows
        self._open = _Chunk(self._features, self._checked)

    def all_chunks(self) -> list[bytes]:
        """The digests of all chunks so far, including the last, which may not be full."""
        return [*self.chunks, self._open.digest()] if self._open.rows else self.chunks

    def hexdigest(self) -> str:
        """The digest of the rows so far."""
        total = hashlib.sha256(b"".join(self.all_chunks()))
        total.update(f"rows:{self.rows}\n".encode())
        return total.hexdigest()


class _Chunk:
    """A running digest over the rows of one chunk.

    Every leaf of every column has SHA-256s of its own over three things: which values are missing
    (their positions in the chunk, little-endian int64), the lengths of lists and texts
    (little-endian int64), and the values (little-endian, 0 where one is missing). Of an image, its
    height, width and pixels are hashed, so that the encoder does not matter.
    """

    def __init__(self, features: Features, checked: bool) -> None:
        self._features, self._checked = features, checked
        self._leaves: dict[str, Any] = {}
        self._counts: collections.Counter[str] = collections.Counter()
        self.rows = 0

    def update(self, table: pa.Table | pa.RecordBatch) -> None:
        for name, feature in self._features.items():
            column = table.column(name)
            for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                self._add(name, feature, chunk)
        self.rows += table.num_rows

    def digest(self) -> bytes:
        """SHA-256 over the digests of all leaves, in order of their paths."""
        total = hashlib.sha256()
        for path in sorted(self._leaves):
            total.update(f"{path}:{self._leaves[path].hexdigest()}\n".encode())
        return total.digest()

    def _hash(self, path: str, values: Any) -> None:
        self._leaves.setdefault(path, hashlib.sha256()).update(np.ascontiguousarray(values))

    def _add(self, path: str, feature: Feature, array: pa.Array) -> None:
        missing = np.flatnonzero(array.is_null()) if array.null_count else np.zeros(0, np.int64)
        self._hash(f"{path}#missing", (missing + self._counts[path]).astype("<i8"))
        self._counts[path] += len(array)
        if is_image(feature):
            self._add_images(path, array)
        elif isinstance(feature, list):
            lengths = _filled(array.value_lengths(), 0)
            self._hash(f"{path}#length", lengths.to_numpy().astype("<i8"))
            self._add(f"{path}[]", feature[0], array.flatten())
        elif "_type" not in feature:
            # `flatten` carries the struct's own nulls into its fields; `field` would not.
            for (name, inner), values in zip(feature.items(), array.flatten(), strict=True):
                self._add(f"{path}.{name}", inner, values)
        elif pa.types.is_string(array.type):
            data, lengths = split_bytes(_filled(array, ""))
            self._hash(f"{path}#length", lengths.astype("<i8"))
            self._hash(path, data)
        else:
            filled = _filled(array, False if pa.types.is_boolean(array.type) else 0)
            values = filled.to_numpy(zero_copy_only=False)
            little = values.astype(values.dtype.newbyteorder("<"), copy=False)
            self._hash(path, little.view(np.uint8))

    def _add_images(self, path: str, array: pa.Array) -> None:
        from synthbench.tasks.images.png import decode_all

        for pixels in decode_all(array.drop_null().field("bytes"), self._checked):
            count, *shape = pixels.shape
            self._hash(f"{path}#shape", np.tile(np.array(shape, "<i8"), count))
            self._hash(path, pixels)


def _filled(array: pa.Array, value: object) -> pa.Array:
    return array.fill_null(value) if array.null_count else array


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
