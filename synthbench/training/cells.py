"""Cells of tables with figures of models."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from synthbench.evaluation.scores import wilson
from synthbench.training.train_fit import FITTED, NOT_FITTED

#: Marks a figure that one of several runs has.
ONE_RUN = "one run"
#: How a metric's figures are shown. All others have three decimal places.
_FORMS = {
    "mse": "{:.1e}",
    "distance": "{:.2f}",
    "halting": "{:.1f}",
    "eureka_epoch": "{:,.0f}",
    "eureka_percent": "{:.0f}",
}


def number(metric: str, value: float) -> str:
    """One figure of a metric."""
    return _FORMS.get(metric, "{:.3f}").format(value)


def cell(metric: str, figure: Mapping[str, Any] | None, runs: int | None) -> str:
    """A figure with its deviation, a number of runs with its Wilson interval. Otherwise empty."""
    if figure is None:
        return ""
    mean, deviation = figure["mean"], figure["deviation"]
    if mean is None:
        return "-"
    if metric == "eureka_ratio" and runs:
        low, high = wilson(round(mean * runs), runs)
        return f"{round(mean * runs)}/{runs} ({low:.2f} to {high:.2f})"
    spread = "" if deviation is None else f" ± {number(metric, deviation)}"
    return number(metric, mean) + spread


#: Names of a metric's figures, where the name of a measure does not say it.
_MEANINGS = {
    "mse": "squared error",
    "cell_accuracy": "share of cells",
    "position_accuracy": "share of places",
    "eureka_accuracy": "of runs with a moment",
    "eureka_ratio": "runs with a moment",
    "eureka_epoch": "epoch of the moment",
    "separated": "point sets",
}


def heading(measure: Mapping[str, Any]) -> str:
    """The heading of a measure's column: its name, what its figures are, and of how many rows."""
    words = [measure["name"], _MEANINGS.get(measure["metric"], "")]
    rows = measure.get("rows")
    of_runs = measure["metric"] in ("eureka_ratio", "eureka_epoch", "eureka_percent")
    counted = None if of_runs else rows
    words.append(f"{counted:,} rows" if counted else "")
    return ", ".join(filter(None, words))


def fit_cell(model: Mapping[str, Any]) -> str:
    """The fit of a model's runs to their training rows. Empty if they learned nothing."""
    return ", ".join(fit_words(model))


def fit_words(model: Mapping[str, Any]) -> list[str]:
    """The figure of `fit_cell`, then a remark if not all runs are fitted."""
    fits = [run["fit"] for run in model["runs"] if run["fit"]]
    if not fits:
        return [""]
    figure = {"mean": statistics.fmean(fit["chosen"] for fit in fits), "deviation": None}
    words = [cell(fits[0]["metric"], figure, None)]
    if unfitted := sum(fit["state"] != FITTED for fit in fits):
        which = "" if unfitted == len(fits) else f"{unfitted} of {len(fits)} "
        steps = max(run["steps"] for run in model["runs"])
        words.append(f"{which}{NOT_FITTED} in {steps:,} steps")
    return words


def headings(measure: Mapping[str, Any], comparison: Mapping[str, Any]) -> list[str]:
    """The heading of a measure's column, and of the paper's beside it if it has any figure."""
    published = (model["measures"][measure["name"]]["published"] for model in comparison["models"])
    return [heading(measure), *["paper"] * any(published)]


def of_one_run(figure: Mapping[str, Any]) -> bool:
    """True if a single run has this figure, so that nothing is known of its spread."""
    return sum(value is not None for value in figure["values"]) == 1


def ours_and_theirs(measure: Mapping[str, Any], model: Mapping[str, Any]) -> tuple[str, str]:
    """A model's figure for a measure and the paper's, as tables show them.

    Ours says so if one of several runs has it.
    """
    figure = model["measures"][measure["name"]]
    published = figure["published"]
    ours = cell(measure["metric"], figure, len(figure["values"]))
    if len(figure["values"]) > 1 and of_one_run(figure):
        ours += f" ({ONE_RUN})"
    return ours, cell(measure["metric"], published, published and published["runs"])
