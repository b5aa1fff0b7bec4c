"""Linear probes: how well a linear classifier predicts properties of a row from a model's states.

A high accuracy says that the states separate a property linearly, not that the model uses it.

Source: Eureka (Hoffmann et al., ICML 2024), section 5.1.
"""

from __future__ import annotations

import textwrap
import warnings
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from synthbench.training.figures.figure import Figure, Pass, RunView, Unavailable, numbers
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: Rows that probes are fitted and scored on, and the share that they are fitted on.
ROWS, FITTED = 600, 2 / 3
#: The most characters in a line of a probe target's name, and the most lines of a legend.
_LABEL_WIDTH, _LEGEND_LINES = 14, 12


class Probes(Figure):
    """Accuracy of linear classifiers of each probe target on the states after each layer."""

    name = "probes"
    title = "Accuracy of linear probes after each layer"
    source = "Eureka, figures 2 and 13"

    #: The probed parts of each layer, as models record them, with their names in the figure.
    parts: ClassVar[Mapping[str, str]] = {"hidden": ""}

    def _data(self, view: RunView) -> dict[str, Any]:
        targets = _targets(view)
        states = {
            f"{word}, {place}" if word else place: layers
            for part, word in self.parts.items()
            for place, layers in _states(view, part).items()
        }
        return {
            "split": view.split,
            "rows": len(next(iter(targets.values()))),
            "chance": {name: numbers(majority(classes)) for name, classes in targets.items()},
            "places": {
                place: [
                    {name: numbers(accuracy(layer, classes)) for name, classes in targets.items()}
                    for layer in layers
                ]
                for place, layers in states.items()
            },
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        chance = data["chance"]
        every = panels(canvas, len(data["places"]), 1, 3 + 1.1 * len(chance), 3.2)
        names = [
            textwrap.fill(name, _LABEL_WIDTH, break_long_words=False, break_on_hyphens=False)
            for name in chance
        ]
        for axes, (place, layers) in zip(every, data["places"].items(), strict=True):
            width = 0.8 / len(layers)
            for number, accuracies in enumerate(layers):
                at = np.arange(len(chance)) - 0.4 + (number + 0.5) * width
                heights = [accuracies[name] or 0.0 for name in chance]
                shade = str(0.85 - 0.75 * number / max(1, len(layers) - 1))
                axes.bar(at, heights, width, color=shade, label=f"layer {number}")
            for target, value in enumerate(chance.values()):
                axes.hlines(value, target - 0.45, target + 0.45, color="tab:red", linestyle="--")
            axes.set_xticks(range(len(chance)), names, fontsize=9)
            axes.set_ylim(0, 1)
            axes.set_ylabel("accuracy")
            axes.set_title(f"{place} (red: most frequent class)", fontsize=10)
            # Beside the axes, so that it hides no bar.
            columns = -(-len(layers) // _LEGEND_LINES)
            axes.legend(fontsize=8, ncols=columns, loc="upper left", bbox_to_anchor=(1, 1))


class AttentionProbes(Probes):
    """The same from queries, keys, values and outputs of attention. The heads side by side."""

    name = "attention-probes"
    title = "Accuracy of linear probes of Q, K, V and of Z before and after the residual"
    source = "Eureka, figures 2, 13 and 16 to 19"
    parts: ClassVar[Mapping[str, str]] = {
        "query": "Q", "key": "K", "value": "V", "z": "Z", "attended": "Z after the residual"
    }  # fmt: skip


def _targets(view: RunView) -> dict[str, NDArray[np.int64]]:
    """The probe targets that have several values, int64 `(rows,)` each."""
    rows = [view.task.probe_targets(row) for row in view.table(ROWS)]
    columns = {name: np.array([row[name] for row in rows], np.int64) for name in rows[0]}
    several = {name: values for name, values in columns.items() if len(np.unique(values)) > 1}
    if not several:
        raise Unavailable(f"the rows of task {view.task.name} have no probe targets that differ")
    return several


def _states(view: RunView, part: str) -> dict[str, list[NDArray[np.float32]]]:
    """A recorded part of each layer as vectors, by the place in the model's columns."""
    parts: dict[tuple[str, int], list[Tensor]] = defaultdict(list)
    for taken in view.passes(ROWS):
        for number, hidden in enumerate(view.recorded(taken, part)):
            if hidden.ndim == 4:  # the heads side by side
                hidden = hidden.transpose(1, 2).flatten(2)
            for place, vectors in _vectors(view, taken, hidden).items():
                parts[place, number].append(vectors.float())
    states: dict[str, list[NDArray[np.float32]]] = defaultdict(list)
    for (place, _), layer in parts.items():
        states[place].append(torch.cat(layer).numpy())
    return states


def _vectors(view: RunView, taken: Pass, hidden: Tensor) -> dict[str, Tensor]:
    if view.form.reads == "images":
        return of_images(hidden)
    if hidden.ndim == 2:
        return {"state": hidden}
    first = view.backbone_has("readout", "first")
    return of_tokens(hidden, taken.mask(hidden.shape[1]), first)


def of_tokens(hidden: Tensor, mask: Tensor | None, first: bool) -> dict[str, Tensor]:
    """The states of columns, `(rows, columns, size)`, as vectors `(rows, size)`.

    `read-out` has the column that the answer is read from, the first or the last real column, and
    `mean` the mean over all real columns. `mask` says which are real, bool `(rows, columns)`.
    """
    if mask is None:
        mask = torch.ones(hidden.shape[:2], dtype=torch.bool)
    lengths = mask.sum(dim=1)
    column = torch.zeros_like(lengths) if first else lengths - 1
    mean = (hidden * mask.unsqueeze(-1)).sum(dim=1) / lengths.unsqueeze(-1)
    return {"read-out": hidden[torch.arange(len(hidden)), column], "mean": mean}


def of_images(hidden: Tensor) -> dict[str, Tensor]:
    """The states of places that form a square, `(rows, places, size)`, as vectors `(rows, n)`.

    `quadrants` has the four quadrants' mean states in a row, `(rows, 4 * size)`. If a class token
    comes before the square, `class token` has its state, `(rows, size)`.
    """
    side = int(hidden.shape[1] ** 0.5)
    tokens = hidden.shape[1] - side * side
    square = hidden[:, tokens:].transpose(1, 2).reshape(len(hidden), -1, side, side)
    quadrants = functional.adaptive_avg_pool2d(square, 2).flatten(1)
    return {**({"class token": hidden[:, 0]} if tokens else {}), "quadrants": quadrants}


def accuracy(states: NDArray[Any], classes: NDArray[np.int64]) -> float | None:
    """The accuracy of a linear classifier on the last third of the rows, fitted on the others.

    States are float `(rows, size)`, classes int64 `(rows,)`. None if the rows that it is fitted on
    have only one class.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    cut = round(FITTED * len(classes))
    if len(np.unique(classes[:cut])) < 2:
        return None
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # good enough to compare layers
        probe.fit(states[:cut], classes[:cut])
    return float(probe.score(states[cut:], classes[cut:]))


def majority(classes: NDArray[np.int64]) -> float:
    """The accuracy, on the same rows, of always answering the fitted rows' most frequent class."""
    cut = round(FITTED * len(classes))
    values, counts = np.unique(classes[:cut], return_counts=True)
    return float((classes[cut:] == values[counts.argmax()]).mean())
