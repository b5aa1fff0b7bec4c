"""Recipes of NDR (Csordás, Irie, Schmidhuber, ICLR 2022): ctl, arithmetic and listops."""

from __future__ import annotations

from typing import Any

from synthbench.train.recipes.base import Measure, Recipe, Study

_ACCURACY = (Measure("iid", "iid", "accuracy"), Measure("test", "test", "accuracy"))


def _small(name: str, **options: Any) -> Recipe:
    sizes = {"d_model": 64, "d_ff": 128, "num_heads": 4, "num_layers": 6, "dropout": 0.1}
    if name in ("lstm", "bilstm"):
        sizes = {"d_model": 64, "dropout": 0.1}
    return Recipe(
        name,
        name,
        steps=2000,
        batch_size=256,
        learning_rate=1e-3,
        weight_decay=0.01,
        clip=5.0,
        options={**sizes, **options},
        validate_every=250,
    )


CTL_CPU = Study(
    task="ctl",
    profile="cpu",
    title="Longer chains than in training",
    variants=("forward", "backward"),
    parameters={
        "functions": 4,
        "train_lengths": (1, 2, 3, 4),
        "validation_lengths": (5,),
        "test_lengths": (6,),
    },
    rows={"train": 2_400, "iid": 250, "validation": 500, "test": 500},
    select="validation",
    watched=("iid", "validation"),
    measures=_ACCURACY,
    seeds=1,
    recipes=(
        _small("lstm"),
        _small("bilstm"),
        _small("transformer"),
        _small("transformer-relative"),
        _small("transformer-gated-position", num_heads=1, num_layers=10, dropout=0.2),
        _small("ndr", num_heads=1, num_layers=10, dropout=0.2),
    ),
)

ARITHMETIC_CPU = Study(
    task="arithmetic",
    profile="cpu",
    title="Deeper expressions than in training",
    parameters={
        "train_depths": (1, 2, 3),
        "validation_depths": (4,),
        "test_depths": (5,),
        "max_length": 21,
    },
    rows={"train": 50_000, "iid": 500, "validation": 500, "test": 500},
    select="validation",
    watched=("iid", "validation"),
    measures=_ACCURACY,
    seeds=1,
    recipes=(
        _small("lstm"),
        _small("transformer"),
        _small("ndr", num_layers=9, dropout=0.2),
    ),
)

STUDIES = (CTL_CPU, ARITHMETIC_CPU)
