"""Recipes of Counting (Ouellette, Pfister, Jud, 2023): grid-count and identity."""

from __future__ import annotations

from synthbench.train.recipes.base import Measure, Recipe, Study

_SIZES = (7, 8, 9, 10, 12, 15, 20)


def _count(name: str) -> Recipe:
    return Recipe(
        name,
        name,
        steps=8000,
        batch_size=50,
        learning_rate=1e-2,
        schedule="one-cycle",
        validate_every=1000,
    )


GRID_COUNT_CPU = Study(
    task="grid-count",
    profile="cpu",
    title="Larger grids than in training",
    rows={"iid": 200, "test": 1400, "train": 20_000},
    select="iid",
    watched=("iid",),
    measures=(
        Measure("6x6", "iid", "cell_accuracy"),
        *(Measure(f"{size}x{size}", "test", "cell_accuracy", ("size", size)) for size in _SIZES),
    ),
    seeds=1,
    recipes=tuple(
        map(
            _count,
            (
                "counting",
                "counting-standard",
                "counting-norm-attention",
                "counting-norm-feedforward",
            ),
        )
    ),
)

IDENTITY_CPU = Study(
    task="identity",
    profile="cpu",
    title="A wider range than in training",
    select="iid",
    watched=("iid",),
    measures=(Measure("iid", "iid", "mse"), Measure("test", "test", "mse")),
    seeds=1,
    recipes=(
        Recipe("identity", "identity", steps=2000, batch_size=200, learning_rate=1e-3),
        Recipe("identity-norm", "identity-norm", steps=2000, batch_size=200, learning_rate=1e-3),
    ),
)

STUDIES = (GRID_COUNT_CPU, IDENTITY_CPU)
