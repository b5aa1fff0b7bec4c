"""What figures are made from: a finished run, one shown row, and passes of many rows."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.base import Task
from synthbench.training.batches import Batch, take
from synthbench.training.directory import MODEL, RunDirectory
from synthbench.training.encoding import Encoding, Rows, read_split
from synthbench.training.models import build
from synthbench.training.models.output import Output, Record
from synthbench.training.recipes.base import Recipe
from synthbench.training.setting import Setting, isolated

#: Rows that go through the model together: attention maps of images are large.
_AT_ONCE = 32


class Unavailable(Exception):  # noqa: N818  (not an error: the figure is skipped)
    """A run cannot have this figure; the text says why."""


class Pass(NamedTuple):
    """One pass of some rows through the model."""

    batch: Batch
    record: Record
    output: Output

    def mask(self, columns: int) -> Tensor | None:
        """Which of the record's columns are real, bool `(rows, columns)`; None: all of them."""
        if self.batch.lengths is None:
            return None
        added = columns - self.batch.inputs.shape[1]  # begin and end
        return torch.arange(columns) < (self.batch.lengths + added).unsqueeze(-1)


@dataclasses.dataclass(frozen=True)
class View:
    """A finished run, and the split and row that its figures show; made by `open_run`."""

    recipe: Recipe
    task: Task
    dataset: DatasetDirectory  # the dataset that the run was trained on
    encoding: Encoding
    model: nn.Module  # with the chosen parameters, on the CPU, in evaluation mode
    curve: list[dict[str, Any]]  # the lines of `metrics.jsonl`
    result: dict[str, Any]  # `result.json`
    split: str  # the split that rows come from
    rows: Rows  # its rows
    row: int  # the row whose maps are drawn, counted from 0

    @functools.cached_property
    def shown(self) -> Pass:
        """The shown row on its own, without padding."""
        return self._forward(np.array([self.row]))

    def passes(self, most: int) -> Iterator[Pass]:
        """The first rows of the split, at most `most`, a few at a time."""
        count = min(most, len(self.rows))
        for first in range(0, count, _AT_ONCE):
            yield self._forward(np.arange(first, min(first + _AT_ONCE, count)))

    def table(self, most: int) -> list[dict[str, Any]]:
        """The rows of `passes`, with all columns of the dataset."""
        return list(itertools.islice(self.dataset.rows(self.task.variant, self.split), most))

    @torch.inference_mode()
    def _forward(self, indices: NDArray[np.int64]) -> Pass:
        batch, record = take(self.rows, indices), Record()
        return Pass(batch, record, self.model(batch.inputs, batch.lengths, record))

    @functools.cached_property
    def columns(self) -> list[str]:
        """The names of the columns of the shown row's maps."""
        inputs = self.shown.batch.inputs[0]
        match self.encoding.form:
            case "tokens" if self.encoding.vocabulary is not None:
                tokens = self.encoding.vocabulary.tokens
                names = [tokens[token - 1] for token in inputs.tolist()]
                return ["B", *names, "E"] if getattr(self.model, "begin_end", False) else names
            case "grids":
                return [str(color) for color in inputs.tolist()]
            case "images":
                patches = self.maps("attention")[0].shape[-1] - 1
                return ["class", *(str(patch) for patch in range(patches))]
            case _:
                return [str(place) for place in range(len(inputs))]

    def maps(self, name: str) -> list[Tensor]:
        """What the model recorded of the shown row under a name, without the axis of rows.

        Raises:
            Unavailable: it recorded nothing.
        """
        entries = self.shown.record[name]
        if not entries:
            raise Unavailable(f"model {self.recipe.model!r} has no {name}")
        return [entry[0].float() for entry in entries]


def open_run(
    path: str | PathLike[str],
    dataset: str | PathLike[str] | None = None,
    split: str | None = None,
    row: int = 0,
) -> View:
    """Open a finished run; arguments are those of `draw_figures`.

    Raises:
        UsageError: there is no such run, split or row.
        DatasetError: the run is not finished, its files cannot be read, or the dataset is another
            one or gone.
    """
    directory = RunDirectory(Path(path))
    command, result, setting = directory.command, directory.result, Setting()
    parameters = directory.load(setting.device, MODEL)
    if result is None or parameters is None:
        raise DatasetError(
            f"The run at {str(path)!r} is not finished; the same `synthbench train` continues it."
        )
    opened = DatasetDirectory.open(dataset or result["dataset"])
    splits = opened.manifest.variants.get(command["variant"], {})
    if command["data"]["digests"] != {name: split.digest for name, split in splits.items()}:
        raise DatasetError(
            f"The run at {str(path)!r} was trained on other rows than those in "
            f"{str(opened.path)!r}; name its dataset with --dataset."
        )
    task = opened.make_task(command["variant"])
    split = split or [one.name for one in task.splits if one.evaluation][-1]
    last = opened.split(task.variant, split).rows - 1
    if not 0 <= row <= last:
        raise UsageError(f"Row {row}: split {split!r} has the rows 0 to {last}.")
    encoding, recipe = Encoding.of(task), Recipe.from_dict(command["recipe"])
    rows, _ = read_split(opened, task.variant, split, encoding)
    with isolated(0, setting):
        model = build(recipe.model, encoding.form, encoding.sizes(rows), recipe.options)
    model.load_state_dict(parameters)
    model.eval()
    curve = directory.metrics()
    return View(recipe, task, opened, encoding, model, curve, result, split, rows, row)
