"""Sizes of arithmetic and listops that a rule chooses, without looking at which model is ahead.

The data are as published (operators, modulus, lengths, rows, the train split), except for the
depth. The depth of training is the largest at which each of three models learns `LEARNED` of its
training rows with one of `RATES`, seed 0, in half an hour of one core. Validation rows are one
level deeper than training rows, and test rows two and three, as published. Depths are tried upwards
from 2. If depth 2 fails, depth 1 is tried. A depth fails as soon as one model fails at both rates.
At the chosen depth each model takes the rate with the higher accuracy on iid, the larger rate if
both are equal, and runs with seeds 0, 1 and 2.

Models, batches and schedules are those of the profile `cpu`. `_STEPS` are the steps that half an
hour of one core allows, as counted by `python -m benchmarks steps TASK --study depth-2 --steps 50
--processor-time` with one thread, rounded to thousands.

The rule finds depth 2 of arithmetic, because the Neural Data Router fails at depth 3. Of listops
the Neural Data Router fails at depth 2, so the rule finds depth 1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from synthbench.training.recipes import cpu, ndr
from synthbench.training.recipes.base import Recipe, Study

#: The name of the study of a depth that the rule has found.
NAME = "by-rule"
#: The share of training rows from which on a depth counts as learned, and the two learning rates.
LEARNED, RATES = 0.98, (5e-4, 1.5e-3)
#: Thousands of steps in half an hour, by task and depth of training.
_STEPS = {
    "arithmetic": {
        2: {"lstm": 44, "transformer": 31, "ndr": 12},
        3: {"lstm": 17, "transformer": 19, "ndr": 6},
    },
    "listops": {
        1: {"lstm": 109, "transformer": 44, "ndr": 19},
        2: {"lstm": 49, "transformer": 24, "ndr": 12},
    },
}
#: The depth that was found, by task, and the rate of each model at it.
_FOUND = {
    "arithmetic": (2, {"lstm": 1.5e-3, "transformer": 1.5e-3, "ndr": 1.5e-3}),
    "listops": (1, {"lstm": 1.5e-3, "transformer": 1.5e-3, "ndr": 1.5e-3}),
}


def _recipe(small: Study, name: str, depth: int, rate: float) -> Recipe:
    """A model of the profile `cpu` with half an hour of steps. Its name has the learning rate."""
    steps = 1000 * _STEPS[small.task][depth][name]
    return dataclasses.replace(
        small.recipe(name),
        name=f"{name}-{rate:g}",
        steps=steps,
        learning_rate=rate,
        balanced=small.recipe("ndr").balanced,  # alike for all
        validate_every=steps // 20,
        published={},
    )


def _trials(published: Study, small: Study, depth: int) -> Study:
    """Each model with each rate at one depth, one seed."""
    models = _STEPS[published.task][depth]
    return dataclasses.replace(
        published,
        profile="cpu",
        name=f"depth-{depth}",
        title=f"Trained to depth {depth}, otherwise the published data: two learning rates",
        recipes=tuple(_recipe(small, name, depth, rate) for name in models for rate in RATES),
        parameters={
            "train_depths": tuple(range(1, depth + 1)),
            "validation_depths": (depth + 1,),
            "test_depths": (depth + 2, depth + 3),
        },
        select="iid",
        eval_splits=("iid",),
        seeds=1,
        departures=(
            *small.departures,
            "the best parameters are chosen on iid (paper: on validation)",
        ),
    )


_MODELS = {
    small.task: (published, small)
    for published, small in ((ndr.ARITHMETIC, cpu.ARITHMETIC), (ndr.LISTOPS, cpu.LISTOPS))
}
_TRIALS = {
    (task, depth): _trials(*_MODELS[task], depth) for task in _MODELS for depth in _STEPS[task]
}


def _by_rule(task: str, depth: int, rates: Mapping[str, float]) -> Study:
    """The models with the rates that the rule gives them, three seeds, beside the paper's figures.

    Names are those of the trials, so that the trial is the run of seed 0.
    """
    trials, (_, small) = _TRIALS[task, depth], _MODELS[task]
    return dataclasses.replace(
        trials,
        name=NAME,
        title=f"Trained to depth {depth}, which a rule has found. Otherwise the published data",
        recipes=tuple(
            dataclasses.replace(
                trials.recipe(f"{name}-{rate:g}"), line=name, published=small.recipe(name).published
            )
            for name, rate in rates.items()
        ),
        seeds=3,
    )


STUDIES = (*_TRIALS.values(), *(_by_rule(task, *result) for task, result in _FOUND.items()))
