"""A dataset that exists or will be made: it is checked, and a few rows are read, beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import finished
from synthbench.generation.generate import generate
from synthbench.sampling.plan import Plan, check_rows, divide, plan_rows
from synthbench.sampling.preview import sample_table
from synthbench.tasks.base import Task
from synthbench.tasks.registry import changed, task_from

#: How many rows of a dataset that is there are read to see what they look like.
_FEW = 64


class PlannedDataset:
    """A dataset at a path; `make` makes it if it is not there, and until then nothing is written.

    Args:
        path: the dataset directory.
        tasks: the task in each variant that is needed.
        rows: numbers of rows of splits that differ from the paper's, if it is to be made.
        any_parameters: whether a dataset that is there may have another seed and other parameters
            than `tasks`. The tasks are then as it has them.

    Attributes:
        path: the dataset directory.
        tasks: the task in each variant.

    Raises:
        UsageError: no such split, a dataset of other tasks, or something else at the path.
        ParameterError: more rows than exist.
        DatasetError: a dataset that cannot be read.
    """

    def __init__(
        self,
        path: str | Path,
        tasks: Sequence[Task],
        rows: Mapping[str, int] | None = None,
        *,
        any_parameters: bool = False,
    ) -> None:
        self.path = Path(path)
        self._rows = rows
        self._there = finished(self.path)
        self._plans: dict[str, Plan] = {}
        self._few: dict[str, pa.Table] = {}
        if self._there is None:
            self.tasks = tuple(tasks)
            self._plans = {task.variant: plan_rows(task, "paper", rows) for task in tasks}
            return
        check_rows(tasks[0], rows)
        if any_parameters:
            self._there.task_like(tasks[0].name)
            self.tasks = tuple(self._there.make_task(task.variant) for task in tasks)
        else:
            self.tasks = tuple(self._there.task_like(task) for task in tasks)

    @staticmethod
    def choose_tasks(
        usual: tuple[str, Sequence[str], Mapping[str, Any]],
        dataset: str | PathLike[str] | None = None,
        *,
        variants: Sequence[str] = (),
        level: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> Iterator[Task]:
        """The task in each chosen variant, at a level or with other parameters.

        Choices that are left out are as in the dataset if it exists, and else as usual. A level
        chooses all parameters: those that it does not name have the task's defaults. A task is
        made when the iterator reaches it, so that a caller who needs only the first is not refused
        because of another variant.

        Args:
            usual: the task's name, and the variants and parameters if the caller chooses no others.
            dataset: a dataset directory, which may not exist yet.
            variants: names of variants. Default: the usual variants. If the dataset lacks some of
                them, the others. If it lacks all of them, the variants of the dataset.
            level: one of the task's levels.
            parameters: parameters, which win over those of the level.

        Raises:
            UsageError: an unknown variant, level or parameter, a variant that the dataset lacks, or
                a dataset of another task.
            ParameterError: a parameter with an impossible value.
            DatasetError: a dataset that cannot be read.
        """
        data = None if dataset is None else finished(Path(dataset))
        name, usual_variants, usual_parameters = usual
        names = list(variants or usual_variants)
        if data is not None:
            data.task_like(name)
            if not variants:
                present = list(data.manifest.variants)
                names = [variant for variant in names if variant in present] or present
        for variant in names:
            if data is not None:
                task = data.make_task(variant)
            else:
                task = task_from(name, variant, usual_parameters)
            if level is not None:  # also of a level without parameters, the defaults
                task = task_from(name, variant, {}, task.seed)
            if level is not None or parameters:
                task = changed(task, level=level, parameters=parameters)
            yield task

    @staticmethod
    def sizes(task: Task, rows: Mapping[str, int] | None = None) -> dict[str, int]:
        """Number of rows of each split: `rows`, and else as many as usual or as there are.

        Raises:
            UsageError: no such split.
            ParameterError: more rows than exist.
        """
        plan = plan_rows(task, "paper", rows)
        return {split.name: plan.rows(split.name) for split in task.splits}

    @staticmethod
    def at_most(tasks: Sequence[Task], rows: Mapping[str, int]) -> dict[str, int]:
        """Numbers of rows by split, smaller where fewer exist in a variant."""
        return {
            name: min(sum(divide(task, task.split(name), size).values()) or size for task in tasks)
            for name, size in rows.items()
        }

    def count(self, task: Task, split: str) -> int:
        """Number of rows that a split has or will have. 0 if the split does not exist."""
        if self._there is None:
            plan = self._plans[task.variant]
            return plan.rows(split) if split in plan.quotas else 0
        splits = self._there.manifest.variants[task.variant]
        return splits[split].rows if split in splits else 0

    def few_rows(self, task: Task) -> pa.Table:
        """A few rows of the hardest evaluation split, the last. Newly drawn rows come without ids.

        Raises:
            DatasetError: the rows cannot be read.
        """
        if task.variant not in self._few:
            evaluation = [split for split in task.splits if split.evaluation]
            hardest = [split for split in evaluation if self.count(task, split.name)][-1]
            if self._there is None:
                few = sample_table(task, hardest.name, len(hardest.buckets))
            else:
                batches = self._there.batches(task.variant, hardest.name, batch_rows=_FEW)
                few = pa.Table.from_batches([next(batches)])
            self._few[task.variant] = few
        return self._few[task.variant]

    def make(
        self, *, workers: int, overwrite: bool = False, progress: bool = True
    ) -> DatasetDirectory:
        """The dataset, made if it is not there. Arguments and errors are those of `generate`."""
        if self._there is None:
            generate(
                self.tasks,
                out=self.path,
                rows=self._rows,
                workers=workers,
                overwrite=overwrite,
                progress=progress,
            )
            self._there = DatasetDirectory.open(self.path)
            self._there.task_like(self.tasks[0])  # keeps its source directories
        return self._there
