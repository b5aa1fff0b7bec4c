"""The least number of layers with which a model has most rows of a length right.

Source: Merrill et al., The Illusion of State (ICML 2024), figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.text.tables import Table
from synthbench.training.train_fit import NOT_FITTED, state_of


def least_layers(comparison: Mapping[str, Any]) -> Table | None:
    """A line for each model and variant, a column for each measure. None for other studies.

    Models of one kind are named `NAME-LAYERS`. The mean over seeds must reach the study's `least`.
    """
    if (least := comparison.get("least")) is None:
        return None
    depths: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for line in comparison["models"]:
        name, _, layers = line["model"].rpartition("-")
        if layers.isdecimal():
            depths.setdefault((name, line["variant"]), {})[int(layers)] = line
    names = [measure["name"] for measure in comparison["measures"]]
    lines = [
        [f"`{name}`", variant, *(_least(by_depth, measure, least) for measure in names)]
        for (name, variant), by_depth in depths.items()
    ]
    return Table(["model", "variant", *names], lines, range(2, 2 + len(names)))


def caption(comparison: Mapping[str, Any]) -> str:
    """The meaning of the table."""
    return f"Least layers with {comparison['least']} of whole rows right"


def _least(by_depth: Mapping[int, Mapping[str, Any]], measure: str, least: float) -> str:
    """The least depth that reaches the share, or the largest that does not.

    A model counts as tried if some depth has learned its training rows.
    """
    reached = [
        depth
        for depth, line in by_depth.items()
        if (mean := line["measures"][measure]["mean"]) is not None and mean >= least
    ]
    if reached:
        return str(min(reached))
    is_learned = any(state_of(line["runs"]) != NOT_FITTED for line in by_depth.values())
    return f"> {max(by_depth)}" if is_learned else "not learned"
