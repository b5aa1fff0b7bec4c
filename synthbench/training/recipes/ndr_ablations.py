"""The ablations of NDR (appendix A) on ctl: layers, read-out, adaptive computation time."""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe
from synthbench.training.recipes.ndr import CTL, InOut, accuracies

_PERFECT = (100, 0)
#: The ponder cost's weight that worked best, and the steps that halting needs (appendix A).
_PONDER, _HALTING_STEPS = 0.03, 60_000


def _changed(parent: str, options: dict[str, Any], **changes: Any) -> Recipe:
    """The recipe of ctl with other options and fields."""
    made = CTL.recipe(parent)
    return dataclasses.replace(made, options={**made.options, **options}, **changes)


def _layers(num_layers: int, forward: InOut, backward: InOut) -> Recipe:
    published = accuracies("NDR, table 4", forward=forward, backward=backward)
    name = f"ndr-{num_layers}-layers"
    return _changed("ndr", {"num_layers": num_layers}, name=name, published=published)


LAYERS = dataclasses.replace(
    CTL,
    name="layers",
    title="How many layers the Neural Data Router needs",
    recipes=(
        _layers(14, (_PERFECT, _PERFECT), (_PERFECT, _PERFECT)),
        _layers(12, (_PERFECT, _PERFECT), (_PERFECT, (99, 2))),
        _layers(10, (_PERFECT, (75, 4)), (_PERFECT, (62, 5))),
        _layers(8, (_PERFECT, (23, 2)), (_PERFECT, (24, 3))),
        _layers(6, (_PERFECT, (22, 5)), ((96, 3), (15, 1))),
        _layers(4, ((96, 4), (14, 1)), ((68, 11), (13, 1))),
    ),
)


def _readout(name: str, readout: str, forward: InOut, backward: InOut) -> Recipe:
    published = accuracies("NDR, table 5", forward=forward, backward=backward)
    return _changed(name, {"readout": readout}, name=f"{name}-{readout}", published=published)


READOUT = dataclasses.replace(
    CTL,
    name="readout",
    title="The result read from the first or the last column",
    recipes=(
        _readout("transformer", "first", (_PERFECT, (12, 1)), ((82, 39), (13, 1))),
        _readout("transformer", "last", (_PERFECT, (13, 1)), ((82, 39), (12, 1))),
        _readout("transformer-relative", "first", (_PERFECT, (12, 1)), (_PERFECT, (22, 5))),
        _readout("transformer-relative", "last", (_PERFECT, (23, 5)), (_PERFECT, (13, 1))),
        _readout("transformer-relative-gate", "first", (_PERFECT, (17, 2)), (_PERFECT, _PERFECT)),
        _readout("transformer-relative-gate", "last", (_PERFECT, (99, 1)), (_PERFECT, (19, 4))),
    ),
)


def _halting(name: str, forward: InOut, backward: InOut) -> Recipe:
    """With halting, 14 layers can be trained, in twice the steps (appendix A)."""
    published = accuracies("NDR, table 6, 60k steps", forward=forward, backward=backward)
    base = name.removesuffix("-universal").removesuffix("-act")
    return _changed(
        base,
        {"num_layers": 14},
        name=name,
        model=name,
        steps=_HALTING_STEPS,
        ponder=_PONDER,
        published=published,
    )


ACT = dataclasses.replace(
    CTL,
    name="act",
    title="Adaptive computation time in place of the copy gate",
    measures=(*CTL.measures, Measure("halting steps, test", "test", "halting")),
    recipes=(
        _halting("transformer-act", (_PERFECT, (12, 2)), (_PERFECT, (12, 1))),
        _halting("transformer-act-universal", (_PERFECT, (12, 1)), (_PERFECT, (11, 1))),
        _halting("transformer-relative-act", (_PERFECT, (99, 2)), (_PERFECT, (13, 0))),
        _halting("transformer-relative-act-universal", (_PERFECT, (92, 14)), (_PERFECT, (12, 2))),
        _halting("geometric-act", (_PERFECT, (97, 5)), (_PERFECT, (45, 21))),
        _halting("geometric-act-universal", ((96, 10), (72, 35)), (_PERFECT, (44, 19))),
    ),
)

STUDIES = (LAYERS, READOUT, ACT)
