"""The ablations of NDR (appendix A) on ctl: layers, read-out, adaptive computation time."""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe
from synthbench.training.recipes.ndr import CTL, published

#: The best weight of the ponder cost, and the steps that halting needs (appendix A).
_PONDER, _HALTING_STEPS = 0.03, 60_000


def _changed(
    parent: str, table: str, accuracies: str, options: dict[str, Any], **changes: Any
) -> Recipe:
    """The recipe of ctl with other options and fields."""
    made = CTL.recipe(parent)
    figures = published(f"NDR, table {table}", CTL.variants, accuracies)
    return dataclasses.replace(
        made, options={**made.options, **options}, published=figures, **changes
    )


def _layers(count: int, accuracies: str) -> Recipe:
    name = f"ndr-{count}-layers"
    return _changed("ndr", "4", accuracies, {"num_layers": count}, name=name)


LAYERS = dataclasses.replace(
    CTL,
    name="layers",
    title="How many layers the Neural Data Router needs",
    recipes=(
        _layers(14, "100±0 100±0  100±0 100±0"),
        _layers(12, "100±0 100±0  100±0  99±2"),
        _layers(10, "100±0  75±4  100±0  62±5"),
        _layers(8, " 100±0  23±2  100±0  24±3"),
        _layers(6, " 100±0  22±5   96±3  15±1"),
        _layers(4, "  96±4  14±1   68±11 13±1"),
    ),
)


def _readout(parent: str, readout: str, accuracies: str) -> Recipe:
    name = f"{parent}-{readout}"
    return _changed(parent, "5", accuracies, {"readout": readout}, name=name)


READOUT = dataclasses.replace(
    CTL,
    name="readout",
    title="The result read from the first or the last column",
    recipes=(
        _readout("transformer", "first", "100±0  12±1   82±39  13±1"),
        _readout("transformer", "last", " 100±0  13±1   82±39  12±1"),
        _readout("transformer-relative", "first", "100±0  12±1  100±0  22±5"),
        _readout("transformer-relative", "last", " 100±0  23±5  100±0  13±1"),
        _readout("transformer-relative-gate", "first", "100±0  17±2  100±0 100±0"),
        _readout("transformer-relative-gate", "last", " 100±0  99±1  100±0  19±4"),
    ),
)


def _halting(name: str, accuracies: str) -> Recipe:
    """With halting, 14 layers can be trained, in twice the steps (appendix A)."""
    parent = name.removesuffix("-universal").removesuffix("-act")
    changes = {"name": name, "model": name, "steps": _HALTING_STEPS, "ponder": _PONDER}
    return _changed(parent, "6, 60k steps", accuracies, {"num_layers": 14}, **changes)


ACT = dataclasses.replace(
    CTL,
    name="act",
    title="Adaptive computation time in place of the copy gate",
    measures=(*CTL.measures, Measure("halting steps, test", "test", "halting")),
    recipes=(
        _halting("transformer-act", "100±0 12±2  100±0 12±1"),
        _halting("transformer-act-universal", "100±0 12±1  100±0 11±1"),
        _halting("transformer-relative-act", "100±0 99±2  100±0 13±0"),
        _halting("transformer-relative-act-universal", "100±0 92±14  100±0 12±2"),
        _halting("geometric-act", "100±0 97±5  100±0 45±21"),
        _halting("geometric-act-universal", "96±10 72±35  100±0 44±19"),
    ),
)

STUDIES = (LAYERS, READOUT, ACT)
