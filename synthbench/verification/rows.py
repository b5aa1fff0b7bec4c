"""Proof of a split's rows: they are made again from the manifest, and solved again.

Chunks are compared by their digests. Only where two chunks differ are their rows compared, and the
first row that differs is named. The reference solver solves the rows that were made: if the digests
agree, these are the rows in the files, which need not be read a second time. Rows that cannot be
made again are read from the files and solved.
"""

from __future__ import annotations

import bisect
import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.dataset.digest import CHUNK_ROWS, RowDigest
from synthbench.dataset.manifest import MANIFEST
from synthbench.dataset.parquet import read_batches
from synthbench.engine.engine import Engine
from synthbench.errors import ExhaustedError
from synthbench.generation.shards import rechunk
from synthbench.sampling.blocks import KeyedRows
from synthbench.sampling.plan import Plan, divide
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.answer_check import accepts
from synthbench.tasks.arrow import arrow_array
from synthbench.tasks.base import LABEL, Block, Task
from synthbench.tasks.features import Columns
from synthbench.tasks.returned import buckets_of, label_of, wrong_bucket
from synthbench.tasks.row_ids import columns_of, fingerprints, ids, rows_table
from synthbench.text.lines import one_line, short
from synthbench.verification.files import RowGroup, SplitFiles
from synthbench.verification.proof import proved

#: Rows that are held as Python values at a time.
_BATCH_ROWS = 1_024
#: A row's number and its fault.
Wrong = tuple[int, str]


def make_again(
    files: SplitFiles, engine: Engine, advance: Callable[[int], object]
) -> Iterator[str]:
    """Make a split again and compare it with its files and its record.

    Args:
        files: the split's files, which have as many rows as its record says.
        engine: renders, solves and hashes chunks.
        advance: called with the number of rows of each chunk that was compared.

    Yields:
        What is wrong, up to the first row that differs. Without a difference every row in the
        files is proved: it is the row that the manifest gives, and the reference solver agrees.
    """
    task, split, record = files.task, files.split, files.record
    quotas = divide(task, split, record.rows)
    if (exist := sum(quotas.values())) < record.rows:
        yield f"{MANIFEST}: {files.name} has {record.rows} rows, but only {exist} exist"
        return
    sampler = SplitSampler(task, split, Plan({split.name: quotas}), engine)
    chunks = map(
        KeyedRows.concatenate, rechunk((drawn.rows() for drawn in sampler.rounds()), CHUNK_ROWS)
    )
    calls = ((task, rows) for rows in chunks)
    there, row = files.chunks or [], 0
    try:
        for (_, rows), (digest, wrong) in engine.in_order(digest_and_solve, calls):
            if digest != there[row // CHUNK_ROWS]:
                table = rows_table(task, rows.block, rows.fingerprints)
                yield _first_difference(files, row, table)
                return
            if wrong is not None:
                yield f"{files.locate(row + wrong[0])}: {wrong[1]}"
                return
            row += len(rows)
            advance(len(rows))
            # A corrupt manifest may ask for rows that take forever to find.
            if sampler.tried > record.candidates:
                break
    except ExhaustedError as error:
        yield f"{MANIFEST}: {files.name} cannot be made again: {error}"
        return
    finally:
        sampler.close()
    if sampler.tried != record.candidates:
        more = " or more" * (sampler.tried > record.candidates)
        yield (
            f"{MANIFEST}: {files.name} took {record.candidates} candidates, but "
            f"{sampler.tried}{more} when made again"
        )
        if more:
            return
    buckets = {task.bucket_label(bucket): rows for bucket, rows in sampler.taken().items()}
    if record.buckets != buckets:
        yield (
            f"{MANIFEST}: rows by {task.bucket_name} of {files.name} are {record.buckets}, but "
            f"{buckets} when made again"
        )


def digest_and_solve(task: Task, rows: KeyedRows) -> tuple[bytes, Wrong | None]:
    """The digest of a chunk of rows, and the first of them that is wrong.

    A row is wrong if the reference solver or the task's `check` refutes it, its id is not that of
    its inputs, or it is in another bucket than it was drawn for.
    """
    table = rows_table(task, rows.block, rows.fingerprints)
    wrong = first_wrong_row(task, table, with_ids=True)
    return _digest(table, columns_of(task)), wrong or wrong_bucket(task, table, rows.buckets)


def _digest(rows: pa.Table, features: Columns) -> bytes:
    digest = RowDigest(features)
    digest.update(rows)
    (chunk,) = digest.all_chunks()
    return chunk


def _first_difference(files: SplitFiles, first: int, again: pa.Table) -> str:
    """Name the first row that differs from those made again, of which `first` is the first."""
    features = columns_of(files.task)
    there = files.read(first, again.num_rows)

    def differ(rows: int) -> bool:
        """True if the first `rows` rows differ."""
        return _digest(there.slice(0, rows), features) != _digest(again.slice(0, rows), features)

    row = bisect.bisect_left(range(1, again.num_rows + 1), True, key=differ)
    different = [
        f"{name} shows something else"
        if not feature.plain
        else f"{name} is {short(there[name][row].as_py())} instead of "
        f"{short(again[name][row].as_py())}"
        for name, feature in features.items()
        if _digest(there.slice(row, 1), {name: feature})
        != _digest(again.slice(row, 1), {name: feature})
    ]
    return f"{files.locate(first + row)} differs from the row made again: {', '.join(different)}"


def derived_columns(task: Task) -> list[str]:
    """The columns that `Task.recompute_columns` gives."""
    return [name for name in task.plain_columns if name not in task.inputs]


def first_wrong_row(task: Task, rows: pa.Table, with_ids: bool) -> Wrong | None:
    """The first row that the reference solver refutes or whose id is wrong; None if all are right.

    The label of a checked task need not be the solver's, but `check` must accept both.

    Args:
        task: the task.
        rows: its rows, with all columns of a shard.
        with_ids: whether ids are looked at.
    """
    first = 0
    for batch in rows.to_batches(CHUNK_ROWS):
        try:
            block = task.parse({name: batch.column(name) for name in task.inputs})
        except Exception as error:  # a task may raise anything on other values
            block, unreadable = None, error
        wrong = _first_refuted(task, block, batch)
        if with_ids and wrong is None:
            wrong = _unknown_ids(unreadable) if block is None else _first_id(task, block, batch)
        if wrong is not None:
            return first + wrong[0], wrong[1]
        first += batch.num_rows
    return None


def _first_refuted(task: Task, block: Block | None, rows: pa.RecordBatch) -> Wrong | None:
    """The first row that the reference solver refutes, among the rows without proof."""
    names = derived_columns(task)
    left = np.flatnonzero(~proved(task, block, rows)) if names else np.zeros(0, np.int64)
    for start in range(0, len(left), _BATCH_ROWS):
        numbers = left[start : start + _BATCH_ROWS]
        some = rows.take(arrow_array(numbers))
        questions = some.select(list(task.inputs)).to_pylist()
        stored = some.select(names).to_pylist()
        for number, question, there in zip(numbers.tolist(), questions, stored, strict=True):
            try:
                derived = task.recompute_columns(question)
            except Exception as error:  # as above
                reason = f"{type(error).__name__}: {error}".partition("\n")[0]
                return number, one_line(f"the reference solver fails: {reason}")
            if not task.is_checked and derived == there:
                continue
            if wrong := list(_faults(task, {**question, **there}, derived, names)):
                return number, "; ".join(wrong)
    return None


def _faults(
    task: Task, row: Mapping[str, Any], derived: Mapping[str, Any], names: Sequence[str]
) -> Iterator[str]:
    """Differences between the stored columns `names` of a row and its derived columns."""
    for name in names:
        there, right = row[name], derived.get(name)
        if name == LABEL and task.is_checked:
            yield from _refused(task, row, "label is", there)
            yield from _refused(task, row, "the reference solver gives", right)
        elif there != right:
            yield f"{name} is {short(there)}, the reference solver gives {short(right)}"


def _refused(task: Task, row: Mapping[str, Any], what: str, answer: Any) -> Iterator[str]:
    """The answer to a row of a checked task, if `check` refuses it."""
    try:
        if not accepts(task, row, answer):
            yield f"{what} {short(answer)}, which check of {task.name} refuses"
    except Exception as error:  # as above
        yield one_line(str(error))


def _first_id(task: Task, block: Block, rows: pa.RecordBatch) -> Wrong | None:
    """The first row whose id is not that of its inputs, and the right id; None if all are right."""
    try:
        right = ids(fingerprints(task, block))
    except Exception as error:  # as above
        return _unknown_ids(error)
    there = rows.column("id")
    if there.equals(right):
        return None
    pairs = enumerate(zip(there.to_pylist(), right.to_pylist(), strict=True))
    row, (stored, expected) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
    return row, f"id is {short(stored)}, the row's inputs give {short(expected)}"


def _unknown_ids(error: Exception) -> Wrong:
    return 0, one_line(f"the ids cannot be computed: {type(error).__name__}: {error}")


def solve_rows(
    files: SplitFiles, engine: Engine, advance: Callable[[int], object], ours: bool
) -> Iterator[str]:
    """Look at the rows in a split's files, and count those of each bucket.

    Args:
        files: the split's files.
        engine: looks at row groups.
        advance: called with the number of rows of each row group.
        ours: whether this version makes the same rows, so that ids and buckets are checked, too.

    Yields:
        The first row that the reference solver refutes or whose id is wrong, if any. Otherwise
        whether the manifest has other numbers of rows by bucket.
    """
    task, counted = files.task, collections.Counter[int]()
    calls = ((task, files.directory, group, ours) for group in files.groups)
    for (_, _, group, _), (wrong, buckets) in engine.in_order(_look_at_group, calls):
        if wrong is not None:
            yield f"{files.locate(group.start + wrong[0])}: {wrong[1]}"
            return
        counted.update(buckets)
        advance(group.rows)
    by_label = {label_of(task, bucket): rows for bucket, rows in sorted(counted.items())}
    recorded = {name: rows for name, rows in files.record.buckets.items() if rows}
    if ours and by_label != recorded:
        yield (
            f"{MANIFEST}: rows by {task.bucket_name} of {files.name} are {recorded}, but "
            f"{by_label} in the files"
        )


def _look_at_group(
    task: Task, directory: Path, group: RowGroup, ours: bool
) -> tuple[Wrong | None, dict[int, int]]:
    """The first wrong row of a row group, and how many of its rows are in each bucket."""
    rows = pa.Table.from_batches(read_batches(directory / group.file, groups=[group.number]))
    wrong = first_wrong_row(task, rows, with_ids=ours)
    if wrong is not None or not ours:
        return wrong, {}
    try:
        buckets, counts = np.unique(buckets_of(task, rows), return_counts=True)
    except Exception as error:  # as above
        return (0, one_line(f"the buckets cannot be told: {type(error).__name__}: {error}")), {}
    return None, dict(zip(buckets.tolist(), counts.tolist(), strict=True))
