"""Figure of linear probes: what each layer's states tell about the facts of a row."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from synthbench.training import probes
from synthbench.training.figures.figure import Figure, numbers, panels
from synthbench.training.figures.view import Pass, Unavailable, View

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Characters of a line of a fact's name, and lines of a legend, that there is room for.
_LABEL_WIDTH, _LEGEND_LINES = 14, 12
#: Rows that probes are fitted and scored on.
ROWS = 600


class Probes(Figure):
    """How well a linear classifier reads each fact off the states after each layer."""

    name = "probes"
    title = "Accuracy of linear probes after each layer"
    source = "Eureka, figures 2 and 13"

    def _data(self, view: View) -> dict[str, Any]:
        targets = _targets(view)
        states = _states(view)
        return {
            "split": view.split,
            "rows": len(next(iter(targets.values()))),
            "chance": {name: numbers(probes.majority(one)) for name, one in targets.items()},
            "places": {
                place: [
                    {name: numbers_or_none(layer, classes) for name, classes in targets.items()}
                    for layer in layers
                ]
                for place, layers in states.items()
            },
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        chance = data["chance"]
        lines = panels(canvas, len(data["places"]), 1, 3 + 1.1 * len(chance), 3.2)
        names = [_wrapped(name) for name in chance]
        for (axes,), (place, layers) in zip(lines, data["places"].items(), strict=True):
            width = 0.8 / len(layers)
            for number, found in enumerate(layers):
                at = np.arange(len(chance)) - 0.4 + (number + 0.5) * width
                heights = [found[name] or 0.0 for name in chance]
                shade = str(0.85 - 0.75 * number / max(1, len(layers) - 1))
                axes.bar(at, heights, width, color=shade, label=f"layer {number}")
            for fact, value in enumerate(chance.values()):
                axes.hlines(value, fact - 0.45, fact + 0.45, color="tab:red", linestyle="--")
            axes.set_xticks(range(len(chance)), names, fontsize=9)
            axes.set_ylim(0, 1)
            axes.set_ylabel("accuracy")
            axes.set_title(f"{place} (red: most frequent class)", fontsize=10)
            # Beside the axes, where it hides no bar.
            columns = -(-len(layers) // _LEGEND_LINES)
            axes.legend(fontsize=8, ncols=columns, loc="upper left", bbox_to_anchor=(1, 1))


def _wrapped(name: str) -> str:
    """A fact's name in lines; its words stay whole."""
    return textwrap.fill(name, _LABEL_WIDTH, break_long_words=False, break_on_hyphens=False)


def numbers_or_none(states: NDArray[Any], classes: NDArray[np.int64]) -> float | None:
    """A probe's accuracy, rounded."""
    found = probes.accuracy(states, classes)
    return None if found is None else float(numbers(found))


def _targets(view: View) -> dict[str, NDArray[np.int64]]:
    """Each probe target of the rows that has more than one value, int64 `(rows,)`."""
    rows = [view.task.probe_targets(row) for row in view.table(ROWS)]
    columns = {name: np.array([row[name] for row in rows], np.int64) for name in rows[0]}
    several = {name: one for name, one in columns.items() if len(np.unique(one)) > 1}
    if not several:
        raise Unavailable(f"the rows of task {view.task.name} have no facts to probe for")
    return several


def _states(view: View) -> dict[str, list[NDArray[np.float32]]]:
    """The states after each layer as vectors, by the place they are taken from."""
    parts: dict[str, list[list[Tensor]]] = {}
    for taken in view.passes(ROWS):
        layers = taken.record["hidden"]
        for number, hidden in enumerate(layers):
            for place, vectors in _vectors(view, taken, hidden).items():
                kept = parts.setdefault(place, [[] for _ in layers])
                kept[number].append(vectors.float())
    if not parts:
        raise Unavailable(f"model {view.run.recipe.model!r} records no states")
    return {
        place: [torch.cat(layer).numpy() for layer in layers] for place, layers in parts.items()
    }


def _vectors(view: View, taken: Pass, hidden: Tensor) -> dict[str, Tensor]:
    if view.run.encoding.form == "images":
        return probes.of_images(hidden)
    if hidden.ndim == 2:
        return {"state": hidden}
    first = getattr(view.run.model, "readout", "last") == "first"
    return probes.of_tokens(hidden, taken.mask(hidden.shape[1]), first)
