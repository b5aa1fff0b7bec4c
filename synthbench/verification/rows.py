"""Checks that run in workers: each row must follow from its own inputs; checksums and digests."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from synthbench.dataset.digest import RowDigest, file_sha256
from synthbench.dataset.parquet import LARGEST_ROW, large_rows, read_batches
from synthbench.errors import DatasetError
from synthbench.tasks.base import Split, Task
from synthbench.tasks.features import Columns
from synthbench.tasks.images import png
from synthbench.tasks.row_ids import fingerprints, ids, is_held_out
from synthbench.text.lines import one_line, short
from synthbench.verification.findings import Findings

#: Rows that a worker holds as Python values at a time.
BATCH_ROWS = 1_024

#: Index of a row in its batch, the kind of fault, and what is wrong.
Fault = tuple[int, str, str]


@dataclasses.dataclass(frozen=True)
class RowGroup:
    """A row group of a shard."""

    split: Split
    file: str  # the shard, as a path in the dataset directory
    group: int  # number of the row group in the file
    first: int  # number of its first row in the file
    rows: int  # number of its rows
    footer: pq.FileMetaData  # of the file, so that a worker need not read it again


def check_row_group(path: Path, task: Task, row_group: RowGroup, check_ids: bool) -> Findings:
    """Check everything in a row group that can be checked with its rows alone.

    Args:
        path: the shard.
        task: the task of the row group's variant.
        row_group: the row group; its file has the columns and types of the task.
        check_ids: whether this version computes the same ids as the one that made the dataset.
    """
    findings, file, first = Findings(), row_group.file, row_group.first
    end = first + row_group.rows
    evaluation = row_group.split.evaluation if check_ids else None
    try:
        for batch in read_batches(
            path, batch_rows=BATCH_ROWS, groups=[row_group.group], footer=row_group.footer
        ):
            broken = [*_too_large(batch), *_missing(batch)]
            # The other checks would fail on these rows.
            left = np.setdiff1d(np.arange(batch.num_rows), [index for index, _, _ in broken])
            whole = batch.take(pa.array(left)) if broken else batch
            faults = itertools.chain(
                wrong_values(task, whole),
                _wrong_ids(task, whole, evaluation),
                _broken_images(task, whole),
            )
            for index, kind, text in broken:
                findings.add(file, kind, text, first + index)
            for index, kind, text in faults:
                findings.add(file, kind, text, first + int(left[index]))
            first += batch.num_rows
    except DatasetError as error:
        reason = str(error).removeprefix(f"{path} ")
    else:
        reason = "they are missing" if first != end else ""
    if reason:
        text = f"rows {first} to {end - 1} cannot be read: {reason}"
        findings.add(file, "unreadable rows", text)
    return findings


def _too_large(batch: pa.RecordBatch) -> Iterator[Fault]:
    for index in large_rows(batch):
        yield index, "too large a row", f"it has more than {LARGEST_ROW:,} bytes"


def _missing(batch: pa.RecordBatch) -> Iterator[Fault]:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        for index in np.flatnonzero(column.is_null()) if column.null_count else ():
            yield int(index), f"missing {name}", f"{name} is missing"


def derived_columns(task: Task) -> list[str]:
    """The columns that `Task.recompute_columns` gives."""
    return [name for name in task.plain_columns if name not in task.inputs]


def wrong_values(task: Task, rows: pa.RecordBatch) -> Iterator[Fault]:
    """Where the derived columns of some rows differ from those of the reference solver."""
    if not (names := derived_columns(task)):
        return
    questions = rows.select(list(task.inputs)).to_pylist()
    stored = rows.select(names).to_pylist()
    for index, (question, there) in enumerate(zip(questions, stored, strict=True)):
        try:
            derived = task.recompute_columns(question)
        except Exception as error:  # a solver may raise anything on what is not a row
            yield index, "no solution", f"the reference solver fails: {_line(error)}"
            continue
        if derived != there:
            for name in names:
                if there[name] != (right := derived.get(name)):
                    text = f"{name} is {short(there[name])}, the reference solver gives"
                    yield index, f"wrong {name}", f"{text} {short(right)}"


def _wrong_ids(task: Task, rows: pa.RecordBatch, evaluation: bool | None) -> Iterator[Fault]:
    """Rows that are invalid for the task, have a wrong id, or are in the wrong kind of split.

    `evaluation` says whether the split has held-out rows; if it is None, ids are not compared.
    """
    found: list[tuple[int, NDArray[np.uint64]]] = []
    yield from _parse(task, rows, 0, found)
    if evaluation is None or not found:
        return
    indices = np.concatenate([first + np.arange(len(prints)) for first, prints in found])
    prints = np.concatenate([prints for _, prints in found])
    there, expected = rows.column("id").take(pa.array(indices)), ids(prints)
    for place in np.flatnonzero(pc.not_equal(there, expected)):
        given = short(there[place].as_py())
        text = f"id is {given}, the row's content gives {expected[place]}"
        yield int(indices[place]), "wrong id", text
    for place in np.flatnonzero(is_held_out(prints) != evaluation):
        text = f"its id, {expected[place]}, is{' not' * evaluation} that of a held-out row"
        yield int(indices[place]), "row of another kind of split", text


def _parse(
    task: Task, rows: pa.RecordBatch, first: int, found: list[tuple[int, NDArray[np.uint64]]]
) -> Iterator[Fault]:
    """Add the fingerprints of runs of rows to `found`; halving finds rows that cannot be parsed."""
    try:
        block = task.parse({name: rows.column(name) for name in task.inputs})
        found.append((first, fingerprints(task, block)))
    except Exception as error:  # a parser may raise anything on what is not a row
        if rows.num_rows > 1:
            middle = rows.num_rows // 2
            yield from _parse(task, rows.slice(0, middle), first, found)
            yield from _parse(task, rows.slice(middle), first + middle, found)
        elif rows.num_rows:
            yield first, "not a row of the task", _line(error)


def _broken_images(task: Task, rows: pa.RecordBatch) -> Iterator[Fault]:
    for name in filter(None, [task.image_column]):
        files, paths = rows.column(name).field("bytes"), rows.column(name).field("path")
        for index in np.flatnonzero(paths.is_valid()).tolist():
            text = f"{name} names the file {short(paths[index].as_py())}, expected none"
            yield index, f"path of {name}", text
        with contextlib.suppress(ValueError):
            collections.deque(png.decode_all(files), maxlen=0)
            continue
        for index, file in enumerate(files):  # some image is broken
            try:
                png.decode(file.as_py() or b"")
            except ValueError as error:
                yield index, f"broken {name}", f"{name}: {_line(error)}"


def _line(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}".partition("\n")[0])


@dataclasses.dataclass(frozen=True)
class SplitHashes:
    """Checksums and digests of a split's files, None for what cannot be read."""

    checksums: list[str | None]  # the SHA-256 of every shard, in hexadecimal
    digest: str | None = None  # of the rows
    chunks: list[bytes] | None = None  # the digests of the chunks that `digest` is made of


def hash_split(
    paths: Sequence[Path], footers: Sequence[pq.FileMetaData], features: Columns | None
) -> SplitHashes:
    """The SHA-256 of every shard of a split, and the digests of its rows.

    The rows are not read if `features`, their columns, is None.
    """
    checksums: list[str | None] = []
    for path in paths:
        try:
            checksums.append(file_sha256(path))
        except OSError:
            checksums.append(None)
    if features is None:
        return SplitHashes(checksums)
    digest = RowDigest(features)
    try:
        for path, footer in zip(paths, footers, strict=True):
            for batch in read_batches(path, footer=footer):
                digest.update(batch)
    except (DatasetError, pa.ArrowException, ValueError, TypeError, IndexError):
        return SplitHashes(checksums)
    return SplitHashes(checksums, digest.hexdigest(), digest.all_chunks())
