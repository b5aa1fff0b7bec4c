"""The dataset directory that a run trains on: found, or made as its recipe asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import finished
from synthbench.errors import UsageError
from synthbench.generation.generate import generate
from synthbench.generation.request import plan_rows
from synthbench.sampling.plan import check_rows
from synthbench.tasks.base import Task
from synthbench.tasks.registry import make_task, task_class

#: Rows of the train split beside a stream: nobody reads them, but a dataset has some.
_STREAM_TRAIN_ROWS = 100


@dataclasses.dataclass(frozen=True)
class DataRequest:
    """What a run wants to train on.

    Attributes:
        task: name of the task.
        variants: the variants that must be there.
        parameters: the task's parameters, where a dataset is made.
        rows: rows of splits that differ from the paper's, where a dataset is made.
        insisted: parameters that a dataset that is there must have.
        stream: whether training is on fresh rows; then hardly any train split is made.
    """

    task: str
    variants: tuple[str, ...]
    parameters: Mapping[str, Any]
    rows: Mapping[str, int]
    insisted: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    stream: bool = False

    def find(self, path: Path) -> DatasetDirectory | None:
        """The dataset at a place, None where there is nothing yet.

        Raises:
            UsageError: another task's data, other parameters, a variant that is missing, or a
                place that cannot be used.
            DatasetError: what is there cannot be read.
        """
        there = finished(path)
        if there is not None:
            self._check(there)
        return there

    def make(self, path: Path, workers: int, progress: bool, overwrite: bool) -> DatasetDirectory:
        """Make the dataset at a place where there is none yet.

        Args:
            path: the place.
            workers: how many processes make rows.
            progress: whether to show a bar.
            overwrite: whether to throw away an interrupted dataset of another command.

        Raises:
            UsageError: impossible parameters, or a place that cannot be used.
            SynthbenchError: the rows cannot be found, or the files not be written.
        """
        generate(
            self.task,
            variant=self.variants,
            out=path,
            rows=self._rows,
            parameters=self.parameters,
            workers=workers,
            overwrite=overwrite,
            progress=progress,
        )
        return DatasetDirectory.open(path)

    def plan(self, variant: str, there: DatasetDirectory | None) -> tuple[Task, dict[str, int]]:
        """The task and the rows of each split: of the dataset that is there, or is to be made.

        Raises:
            UsageError: impossible parameters or rows.
        """
        if there is not None:
            task, splits = there.make_task(variant), there.manifest.variants[variant]
            check_rows(task, self.rows)
            return task, {name: split.rows for name, split in splits.items()}
        task = make_task(self.task, variant, self.parameters, 0)
        plan = plan_rows(task, "paper", self._rows)
        return task, {split.name: plan.rows(split.name) for split in task.splits}

    @property
    def _rows(self) -> dict[str, int]:
        return {**self.rows, **({"train": _STREAM_TRAIN_ROWS} if self.stream else {})}

    def _check(self, dataset: DatasetDirectory) -> None:
        manifest = dataset.manifest
        if manifest.task != self.task:
            raise UsageError(
                f"Data {str(dataset.path)!r} is of task {manifest.task!r}; "
                f"expected {self.task!r}, or a place where nothing is yet."
            )
        for variant in self.variants:
            dataset.variant(variant)
        wanted = task_class(self.task).parameters_type.make(self.insisted).to_dict()
        for name in self.insisted:
            if manifest.parameters[name] != wanted[name]:
                raise UsageError(
                    f"Data {str(dataset.path)!r} has {name}={manifest.parameters[name]}; "
                    f"{name}={wanted[name]} was asked for. Name another --dataset."
                )
