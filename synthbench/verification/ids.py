"""Proofs from the ids of a variant's rows: no row twice, and no row in a wrong split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.dataset.parquet import read_batches
from synthbench.engine.engine import Engine
from synthbench.tasks.row_ids import are_held_out, ids, read_ids
from synthbench.verification.files import SplitFiles


def check_ids(splits: Sequence[SplitFiles], engine: Engine) -> Iterator[str]:
    """Look at the ids of a variant's rows, each of which is that of its row.

    Args:
        splits: all splits of the variant. Every file could be read.
        engine: reads the splits.

    Yields:
        The first row of each split that is held out in a split without held-out rows, or the
        reverse. Otherwise the first row that the variant has twice.
    """
    calls = ((files.directory, [shard.file for shard in files.record.shards]) for files in splits)
    prints = [codes for _, codes in engine.in_order(_stored_ids, calls)]
    misplaced = False
    for files, own in zip(splits, prints, strict=True):
        wrong = np.flatnonzero(are_held_out(own) != files.split.evaluation)
        if len(wrong):
            misplaced = True
            is_one, has = ("not held out", "only") if files.split.evaluation else ("held out", "no")
            where = files.locate(int(wrong[0]))
            yield f"{where}: the row is {is_one}, but the split has {has} rows that are held out"
    if not misplaced:
        yield from _repeated(splits, prints)


def _stored_ids(directory: Path, files: Sequence[str]) -> NDArray[np.uint64]:
    batches = [batch for file in files for batch in read_batches(directory / file, ["id"])]
    return read_ids(pa.Table.from_batches(batches)["id"].combine_chunks())


def _repeated(splits: Sequence[SplitFiles], prints: Sequence[NDArray[np.uint64]]) -> Iterator[str]:
    """The first row of a variant that equals one before it."""
    every = np.concatenate(prints)
    order = np.argsort(every, kind="stable")
    same = np.flatnonzero(every[order[1:]] == every[order[:-1]])
    if not len(same):
        return
    pair = int(same[np.argmin(order[same + 1])])
    first, second = (_where(splits, int(order[index])) for index in (pair, pair + 1))
    (row_id,) = ids(every[order[pair : pair + 1]]).to_pylist()
    yield f"{second}: the same row as {first} (id {row_id})"


def _where(splits: Sequence[SplitFiles], row: int) -> str:
    """The place of row number `row` of the variant."""
    for files in splits:
        if row < files.rows:
            return files.locate(row)
        row -= files.rows
    raise IndexError(row)
