"""The parts of an export: splits of a dataset's variants."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.manifest import SplitRecord
from synthbench.tasks.base import Task

#: Rows in memory at a time.
BATCH_ROWS = 4_096


@dataclasses.dataclass(frozen=True)
class ExportPart:
    """One split of one variant.

    Attributes:
        dataset: the dataset.
        task: the task that made the variant.
        split: the split's name.
        advance: called after each batch with its number of rows.
    """

    dataset: DatasetDirectory
    task: Task
    split: str
    advance: Callable[[int], object]

    @property
    def record(self) -> SplitRecord:
        """The manifest's record of the split."""
        return self.dataset.split(self.task.variant, self.split)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order, a few thousand at a time; raises as `DatasetDirectory.batches`."""
        for batch in self.dataset.batches(self.task.variant, self.split, columns, BATCH_ROWS):
            yield batch
            self.advance(len(batch))

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows in order, as plain Python values; raises as `batches`."""
        for batch in self.batches(columns):
            yield from batch.to_pylist()
