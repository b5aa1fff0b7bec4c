"""From the rounds of a split to its shards.

`make_shard` is a pure function of a shard's rows and runs where the engine keeps their blocks.
`ShardWriter` cuts the rounds into shards and writes their bytes here, in order. A shard that an
interrupted run has finished stays as it is.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.dataset.digest import RowDigest, digest_of_chunks, file_sha256
from synthbench.dataset.files import why_unreadable, write_failure
from synthbench.dataset.manifest import Shard, shard_file
from synthbench.dataset.staging import Staging
from synthbench.engine.engine import Engine
from synthbench.errors import TaskError
from synthbench.sampling.blocks import Candidates, KeyedRows, Order, Round
from synthbench.tasks.base import Split, Task
from synthbench.tasks.features import Columns, arrow_schema
from synthbench.tasks.returned import wrong_bucket
from synthbench.tasks.row_ids import columns_of, rows_table

S = TypeVar("S", KeyedRows, Round)
#: Threads cost more than they save with fewer rows.
FEW_ROWS = 8_192


@dataclasses.dataclass(frozen=True)
class MadeShard:
    """A shard that is not written yet.

    Attributes:
        rows: how many rows it has.
        content: the bytes of its file.
        sha256: their SHA-256, in hexadecimal.
        chunks: the digests of its chunks, one after another.
    """

    rows: int
    content: pa.Buffer
    sha256: str
    chunks: bytes


def make_shard(task: Task, rows: Iterable[KeyedRows]) -> MadeShard:
    """Render, hash and encode the rows of a shard, one row group after another.

    A rendered group needs far more memory than its rows: an image is hundreds of times as large as
    the values that it is drawn from. While a group is encoded, it is hashed and the next one is
    rendered.

    Raises:
        TaskError: the task gave a row of another bucket than it was asked for.
    """
    columns = columns_of(task)
    digest = RowDigest(columns, checked=False)
    sink = pa.BufferOutputStream()
    groups = rechunk(rows, task.group_rows)
    with _open_parquet_file(sink, columns) as file, ThreadPoolExecutor(1) as encoder:
        encoded: Future[None] | None = None
        for several in groups:
            group = KeyedRows.concatenate(several)
            table = rows_table(task, group.block, group.fingerprints)
            if (wrong := wrong_bucket(task, table, group.buckets)) is not None:
                raise TaskError(wrong[1])
            table = table.combine_chunks()
            if encoded is not None:
                encoded.result()
            if encoded is None and table.num_rows < min(task.group_rows, FEW_ROWS):  # the only one
                file.write_table(table, table.num_rows)
            else:
                encoded = encoder.submit(file.write_table, table, table.num_rows)
            digest.update(table)
        if encoded is not None:
            encoded.result()
    content = sink.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    return MadeShard(digest.rows, content, sha256, b"".join(digest.all_chunks()))


def shard_of_blocks(
    task: Task, calls: list[list[list[Candidates]]], orders: list[Order]
) -> MadeShard:
    """Make a shard from the rows of some rounds.

    Args:
        task: the task.
        calls: for each round, the blocks that each of its calls drew.
        orders: for each round, which of its rows, in what order.
    """
    rounds = (order.rows(blocks) for order, blocks in zip(orders, calls, strict=True))
    return make_shard(task, rounds)


def rechunk(several: Iterable[S], size: int) -> Iterator[list[S]]:
    """The same rows, `size` at a time. The last have the remainder."""
    waiting: list[S] = []
    count = 0
    for rows in several:
        first = 0
        while count + len(rows) - first >= size:
            last = first + size - count
            waiting.append(rows.take(slice(first, last)))
            yield waiting
            waiting, count, first = [], 0, last
        if first < len(rows):
            waiting.append(rows.take(slice(first, None)))
            count += len(rows) - first
    if waiting:
        yield waiting


class ShardWriter:
    """Writes the shards of one split, and notes each that is finished.

    Args:
        staging: where the dataset is made. Says which shards an interrupted run has finished.
        task: the task.
        split: the split.
        rows: rows of the whole split.
        shard_rows: rows of every shard but the last: whole chunks of the digest.
    """

    def __init__(
        self, staging: Staging, task: Task, split: Split, rows: int, shard_rows: int
    ) -> None:
        self._staging, self._task, self._split = staging, task, split
        self._rows, self._shard_rows = rows, shard_rows
        # The finished shards by file, each with the digests of its chunks.
        self._finished: dict[str, tuple[Shard, bytes]] = {}
        files = set(self._files())
        for entry in staging.finished:
            shard = Shard(**entry["shard"])
            if shard.file in files and self._is_whole(shard):
                self._finished[shard.file] = shard, bytes.fromhex(entry["chunks"])

    def _is_whole(self, shard: Shard) -> bool:
        path = self._staging.path
        there = why_unreadable(path, shard.file) is None
        return there and file_sha256(path / shard.file) == shard.sha256

    def write(self, rounds: Iterable[Round], engine: Engine) -> tuple[list[Shard], str]:
        """Write the shards that are not finished.

        Args:
            rounds: the rounds of the split, those of finished shards included.
            engine: makes the shards, a few at once.

        Returns:
            The shards and the digest of all rows.

        Raises:
            SynthbenchError: a file cannot be written, for example because the disk is full, or the
                engine failed.
        """
        files = self._files()
        making: collections.deque[tuple[str, Future[MadeShard]]] = collections.deque()
        for file, its_rounds in zip(files, rechunk(rounds, self._shard_rows), strict=True):
            if file not in self._finished:
                calls = [part.calls for part in its_rounds]
                orders = [part.order for part in its_rounds]
                making.append((file, engine.run_near(shard_of_blocks, self._task, calls, orders)))
            while making and (len(making) > engine.makers or making[0][1].done()):
                self._save(*making.popleft())
        while making:
            self._save(*making.popleft())
        done = [self._finished[file] for file in files]
        digest = digest_of_chunks(b"".join(chunks for _, chunks in done), self._rows)
        return [shard for shard, _ in done], digest

    def _files(self) -> list[str]:
        count = -(-self._rows // self._shard_rows)
        names = self._task.variant, self._split.name
        return [shard_file(*names, number, count) for number in range(count)]

    def _save(self, file: str, future: Future[MadeShard]) -> None:
        """Write a shard to its file, and note that it is finished."""
        shard, path = future.result(), self._staging.path / file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(shard.content)
        except OSError as error:
            raise write_failure(path, error) from error
        written = Shard(file, shard.rows, len(shard.content), shard.sha256)
        self._finished[file] = written, shard.chunks
        self._staging.note({"shard": dataclasses.asdict(written), "chunks": shard.chunks.hex()})


@contextlib.contextmanager
def _open_parquet_file(sink: pa.BufferOutputStream, columns: Columns) -> Iterator[pq.ParquetWriter]:
    writer = pq.ParquetWriter(
        sink,
        arrow_schema(columns),
        compression="zstd",
        write_page_index=True,
        # Texts, fingerprints and images hardly repeat: no dictionary for them.
        use_dictionary=[
            leaf for name, column in columns.items() for leaf in column.repeating(name)
        ],
    )
    try:
        with writer:
            yield writer
    finally:
        # Otherwise its destructor would write to the closed file after an interruption.
        writer.is_open = False
