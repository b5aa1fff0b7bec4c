"""DNAS (Ding, Fan, Lan, Schuurmans, Soricut, 2020), appendix E: clusters, without training.

The paper shows pictures of one example each (figures 8 and 9) and no figures, so none stand here.
"""

from __future__ import annotations

import dataclasses

from synthbench.training.recipes.base import Measure, Recipe, Study

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

STUDIES = (CLUSTERS, dataclasses.replace(CLUSTERS, profile="cpu"))
