"""What can be told of a dataset's rows one by one: the part of `verify` that workers do."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from synthbench.dataset.digest import RowDigest, file_sha256
from synthbench.dataset.parquet import LARGEST_ROW, large_rows, read_batches
from synthbench.errors import DatasetError
from synthbench.features import Features, is_image
from synthbench.tasks.base import Split, Task
from synthbench.tasks.images import png
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.row_ids import fingerprints, ids
from synthbench.text import one_line, short
from synthbench.verification.findings import Findings

#: Rows that a worker holds as Python values at a time.
_BATCH_ROWS = 1_024


@dataclasses.dataclass(frozen=True)
class RowGroup:
    """A row group of a shard.

    Attributes:
        split: the split it belongs to.
        file: the shard, as a path in the dataset directory.
        group: number of the row group in the file.
        first: number of its first row in the file.
        rows: number of its rows.
        footer: the footer of the file, so that a worker need not read it again.
    """

    split: Split
    file: str
    group: int
    first: int
    rows: int
    footer: pq.FileMetaData = dataclasses.field(repr=False)


@dataclasses.dataclass
class RowGroupReport:
    """What `check_row_group` found.

    Attributes:
        findings: what is wrong.
        fingerprints: of the rows that are rows of the task, uint64 `(rows,)`, in order.
        others: numbers in the file of the rows that are not.
        buckets: rows by bucket.
        sources: the source images used, uint64, each once.
        values: stored values that were compared with derived ones.
        pixels: rows whose pixels were compared with their sources.
    """

    findings: Findings
    fingerprints: NDArray[np.uint64]
    others: list[int]
    buckets: collections.Counter[int]
    sources: NDArray[np.uint64]
    values: int
    pixels: int


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Some rows of a shard with their numbers in the file."""

    file: str
    batch: pa.RecordBatch
    numbers: list[int]

    def columns(self, names: Sequence[str]) -> dict[str, pa.Array]:
        return {name: self.batch.column(name) for name in names}

    def take(self, indices: Sequence[int]) -> _Rows:
        if len(indices) == len(self.numbers):
            return self
        taken = self.batch.take(pa.array(indices, pa.int64()))
        return _Rows(self.file, taken, [self.numbers[index] for index in indices])


def check_row_group(
    path: Path, task: Task, row_group: RowGroup, with_sources: bool
) -> RowGroupReport:
    """Derive everything in a row group again.

    Args:
        path: the shard.
        task: the task of the row group's variant.
        row_group: the row group; its file has the columns and types of the task.
        with_sources: whether pixels are to be compared with source images.

    Raises:
        SynthbenchError: source images are missing or broken.
    """
    checks = _RowGroupChecks(task, row_group)
    start = row_group.first
    try:
        for batch in read_batches(
            path, batch_rows=_BATCH_ROWS, groups=[row_group.group], footer=row_group.footer
        ):
            numbers = list(range(start, start + batch.num_rows))
            checks.check(_Rows(row_group.file, batch, numbers), with_sources)
            start += batch.num_rows
    except DatasetError as error:
        checks.add_unreadable(start, str(error).removeprefix(f"{path} "))
    else:
        if start != row_group.first + row_group.rows:
            checks.add_unreadable(start, "they are not there")
    return checks.report()


class _RowGroupChecks:
    """The checks of one row group, a batch of rows at a time."""

    def __init__(self, task: Task, row_group: RowGroup) -> None:
        self._task, self._row_group = task, row_group
        self._findings = Findings()
        self._prints: list[NDArray[np.uint64]] = []
        self._others: list[int] = []
        self._buckets: collections.Counter[int] = collections.Counter()
        self._sources: list[NDArray[np.uint64]] = []
        self._values = self._pixels = 0
        self._derived = [
            name
            for name, feature in task.columns.items()
            if name not in task.inputs and not is_image(feature)
        ]
        self._images = [name for name, feature in task.columns.items() if is_image(feature)]

    def report(self) -> RowGroupReport:
        none = [np.zeros(0, np.uint64)]
        return RowGroupReport(
            findings=self._findings,
            fingerprints=np.concatenate(none + self._prints),
            others=self._others,
            buckets=self._buckets,
            sources=np.unique(np.concatenate(none + self._sources)),
            values=self._values,
            pixels=self._pixels,
        )

    def add_unreadable(self, start: int, reason: str) -> None:
        last = self._row_group.first + self._row_group.rows - 1
        text = f"rows {start} to {last} cannot be read: {reason}"
        self._findings.add(self._row_group.file, "unreadable rows", text)

    def check(self, rows: _Rows, with_sources: bool) -> None:
        """Check some rows; one that fails a check is left out of those that could not bear it."""
        rows = self._without_nulls(self._of_size(rows))
        if not rows.numbers:
            return
        self._check_derived(rows)
        self._count_buckets(rows)
        rows = self._parsed(rows)
        rows = self._decoded(rows)
        self._look_at_sources(rows, with_sources)

    def _add(self, kind: str, text: str, row: int) -> None:
        self._findings.add(self._row_group.file, kind, text, row)

    def _of_size(self, rows: _Rows) -> _Rows:
        large = large_rows(rows.batch)
        for index in large:
            text = f"it has more than {LARGEST_ROW:,} bytes"
            self._add("too large a row", text, rows.numbers[index])
        self._others += [rows.numbers[index] for index in large]
        return rows.take([index for index in range(len(rows.numbers)) if index not in large])

    def _without_nulls(self, rows: _Rows) -> _Rows:
        whole = np.ones(len(rows.numbers), np.bool_)
        for name in rows.batch.schema.names:
            there = rows.batch.column(name).is_valid().to_numpy(zero_copy_only=False)
            for index in np.flatnonzero(~there):
                self._add(f"missing {name}", f"{name} is missing", rows.numbers[index])
            whole &= there
        self._others += [rows.numbers[index] for index in np.flatnonzero(~whole)]
        return rows.take(np.flatnonzero(whole).tolist())

    def _check_derived(self, rows: _Rows) -> None:
        if not self._derived:
            return
        questions = rows.batch.select(list(self._task.inputs)).to_pylist()
        stored = rows.batch.select(self._derived).to_pylist()
        for number, question, there in zip(rows.numbers, questions, stored, strict=True):
            try:
                derived = self._task.recompute_columns(question)
            except Exception as error:  # whatever a solver makes of what is no row
                self._add("no solution", f"the reference solver fails: {_line(error)}", number)
                continue
            if derived != there:
                self._compare(number, there, derived)
        self._values += len(self._derived) * len(stored)

    def _compare(self, number: int, there: dict[str, Any], derived: dict[str, Any]) -> None:
        for name in self._derived:
            stored, right = there[name], derived.get(name)
            if stored != right:
                text = f"{name} is {short(stored)}, the reference solver gives {short(right)}"
                self._add(f"wrong {name}", text, number)

    def _count_buckets(self, rows: _Rows) -> None:
        task, split = self._task, self._row_group.split
        buckets = task.buckets(rows.columns(rows.batch.schema.names)).tolist()
        self._buckets.update(buckets)
        for number, bucket in zip(rows.numbers, buckets, strict=True):
            if bucket not in split.buckets:
                allowed = ", ".join(map(task.bucket_label, split.buckets))
                text = f"bucket {bucket} is none of {split.name} ({task.bucket_name} {allowed})"
                self._add("bucket of another split", text, number)

    def _parsed(self, rows: _Rows) -> _Rows:
        """The rows that are rows of the task, their ids compared."""
        indices, prints = self._fingerprints(rows)
        self._prints.append(prints)
        rows = rows.take(indices)
        there, expected = rows.batch.column("id"), ids(prints)
        wrong = pc.not_equal(there, expected).to_numpy(zero_copy_only=False)
        for index in np.flatnonzero(wrong).tolist():
            text = f"id is {short(there[index].as_py())}, the row's content gives {expected[index]}"
            self._add("wrong id", text, rows.numbers[index])
        return rows

    def _fingerprints(self, rows: _Rows) -> tuple[list[int], NDArray[np.uint64]]:
        """Indices and fingerprints of the rows that can be parsed; the others are halved out."""
        try:
            block = self._task.parse(rows.columns(self._task.inputs))
            return list(range(len(rows.numbers))), fingerprints(self._task, block)
        except Exception as error:  # whatever a parser makes of what is no row
            if len(rows.numbers) < 2:
                for number in rows.numbers:
                    self._others.append(number)
                    self._add("no row of the task", _line(error), number)
                return [], np.zeros(0, np.uint64)
        middle = len(rows.numbers) // 2
        parts = range(middle), range(middle, len(rows.numbers))
        (left, left_prints), (right, right_prints) = (
            self._fingerprints(rows.take(part)) for part in parts
        )
        indices = left + [middle + index for index in right]
        return indices, np.concatenate([left_prints, right_prints])

    def _decoded(self, rows: _Rows) -> _Rows:
        """The rows whose images can be decoded."""
        broken = set()
        for name in self._images:
            files, paths = (
                rows.batch.column(name).field("bytes"),
                rows.batch.column(name).field("path"),
            )
            for index in np.flatnonzero(paths.is_valid()).tolist():
                text = f"{name} names the file {short(paths[index].as_py())}, expected none"
                self._add(f"path of {name}", text, rows.numbers[index])
            for index, reason in _undecodable(files).items():
                broken.add(index)
                self._add(f"broken {name}", f"{name}: {reason}", rows.numbers[index])
        return rows.take([index for index in range(len(rows.numbers)) if index not in broken])

    def _look_at_sources(self, rows: _Rows, compare: bool) -> None:
        if not rows.numbers or not isinstance(self._task, ImageTask):
            return
        columns = rows.columns(rows.batch.schema.names)
        codes = np.unique(self._task.source_images(columns))
        self._sources.append(codes)
        if compare and len(codes):
            for index in self._task.check_sources(columns):
                text = "the pixels are not what the sources give"
                self._add("wrong pixels", text, rows.numbers[index])
            self._pixels += len(rows.numbers)


def _undecodable(files: pa.Array) -> dict[int, str]:
    """Indices of the images that cannot be decoded, with the reasons."""
    with contextlib.suppress(ValueError):
        collections.deque(png.decode_all(files), maxlen=0)
        return {}
    reasons = {}
    for index, file in enumerate(files):
        try:
            png.decode(file.as_py() or b"")
        except ValueError as error:
            reasons[index] = _line(error)
    return reasons


def _line(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}".partition("\n")[0])


def hash_split(
    paths: Sequence[Path], footers: Sequence[pq.FileMetaData], features: Features | None
) -> tuple[list[str | None], str | None]:
    """The SHA-256 of every shard of a split, and the digest of its rows.

    Args:
        paths: the shards, in order.
        footers: their footers.
        features: the columns; None if some shard cannot be read or has others, then `footers` may
            be fewer.

    Returns:
        None for what cannot be read.
    """
    checksums: list[str | None] = []
    for path in paths:
        try:
            checksums.append(file_sha256(path))
        except OSError:
            checksums.append(None)
    if features is None:
        return checksums, None
    digest = RowDigest(features)
    try:
        for path, footer in zip(paths, footers, strict=True):
            for batch in read_batches(path, footer=footer):
                digest.update(batch)
    except (DatasetError, pa.ArrowException, ValueError, TypeError, IndexError):
        return checksums, None
    return checksums, digest.hexdigest()
