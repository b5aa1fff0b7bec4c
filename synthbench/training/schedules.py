"""What changes with the step, each a pure function of it: learning rate and temperature."""

from __future__ import annotations

import math

from synthbench.errors import unknown_name
from synthbench.training.recipes.base import SCHEDULES, Recipe

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
    return _RATES[recipe.schedule](recipe, min(1.0, (step - recipe.warmup) / left))


def temperature(recipe: Recipe, step: int) -> float | None:
    """The temperature of a step under heat treatment (Eureka, section 3), None without it.

    Its inverse falls from that of the first temperature to that of the last along half a cosine
    while the given share of all steps is done, and stays there. The paper speaks of heating up the
    temperature and gives no curve; in its program the schedule is that of 1/τ.
    """
    if recipe.heat is None:
        return None
    first, last, share = recipe.heat
    return 1 / _bend(1 / first, 1 / last, min(1.0, step / max(1.0, share * recipe.steps)))


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
    """From one value to another along half a cosine."""
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2


_RATES = dict(zip(SCHEDULES, (_constant, _cosine, _one_cycle), strict=True))
