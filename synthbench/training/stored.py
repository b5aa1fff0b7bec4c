"""The stored figures of the papers' models, which stand beside those of models of your own.

They are the files that `synthbench reproduce` wrote on the machine that they name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from synthbench.training.recipes.base import Recipe

#: What is appended to the name of a line that was not trained now.
MARK = "(stored)"


def with_stored(comparison: dict[str, Any], own: Sequence[Recipe]) -> dict[str, Any]:
    """A comparison with a line for each stored model that it has not trained.

    Stored lines are of the same study, variants, parameters, measured rows and precision. There are
    none if no model is the user's own.
    """
    stored = _read(comparison) if own else None
    if stored is None or _setting(stored) != _setting(comparison):
        return comparison
    trained = {(line["model"], line["variant"]) for line in comparison["models"]}
    variants = {line["variant"] for line in comparison["models"]}
    names = {measure["name"] for measure in comparison["measures"]}
    lines = [
        {**line, "model": f"{line['model']} {MARK}"}
        for line in stored["models"]
        if line["variant"] in variants
        and (line["model"], line["variant"]) not in trained
        and names <= line["measures"].keys()
    ]
    return {**comparison, "models": [*comparison["models"], *lines]}


def _setting(comparison: dict[str, Any]) -> tuple[Any, ...]:
    """What figures that stand beside each other have in common."""
    rows = {measure["name"]: measure["rows"] for measure in comparison["measures"]}
    parameters = comparison["data"]["parameters"]
    return parameters, comparison["data"]["stream"], comparison["precision"], rows


def _read(comparison: dict[str, Any]) -> dict[str, Any] | None:
    """The stored comparison of the same study, None if there is none."""
    study = [] if comparison["study"] == "main" else [comparison["study"]]
    file = "-".join([comparison["task"], *study, comparison["profile"]]) + ".json"
    # Installed with the package; a checkout has them among its examples.
    for place in (resources.files("synthbench") / "results", _CHECKOUT):
        if (place / file).is_file():
            stored: dict[str, Any] = json.loads((place / file).read_text(encoding="utf-8"))
            return stored
    return None


_CHECKOUT = Path(__file__).parents[2] / "examples" / "results"
