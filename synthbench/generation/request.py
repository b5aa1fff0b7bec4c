"""A request to `generate`, and the plan of the dataset that follows from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.dataset.digest import whole_chunks
from synthbench.dataset.manifest import merged_tables
from synthbench.engine.engine import check_engine
from synthbench.errors import UsageError, check_whole_number, unknown_name, usable_path
from synthbench.sampling.plan import PRESETS, Plan, most_blocks, plan_rows
from synthbench.tasks.base import Task
from synthbench.tasks.images.source_dirs import SourceDir
from synthbench.tasks.registry import task_class


@dataclasses.dataclass(frozen=True)
class Request:
    """A request, from the command line or from Python; `generate` explains every option.

    Raises:
        UsageError: a preset or engine that does not exist, or a number that is not allowed.
    """

    task: str
    variant: str | Sequence[str] | None = None
    out: str | Path | None = None
    seed: int = 0
    preset: str = "paper"
    rows: Mapping[str, int] | None = None
    parameters: Mapping[str, Any] | None = None
    shard_rows: int | None = None
    workers: int | None = None
    engine: str = "local"
    scheduler: str | None = None
    source_dir: SourceDir | None = None
    overwrite: bool = False
    progress: bool = True
    split: str | None = None  # the only split that is made; None for all

    def __post_init__(self) -> None:
        check_engine(self.engine, self.workers, self.scheduler)
        if self.preset not in PRESETS:
            raise unknown_name("preset", self.preset, PRESETS)
        if self.shard_rows is not None:
            check_whole_number("Shard rows", self.shard_rows, least=1)

    @property
    def target(self) -> Path:
        """The dataset directory."""
        return usable_path("Output", self.task if self.out is None else self.out).resolve()

    def tasks(self) -> list[Task]:
        """The task in each variant that was asked for.

        Raises:
            UsageError: a name that does not exist, or a variant named twice.
            ParameterError: impossible parameters.
        """
        chosen = task_class(self.task)
        if self.variant is None:
            names: Sequence[str] = [next(iter(chosen.variants))]
        elif isinstance(self.variant, Sequence) and not isinstance(self.variant, str):
            names = list(self.variant)
        else:
            names = [self.variant]
        if "all" in names:
            names = list(chosen.variants)
        if not names or len(set(names)) < len(names):
            raise UsageError(
                f"Variants {', '.join(names)!r}: a name is repeated, or none is given."
            )
        return [chosen(name, self.parameters, self.seed) for name in names]


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
        """How many blocks can be made at once."""
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
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: impossible parameters, or more rows than exist.
    """
    tasks = request.tasks()
    quotas = {task.variant: plan_rows(task, request.preset, request.rows) for task in tasks}
    if (only := request.split) is not None:
        quotas = {name: Plan({only: plan.quotas[only]}) for name, plan in quotas.items()}
    shard_rows = whole_chunks(request.shard_rows or tasks[0].shard_rows)
    return DatasetPlan(tasks, quotas, shard_rows)
