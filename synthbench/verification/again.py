"""Make a split again from its manifest, and compare it with the rows in its files.

Chunks are compared by their digests. Only where two chunks differ are their rows compared, and the
first row that differs is named. The reference solver solves the rows that were made: if the digests
agree, these are the rows in the files, which need not be read a second time.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.dataset.digest import CHUNK_ROWS, RowDigest
from synthbench.dataset.manifest import MANIFEST
from synthbench.dataset.parquet import read_batches
from synthbench.engine.engine import Engine
from synthbench.errors import ExhaustedError
from synthbench.sampling.blocks import Rows, rechunk
from synthbench.sampling.plan import Plan, divide
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Block, Task
from synthbench.tasks.features import Columns
from synthbench.tasks.row_ids import columns_of, rows_table
from synthbench.text.lines import short
from synthbench.verification.files import SplitFiles
from synthbench.verification.findings import Findings
from synthbench.verification.rows import BATCH_ROWS, wrong_values


@dataclasses.dataclass(frozen=True)
class _Chunk:
    """The rows of a chunk, made again, and what `digest_and_prove` says about them."""

    block: Block
    fingerprints: NDArray[np.uint64]
    asked: Future[tuple[bytes, bool]]


def compare_with_files(
    files: SplitFiles,
    chunks: list[bytes],
    engine: Engine,
    findings: Findings,
    advance: Callable[[int], object],
) -> bool:
    """Make a split again and compare it with its files and its record, up to the first difference.

    Args:
        files: the split's files, which have as many rows as its record says.
        chunks: the digests of the chunks of the rows in the files.
        engine: renders, solves and hashes chunks.
        findings: receives what is wrong.
        advance: called with the number of rows of each chunk that was compared.

    Returns:
        Whether every row in the files is proved, so that none need be checked on its own.
    """
    task, split, rows = files.task, files.split, files.record.rows
    quotas = divide(task, split, rows)
    if (exist := sum(quotas.values())) < rows:
        text = f"{files.name} has {rows} rows, but only {exist} exist"
        findings.add(MANIFEST, f"rows of {files.name}", text)
        return False
    sampler = SplitSampler(task, split, Plan({split.name: quotas}), engine)
    row, all_proved = 0, True
    try:
        for number, chunk in enumerate(_made(task, sampler, engine)):
            digest, proved = chunk.asked.result()
            if number >= len(chunks) or digest != chunks[number]:
                _name_first_difference(chunk, files, row, findings)
                return False
            all_proved &= proved
            row += len(chunk.block)
            advance(len(chunk.block))
            # A corrupt manifest may ask for rows that take forever to find.
            if sampler.tried > files.record.candidates:
                break
    except ExhaustedError as error:
        findings.add(MANIFEST, f"rows of {files.name}", f"it cannot be made again: {error}")
        return False
    finally:
        sampler.close()
    _compare_record(sampler, files, findings)
    return all_proved and row == rows


def _compare_record(sampler: SplitSampler, files: SplitFiles, findings: Findings) -> None:
    """Compare the manifest's candidates and buckets with those of the split made again."""
    task, stated, tried = files.task, files.record.candidates, sampler.tried
    if tried != stated:
        more = " or more" * (tried > stated)
        text = f"{files.name} took {stated} candidates, but {tried}{more} when made again"
        findings.add(MANIFEST, f"candidates of {files.name}", text)
    made = {task.bucket_label(bucket): rows for bucket, rows in sampler.taken().items()}
    if tried <= stated and files.record.buckets != made:
        text = (
            f"rows by {task.bucket_name} of {files.name} are {files.record.buckets}, "
            f"but {made} when made again"
        )
        findings.add(MANIFEST, f"buckets of {files.name}", text)


def _made(task: Task, sampler: SplitSampler, engine: Engine) -> Iterator[_Chunk]:
    """The chunks of a split in order; a few are rendered ahead."""
    ahead: collections.deque[_Chunk] = collections.deque()
    for several in rechunk((one.rows() for one in sampler.rounds()), CHUNK_ROWS):
        rows = Rows.concatenate(several)
        asked = engine.submit(digest_and_prove, task, rows.block, rows.fingerprints)
        ahead.append(_Chunk(rows.block, rows.fingerprints, asked))
        if len(ahead) > engine.ahead:
            yield ahead.popleft()
    yield from ahead


def digest_and_prove(
    task: Task, block: Block, fingerprints: NDArray[np.uint64]
) -> tuple[bytes, bool]:
    """The digest of a chunk of rows, and whether rows in files with this digest are proved.

    They are if the reference solver agrees with all of them. A digest does not cover how images
    are encoded, so it never proves rows with images.
    """
    features, table = columns_of(task), rows_table(task, block, fingerprints)
    batches = table.to_batches(max_chunksize=BATCH_ROWS)
    faults = (fault for batch in batches for fault in wrong_values(task, batch))
    proved = task.image_column is None and next(faults, None) is None
    return _digest(table, features), proved


def _digest(rows: pa.Table | pa.RecordBatch, features: Columns) -> bytes:
    digest = RowDigest(features)
    digest.update(rows)
    (chunk,) = digest.all_chunks()
    return chunk


def _name_first_difference(
    chunk: _Chunk, files: SplitFiles, first: int, findings: Findings
) -> None:
    """Name the first row that differs in a chunk, which begins with row `first` of the split."""
    features = columns_of(files.task)
    made = rows_table(files.task, chunk.block, chunk.fingerprints)
    for file, number, there in _stored(files, first, first + made.num_rows):
        here = made.slice(0, there.num_rows)
        made = made.slice(there.num_rows)

        def differ(rows: int, there: pa.RecordBatch = there, here: pa.Table = here) -> bool:
            """Whether the first `rows` rows differ."""
            return _digest(there.slice(0, rows), features) != _digest(here.slice(0, rows), features)

        if not differ(there.num_rows):
            continue
        row = bisect.bisect_left(range(1, there.num_rows + 1), True, key=differ)
        different = _differences(there.slice(row, 1), here.slice(row, 1), features)
        text = f"not the row that the manifest gives: {'; '.join(different)}"
        findings.add(file, "rows made again", text, number + row)
        return
    last = first + len(chunk.block) - 1
    text = f"rows {first} to {last} of {files.name} are not those made again"
    findings.add(MANIFEST, f"rows of {files.name}", text)


def _differences(there: pa.RecordBatch, here: pa.Table, features: Columns) -> Iterator[str]:
    """The columns in which two rows differ, with both values."""
    for name, column in features.items():
        if _digest(there, {name: column}) == _digest(here, {name: column}):
            continue
        if not column.plain:
            yield f"{name} shows something else"
        else:
            one, other = there.column(name)[0].as_py(), here.column(name)[0].as_py()
            yield f"{name} is {short(one)}, but {short(other)} when made again"


def _stored(files: SplitFiles, first: int, last: int) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """The rows `first` to `last` (exclusive) of a split: file, number of the first row in it, rows.

    A DatasetError if a file can no longer be read.
    """
    start = 0
    for group in files.row_groups:
        row, start = start, start + group.rows
        if row >= last or start <= first:
            continue
        number, path = group.first, files.directory / group.file
        for batch in read_batches(path, groups=[group.group], footer=group.footer):
            wanted = batch.slice(max(0, first - row), max(0, last - max(first, row)))
            if wanted.num_rows:
                yield group.file, number + max(0, first - row), wanted
            row, number = row + batch.num_rows, number + batch.num_rows
