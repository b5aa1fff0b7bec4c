"""Recipes of Neural Networks and the Chomsky Hierarchy (Delétang et al., ICLR 2023): chomsky.

Sizes are those of sections A.2 and A.4. A score of table 2 is the best run of 30 (ten seeds, three
learning rates), of 150 for the Transformer (five kinds of positions) and of 180 for the Tape-RNN
(three numbers of computation tokens, two of tapes), chosen on the lengths of the test (A.5). Ours
are means over seeds. The figures below were seen in the paper's or in a later paper's text. The
Transformer of the study `main` has rotary positions. The study `positions` has the others.

At the profile `paper` the recurrent networks read one-hot vectors, as in the paper: the RNN has
67,330 parameters on strings of bits. At `cpu` they read embeddings.

As in the paper, rows are drawn without end, and all rows of a batch have one length. Places behind
the end of an answer have no label here. The published loss counts them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.tasks.registry import as_tasks
from synthbench.training.recipes.base import Measure, Published, Recipe, Study

_MODELS = ("rnn", "stack-rnn", "tape-rnn", "transformer", "lstm")
#: Lines of table 2, in per cent, in the order of `_MODELS`.
TABLE = """
modular-arithmetic-simple 100.0 100.0 100.0 24.2 100.0
parity-check              100.0 100.0 100.0 52.0 100.0
cycle-navigation              -     -     -  61.9     -
stack-manipulation         56.0 100.0 100.0 57.5  59.1
reverse-string             62.0 100.0 100.0 62.3  60.9
duplicate-string           50.3  52.8 100.0 52.8  57.6
odds-first                 51.0  51.9 100.0 52.8  55.6
"""
_TRANSFORMER: dict[str, Any] = {
    "causal": False,
    "order": "post",
    "num_layers": 5,
    "d_model": 64,
    "num_heads": 8,
    "mlp": 256,
    "activation": "relu",
    "dropout": 0.1,
    "attention_bias": False,
    "embedding_std": 0.02,
    "scaled_embedding": True,
}
_RECURRENT = {"d_model": 256, "one_hot": True}


def _published() -> dict[str, dict[tuple[str, str], Published]]:
    """The scores of table 2, by model, variant and measure."""
    published: dict[str, dict[tuple[str, str], Published]] = {model: {} for model in _MODELS}
    for line in TABLE.strip().splitlines():
        variant, *scores = line.split()
        for model, score in zip(_MODELS, scores, strict=True):
            if score == "-":
                continue
            share = round(float(score) / 100, 4)
            published[model][variant, "test"] = Published(share, "Chomsky hierarchy, table 2")
    return published


_PUBLISHED = _published()


def _recipe(name: str, model: str, **options: Any) -> Recipe:
    return Recipe(
        name,
        model,
        steps=1_000_000,
        batch_size=128,
        learning_rate=5e-4,
        clip=1.0,
        one_length=True,
        balanced=True,
        validate_every=10_000,
        options=options,
        published=_PUBLISHED.get(name, {}),
    )


def _transformer(name: str, position: str, **options: Any) -> Recipe:
    return _recipe(name, "causal-transformer", position=position, **_TRANSFORMER, **options)


PAPER = Study(
    task="chomsky",
    profile="paper",
    title="Strings longer than in training",
    variants=tuple(as_tasks("chomsky")[0].variants),
    stream=True,
    seeds=3,
    eval_splits=("iid",),
    measures=(
        Measure("iid", "iid", "position_accuracy", headline="in"),
        Measure("test", "test", "position_accuracy", headline="out"),
        Measure("whole answers, test", "test", "exact_match"),
    ),
    recipes=(
        _recipe("rnn", "elman", **_RECURRENT),
        _recipe("stack-rnn", "stack-rnn", **_RECURRENT),
        _recipe("tape-rnn", "tape-rnn", **_RECURRENT),
        _transformer("transformer", "rotary"),
        _recipe("lstm", "lstm", dropout=0.0, **_RECURRENT),
    ),
    departures=(
        "positions behind the end of an answer have no label (program: the loss counts them)",
        "means over seeds at one learning rate (paper: the best of 30 runs, of 150 for the "
        "Transformer and of 180 for the Tape-RNN, chosen on test)",
        "no computation tokens and one tape in the Tape-RNN (paper: 0, l or 2l tokens for "
        "length l, 1 or 4 tapes)",
        "no ReLU before the LSTM's output (program: one)",
        "PyTorch's initial parameters (program: Haiku's, with a forget bias of 1)",
    ),
)
POSITIONS = dataclasses.replace(
    PAPER,
    name="positions",
    title="The other four kinds of positions",
    recipes=(
        _transformer("transformer-none", "none"),
        _transformer("transformer-sinusoidal", "sinusoidal", count_down=True),
        _transformer("transformer-alibi", "alibi"),
        _transformer("transformer-relative", "relative"),
    ),
)


#: Variants with one answer a row. The rows of the others are about twice as long.
_ONE_ANSWER = (
    "even-pairs",
    "modular-arithmetic-simple",
    "parity-check",
    "cycle-navigation",
    "modular-arithmetic-brackets",
    "solve-equation",
    "missing-duplicate",
)


def _shorter(recipe: Recipe) -> Recipe:
    options = {name: value for name, value in recipe.options.items() if name != "one_hot"}
    return dataclasses.replace(
        recipe,
        steps=2_000,
        batch_size=64,
        learning_rate=1e-3,
        schedule="cosine",
        warmup=100,
        validate_every=200,
        variant_steps=dict.fromkeys(_ONE_ANSWER, 4_000),
        options=options,
    )


#: The paper's models on a thousandth or two of its rows: as many steps as the Transformer would
#: take in some five minutes of an idle core, by the time of twelve steps. The budget was fixed
#: after five trials of one seed, which stand on the page *Every size tried*: the RNN on cycle
#: navigation with three budgets, the LSTM on bucket sort, the Transformer on reverse string.
CPU, CPU_POSITIONS = (
    dataclasses.replace(
        study,
        profile="cpu",
        rows={"iid": 1_000, "test": 940},
        departures=("embeddings of tokens (paper: one-hot vectors)", *study.departures),
        recipes=tuple(map(_shorter, study.recipes)),
    )
    for study in (PAPER, POSITIONS)
)

STUDIES = (PAPER, POSITIONS, CPU, CPU_POSITIONS)
