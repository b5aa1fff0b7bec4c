"""Recipes for addition: digits in reversed order, and positions that digits of one weight share.

Sources: Cho et al., Position Coupling (NeurIPS 2024); Lee et al., Teaching Arithmetic to Small
Transformers (ICLR 2024).
"""

from __future__ import annotations

import dataclasses

from synthbench.training.recipes.base import Measure, Recipe, Study, settings


def _decoder(name: str, recipe: str, options: str) -> Recipe:
    """A causal Transformer that generates the answer."""
    base = Recipe(name, "causal-transformer", steps=1, form="causal-lm", schedule="cosine")
    return base.changed(settings(recipe), settings(options))


def _digits(count: int, headline: str = "") -> Measure:
    """The share of right answers among two numbers of so many digits."""
    where = ("digits_a x digits_b", f"{count} x {count}")
    return Measure(f"{count}x{count}", "test", "exact_match", where, headline)


def _lengths(*recipes: Recipe, measures: tuple[Measure, ...], **changes: object) -> Study:
    """Models that are asked for sums of longer numbers than they were trained on."""
    study = Study(
        "addition",
        "paper",
        "Addition of longer numbers than in training",
        recipes,
        (Measure("iid", "iid", "exact_match", headline="in"), *measures),
        variants=("addition",),
        eval_splits=("iid",),
    )
    return dataclasses.replace(study, **changes)  # type: ignore[arg-type]


#: One layer with the paper's norms and gated GELU. The learned positions of `coupled` are those of
#: the task, where digits of one weight share one. Those of `learned` count the tokens. With
#: `--option position=rotary`, `learned` counts them in the attention, and with `none` not at all.
_COUPLED = (
    "num_layers=1 num_heads=4 order=sandwich norm=rms activation=gated-gelu position=learned "
)
_LEARNED = _COUPLED + "task_positions=false "

_PAPER = (
    "steps=50000 batch_size=1000 learning_rate=1e-4 min_learning_rate=1e-5 warmup=500 clip=1 "
    "beta2=0.95 validate_every=1000"
)
_PAPER_SIZE = "d_model=1024 mlp=2048 max_length=1024 "
#: The paper's rows and its smallest model.
LENGTHS = _lengths(
    _decoder("coupled", _PAPER, _COUPLED + _PAPER_SIZE),
    _decoder("learned", _PAPER, _LEARNED + _PAPER_SIZE),
    measures=(*map(_digits, (60, 100)), _digits(200, "out")),
    parameters={
        "train_digits": 30,
        "test_digits": (30, 60, 100, 150, 200),
        "order": "reversed",
        "zero_padding": True,
    },
    rows={"train": 1_000_000},
    seeds=3,
)

_CPU = "steps=1500 batch_size=64 learning_rate=2e-3 warmup=100 clip=1 validate_every=150"
_CPU_SIZE = "d_model=128 mlp=256 max_length=128 "
#: Numbers of up to ten digits, and test up to three times as many.
LENGTHS_CPU = dataclasses.replace(
    LENGTHS,
    profile="cpu",
    recipes=(
        _decoder("coupled", _CPU, _COUPLED + _CPU_SIZE),
        _decoder("learned", _CPU, _LEARNED + _CPU_SIZE),
    ),
    measures=(
        LENGTHS.measures[0],
        *map(_digits, (12, 15, 20)),
        _digits(30, "out"),
    ),
    parameters={
        "test_digits": (10, 12, 15, 20, 25, 30),
        "order": "reversed",
        "zero_padding": True,
    },
    rows={"iid": 500, "test": 1_050},
    stream=True,
)


def _order(name: str) -> Study:
    """Three digits, answers in one order. There are as many rows of either order.

    The paper trains on one long stream of characters, with the loss on all of them. Here each row
    stands alone and the loss is on the answer.
    """
    recipe = (
        "steps=5000 batch_size=256 learning_rate=1e-3 min_learning_rate=1e-4 warmup=100 beta2=0.99"
    )
    size = "num_layers=6 d_model=384 num_heads=6 dropout=0.2 max_length=256"
    return Study(
        "addition",
        "paper",
        f"Addition of three digits, answers in {name} order",
        (_decoder("decoder", recipe, f"position=learned task_positions=false {size}"),),
        (
            Measure("iid", "iid", "exact_match", headline="in"),
            Measure("digits", "iid", "position_accuracy"),
            Measure("test", "test", "exact_match", headline="out"),
        ),
        variants=("addition",),
        name=name,
        parameters={"train_digits": 3, "test_digits": (3, 4), "order": name},
        rows={"train": 10_000, "iid": 10_000, "test": 1_000},
        seeds=3,
        eval_splits=("iid",),
        departures=(
            "each row stands alone, with the loss on its answer (program: one stream of "
            "characters, with the loss on all)",
        ),
    )


def _small_order(name: str) -> Study:
    """Half of the rows, and two narrow layers."""
    recipe = "steps=4000 batch_size=128 learning_rate=1e-3 warmup=100 clip=1 validate_every=400"
    size = "num_layers=2 d_model=64 num_heads=4 max_length=64"
    return dataclasses.replace(
        _order(name),
        profile="cpu",
        recipes=(_decoder("decoder", recipe, f"position=learned task_positions=false {size}"),),
        rows={"train": 5_000, "iid": 1_000, "test": 150},
    )


#: At the papers' sizes, and for two cores.
PAPER = (LENGTHS, *map(_order, ("reversed", "plain")))
STUDIES = (LENGTHS_CPU, *map(_small_order, ("reversed", "plain")))
