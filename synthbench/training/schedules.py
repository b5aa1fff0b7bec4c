"""Schedules of a recipe: learning rate, weight decay by parameter, temperature of attention."""

from __future__ import annotations

import math
from typing import Any

from torch import nn

from synthbench.training.recipes.base import Recipe

#: The learning rate at which the warm-up begins (Eureka A.10).
_FIRST_RATE = 1e-6
#: One-cycle (Smith & Topin 2018): the share of steps in which the rate rises, and the first and
#: last rate as shares of the largest.
_RISE, _START, _END = 0.3, 1 / 25, 1e-4 / 25


def parameter_groups(model: nn.Module, recipe: Recipe) -> list[dict[str, Any]]:
    """The parameters with their weight decay, as an optimiser takes them."""
    if not recipe.decay_weights_only:
        return [{"params": list(model.parameters()), "weight_decay": recipe.weight_decay}]
    # Positions and the class token of a ViT are not called `weight`, so they are spared too.
    weights: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for name, parameter in model.named_parameters():
        decayed = name.endswith(".weight") and parameter.ndim > 1
        (weights if decayed else others).append(parameter)
    return [
        {"params": weights, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]


def learning_rate(recipe: Recipe, step: int, end: int | None = None) -> float:
    """The learning rate of a step.

    Args:
        recipe: the recipe.
        step: the step, counted from 0.
        end: the last step of the run, by default that of the recipe.
    """
    largest = recipe.learning_rate
    if step < recipe.warmup:
        return _FIRST_RATE + (largest - _FIRST_RATE) * step / recipe.warmup
    if recipe.cooldown:
        return largest * min(1.0, ((recipe.steps if end is None else end) - step) / recipe.cooldown)
    left = max(1, recipe.steps - recipe.warmup - 1)
    done = min(1.0, (step - recipe.warmup) / left)
    match recipe.schedule:
        case "cosine":
            return _bend(largest, recipe.min_learning_rate, done)
        case "one-cycle" if done < _RISE:
            return _bend(largest * _START, largest, done / _RISE)
        case "one-cycle":
            return _bend(largest, largest * _END, (done - _RISE) / (1 - _RISE))
    return largest


def temperature(recipe: Recipe, step: int) -> float | None:
    """The temperature of a step under heat treatment (Eureka, section 3), None without it.

    The inverse temperature falls along half a cosine during the given share of all steps and then
    stays. The paper says that the temperature is heated up and gives no curve. Its program
    schedules 1/τ.
    """
    if recipe.heat is None:
        return None
    first, last, share = recipe.heat
    return 1 / _bend(1 / first, 1 / last, min(1.0, step / max(1.0, share * recipe.steps)))


def _bend(first: float, last: float, done: float) -> float:
    """From one value to another along half a cosine."""
    return last + (first - last) * (1 + math.cos(math.pi * done)) / 2
