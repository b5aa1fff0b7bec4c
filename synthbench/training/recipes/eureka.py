"""Recipes of Eureka (Hoffmann et al., ICML 2024): parity and composites.

Section A.10 has the vision recipe, A.12 that of the reasoning task. Figures are those of tables 2
and 4 to 10 and of section 5.3. The paper does not say which of table 11's learning-rate schedules
a figure was taken with (each model has its own best one). `RATES` has those of the published
program. The study `schedules` takes all nine in turn.

Taken from its program, as the paper does not say it: labels smoothed by 0.1, drop path of 0.1,
weight decay of weights alone, images drawn anew in every epoch. The program computes in float16.
Here it is float32, or bfloat16 with `--precision bfloat16`.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from synthbench.training.recipes.base import Measure, Published, Recipe, Study

#: An accuracy above this marks a Eureka-moment: half of it can be guessed (section 4).
THRESHOLD = 0.7
MEASURES = (
    Measure("Eureka-ratio", "test", "eureka_ratio", headline="in"),
    Measure("Eureka-epoch", "test", "eureka_epoch"),
    Measure("accuracy", "test", "eureka_accuracy", headline="out"),
)

# The reasoning task.

_SOURCE_PARITY = "Eureka, section 5.3"
#: Rows of train, which are one batch, and the number of epochs (A.12).
_PARITY_ROWS, _PARITY_EPOCHS = 4392, 10_000


def reasoning(name: str, model: str, learned: int, **changes: Any) -> Recipe:
    """One of the three models of figure 6, of which `learned` of 5 runs had a Eureka-moment.

    AdamW's beta2 and the warm-up are those of Nanda et al. (2023), from whom the paper has its
    weight decay.
    """
    recipe = Recipe(
        name,
        model,
        steps=_PARITY_EPOCHS,
        batch_size=_PARITY_ROWS,
        learning_rate=1e-3,
        weight_decay=1.0,
        beta2=0.98,
        warmup=10,
        options={"d_model": 16, "num_heads": 4, "d_ff": 64, "dropout": 0.0, "max_length": 5},
        validate_every=50,
        log_gradients=True,
        published={
            ("default", "Eureka-ratio"): Published(learned / 5, _SOURCE_PARITY, runs=5),
        },
    )
    return dataclasses.replace(recipe, **changes)


#: Heat treatment on the reasoning task: from 1/3 to √d_head = 2 in the first half (section 5.2).
#: The paper gives its start for ViT only.
PARITY_HEAT = (1 / 3, 2.0, 0.5)

PARITY = Study(
    task="parity",
    profile="paper",
    title="Eureka-moments of a one-layer Transformer",
    eval_splits=("test",),
    eureka=THRESHOLD,
    measures=MEASURES,
    recipes=(
        reasoning("softmax", "parity-softmax", 3),
        reasoning("heat", "parity-softmax", 4, heat=PARITY_HEAT),
        reasoning("normsoftmax", "parity-normsoftmax", 5),
    ),
    departures=(
        "initial weights, AdamW's beta2 and the warm-up of Nanda et al. 2023 (paper: not said)",
        "learning rate 0.001 (paper: chosen between 0.0001 and 0.01 on one seed)",
        "heat treatment from temperature 1/3 (paper: a start for ViT alone)",
        "1,844 rows of test (paper: all that are not in train, 10,249)",
    ),
)


def _without(name: str, options: dict[str, Any], **changes: Any) -> Recipe:
    """Plain softmax, with PyTorch's default instead of one choice of Nanda et al."""
    recipe = reasoning(name, "parity-softmax", 3, published={}, **changes)
    return dataclasses.replace(recipe, options={**recipe.options, **options})


PARITY_INIT = dataclasses.replace(
    PARITY,
    name="initialisation",
    title="Which of Nanda et al.'s choices a Eureka-moment needs",
    recipes=(
        _without("embeddings", {"embedding_init": "unit"}),
        _without("weights", {"init": "default"}),
        _without("biases", {"attention_bias": True}),
        _without("betas", {}, beta2=0.999),
    ),
    departures=(),
)

#: "Between 1e-4 and 1e-2 on seed 0" (A.12), in steps that the paper does not give.
_RATES_SEARCHED = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
PARITY_RATES = dataclasses.replace(
    PARITY,
    name="rates",
    title="Learning rates from 0.0001 to 0.01 on seed 0",
    seeds=1,
    recipes=tuple(
        dataclasses.replace(
            recipe, name=f"{recipe.name}-{rate:g}", learning_rate=rate, published={}
        )
        for recipe in PARITY.recipes
        for rate in _RATES_SEARCHED
    ),
)

# Vision.

_BATCH = 512
#: Steps of an epoch: 60,000 rows in batches of 512.
_EPOCH = 117
#: Largest and smallest learning rate (table 11).
SCHEDULES = (
    (1e-3, 1e-5),
    (1e-3, 5e-6),
    (1e-4, 1e-5),
    (5e-4, 5e-6),
    (5e-4, 1e-6),
    (1e-4, 1e-6),
    (5e-5, 1e-6),
    (1e-5, 1e-6),
    (1e-5, 1e-7),
)
#: Largest and smallest learning rate of each model in the published program. Other models have
#: ViT's.
RATES = {
    "vit": (5e-4, 1e-6),
    "vit-heat": (1e-4, 1e-6),
    "vit-normsoftmax": (1e-5, 1e-6),
    "vit-normsoftmax-cold": (1e-5, 1e-6),
    "vit-normsoftmax-heat": (1e-5, 1e-6),
}
#: The low temperature that worked, and heat treatment from there to √d_head = 8 (A.10).
COLD: dict[str, Any] = {"options": {"temperature": 1 / 3}}
HEAT: dict[str, Any] = {"heat": (1 / 3, 8.0, 0.5)}

#: The models of table 4: name in `models.MODELS`, and differences from the common recipe.
VISION: dict[str, tuple[str, dict[str, Any]]] = {
    "resnet": ("resnet", {"log_gradients": False}),
    "vit-hottest": ("vit", {"options": {"temperature": 1 / 0.025}}),
    "vit-hotter": ("vit", {"options": {"temperature": 1 / 0.075}}),
    "vit-decay": ("vit", {"weight_decay": 0.5}),
    "vit": ("vit", {}),
    "vit-warmup": ("vit", {"warmup": 20 * _EPOCH}),
    "vit-balanced-gradients": ("vit", {"balance_gradients": True}),
    "vit-normsoftmax": ("vit-normsoftmax", {}),
    "vit-normsoftmax-cold": ("vit-normsoftmax", COLD),
    "vit-cold": ("vit", COLD),
    "vit-heat": ("vit", HEAT),
    "vit-normsoftmax-heat": ("vit-normsoftmax", HEAT),
    # Table 5 prints 0/0 runs of this model.
    "vit-6-heads-4-layers": (
        "vit",
        {"options": {"num_heads": 6, "d_model": 384, "num_layers": 4, "d_ff": 768}},
    ),
}


def vision(name: str, **changes: Any) -> Recipe:
    """A model of table 4."""
    model, differences = VISION[name]
    rate, least = RATES.get(name, RATES["vit"])
    recipe = Recipe(
        name,
        model,
        steps=300 * _EPOCH,
        batch_size=_BATCH,
        learning_rate=rate,
        min_learning_rate=least,
        schedule="cosine",
        warmup=5 * _EPOCH,
        weight_decay=0.05,
        decay_weights_only=True,
        label_smoothing=0.1,
        validate_every=_EPOCH,
        log_gradients=True,
    )
    return dataclasses.replace(recipe, **{**differences, **changes})


#: Tables 4 to 10, each headed by variant, table and title. A line has the model, the Eureka-ratio
#: and, if that is not 0, the accuracy in per cent and the Eureka-epoch, each with its deviation.
TABLES = """
main, 4, Two steps of which only the second is taught
    resnet                  10/10  99.40 0.10    3.0   0.0
    vit-hottest              3/10  89.40 0.08  174.67 37.82
    vit-hotter               6/10  90.13 0.40  181.34 24.94
    vit-decay                5/10  90.09 0.27  177.80 52.30
    vit                      7/10  89.48 1.10  207.43 46.65
    vit-warmup               8/10  87.65 6.48  205.87 57.05
    vit-balanced-gradients  10/10  87.96 2.45  119.4  62.70
    vit-normsoftmax         10/10  89.56 0.65   28.20 34.85
    vit-normsoftmax-cold    10/10  89.18 0.36   23.50  8.15
    vit-cold                10/10  89.35 0.28   66.60 58.55
    vit-heat                10/10  89.81 0.29   74.00 61.29
    vit-normsoftmax-heat    10/10  89.83 0.41   17.50  4.84

no-position, 5, Indicators and targets without fixed places
    resnet                  4/4  91.27 0.30    4.25 0.43
    vit                     0/4
    vit-warmup              1/4  89.55 0.0   117    0.0
    vit-balanced-gradients  0/4
    vit-normsoftmax         3/4  88.98 0.55  228.67 8.22
    vit-normsoftmax-cold    1/4  89.77 0.0    20    0.0
    vit-cold                1/4  89.68 0.0   191    0.0
    vit-heat                1/4  88.36 0.0   242    0.0
    vit-normsoftmax-heat    1/4  90.63 0.0    19    0.0
    vit-6-heads-4-layers    0/4

cifar, 6, Photographs as indicators
    vit              3/4  83.43 1.83  187.67 42.46
    vit-cold         4/4  86.86 0.75   76.50  8.90
    vit-normsoftmax  4/4  82.89 0.31  100.0  27.89

top-if-above, 7, The place is the indicator
    vit              4/4  91.47 0.13  13.75 2.19
    vit-cold         4/4  90.38 0.13   9.5  1.25
    vit-normsoftmax  4/4  90.84 0.27   9.25 1.09

same-color, 8, The colour is the indicator
    vit              4/4  98.35 0.58  91.5  60.04
    vit-cold         4/4  98.95 0.10   8.25  1.48
    vit-normsoftmax  4/4  98.93 0.03   7.75  0.43

color-or-fashion, 9, What to tell of one target
    vit              4/4  92.85 0.25  12.00 3.32
    vit-cold         4/4  92.53 0.40  20.75 2.49
    vit-normsoftmax  4/4  92.75 0.71  11.25 0.83

digit-grouping, 10, Indicators in two groups
    vit              0/4
    vit-cold         0/4
    vit-normsoftmax  0/4
"""


def _composites(text: str) -> Study:
    """A study from its part of `TABLES`."""
    head, *lines = text.strip().splitlines()
    variant, table, title = head.split(", ")
    source, recipes = f"Eureka, table {table}", []
    for line in lines:
        name, ratio, *figures = line.split()
        had, runs = map(int, ratio.split("/"))
        published = {(variant, "Eureka-ratio"): Published(had / runs, source, runs=runs)}
        if figures:
            accuracy, deviation, epoch, epoch_deviation = map(float, figures)
            spread = {"accuracy": round(deviation / 100, 4), "Eureka-epoch": epoch_deviation}
            for measure, value in (("accuracy", round(accuracy / 100, 4)), ("Eureka-epoch", epoch)):
                published[variant, measure] = (
                    Published(value, source, spread[measure], had)
                    if had > 1
                    else Published(value, source, runs=1)  # its deviation is printed as 0
                )
        recipes.append(vision(name, published=published))
    return Study(
        task="composites",
        profile="paper",
        name=variant,
        title=title,
        variants=(variant,),
        select="validation",
        eval_splits=("validation",),
        eureka=THRESHOLD,
        stream=True,
        seeds=runs,
        measures=MEASURES,
        recipes=tuple(recipes),
        departures=("float32 (program: float16)",),
    )


COMPOSITES, *OTHERS = map(_composites, TABLES.split("\n\n"))


def _every_schedule(name: str, had: int) -> list[Recipe]:
    """A model of table 2 with each learning-rate schedule, together one line of the table."""
    published = {("main", "Eureka-ratio"): Published(had / 36, "Eureka, table 2", runs=36)}
    return [
        dataclasses.replace(
            vision(name, learning_rate=rate, min_learning_rate=least, published=published),
            name=f"{name}-{rate:g}-{least:g}",
            line=name,
        )
        for rate, least in SCHEDULES
    ]


LEARNING_RATES = dataclasses.replace(
    COMPOSITES,
    name="schedules",
    title="How much depends on the learning-rate schedule",
    seeds=4,
    recipes=(
        *_every_schedule("vit", 4),
        *_every_schedule("vit-warmup", 14),
        *_every_schedule("vit-balanced-gradients", 5),
        *_every_schedule("vit-normsoftmax", 36),
        *_every_schedule("vit-cold", 20),
        *_every_schedule("vit-heat", 25),
    ),
)

STUDIES = (PARITY, PARITY_INIT, PARITY_RATES, COMPOSITES, *OTHERS, LEARNING_RATES)
