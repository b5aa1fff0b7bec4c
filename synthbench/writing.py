"""Rows into shards: row groups and files of fixed size, whatever the rounds they come in."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from synthbench.dataset import Shard, columns_of
from synthbench.digest import RowDigest, file_sha256, ids
from synthbench.features import Feature, Features, arrow_schema, is_image, value
from synthbench.publishing import write_failure
from synthbench.tasks.base import Block, Task

#: Row groups that may wait for the writing thread.
_GROUPS_AHEAD = 2


def shard_file(variant: str, split: str, number: int, count: int) -> str:
    """Path of a shard in its dataset directory."""
    return f"data/{variant}/{split}-{number:05d}-of-{count:05d}.parquet"


def rows_table(task: Task, block: Block, fingerprints: NDArray[np.uint64]) -> pa.Table:
    """Rows as they stand in a shard: their ids, then the task's columns."""
    columns = {"id": ids(fingerprints), **task.render(block)}
    return pa.table(columns, schema=arrow_schema(columns_of(task)))


class SplitWriter:
    """Writes the rows of one split, in order, as shards; use it in a `with` block.

    Cutting and digesting happen in the caller's thread, encoding and writing in another, so that
    both cores have work while rows are made.

    Args:
        directory: the dataset directory.
        variant, split: names.
        features: the columns.
        rows: rows of the whole split.
        shard_rows: rows of every shard but the last.
        group_rows: rows of every row group but a shard's last.
        finished: shards that are there already; their rows must not come again.
        on_shard: called with all shards so far, and with the checkpoint of the rows that filled
            the last one, whenever a shard is finished; in the writing thread.
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
        on_shard: Callable[[list[Shard], Any], None],
    ) -> None:
        self._shard_rows, self._group_rows = shard_rows, group_rows
        self._files = _ShardFiles(
            directory,
            [
                shard_file(variant, split, number, -(-rows // shard_rows))
                for number in range(-(-rows // shard_rows))
            ],
            features,
            list(finished),
            on_shard,
        )
        self._rows = rows
        self._cut = sum(shard.rows for shard in finished)
        self._waiting: list[pa.Table] = []
        self._thread = ThreadPoolExecutor(1)
        self._pending: collections.deque[Future[None]] = collections.deque()
        self.digest = RowDigest(features)

    def __enter__(self) -> SplitWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._files.abandon()

    def write(self, table: pa.Table, checkpoint: Any = None) -> None:
        """Append rows.

        Args:
            table: the rows.
            checkpoint: from where these rows could be made again; goes to `on_shard`.

        Raises:
            SynthbenchError: a file cannot be written, say because the disk is full; also if it
                was for rows appended before.
        """
        self.digest.update(table)
        self._waiting.append(table)
        waiting = sum(part.num_rows for part in self._waiting)
        while waiting:
            shard_left = self._shard_rows - self._cut % self._shard_rows
            room = min(self._group_rows, shard_left)
            if waiting < room and self._cut + waiting < self._rows:
                return
            rows = pa.concat_tables(self._waiting)
            group, rest = rows.slice(0, room), rows.slice(room)
            self._waiting, waiting = [rest], rest.num_rows
            self._cut += group.num_rows
            last = group.num_rows == shard_left or self._cut == self._rows
            self._pending.append(self._thread.submit(self._files.write, group, last, checkpoint))
            if len(self._pending) > _GROUPS_AHEAD:
                self._pending.popleft().result()

    def finish(self) -> list[Shard]:
        """Wait until everything is written; all shards.

        Raises:
            SynthbenchError: as `write`.
        """
        while self._pending:
            self._pending.popleft().result()
        return self._files.shards


class _ShardFiles:
    """The files of a split, one after the other, a row group at a time."""

    def __init__(
        self,
        directory: Path,
        names: list[str],
        features: Features,
        finished: list[Shard],
        on_shard: Callable[[list[Shard], Any], None],
    ) -> None:
        self._directory, self._names = directory, names
        self._schema = arrow_schema(features)
        self._repeating = [
            leaf for name, feature in features.items() for leaf in _repeating(name, feature)
        ]
        self._on_shard = on_shard
        self._writer: pq.ParquetWriter | None = None
        self._in_shard = 0
        self._failed = False
        self.shards = finished

    def write(self, group: pa.Table, last: bool, checkpoint: Any) -> None:
        """Append a row group, and close the shard if it is its last."""
        if self._failed:  # the first failure is on its way to the caller
            return
        name = self._names[len(self.shards)]
        path = self._directory / name
        try:
            if self._writer is None:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._writer = pq.ParquetWriter(
                    path,
                    self._schema,
                    compression="zstd",
                    write_page_index=True,
                    # Texts, fingerprints and images hardly repeat: no dictionary for them.
                    use_dictionary=self._repeating,
                )
            # One chunk a group, so that the bytes do not depend on how the rows came.
            self._writer.write_table(group.combine_chunks(), row_group_size=group.num_rows)
            self._in_shard += group.num_rows
            if last:
                self._writer.close()
                self._writer = None
                shard = Shard(name, self._in_shard, path.stat().st_size, file_sha256(path))
                self.shards.append(shard)
                self._in_shard = 0
                self._on_shard(self.shards, checkpoint)
        except BaseException as error:
            self._failed = True
            if isinstance(error, OSError):
                raise write_failure(path, error) from error
            raise

    def abandon(self) -> None:
        """Close a shard that will not be finished."""
        if self._writer is not None:
            with contextlib.suppress(OSError):  # a full disk: the failure is on its way already
                self._writer.close()


def _repeating(name: str, feature: Feature) -> list[str]:
    """Parquet's names of the leaves of a column whose values are numbers or class labels."""
    if isinstance(feature, list):
        return _repeating(f"{name}.list.element", feature[0])
    if "_type" not in feature:
        return [
            leaf for key, inner in feature.items() for leaf in _repeating(f"{name}.{key}", inner)
        ]
    return [] if is_image(feature) or feature == value("string") else [name]
