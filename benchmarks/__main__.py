"""How fast rows are made: `python -m benchmarks [TASK ...] [--set KEY=VALUE ...]`.

Every dataset is made `--repeat` times, by default five times and for four seconds at least. After
each time the table of its largest split is written by pyarrow alone. Medians of these are the rows
a second through to Parquet, for every split, and how many times as long as pyarrow alone the
largest takes. Measured once are the processor seconds of each stage in one process, and the rows a
second of `stream` and `tokens`.

`python -m benchmarks NAME --help` describes the others: `scaling`, `endurance`, `verify`, `peers`,
`prompt_tokens`, `decontaminate`, `solutions`, `replies`, `rewards`, `sudoku`, and for the trainer
`floor`, `steps`, `attention`, `collect`, `leak` and `layers`. `published` probes other packages.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import multiprocessing
import os
import platform
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.checks import check_name
from synthbench.engine.engine import Engine, usable_cores
from synthbench.errors import SynthbenchError, UsageError
from synthbench.generation.generate import run
from synthbench.generation.request import Request
from synthbench.generation.shards import make_shard
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.streaming import stream
from synthbench.streaming.rounds import Rounds
from synthbench.streaming.token_streams import tokens
from synthbench.tasks.features import arrow_schema
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.row_ids import columns_of, rows_table
from synthbench.text.tables import Table, render

#: Modules by name; those of the trainer need PyTorch.
MORE = (
    *("scaling", "endurance", "verify", "peers", "prompt_tokens", "decontaminate"),
    *(
        "solutions",
        "replies",
        "rewards",
        "sudoku",
        "floor",
        "steps",
        "attention",
        "collect",
        "leak",
    ),
    "layers",
    "published",
)


#: A dataset is made so often and for so long at least, because short times vary most.
LEAST_TIMES, LEAST_SECONDS = 5, 4.0


class Clock:
    """Processor seconds by stage."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def time(self, stage, function):
        """Run a function and add its time to a stage."""
        started = time.process_time()
        result = function()
        elapsed = time.process_time() - started
        self.seconds[stage] = self.seconds.get(stage, 0.0) + elapsed
        return result


class TimedEngine(Engine):
    """Runs everything here, and notes how long it took."""

    def __init__(self, clock):
        super().__init__(None, 1)
        self._clock = clock

    def submit(self, function, /, *args, **kwargs):
        """Run the function at once."""
        return self._clock.time("propose", lambda: Engine.submit(self, function, *args, **kwargs))


def stages(task, rows, directory):
    """Seconds of each stage for the task's largest split, in one process."""
    largest = max(task.splits, key=lambda split: split.rows)
    sizes = {split.name: split.rows for split in task.splits} | {largest.name: rows}
    plan = make_plan(task, sizes, at_most=True)
    clock = Clock()
    rounds = SplitSampler(task, largest, plan, TimedEngine(clock)).rounds()
    while (drawn := clock.time("sample", lambda: next(rounds, None))) is not None:
        _make(task, clock.time("sample", drawn.rows), clock, directory / "shard.parquet")
    clock.seconds["write"] -= clock.seconds["render"]
    clock.seconds["sample"] -= clock.seconds["propose"]
    return {stage: clock.seconds[stage] for stage in ("propose", "sample", "render", "write")}


def _make(task, rows, clock, path):
    """Make a shard and write it; its rows are rendered twice, to know how long that takes."""
    clock.time("render", lambda: rows_table(task, rows.block, rows.fingerprints))
    clock.time("write", lambda: path.write_bytes(make_shard(task, [rows]).content))


def bare(path, task):
    """Rows, seconds and processor seconds of writing the largest split with pyarrow alone."""
    name = max(task.splits, key=lambda split: split.rows).name
    files = sorted((path / "data" / task.variant).glob(f"{name}-*.parquet"))
    table = pa.concat_tables([pq.read_table(file) for file in files]).combine_chunks()
    table = table.cast(arrow_schema(columns_of(task)))
    started, at_work = time.perf_counter(), time.process_time()
    pq.write_table(table, path / "bare.parquet", compression="zstd", row_group_size=task.group_rows)
    return table.num_rows, time.perf_counter() - started, time.process_time() - at_work


def streamed(function, task, workers, rounds=8):
    """Rows a second of `stream` or `tokens`: so many whole rounds, after the first batch."""
    split = task.splits[0].name
    rows, size = Rounds(task, split).size * rounds, 512
    with function(task, split=split, workers=workers, batch_size=size) as batches:
        next(batches)
        started = time.perf_counter()
        for _ in itertools.islice(batches, rows // size):
            pass
    return rows / (time.perf_counter() - started)


def machine():
    """The machine in a line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = lines[0].split(":", 1)[1].strip() if lines else cpu
    versions = f"Python {platform.python_version()}, pyarrow {pa.__version__}"
    return f"{cpu}, {usable_cores()} cores, {versions}"


def main(words):
    """Measure the tasks named, or all; or what `MORE` has. Exits with an error's status."""
    try:
        if words and words[0] in MORE:
            importlib.import_module(f"benchmarks.{words[0]}").main(words[1:])
        else:
            _measure_tasks(words)
    except SynthbenchError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)


def _measure_tasks(words):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--workers", type=int, default=usable_cores())
    parser.add_argument("--rows", type=int, help="rows of the largest split; default: the paper's")
    parser.add_argument(
        "--repeat",
        type=int,
        choices=range(1, 100),
        metavar="N",
        help="times that a dataset is made",
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args(words)
    for name in arguments.tasks:
        if name in MORE:
            raise UsageError(f"Benchmark {name!r} must be the first word.")
        check_name("task or benchmark", name, [*list_tasks(), *MORE])
    print(machine(), f"\n{arguments.workers} workers, load {os.getloadavg()[0]:.1f}", flush=True)
    # Each has a process of its own, as with the command: what another left slows forks.
    processes = multiprocessing.get_context("fork")
    for name in arguments.tasks or list_tasks():
        process = processes.Process(target=_measure_alone, args=(name, arguments))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(process.exitcode)


def _measure_alone(name, arguments):
    pa.array([0])  # imports pandas where it is installed, as the commands do not
    try:
        task = make_task(name, **dict(word.split("=", 1) for word in arguments.set))
        measure(task, arguments)
    except SynthbenchError as error:
        print(f"\n{name}: not measured: {error}")
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory: {peak:.0f} MiB here, {workers:.0f} MiB in the largest worker")


def measure(task, arguments):
    """Print everything about one task."""
    largest = max(task.splits, key=lambda split: split.rows).name
    rows = {largest: arguments.rows} if arguments.rows else None
    with tempfile.TemporaryDirectory() as place:
        wholes, alone, at_work = [], [], []
        times = arguments.repeat or LEAST_TIMES
        latest = time.perf_counter() + (0 if arguments.repeat else LEAST_SECONDS)
        while len(wholes) < times or time.perf_counter() < latest:
            path = Path(place) / "made"
            outcome = run(
                Request(
                    (task,),
                    out=path,
                    rows=rows,
                    workers=arguments.workers,
                    progress=False,
                )
            )
            wholes.append(outcome.seconds[task.variant])
            count, taken, busy = bare(path, task)
            alone.append(taken)
            at_work.append(busy)
            shutil.rmtree(path)
        splits = outcome.manifest.variants[task.variant]
        seconds = {split: statistics.median(whole[split] for whole in wholes) for split in splits}
        lines = [
            (
                split,
                f"{record.rows:,}",
                f"{seconds[split]:.2f}",
                f"{record.rows / seconds[split]:,.0f}",
            )
            for split, record in splits.items()
        ]
        print(f"\n{task.name}, medians of {len(wholes)}")
        print(render(Table(("split", "rows", "seconds", "rows/s"), lines, right=(1, 2, 3))))
        ratios = sorted(whole[largest] / taken for whole, taken in zip(wholes, alone, strict=True))
        print(
            f"{largest} written by pyarrow alone: {statistics.median(alone):.3f} s; "
            f"the whole takes {statistics.median(ratios):.1f} times as long "
            f"({ratios[0]:.1f} to {ratios[-1]:.1f})"
        )
        taken = stages(task, count, Path(place))
        total = sum(taken.values())
        shares = ", ".join(
            f"{key} {value:.2f} s ({value / total:.0%})" for key, value in taken.items()
        )
        ratio = total / statistics.median(at_work)
        print(
            f"{largest} in one process, processor seconds: {shares}; {count / total:,.0f} rows/s, "
            f"{ratio:.1f} times as long as pyarrow alone"
        )
        print(f"stream: {streamed(stream, task, arguments.workers):,.0f} rows/s")
        if task.forms:
            print(f"tokens: {streamed(tokens, task, arguments.workers):,.0f} rows/s")


if __name__ == "__main__":
    main(sys.argv[1:])
