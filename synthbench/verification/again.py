"""A split made again from what the manifest says, and compared with the rows in its files.

Both sides are known by the digests of their chunks, so equal rows are never compared one by one.
Only where two chunks differ are their rows looked at, and the first that differs is named.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.dataset.digest import CHUNK_ROWS, RowDigest
from synthbench.dataset.manifest import MANIFEST
from synthbench.dataset.parquet import read_batches
from synthbench.engine.engine import Asked, Engine
from synthbench.errors import ExhaustedError
from synthbench.sampling.plan import Plan, divide
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Block, Task
from synthbench.tasks.features import Features, is_image
from synthbench.tasks.row_ids import columns_of, rows_table
from synthbench.text.lines import short
from synthbench.verification.files import SplitFiles
from synthbench.verification.findings import Findings


@dataclasses.dataclass(frozen=True)
class _Chunk:
    """Rows that were made again, and that are a chunk of their split's digest.

    Attributes:
        block: the rows.
        fingerprints: their fingerprints, uint64 `(rows,)`.
        digest: their digest, asked of a worker.
    """

    block: Block
    fingerprints: NDArray[np.uint64]
    digest: Asked[bytes]


def compare_with_files(
    task: Task,
    files: SplitFiles,
    directory: Path,
    chunks: list[bytes],
    engine: Engine,
    findings: Findings,
) -> Iterator[int]:
    """Make a split again and compare it with its files and its record.

    Args:
        task: the task.
        files: the split's files; all are there, and have as many rows as its record says.
        directory: the dataset directory.
        chunks: the digests of the chunks of the rows in the files.
        engine: where chunks are rendered and hashed.
        findings: what is wrong.

    Yields:
        How many rows were compared, chunk by chunk. It ends at the first row that differs.
    """
    split, rows = files.split, files.record.rows
    quotas = divide(task, split, rows)
    if (exist := sum(quotas.values())) < rows:
        text = f"{files.name} has {rows} rows, but only {exist} exist"
        findings.add(MANIFEST, f"rows of {files.name}", text)
        return
    sampler = SplitSampler(task, split, Plan({split.name: quotas}), engine)
    row = 0
    try:
        for number, chunk in enumerate(_hashed(task, sampler, engine)):
            if number >= len(chunks) or chunk.digest.result() != chunks[number]:
                _name_first_difference(task, chunk, files, directory, row, findings)
                return
            yield len(chunk.block)
            row += len(chunk.block)
            # Otherwise a corrupt manifest could ask for rows that take for ever to be found.
            if sampler.tried > files.record.candidates:
                break
    except ExhaustedError as error:
        findings.add(MANIFEST, f"rows of {files.name}", f"it cannot be made again: {error}")
        return
    finally:
        sampler.close()
    _compare_record(task, sampler, files, findings)


def _compare_record(
    task: Task, sampler: SplitSampler, files: SplitFiles, findings: Findings
) -> None:
    """Compare what the manifest tells of how the rows were found."""
    stated, tried = files.record.candidates, sampler.tried
    if tried != stated:
        more = " or more" * (tried > stated)
        text = f"{files.name} is from {stated} candidates, made again from {tried}{more}"
        findings.add(MANIFEST, f"candidates of {files.name}", text)
    made = {task.bucket_label(bucket): rows for bucket, rows in sampler.taken().items()}
    if tried <= stated and files.record.buckets != made:
        text = (
            f"rows by {task.bucket_name} of {files.name} are {files.record.buckets}, "
            f"made again {made}"
        )
        findings.add(MANIFEST, f"buckets of {files.name}", text)


def _hashed(task: Task, sampler: SplitSampler, engine: Engine) -> Iterator[_Chunk]:
    """The chunks of a split in order; the digests of a few are asked for ahead."""
    ahead: collections.deque[_Chunk] = collections.deque()
    for block, prints in _cut(sampler):
        ahead.append(_Chunk(block, prints, engine.submit(digest_rows, task, block, prints)))
        if len(ahead) > engine.ahead:
            yield ahead.popleft()
    yield from ahead


def _cut(sampler: SplitSampler) -> Iterator[tuple[Block, NDArray[np.uint64]]]:
    """The rows of a split and their fingerprints, cut into chunks."""
    blocks: list[Block] = []
    prints = np.zeros(0, np.uint64)
    for drawn in sampler.rounds():
        rows = drawn.rows()
        blocks, prints = [*blocks, rows.block], np.concatenate([prints, rows.fingerprints])
        whole = len(prints) - len(prints) % CHUNK_ROWS
        if whole:
            block = Block.concatenate(blocks)
            for first in range(0, whole, CHUNK_ROWS):
                chunk = slice(first, first + CHUNK_ROWS)
                yield block.take(chunk), prints[chunk]
            blocks, prints = [block.take(slice(whole, None))], prints[whole:]
    if len(prints):
        yield Block.concatenate(blocks), prints


def digest_rows(task: Task, block: Block, fingerprints: NDArray[np.uint64]) -> bytes:
    """The digest of a chunk of rows, as `RowDigest` has it."""
    return _digest(rows_table(task, block, fingerprints), columns_of(task))


def _digest(rows: pa.Table | pa.RecordBatch, features: Features) -> bytes:
    digest = RowDigest(features)
    digest.update(rows)
    (chunk,) = digest.all_chunks()
    return chunk


def _name_first_difference(
    task: Task,
    chunk: _Chunk,
    files: SplitFiles,
    directory: Path,
    first: int,
    findings: Findings,
) -> None:
    """Name the first row of a chunk, which begins with row `first`, that the files have not."""
    features = columns_of(task)
    made = rows_table(task, chunk.block, chunk.fingerprints)
    for file, number, there in _stored(files, directory, first, first + made.num_rows):
        here = made.slice(0, there.num_rows)
        made = made.slice(there.num_rows)
        if _digest(there, features) == _digest(here, features):
            continue
        # The first row that differs is the last one of the shortest beginning that does.
        lengths = range(1, there.num_rows + 1)
        row = bisect.bisect_left(
            lengths, True, key=lambda n: _beginnings_differ(there, here, n, features)
        )
        different = _differences(there.slice(row, 1), here.slice(row, 1), features)
        text = f"not the row that the manifest gives: {'; '.join(different)}"
        findings.add(file, "rows made again", text, number + row)
        return
    text = (
        f"rows {first} to {first + len(chunk.block) - 1} of {files.name} are not those made again"
    )
    findings.add(MANIFEST, f"rows of {files.name}", text)


def _beginnings_differ(
    there: pa.RecordBatch, here: pa.Table, rows: int, features: Features
) -> bool:
    return _digest(there.slice(0, rows), features) != _digest(here.slice(0, rows), features)


def _differences(there: pa.RecordBatch, here: pa.Table, features: Features) -> Iterator[str]:
    """The columns in which two rows differ, and what each has there."""
    for name, feature in features.items():
        if _digest(there, {name: feature}) == _digest(here, {name: feature}):
            continue
        if is_image(feature):
            yield f"{name} shows something else"
        else:
            one, other = there.column(name)[0].as_py(), here.column(name)[0].as_py()
            yield f"{name} is {short(one)}, made again {short(other)}"


def _stored(
    files: SplitFiles, directory: Path, first: int, last: int
) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """The rows of a split from number `first` to before `last`, as its files have them.

    Yields:
        A file, the number of a row in it, and rows from that one on.

    Raises:
        DatasetError: a file cannot be read any more.
    """
    start = 0
    for group in files.row_groups:
        row, start = start, start + group.rows
        if row >= last or start <= first:
            continue
        number, path = group.first, directory / group.file
        for batch in read_batches(path, groups=[group.group], footer=group.footer):
            wanted = batch.slice(max(0, first - row), max(0, last - max(first, row)))
            if wanted.num_rows:
                yield group.file, number + max(0, first - row), wanted
            row, number = row + batch.num_rows, number + batch.num_rows
