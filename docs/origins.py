"""What a stored result was made with, and whether today's code and command still make it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench import __version__
from synthbench.training.comparison import made_with
from synthbench.training.recipes import STUDIES
from synthbench.training.recipes.base import Recipe

_GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "losses.json"
#: As in the test of golden trainings: processors round differently.
_TOLERANCE = 1e-4


def origin(comparison: Mapping[str, Any]) -> str:
    """The command, time, machine and code that one comparison was made with."""
    seconds = comparison["seconds"]
    taken = f", {seconds:,.0f} s with {comparison['workers']} at once" if seconds else ""
    other = "" if comparison["synthbench"] == __version__ else f"; this is {__version__}"
    return (
        f"`{comparison['command']}`: all runs together {comparison['run_seconds']:,.0f} s{taken}, "
        f"{made_with(comparison)}{other}. {held(comparison)}{since(comparison)}"
    )


def since(comparison: Mapping[str, Any]) -> str:
    """In what the command of a comparison does other than its runs have done, as sentences."""
    key = (comparison["task"], comparison["study"], comparison["profile"])
    study = next(one for one in STUDIES if (one.task, one.name, one.profile) == key)
    recipes = {recipe.name: recipe for recipe in study.recipes}
    changed = dict.fromkeys(
        f"`{name}` of `{stored['name']}`"
        for line in comparison["models"]
        for stored in line["recipes"]
        for name in _changed(stored, recipes.get(stored["name"]), line["variant"])
    )
    words = f" The recipe has changed since: {', '.join(changed)}." if changed else ""
    seeds = re.search(r"--seeds (\d+)", comparison["command"])
    every = len(study.variants) * len(recipes) * (int(seeds[1]) if seeds else study.seeds)
    runs = sum(len(line["runs"]) for line in comparison["models"])
    return words + ("" if runs == every else f" The command makes {every} runs; {runs} are here.")


def _changed(stored: Mapping[str, Any], recipe: Recipe | None, variant: str) -> list[str]:
    """The fields of a stored recipe that are others today; `recipe` if it is there no more."""
    if recipe is None:
        return ["recipe"]
    today = json.loads(json.dumps(recipe.for_variant(variant).to_dict()))
    return [name for name, value in stored.items() if value != today.get(name)]


def held(comparison: Mapping[str, Any]) -> str:
    """Whether today's code still makes a result, by the golden trainings of its models.

    A stored result has, as `held`, the commit that it was stored with, and what the losses of the
    golden trainings were with the code of this commit. Runs that were added later name their own.
    """
    if (then := comparison.get("held")) is None:
        return "It was not held against today's code."
    golden = json.loads(_GOLDEN.read_text(encoding="utf-8"))["losses"]
    changed = [
        model
        for model, losses in then["losses"].items()
        if len(losses) != len(golden.get(model, ())) or not all(map(_close, losses, golden[model]))
    ]
    commits = {run.get("commit") for line in comparison["models"] for run in line["runs"]}
    which = "The first runs were stored" if len(commits) > 1 else "Stored"
    stored = f"{which} with commit {then['commit'][:7]} of {then['date']}; "
    rows = f"{_older(comparison)}the stream has other rows of the same distribution today"
    if changed and then["same_rows"]:
        return f"{stored}the code of {', '.join(changed)} has changed since."
    if changed:
        models = ", ".join(changed)
        return f"{stored}{rows}, and short test trainings on it ({models}) give other losses."
    same = "with that code and today's, short test trainings give the same losses"
    return f"{stored}{same}{'' if then['same_rows'] else f', but {rows}'}."


def _older(comparison: Mapping[str, Any]) -> str:
    """The runs that are older than the others, which name their commit; empty if all are."""
    runs = [(line, run) for line in comparison["models"] for run in line["runs"]]
    found = [
        f"`{line['model']}` with seed {run['seed']}" for line, run in runs if not run.get("commit")
    ]
    return f"for {', '.join(found)} " if len(found) < len(runs) else ""


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TOLERANCE)
