"""Numbers that make no sense are refused, each by its name, before a model is built."""

import math

import pytest

from synthbench.errors import UsageError
from synthbench.training.models import MODELS, build
from synthbench.training.recipes.base import Recipe
from tests.training.making import FORMS
from tests.training.test_recipes import SIZES

#: Whole numbers from 1, by model.
WHOLE = {
    "ndr": ("d_model", "num_heads", "num_layers", "test_layers", "d_ff", "max_length"),
    "looped-transformer": ("d_model", "num_heads", "num_layers", "rounds", "test_rounds"),
    "lstm": ("d_model", "d_embedding", "num_layers"),
    "dnc": ("d_model", "d_embedding", "cells", "width", "read_heads"),
    "vit": ("size", "patch", "d_model", "num_heads", "num_layers", "d_ff"),
    "identity": ("d_ff",),
}
CHANCES = {
    "ndr": ("dropout", "key_dropout", "input_dropout", "gate_drop"),
    "lstm": ("dropout",),
    "dnc": ("dropout",),
    "vit": ("drop_path",),
    "counting": ("dropout",),
}


def make(model, **options):
    form = FORMS[MODELS[model].reads]
    return build(model, form, SIZES[form.reads], options)


@pytest.mark.parametrize(
    ("model", "option"), [(model, option) for model, names in WHOLE.items() for option in names]
)
def test_a_size_is_a_whole_number_from_1(model, option):
    for value in (0, -1, 1.5, math.nan, True, "many"):
        with pytest.raises(UsageError, match=option):
            make(model, **{option: value})


@pytest.mark.parametrize(
    ("model", "option"), [(model, option) for model, names in CHANCES.items() for option in names]
)
def test_a_chance_of_dropout_is_from_0_to_below_1(model, option):
    for value in (-0.1, 1.0, 2, math.nan, math.inf, True, "half"):
        with pytest.raises(UsageError, match=option):
            make(model, **{option: value})


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("ndr", {"num_heads": 3}, "3 heads for d_model 128"),
        ("vit", {"num_heads": 3}, "3 heads for d_model 256"),
        ("counting", {"d_ff": -1}, "d_ff -1: allowed are whole numbers from 0"),
        ("clusters-dnas", {"steps": -1}, "steps -1: allowed are whole numbers from 0"),
        ("clusters-dnas", {"steps": 1.5}, "steps 1.5"),
        ("bilstm", {"d_model": 7}, "d_model 7: .* even numbers"),
        ("vit", {"patch": 5}, "Patch 5: allowed are the divisors of 56"),
        ("transformer", {"temperature": math.inf}, "Temperature inf"),
        ("transformer", {"temperature": -1}, "Temperature -1"),
        ("transformer", {"begin_end": 3}, "begin_end=3 of transformer: expected true or false"),
        ("resnet", {"widths": 8}, "Widths 8: expected four"),
        ("base-convolution", {"kernels": (3, 0)}, "kernel 0"),
        ("resnet", {"widths": (8, 8, 8)}, "expected four"),
        ("resnet", {"widths": (8, 0, 8, 8)}, "widths 0"),
    ],
    ids=str,
)
def test_numbers_that_do_not_fit_each_other_are_refused(model, options, message):
    with pytest.raises(UsageError, match=message):
        make(model, **options)


def test_the_models_that_share_a_class_are_all_tried():
    tried = {MODELS[name].reference for name in (*WHOLE, "counting", "clusters-dnas", "resnet")}
    # Mixers and models made of them are tried with the other tests of their files.
    others = ("mixer", "causal-transformer", "base-convolution")
    assert tried == {
        one.reference for name, one in MODELS.items() if not {one.kind, name} & {*others}
    }


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("steps", ["-1", "1.5", "nan", "inf"]),
        ("batch_size", ["0", "-8", "2.5"]),
        ("validate_every", ["0", "-1"]),
        ("beta2", ["-0.1", "1", "nan"]),
        ("label_smoothing", ["-0.1", "1", "nan"]),
        ("decay_weights_only", ["2"]),
        ("one_length", ["2"]),
        ("warmup", ["-1", "0.5"]),
        ("learning_rate", ["-1", "nan", "inf", "1e999"]),
        ("min_learning_rate", ["-1e-9", "nan", "0.02"]),
        ("weight_decay", ["-0.1", "nan", "inf"]),
        ("clip", ["-1", "nan"]),
        ("ponder", ["-1", "nan"]),
        ("heat", ["0,1,0.5", "1,0,0.5", "-1,1,0.5", "1,2,-0.1", "1,2,1.1", "1,nan,0.5", "inf,1,1"]),
        ("balanced", ["2"]),
        ("schedule", ["1"]),
    ],
)
def test_a_recipes_number_that_makes_no_sense_is_refused(field, values):
    recipe = Recipe("one", "lstm", steps=10, learning_rate=0.01)
    for value in values:
        with pytest.raises(UsageError, match=field):
            recipe.changed({field: value}, {})


def test_a_cooldown_follows_other_steps_and_another_schedule():
    recipe = Recipe("one", "lstm", steps=300, learning_rate=0.01, cooldown=100)
    for chosen, cooldown in (
        ({}, 100),
        ({"steps": 1}, 1),
        ({"steps": "0"}, 0),
        ({"steps": 150}, 100),
        ({"schedule": "cosine"}, 0),
    ):
        assert recipe.changed(chosen, {}).cooldown == cooldown
    for chosen in ({"steps": 1, "cooldown": 2}, {"schedule": "cosine", "cooldown": 1}):
        with pytest.raises(UsageError, match="cooldown"):
            recipe.changed(chosen, {})
