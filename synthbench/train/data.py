"""The dataset directory that a run trains on: found, or made as its recipe asks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench.dataset import Dataset
from synthbench.errors import UsageError
from synthbench.generation import generate
from synthbench.publishing import finished
from synthbench.registry import task_class

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

    def open(self, path: Path, workers: int, progress: bool) -> Dataset:
        """The dataset at a place, made there if nothing is.

        Raises:
            UsageError: another task's data, other parameters, a variant that is missing, or a
                place that cannot be used.
            DatasetError: what is there cannot be read.
        """
        there = finished(path)
        if there is None:
            generate(
                self.task,
                variant=self.variants,
                out=path,
                rows={**self.rows, **({"train": _STREAM_TRAIN_ROWS} if self.stream else {})},
                parameters=self.parameters,
                workers=workers,
                progress=progress,
            )
            return Dataset.open(path)
        self._check(there)
        return there

    def _check(self, dataset: Dataset) -> None:
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
                    f"{name}={wanted[name]} was asked for. Name another --data."
                )
