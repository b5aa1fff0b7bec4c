"""The command that makes datasets: generate."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from synthbench.cli.options import (
    WithExamples,
    choice_option,
    chosen_task,
    level_option,
    quiet_option,
    row_counts,
    seed_option,
    set_option,
    show,
    source_option,
    task_argument,
    workers_option,
)
from synthbench.errors import SynthbenchError, UsageError
from synthbench.text.lines import printable
from synthbench.text.tables import Table, stack, styled

if TYPE_CHECKING:
    from rich.console import Group

    from synthbench.generation.generate import Outcome
    from synthbench.tasks.base import Task


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench generate listops
    synthbench generate ctl --variant all --rows train=5000 --set symbols=6
    synthbench generate all --preset small --out benchmarks
    """,
)
@task_argument
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="V",
    help="Repeatable. The name all stands for all variants.",
)
@click.option("--out", metavar="DIR", help="Default: ./TASK.")
@seed_option
@choice_option("--preset", "paper", "small")
@click.option(
    "--rows",
    multiple=True,
    metavar="SPLIT=N",
    help="Number of rows of a split. 0 leaves the split out.",
)
@level_option
@set_option
@click.option(
    "--shard-rows",
    type=int,
    metavar="N",
    help="Rows of a Parquet file, rounded up to a multiple of 8,192.",
)
@workers_option
@choice_option("--engine", "local", "dask")
@click.option("--scheduler", metavar="ADDRESS", help="A running Dask cluster's scheduler.")
@source_option
@click.option("--overwrite", is_flag=True, help="Replace a dataset in the same place.")
@quiet_option
def generate(
    task: str,
    variants: Sequence[str],
    seed: int,
    level: str | None,
    rows: Sequence[str],
    settings: Sequence[str],
    quiet: bool,
    **options: Any,
) -> None:
    """Make the dataset of TASK, or of all, as Parquet."""
    from synthbench.engine.worker_pool import keep_freed_memory
    from synthbench.generation.generate import run
    from synthbench.generation.request import Request

    keep_freed_memory()  # of this program alone, as Python's callers have a process of their own

    outputs = {task: options.pop("out")}
    if task == _ALL:
        by_option = {"--variant": variants, "--level": level, "--rows": rows, "--set": settings}
        outputs = _all_outputs(outputs[task], by_option)
    # Options that are wrong for every task are refused here.
    request = Request((), **options, rows=row_counts(rows), progress=not quiet)
    failed = []
    for name, out in outputs.items():
        started = time.perf_counter()
        try:
            tasks = _variants(name, variants, seed, level, settings)
            outcome = run(dataclasses.replace(request, tasks=tasks, out=out))
        except SynthbenchError as error:
            if task != _ALL:
                raise
            failed.append(f"{name}: {error}")  # for example, missing source images
            continue
        if not quiet:
            show(summary(outcome, time.perf_counter() - started))
    if failed:
        raise SynthbenchError("Not all tasks could be made. " + " ".join(failed))


#: The name of all tasks, and of all variants of a task.
_ALL = "all"


def _all_outputs(out: str | None, by_option: Mapping[str, Any]) -> dict[str, Path]:
    """A directory for each task in `out`, or in the working directory.

    Raises:
        UsageError: something is chosen by an option that belongs to one task.
    """
    from synthbench.tasks.registry import list_tasks

    for option, value in by_option.items():
        if value:
            raise UsageError(f"'all' makes every task with its defaults; {option} needs one task.")
    return {name: Path(out or ".") / name for name in list_tasks()}


def _variants(
    name: str, variants: Sequence[str], seed: int, level: str | None, settings: Sequence[str]
) -> tuple[Task, ...]:
    """The task in each of the variants that are asked for.

    Raises:
        UsageError: a name that does not exist, or a variant named twice.
        ParameterError: a parameter with an impossible value.
    """
    from synthbench.tasks.registry import as_tasks, task_class

    names: Sequence[str | None] = variants or [None]
    if _ALL in variants:
        names = list(task_class(name).variants)
    return as_tasks([chosen_task(name, variant, seed, level, settings) for variant in names])


def summary(outcome: Outcome, seconds: float) -> Group:
    """A table of the new rows, and the line of Python that loads it."""
    manifest, path = outcome.manifest, printable(str(outcome.path))
    if not outcome.seconds:
        done = f"{path} already exists, made by the same command. Nothing was changed."
        return stack(done, _loading_line(outcome))
    rows = []
    for variant, splits in manifest.variants.items():
        for name, split in splits.items():
            rows.append(
                (
                    variant,
                    name,
                    f"{split.rows:,}",
                    f"{split.candidates:,}",
                    f"{split.rows / max(1, split.candidates):.1%}",
                    f"{outcome.seconds[variant][name]:.2f}",
                    _rows_by_bucket(split.buckets),
                )
            )
    bucket = manifest.make_task(next(iter(manifest.variants))).bucket_name
    head = ("variant", "split", "rows", "candidates", "accepted", "seconds", f"rows by {bucket}")
    total = sum(split.rows for splits in manifest.variants.values() for split in splits.values())
    return stack(
        Table(head, rows, right=(2, 3, 4, 5), whole=(0, 1), keys=2),
        styled(
            f"{total:,} rows in {seconds:.1f} s, {total / seconds:,.0f} a second: {path}",
            "green",
            whole=True,
        ),
        _loading_line(outcome),
    )


def _rows_by_bucket(buckets: Mapping[str, int]) -> str:
    """The number of rows of each bucket. Adjacent buckets with the same number share an entry."""
    from synthbench.tasks.parameters import ranges
    from synthbench.tasks.scalar import span

    parts = []
    for count, same in itertools.groupby(buckets.items(), key=lambda item: item[1]):
        names = [name for name, _ in same]
        each = " each" if len(names) > 1 else ""
        parts.append(f"{span(ranges(names))}: {count:,}{each}")
    return ", ".join(parts if len(parts) <= 12 else [*parts[:3], "..", parts[-1]])


def _loading_line(outcome: Outcome) -> str:
    """The line of Python that loads a dataset, or why `datasets` cannot open its path."""
    try:
        # In a C locale even a path that is UTF-8 has surrogates. Other programs see it as it is.
        path = os.fsencode(outcome.path).decode("utf-8")
    except UnicodeDecodeError:
        return (
            "datasets.load_dataset cannot open a path that is not UTF-8: rename the directory to "
            "load it."
        )
    names = list(outcome.manifest.variants)
    config = f', "{names[0]}"' if len(names) > 1 else ""
    path = printable(json.dumps(path, ensure_ascii=False))  # a Python string, too
    return f"from datasets import load_dataset; dataset = load_dataset({path}{config})"
