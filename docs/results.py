"""The table of results in the documentation, made from the files that `validate` wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.errors import DatasetError
from synthbench.tasks.registry import list_tasks
from synthbench.text.tables import Table
from synthbench.training.comparison import ours_and_theirs

_HEAD = ("task", "profile", "model", "in distribution", "paper", "out of distribution", "paper")


def read_comparisons(directory: str | Path) -> list[dict[str, Any]]:
    """All comparisons in a directory, ordered by task, then by file name.

    Raises:
        DatasetError: there is none, or one cannot be read.
    """
    comparisons = []
    for file in sorted(Path(directory).glob("*.json")):
        try:
            comparison = json.loads(file.read_text(encoding="utf-8"))
            comparison["task"], comparison["profile"], comparison["models"]
        except (ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"{file} is no comparison of `validate`: {error!r}") from None
        comparisons.append(comparison)
    if not comparisons:
        raise DatasetError(f"No results in {str(directory)!r}: it has no .json files.")
    order = list_tasks()
    return sorted(comparisons, key=lambda one: order.index(one["task"]))


def results_section(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """The table of all comparisons in Markdown, and the commands that make them again."""
    lines = [_line(one, model) for one in comparisons for model in one["models"]]
    table = Table(_HEAD, lines, right=range(3, 7)).markdown()
    return "\n".join([table, "", *map(_origin, comparisons)])


def _line(comparison: Mapping[str, Any], model: Mapping[str, Any]) -> list[str]:
    several = len({line["variant"] for line in comparison["models"]}) > 1
    task = f"`{comparison['task']}`" + (f" {model['variant']}" if several else "")
    cells = [task, comparison["profile"], f"`{model['model']}`"]
    for side in ("in", "out"):
        ours = theirs = ""
        for measure in comparison["measures"]:
            if measure["headline"] == side:
                figure, theirs = ours_and_theirs(measure, model)
                ours = f"{measure['name']}: {figure}"
        cells += [ours, theirs]
    return cells


def _origin(comparison: Mapping[str, Any]) -> str:
    """The command and the machine that one comparison was made with."""
    machine, seconds = comparison["machine"], comparison["seconds"]
    seeds = comparison["seeds"]
    taken = f", {seconds:,.0f} s with {comparison['workers']} at once" if seconds else ""
    return (
        f"- `{comparison['command']}`: {seeds} seed{'s' if seeds > 1 else ''}{taken}, "
        f"{machine['gpu'] or machine['processor']}, PyTorch {machine['torch']}."
    )
