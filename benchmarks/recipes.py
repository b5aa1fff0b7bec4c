"""The recipes that a benchmark of the trainer measures."""

from synthbench.checks import check_name


def recipes_of(studies, models, left_out=()):
    """Each recipe that trains, with its study: of the models named, or of all.

    Args:
        studies: the studies.
        models: names of recipes, None or empty for all.
        left_out: kinds of models that cannot be measured.

    Raises:
        UsageError: none of the studies has a model of such a name.
    """
    every = [
        (study, recipe)
        for study in studies
        for recipe in study.recipes
        if recipe.steps and recipe.model not in left_out
    ]
    for name in models or ():
        check_name("model", name, dict.fromkeys(recipe.name for _, recipe in every))
    return [(study, recipe) for study, recipe in every if not models or recipe.name in models]
