"""The splits of a variant, made one after another: what the sampler draws goes to the writer."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from tqdm import tqdm

from synthbench.dataset import Shard, SplitRecord
from synthbench.engine import Engine
from synthbench.fingerprint_set import FingerprintSet
from synthbench.planning import Plan, drawing_order
from synthbench.publishing import Workplace
from synthbench.remote_writing import RemoteWriter
from synthbench.resuming import LeftBehind
from synthbench.sampling import SplitSampler
from synthbench.tasks.base import Split, Task
from synthbench.writing import RoundWriter, ShardPlan


@dataclasses.dataclass
class Making:
    """One run: everything that its splits share.

    Attributes:
        workplace: where the dataset is made.
        engine: where its blocks are made.
        shard_rows: rows of a shard.
        bar: shows the rows that are done.
    """

    workplace: Workplace
    engine: Engine
    shard_rows: int
    bar: tqdm[Any]

    def variant(self, task: Task, plan: Plan) -> tuple[dict[str, SplitRecord], dict[str, float]]:
        """Make all splits of a variant; returns their records and seconds, in readers' order."""
        seen: dict[int, FingerprintSet] = {}
        records, seconds = {}, {}
        for split in drawing_order(task):
            started = time.perf_counter()
            self.bar.set_postfix_str(f"{task.variant}/{split.name}")
            records[split.name] = self.split(task, split, plan, seen)
            seconds[split.name] = time.perf_counter() - started
        names = [split.name for split in task.splits]
        return {name: records[name] for name in names}, {name: seconds[name] for name in names}

    def split(
        self, task: Task, split: Split, plan: Plan, seen: dict[int, FingerprintSet]
    ) -> SplitRecord:
        """Make one split, or what is missing of it."""
        left = LeftBehind(self.workplace, task, split)
        rows, path = plan.rows(split.name), self.workplace.path
        shard_plan = ShardPlan.of(task, path, split.name, rows, self.shard_rows)

        def on_shard(shards: list[Shard], checkpoint: dict[str, Any]) -> None:
            done = {"shards": [dataclasses.asdict(shard) for shard in shards], **checkpoint}
            self.workplace.save(task.variant, split.name, done)

        with self._open_writer(task, shard_plan, left.shards, on_shard) as writer:
            left.restore(seen, writer.pass_over)
            self.bar.update(left.rows)
            if left.record is not None:
                return left.record
            sampler = SplitSampler(task, split, plan, seen, self.engine, state=left.state)
            emitted, state = left.emitted, sampler.state()
            for drawn in sampler.rounds():
                # To go on after an interruption, the round in hand is made again.
                writer.write_round(drawn, emitted, {"emitted": emitted, "state": state})
                emitted, state = emitted + len(drawn), sampler.state()
                self.bar.update(min(len(drawn), max(0, emitted - left.rows)))
            shards = writer.finish()
        record = SplitRecord(
            rows=rows,
            buckets={task.bucket_label(b): count for b, count in sampler.taken().items()},
            candidates=sampler.tried,
            digest=writer.digest.hexdigest(),
            shards=tuple(shards),
        )
        self.workplace.save(task.variant, split.name, {"record": dataclasses.asdict(record)})
        return record

    def _open_writer(
        self,
        task: Task,
        plan: ShardPlan,
        finished: list[Shard],
        on_shard: Callable[[list[Shard], Any], None],
    ) -> RoundWriter | RemoteWriter:
        """What makes shards of rows: here, or where the rows are."""
        if self.engine.remote:
            return RemoteWriter(self.engine, task, plan, finished, on_shard)
        return RoundWriter(task, plan, finished, on_shard)
