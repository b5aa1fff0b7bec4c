"""A finished run, opened again: its model with the chosen parameters, its data, its curve."""

from __future__ import annotations

import dataclasses
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import nn

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError
from synthbench.training.batches import read_split
from synthbench.training.directory import RunDirectory
from synthbench.training.encoding import Encoding, Rows
from synthbench.training.models import build
from synthbench.training.recipes.base import Recipe
from synthbench.training.setting import Setting, isolated


@dataclasses.dataclass(frozen=True)
class FinishedRun:
    """A finished run.

    Attributes:
        path: the run's directory.
        recipe: the model and how it was trained.
        dataset: where its rows are.
        variant: which of the dataset's variants.
        encoding: how rows become tensors.
        model: the model with the chosen parameters, on the CPU, in evaluation mode.
        curve: what was noted of training and of the watched splits, in order.
        result: what came out.
    """

    path: Path
    recipe: Recipe
    dataset: DatasetDirectory
    variant: str
    encoding: Encoding
    model: nn.Module
    curve: list[dict[str, Any]]
    result: dict[str, Any]

    def rows(self, split: str) -> Rows:
        """All rows of a split as tensors.

        Raises:
            UsageError: there is no such split.
            DatasetError: rows that cannot be read.
        """
        return read_split(self.dataset, self.variant, split, self.encoding)


def open_run(path: str | PathLike[str], dataset: str | PathLike[str] | None = None) -> FinishedRun:
    """Open a run.

    Args:
        path: the run's directory.
        dataset: the dataset that it was trained on; default: where it was then.

    Raises:
        UsageError: there is no run.
        DatasetError: the run is not finished, its files cannot be read, or the dataset is another
            one or gone.
    """
    directory = RunDirectory(Path(path))
    command, result = directory.command, directory.result
    if result is None:
        raise DatasetError(
            f"The run at {str(path)!r} is not finished; its `synthbench train` goes on with it."
        )
    opened = DatasetDirectory.open(dataset or result["dataset"])
    splits = opened.manifest.variants.get(command["variant"], {})
    if command["data"]["digests"] != {name: split.digest for name, split in splits.items()}:
        raise DatasetError(
            f"The run at {str(path)!r} was trained on other rows than those in "
            f"{str(opened.path)!r}; name its dataset with --dataset."
        )
    task = opened.make_task(command["variant"])
    encoding, recipe = Encoding.of(task), Recipe.from_dict(command["recipe"])
    setting = Setting(torch.device("cpu"), progress=False)
    first = next(split.name for split in task.splits if split.evaluation)
    sizes = encoding.sizes(read_split(opened, task.variant, first, encoding))
    with isolated(0, setting):
        model = build(recipe.model, encoding.form, sizes, recipe.options)
    model.load_state_dict(directory.model(setting.device))
    model.eval()
    return FinishedRun(
        Path(path), recipe, opened, task.variant, encoding, model, directory.metrics(), result
    )
