"""Recipes of DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020): clusters, without training."""

from __future__ import annotations

from synthbench.train.recipes.base import Measure, Recipe, Study

CLUSTERS_CPU = Study(
    task="clusters",
    profile="cpu",
    title="Two clusters after four steps of attention",
    variants=("balanced", "unbalanced"),
    measures=(Measure("distance", "test", "distance"), Measure("separated", "test", "separated")),
    seeds=1,
    recipes=(
        Recipe("clusters-softmax", "clusters-softmax", steps=0),
        Recipe("clusters-dnas", "clusters-dnas", steps=0),
    ),
)

STUDIES = (CLUSTERS_CPU,)
