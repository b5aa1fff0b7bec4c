"""The profile `quick`: the recipes of `cpu` with a hundredth of their steps, about a minute a task.

It shows that everything runs. Its models have learned next to nothing, so its figures mean nothing.
"""

from __future__ import annotations

import dataclasses

from synthbench.training.recipes import cpu, dnas
from synthbench.training.recipes.base import Recipe, Study

#: What tables say of this profile.
NOTE = "A first look of about a minute: models trained this little show nothing."
_SHARE, _LEAST = 100, 20


def _shorter(recipe: Recipe) -> Recipe:
    steps = max(_LEAST, recipe.steps // _SHARE) if recipe.steps else 0
    warmup, every = recipe.warmup // _SHARE, max(1, steps // 2)
    return dataclasses.replace(recipe, steps=steps, warmup=warmup, validate_every=every)


def _quick(study: Study) -> Study:
    recipes = tuple(map(_shorter, study.recipes))
    return dataclasses.replace(study, profile="quick", recipes=recipes, seeds=1)


STUDIES = tuple(map(_quick, (*cpu.STUDIES, dnas.CLUSTERS)))
