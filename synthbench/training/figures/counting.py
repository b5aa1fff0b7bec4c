"""Figures of models that count: predicted counts, inputs of LayerNorm, the paper's own grid."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from synthbench.training.figures.figure import Figure, RunView, Unavailable, numbers
from synthbench.training.models.output import Record
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: The grid of Counting, table III, line by line.
PAPER_GRID = (6, 6, 0, 3, 7, 0, 4, 3, 6)
#: Bins of a histogram of deviations.
_BINS = 40


def _check_counts(view: RunView) -> None:
    if view.form.reads != "grids":
        raise Unavailable(f"task {view.task.name} does not count")


class Counts(Figure):
    """The counts that a model predicts for coloured cells, against the true counts, by size."""

    name = "counts"
    title = "Predicted against true counts of coloured cells"
    source = "Counting, figures 2, 3, 5 and 6"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_counts(view)
        cells: dict[int, Counter[tuple[int, int]]] = {}
        for taken in view.passes(len(view.rows)):
            answers = view.form.answers(taken.output.scores, taken.batch)
            grids = zip(taken.batch.inputs.tolist(), taken.batch.targets.tolist(), strict=True)
            for answer, (colors, counts) in zip(answers, grids, strict=True):
                side = round(len(answer) ** 0.5)
                pairs = zip(colors, counts, answer, strict=False)  # answer is not padded
                colored = ((int(true), int(said)) for color, true, said in pairs if color)
                cells.setdefault(side, Counter()).update(colored)
        return {
            "split": view.split,
            "sizes": {
                str(side): [[true, said, n] for (true, said), n in sorted(cells[side].items())]
                for side in sorted(cells)
            },
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        sizes = data["sizes"]
        every = panels(canvas, len(sizes), width=3.0)
        for axes, (side, cells) in zip(every, sizes.items(), strict=True):
            true, said, n = np.array(cells).T
            axes.scatter(true, said, s=2 + 40 * n / n.max(), alpha=0.6, linewidths=0)
            axes.plot([0, true.max()], [0, true.max()], color="0.6", marker="", linewidth=0.8)
            right = n[true == said].sum() / n.sum()
            axes.set_title(f"{side}x{side}: {right:.1%} right", fontsize=8)
            axes.set_xlabel("true", fontsize=7)
            axes.set_ylabel("predicted", fontsize=7)
            axes.tick_params(labelsize=7)


class NormInputs(Figure):
    """The deviation of the vectors before the last LayerNorm, for right and for wrong counts."""

    name = "norm-inputs"
    title = "Deviation of coloured cells' vectors before LayerNorm"
    source = "Counting, figures 4 and 7"

    def _data(self, view: RunView) -> dict[str, Any]:
        _check_counts(view)
        by_side: dict[int, list[NDArray[np.float64]]] = defaultdict(list)
        for taken in view.passes(len(view.rows)):
            deviations = view.recorded(taken, "norm_input")[-1].std(dim=-1, correction=0)
            counts = view.form.answers(taken.output.scores, taken.batch)
            batch = zip(taken.batch.inputs, taken.batch.targets, deviations, counts, strict=True)
            for colors, targets, spread, answer in batch:
                cells = len(answer)  # without padding
                right = targets[:cells] == torch.tensor(answer)
                pairs = torch.stack([right.double(), spread[:cells].double()])
                by_side[round(cells**0.5)].append(pairs[:, colors[:cells] > 0].numpy())
        sizes = {side: np.concatenate(parts, axis=1) for side, parts in sorted(by_side.items())}
        every = np.concatenate([pairs[1] for pairs in sizes.values()]).clip(1e-9)
        edges = np.geomspace(every.min() / 1.01, every.max() * 1.01, _BINS + 1)
        return {
            "split": view.split,
            "edges": numbers(edges),
            "sizes": {str(side): _by_outcome(pairs, edges) for side, pairs in sizes.items()},
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        from matplotlib.ticker import LogLocator

        every = panels(canvas, len(data["sizes"]), width=3.2, height=2.4)
        for axes, (side, outcomes) in zip(every, data["sizes"].items(), strict=True):
            for outcome, color in (("right", "#0072b2"), ("wrong", "#d55e00")):
                counts = np.array(outcomes[outcome]["counts"])
                share = counts / max(1, counts.sum())
                axes.stairs(share, data["edges"], color=color, fill=True, alpha=0.5, label=outcome)
            right, wrong = (outcomes[outcome]["cells"] for outcome in ("right", "wrong"))
            axes.set_title(f"{side}x{side}: {right / (right + wrong):.1%} right", fontsize=8)
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(LogLocator(subs=(2, 5)))  # few enough to label
            axes.set_xlabel("deviation", fontsize=7)
            axes.set_ylabel("share of cells", fontsize=7)
            axes.tick_params(labelsize=7, which="both")
            axes.legend(fontsize=7)


def _by_outcome(pairs: NDArray[np.float64], edges: NDArray[np.float64]) -> dict[str, Any]:
    """Number, median and histogram of the deviations of right and of wrong cells.

    `pairs` has 1 for a right cell or 0, and its deviation, float64 `(2, cells)`.
    """
    outcomes = {}
    for outcome, right in (("right", 1.0), ("wrong", 0.0)):
        spread = pairs[1, pairs[0] == right].clip(1e-9)
        outcomes[outcome] = {
            "cells": len(spread),
            "median": numbers(float(np.median(spread))) if len(spread) else None,
            "counts": np.histogram(spread, edges)[0].tolist(),
        }
    return outcomes


class PaperGrid(Figure):
    """The attention weights of the grid whose weights the paper prints, and the counts."""

    name = "paper-grid"
    title = "Attention in the grid 6 6 0 / 3 7 0 / 4 3 6"
    source = "Counting, table III"

    @torch.no_grad()
    def _data(self, view: RunView) -> dict[str, Any]:
        _check_counts(view)
        record, cells = Record(), torch.tensor([PAPER_GRID])
        scores = view.model(cells, None, record).scores
        counts = scores.gather(-1, cells.unsqueeze(-1))[0, :, 0].round()
        return {
            "grid": list(PAPER_GRID),
            "weights": numbers(record["attention"][0][0, 0]),
            "counts": [int(count) for count in counts],
        }

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        (axes,) = panels(canvas, 1, width=5.2, height=4.4)
        axes.imshow(data["weights"], cmap="viridis")
        middle = (np.min(data["weights"]) + np.max(data["weights"])) / 2
        for row, line in enumerate(data["weights"]):
            for column, weight in enumerate(line):
                color = "black" if weight > middle else "white"
                axes.text(column, row, f"{abs(weight):.2f}", ha="center", va="center", color=color)
        axes.set_xticks(range(9), map(str, data["grid"]))
        named = zip(data["grid"], data["counts"], strict=True)
        axes.set_yticks(range(9), [f"{color}: {count}" for color, count in named])
        axes.set_xlabel("colour of the key")
        axes.set_ylabel("colour of the cell: predicted count")
