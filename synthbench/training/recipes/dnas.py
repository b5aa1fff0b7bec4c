"""DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020): clusters without training, and four tasks.

The paper shows pictures of one example each (figures 8 and 9) without figures, so the main study
quotes nothing. The study `one-step` has the distances of equations 13 and 14, which figure 7 plots.
The paper trains its attention on language and images. `doubly-normalised` trains it on four of our
tasks.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from synthbench.training.recipes.base import Measure, Published, Recipe, Study

CLUSTERS = Study(
    task="clusters",
    profile="paper",
    title="Two clusters after four steps of attention",
    variants=("balanced", "unbalanced"),
    seeds=1,
    measures=(
        Measure("separated", "test", "separated", headline="out"),
        Measure("distance", "test", "distance"),
    ),
    recipes=tuple(Recipe(name, name, steps=0) for name in ("clusters-softmax", "clusters-dnas")),
)


def centre_distance(ratio: float, half: float) -> tuple[float, float]:
    """The distance of two clusters' centres after one step of softmax and of doubly-normalised.

    Args:
        ratio: r, the number of points of one cluster divided by that of the other.
        half: a, half the distance before.

    Source: DNAS, equations 13 and 14.
    """
    s = math.exp(-2 * half**2)
    q = (ratio + s) / (ratio * s + 1)
    apart = 2 * ratio * (1 - s**2) * half
    softmax = apart / ((1 + ratio * s) * (ratio + s))
    return softmax, q * apart / ((q + ratio * s) * (ratio + s * q))


#: Half the distance of the centres, and the points of each cluster, in the study `one-step`.
_HALF, _POINTS = 1.0, (200, 20)
_AFTER = centre_distance(_POINTS[0] / _POINTS[1], _HALF)
ONE_STEP = dataclasses.replace(
    CLUSTERS,
    name="one-step",
    title="The distance of two centres after one step, as in equations 13 and 14",
    variants=("unbalanced",),
    parameters={
        "first_points": _POINTS[0],
        "second_points": _POINTS[1],
        "distance": 2 * _HALF,
        "dimension": 1,
        "variance": 1e-4,
    },
    unpublished=("first_points", "second_points", "distance", "variance"),
    measures=(Measure("distance", "test", "distance", headline="out"),),
    recipes=tuple(
        dataclasses.replace(
            recipe,
            options={"steps": 1},
            published={
                ("unbalanced", "distance"): Published(
                    round(after, 4), f"DNAS, figure 7 (equation {equation})"
                )
            },
        )
        for recipe, after, equation in zip(CLUSTERS.recipes, _AFTER, (13, 14), strict=True)
    ),
)
SINKHORN = dataclasses.replace(
    CLUSTERS,
    name="sinkhorn",
    title="More iterations of Sinkhorn's algorithm in each step",
    recipes=tuple(
        Recipe(f"sinkhorn-{count}", "clusters-dnas", steps=0, options={"sinkhorn": count})
        for count in (1, 2, 4, 16)
    ),
)
HYBRID = dataclasses.replace(
    CLUSTERS,
    name="hybrid",
    title="Softmax and doubly-normalised attention mixed",
    recipes=tuple(
        Recipe(f"hybrid-{weight}", "clusters-hnas", steps=0, options={"weight": weight})
        for weight in (0.1, 0.5, 0.9)
    ),
)

#: Name of a recipe, and its attention.
_ATTENTIONS: dict[str, dict[str, Any]] = {
    name: {"attention": name} for name in ("softmax", "doubly-normalised", "hybrid")
}


def _trained(
    task: str,
    variant: str,
    parameters: Mapping[str, Any],
    rows: Mapping[str, int],
    *,
    metric: str,
    steps: int,
    select: str = "validation",
) -> Study:
    """The same Transformer with each attention, on a small size of a task."""
    size = {"d_model": 64, "num_heads": 4, "num_layers": 3, "d_ff": 256, "dropout": 0.0}
    return Study(
        task=task,
        profile="cpu",
        name="doubly-normalised",
        title="A Transformer with softmax, doubly-normalised and hybrid attention",
        variants=(variant,),
        parameters=parameters,
        rows={"test": 500, **rows},
        seeds=3,
        select=select,
        eval_splits=tuple(dict.fromkeys(("iid", select))),
        measures=(
            Measure("iid", "iid", metric, headline="in"),
            Measure("test", "test", metric, headline="out"),
        ),
        recipes=tuple(
            Recipe(
                name,
                "transformer",
                steps=steps,
                batch_size=128,
                learning_rate=1e-3,
                schedule="cosine",
                warmup=200,
                validate_every=250,
                balanced=True,
                options={**size, "begin_end": False, "init": "default", **attention},
            )
            for name, attention in _ATTENTIONS.items()
        ),
    )


#: Sizes of the suite `layers`, except for ctl. The steps do not suffice for mqar.
TRAINED = (
    _trained(
        "ctl",
        "forward",
        {
            "symbols": 4,
            "functions": 6,
            "train_lengths": (1, 2, 3),
            "validation_lengths": (4,),
            "test_lengths": (5,),
        },
        {"train": 600, "iid": 150, "validation": 500},
        metric="accuracy",
        steps=3_000,
    ),
    _trained(
        "copying",
        "selective",
        {"symbols": 8, "length": 16, "copied": 4},
        {"train": 10_000, "iid": 500, "validation": 500},
        metric="position_accuracy",
        steps=1_000,
    ),
    _trained(
        "mqar",
        "default",
        {
            "vocabulary": 32,
            "length": 16,
            "pairs": 4,
            "test_lengths": (32,),
            "test_pairs": (4, 8),
        },
        {"train": 10_000, "iid": 500, "validation": 500},
        metric="position_accuracy",
        steps=1_000,
    ),
    _trained(
        "chomsky",
        "bucket-sort",
        {"train_lengths": tuple(range(1, 11)), "test_lengths": (15, 20, 30, 40)},
        {"train": 10_000, "iid": 500},
        metric="position_accuracy",
        steps=600,
        select="iid",
    ),
)

_UNTRAINED = (CLUSTERS, ONE_STEP, SINKHORN, HYBRID)
STUDIES = (
    *_UNTRAINED,
    *(dataclasses.replace(study, profile="cpu") for study in _UNTRAINED),
    *TRAINED,
)
