"""The shards of a split: where they are cut, and the bytes and digests of each.

`make_shard` is a pure function of a shard's rows. It runs in a thread of this process, or on the
workers that have the rows (`make_shards`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.dataset.digest import CHUNK_ROWS, RowDigest
from synthbench.dataset.manifest import shard_file
from synthbench.sampling.blocks import Rows, Run, Selection
from synthbench.tasks.base import Task
from synthbench.tasks.features import Columns, arrow_schema
from synthbench.tasks.row_ids import columns_of, rows_table


@dataclasses.dataclass(frozen=True)
class ShardSpec:
    """One shard of a split.

    Rows are numbered from the split's first row. The chunks of the split's digest do not end where
    shards end; each chunk is hashed together with the shard in which it ends.

    Attributes:
        file: path in the dataset directory.
        features: the columns.
        first, last: the shard has the rows from number `first` up to `last`, exclusive.
        group_rows: rows of every row group but the last.
        begin: number of the first row of the first chunk hashed with it, at most `first`.
        hashed: number of the row after the last chunk hashed with it, at most `last`.
    """

    file: str
    features: Columns
    first: int
    last: int
    group_rows: int
    begin: int
    hashed: int


@dataclasses.dataclass(frozen=True)
class ShardPlan:
    """How the rows of a split are cut into shards, and where the shards are.

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
    features: Columns
    rows: int
    shard_rows: int
    group_rows: int

    @classmethod
    def of(cls, task: Task, directory: Path, split: str, rows: int, shard_rows: int) -> ShardPlan:
        """The plan for a split of a task."""
        features, group_rows = columns_of(task), task.group_rows
        return cls(directory, task.variant, split, features, rows, shard_rows, group_rows)

    @property
    def count(self) -> int:
        """The number of shards."""
        return -(-self.rows // self.shard_rows)

    def shard(self, number: int) -> ShardSpec:
        """The shard with this number, counted from 0."""
        first = number * self.shard_rows
        last = min(first + self.shard_rows, self.rows)
        file = shard_file(self.variant, self.split, number, self.count)
        begin = chunk_start(first)
        hashed = last if last == self.rows else chunk_start(last)
        if hashed <= first:  # no chunk ends here
            begin = hashed = first
        return ShardSpec(file, self.features, first, last, self.group_rows, begin, hashed)


class Piece:
    """Some rows of a split; they become a table only when a shard needs them.

    An image is hundreds of times as large as the values that it is drawn from.

    Args:
        rows: the number of rows.
        render: makes the table of the rows from one number up to another, exclusive.
        first: number of the first row.
    """

    def __init__(self, rows: int, render: Callable[[int, int], pa.Table], first: int = 0) -> None:
        self.num_rows = rows
        self._render, self._first = render, first
        self._table: pa.Table | None = None

    @classmethod
    def of_rows(cls, task: Task, rows: Rows) -> Piece:
        """The drawn rows of a task."""

        def render(first: int, last: int) -> pa.Table:
            part = slice(first, last)
            return rows_table(task, rows.block.take(part), rows.fingerprints[part])

        return cls(len(rows.fingerprints), render)

    @classmethod
    def of_table(cls, table: pa.Table) -> Piece:
        """The rows of a table."""
        return cls(table.num_rows, lambda first, last: table.slice(first, last - first))

    def slice(self, first: int, rows: int | None = None) -> Piece:
        """As `pa.Table.slice`."""
        left = max(0, self.num_rows - first)
        return Piece(left if rows is None else min(rows, left), self._render, self._first + first)

    def table(self) -> pa.Table:
        """The rows as a table, rendered once even if two shards use them."""
        if self._table is None:
            self._table = self._render(self._first, self._first + self.num_rows)
        return self._table


def chunk_start(row: int) -> int:
    """Number of the first row of the digest's chunk that contains `row`."""
    return row - row % CHUNK_ROWS


def make_shard(
    tables: Iterable[pa.Table], spec: ShardSpec, place: Path | io.BytesIO
) -> list[bytes]:
    """Write a shard, and hash the chunks that end in it.

    Args:
        tables: the rows from `spec.begin` up to `spec.last`, exclusive, in tables of any size.
        spec: the shard.
        place: where its bytes go.

    Returns:
        The digests of the chunks.

    Raises:
        OSError: the file cannot be written.
    """
    digest = RowDigest(spec.features, checked=False)
    with _open_parquet_file(place, spec.features) as file:
        for group in _row_groups(_own_rows(tables, spec, digest), spec.group_rows):
            # One chunk per group, so that the bytes do not depend on the sizes of the tables.
            file.write_table(group.combine_chunks(), row_group_size=group.num_rows)
    return digest.all_chunks()


def _own_rows(tables: Iterable[pa.Table], spec: ShardSpec, digest: RowDigest) -> Iterator[pa.Table]:
    """Hash all rows; yield only the rows of the shard itself."""
    row = spec.begin
    for table in tables:
        digest.update(table.slice(0, max(0, spec.hashed - row)))
        yield table.slice(max(0, spec.first - row))
        row += table.num_rows


def _row_groups(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows` rows; the last table has the remainder."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(part.num_rows for part in waiting) < rows:
            continue
        joined = pa.concat_tables(waiting)
        while joined.num_rows >= rows:
            yield joined.slice(0, rows)
            joined = joined.slice(rows)
        waiting = [joined]
    rest = pa.concat_tables(waiting)
    if rest.num_rows:
        yield rest


@dataclasses.dataclass(frozen=True)
class RoundRows:
    """The rows of a round from number `first` up to `last`, exclusive."""

    selection: Selection
    first: int
    last: int


@dataclasses.dataclass(frozen=True)
class MadeShard:
    """A shard that is not written yet.

    Attributes:
        content: the bytes of its file.
        sha256: their SHA-256, in hexadecimal.
        chunks: the digests of the chunks that end in it.
    """

    content: bytes
    sha256: str
    chunks: list[bytes]


def make_shards(
    task: Task,
    before: pa.Table | None,
    runs: Sequence[Sequence[Run]],
    parts: Sequence[RoundRows],
    specs: Sequence[ShardSpec],
) -> list[MadeShard]:
    """Make consecutive shards from the rows that were picked for them.

    Args:
        task: the task.
        before: the first rows of the first chunk, if an interrupted run picked them.
        runs: for each part, the runs that its rows are picked from.
        parts: the rows after `before`, in order, to the end of the last shard.
        specs: the shards.
    """
    pieces = [] if before is None else [Piece.of_table(before)]
    for its, part in zip(runs, parts, strict=True):
        rows = part.selection.rows(its, part.first, part.last)
        pieces.append(Piece.of_rows(task, rows))
    number = specs[-1].last - sum(piece.num_rows for piece in pieces)
    groups = []
    for piece in pieces:
        for first in range(0, piece.num_rows, task.group_rows):
            group = piece.slice(first, task.group_rows)
            groups.append((number, group))
            number += group.num_rows
    made = []
    for spec in specs:
        place = io.BytesIO()
        chunks = make_shard(_between(groups, spec.begin, spec.last), spec, place)
        content = place.getvalue()
        made.append(MadeShard(content, hashlib.sha256(content).hexdigest(), chunks))
    return made


def _between(groups: Sequence[tuple[int, Piece]], first: int, last: int) -> Iterator[pa.Table]:
    """The rows `first` up to `last`, exclusive; each piece has the number of its first row."""
    for number, piece in groups:
        start, end = max(first, number), min(last, number + piece.num_rows)
        if start < end:
            yield piece.table().slice(start - number, end - start)


@contextlib.contextmanager
def _open_parquet_file(place: Path | io.BytesIO, features: Columns) -> Iterator[pq.ParquetWriter]:
    with contextlib.ExitStack() as opened:
        if isinstance(place, Path):
            # As bytes: pyarrow would encode the path as UTF-8, which some paths are not.
            place = opened.enter_context(pa.OSFile(os.fsencode(place), "wb"))
        writer = pq.ParquetWriter(
            place,
            arrow_schema(features),
            compression="zstd",
            write_page_index=True,
            # Texts, fingerprints and images hardly repeat: no dictionary for them.
            use_dictionary=[
                leaf for name, column in features.items() for leaf in column.repeating(name)
            ],
        )
        try:
            with writer:
                yield writer
        finally:
            # Otherwise its destructor would write to the closed file after an interruption.
            writer.is_open = False
