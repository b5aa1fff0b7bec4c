"""Recipes of Grokking (Power et al., 2022): modular-arithmetic.

The paper's figures 1 and 2 show accuracy by step, with and without weight decay. They are pictures,
so it gives no figures. Sizes are those of the published program. It counts the end
token as a part of the answer, which is always right. Here the answer alone is learned.

At the profile `cpu` the Transformer has the same sizes with LayerNorm before each part, learned
positions and small initial embeddings, because with these it generalises within a thousand steps.
With embeddings of variance 1 it has not begun to (see *Every size tried*).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe, Study

_SIZES: dict[str, Any] = {"d_model": 128, "num_layers": 2, "num_heads": 4}
_PUBLISHED = {"order": "post", "activation": "relu", "position": "sinusoidal"}
#: The longest equation, `a ^2 + b ^2 =`.
_EARLY_NORM = {"position": "learned", "max_length": 6, "embedding_std": 0.02}


def transformer(name: str, decay: float, steps: int, **options: Any) -> Recipe:
    """The Transformer of the published program, with this weight decay."""
    return Recipe(
        name,
        "causal-transformer",
        steps=steps,
        batch_size=512,
        learning_rate=1e-3,
        weight_decay=decay,
        beta2=0.98,
        warmup=10,
        validate_every=steps // 20,
        options={**_SIZES, **options},
    )


PAPER = Study(
    task="modular-arithmetic",
    profile="paper",
    title="Generalisation long after memorisation",
    variants=("divide", "add", "subtract", "multiply", "sum-of-squares"),
    eval_splits=("test",),
    seeds=3,
    measures=(Measure("test", "test", "accuracy", headline="out"),),
    recipes=(
        transformer("weight-decay", 1.0, 100_000, **_PUBLISHED),
        transformer("no-decay", 0.0, 100_000, **_PUBLISHED),
    ),
    departures=(
        "the loss is on the answer alone (program: also on the end token)",
        "an eighth of all equations is test (paper: all that are not in train)",
    ),
)
CPU = dataclasses.replace(
    PAPER,
    profile="cpu",
    title="Weight decay and generalisation in a thousand steps",
    variants=("divide", "add"),
    recipes=(
        transformer("weight-decay", 1.0, 1_000, **_EARLY_NORM),
        transformer("no-decay", 0.0, 1_000, **_EARLY_NORM),
    ),
)

STUDIES = (PAPER, CPU)
