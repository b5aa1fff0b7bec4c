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
from synthbench.tasks.base import Split, Task
from synthbench.tasks.features import Features, is_image
from synthbench.tasks.images import png
from synthbench.tasks.row_ids import fingerprints, ids, is_held_out
from synthbench.text.lines import one_line, short
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
        values: stored values that were compared with derived ones.
    """

    findings: Findings
    values: int


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


def check_row_group(path: Path, task: Task, row_group: RowGroup, check_ids: bool) -> RowGroupReport:
    """Derive everything in a row group that follows from its rows alone.

    Args:
        path: the shard.
        task: the task of the row group's variant.
        row_group: the row group; its file has the columns and types of the task.
        check_ids: whether ids are this version's.
    """
    checks = _RowGroupChecks(task, row_group, check_ids)
    start = row_group.first
    try:
        for batch in read_batches(
            path, batch_rows=_BATCH_ROWS, groups=[row_group.group], footer=row_group.footer
        ):
            numbers = list(range(start, start + batch.num_rows))
            checks.check(_Rows(row_group.file, batch, numbers))
            start += batch.num_rows
    except DatasetError as error:
        checks.add_unreadable(start, str(error).removeprefix(f"{path} "))
    else:
        if start != row_group.first + row_group.rows:
            checks.add_unreadable(start, "they are not there")
    return checks.report


class _RowGroupChecks:
    """The checks of one row group, a batch of rows at a time."""

    def __init__(self, task: Task, row_group: RowGroup, check_ids: bool) -> None:
        self._task, self._row_group, self._check_ids = task, row_group, check_ids
        self.report = RowGroupReport(Findings(), 0)
        self._derived = [
            name
            for name, feature in task.columns.items()
            if name not in task.inputs and not is_image(feature)
        ]
        self._images = [name for name, feature in task.columns.items() if is_image(feature)]

    def add_unreadable(self, start: int, reason: str) -> None:
        last = self._row_group.first + self._row_group.rows - 1
        text = f"rows {start} to {last} cannot be read: {reason}"
        self.report.findings.add(self._row_group.file, "unreadable rows", text)

    def check(self, rows: _Rows) -> None:
        """Check some rows; later checks that could not bear a row are not made of it."""
        rows = self._without_nulls(self._of_size(rows))
        if not rows.numbers:
            return
        self._check_derived(rows)
        self._check_parsed(rows)
        self._check_images(rows)

    def _add(self, kind: str, text: str, row: int) -> None:
        self.report.findings.add(self._row_group.file, kind, text, row)

    def _of_size(self, rows: _Rows) -> _Rows:
        large = large_rows(rows.batch)
        for index in large:
            text = f"it has more than {LARGEST_ROW:,} bytes"
            self._add("too large a row", text, rows.numbers[index])
        return rows.take([index for index in range(len(rows.numbers)) if index not in large])

    def _without_nulls(self, rows: _Rows) -> _Rows:
        whole = np.ones(len(rows.numbers), np.bool_)
        for name in rows.batch.schema.names:
            there = rows.batch.column(name).is_valid().to_numpy(zero_copy_only=False)
            for index in np.flatnonzero(~there):
                self._add(f"missing {name}", f"{name} is missing", rows.numbers[index])
            whole &= there
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
        self.report.values += len(self._derived) * len(stored)

    def _compare(self, number: int, there: dict[str, Any], derived: dict[str, Any]) -> None:
        for name in self._derived:
            stored, right = there[name], derived.get(name)
            if stored != right:
                text = f"{name} is {short(stored)}, the reference solver gives {short(right)}"
                self._add(f"wrong {name}", text, number)

    def _check_parsed(self, rows: _Rows) -> None:
        """Whether all rows are rows of the task, with their ids, in a split that may have them."""
        indices, prints = self._fingerprints(rows)
        if not self._check_ids:
            return
        rows = rows.take(indices)
        there, expected = rows.batch.column("id"), ids(prints)
        wrong = pc.not_equal(there, expected).to_numpy(zero_copy_only=False)
        for index in np.flatnonzero(wrong).tolist():
            text = f"id is {short(there[index].as_py())}, the row's content gives {expected[index]}"
            self._add("wrong id", text, rows.numbers[index])
        evaluation = self._row_group.split.evaluation
        for index in np.flatnonzero(is_held_out(prints) != evaluation).tolist():
            text = f"its id, {expected[index]}, is{' not' * evaluation} one of a held-out row"
            self._add("row of another kind of split", text, rows.numbers[index])

    def _fingerprints(self, rows: _Rows) -> tuple[list[int], NDArray[np.uint64]]:
        """Indices and fingerprints of the rows that can be parsed; the others are halved out."""
        try:
            block = self._task.parse(rows.columns(self._task.inputs))
            return list(range(len(rows.numbers))), fingerprints(self._task, block)
        except Exception as error:  # whatever a parser makes of what is no row
            if len(rows.numbers) < 2:
                for number in rows.numbers:
                    self._add("no row of the task", _line(error), number)
                return [], np.zeros(0, np.uint64)
        middle = len(rows.numbers) // 2
        parts = range(middle), range(middle, len(rows.numbers))
        (left, left_prints), (right, right_prints) = (
            self._fingerprints(rows.take(part)) for part in parts
        )
        indices = left + [middle + index for index in right]
        return indices, np.concatenate([left_prints, right_prints])

    def _check_images(self, rows: _Rows) -> None:
        for name in self._images:
            files, paths = (
                rows.batch.column(name).field("bytes"),
                rows.batch.column(name).field("path"),
            )
            for index in np.flatnonzero(paths.is_valid()).tolist():
                text = f"{name} names the file {short(paths[index].as_py())}, expected none"
                self._add(f"path of {name}", text, rows.numbers[index])
            for index, reason in _undecodable(files).items():
                self._add(f"broken {name}", f"{name}: {reason}", rows.numbers[index])


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


@dataclasses.dataclass(frozen=True)
class SplitHashes:
    """Checksums and digests of a split's files, None for what cannot be read.

    Attributes:
        checksums: the SHA-256 of every shard, in hexadecimal.
        digest: the digest of the rows.
        chunks: the digests of their chunks, of which it is made.
    """

    checksums: list[str | None]
    digest: str | None
    chunks: list[bytes] | None


def hash_split(
    paths: Sequence[Path], footers: Sequence[pq.FileMetaData], features: Features | None
) -> SplitHashes:
    """The SHA-256 of every shard of a split, and the digests of its rows.

    Args:
        paths: the shards, in order.
        footers: their footers.
        features: the columns; None if some shard cannot be read or has others, then `footers` may
            be fewer.
    """
    checksums: list[str | None] = []
    for path in paths:
        try:
            checksums.append(file_sha256(path))
        except OSError:
            checksums.append(None)
    if features is None:
        return SplitHashes(checksums, None, None)
    digest = RowDigest(features)
    try:
        for path, footer in zip(paths, footers, strict=True):
            for batch in read_batches(path, footer=footer):
                digest.update(batch)
    except (DatasetError, pa.ArrowException, ValueError, TypeError, IndexError):
        return SplitHashes(checksums, None, None)
    return SplitHashes(checksums, digest.hexdigest(), digest.all_chunks())
