"""Make a dataset directory: plan it, sample and write each split, publish it."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from synthbench import __version__
from synthbench.arguments import checked
from synthbench.dataset.card import write_card
from synthbench.dataset.files import write_json
from synthbench.dataset.manifest import MANIFEST, Manifest, SplitRecord
from synthbench.dataset.staging import Staging, made_before, open_staging
from synthbench.engine.engine import Engine
from synthbench.engine.open import open_engine
from synthbench.generation.request import DatasetPlan, Request, plan_dataset
from synthbench.generation.shards import FEW_ROWS, ShardWriter
from synthbench.sampling.blocks import Round
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Split, Task
from synthbench.tasks.registry import as_tasks
from synthbench.text.lines import one_line
from synthbench.text.progress import progress_bar


@checked
def generate(
    task: str | Task | Sequence[Task],
    *,
    out: str | Path | None = None,
    preset: str = "paper",
    rows: Mapping[str, int] | None = None,
    shard_rows: int | None = None,
    workers: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> Manifest:
    """Make a dataset directory.

    A finished dataset of the same request is kept. A dataset of another request is an error unless
    `overwrite`. An interrupted run is resumed and gives the same bytes.

    Args:
        task: the task, or its name for the task with its defaults. For a dataset of several
            variants, the task in each of them.
        out: the directory. Default: a directory with the task's name in the working directory.
        preset: "paper" for the papers' split sizes, or "small" for 1/100 of them, at least 100 rows
            a split.
        rows: number of rows by split, where it differs from the preset.
        shard_rows: rows of a Parquet file, rounded up to a multiple of 8,192.
        workers: how many processes make blocks, at most 256. Default: the usable cores, or 1 in a
            daemonic process. No more are started than blocks that can be made in parallel.
            One process is used if all tasks have `drawn_by_workers = False`.
        engine: "local" or "dask".
        scheduler: address of a running Dask scheduler.
        overwrite: replace a finished dataset, or an interrupted run with other options.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The manifest, as written to the directory.

    Raises:
        UsageError: a name that does not exist, tasks that cannot be in one dataset, or a place that
            cannot be used.
        ParameterError: more rows than exist.
        SynthbenchError: too few distinct rows were found, or a file cannot be written.

    Example:
        >>> import synthbench
        >>> rows = {"train": 300, "test": 200}
        >>> parity = synthbench.task("parity", seed=1)
        >>> manifest = synthbench.generate(parity, out="made", rows=rows)
        >>> {name: split.rows for name, split in manifest.variants["default"].items()}
        {'train': 300, 'test': 200}
    """
    request = Request(
        as_tasks(task), out, preset, rows, shard_rows,
        workers, engine, scheduler, overwrite, progress,
    )  # fmt: skip
    return run(request).manifest


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a run of `generate`.

    Attributes:
        path: the dataset directory.
        manifest: the dataset's manifest.
        seconds: how long each split took, by variant and split. Empty if the dataset existed.
    """

    path: Path
    manifest: Manifest
    seconds: dict[str, dict[str, float]]


def run(request: Request) -> Outcome:
    """Make the dataset directory that a request asks for. See `generate`."""
    plan = plan_dataset(request)
    command, target = plan.command(), request.target
    if (there := made_before(target, command, request.overwrite)) is not None:
        return Outcome(target, there.manifest, {})
    for task in plan.tasks:
        for warning in task.warnings:
            print(one_line(f"Warning: {task.name}, {task.variant}: {warning}"), file=sys.stderr)
    drawn_here = request.engine == "local" and not any(task.drawn_by_workers for task in plan.tasks)
    workers = 1 if drawn_here else request.workers
    makers = 0 if drawn_here and plan.rows < FEW_ROWS else None
    records: dict[str, dict[str, SplitRecord]] = {}
    seconds: dict[str, dict[str, float]] = {}
    with (
        # A run that another version started must not be resumed: its bytes could differ.
        open_staging(target, {**command, "synthbench": __version__}, request.overwrite) as staging,
        open_engine(
            request.engine, workers, request.scheduler, plan.most_blocks, plan.tasks, makers=makers
        ) as engine,
        progress_bar(request.progress, f"generate {request.name}", "rows", plan.rows) as bar,
    ):
        for task in plan.tasks:
            records[task.variant], seconds[task.variant] = {}, {}
            for split in map(task.split, plan.quotas[task.variant].quotas):
                started = time.perf_counter()
                bar.update(0, now=f"{task.variant} {split.name}")
                record = _make_split(plan, task, split, engine, staging, bar.update)
                records[task.variant][split.name] = record
                seconds[task.variant][split.name] = time.perf_counter() - started
        manifest = Manifest.of(command, records, __version__)
        write_json(staging.path / MANIFEST, manifest.to_dict())
        write_card(staging.path, manifest, plan.tasks)
        staging.publish(request.overwrite)
    return Outcome(target, manifest, seconds)


def _make_split(
    plan: DatasetPlan,
    task: Task,
    split: Split,
    engine: Engine,
    staging: Staging,
    done: Callable[[int], None],
) -> SplitRecord:
    """Sample and write one split; `done` counts its rows.

    After an interruption the same rows are drawn again, and finished shards are left as they are.
    """
    quotas = plan.quotas[task.variant]
    rows = quotas.rows(split.name)
    sampler = SplitSampler(task, split, quotas, engine)
    writer = ShardWriter(staging, task, split, rows, plan.shard_rows)
    with contextlib.closing(sampler):
        shards, digest = writer.write(_counted(sampler.rounds(), done), engine)
    _say_lacking(task, split, quotas.quotas[split.name], sampler.taken())
    return SplitRecord(
        rows=rows,
        buckets={task.bucket_label(b): count for b, count in sampler.taken().items()},
        candidates=sampler.tried,
        digest=digest,
        shards=tuple(shards),
    )


def _say_lacking(
    task: Task, split: Split, planned: Mapping[int, int], drawn: Mapping[int, int]
) -> None:
    """Say on standard error which buckets have fewer rows than planned. The others have more."""
    lacking = [bucket for bucket, rows in planned.items() if drawn.get(bucket, 0) < rows]
    if lacking:
        named = (f"{task.bucket_label(b)} ({drawn[b]:,} of {planned[b]:,})" for b in lacking[:5])
        more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
        line = (
            f"{task.name}, {task.variant}/{split.name}: rows of {task.bucket_name} "
            f"{', '.join(named)}{more} are too rare to be found. The others got theirs."
        )
        print(one_line(line), file=sys.stderr)


def _counted(rounds: Iterator[Round], done: Callable[[int], None]) -> Iterator[Round]:
    for drawn in rounds:
        done(len(drawn))
        yield drawn
