"""Recipes and studies: everything that a training run needs to know, as data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from synthbench.errors import ParameterError, unknown_name
from synthbench.tasks.base import Task
from synthbench.tasks.parameters import read_value
from synthbench.tasks.registry import task_from

#: Fields of a recipe that users do not change.
_FIXED = ("name", "model", "options", "by_variant", "variant_steps", "published", "line")
#: How a learning rate may change with the step.
SCHEDULES = ("constant", "cosine", "one-cycle")
#: Fields of a recipe with the values that are allowed, in words and as a test.
_LIMITS: tuple[tuple[tuple[str, ...], str, Callable[[Any], bool]], ...] = (
    (("batch_size", "validate_every"), "whole numbers from 1", lambda value: value >= 1),
    (
        ("steps", "learning_rate", "weight_decay", "clip", "warmup", "cooldown", "ponder"),
        "numbers from 0",
        lambda value: 0 <= value < math.inf,
    ),
    (("beta2", "label_smoothing"), "numbers from 0 to below 1", lambda value: 0 <= value < 1),
)


@dataclasses.dataclass(frozen=True)
class Measure:
    """A figure that is taken from every finished run.

    Attributes:
        name: its heading in tables.
        split: the split it is taken on.
        metric: one of the task's metrics, or
            `eureka_ratio`: whether the measured accuracy ever passed `Study.eureka`;
            `eureka_epoch`: the epoch at which it passed it;
            `eureka_accuracy`: the final accuracy of the runs that passed it (Eureka, section 4);
            `eureka_percent`: the epoch in per cent of the mean epoch of the line `percent_of`;
            `halting`: the mean number of steps before a column halts.
        where: column and value, if only rows with this value count.
        headline: `in` or `out`, if it is the task's main figure in or out of distribution.
        rounds: rounds in evaluation, if they differ from those in training. Only for looped models.
        percent_of: the line of the table that is 100 in `eureka_percent`.
    """

    name: str
    split: str
    metric: str
    where: tuple[str, Any] | None = None
    headline: str = ""
    rounds: int | None = None
    percent_of: str = ""


@dataclasses.dataclass(frozen=True)
class Published:
    """A paper's figure for one measure.

    Attributes:
        value: the mean over its seeds.
        source: paper and table, or section.
        deviation: its standard deviation, None if the paper does not give it.
        runs: the number of runs, None if the paper does not say.
    """

    value: float
    source: str
    deviation: float | None = None
    runs: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figure as JSON values, with `mean` for the value."""
        spread = {"deviation": self.deviation, "runs": self.runs}
        return {"mean": self.value, **spread, "source": self.source}


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One model and how it is trained.

    Attributes:
        name: its name on the command line and in tables.
        model: name of the model in `models.MODELS`.
        steps: optimiser steps; 0: there is nothing to learn.
        batch_size: rows of a batch.
        learning_rate: AdamW's learning rate. With a schedule, the largest.
        options: the model's sizes and switches.
        form: the form of a text task's rows, such as `masked-lm`. Empty: the task's first.
        start: rows of texts begin with a start symbol (`synthbench.tokens(..., start=True)`).
            Attention with rotary positions cannot recognise the first position otherwise.
        by_variant: further options for some of the task's variants.
        variant_steps: other numbers of steps for some of the task's variants.
        weight_decay: AdamW's weight decay.
        decay_weights_only: no weight decay of biases and LayerNorms, nor of a ViT's positions
            and class token. Embeddings of tokens and of their places decay.
        beta2: AdamW's decay rate of squared gradients.
        clip: largest norm of the gradient; 0: not clipped.
        label_smoothing: share of the target that is spread evenly over all classes.
        schedule: `constant`, `cosine` or `one-cycle`, after the warm-up.
        warmup: steps in which the learning rate rises from 1e-6.
        min_learning_rate: the last learning rate of `cosine`.
        cooldown: the run ends so many steps after it has learned its training rows, at the latest
            after `steps`. Its learning rate is constant after the warm-up and falls to 0 in these
            last steps. 0: the run takes all `steps`.
        validate_every: steps between two validations. The best parameters are chosen among those
            validated. The study's `eval_splits` are measured then, and at least ten times in a run.
        heat: first and last softmax temperature and the share of steps between them (Eureka,
            section 3).
        ponder: weight of the model's ponder cost in the loss (NDR, appendix A).
        one_length: all rows of a batch have the same length.
        balanced: all lengths are equally frequent.
        balance_gradients: scale the gradients of each layer's queries, keys and values to their
            mean norm (Eureka, A.4).
        log_gradients: record gradient norms of queries, keys and values whenever the evaluation
            splits are evaluated.
        published: the paper's figures, by variant and name of the measure.
        line: the line of the table, if several recipes share one. Default: `name`.
    """

    name: str
    model: str
    steps: int
    batch_size: int = 1
    learning_rate: float = 1e-3
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    form: str = ""
    start: bool = False
    by_variant: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    variant_steps: Mapping[str, int] = dataclasses.field(default_factory=dict)
    weight_decay: float = 0.0
    decay_weights_only: bool = False
    beta2: float = 0.999
    clip: float = 0.0
    label_smoothing: float = 0.0
    schedule: str = "constant"
    warmup: int = 0
    min_learning_rate: float = 0.0
    cooldown: int = 0
    validate_every: int = 1000
    heat: tuple[float, float, float] | None = None
    ponder: float = 0.0
    one_length: bool = False
    balanced: bool = False
    balance_gradients: bool = False
    log_gradients: bool = False
    published: Mapping[tuple[str, str], Published] = dataclasses.field(default_factory=dict)
    line: str = ""

    @property
    def title(self) -> str:
        """The line of the table that the recipe belongs to."""
        return self.line or self.name

    def for_variant(self, variant: str) -> Recipe:
        """The recipe with the options and the steps that this variant needs."""
        options = {**self.options, **self.by_variant.get(variant, {})}
        steps = self.variant_steps.get(variant, self.steps)
        return dataclasses.replace(
            self, options=options, steps=steps, by_variant={}, variant_steps={}
        )

    def changed(self, recipe: Mapping[str, Any], options: Mapping[str, Any]) -> Recipe:
        """A copy of the recipe with other values. Text is read by the field's type.

        A cooldown that is not among them becomes as short as other steps or another schedule need.

        Args:
            recipe: values of the recipe's own fields, such as `steps`.
            options: values of the model's options.

        Raises:
            UsageError: an unknown field or schedule.
            ParameterError: a value that cannot be read or is not allowed.
        """
        fields = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in _FIXED
        }
        values: dict[str, Any] = {}
        for name, value in recipe.items():
            if name not in fields:
                raise unknown_name("field of a recipe", name, fields)
            values[name] = (
                _read_heat(value)
                if name == "heat"
                else read_value(f"Recipe {name}", value, fields[name])
            )
        read = {name: read_option(value) for name, value in options.items()}
        changed = dataclasses.replace(self, **values, options={**self.options, **read})
        if "cooldown" not in recipe:
            most = changed.steps if changed.schedule == "constant" else 0
            changed = dataclasses.replace(changed, cooldown=min(self.cooldown, most))
        changed._check()
        return changed

    def _check(self) -> None:
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        for names, allowed, is_allowed in _LIMITS:
            for name in names:
                if not is_allowed(value := getattr(self, name)):
                    raise ParameterError(f"Recipe {name}={value}: allowed are {allowed}.")
        if not 0 <= self.min_learning_rate <= self.learning_rate:
            raise ParameterError(
                f"Recipe min_learning_rate={self.min_learning_rate}: allowed are numbers from 0 to "
                f"the learning_rate, {self.learning_rate}."
            )
        if self.cooldown and (self.schedule != "constant" or self.cooldown > self.steps):
            raise ParameterError(
                f"Recipe cooldown={self.cooldown}: allowed are 0 to {self.steps} steps, with "
                "schedule=constant."
            )
        if self.heat is not None:
            first, last, share = self.heat
            if not (0 < first < math.inf and 0 < last < math.inf and 0 <= share <= 1):
                raise ParameterError(
                    f"Recipe heat={first},{last},{share}: allowed are two temperatures above 0 and "
                    "a share of the steps from 0 to 1."
                )

    def to_dict(self) -> dict[str, Any]:
        """The values that determine a run of one variant, as JSON. Without the paper's figures."""
        values = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("by_variant", "variant_steps", "published", "line")
        }
        options = {name: _plain(value) for name, value in self.options.items()}
        return {**values, "options": options, "heat": _plain(self.heat)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Recipe:
        """The recipe that `to_dict` gave these values."""
        return cls(**{**values, "heat": _read_heat(values["heat"])})


@dataclasses.dataclass(frozen=True)
class Study:
    """Recipes that are compared: a table of a paper, or a smaller version of it.

    Attributes:
        task: name of the task.
        name: `main`, or what an ablation varies.
        profile: `paper`, `cpu` or `quick`.
        title: its subject, in a few words.
        recipes: the models, in the table's order.
        measures: the table's columns.
        variants: the task's variants that every model is trained on.
        parameters: the task's parameters that differ from their defaults.
        unpublished: parameters that the paper does not have. At the profile `paper` they are ours.
        rows: numbers of rows of splits that differ from the paper's.
        stream: whether training is on fresh rows, unless the user asks for the train split.
        seeds: the number of seeds.
        select: the split that the best checkpoint is chosen by; None: the last one counts. The
            last also counts if it has learned the training rows and the best has not.
        eval_splits: the splits that are measured during training.
        eureka: the accuracy that marks a Eureka-moment; 0 if there is no such moment.
        least: the share of whole rows that the report of least layers asks for; 0: without it.
        departures: differences from the paper besides parameters, rows and sizes, in words such
            as `X (paper: Y)`.
    """

    task: str
    profile: str
    title: str
    recipes: tuple[Recipe, ...]
    measures: tuple[Measure, ...]
    variants: tuple[str, ...] = ("default",)
    name: str = "main"
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    unpublished: tuple[str, ...] = ()
    rows: Mapping[str, int] = dataclasses.field(default_factory=dict)
    stream: bool = False
    seeds: int = 5
    select: str | None = None
    eval_splits: tuple[str, ...] = ()
    eureka: float = 0.0
    least: float = 0.0
    departures: tuple[str, ...] = ()

    def tasks(self, variants: Sequence[str] = ()) -> tuple[Task, ...]:
        """The study's task in each of its variants, or in those given."""
        names = variants or self.variants
        return tuple(task_from(self.task, name, self.parameters) for name in names)

    @property
    def usual(self) -> tuple[str, tuple[str, ...], Mapping[str, Any]]:
        """Task, variants and parameters, where the user chooses no others."""
        return self.task, self.variants, self.parameters

    @property
    def rows_made(self) -> dict[str, int]:
        """`rows` for a dataset that is made: it must have a train split, even beside a stream."""
        return {**self.rows, **({"train": 100} if self.stream else {})}

    def of(self, tasks: Sequence[Task]) -> Study:
        """The study on other variants of its task, or with other parameters."""
        variants = tuple(task.variant for task in tasks)
        return dataclasses.replace(
            self, variants=variants, parameters=tasks[0].parameters.changed()
        )

    def recipe(self, name: str) -> Recipe:
        """The recipe of this name.

        Raises:
            UsageError: an unknown recipe.
        """
        names = {recipe.name: recipe for recipe in self.recipes}
        if name not in names:
            raise unknown_name(f"model for {self.task} ({self.profile})", name, names)
        return names[name]


def settings(text: str) -> dict[str, str]:
    """The names and values of a text such as `steps=500 clip=1`."""
    return dict(pair.split("=") for pair in text.split())


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _read_heat(heat: Any) -> tuple[float, float, float] | None:
    if heat is None or heat == "none":
        return None
    try:
        first, last, share = heat.split(",") if isinstance(heat, str) else heat
    except (ValueError, TypeError):
        raise ParameterError(
            f"Recipe heat={heat!r:.60}: expected three numbers such as 0.33,8,0.5, or none."
        ) from None
    numbers = (read_value("Recipe heat", number, 1.0) for number in (first, last, share))
    return next(numbers), next(numbers), next(numbers)


def read_option(value: Any) -> Any:
    """A model's option. Text is read as a number, a truth value, a name, or several of them."""
    if not isinstance(value, str):
        return value
    if "," in value:
        return tuple(map(read_option, value.split(",")))
    for read in (int, float):
        try:
            return read(value)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(value.lower(), value)
