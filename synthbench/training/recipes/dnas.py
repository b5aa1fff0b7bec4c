"""DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020), appendix E: clusters, without training."""

from __future__ import annotations

import dataclasses

from synthbench.training.recipes.base import Measure, Published, Recipe, Study


def _attend(name: str, balanced: float, unbalanced: float) -> Recipe:
    """Whether there are still two clusters after four steps, as in figures 8 and 9."""
    return Recipe(
        name,
        name,
        steps=0,
        published={
            ("balanced", "separated"): Published(balanced, "DNAS, figure 8"),
            ("unbalanced", "separated"): Published(unbalanced, "DNAS, figure 9"),
        },
    )


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
    recipes=(_attend("clusters-softmax", 1.0, 0.0), _attend("clusters-dnas", 1.0, 1.0)),
)

STUDIES = (CLUSTERS, dataclasses.replace(CLUSTERS, profile="cpu"))
