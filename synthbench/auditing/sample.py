"""Draw the rows that shortcuts are fitted and scored on: a limited number, always the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.auditing.variant import AuditedVariant
from synthbench.seeding import Draws
from synthbench.tasks.audit_spec import Columns

#: The maximum number of rows to fit shortcuts on, and of rows per split to score them on.
FIT_ROWS, SCORE_ROWS = 20_000, 10_000
#: One in this many rows drawn from train is held out for scoring.
HELD_OUT = 5
#: The maximum memory for the drawn rows of a split, in bytes.
MOST_BYTES = 1 << 27
_BATCH_ROWS = 1_024


@dataclasses.dataclass(frozen=True)
class Sample:
    """Rows drawn from a split: all their columns, and the number of rows of the whole split."""

    columns: dict[str, pa.Array]
    split_rows: int

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def take(self, rows: NDArray[np.int64]) -> Sample:
        """The rows at these indices, in this order."""
        chosen = pa.array(rows)
        columns = {name: column.take(chosen) for name, column in self.columns.items()}
        return Sample(columns, self.split_rows)

    def batches(self, rows: int = _BATCH_ROWS) -> Iterator[Columns]:
        """The rows in order, in batches of at most `rows`."""
        for first in range(0, len(self), rows):
            yield {name: column.slice(first, rows) for name, column in self.columns.items()}


def draw_samples(subject: AuditedVariant) -> tuple[Sample | None, dict[str, Sample]]:
    """Draw rows of train to fit shortcuts on, and other rows of every split to score them on.

    Without a train split, the rows to fit on are None. Raises as `draw_rows`.
    """
    fit, score = None, {}
    for name in subject.splits:
        if subject.is_evaluation(name):
            score[name] = draw_rows(subject, name, SCORE_ROWS)
            continue
        drawn = draw_rows(subject, name, FIT_ROWS * HELD_OUT // (HELD_OUT - 1))
        held_out = np.arange(len(drawn)) % HELD_OUT == 0
        score[name] = drawn.take(np.flatnonzero(held_out))
        fit = drawn.take(np.flatnonzero(~held_out)) if len(drawn) > 1 else drawn
    return fit, score


def draw_rows(subject: AuditedVariant, split: str, most: int) -> Sample:
    """Cut a split into at most `most` equal parts, and draw one row from each, in order.

    The same dataset always gives the same rows. If rows are large, fewer are drawn, so that
    the sample fits into `MOST_BYTES`.

    Raises:
        DatasetError: a shard is missing, cannot be read, or does not have the rows it should.
    """
    dataset, task = subject.dataset, subject.task
    total = dataset.split(task.variant, split).rows
    first = next(dataset.batches(task.variant, split, batch_rows=64))
    most = max(1, min(most, total, MOST_BYTES * len(first) // max(1, first.nbytes)))
    ends = np.arange(most + 1) * total // most
    draws = Draws({"audit": task.name, "split": split})
    chosen = ends[:-1] + (draws.floats(most) * np.diff(ends)).astype(np.int64)
    parts: list[pa.RecordBatch] = []
    done = 0
    for batch in dataset.batches(task.variant, split, batch_rows=8_192):
        low, high = np.searchsorted(chosen, (done, done + len(batch)))
        parts.append(batch.take(pa.array(chosen[low:high] - done)))
        done += len(batch)
    drawn = pa.concat_batches(parts)
    return Sample(dict(zip(drawn.schema.names, drawn.columns, strict=True)), total)
