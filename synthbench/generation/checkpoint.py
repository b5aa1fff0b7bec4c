"""The finished part of a split, from which an interrupted run is resumed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.dataset.digest import file_sha256
from synthbench.dataset.files import why_unreadable
from synthbench.dataset.manifest import Shard, SplitRecord, split_record
from synthbench.dataset.parquet import read_batches
from synthbench.dataset.staging import Staging
from synthbench.sampling.seen import FingerprintSet
from synthbench.tasks.base import Split, Task
from synthbench.tasks.row_ids import read_ids


class SplitCheckpoint:
    """The finished shards of a split, and the sampler's state to resume from.

    `Staging` keeps it as JSON values; it is saved after every shard.

    If the checksum of a shard has changed, the split starts anew.

    Attributes:
        shards: the finished shards.
        rows: rows in these shards.
        emitted: rows that the sampler gave before the round that `state` starts.
        state: state of the sampler before that round, None to start from the beginning.
    """

    def __init__(self, staging: Staging, task: Task, split: Split) -> None:
        self._staging, self._task, self._split = staging, task, split.name
        left = staging.progress.get(task.variant, {}).get(split.name, {})
        self.shards = [Shard(**shard) for shard in left.get("record", left).get("shards", [])]
        if not all(map(self._whole, self.shards)):
            left, self.shards = {}, []
        self._record: dict[str, Any] | None = left.get("record")
        self.emitted: int = left.get("emitted", 0)
        self.state: dict[str, Any] | None = left.get("state")
        self.rows = sum(shard.rows for shard in self.shards)

    @property
    def record(self) -> SplitRecord | None:
        """The split's record, if the split is finished."""
        return None if self._record is None else split_record(self._record)

    def _whole(self, shard: Shard) -> bool:
        path = self._staging.path
        there = why_unreadable(path, shard.file) is None
        return there and file_sha256(path / shard.file) == shard.sha256

    def save(self, shards: list[Shard], position: dict[str, Any]) -> None:
        """Save all finished shards, with `emitted` and `state` of the round that filled the last.

        Raises:
            SynthbenchError: the checkpoint cannot be written.
        """
        done = [dataclasses.asdict(shard) for shard in shards]
        self._staging.save(self._task.variant, self._split, {"shards": done, **position})

    def finish(self, record: SplitRecord) -> None:
        """Save the record of the finished split; raises as `save`."""
        self._staging.save(self._task.variant, self._split, {"record": dataclasses.asdict(record)})

    def restore(
        self, add_finished_rows: Callable[[pa.RecordBatch], None]
    ) -> dict[int, FingerprintSet]:
        """Pass finished rows to the writer; by bucket, the fingerprints of the first `emitted`."""
        seen: dict[int, FingerprintSet] = {}
        remembered = self.emitted
        for batch in self._batches():
            add_finished_rows(batch)
            old = batch.slice(0, remembered)
            remembered -= old.num_rows
            prints = read_ids(old.column("id"))
            buckets = self._task.buckets({name: old.column(name) for name in old.schema.names})
            for bucket in np.unique(buckets).tolist():
                seen.setdefault(bucket, FingerprintSet()).add(prints[buckets == bucket])
        return seen

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for shard in self.shards:
            yield from read_batches(self._staging.path / shard.file)
