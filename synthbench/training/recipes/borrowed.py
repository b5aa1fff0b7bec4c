"""The recipe of a model without a recipe: that of the study's baseline, its first model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from synthbench.errors import UsageError, unknown_name
from synthbench.training.models import LAYER, MODELS, registered_models
from synthbench.training.models.references import is_reference, resolved, short_name
from synthbench.training.recipes.base import Recipe, Study


def find_recipe(study: Study, model: str) -> Recipe:
    """The study's recipe of this name or line. For other models, the baseline's.

    Args:
        study: the study.
        model: name of a recipe or its line of the table, or what `models.find_model` takes.

    Raises:
        UsageError: there is neither such a recipe nor such a model, or the line has several.
    """
    if matches := named(study, model):
        if len(matches) > 1:
            raise UsageError(
                f"Model {model!r} has several recipes in study {study.name!r} of {study.task}: "
                f"{', '.join(recipe.name for recipe in matches)}."
            )
        return matches[0]
    is_layer = model.startswith(LAYER)
    if is_layer or is_reference(model):
        reference = resolved(model.removeprefix(LAYER))
        return _borrowed(study, short_name(reference), f"{LAYER if is_layer else ''}{reference}")
    known = model_names(study)
    if model in known:
        return _borrowed(study, model, model)
    raise unknown_name(f"model for {study.task} ({study.profile})", model, known)


def named(study: Study, model: str) -> list[Recipe]:
    """The study's recipes of this name. Else those of this line of its table."""
    exact = [recipe for recipe in study.recipes if recipe.name == model]
    return exact or [recipe for recipe in study.recipes if recipe.title == model]


def model_names(study: Study) -> list[str]:
    """The models that `train` takes by name: the study's, ours for such rows, registered ones."""
    reads = MODELS[study.recipes[0].model].reads
    ours = [name for name, model in MODELS.items() if model.reads == reads]
    recipes = [recipe.name for recipe in study.recipes]
    return list(dict.fromkeys([*recipes, *ours, *registered_models()]))


def own_recipes(
    study: Study, models: Sequence[str], layers: Sequence[str], options: Mapping[str, Any]
) -> list[Recipe]:
    """The recipes of the models outside the lines of a study, and of layers, with these options.

    Raises:
        UsageError: an unknown model, two of one name, or options without such a model.
        ParameterError: an option that cannot be read.
    """
    lines = {recipe.title for recipe in study.recipes}
    own = [model for model in models if not named(study, model)]
    own += [f"{LAYER}{layer}" for layer in layers]
    if options and not own:
        raise UsageError("Options are for models and layers of your own. None is named.")
    recipes = [find_recipe(study, name).changed({}, options) for name in own]
    names = [recipe.name for recipe in recipes]
    if len({*names, *lines}) < len(names) + len(lines):
        raise UsageError(f"Models {', '.join(names)}: a name is repeated.")
    return recipes


def baseline_of(study: Study) -> Recipe:
    """The study's first model that is trained.

    Raises:
        UsageError: all are unknown.
    """
    for recipe in study.recipes:
        if recipe.steps:
            return recipe
    raise UsageError(f"Task {study.task!r}: its models are not trained. There is no recipe to use.")


def _borrowed(study: Study, name: str, model: str) -> Recipe:
    """The baseline's recipe for another model, without what is only for the baseline's own."""
    base = baseline_of(study)
    own = {"options": {}, "by_variant": {}, "published": {}, "line": ""}
    special = {"heat": None, "ponder": 0.0, "balance_gradients": False, "log_gradients": False}
    return dataclasses.replace(base, name=name, model=model, **own, **special)  # type: ignore[arg-type]
