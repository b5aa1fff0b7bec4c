"""What an interrupted run left of a split, and how to go on from there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.dataset import Shard, SplitRecord, split_record
from synthbench.digest import file_sha256, read_ids
from synthbench.files import reason_against
from synthbench.fingerprint_set import FingerprintSet
from synthbench.parquet import read_batches
from synthbench.publishing import Workplace
from synthbench.tasks.base import Split, Task


class LeftBehind:
    """The finished shards of a split, and the sampler's state to go on with.

    Shards that do not have their checksum any more are not trusted: the split starts anew.

    Attributes:
        record: the split's record, if the split is finished.
        shards: its finished shards.
        rows: rows in these shards.
        emitted: rows that the sampler had given before the round that `state` starts.
        state: state of the sampler before that round, None to start from the beginning.
    """

    def __init__(self, workplace: Workplace, task: Task, split: Split) -> None:
        self._workplace, self._task = workplace, task
        left = workplace.progress.get(task.variant, {}).get(split.name, {})
        self.record: SplitRecord | None = split_record(left["record"]) if "record" in left else None
        self.shards: list[Shard] = [Shard(**shard) for shard in left.get("shards", [])]
        if self.record is not None:
            self.shards = list(self.record.shards)
        self.emitted: int = left.get("emitted", 0)
        self.state: dict[str, Any] | None = left.get("state")
        if not all(map(self._whole, self.shards)):
            self.record, self.shards, self.emitted, self.state = None, [], 0, None
        self.rows = sum(shard.rows for shard in self.shards)

    def _whole(self, shard: Shard) -> bool:
        path = self._workplace.path
        there = reason_against(path, shard.file) is None
        return there and file_sha256(path / shard.file) == shard.sha256

    def restore(
        self, seen: dict[int, FingerprintSet], pass_over: Callable[[pa.RecordBatch], None]
    ) -> None:
        """Hand the finished rows to the writer, and those before the state to what was seen."""
        remembered = self.rows if self.record is not None else self.emitted
        for batch in self._batches():
            pass_over(batch)
            old = batch.slice(0, remembered)
            remembered -= old.num_rows
            prints = read_ids(old.column("id"))
            buckets = self._task.buckets({name: old.column(name) for name in old.schema.names})
            for bucket in np.unique(buckets).tolist():
                seen.setdefault(bucket, FingerprintSet()).add(prints[buckets == bucket])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for shard in self.shards:
            yield from read_batches(self._workplace.path / shard.file)
