"""A request to `generate`, and the plan of the dataset that follows from it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench.checks import check_name, check_whole_number, usable_path
from synthbench.dataset.digest import whole_chunks
from synthbench.dataset.manifest import merged_tables
from synthbench.engine.engine import check_engine
from synthbench.errors import ParameterError, UsageError
from synthbench.sampling.plan import PRESETS, Plan, most_blocks, plan_rows
from synthbench.sampling.seen import FingerprintSet
from synthbench.tasks.base import Task


@dataclasses.dataclass(frozen=True)
class Request:
    """A request, from the command line or from Python; `generate` explains every option.

    Attributes:
        tasks: the task in each variant of the dataset, as `as_tasks` gives them.

    Raises:
        UsageError: a preset or engine that does not exist, or a number that is not allowed.
    """

    tasks: tuple[Task, ...]
    out: str | Path | None = None
    preset: str = "paper"
    rows: Mapping[str, int] | None = None
    shard_rows: int | None = None
    workers: int | None = None
    engine: str = "local"
    scheduler: str | None = None
    overwrite: bool = False
    progress: bool = True
    split: str | None = None  # the only split that is made; None for all

    def __post_init__(self) -> None:
        check_engine(self.engine, self.workers, self.scheduler)
        check_name("preset", self.preset, PRESETS)
        if self.shard_rows is not None:
            check_whole_number("Shard rows", self.shard_rows, least=1)

    @property
    def target(self) -> Path:
        """The dataset directory."""
        return usable_path("Output", self.name if self.out is None else self.out).resolve()

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.tasks[0].name


@dataclasses.dataclass(frozen=True)
class DatasetPlan:
    """The contents of a dataset, planned before anything is drawn.

    Attributes:
        tasks: the task in each of the dataset's variants.
        quotas: rows of each split and bucket, by variant.
        shard_rows: rows of a shard, whole chunks of the digest.
    """

    tasks: list[Task]
    quotas: dict[str, Plan]
    shard_rows: int

    @property
    def rows(self) -> int:
        """Rows of all variants and splits together."""
        return sum(plan.rows(split) for plan in self.quotas.values() for split in plan.quotas)

    @property
    def most_blocks(self) -> int:
        """Number of blocks that can be made at once."""
        return max(most_blocks(task, self.quotas[task.variant]) for task in self.tasks)

    def command(self) -> dict[str, Any]:
        """The plan as JSON values: two runs with the same command make the same bytes."""
        first, rows = self.tasks[0], {}
        for task in self.tasks:
            plan = self.quotas[task.variant]
            rows[task.variant] = {name: plan.rows(name) for name in plan.quotas}
        return {
            "task": first.name,
            "seed": first.seed,
            "parameters": first.parameters.to_dict(),
            "rows": rows,
            "shard_rows": self.shard_rows,
            "tables": merged_tables([task.tables for task in self.tasks]),
        }


def plan_dataset(request: Request) -> DatasetPlan:
    """Plan the dataset of a request.

    Raises:
        UsageError: a split that does not exist, or a number that is not allowed.
        ParameterError: more rows than exist, or more than the machine's memory can hold apart.
    """
    tasks = list(request.tasks)
    quotas = {task.variant: plan_rows(task, request.preset, request.rows) for task in tasks}
    for task in tasks:
        _check_size(task, quotas[task.variant])
    if (only := request.split) is not None:
        if any(not plan.rows(only) for plan in quotas.values()):
            raise UsageError(f"Split {only!r} is left out: it has 0 rows.")
        quotas = {name: Plan({only: plan.quotas[only]}) for name, plan in quotas.items()}
    shard_rows = whole_chunks(request.shard_rows or tasks[0].shard_rows)
    return DatasetPlan(tasks, quotas, shard_rows)


#: The bytes that a row takes in a Parquet file at least: its id, which cannot be compressed.
_LEAST_ROW_BYTES = 8


def _check_size(task: Task, plan: Plan) -> None:
    """Refuse splits whose fingerprints, all in memory to find repeated rows, cannot fit there."""
    memory = _memory_bytes()
    for split in plan.quotas:
        rows = plan.rows(split)
        needed = FingerprintSet.bytes_for(rows)
        if memory is not None and needed > memory:
            most = memory // FingerprintSet.bytes_for(1_000) * 1_000
            disk = _gigabytes(rows * _LEAST_ROW_BYTES)
            raise ParameterError(
                f"Split {split} of {task.name}: {rows:,} rows would take more than "
                f"{disk} on disk and {_gigabytes(needed)} of memory. This machine has "
                f"{_gigabytes(memory)} of memory. Allowed are 1 to {most:,} rows."
            )


def _memory_bytes() -> int | None:
    """The memory of this machine in bytes; None where it is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows, or an unknown name
        return None


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.0f} GB"
