"""From a task's name to a published dataset directory."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

import synthbench
from synthbench.card import write_card
from synthbench.dataset import MANIFEST, Dataset, Manifest
from synthbench.engine import open_engine
from synthbench.errors import SynthbenchError, UsageError, check_whole_number, unknown_name
from synthbench.making import Making
from synthbench.planning import Plan, check_rows, make_plan
from synthbench.publishing import (
    check_whole,
    describe_difference,
    finished,
    open_workplace,
    write_json,
)
from synthbench.registry import task_class, task_names
from synthbench.sources import use_source_dir
from synthbench.tasks.base import Task

#: How many times smaller the splits of each preset are than the paper's.
PRESETS = {"paper": 1, "small": 100}
_SMALLEST_PRESET_SPLIT = 100


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run of `generate` did.

    Attributes:
        path: the dataset directory.
        manifest: its manifest.
        seconds: how long each split took, by variant and split; empty if it was there already.
    """

    path: Path
    manifest: Manifest
    seconds: dict[str, dict[str, float]]


def generate(
    task: str,
    *,
    variant: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    seed: int = 0,
    preset: str = "paper",
    rows: Mapping[str, int] | None = None,
    parameters: Mapping[str, Any] | None = None,
    shard_rows: int | None = None,
    workers: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    source_dir: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> Manifest:
    """Make a dataset directory; see `run` for what it does with one that is there.

    Args:
        task: name of the task.
        variant: one or more of its variants, or "all"; default: the first.
        out: the directory; default: one named like the task, here.
        seed: whole number from 0.
        preset: sizes: "paper", or "small" with 1/100 of them (at least 100 rows a split).
        rows: rows of splits that differ from the preset.
        parameters: parameters that differ from the defaults.
        shard_rows: rows of a Parquet file.
        workers: how many processes make blocks; default: the usable cores.
        engine: "local" or "dask".
        scheduler: address of a running Dask scheduler.
        source_dir: where source images lie, for tasks made from images.
        overwrite: replace a finished dataset, or an interrupted run of another command.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The manifest, as written to the directory.

    Raises:
        UsageError: a name that does not exist, or a place that cannot be used.
        ParameterError: impossible parameters, or more rows than exist.
        SynthbenchError: the rows cannot be found, or the files not be written.

    Example:
        >>> import synthbench
        >>> rows = {"train": 300, "test": 200}
        >>> manifest = synthbench.generate("parity", out="made", seed=1, rows=rows)
        >>> {name: split.rows for name, split in manifest.variants["default"].items()}
        {'train': 300, 'test': 200}
    """
    arguments = dict(locals())
    return run(**arguments).manifest


def run(
    task: str,
    *,
    variant: str | Sequence[str] | None,
    out: str | Path | None,
    seed: int,
    preset: str,
    rows: Mapping[str, int] | None,
    parameters: Mapping[str, Any] | None,
    shard_rows: int | None,
    workers: int | None,
    engine: str,
    scheduler: str | None,
    source_dir: str | Path | None,
    overwrite: bool,
    progress: bool,
) -> Outcome:
    """`generate`, with all arguments given and more to tell.

    A finished dataset of the same command is left as it is; one of another command is refused
    unless `overwrite`. An interrupted run of the same command is continued to the same bytes.
    """
    with use_source_dir(source_dir):
        tasks = _tasks(task, variant, parameters, seed)
        plans = {one.variant: _plan(one, preset, rows) for one in tasks}
        command = _command(tasks, plans, shard_rows)
        target = Path(out if out is not None else task).resolve()
        there = finished(target)
        if there is not None and not overwrite:
            _check_same(there, command)
            return Outcome(target, there.manifest, {})
        with (
            open_engine(engine, workers, scheduler, source_dir) as opened,
            # Another version could write other bytes, so it must not go on with this one's.
            open_workplace(
                target, {**command, "synthbench": synthbench.__version__}, overwrite
            ) as workplace,
            _bar(task, plans, progress) as bar,
        ):
            making = Making(workplace, opened, command["shard_rows"], bar)
            manifest, seconds = _make(making, tasks, plans, command)
            workplace.publish(overwrite)
    return Outcome(target, manifest, seconds)


def _make(
    making: Making, tasks: list[Task], plans: Mapping[str, Plan], command: dict[str, Any]
) -> tuple[Manifest, dict[str, dict[str, float]]]:
    """Make all variants, with manifest and card; also returns the seconds of every split."""
    variants, seconds = {}, {}
    for task in tasks:
        making.engine.check(task)
        variants[task.variant], seconds[task.variant] = making.variant(task, plans[task.variant])
    manifest = Manifest(
        task=command["task"],
        seed=command["seed"],
        parameters=command["parameters"],
        shard_rows=command["shard_rows"],
        tables=command["tables"],
        variants=variants,
        synthbench=synthbench.__version__,
    )
    path = making.workplace.path
    write_json(path / MANIFEST, manifest.to_dict())
    write_card(path, manifest, tasks)
    return manifest, seconds


def run_all(task: str, *, out: str | Path | None, **arguments: Any) -> Iterator[Outcome]:
    """`run` for one task, or with the name "all" for every task's default variant.

    All tasks go each in its own folder of `out` (default: here).

    Raises:
        UsageError: "all" together with options that belong to one task.
        SynthbenchError: with "all", after the others: tasks that could not be made.
    """
    if task != "all":
        yield run(task, out=out, **arguments)
        return
    for option in ("variant", "rows", "parameters"):
        if arguments.get(option):
            raise UsageError(f"'all' makes every task as it is; {option} goes with one task.")
    failed = []
    for name in task_names():
        try:
            yield run(name, out=Path(out or ".") / name, **arguments)
        except SynthbenchError as error:  # say, source images that are not there
            failed.append(f"{name}: {error}")
    if failed:
        raise SynthbenchError("Not all tasks could be made. " + " ".join(failed))


# Before any work starts: what is asked for, and whether it can be.


def _tasks(
    name: str,
    variant: str | Sequence[str] | None,
    parameters: Mapping[str, Any] | None,
    seed: int,
) -> list[Task]:
    chosen = task_class(name)
    if variant is None:
        names: Sequence[str] = [next(iter(chosen.variants))]
    else:
        several = isinstance(variant, Sequence) and not isinstance(variant, str)
        names = list(variant) if several else [variant]  # type: ignore[list-item]
    if "all" in names:
        names = list(chosen.variants)
    if not names or len(set(names)) < len(names):
        raise UsageError(f"Variants {', '.join(names)!r}: name each wanted one once.")
    return [chosen(one, parameters, seed) for one in names]


def _plan(task: Task, preset: str, rows: Mapping[str, int] | None) -> Plan:
    if preset not in PRESETS:
        raise unknown_name("preset", preset, PRESETS)
    wanted = check_rows(task, rows)
    sizes = {}
    for split in task.splits:
        least = min(split.rows, _SMALLEST_PRESET_SPLIT)
        sizes[split.name] = max(split.rows // PRESETS[preset], least)
    capped = make_plan(task, sizes, at_most=True)
    sizes = {name: capped.rows(name) for name in sizes}
    return make_plan(task, {**sizes, **wanted})


def _command(
    tasks: list[Task], plans: Mapping[str, Plan], shard_rows: int | None
) -> dict[str, Any]:
    """What is to be made, as JSON values: two runs with the same command make the same bytes."""
    first, rows = tasks[0], {}
    for task in tasks:
        plan = plans[task.variant]
        rows[task.variant] = {split.name: plan.rows(split.name) for split in task.splits}
    if shard_rows is not None:
        check_whole_number("Shard rows", shard_rows, least=1)
    return {
        "task": first.name,
        "seed": first.seed,
        "parameters": first.parameters.to_dict(),
        "rows": rows,
        "shard_rows": shard_rows or first.shard_rows,
        "tables": _merged([task.tables for task in tasks]),
    }


def _merged(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The tables of several variants in one; what has the same name is the same."""
    merged: dict[str, Any] = {}
    for table in tables:
        for name, entry in table.items():
            both = isinstance(entry, dict) and isinstance(merged.get(name), dict)
            merged[name] = _merged([merged[name], entry]) if both else entry
    return merged


def _check_same(there: Dataset, command: dict[str, Any]) -> None:
    manifest = there.manifest
    made = {
        "task": manifest.task,
        "seed": manifest.seed,
        "parameters": manifest.parameters,
        "rows": {
            variant: {name: split.rows for name, split in splits.items()}
            for variant, splits in manifest.variants.items()
        },
        "shard_rows": manifest.shard_rows,
        "tables": manifest.tables,
    }
    if made != command:
        raise UsageError(
            f"Output {str(there.path)!r} holds another dataset "
            f"({describe_difference(made, command)}); name another --out, or replace it with "
            "--overwrite."
        )
    check_whole(there)


@contextlib.contextmanager
def _bar(task: str, plans: Mapping[str, Plan], progress: bool) -> Iterator[tqdm[Any]]:
    total = sum(plan.rows(split) for plan in plans.values() for split in plan.quotas)
    # `disable=None`: no bar where standard error is no terminal.
    with tqdm(
        total=total, desc=task, unit=" rows", unit_scale=True, disable=None if progress else True
    ) as bar:
        yield bar
