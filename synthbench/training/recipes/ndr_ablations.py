"""Ablations of NDR (appendix A, tables 2, 4 to 6 and 10): layers, read-out, halting, steps, search.

Recipes are those of `ndr` but for the varied values.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe, Study, settings
from synthbench.training.recipes.ndr import ARITHMETIC, CTL, published

#: The best weight of the ponder cost, and the steps that halting needs (appendix A).
_PONDER, _HALTING_STEPS = 0.03, 60_000


def _changed(
    parent: str, table: str, accuracies: str, options: dict[str, Any], **changes: Any
) -> Recipe:
    """The recipe of ctl with other options and fields."""
    base = CTL.recipe(parent)
    figures = published(f"NDR, table {table}", CTL.variants, accuracies)
    return dataclasses.replace(
        base, options={**base.options, **options}, published=figures, **changes
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


def _read_by_attention(parent: str) -> Recipe:
    """Read by cross-attention, of which the paper says that it was "not better"."""
    base = CTL.recipe(parent)
    options = {**base.options, "readout": "attention"}
    return dataclasses.replace(base, name=f"{parent}-attention", options=options, published={})


READOUT = dataclasses.replace(
    CTL,
    name="readout",
    title="The result read from the first or the last column, or by cross-attention",
    recipes=(
        _readout("transformer", "first", "100±0  12±1   82±39  13±1"),
        _readout("transformer", "last", " 100±0  13±1   82±39  12±1"),
        _readout("transformer-relative", "first", "100±0  12±1  100±0  22±5"),
        _readout("transformer-relative", "last", " 100±0  23±5  100±0  13±1"),
        _readout("transformer-relative-gate", "first", "100±0  17±2  100±0 100±0"),
        _readout("transformer-relative-gate", "last", " 100±0  99±1  100±0  19±4"),
        *map(_read_by_attention, ("transformer", "transformer-relative-gate")),
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

#: Table 2's and table 6's accuracies on test after fewer steps, in hundredths.
_AFTER_50K = {
    "lstm": "72±1",
    "bilstm": "80±4",
    "transformer": "29±1",
    "transformer-relative": "40±5",
    "transformer-gated-position": "73±15",
    "ndr": "98±1",
}
_AFTER_30K = {
    "transformer-act": "13±1 13±1",
    "transformer-act-universal": "13±1 12±1",
    "transformer-relative-act": "84±22 13±1",
    "transformer-relative-act-universal": "67±41 12±0",
    "geometric-act": "58±16 30±17",
    "geometric-act-universal": "31±22 21±7",
}


def _shorter(study: Study, name: str, steps: int, table: str, tests: Mapping[str, str]) -> Study:
    """A study whose models are trained for fewer steps, with the paper's accuracies on test."""
    recipes = []
    for model, accuracies in tests.items():
        figures = published(f"NDR, table {table}", study.variants, accuracies, ("test",))
        recipes.append(dataclasses.replace(study.recipe(model), steps=steps, published=figures))
    title = f"{study.title}, after {steps:,} steps"
    return dataclasses.replace(study, name=name, title=title, recipes=tuple(recipes))


ARITHMETIC_50K = _shorter(ARITHMETIC, "50k", 50_000, "2, 50K", _AFTER_50K)
ACT_30K = _shorter(ACT, "act-30k", 30_000, "6, 30k steps", _AFTER_30K)

#: Table 10's ranges for the Neural Data Router. The paper searched with Weights & Biases. Here
#: settings are drawn independently, learning rates from a logarithmic scale.
_SEARCHED = 24


def _draw_settings(number: int) -> Recipe:
    """Setting `number` of the search: the same on every machine."""
    draw = random.Random(number)
    d_model = draw.choice((128, 256, 512))
    options = {
        "d_model": d_model,
        "d_ff": d_model * draw.choice((1, 2, 4)),
        "num_heads": draw.choice((2, 4, 8, 16)),
        "num_layers": draw.randint(4, 20),
        "dropout": round(draw.uniform(0.0, 0.5), 3),
        "key_dropout": round(draw.uniform(0.0, 0.5), 3),
    }
    base = CTL.recipe("ndr")
    return dataclasses.replace(
        base,
        name=f"setting-{number}",
        learning_rate=float(f"{math.exp(draw.uniform(math.log(5e-5), math.log(1e-3))):.2g}"),
        weight_decay=round(draw.uniform(0.0, 0.1), 4),
        options={**base.options, **options},
        published={},
    )


SEARCH = dataclasses.replace(
    CTL,
    name="search",
    title="Settings drawn from table 10, to be compared on validation",
    seeds=1,
    measures=(Measure("validation", "validation", "accuracy"), *CTL.measures),
    recipes=tuple(map(_draw_settings, range(_SEARCHED))),
)

#: A size of ctl that small models learn in a minute.
_SMALL: dict[str, Any] = {
    "parameters": {
        "symbols": 4,
        "functions": 6,
        "train_lengths": (1, 2, 3),
        "validation_lengths": (4,),
        "test_lengths": (5,),
    },
    "rows": {"train": 600, "iid": 150, "validation": 500, "test": 500},
}


def _small(model: str, readout: str, options: str) -> Recipe:
    recipe = (
        "steps=1500 batch_size=128 learning_rate=1e-3 weight_decay=0.01 clip=1 schedule=cosine "
        "warmup=100 validate_every=250 balanced=true"
    )
    made = Recipe(f"{model}-{readout}", model, steps=1)
    options = f"d_model=64 begin_end=false readout={readout} {options}"
    return made.changed(settings(recipe), settings(options))


_PLAIN = "num_heads=4 num_layers=3 d_ff=256 dropout=0 init=default"
_GATED = "num_heads=1 num_layers=5 test_layers=7 d_ff=128 dropout=0.1 key_dropout=0.1 gate_drop=0.1"
READOUT_CPU = dataclasses.replace(
    READOUT,
    profile="cpu",
    variants=("forward",),
    **_SMALL,
    seeds=3,
    recipes=tuple(
        _small(model, readout, options)
        for model, options in (("transformer", _PLAIN), ("transformer-relative-gate", _GATED))
        for readout in ("last", "attention")
    ),
    departures=(),
)

#: After Dubois et al. (2020), who train with the intermediate symbols as the answer (section 3.1).
_SEQUENCE = Recipe(
    "transformer",
    "causal-transformer",
    steps=3_000,
    batch_size=128,
    learning_rate=1e-3,
    form="causal-lm",
    schedule="cosine",
    warmup=200,
    validate_every=500,
    balanced=True,
    options={"d_model": 64, "num_layers": 2, "num_heads": 4},
)
STEPS = Study(
    task="ctl",
    profile="cpu",
    name="steps",
    title="Every intermediate symbol as the answer",
    variants=("steps",),
    **_SMALL,
    seeds=3,
    select="validation",
    eval_splits=("iid", "validation"),
    measures=(
        Measure("iid", "iid", "exact_match", headline="in"),
        Measure("test", "test", "exact_match", headline="out"),
    ),
    recipes=(
        _SEQUENCE,
        dataclasses.replace(_SEQUENCE, name="lstm", model="lstm", options={"d_model": 64}),
    ),
)

STUDIES = (LAYERS, READOUT, READOUT_CPU, ACT, ARITHMETIC_50K, ACT_30K, SEARCH, STEPS)
