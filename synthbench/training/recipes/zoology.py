"""Recipes of Zoology (Arora, Eyuboglu et al., ICLR 2024): multi-query associative recall.

Figure 2 shows accuracy by width at three sizes. It is a picture, so figures of the paper are not
here. Every model is trained at each size by itself. Sizes are those of the published program: two
layers without MLP, learned positions for attention alone, and 64 epochs. It chooses the best of
four learning rates, and when to stop, on the rows of test. Here the rate is chosen on validation,
and the studies `rates` have all four. Its rate falls once an epoch, here at every step. Its output
has the weights of the embedding, here weights of its own. H3, Hyena, RWKV and Based are not here.

At the profile `cpu` there are fewer tokens, and models see fewer rows.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe, Study

_PLACES = "position_accuracy"
_MEASURES = (
    Measure("iid", "iid", _PLACES, headline="in"),
    Measure("validation", "validation", _PLACES),
    Measure("more pairs or places", "test", _PLACES, headline="out"),
)
#: The names of the recipes, each with its model.
_MODELS = {
    "attention": "causal-transformer",
    "lstm": "lstm",
    "diagonal": "diagonal",
    "deltanet": "deltanet",
    "base-convolution": "base-convolution",
}
#: Four learning rates on a logarithmic scale, in the paper and at the profile `cpu`.
_PAPER_RATES, _RATES = (1e-4, 4.6e-4, 2.2e-3, 1e-2), (1e-3, 2.2e-3, 4.6e-3, 1e-2)


def _options(name: str, width: int, longest: int, dropout: float) -> dict[str, Any]:
    """Two layers of this width for rows of up to `longest` places."""
    options: dict[str, Any] = {"d_model": width, "dropout": dropout}
    if name == "lstm":
        return {**options, "d_embedding": width, "num_layers": 2}
    if name == "base-convolution":
        return {**options, "kernels": (3, longest)}
    if name == "attention":
        options |= {"num_heads": 1, "position": "learned", "max_length": longest}
        options["weight_dropout"] = dropout
    return {**options, "mlp": 0}


def _with_rates(study: Study, name: str, rates: tuple[float, ...], **changes: Any) -> Study:
    """Every model of a study with each of these learning rates."""
    recipes = tuple(
        dataclasses.replace(recipe, name=f"{recipe.name}-{rate:g}", learning_rate=rate)
        for recipe in study.recipes
        for rate in rates
    )
    title = f"{study.title}: four learning rates"
    return dataclasses.replace(study, name=name, title=title, recipes=recipes, **changes)


# The paper's sizes.


def _published(name: str, width: int, longest: int, batch_size: int) -> Recipe:
    return Recipe(
        f"{name}-{width}",
        _MODELS[name],
        steps=64 * 100_000 // batch_size,
        batch_size=batch_size,
        learning_rate=_PAPER_RATES[2],
        weight_decay=0.1,
        schedule="cosine",
        options=_options(name, width, longest, dropout=0.1),
    )


def _paper(name: str, length: int, pairs: int, batch_size: int = 512) -> Study:
    return Study(
        task="mqar",
        profile="paper",
        name=name,
        title=f"{pairs} pairs in {length} places",
        parameters={
            "length": length,
            "pairs": pairs,
            "test_lengths": (length, 2 * length, 4 * length),
            "test_pairs": (pairs, 2 * pairs, 4 * pairs),
        },
        unpublished=("test_lengths", "test_pairs"),
        select="validation",
        eval_splits=("validation",),
        seeds=3,
        departures=(
            "the rate falls at every step (program: once an epoch)",
            "the output has weights of its own (program: those of the embedding)",
            "rate and epoch are chosen on validation (program: on test)",
            "without H3, Hyena, RWKV and Based, and with LSTM and a diagonal recurrence",
            "tested on more pairs and places, too (paper: at the trained size)",
        ),
        measures=_MEASURES,
        recipes=tuple(
            _published(model, width, 4 * length, batch_size)
            for model in _MODELS
            for width in (64, 128, 256, 512)
        ),
    )


PAPER = _paper("main", 64, 4)

# Sizes for two cores.


def _small(name: str, rate: float, longest: int) -> Recipe:
    return Recipe(
        name,
        _MODELS[name],
        steps=750,
        batch_size=128,
        learning_rate=rate,
        weight_decay=0.1,
        clip=1.0,
        schedule="cosine",
        warmup=50,
        validate_every=75,
        options=_options(name, 64, longest, dropout=0.0),
    )


def _cpu(name: str, vocabulary: int, length: int, pairs: int, rates: tuple[float, ...]) -> Study:
    """A study whose `rates` are those of the models, in order."""
    return dataclasses.replace(
        PAPER,
        profile="cpu",
        name=name,
        title=f"{pairs} pairs in {length} places, {vocabulary} tokens",
        parameters={
            "vocabulary": vocabulary,
            "length": length,
            "pairs": pairs,
            "test_lengths": (length, 2 * length),
            "test_pairs": (pairs, 2 * pairs),
        },
        rows={"iid": 1_000, "validation": 1_000, "test": 1_500},
        select=None,
        recipes=tuple(
            _small(model, rate, 2 * length) for model, rate in zip(_MODELS, rates, strict=True)
        ),
    )


#: The rates with the best accuracy, and of equal ones the least loss, on validation in the studies
#: `rates`, `rates-64-8` and `rates-64-16` (one seed each), in the order of `_MODELS`.
CPU = _cpu("main", 64, 32, 4, rates=(1e-2, 1e-3, 4.6e-3, 1e-2, 1e-2))
MORE = _cpu("64-8", 128, 64, 8, rates=(4.6e-3, 1e-2, 1e-2, 1e-2, 1e-2))
MOST = _cpu("64-16", 128, 64, 16, rates=(4.6e-3, 4.6e-3, 1e-2, 2.2e-3, 4.6e-3))


def _harder(name: str, title: str, **parameters: Any) -> Study:
    """The smallest study with a parameter that the paper lacks, for the models that learn it."""
    return dataclasses.replace(
        CPU,
        name=name,
        title=f"{CPU.title}: {title}",
        parameters={**CPU.parameters, **parameters},
        unpublished=(*CPU.unpublished, *parameters),
        recipes=tuple(CPU.recipe(model) for model in ("attention", "deltanet")),
    )


HARDER = (
    _harder("noise", "half of the pairs are noise", noise=0.5),
    _harder("rewrites", "half of the keys are given a new value", rewrites=0.5),
    _harder("hops", "two-step look-up", hops=2),
)

STUDIES = (
    PAPER,
    _paper("128-8", 128, 8),
    _paper("256-16", 256, 16, batch_size=256),
    _with_rates(PAPER, "rates", _PAPER_RATES),
    CPU,
    MORE,
    MOST,
    *HARDER,
    *(
        _with_rates(study, name, _RATES, seeds=1)
        for study, name in ((CPU, "rates"), (MORE, "rates-64-8"), (MOST, "rates-64-16"))
    ),
)
