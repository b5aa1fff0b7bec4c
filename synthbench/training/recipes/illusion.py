"""Recipes of The Illusion of State (Merrill, Petty, Sabharwal, ICML 2024): state-tracking.

Figure 3 shows how many layers a model needs to have 90% of the rows of one length right in every
place. It is a picture, so it gives no figures. Sizes are those of the published
program, which trains on the rows of one length and on all pairs, for at most 500 epochs, and stops
at 0.99 on validation. Here all epochs are run. Mamba and S4 lack counterparts of their own: the
gated diagonal recurrence is the simplest of their family. The published Transformer has no
positions, because its program takes the axis of rows for that of places; `main` has the positions
that were meant, and the study `no-positions` has none.

The profile `cpu` asks what later work asks of the same groups (Grazzi et al., ICLR 2025): is a
product that is learned on short rows carried to long ones? All models of a study see the same
number of rows. Their sizes follow trials by hand of one seed each. Sinusoidal positions were added
last: of the three kinds only they tell apart the places of a row that repeats its first element.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe, Study

_PLACES = "position_accuracy"
#: The longest rows of the paper, and all pairs of the three groups of order 60.
_LENGTH, _PAIRS = 20, 3_600
#: At most 500 epochs of 800,000 rows and all pairs, in batches of 512.
_STEPS = 500 * (800_000 + _PAIRS) // 512
_LONGER_ROWS = "tested on longer rows, too (paper: at the trained length, at most 20)"
#: So attention with rotary positions or none has one answer for all first places of a row that
#: repeat one element, and cannot have 0.99 of the places of Z2 right.
_NO_START = "no start symbol (program: one before the elements)"
_POSITIONS = ("none", "rotary", "sinusoidal")


def _published(name: str, model: str, **options: Any) -> Recipe:
    return Recipe(
        name,
        model,
        steps=_STEPS,
        batch_size=512,
        learning_rate=1e-4,
        weight_decay=0.01,
        validate_every=1_000,
        options=options,
    )


def _layers(model: str, **options: Any) -> list[Recipe]:
    """A model with one to four layers."""
    name = model.removeprefix("causal-")
    return [
        _published(f"{name}-{count}", model, num_layers=count, **options) for count in range(1, 5)
    ]


_TRANSFORMER: dict[str, Any] = {"d_model": 512, "num_heads": 8, "order": "post"}

PAPER = Study(
    task="state-tracking",
    profile="paper",
    title="How many layers a length needs",
    variants=("Z60", "A4xZ5", "A5"),
    parameters={"train_lengths": (2, _LENGTH), "validation_lengths": (_LENGTH,)},
    unpublished=("test_lengths",),
    rows={"train": 800_000 + _PAIRS},
    select="validation",
    eval_splits=("validation",),
    seeds=3,
    measures=(
        Measure("whole rows", "iid", "exact_match", headline="in"),
        Measure("places", "iid", _PLACES),
        Measure("places at 64", "test", _PLACES, where=("length", 64), headline="out"),
    ),
    recipes=(
        _published("rnn", "elman", d_model=2_048, d_embedding=512),
        _published("gru", "gru", d_model=2_048, d_embedding=512),
        _published("lstm", "lstm", d_model=2_048, d_embedding=512, dropout=0.0),
        *_layers("causal-transformer", position="sinusoidal", **_TRANSFORMER),
        *_layers("diagonal", d_model=512, kernel=4, mlp=0),
    ),
    departures=(
        "all epochs are run (program: until 0.99 on validation)",
        "one learning rate, 0.0001 (program: 0.00005 for the Transformer)",
        "sinusoidal positions (program: those of rows in a batch)",
        "gated diagonal recurrences (paper: Mamba and S4)",
        _LONGER_ROWS,
        _NO_START,
    ),
)
NO_POSITIONS = dataclasses.replace(
    PAPER,
    name="no-positions",
    title="The Transformer as it was published, without positions",
    recipes=tuple(_layers("causal-transformer", position="none", **_TRANSFORMER)),
    departures=tuple(
        text for text in PAPER.departures if not text.startswith(("sinusoidal", "gated"))
    ),
)


def places_at(*lengths: int) -> tuple[Measure, ...]:
    """The share of right places on rows as in training, and at lengths beyond them."""
    return (
        Measure("iid", "iid", _PLACES, headline="in"),
        *(
            Measure(
                f"length {length}",
                "test",
                _PLACES,
                where=("length", length),
                headline="out" if length == lengths[-1] else "",
            )
            for length in lengths
        ),
    )


def _small(name: str, model: str, steps: int = 2_000, rate: float = 3e-3, **options: Any) -> Recipe:
    return Recipe(
        name,
        model,
        steps=steps,
        batch_size=128,
        learning_rate=rate,
        weight_decay=0.01,
        clip=1.0,
        schedule="cosine",
        warmup=100,
        validate_every=steps // 10,
        options=options,
    )


def _lstm(width: int, **changes: Any) -> Recipe:
    return _small("lstm", "lstm", d_model=width, d_embedding=width, dropout=0.0, **changes)


def _attention(position: str, width: int, layers: int = 1, **changes: Any) -> Recipe:
    sizes = {"d_model": width, "num_layers": layers, "mlp": 2 * width}
    return _small(
        f"attention-{position}", "causal-transformer", position=position, **sizes, **changes
    )


def _one_layer(model: str) -> Recipe:
    return _small(model, model, d_model=32, num_layers=1, mlp=64)


#: About 8,700 parameters each. On rows of up to 32 elements.
MAIN = Study(
    task="state-tracking",
    profile="cpu",
    title="A product carried from 32 elements to 256",
    variants=("Z2", "S3"),
    eval_splits=("iid",),
    seeds=3,
    measures=places_at(64, 128, 256),
    recipes=(_lstm(32), *(_attention(position, 32) for position in _POSITIONS)),
    departures=(_LONGER_ROWS, _NO_START),
)
EIGENVALUES = dataclasses.replace(
    MAIN,
    name="eigenvalues",
    title="Parity by linear recurrences with and without negative eigenvalues",
    variants=("Z2",),
    recipes=tuple(map(_one_layer, ("diagonal", "diagonal-signed", "deltanet", "deltanet-signed"))),
)
#: A little longer rows in training, as in the trials by hand that `EIGENVALUES` follows.
LONGER = dataclasses.replace(
    EIGENVALUES,
    name="eigenvalues-40",
    title="The same linear recurrences, trained on rows of up to 40 elements",
    parameters={"train_lengths": tuple(range(1, 41))},
)
#: As the paper trains: on the rows of one length, and on all pairs.
A5 = dataclasses.replace(
    MAIN,
    name="a5",
    title="A group that is not solvable",
    variants=("A5",),
    parameters={"train_lengths": (1, 2, 16)},
    recipes=tuple(
        dataclasses.replace(recipe, batch_size=256)
        for recipe in (_lstm(128, steps=3_000), _attention("rotary", 128, steps=3_000))
    ),
)
SHORT = dataclasses.replace(
    MAIN,
    name="short",
    title="Two layers of attention that see short rows alone",
    variants=("Z2",),
    parameters={"train_lengths": tuple(range(1, 17))},
    recipes=tuple(
        _attention(position, 64, layers=2, steps=4_000, rate=1e-3) for position in _POSITIONS
    ),
)


def _depths(model: str, *depths: int, **options: Any) -> tuple[Recipe, ...]:
    """A model, 64 wide, with each of these numbers of layers."""
    name = model.removeprefix("causal-")
    return tuple(
        dataclasses.replace(
            _small(f"{name}-{depth}", model, 3_000, 2e-3, d_model=64, num_layers=depth, **options),
            start=True,
        )
        for depth in depths
    )


#: Figure 3's question at sizes for two cores: each model learns all lengths at once.
LAYERS = dataclasses.replace(
    MAIN,
    name="layers",
    title="Whole rows by number of layers",
    variants=("A5", "S5"),
    parameters={"train_lengths": tuple(range(1, 26))},
    rows={"iid": 1_100, "validation": 200, "test": 300},
    stream=True,
    least=0.9,
    measures=tuple(
        Measure(f"length {length}", "iid", "exact_match", where=("length", length))
        for length in range(5, 26, 5)
    ),
    recipes=(
        *_depths("lstm", 1, 2, d_embedding=64, dropout=0.0),
        *_depths("causal-transformer", 1, 2, 3, 4, position="rotary"),
        *_depths("diagonal-signed", 1, 2, 3, 4),
    ),
    departures=("one model for all lengths (paper: one for each)", _LONGER_ROWS),
)

STUDIES = (PAPER, NO_POSITIONS, MAIN, EIGENVALUES, LONGER, A5, SHORT, LAYERS)
