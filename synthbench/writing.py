"""Rows into shards: row groups and files of fixed size, whatever the rounds they come in."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from synthbench.dataset import Shard, columns_of
from synthbench.digest import RowDigest, file_sha256, ids
from synthbench.errors import SynthbenchError
from synthbench.features import Feature, Features, arrow_schema, is_image, value
from synthbench.tasks.base import Block, Task


def shard_file(variant: str, split: str, number: int, count: int) -> str:
    """Path of a shard in its dataset directory."""
    return f"data/{variant}/{split}-{number:05d}-of-{count:05d}.parquet"


def rows_table(task: Task, block: Block, fingerprints: NDArray[np.uint64]) -> pa.Table:
    """Rows as they stand in a shard: their ids, then the task's columns."""
    columns = {"id": ids(fingerprints), **task.render(block)}
    return pa.table(columns, schema=arrow_schema(columns_of(task)))


class SplitWriter:
    """Writes the rows of one split, in order, as shards.

    Args:
        directory: the dataset directory.
        variant, split: names.
        features: the columns.
        rows: rows of the whole split.
        shard_rows: rows of every shard but the last.
        group_rows: rows of every row group but a shard's last.
        finished: shards that are there already; their rows must not come again.
        on_shard: called with all shards so far whenever one is finished.

    Raises:
        SynthbenchError: a file cannot be written, say because the disk is full.
    """

    def __init__(
        self,
        directory: Path,
        variant: str,
        split: str,
        features: Features,
        rows: int,
        shard_rows: int,
        group_rows: int,
        finished: list[Shard],
        on_shard: Callable[[list[Shard]], None],
    ) -> None:
        self._directory, self._variant, self._split = directory, variant, split
        self._schema = arrow_schema(features)
        self._features = features
        self._shard_rows, self._group_rows = shard_rows, group_rows
        self._count = -(-rows // shard_rows)
        self._on_shard = on_shard
        self._waiting: list[pa.Table] = []
        self._writer: pq.ParquetWriter | None = None
        self._in_shard = 0
        self._rows = rows
        self.shards = list(finished)
        self.written = sum(shard.rows for shard in finished)
        self.digest = RowDigest(features)

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        self.digest.update(table)
        self._waiting.append(table)
        waiting = sum(part.num_rows for part in self._waiting)
        while waiting:
            room = min(self._group_rows, self._shard_rows - self._in_shard)
            if waiting < room and self.written + waiting < self._rows:
                return
            rows = pa.concat_tables(self._waiting)
            group, rest = rows.slice(0, room), rows.slice(room)
            self._waiting = [rest] if rest.num_rows else []
            waiting = rest.num_rows
            try:
                self._write_group(group)
            except OSError as error:
                raise self._failure(error) from error

    def _write_group(self, group: pa.Table) -> None:
        path = self._directory / self._file()
        if self._writer is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(
                path,
                self._schema,
                compression="zstd",
                write_page_index=True,
                use_content_defined_chunking=True,
                # Texts, fingerprints and images hardly repeat: no dictionary for them.
                use_dictionary=[
                    leaf
                    for name, feature in self._features.items()
                    for leaf in _repeating(name, feature)
                ],
            )
        # One chunk a group, so that the bytes do not depend on how the rows came.
        self._writer.write_table(group.combine_chunks(), row_group_size=self._group_rows)
        self.written += group.num_rows
        self._in_shard += group.num_rows
        if self._in_shard == self._shard_rows or self.written == self._rows:
            self._writer.close()
            self._writer = None
            size = path.stat().st_size
            self.shards.append(Shard(self._file(), self._in_shard, size, file_sha256(path)))
            self._in_shard = 0
            self._on_shard(self.shards)

    def _file(self) -> str:
        return shard_file(self._variant, self._split, len(self.shards), self._count)

    def _failure(self, error: OSError) -> SynthbenchError:
        path = self._directory / self._file()
        if error.errno == errno.ENOSPC:
            return SynthbenchError(
                f"No space left on the device while writing {path}; what is finished is kept "
                "beside. Make room and run the same command to go on."
            )
        return SynthbenchError(f"{path} cannot be written: {error.strerror or error}")


def _repeating(name: str, feature: Feature) -> list[str]:
    """Parquet's names of the leaves of a column whose values are numbers or class labels."""
    if isinstance(feature, list):
        return _repeating(f"{name}.list.element", feature[0])
    if "_type" not in feature:
        return [
            leaf for key, inner in feature.items() for leaf in _repeating(f"{name}.{key}", inner)
        ]
    return [] if is_image(feature) or feature == value("string") else [name]
