"""Recipes of Eureka (Hoffmann et al., ICML 2024): parity and composites."""

from __future__ import annotations

import dataclasses

from synthbench.train.recipes.base import Measure, Recipe, Study

_EUREKA = (Measure("Eureka-ratio", "test", "eureka"), Measure("test", "test", "accuracy"))


def _reason(name: str, model: str) -> Recipe:
    return Recipe(
        name,
        model,
        steps=4000,
        batch_size=4392,
        learning_rate=1e-2,
        weight_decay=1.0,
        options={"d_model": 16, "num_heads": 4, "d_ff": 64, "dropout": 0.0, "max_length": 5},
        validate_every=50,
        log_gradients=True,
    )


PARITY_CPU = Study(
    task="parity",
    profile="cpu",
    title="A Eureka-moment in a one-layer Transformer",
    watched=("test",),
    eureka=0.7,
    measures=_EUREKA,
    recipes=(
        _reason("parity-softmax", "parity-softmax"),
        dataclasses.replace(_reason("parity-heat", "parity-softmax"), heat=(1 / 3, 2.0, 0.5)),
        _reason("parity-normsoftmax", "parity-normsoftmax"),
    ),
)


def _see(name: str, model: str) -> Recipe:
    return Recipe(
        name,
        model,
        steps=500,
        batch_size=64,
        learning_rate=1e-3,
        weight_decay=0.05,
        schedule="cosine",
        warmup=50,
        min_learning_rate=1e-5,
        validate_every=100,
        log_gradients=True,
    )


COMPOSITES_CPU = Study(
    task="composites",
    profile="cpu",
    title="Two steps of which only the second is taught",
    variants=("main",),
    rows={"train": 6_000, "validation": 500, "test": 1_000},
    select="validation",
    watched=("validation",),
    eureka=0.7,
    measures=_EUREKA,
    seeds=1,
    recipes=(
        _see("vit", "vit"),
        _see("vit-normsoftmax", "vit-normsoftmax"),
        _see("resnet", "resnet"),
    ),
)

STUDIES = (PARITY_CPU, COMPOSITES_CPU)
