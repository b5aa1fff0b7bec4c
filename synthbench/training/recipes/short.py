"""Short studies of languages, brackets, lists and groups: at most four minutes of a core a run.

They come from no paper. In a study all models have the same fresh rows, learning rate and most
steps. Rows begin with a start symbol, because attention cannot recognise the first position
otherwise. Training ends soon after a model has learned its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synthbench.training.recipes.base import Recipe, Study
from synthbench.training.recipes.illusion import places_at

#: The models with their options. States are 64 wide.
_MODELS: Mapping[str, Mapping[str, Any]] = {
    "lstm": {"d_model": 64, "d_embedding": 64, "dropout": 0.0},
    "causal-transformer": {"position": "rotary"},
}


def _recipe(model: str, steps: int) -> Recipe:
    return Recipe(
        model,
        model,
        steps=steps,
        batch_size=64,
        learning_rate=2e-3,
        weight_decay=0.01,
        clip=1.0,
        warmup=50,
        cooldown=100,
        validate_every=max(1, steps // 10),
        start=True,
        options=_MODELS[model],
    )


def _study(
    task: str,
    title: str,
    variants: tuple[str, ...],
    lengths: tuple[int, ...],
    parameters: Mapping[str, Any],
    *,
    name: str = "main",
    models: tuple[str, ...] = tuple(_MODELS),
    steps: int = 1_000,
) -> Study:
    """A study that is measured at some lengths of test."""
    return Study(
        task,
        "cpu",
        title,
        tuple(_recipe(model, steps) for model in models),
        places_at(*lengths),
        variants=variants,
        name=name,
        parameters=parameters,
        rows={"iid": 500, "validation": 500, "test": 1_000},
        stream=True,
        seeds=3,
        eval_splits=("iid",),
    )


LANGUAGES = _study(
    "automaton",
    "The state after each symbol, trained on words of up to 16 symbols",
    ("tomita-6", "dyck-4", "sixth-last"),
    (32, 64),
    {
        "train_lengths": tuple(range(1, 17)),
        "validation_lengths": (18, 20),
        "test_lengths": (32, 64),
    },
)
BRACKETS = _study(
    "dyck",
    "The bracket that is due, two kinds to depth 4, trained on words of 32 brackets",
    ("nested", "shuffled"),
    (64, 128),
    {"kinds": 2, "depth": 4, "length": 32},
)

LISTS = _study(
    "lists",
    "Functions of lists, trained on 16 tokens",
    ("set", "union"),
    (32, 64),
    {"symbols": 8, "length": 16},
    steps=4_000,
)
_LENGTHS_OF_GROUPS = {
    "train_lengths": tuple(range(1, 13)),
    "validation_lengths": (14, 16),
    "test_lengths": (24, 48),
}
GROUPS = _study(
    "state-tracking",
    "Three more groups, trained on up to 12 elements",
    ("A5-generators", "D8", "A4"),
    (24, 48),
    _LENGTHS_OF_GROUPS,
    name="groups",
    models=("lstm",),
    steps=1_500,
)
HARDER_GROUPS = _study(
    "state-tracking",
    "Three groups that take more steps, trained on up to 12 elements",
    ("S5-swaps", "H3", "S4"),
    (24, 48),
    _LENGTHS_OF_GROUPS,
    name="harder-groups",
    models=("lstm",),
    steps=10_000,
)

STUDIES = (LANGUAGES, BRACKETS, LISTS, GROUPS, HARDER_GROUPS)
