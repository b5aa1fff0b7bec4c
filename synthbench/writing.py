"""Rows into shards: row groups and files of fixed size, whatever the rounds they come in."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import io
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from synthbench.candidates import Round
from synthbench.dataset import Shard, columns_of
from synthbench.digest import RowDigest, file_sha256, ids
from synthbench.errors import SynthbenchError
from synthbench.features import Feature, Features, arrow_schema, is_image, value
from synthbench.publishing import write_failure
from synthbench.tasks.base import Block, Task

#: Threads that write, and row groups that may wait for them.
_WRITERS = 2
_GROUPS_AHEAD = 4


def shard_file(variant: str, split: str, number: int, count: int) -> str:
    """Path of a shard in its dataset directory."""
    return f"data/{variant}/{split}-{number:05d}-of-{count:05d}.parquet"


def rows_table(task: Task, block: Block, fingerprints: NDArray[np.uint64]) -> pa.Table:
    """Rows as they stand in a shard: their ids, then the task's columns."""
    columns = {"id": ids(fingerprints), **task.render(block)}
    return pa.table(columns, schema=arrow_schema(columns_of(task)))


@dataclasses.dataclass(frozen=True)
class ShardPlan:
    """How the rows of a split are cut into shards, and where these lie.

    Attributes:
        directory: the dataset directory.
        variant, split: names.
        features: the columns.
        rows: rows of the whole split.
        shard_rows: rows of every shard but the last.
        group_rows: rows of every row group but a shard's last.
    """

    directory: Path
    variant: str
    split: str
    features: Features
    rows: int
    shard_rows: int
    group_rows: int

    @classmethod
    def of(cls, task: Task, directory: Path, split: str, rows: int, shard_rows: int) -> ShardPlan:
        """The plan for a split of a task."""
        features, group_rows = columns_of(task), task.group_rows
        return cls(directory, task.variant, split, features, rows, shard_rows, group_rows)

    @property
    def files(self) -> list[str]:
        """Paths of all shards in the dataset directory."""
        count = -(-self.rows // self.shard_rows)
        return [shard_file(self.variant, self.split, number, count) for number in range(count)]


class SplitWriter:
    """Writes the rows of one split, in order, as shards; use it in a `with` block.

    Cutting and digesting happen in the caller's thread, encoding and writing in others, one for
    every second shard, so that all cores have work while rows are made.

    Args:
        plan: how the split is cut into shards.
        finished: shards that are there already; their rows must not come again.
        on_shard: called with all shards so far, and with the checkpoint of the rows that filled
            the last one, when a shard and all before it are finished.
    """

    def __init__(
        self, plan: ShardPlan, finished: list[Shard], on_shard: Callable[[list[Shard], Any], None]
    ) -> None:
        self._plan, self._names = plan, plan.files
        self._on_shard = on_shard
        self._shards = list(finished)
        self._cut = sum(shard.rows for shard in finished)
        self._waiting: list[pa.Table] = []
        self._threads = [ThreadPoolExecutor(1) for _ in range(_WRITERS)]
        self._writing: collections.deque[Future[None]] = collections.deque()
        self._closing: collections.deque[tuple[int, Future[Shard], Any]] = collections.deque()
        self._files: dict[int, _ShardFile] = {}
        self.digest = RowDigest(plan.features)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)
        for file in self._files.values():
            file.abandon()

    def pass_over(self, rows: pa.RecordBatch) -> None:
        """Take note of rows of the finished shards; all of them come in order before others."""
        self.digest.update(rows)

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
            shard_left = self._plan.shard_rows - self._cut % self._plan.shard_rows
            room = min(self._plan.group_rows, shard_left)
            if waiting < room and self._cut + waiting < self._plan.rows:
                break
            rows = pa.concat_tables(self._waiting)
            group, rest = rows.slice(0, room), rows.slice(room)
            self._waiting, waiting = [rest], rest.num_rows
            self._hand_over(group, group.num_rows == shard_left, checkpoint)
        self._report()

    def finish(self) -> list[Shard]:
        """Wait until everything is written; all shards.

        Raises:
            SynthbenchError: as `write`.
        """
        while self._writing:
            self._settle()
        while self._closing:
            wait([self._closing[0][1]])
            self._report()
        return self._shards

    def _hand_over(self, group: pa.Table, last: bool, checkpoint: Any) -> None:
        """Give a row group to its shard's thread; the last one closes the shard."""
        number = self._cut // self._plan.shard_rows
        self._cut += group.num_rows
        if number not in self._files:
            name = self._names[number]
            self._files[number] = _ShardFile(self._plan.directory, name, self._plan.features)
        file, thread = self._files[number], self._threads[number % _WRITERS]
        self._writing.append(thread.submit(file.write, group))
        if last or self._cut == self._plan.rows:
            self._closing.append((number, thread.submit(file.close), checkpoint))
        while len(self._writing) > _GROUPS_AHEAD:
            self._settle()

    def _settle(self) -> None:
        """Wait for a row group; what is finished counts, even if it failed."""
        group = self._writing.popleft()
        wait([group])
        self._report()
        group.result()

    def _report(self) -> None:
        while self._closing and self._closing[0][1].done():
            number, closed, checkpoint = self._closing.popleft()
            self._shards.append(closed.result())
            del self._files[number]
            self._on_shard(self._shards, checkpoint)


class RoundWriter(SplitWriter):
    """Writes the rows of a task's rounds.

    Args:
        task: the task.
        plan, finished, on_shard: as in `SplitWriter`.
    """

    def __init__(
        self,
        task: Task,
        plan: ShardPlan,
        finished: list[Shard],
        on_shard: Callable[[list[Shard], Any], None],
    ) -> None:
        super().__init__(plan, finished, on_shard)
        self._task = task
        self._finished = sum(shard.rows for shard in finished)

    def write_round(self, drawn: Round, first: int, checkpoint: Any) -> None:
        """Append the rows of a round that are in no finished shard.

        Args:
            drawn: the round.
            first: number of its first row in the split.
            checkpoint: from where the round could be made again; goes to `on_shard`.

        Raises:
            SynthbenchError: as `write`.
        """
        rows = drawn.rows()
        table = rows_table(self._task, rows.block, rows.fingerprints)
        self.write(table.slice(max(0, self._finished - first)), checkpoint)


def open_parquet(place: Path | io.BytesIO, features: Features) -> pq.ParquetWriter:
    """A shard to write row groups to."""
    return pq.ParquetWriter(
        place,
        arrow_schema(features),
        compression="zstd",
        write_page_index=True,
        # Texts, fingerprints and images hardly repeat: no dictionary for them.
        use_dictionary=[
            leaf for name, feature in features.items() for leaf in _repeating(name, feature)
        ],
    )


def write_group(shard: pq.ParquetWriter, group: pa.Table) -> None:
    """Append a row group to a shard."""
    # One chunk a group, so that the bytes do not depend on how the rows came.
    shard.write_table(group.combine_chunks(), row_group_size=group.num_rows)


class _ShardFile:
    """One shard while it is written, a row group at a time."""

    def __init__(self, directory: Path, name: str, features: Features) -> None:
        self._name, self._path = name, directory / name
        self._features = features
        self._writer: pq.ParquetWriter | None = None
        self._rows = 0
        self._failure: BaseException | None = None
        self._using = threading.Lock()

    def write(self, group: pa.Table) -> None:
        """Append a row group."""
        with self._noting_failure():
            if self._writer is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._writer = open_parquet(self._path, self._features)
            write_group(self._writer, group)
            self._rows += group.num_rows

    def close(self) -> Shard:
        """Finish the file."""
        with self._noting_failure():
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            size = self._path.stat().st_size
            return Shard(self._name, self._rows, size, file_sha256(self._path))

    @contextlib.contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """After a failure nothing more is written: the file would have a hole."""
        with self._using:
            if self._failure is not None:
                raise self._failure
            try:
                yield
            except BaseException as error:
                self._failure = (
                    write_failure(self._path, error) if isinstance(error, OSError) else error
                )
                raise self._failure from error

    def abandon(self) -> None:
        """Close a file that will not be finished, also if its thread could not be stopped."""
        with self._using:
            self._failure = self._failure or SynthbenchError(f"{self._path} was given up.")
            if self._writer is not None:
                with contextlib.suppress(OSError):  # a full disk: the failure is known already
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
