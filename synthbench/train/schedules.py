"""What changes with the step, each a pure function of it: learning rate and temperature."""

from __future__ import annotations

import math

from synthbench.errors import unknown_name
from synthbench.train.recipes.base import Recipe

#: Warm-up begins here (Eureka A.10).
_FIRST_RATE = 1e-6
#: One-cycle (Smith & Topin 2018): the share of steps that the rate rises, from and to which part
#: of the largest rate.
_RISE, _START, _END = 0.3, 1 / 25, 1e-4 / 25


def learning_rate(recipe: Recipe, step: int) -> float:
    """The learning rate of a step, counted from 0.

    Raises:
        UsageError: an unknown schedule.
    """
    if recipe.schedule not in SCHEDULES:
        raise unknown_name("schedule", recipe.schedule, SCHEDULES)
    if step < recipe.warmup:
        return _FIRST_RATE + (recipe.learning_rate - _FIRST_RATE) * step / recipe.warmup
    left = max(1, recipe.steps - recipe.warmup - 1)
    return SCHEDULES[recipe.schedule](recipe, min(1.0, (step - recipe.warmup) / left))


def temperature(recipe: Recipe, step: int) -> float | None:
    """The temperature of a step under heat treatment (Eureka, section 3), None without it.

    It rises in a straight line from the first to the last one while the given share of all steps
    is done, and stays there.
    """
    if recipe.heat is None:
        return None
    first, last, share = recipe.heat
    return first + (last - first) * min(1.0, step / max(1.0, share * recipe.steps))


def _constant(recipe: Recipe, done: float) -> float:
    return recipe.learning_rate


def _cosine(recipe: Recipe, done: float) -> float:
    return _bend(recipe.learning_rate, recipe.min_learning_rate, done)


def _one_cycle(recipe: Recipe, done: float) -> float:
    largest = recipe.learning_rate
    if done < _RISE:
        return _bend(largest * _START, largest, done / _RISE)
    return _bend(largest, largest * _END, (done - _RISE) / (1 - _RISE))


def _bend(first: float, last: float, done: float) -> float:
    """From one rate to another along half a cosine."""
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2


SCHEDULES = {"constant": _constant, "cosine": _cosine, "one-cycle": _one_cycle}
