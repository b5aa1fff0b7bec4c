"""Recipes of Counting (Ouellette, Pfister, Jud, 2023), section IV: grid-count and identity.

The paper names no optimiser. Here it is AdamW without weight decay, which is Adam. From the
published program: fresh grids, all grids of a batch have one size, and each size is equally
frequent, gradients clipped at norm 1, the number of coloured cells of a grid is limited by a draw
from 1 to 999. The program computes in float64, here it is float32.
"""

from __future__ import annotations

import dataclasses

from synthbench.training.recipes.base import Measure, Published, Recipe, Study

SIZES = (7, 8, 9, 10, 12, 15, 20)


def count(name: str, *accuracies: float) -> Recipe:
    """A line of table I: the share of right cells in per cent, by size from 6."""
    figures = zip((6, *SIZES), accuracies, strict=True)
    return Recipe(
        name,
        name,
        steps=300_000,
        batch_size=50,
        learning_rate=2e-4,
        clip=1.0,
        one_length=True,
        balanced=True,
        published={
            ("default", f"{size}x{size}"): Published(round(accuracy / 100, 4), "Counting, table I")
            for size, accuracy in figures
        },
    )


#: Differences in both.
_DEPARTURES = (
    "AdamW without weight decay (paper: no optimiser is named)",
    "float32 (program: float64)",
)

GRID_COUNT = Study(
    task="grid-count",
    profile="paper",
    title="Larger grids than in training",
    select="iid",
    eval_splits=("iid",),
    parameters={"colored_limit": 999},
    stream=True,
    measures=(
        Measure("6x6", "iid", "cell_accuracy", headline="in"),
        *(
            Measure(
                f"{size}x{size}",
                "test",
                "cell_accuracy",
                where=("size", size),
                headline="out" if size == max(SIZES) else "",
            )
            for size in SIZES
        ),
    ),
    recipes=(
        count("counting", *[100.0] * 8),
        count("counting-standard", 32.48, 26.74, 25.10, 24.56, 25.39, 27.37, 31.12, 30.76),
        count("counting-norm-attention", 99.97, 99.80, 98.52, 92.59, 80.86, 45.99, 30.17, 33.79),
        count("counting-norm-feedforward", 97.49, 90.07, 75.49, 56.05, 40.52, 27.98, 28.30, 34.11),
    ),
    departures=_DEPARTURES,
)

#: "In fact, up to 100x100 grids" (section IV-B). The sizes between are ours.
_LARGE_SIZES = (20, 50, 100)
LARGE_GRIDS = dataclasses.replace(
    GRID_COUNT,
    name="large-grids",
    title="Grids of up to 100x100 cells",
    parameters={"colored_limit": 999, "test_sizes": _LARGE_SIZES},
    unpublished=("test_sizes",),
    rows={"test": 300},
    measures=tuple(
        Measure(
            f"{size}x{size}",
            "test",
            "cell_accuracy",
            where=("size", size),
            headline="out" if size == max(_LARGE_SIZES) else "",
        )
        for size in _LARGE_SIZES
    ),
    recipes=(
        dataclasses.replace(
            GRID_COUNT.recipe("counting"),
            published={
                ("default", f"{size}x{size}"): Published(1.0, "Counting, section IV-B")
                for size in _LARGE_SIZES
            },
        ),
    ),
)

#: Grids of 3x3 cells, as in the ARC task of appendix A. The paper trains no model on it.
COMMONEST = dataclasses.replace(
    GRID_COUNT,
    profile="cpu",
    name="commonest",
    title="The commonest colour of a grid, as in an ARC task",
    variants=("commonest",),
    parameters={"train_sizes": (3,), "iid_sizes": (3,), "test_sizes": (4, 5, 6)},
    rows={"iid": 500, "test": 1_500},
    seeds=1,
    measures=(
        Measure("3x3", "iid", "cell_accuracy", headline="in"),
        *(
            Measure(
                f"{size}x{size}",
                "test",
                "cell_accuracy",
                where=("size", size),
                headline="out" if size == 6 else "",
            )
            for size in (4, 5, 6)
        ),
    ),
    recipes=tuple(
        dataclasses.replace(
            count(name, *[0.0] * 8),
            steps=10_000,
            learning_rate=3e-3,
            schedule="one-cycle",
            options={"d_ff": 256},
            published={},
        )
        for name in ("counting", "counting-standard")
    ),
    departures=(),
)


def _repeat(name: str, steps: int, iid: tuple[float, float], test: tuple[float, float]) -> Recipe:
    """A line of table II: mean squared errors with their deviations."""
    return Recipe(
        name,
        name,
        steps=steps,
        batch_size=200,
        learning_rate=1e-4,
        published={
            ("default", "iid"): Published(iid[0], "Counting, table II (training)", iid[1]),
            ("default", "test"): Published(test[0], "Counting, table II", test[1]),
        },
    )


IDENTITY = Study(
    task="identity",
    profile="paper",
    title="A wider range than in training",
    select="iid",
    eval_splits=("iid",),
    measures=(
        Measure("iid", "iid", "mse", headline="in"),
        Measure("test", "test", "mse", headline="out"),
    ),
    recipes=(
        _repeat("identity", 100_000, (7.98e-8, 4.698e-8), (8.1954e-5, 1.279e-5)),
        _repeat("identity-norm", 200_000, (0.0174, 0.0019), (0.1147, 0.0069)),
    ),
    departures=(*_DEPARTURES, "100,000 rows of train (paper: fresh rows)"),
)

STUDIES = (GRID_COUNT, LARGE_GRIDS, COMMONEST, IDENTITY)
