"""Accuracy by place of a sequence, and by length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from synthbench.training.figures.figure import Figure, RunView, Unavailable, numbers
from synthbench.training.panels import panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

#: The breakdown of sequences, and its metric.
_PLACE, _AT_PLACE = "place", "position_accuracy"
_BY = {_PLACE: "place of the answer", "length": "length"}


class Places(Figure):
    """The share of right answers at each place of a sequence and for each length, by split."""

    name = "places"
    title = "Accuracy by place and by length, with 95% intervals"
    source = "Accuracy against length in Delétang et al. (ICLR 2023) and Merrill et al. (ICML 2024)"

    def _data(self, view: RunView) -> dict[str, Any]:
        by: dict[str, dict[str, Any]] = {}
        for split, report in view.result["splits"].items():
            for column in _BY:
                metric = _AT_PLACE if column == _PLACE else view.form.metric
                if scores := report["by"].get(column):
                    by.setdefault(column, {})[split] = _series(scores, metric)
        if not by:
            raise Unavailable(f"the answers of task {view.task.name} have no places or lengths")
        return {"metric": view.form.metric, "by": by}

    def _draw(self, data: dict[str, Any], canvas: Canvas) -> None:
        every = panels(canvas, len(data["by"]), width=5.0, height=3.5)
        for axes, (column, splits) in zip(every, data["by"].items(), strict=True):
            for split, series in splits.items():
                axes.plot(series["at"], series["mean"], label=split, markersize=3)
                if None not in series["low"]:
                    axes.fill_between(series["at"], series["low"], series["high"], alpha=0.2)
            axes.set_ylim(-0.02, 1.02)
            axes.set_xlabel(_BY[column])
            axes.set_ylabel(_AT_PLACE if column == _PLACE else data["metric"])
            axes.legend(fontsize=8)


def _series(scores: dict[str, Any], metric: str) -> dict[str, Any]:
    """Means and intervals of a breakdown. Bands such as 11..20 are at their first number."""
    entries = list(scores.values())
    intervals = [score.get(f"{metric}_interval") or [None, None] for score in entries]
    return {
        "at": [int(value.partition("..")[0]) for value in scores],
        "mean": numbers([score[metric] for score in entries]),
        "low": numbers([low for low, _ in intervals]),
        "high": numbers([high for _, high in intervals]),
    }
