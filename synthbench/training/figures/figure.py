"""A figure: data of a run as JSON values, and a drawing of these values alone."""

from __future__ import annotations

import abc
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from synthbench.training.figures.view import View


class Figure(abc.ABC):
    """One figure."""

    name: ClassVar[str]  # its name on the command line and of its files
    title: ClassVar[str]  # what it shows
    source: ClassVar[str]  # the papers' figures that it resembles

    def data(self, view: View) -> dict[str, Any]:
        """The data of the figure, with its title and its run, as JSON values.

        Raises:
            Unavailable: the run cannot have this figure; the text says why.
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
        """Draw the data into a PNG file; the same data and matplotlib give the same bytes.

        Raises:
            OSError: the file cannot be written.
        """
        import matplotlib.style
        from matplotlib.figure import Figure as Canvas

        about = f"{data['task']}, {data['variant']}: {data['model']}, seed {data['seed']}"
        with matplotlib.style.context("default"):
            canvas = Canvas(layout="constrained", dpi=100)
            self._draw(data, canvas)
            canvas.suptitle(f"{self.title}\n{about}", fontsize=9)
            canvas.savefig(file, format="png", metadata={"Software": None})

    @abc.abstractmethod
    def _data(self, view: View) -> dict[str, Any]:
        """The data to draw, as JSON values; raises as `data`."""

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


def panels(
    canvas: Canvas, lines: int, across: int, width: float = 4.0, height: float = 3.0
) -> list[list[Axes]]:
    """Axes in lines; each has this width and height in inches."""
    canvas.set_size_inches(max(4.0, width * across), max(2.0, height * lines))
    grid = canvas.subplots(lines, across, squeeze=False)
    return [list(line) for line in grid]


def panels_in_order(canvas: Canvas, count: int, width: float, height: float) -> list[Axes]:
    """`count` axes, four in a line; the rest of the last line stays empty."""
    across = min(count, 4)
    grid = panels(canvas, -(-count // across), across, width, height)
    every = [axes for line in grid for axes in line]
    for axes in every[count:]:
        axes.set_axis_off()
    return every[:count]


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
