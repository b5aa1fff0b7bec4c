"""In which settings the recipes of a comparison differ from those of the profile `paper`."""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.text.tables import Table
from synthbench.training.models import MODELS
from synthbench.training.paper_size import published_study
from synthbench.training.recipes.base import Recipe

#: The fields of a recipe that say how a model is trained, with their defaults.
_FIELDS = {
    field.name: field.default
    for field in dataclasses.fields(Recipe)
    if field.name in Recipe("", "", 0).to_dict()
    and field.name not in ("name", "model", "options", "form", "log_gradients")
}
ROOT = Path(__file__).parents[1]
_BLOCKS = "synthbench.training.backbones.block:Mixers"


@dataclasses.dataclass(frozen=True)
class Difference:
    """One setting that differs.

    Attributes:
        setting: a field of the recipe, or an option of the model.
        paper: its value in the profile `paper`.
        ours: its value here.
        lines: model and variant of every line of the comparison that has these two values.
    """

    setting: str
    paper: str
    ours: str
    lines: tuple[tuple[str, str], ...]


def recipe_differences(comparison: Mapping[str, Any]) -> list[Difference]:
    """The settings that differ, in the order of the recipe's fields and the model's options.

    Lines without a counterpart in the profile `paper` are left out.
    """
    lines_of: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for line in comparison["models"]:
        if (paper := counterpart(comparison, line)) is None:
            continue
        theirs, ours = _settings(paper.to_dict()), _settings(line["recipes"][0])
        for setting in {**theirs, **ours}:
            pair = _plain(theirs.get(setting)), _plain(ours.get(setting))
            if pair[0] != pair[1]:
                lines_of.setdefault((setting, *pair), []).append((line["model"], line["variant"]))
    order = [*_FIELDS, *dict.fromkeys(setting for setting, *_ in lines_of)]
    return [
        Difference(*key, tuple(lines))
        for key, lines in sorted(lines_of.items(), key=lambda item: order.index(item[0][0]))
    ]


def counterpart(comparison: Mapping[str, Any], line: Mapping[str, Any]) -> Recipe | None:
    """The recipe of the profile `paper` that a line's model stands beside, None if there is none.

    Names of `mqar` have the width there.
    """
    if (study := published_study(comparison)) is None:
        return None
    papers = {recipe.title: recipe for recipe in study.recipes}
    name, width = line["model"], line["recipes"][0]["options"].get("d_model")
    recipe = papers.get(name) or papers.get(f"{name}-{width}")
    return recipe and recipe.for_variant(line["variant"])


def without_counterpart(comparison: Mapping[str, Any]) -> list[str]:
    """The models that have no recipe in the profile `paper`, if others have."""
    counterparts = {line["model"]: counterpart(comparison, line) for line in comparison["models"]}
    return [
        f"`{model}`"
        for model, paper in counterparts.items()
        if paper is None and any(counterparts.values())
    ]


def differences_table(comparison: Mapping[str, Any]) -> str:
    """The differences as a table that opens with a click; empty if there is none."""
    if not (differences := recipe_differences(comparison)):
        return ""
    lines = [(line["model"], line["variant"]) for line in comparison["models"]]
    table = Table(
        ["setting", "profile `paper`", "here", "models"],
        [
            [
                f"`{difference.setting}`",
                difference.paper,
                difference.ours,
                _models(difference.lines, lines),
            ]
            for difference in differences
        ],
    )
    count = len({difference.setting for difference in differences})
    title = f"Settings that differ from the profile `paper`: {count}"
    return f'??? note "{title}"\n\n    ' + table.markdown().replace("\n", "\n    ")


def _models(some: Sequence[tuple[str, str]], every: Sequence[tuple[str, str]]) -> str:
    """The models of some of all lines, or the variants if these hold all lines of theirs."""
    if len(some) == len(every):
        return "all"
    if words := _whole([(variant, model) for model, variant in some], every, 1):
        return f"in {words}"
    if words := _whole(some, every, 0):
        return words
    return ", ".join(f"`{model}` ({variant})" for model, variant in some)


def _whole(
    some: Sequence[tuple[str, str]], every: Sequence[tuple[str, str]], place: int
) -> str | None:
    """The first of each pair if all lines with it are among `some`, else None."""
    counts = Counter(line[place] for line in every)
    firsts = Counter(first for first, _ in some)
    return ", ".join(f"`{first}`" for first in firsts) if firsts.items() <= counts.items() else None


def _settings(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe's fields and its model's options, with defaults for those that it does not name."""
    model = MODELS[recipe["model"]]
    options = {**_defaults(model.reference), **model.switches, **recipe["options"]}
    if model.kind == "mixer":
        options = {**_defaults(_BLOCKS), **options}
    if options.get("test_layers") is None:  # as many as in training
        options.pop("test_layers", None)
    # DeltaNet has an option `steps`.
    named = {
        f"{name} (of the model)" if name in _FIELDS else name: options[name] for name in options
    }
    return {**{name: recipe.get(name, value) for name, value in _FIELDS.items()}, **named}


@functools.cache
def _defaults(reference: str) -> dict[str, Any]:
    """The options of a class of ours with their defaults, read without PyTorch."""
    module, _, name = reference.partition(":")
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    (cls,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    (init,) = (node for node in cls.body if getattr(node, "name", "") == "__init__")
    pairs = zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
    return {argument.arg: _read(value) for argument, value in pairs if value is not None}


def _read(value: ast.expr) -> Any:
    """A default: its value, or its words if it is a name."""
    return ast.unparse(value) if isinstance(value, ast.Name) else ast.literal_eval(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
