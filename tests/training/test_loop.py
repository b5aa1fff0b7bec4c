"""What a step of the training loop does with the recipe's values."""

import dataclasses
import math

import pytest
import torch

from synthbench.training.models import build
from synthbench.training.recipes.base import Recipe
from synthbench.training.schedules import learning_rate, parameter_groups, temperature
from tests.training.making import FORMS


def test_weight_decay_can_spare_all_but_weights():
    vit = build("vit", FORMS["images"], {"classes": 3}, {"num_layers": 1, "d_model": 16, "d_ff": 8})
    recipe = Recipe("vit", "vit", steps=1, weight_decay=0.05)
    (everything,) = parameter_groups(vit, recipe)
    assert (len(everything["params"]), everything["weight_decay"]) == (
        len(list(vit.parameters())),
        0.05,
    )
    decayed, spared = parameter_groups(vit, dataclasses.replace(recipe, decay_weights_only=True))
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.05, 0.0)
    names = {id(parameter): name for name, parameter in vit.named_parameters()}
    assert {names[id(parameter)] for parameter in decayed["params"]} == {
        "patches.weight",
        "layers.0.attention.query.weight",
        "layers.0.attention.key.weight",
        "layers.0.attention.value.weight",
        "layers.0.attention.output.weight",
        "layers.0.feedforward.0.weight",
        "layers.0.feedforward.2.weight",
        "classifier.weight",
    }
    assert len(decayed["params"]) + len(spared["params"]) == len(names)
    assert {"class_token", "positions", "norm.weight", "classifier.bias"} <= {
        names[id(parameter)] for parameter in spared["params"]
    }


# Learning rates and temperatures as functions of the step.


def recipe(**changes):
    return Recipe("one", "lstm", **{"steps": 100, "learning_rate": 0.1, **changes})


def test_without_a_schedule_the_rate_stays_what_it_is():
    assert {learning_rate(recipe(), step) for step in range(100)} == {0.1}


def test_the_warm_up_rises_in_a_straight_line_from_a_millionth():
    rates = [learning_rate(recipe(warmup=10), step) for step in range(12)]
    assert rates[0] == 1e-6
    assert rates[5] == pytest.approx((1e-6 + 0.1) / 2)
    assert rates[10:] == [0.1, 0.1]


def test_cosine_goes_from_the_largest_to_the_smallest_rate_and_is_halfway_in_the_middle():
    chosen = recipe(steps=111, schedule="cosine", warmup=10, min_learning_rate=0.02)
    assert learning_rate(chosen, 10) == pytest.approx(0.1)
    assert learning_rate(chosen, 60) == pytest.approx(0.06)
    assert learning_rate(chosen, 110) == pytest.approx(0.02)
    rates = [learning_rate(chosen, step) for step in range(10, 111)]
    assert rates == sorted(rates, reverse=True)


def test_with_a_cooldown_the_rate_is_constant_and_falls_to_0_at_the_end_of_the_run():
    chosen = recipe(warmup=10, cooldown=20)
    assert {learning_rate(chosen, step) for step in range(10, 81)} == {0.1}
    assert learning_rate(chosen, 90) == pytest.approx(0.05)
    assert [learning_rate(chosen, step, 50) for step in (30, 40, 49)] == pytest.approx(
        [0.1, 0.05, 0.005]
    )


def test_one_cycle_is_that_of_pytorch():
    chosen = recipe(schedule="one-cycle")
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=100)
    for step in range(100):
        # PyTorch rises for 0.3 * 100 - 1 steps, we for 0.3 of the steps between first and last.
        assert learning_rate(chosen, step) == pytest.approx(cycle.get_last_lr()[0], rel=0.06)
        optimizer.step()
        if step < 99:
            cycle.step()
    assert learning_rate(chosen, 0) == pytest.approx(0.1 / 25)
    assert learning_rate(chosen, 99) == pytest.approx(0.1 / 25 * 1e-4)


@pytest.mark.parametrize(
    ("last", "at_quarters"),
    [(2.0, (0.38, 0.57, 1.15)), (8.0, (0.39, 0.64, 1.83))],  # parity, images
)
def test_heat_lets_the_inverse_fall_along_half_a_cosine_and_stays(last, at_quarters):
    chosen = recipe(steps=800, heat=(1 / 3, last, 0.5))
    for step in range(401):
        inverse = 1 / last + (3 - 1 / last) * (1 + math.cos(math.pi * step / 400)) / 2
        assert temperature(chosen, step) == pytest.approx(1 / inverse)
    assert [temperature(chosen, step) for step in (100, 200, 300)] == pytest.approx(
        at_quarters, abs=0.005
    )
    assert temperature(chosen, 400) == temperature(chosen, 799) == pytest.approx(last)
    assert temperature(recipe(), 3) is None


def test_rates_are_finite_at_every_step_of_the_shortest_runs():
    for schedule in ("constant", "cosine", "one-cycle"):
        for steps in (1, 2, 3):
            chosen = recipe(steps=steps, schedule=schedule, warmup=1)
            assert all(math.isfinite(learning_rate(chosen, step)) for step in range(steps))
