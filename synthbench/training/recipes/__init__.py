"""The papers' recipes as data, in the papers' sizes and in sizes for two cores."""

from __future__ import annotations

import dataclasses

from synthbench.errors import UsageError, unknown_name
from synthbench.tasks.optional_modules import optional_function
from synthbench.tasks.registry import as_tasks
from synthbench.training.recipes import (
    addition,
    by_rule,
    chomsky,
    counting,
    cpu,
    dnas,
    eureka,
    eureka_ablations,
    grids,
    grokking,
    illusion,
    layers,
    ndr,
    ndr_ablations,
    short,
    zoology,
)
from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.recipes.plain import PLAIN, plain_studies

#: What tables say of the profile `quick`.
QUICK_NOTE = "A first look of about a minute: models trained this little show nothing."
_SHARE, _LEAST = 100, 20
_OF_SEQUENCES = (
    grokking.CPU,
    illusion.MAIN,
    illusion.LAYERS,
    zoology.CPU,
    chomsky.CPU,
    *addition.STUDIES,
    *grids.STUDIES,
)


def _shorter(recipe: Recipe) -> Recipe:
    steps = max(_LEAST, recipe.steps // _SHARE) if recipe.steps else 0
    warmup, every = recipe.warmup // _SHARE, max(1, steps // 2)
    shorter = dataclasses.replace(recipe, steps=steps, warmup=warmup, validate_every=every)
    return dataclasses.replace(shorter, cooldown=min(steps, recipe.cooldown // _SHARE))


def _quick(study: Study) -> Study:
    """The study with a hundredth of its steps: it shows that everything runs, and nothing else."""
    recipes = tuple(map(_shorter, study.recipes))
    return dataclasses.replace(study, profile="quick", recipes=recipes, seeds=1)


STUDIES: tuple[Study, ...] = (
    *cpu.STUDIES,
    *cpu.MORE,
    *by_rule.STUDIES,
    *ndr.STUDIES,
    *ndr_ablations.STUDIES,
    *eureka.STUDIES,
    *eureka_ablations.STUDIES,
    *counting.STUDIES,
    *dnas.STUDIES,
    *grokking.STUDIES,
    *illusion.STUDIES,
    *zoology.STUDIES,
    *short.STUDIES,
    *chomsky.STUDIES,
    *addition.STUDIES,
    *addition.PAPER,
    *grids.STUDIES,
    *grids.PAPER,
    *map(_quick, (*cpu.STUDIES, dnas.CLUSTERS, *_OF_SEQUENCES, *short.STUDIES)),
)


def find_study(task: str, profile: str = "cpu", name: str = "main") -> Study:
    """The study of a task, one of `STUDIES` or of those that the task's package brings.

    A package brings studies of its task in its module `recipes`, as `studies(task)`. A task of
    texts without a study `main` has the study `plain`.

    Raises:
        UsageError: no such task, profile or study. The nearest is offered.
    """
    (default_task,) = as_tasks(task)
    brought = optional_function(default_task, "recipes", "studies")
    studies: tuple[Study, ...] = (*STUDIES, *(brought(default_task) if brought else ()))
    of_task = [study for study in studies if study.task == task]
    if all(study.name != "main" for study in of_task) and (plain := plain_studies(default_task)):
        of_task += plain
        name = PLAIN if name == "main" else name
    if not of_task:
        raise UsageError(
            f"Task {task!r} has no recipes. A module `recipes` beside its module brings them, as "
            "`studies(task)`. A plain recipe is only for texts whose label is a class or a "
            "sequence of tokens."
        )
    profiles = dict.fromkeys(study.profile for study in of_task)
    if profile not in profiles:
        raise unknown_name(f"profile of {task}", profile, profiles)
    names = {study.name: study for study in of_task if study.profile == profile}
    if name not in names:
        if elsewhere := [study.profile for study in of_task if study.name == name]:
            raise UsageError(
                f"Study {name!r} of {task}: the profile {profile!r} has no such study; "
                f"it is one of --profile {' or '.join(elsewhere)}."
            )
        raise unknown_name(f"study of {task} ({profile})", name, names)
    return names[name]


def study_of_run(task: str, profile: str, name: str) -> Study:
    """The study of a stored run: that of a setting of the suite, or one of `find_study`.

    Raises:
        UsageError: as `find_study`.
    """
    for setting in layers.SETTINGS:
        study = setting.study
        if (study.task, study.profile, study.name) == (task, profile, name):
            return study
    return find_study(task, profile, name)
