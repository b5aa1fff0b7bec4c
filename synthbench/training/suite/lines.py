"""The lines of a suite: each layer in each setting, with one recipe for each learning rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthbench.errors import ParameterError, UsageError
from synthbench.training.directory import RunDirectory
from synthbench.training.models import LAYER
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.recipes.borrowed import named, own_recipes
from synthbench.training.recipes.layers import WIDTH, SuiteSetting, at_rate


@dataclasses.dataclass(frozen=True)
class Line:
    """A layer in a setting.

    Attributes:
        name: the layer's name in tables.
        recipes: the same recipe at each learning rate, in the order in which ties are broken.
        own: whether it is the user's own.
    """

    name: str
    recipes: tuple[Recipe, ...]
    own: bool


@dataclasses.dataclass(frozen=True)
class SettingPlan:
    """A setting with the lines to train, and the directory of its runs."""

    setting: SuiteSetting
    lines: tuple[Line, ...]
    seeds: int
    path: Path

    def study(self, recipes: Sequence[Recipe]) -> Study:
        """The setting's study with these recipes alone."""
        return dataclasses.replace(self.setting.study, recipes=tuple(recipes))

    def directory(self, recipe: Recipe, seed: int) -> RunDirectory:
        """The directory of a run."""
        return RunDirectory(self.path / recipe.name / f"seed-{seed}")

    @property
    def steps(self) -> tuple[int, int]:
        """The most steps that all runs take, and the number of steps noted so far."""
        total = noted = 0
        for line in self.lines:
            steps = line.recipes[0].steps
            total += steps * (len(line.recipes) + self.seeds - 1)
            for recipe in line.recipes:
                for seed in range(self.seeds):
                    noted += self.directory(recipe, seed).steps_done(steps)
        return total, min(noted, total)


def plans(
    settings: Sequence[SuiteSetting],
    path: Path,
    models: Sequence[str],
    layers: Sequence[str],
    options: Mapping[str, Any],
    width: int,
    rates: Sequence[float],
    seeds: int,
) -> list[SettingPlan]:
    """The plan of each setting.

    Args:
        settings: the settings.
        path: the directory of the suite.
        models: models of the user's own, or baselines.
        layers: layers of the user's own. Without models and layers, all baselines are trained.
        options: options of the user's own models and layers.
        width: the size of a state.
        rates: learning rates, or () for those of the setting.
        seeds: the number of seeds at the best rate.

    Raises:
        UsageError: an unknown model, or a repeated name.
        ParameterError: an option or a rate that is not allowed.
    """
    return [
        SettingPlan(
            setting,
            tuple(_lines(setting, models, layers, options, width, rates)),
            seeds,
            path / setting.name,
        )
        for setting in settings
    ]


def _lines(
    setting: SuiteSetting,
    models: Sequence[str],
    layers: Sequence[str],
    options: Mapping[str, Any],
    width: int,
    rates: Sequence[float],
) -> list[Line]:
    first: dict[str, Recipe] = {}
    for recipe in setting.study.recipes:
        first.setdefault(recipe.model, dataclasses.replace(recipe, name=recipe.model))
    base = dataclasses.replace(setting.study, recipes=tuple(first.values()))
    own = own_recipes(base, models, layers, options)
    wanted = [recipe for model in models for recipe in named(base, model)]
    kept = [recipe for recipe in base.recipes if not (models or own) or recipe in wanted] + own
    usual = dict.fromkeys(recipe.learning_rate for recipe in setting.study.recipes)
    tried = tuple(rates or usual)
    lines = []
    for recipe in kept:
        if width != WIDTH and (recipe not in own or recipe.model.startswith(LAYER)):
            recipe = recipe.changed({}, {"d_model": width})
        recipes = tuple(at_rate(recipe, recipe.name, rate) for rate in tried)
        lines.append(Line(recipe.name, recipes, recipe.name not in first))
    return lines


def read_rates(rates: Sequence[float] | None) -> tuple[float, ...]:
    """Learning rates, checked.

    Raises:
        ParameterError: a rate that is not above 0 and at most 1.
        UsageError: a repeated rate.
    """
    tried = tuple(float(rate) for rate in rates or ())
    for rate in tried:
        if not 0 < rate <= 1:
            raise ParameterError(f"Learning rate {rate}: allowed are numbers above 0, up to 1.")
    if len(set(tried)) < len(tried):
        raise UsageError(f"Learning rates {', '.join(map(str, tried))}: a rate is repeated.")
    return tried
