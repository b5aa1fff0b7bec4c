"""A figure, and the view of a finished run that it is made from: one shown row, many rows."""

from __future__ import annotations

import abc
import copy
import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError, UsageError
from synthbench.tasks.base import Task
from synthbench.training.batches import read_split, take
from synthbench.training.directory import MODEL, RunDirectory, at_step
from synthbench.training.forms import Form, form_of
from synthbench.training.forms.rows import Batch, Rows
from synthbench.training.models import build, code_of
from synthbench.training.models.output import Output, Record
from synthbench.training.options import Setting
from synthbench.training.predicting import apply
from synthbench.training.recipes.base import Recipe
from synthbench.training.setting import isolated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: Rows that go through the model together: attention maps of images are large.
_AT_ONCE = 32
#: The missing part of a model that records nothing under a name, where the name does not say it.
_LACKING = {
    "attended": "recorded attention",
    "gate": "copy gate",
    "halting": "adaptive computation time",
    "hidden": "recorded states",
    "hybrid": "hybrid attention",
    "norm_input": "LayerNorm whose input is recorded",
}


class Unavailable(Exception):  # noqa: N818  (not an error: the figure is skipped)
    """A run cannot have this figure. The text says why."""


class Pass(NamedTuple):
    """One pass of some rows through the model."""

    batch: Batch
    record: Record
    output: Output

    def mask(self, columns: int) -> Tensor | None:
        """A mask of the record's real columns, bool `(rows, columns)`. None: all of them."""
        if self.batch.lengths is None:
            return None
        added = columns - self.batch.inputs.shape[1]  # begin and end
        return torch.arange(columns) < (self.batch.lengths + added).unsqueeze(-1)


@dataclasses.dataclass(frozen=True)
class RunView:
    """A finished run, and the split and row that its figures show. Made by `open_run`."""

    recipe: Recipe
    task: Task
    dataset: DatasetDirectory  # the dataset that the run was trained on
    form: Form
    model: nn.Module  # with the chosen parameters, on the CPU, in evaluation mode
    curve: list[dict[str, Any]]  # the lines of `metrics.jsonl`
    result: dict[str, Any]  # `result.json`
    split: str  # the split that rows come from
    rows: Rows  # its rows
    row: int  # the row whose maps are drawn, counted from 0
    directory: RunDirectory

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

    @torch.no_grad()
    def _forward(self, indices: NDArray[np.int64]) -> Pass:
        batch, record = take(self.rows, indices), Record()
        return Pass(batch, record, apply(self.model, batch, record))

    @functools.cached_property
    def columns(self) -> list[str]:
        """The names of the columns of the shown row's maps."""
        inputs = self.shown.batch.inputs[0]
        match self.form.reads:
            case "tokens":
                tokens = self.form.input_tokens  # type: ignore[attr-defined]
                names = [tokens[token] for token in inputs.tolist()]
                return ["B", *names, "E"] if self.backbone_has("begin_end", True) else names
            case "grids":
                return [str(color) for color in inputs.tolist()]
            case "images":
                patches = self.maps("attention")[0].shape[-1] - 1
                return ["class", *(str(patch) for patch in range(patches))]
            case _:
                return [str(place) for place in range(len(inputs))]

    def stages(self) -> Iterator[tuple[float, RunView]]:
        """The run at each checkpoint that it has kept, with its epoch.

        Raises:
            Unavailable: it kept nothing.
        """
        if not self.directory.kept:
            raise Unavailable("no checkpoints were kept: train with --keep-checkpoints 10")
        last = self.curve[-1]
        for step in self.directory.kept:
            model = copy.deepcopy(self.model)
            parameters = self.directory.load(torch.device("cpu"), at_step(step))
            model.load_state_dict(parameters or {})
            epoch = last["epoch"] * step / last["step"]
            yield numbers(epoch), dataclasses.replace(self, model=model)

    def backbone_has(self, attribute: str, value: object) -> bool:
        """True if the model's backbone has an attribute with this value."""
        return getattr(getattr(self.model, "backbone", None), attribute, None) == value

    def last_query(self, taken: Pass) -> Tensor | None:
        """The only query of the last layer that is computed in training, int64 `(rows,)`.

        The answers are read from its column. None: all queries are computed.
        """
        if not self.backbone_has("column_only", True):
            return None
        rows, *_, columns = self.recorded(taken, "attention")[-1].shape
        mask = taken.mask(columns)
        assert mask is not None  # rows of tokens have lengths
        first = self.backbone_has("readout", "first")
        return torch.zeros(rows, dtype=torch.int64) if first else mask.sum(dim=1) - 1

    def recorded(self, taken: Pass, name: str) -> list[Tensor]:
        """The model's records of a name, an entry for each layer or step.

        Raises:
            Unavailable: it recorded nothing.
        """
        if not taken.record[name]:
            raise Unavailable(f"model {self.recipe.model!r} has no {_LACKING.get(name, name)}")
        return taken.record[name]

    def maps(self, name: str) -> list[Tensor]:
        """The shown row's `recorded` entries, without the axis of rows. Raises as it does."""
        return [entry[0].float() for entry in self.recorded(self.shown, name)]


def open_run(
    path: str | PathLike[str],
    dataset: str | PathLike[str] | None = None,
    split: str | None = None,
    row: int = 0,
) -> RunView:
    """Open a finished run. Arguments are those of `draw_figures`.

    Raises:
        UsageError: an unknown run, split or row.
        DatasetError: the run is not finished, its files cannot be read, the dataset is another one
            or gone, or the code of its model has changed.
    """
    directory = RunDirectory(Path(path))
    command, result, setting = directory.command, directory.result, Setting()
    parameters = directory.load(setting.device, MODEL)
    if result is None or parameters is None:
        raise DatasetError(
            f"The run at {str(path)!r} is not finished. The same `synthbench train` continues it."
        )
    opened = DatasetDirectory.open(dataset or result["dataset"])
    splits = opened.manifest.variants.get(command["variant"], {})
    if command["data"]["digests"] != {name: split.digest for name, split in splits.items()}:
        raise DatasetError(
            f"The run at {str(path)!r} was trained on other rows than those in "
            f"{str(opened.path)!r}; name its dataset with --dataset."
        )
    task = opened.make_task(command["variant"])
    split = split or [candidate.name for candidate in task.splits if candidate.evaluation][-1]
    last = opened.split(task.variant, split).rows - 1
    if not 0 <= row <= last:
        raise UsageError(f"Row {row}: split {split!r} has the rows 0 to {last}.")
    recipe = Recipe.from_dict(command["recipe"])
    if code_of(recipe.model) != command.get("code"):
        raise DatasetError(
            f"The code of model {recipe.model!r} is not the code that the run at {str(path)!r} "
            "was trained with. Restore the file, or train again into another directory."
        )
    form = form_of(task, recipe.form or None, recipe.start)
    rows, _ = read_split(opened, task.variant, split, form)
    with isolated(0, setting):
        model = build(recipe.model, form, form.sizes(rows), recipe.options)
    model.load_state_dict(parameters)
    model.eval()
    curve = directory.metrics()
    return RunView(recipe, task, opened, form, model, curve, result, split, rows, row, directory)


class Figure(abc.ABC):
    """One figure."""

    name: ClassVar[str]  # its name on the command line and of its files
    title: ClassVar[str]  # what it shows
    source: ClassVar[str]  # the papers' figures that it resembles

    def data(self, view: RunView) -> dict[str, Any]:
        """The data of the figure, with its title and its run, as JSON values.

        Raises:
            Unavailable: the run cannot have this figure. The text says why.
        """
        return {
            "figure": self.name,
            "title": self.title,
            "like": self.source,
            "task": view.task.name,
            "variant": view.task.variant,
            "model": view.recipe.name,
            "seed": view.result["seed"],
            **self._data(view),
        }

    def draw(self, data: dict[str, Any], file: Path) -> None:
        """Draw the data into a PNG file. The same data and matplotlib give the same bytes."""
        import matplotlib.style
        from matplotlib.figure import Figure as Canvas

        about = f"{data['task']}, {data['variant']}: {data['model']}, seed {data['seed']}"
        with matplotlib.style.context("default"):
            canvas = Canvas(layout="constrained", dpi=100)
            self._draw(data, canvas)
            canvas.suptitle(f"{self.title}\n{about}", fontsize=9)
            canvas.savefig(file, format="png", metadata={"Software": None})

    @abc.abstractmethod
    def _data(self, view: RunView) -> dict[str, Any]:
        """The data to draw, as JSON values. Raises as `data`."""

    @abc.abstractmethod
    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        """Draw the data on an empty canvas."""


def numbers(values: Any) -> Any:
    """Numbers, nested in lists, arrays or tensors, as lists of floats with six significant digits.

    None stays None, and numbers that are not finite become None.
    """
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return float(f"{values:.6g}") if values is not None and math.isfinite(values) else None


def label_columns(axes: Axes, names: list[str], *, horizontal: bool, vertical: bool) -> None:
    """Write columns' names along a map's sides, unless there are too many to read."""
    axes.set_xticks([])
    axes.set_yticks([])
    if len(names) > 64:
        return
    size = max(3.0, min(7.0, 160 / len(names)))
    if horizontal:
        axes.set_xticks(np.arange(len(names)), names, rotation=90, fontsize=size)
    if vertical:
        axes.set_yticks(np.arange(len(names)), names, fontsize=size)
