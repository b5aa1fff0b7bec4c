"""Recipes of NDR (Csordás, Irie, Schmidhuber, ICLR 2022) for ctl, arithmetic and listops.

Hyper-parameters are those of tables 7 to 9 and of section C.3, accuracies those of tables 1 to 3.
The paper measures every 1,000 steps and takes the best checkpoint on the validation split.

`CTL_PROGRAM`, `ARITHMETIC_PROGRAM` and `LISTOPS_PROGRAM` say in what the published program differs
from these tables, or says more. Not followed: it computes in float16 where a model has a copy gate
and for arithmetic and listops (here float32, or bfloat16 with `--precision bfloat16`); it draws the
rows of the LSTMs' batches with replacement; ctl's Transformers without a gate have six and seven
functions in validation and eight to ten in test; its figures in distribution are those of the last
step; its arithmetic expressions are capped at the split's depth, and those that are too shallow
grow on the right.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from synthbench.training.recipes.base import Measure, Published, Recipe, Study

MEASURES = (
    Measure("iid", "iid", "accuracy", headline="in"),
    Measure("test", "test", "accuracy", headline="out"),
)


class Sizes(NamedTuple):
    """A line of tables 7 to 9, in the table's order and units.

    Attributes:
        d_model: size of a state.
        d_ff: size of the feed-forward part's hidden layer; 0 for recurrent models.
        num_heads: number of heads; 0 for recurrent models.
        num_layers: number of layers.
        batch_size: rows of a batch.
        rate: learning rate in units of 1e-4.
        weight_decay: weight decay.
        dropout: dropout.
        steps: thousands of iterations.
    """

    d_model: int
    d_ff: int
    num_heads: int
    num_layers: int
    batch_size: int
    rate: float
    weight_decay: float
    dropout: float
    steps: int


_CTL_PLAIN = Sizes(128, 256, 4, 11, 512, 1.5, 0.0025, 0.1, 30)
_CTL_GATED = Sizes(256, 512, 1, 14, 512, 2.0, 0.01, 0.5, 30)
TABLE_7 = {
    "lstm": Sizes(200, 0, 0, 1, 256, 10, 0.0, 0.5, 20),
    "bilstm": Sizes(400, 0, 0, 1, 256, 10, 0.0, 0.5, 20),
    "dnc": Sizes(200, 0, 0, 1, 256, 10, 0.0, 0.5, 20),
    "transformer": _CTL_PLAIN,
    "transformer-relative": _CTL_PLAIN,
    "transformer-relative-gate": _CTL_GATED,
    "transformer-gated-position": _CTL_GATED,
    "geometric": _CTL_PLAIN,
    "ndr": _CTL_GATED._replace(rate=1.5),
}
_ARITHMETIC_PLAIN = Sizes(128, 256, 4, 11, 512, 1.5, 0.0025, 0.5, 200)
_ARITHMETIC_GATED = Sizes(256, 1024, 4, 15, 512, 1.5, 0.01, 0.5, 100)
TABLE_8 = {
    "lstm": Sizes(200, 0, 0, 2, 256, 10, 0.0, 0.5, 200),
    "bilstm": Sizes(400, 0, 0, 2, 256, 10, 0.0, 0.5, 200),
    "transformer": _ARITHMETIC_PLAIN,
    "transformer-relative": _ARITHMETIC_PLAIN,
    "transformer-gated-position": _ARITHMETIC_GATED,
    "ndr": _ARITHMETIC_GATED,
}
_LISTOPS_PLAIN = Sizes(256, 1024, 16, 6, 512, 4.0, 0.05, 0.015, 200)
_LISTOPS_GATED = Sizes(512, 1024, 16, 20, 512, 2.0, 0.09, 0.1, 100)
TABLE_9 = {
    "lstm": Sizes(512, 0, 0, 4, 512, 10, 0.08, 0.1, 200),
    "bilstm": Sizes(1024, 0, 0, 4, 512, 10, 0.08, 0.1, 200),
    "transformer": _LISTOPS_PLAIN,
    "transformer-relative": _LISTOPS_PLAIN,
    "transformer-gated-position": _LISTOPS_GATED,
    "ndr": _LISTOPS_GATED,
}
#: The models with a copy gate; all of them drop parts of their keys (section C.3 says: queries).
GATED = ("transformer-relative-gate", "transformer-gated-position", "ndr")

# What the published program has beside the tables, as changes of a recipe and of its options.

Program = Mapping[str, Mapping[str, Any]]
_PLAIN = {"input_dropout": 0.1}
#: For ctl (table 1). The table's bidirectional LSTM has 400 units, the program's 100 a direction;
#: the table's + abs/rel + gate has 512 units in the feed-forward part, the program's 1,024.
CTL_PROGRAM: Program = {
    "bilstm": {"options": {"d_model": 200}},
    "transformer": {"options": _PLAIN},
    "transformer-relative": {"options": {"embedding_init": "kaiming"}},
    "transformer-gated-position": {"options": {"d_ff": 1024}},
    "geometric": {"options": {"embedding_init": "kaiming"}},
    "ndr": {"one_length": True, "options": {"gate_drop": 0.1}},
}
#: For arithmetic (table 2). Clipping at 1 is the paper's value, for LSTMs the program has 5; it
#: reads Transformers without a gate from the first column, where the paper says the last.
ARITHMETIC_PROGRAM: Program = {
    "lstm": {"clip": 5.0},
    "bilstm": {"clip": 5.0, "options": {"d_model": 200}},
    "transformer": {"one_length": True, "options": {**_PLAIN, "readout": "first"}},
    "transformer-relative": {
        "one_length": True,
        "options": {"embedding_init": "kaiming", "key_dropout": 0.1, "readout": "first"},
    },
    "transformer-gated-position": {"one_length": True, "options": {"gate_drop": 0.1}},
    "ndr": {"one_length": True, "options": {"gate_drop": 0.1}},
}
#: For listops (table 3), where every Transformer is read from the first column (section D.2). The
#: paper applies 24 layers in the test, the program 20 but for NDR; the paper's bidirectional LSTM
#: has 1,024 units, the program's 256 a direction; the paper's + abs/rel + gate has 1,024 units in
#: the feed-forward part, the program's 2,048; the paper has dropout in both attentions without a
#: gate (section C.3), the program with relative positions only.
LISTOPS_PROGRAM: Program = {
    "lstm": {"one_length": True},
    "bilstm": {"one_length": True, "options": {"d_model": 512}},
    "transformer": {"one_length": True, "options": {**_PLAIN, "readout": "first"}},
    "transformer-relative": {
        "one_length": True,
        "options": {"embedding_init": "xavier", "key_dropout": 0.05, "readout": "first"},
    },
    "transformer-gated-position": {
        "one_length": True,
        "options": {"d_ff": 2048, "gate_drop": 0.05, "readout": "first"},
    },
    "ndr": {
        "one_length": True,
        "options": {"gate_drop": 0.05, "readout": "first", "test_layers": 24},
    },
}

#: A mean and a standard deviation, in hundredths.
Hundredths = tuple[int, int]
#: In and out of distribution.
InOut = tuple[Hundredths, Hundredths]


def accuracies(source: str, **variants: InOut) -> dict[tuple[str, str], Published]:
    """A table's accuracies, by variant and measure."""
    return {
        (variant, name): Published(mean / 100, source, deviation / 100)
        for variant, figures in variants.items()
        for name, (mean, deviation) in zip(("iid", "test"), figures, strict=True)
    }


def recipe(
    name: str,
    sizes: Sizes,
    clip: float,
    program: Program,
    published: Mapping[tuple[str, str], Published],
) -> Recipe:
    """A line of one of the tables as a recipe, with what the published program changes."""
    options: dict[str, Any] = {"d_model": sizes.d_model, "dropout": sizes.dropout}
    if name != "dnc":
        options["num_layers"] = sizes.num_layers
    if sizes.num_heads:
        options |= {"num_heads": sizes.num_heads, "d_ff": sizes.d_ff}
    if name in GATED:
        options["key_dropout"] = 0.1
    changes = dict(program.get(name, {}))
    made = Recipe(
        name,
        name,
        steps=1000 * sizes.steps,
        batch_size=sizes.batch_size,
        learning_rate=sizes.rate * 1e-4,
        weight_decay=sizes.weight_decay,
        clip=clip,
        options={**options, **changes.pop("options", {})},
        published=published,
    )
    return dataclasses.replace(made, **changes)


def _ctl(name: str, forward: InOut, backward: InOut) -> Recipe:
    published = accuracies("NDR, table 1", forward=forward, backward=backward)
    return recipe(name, TABLE_7[name], 5.0, CTL_PROGRAM, published)


def _arithmetic(name: str, figures: InOut) -> Recipe:
    published = accuracies("NDR, table 2", default=figures)
    return recipe(name, TABLE_8[name], 1.0, ARITHMETIC_PROGRAM, published)


def _listops(name: str, figures: InOut) -> Recipe:
    published = accuracies("NDR, table 3", default=figures)
    return recipe(name, TABLE_9[name], 1.0, LISTOPS_PROGRAM, published)


_PERFECT = (100, 0)

CTL = Study(
    task="ctl",
    profile="paper",
    title="Longer chains of functions than in training",
    variants=("forward", "backward"),
    select="validation",
    watched=("iid", "validation"),
    measures=MEASURES,
    recipes=(
        _ctl("lstm", (_PERFECT, _PERFECT), ((59, 3), (22, 3))),
        _ctl("bilstm", (_PERFECT, _PERFECT), (_PERFECT, _PERFECT)),
        _ctl("dnc", (_PERFECT, _PERFECT), ((57, 6), (18, 2))),
        _ctl("transformer", (_PERFECT, (13, 1)), ((82, 39), (12, 1))),
        _ctl("transformer-relative", (_PERFECT, (23, 5)), (_PERFECT, (13, 1))),
        _ctl("transformer-relative-gate", (_PERFECT, (99, 1)), (_PERFECT, (19, 4))),
        _ctl("transformer-gated-position", (_PERFECT, (98, 2)), (_PERFECT, (98, 3))),
        _ctl("geometric", ((96, 4), (16, 2)), ((93, 6), (15, 2))),
        _ctl("ndr", (_PERFECT, _PERFECT), (_PERFECT, _PERFECT)),
    ),
)

ARITHMETIC = Study(
    task="arithmetic",
    profile="paper",
    title="Deeper expressions than in training",
    select="validation",
    watched=("iid", "validation"),
    measures=MEASURES,
    recipes=(
        _arithmetic("lstm", ((99, 0), (74, 2))),
        _arithmetic("bilstm", ((98, 1), (82, 6))),
        _arithmetic("transformer", ((98, 1), (47, 1))),
        _arithmetic("transformer-relative", (_PERFECT, (77, 4))),
        _arithmetic("transformer-gated-position", ((100, 1), (80, 16))),
        _arithmetic("ndr", (_PERFECT, (98, 1))),
    ),
)

LISTOPS = Study(
    task="listops",
    profile="paper",
    title="Deeper lists than in training",
    select="validation",
    watched=("iid", "validation"),
    measures=MEASURES,
    recipes=(
        _listops("lstm", ((99, 0), (71, 3))),
        _listops("bilstm", (_PERFECT, (57, 4))),
        _listops("transformer", ((98, 0), (74, 3))),
        _listops("transformer-relative", ((98, 1), (79, 4))),
        _listops("transformer-gated-position", ((100, 1), (90, 6))),
        _listops("ndr", (_PERFECT, (99, 1))),
    ),
)

STUDIES = (CTL, ARITHMETIC, LISTOPS)
