"""Whether many rows slow down: `python -m benchmarks endurance [TASK] [--rows N]`.

Makes the task's largest split with many rows and compares its first million with its last: rows a
second, and processor seconds, which hardly depend on what else the machine does. Of fewer than two
million rows it compares the halves. The first shard does not count, since with it all starts up.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from synthbench.dataset.digest import whole_chunks
from synthbench.dataset.staging import Staging
from synthbench.errors import UsageError
from synthbench.generation.generate import run
from synthbench.generation.request import Request
from synthbench.tasks.registry import task as make_task


class Moment(NamedTuple):
    """When so many rows were finished."""

    rows: int
    wall: float
    processors: float


def main(words):
    """Measure one task."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks endurance", description=__doc__)
    parser.add_argument("task", nargs="?", default="listops")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--shard-rows", type=int)
    arguments = parser.parse_args(words)
    task = make_task(arguments.task)
    largest = max(task.splits, key=lambda split: split.rows).name
    shard_rows = whole_chunks(arguments.shard_rows or task.shard_rows)
    if arguments.rows <= shard_rows:
        raise UsageError(
            f"--rows {arguments.rows}: a shard has {shard_rows:,} rows, and there must be two; "
            "make more rows, or smaller shards with --shard-rows."
        )
    with tempfile.TemporaryDirectory() as place, _watched(largest) as moments:
        started = time.perf_counter()
        outcome = run(
            Request(
                (task,),
                out=Path(place) / "out",
                rows={largest: arguments.rows},
                shard_rows=arguments.shard_rows,
                workers=arguments.workers,
                engine=arguments.engine,
                progress=False,
            )
        )
        wall = time.perf_counter() - started
        shards = outcome.manifest.variants[task.variant][largest].shards
    print(
        f"{arguments.rows:,} rows in {len(shards)} shards: {wall:.0f} s, "
        f"{arguments.workers} workers"
    )
    start, end = moments[0], moments[-1]
    reach = min(1_000_000, (end.rows - start.rows) // 2)
    report("first", start, next(moment for moment in moments if moment.rows >= start.rows + reach))
    report("last", [moment for moment in moments if moment.rows <= end.rows - reach][-1], end)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory: {peak:.0f} MiB here, {workers:.0f} MiB in the largest worker")


@contextlib.contextmanager
def _watched(split):
    """The moments at which shards of a split are finished, which are added while it is made."""
    moments, note = [], Staging.note

    def watched(self, record):
        note(self, record)
        shard = record["shard"]
        if Path(shard["file"]).name.startswith(f"{split}-"):
            moments.append(_now(shard["rows"] + (moments[-1].rows if moments else 0)))

    Staging.note = watched  # type: ignore[method-assign]
    try:
        yield moments
    finally:
        Staging.note = note  # type: ignore[method-assign]


def report(name, start, end):
    """Print the speed between two moments."""
    rows = end.rows - start.rows
    processors = (end.processors - start.processors) * 1e6 / rows
    print(
        f"{name} {rows:,} rows: {rows / (end.wall - start.wall):,.0f} rows/s, "
        f"{processors:.2f} processor seconds a million"
    )


def _now(rows):
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return Moment(rows, time.perf_counter(), sum(usage.user + usage.system for usage in times))
