"""The suite `layers`: settings that try what a sequence layer can compute.

It comes from no paper. Every layer is put into the same two blocks, 64 wide, with an MLP of 256
(`Mixers`). In a setting all layers have the same rows, steps and learning rates. Rows begin with a
start symbol, because attention cannot recognise the first position otherwise.

The rule of the suite: at least three of the five baselines learn 99% of their training rows in a
setting, with each of three seeds, within its steps. A GRU takes at most four minutes of one core.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from synthbench.training.recipes.base import Measure, Recipe, Study

#: The baselines: models of `models.MODELS`, the recurrent one first, whose recipe a layer borrows.
BASELINES: Mapping[str, Mapping[str, Any]] = {
    "gru": {"order": "pre", "num_layers": 2},
    "causal-transformer": {"position": "rotary"},
    "diagonal": {},
    "diagonal-signed": {},
    "deltanet-signed": {},
}
#: The learning rates of which each layer has the best, and the seeds at that rate.
RATES = (2e-3, 1e-3, 4e-3)
SEEDS = 3
#: The size of a state, of stored figures.
WIDTH = 64


@dataclasses.dataclass(frozen=True)
class SuiteSetting:
    """A setting of the suite.

    Attributes:
        name: its name in tables and files.
        study: the study, with one recipe for each baseline and rate.
        validation: the measure by which the rate is chosen. None where there is one rate.
        passed: the meaning of a high figure on longer rows.
        failed: the meaning of a low figure there, of a layer that has learned its rows.
        quick: whether it is part of the profile `quick`.
    """

    name: str
    study: Study
    validation: Measure | None
    passed: str
    failed: str
    quick: bool = False


def at_rate(recipe: Recipe, name: str, rate: float) -> Recipe:
    """A recipe of the suite at a learning rate, with the rate in its name."""
    return dataclasses.replace(recipe, name=f"{name}-{rate:g}", learning_rate=rate)


def _setting(
    name: str,
    task: str,
    variant: str,
    title: str,
    *,
    passed: str,
    failed: str,
    steps: int,
    validation: str | None = "validation",
    metric: str = "position_accuracy",
    rates: tuple[float, ...] = RATES,
    quick: bool = False,
    recipe: Mapping[str, Any] | None = None,
    **study: Any,
) -> SuiteSetting:
    values: dict[str, Any] = {
        "batch_size": 64,
        "weight_decay": 0.01,
        "clip": 1.0,
        "warmup": 50,
        "cooldown": 100,
        "validate_every": max(1, steps // 10),
        "start": True,
        **(recipe or {}),
    }
    recipes = tuple(
        at_rate(Recipe("", model, steps=steps, options=options, **values), model, rate)
        for model, options in BASELINES.items()
        for rate in rates
    )
    chosen_by = Measure("validation", validation, metric, headline="in") if validation else None
    beyond = Measure("beyond", "test", metric, headline="out")
    measures = (chosen_by, beyond) if chosen_by else (beyond,)
    fields = {"stream": True, "seeds": 1, "variants": (variant,), "name": f"layers-{name}", **study}
    return SuiteSetting(
        name, Study(task, "cpu", title, recipes, measures, **fields), chosen_by,
        passed, failed, quick,
    )  # fmt: skip


SETTINGS = (
    _setting(
        "Z2",
        "state-tracking",
        "Z2",
        "Parity so far, trained on 1 to 16 bits, tested on up to 64",
        passed="keeps a bit for ever (a linear state needs a factor of -1)",
        failed="counts within the trained length, or forgets",
        steps=1_500,
        quick=True,
        parameters={
            "train_lengths": tuple(range(1, 17)),
            "validation_lengths": (18, 20),
            "test_lengths": (24, 32, 48, 64),
        },
        rows={"iid": 500, "validation": 500, "test": 1_000},
    ),
    _setting(
        "S3",
        "state-tracking",
        "S3",
        "Products of permutations of three, trained on 1 to 8, tested on up to 32",
        passed="multiplies where order matters",
        failed="sums, or products of the trained length alone",
        steps=1_500,
        quick=True,
        parameters={
            "train_lengths": tuple(range(1, 9)),
            "validation_lengths": (9, 10),
            "test_lengths": (12, 16, 24, 32),
        },
        rows={"iid": 500, "validation": 500, "test": 1_000},
    ),
    _setting(
        "cycle",
        "chomsky",
        "cycle-navigation",
        "Place on a cycle of five, trained on walks of 1 to 10 steps, tested on up to 40",
        passed="counts modulo 5",
        failed="counts no further than in training",
        steps=3_000,
        validation="iid",
        parameters={"train_lengths": tuple(range(1, 11)), "test_lengths": (15, 20, 30, 40)},
        rows={"iid": 500, "test": 1_000},
    ),
    _setting(
        "bucket-sort",
        "chomsky",
        "bucket-sort",
        "Sorting digits from 0 to 4, trained on 1 to 10, tested on up to 40",
        passed="counts each symbol, to numbers that training did not have",
        failed="fills in the usual shares of the symbols (a rule that scores 0.72)",
        steps=1_500,
        validation="iid",
        quick=True,
        parameters={"train_lengths": tuple(range(1, 11)), "test_lengths": (15, 20, 30, 40)},
        rows={"iid": 500, "test": 1_000},
    ),
    _setting(
        "recall-4",
        "mqar",
        "default",
        "Recall of 4 pairs in 16 positions, tested on up to 8 pairs in 32",
        passed="finds by content",
        failed="its state does not hold more pairs than in training",
        steps=6_000,
        parameters={
            "vocabulary": 32,
            "length": 16,
            "pairs": 4,
            "test_lengths": (32,),
            "test_pairs": (4, 8),
        },
        rows={"iid": 500, "validation": 500, "test": 1_000},
    ),
    _setting(
        "selective-copying",
        "copying",
        "selective",
        "Copying 4 symbols among blanks in 16 positions, tested on 32 and 64",
        passed="stores by content, whatever the gaps",
        failed="knows the gaps of the trained length",
        steps=1_500,
        quick=True,
        parameters={"symbols": 8, "length": 16, "copied": 4},
        rows={"iid": 500, "validation": 500, "test": 1_000},
    ),
    _setting(
        "induction",
        "copying",
        "induction",
        "The symbol behind a mark, trained in 16 positions, tested on 32 and 64",
        passed="finds what followed a mark, however far back",
        failed="finds it at the trained distances alone",
        steps=1_500,
        parameters={"symbols": 8, "length": 16, "copied": 1},
        rows={"iid": 500, "validation": 500, "test": 1_000},
    ),
    _setting(
        "modular-addition",
        "modular-arithmetic",
        "add",
        "Addition modulo 97 from half of all equations, tested on the others",
        passed="has the rule",
        failed="has the pairs by heart",
        steps=3_000,
        validation=None,
        metric="accuracy",
        rates=(1e-3,),
        stream=False,
        recipe={"batch_size": 512, "weight_decay": 1.0, "beta2": 0.98, "cooldown": 0, "warmup": 10},
    ),
)
#: The suites by name.
SUITES: Mapping[str, tuple[SuiteSetting, ...]] = {"layers": SETTINGS}
