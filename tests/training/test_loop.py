"""What a step of the training loop does with the recipe's values."""

import dataclasses

from synthbench.training.loop import parameter_groups
from synthbench.training.models import build
from synthbench.training.recipes.base import Recipe


def test_weight_decay_can_spare_all_but_weights():
    vit = build("vit", "images", {"classes": 3}, {"num_layers": 1, "d_model": 16, "d_ff": 8})
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
