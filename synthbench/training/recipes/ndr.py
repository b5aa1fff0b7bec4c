"""Recipes of NDR (Csordás, Irie, Schmidhuber, ICLR 2022) for ctl, arithmetic and listops.

Hyper-parameters are those of tables 7 to 9 and of section C.3, accuracies those of tables 1 to 3.
The ablations are in `ndr_ablations`.
The paper measures every 1,000 steps and takes the best checkpoint on the validation split.

`CTL_PROGRAM`, `ARITHMETIC_PROGRAM` and `LISTOPS_PROGRAM` say in what the published program differs
from these tables, or what it adds. Not followed: it computes in float16 with a copy gate and for
arithmetic and listops (here float32, or bfloat16 with `--precision bfloat16`); it draws the rows of
the LSTMs' batches with replacement; its Transformers for ctl without a gate have six and seven
functions in validation and eight to ten in test; its figures in distribution are those of the last
step; its arithmetic expressions are capped at the split's depth, and those that are too shallow
grow on the right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from synthbench.training.recipes.base import Measure, Published, Recipe, Study, settings

#: A line for each model. After its name: size of a state and of the feed-forward part, number of
#: heads and of layers (0 if the model has none), rows of a batch, learning rate in units of 1e-4,
#: weight decay, dropout, thousands of steps. Then, for each variant, the accuracy in hundredths
#: with its deviation, in and out of distribution.
CTL_TABLE = """
lstm                       200   0 0  1 256 10  0      0.5 20   100±0 100±0   59±3  22±3
bilstm                     400   0 0  1 256 10  0      0.5 20   100±0 100±0  100±0 100±0
dnc                        200   0 0  0 256 10  0      0.5 20   100±0 100±0   57±6  18±2
transformer                128 256 4 11 512 1.5 0.0025 0.1 30   100±0  13±1   82±39 12±1
transformer-relative       128 256 4 11 512 1.5 0.0025 0.1 30   100±0  23±5  100±0  13±1
transformer-relative-gate  256 512 1 14 512 2   0.01   0.5 30   100±0  99±1  100±0  19±4
transformer-gated-position 256 512 1 14 512 2   0.01   0.5 30   100±0  98±2  100±0  98±3
geometric                  128 256 4 11 512 1.5 0.0025 0.1 30    96±4  16±2   93±6  15±2
ndr                        256 512 1 14 512 1.5 0.01   0.5 30   100±0 100±0  100±0 100±0
"""
ARITHMETIC_TABLE = """
lstm                       200    0 0  2 256 10  0      0.5 200   99±0 74±2
bilstm                     400    0 0  2 256 10  0      0.5 200   98±1 82±6
transformer                128  256 4 11 512 1.5 0.0025 0.5 200   98±1 47±1
transformer-relative       128  256 4 11 512 1.5 0.0025 0.5 200  100±0 77±4
transformer-gated-position 256 1024 4 15 512 1.5 0.01   0.5 100  100±1 80±16
ndr                        256 1024 4 15 512 1.5 0.01   0.5 100  100±0 98±1
"""
LISTOPS_TABLE = """
lstm                        512    0  0  4 512 10 0.08 0.1   200   99±0 71±3
bilstm                     1024    0  0  4 512 10 0.08 0.1   200  100±0 57±4
transformer                 256 1024 16  6 512 4  0.05 0.015 200   98±0 74±3
transformer-relative        256 1024 16  6 512 4  0.05 0.015 200   98±1 79±4
transformer-gated-position  512 1024 16 20 512 2  0.09 0.1   100  100±1 90±6
ndr                         512 1024 16 20 512 2  0.09 0.1   100  100±0 99±1
"""
#: The paper's figures are means over five seeds (section 3).
_SEEDS = 5
_SIZES = ("d_model", "d_ff", "num_heads", "num_layers")
#: The models with a copy gate. All of them drop parts of their keys (section C.3 says: queries).
_GATED = ("transformer-relative-gate", "transformer-gated-position", "ndr")

# What the published program adds to the tables: changes of the recipe, and of its options.

_ONE_LENGTH = "one_length=true"
#: For ctl (table 1). The table's bidirectional LSTM has 400 units, the program's 100 a direction.
#: The table's + abs/rel + gate has 512 units in the feed-forward part, the program's 1,024.
CTL_PROGRAM = {
    "bilstm": ("", "d_model=200"),
    "transformer": ("", "input_dropout=0.1"),
    "transformer-relative": ("", "embedding_init=kaiming"),
    "transformer-gated-position": ("", "d_ff=1024"),
    "geometric": ("", "embedding_init=kaiming"),
    "ndr": (_ONE_LENGTH, "gate_drop=0.1"),
}
#: For arithmetic (table 2). Clipping at 1 is the paper's value, for LSTMs the program has 5. It
#: reads Transformers without a gate from the first column, where the paper says the last.
ARITHMETIC_PROGRAM = {
    "lstm": ("clip=5", ""),
    "bilstm": ("clip=5", "d_model=200"),
    "transformer": (_ONE_LENGTH, "input_dropout=0.1 readout=first"),
    "transformer-relative": (_ONE_LENGTH, "embedding_init=kaiming key_dropout=0.1 readout=first"),
    "transformer-gated-position": (_ONE_LENGTH, "gate_drop=0.1"),
    "ndr": (_ONE_LENGTH, "gate_drop=0.1"),
}
#: For listops (table 3), where every Transformer is read from the first column (section D.2). The
#: paper applies 24 layers in the test, the program 20 but for NDR. The paper's bidirectional LSTM
#: has 1,024 units, the program's 256 a direction. The paper's + abs/rel + gate has 1,024 units in
#: the feed-forward part, the program's 2,048. The paper has dropout in both attentions without a
#: gate (section C.3), the program with relative positions only.
LISTOPS_PROGRAM = {
    "lstm": (_ONE_LENGTH, ""),
    "bilstm": (_ONE_LENGTH, "d_model=512"),
    "transformer": (_ONE_LENGTH, "input_dropout=0.1 readout=first"),
    "transformer-relative": (_ONE_LENGTH, "embedding_init=xavier key_dropout=0.05 readout=first"),
    "transformer-gated-position": (_ONE_LENGTH, "d_ff=2048 gate_drop=0.05 readout=first"),
    "ndr": (_ONE_LENGTH, "gate_drop=0.05 readout=first test_layers=24"),
}


def published(
    source: str,
    variants: Sequence[str],
    accuracies: str,
    splits: Sequence[str] = ("iid", "test"),
) -> dict[tuple[str, str], Published]:
    """Accuracies in hundredths, `mean±deviation`, as figures by variant and measure."""
    measures = [(variant, split) for variant in variants for split in splits]
    figures = {}
    for measure, figure in zip(measures, accuracies.split(), strict=True):
        mean, deviation = figure.split("±")
        figures[measure] = Published(int(mean) / 100, source, int(deviation) / 100, _SEEDS)
    return figures


def _study(
    task: str,
    title: str,
    table: str,
    program: Mapping[str, tuple[str, str]],
    source: str,
    clip: float,
    departures: tuple[str, ...],
    variants: tuple[str, ...] = ("default",),
) -> Study:
    recipes = []
    for line in table.strip().splitlines():
        name, *cells = line.split(maxsplit=10)
        sizes, (batch_size, rate, decay, dropout, steps, accuracies) = cells[:4], cells[4:]
        options: dict[str, Any] = {
            key: int(size) for key, size in zip(_SIZES, sizes, strict=True) if size != "0"
        }
        options["dropout"] = float(dropout)
        if name in _GATED:
            options["key_dropout"] = 0.1
        recipe = Recipe(
            name,
            name,
            steps=1000 * int(steps),
            batch_size=int(batch_size),
            learning_rate=float(rate) * 1e-4,
            weight_decay=float(decay),
            clip=clip,
            options=options,
            published=published(source, variants, accuracies),
        )
        recipes.append(recipe.changed(*map(settings, program.get(name, ("", "")))))
    return Study(
        task=task,
        profile="paper",
        title=title,
        variants=variants,
        select="validation",
        eval_splits=("iid", "validation"),
        measures=(
            Measure("iid", "iid", "accuracy", headline="in"),
            Measure("test", "test", "accuracy", headline="out"),
        ),
        recipes=tuple(recipes),
        departures=departures,
    )


CTL = _study(
    "ctl",
    "Longer chains of functions than in training",
    CTL_TABLE,
    CTL_PROGRAM,
    "NDR, table 1",
    clip=5.0,
    departures=(
        "iid is balanced over lengths (program: 4% of three functions, 39% of four, 57% of five)",
        "float32 (program: float16 with a copy gate)",
    ),
    variants=("forward", "backward"),
)
_FLOAT32 = "float32 (program: float16)"
ARITHMETIC = _study(
    "arithmetic",
    "Deeper expressions than in training",
    ARITHMETIC_TABLE,
    ARITHMETIC_PROGRAM,
    "NDR, table 2",
    clip=1.0,
    departures=(_FLOAT32,),
)
LISTOPS = _study(
    "listops",
    "Deeper lists than in training",
    LISTOPS_TABLE,
    LISTOPS_PROGRAM,
    "NDR, table 3",
    clip=1.0,
    departures=(_FLOAT32,),
)

STUDIES = (CTL, ARITHMETIC, LISTOPS)
