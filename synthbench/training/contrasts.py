"""Contrasts of the papers, derived from their tables, and what our runs say of each.

A contrast is a pair of models of one published table whose figures on one measure differ: by at
least the larger of their deviations, or by more than `LEAST` where the paper gives none. A figure
of one published run makes none, because nothing is known of its spread. Nobody picks them.

`synthbench reproduce` and the page of results print them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from synthbench.training.models import MODELS
from synthbench.training.recipes import STUDIES
from synthbench.training.recipes.base import Published, Study
from synthbench.training.significance import LEVEL, MeanOfRuns, fisher, holm, welch
from synthbench.training.train_fit import NOT_FITTED, state_of

#: The least difference of two published figures without deviations.
LEAST = 0.05
#: The fewest runs that a difference of means can be tested with, and one of shares of runs: by an
#: exact test three runs of each model never differ.
_RUNS, _EXACT_RUNS = 3, 20
#: Metrics that say when, or in how many runs, a moment came. A run without one is what they count,
#: whether it is fitted or not.
_MOMENTS = ("eureka_ratio", "eureka_epoch")
#: Metrics that are no share of rows.
NO_SHARES = (*_MOMENTS, "mse", "distance", "halting")
#: Fields of a recipe that do not change what is learned.
_NAMES = ("name", "model", "options", "log_gradients")

SAME, REVERSED, NO_DIFFERENCE = "same order", "reversed", "no difference"
UNFITTED, TOO_FEW, ONE_RUN, NOT_RUN = NOT_FITTED, "too few runs", "one run", "not run"
#: What our runs may say of a contrast, best known first.
STATES = (SAME, REVERSED, NO_DIFFERENCE, UNFITTED, TOO_FEW, ONE_RUN, NOT_RUN)


@dataclasses.dataclass(frozen=True)
class Contrast:
    """Two models of a published table that differ on a measure.

    Attributes:
        task: name of the task.
        study: name of the study that has both models.
        variant: the variant that both are trained on.
        measure: the name of the measure.
        metric: what it measures.
        models: the model with the higher figure, then the other.
        published: their figures, the higher one first.
        source: paper and table.
    """

    task: str
    study: str
    variant: str
    measure: str
    metric: str
    models: tuple[str, str]
    published: tuple[Published, Published]
    source: str

    @property
    def table(self) -> str:
        """The table of `source`, without the part of it that stands in brackets."""
        return self.source.partition(" (")[0]


@dataclasses.dataclass(frozen=True)
class Finding:
    """What the runs of one comparison say of a contrast.

    Attributes:
        contrast: the paper's.
        state: one of `STATES`.
        profile: the profile of the runs; empty if there are none.
        figures: our figures in the order of the contrast's models; empty if one is not there.
        p: the chance of a difference as large if there were none, corrected by Holm's procedure for
            the contrasts of one table; None if it was not tested.
        unlike: in what the recipes differ besides the models; empty if in nothing.
        parameters: the number of parameters of either model; 0 if there are no runs.
    """

    contrast: Contrast
    state: str
    profile: str = ""
    figures: tuple[MeanOfRuns, ...] = ()
    p: float | None = None
    unlike: tuple[str, ...] = ()
    parameters: tuple[int, int] = (0, 0)


def derive(studies: Iterable[Study]) -> tuple[Contrast, ...]:
    """The contrasts of the tables that the studies at the papers' sizes have the figures of."""
    found = []
    for study in studies:
        for variant, measure in itertools.product(study.variants, study.measures):
            figures = {
                recipe.title: figure
                for recipe in study.recipes
                if (figure := recipe.published.get((variant, measure.name))) and figure.runs != 1
            }
            for pair in itertools.combinations(figures, 2):
                higher, lower = sorted(pair, key=lambda one: -figures[one].value)
                both = figures[higher], figures[lower]
                if both[0].source == both[1].source and _differ(*both):
                    place = (study.task, study.name, variant, measure.name, measure.metric)
                    found.append(Contrast(*place, (higher, lower), both, both[0].source))
    return tuple(found)


def _differ(higher: Published, lower: Published) -> bool:
    known = [one.deviation for one in (higher, lower) if one.deviation is not None]
    difference = round(higher.value - lower.value, 12)  # of rounded figures, so free of dust
    return difference >= max(known) and difference > 0 if known else difference > LEAST


CONTRASTS = derive(study for study in STUDIES if study.profile == "paper")


def judge(comparison: Mapping[str, Any]) -> list[Finding]:
    """What a comparison of `reproduce` says of every contrast of its task and study.

    A study that the paper does not have is held against the paper's main one, as far as its models
    stand there.

    Means over seeds are compared by Welch's test, numbers of runs by Fisher's exact test; both are
    two-sided and corrected for the number of contrasts of one table that were run (Holm). A model
    that has not learned its training rows shows nothing, but its contrasts count in that number, so
    that fewer fitted runs do not make the others more significant. A Eureka-moment counts whether a
    run is fitted or not.
    """
    of_task = [one for one in CONTRASTS if one.task == comparison["task"]]
    of_paper = comparison["study"] in {one.study for one in of_task}
    study = comparison["study"] if of_paper else "main"
    findings = [_compare(one, comparison) for one in of_task if one.study == study]
    findings = [one for one in findings if of_paper or one.state != NOT_RUN]
    for table in dict.fromkeys(one.contrast.table for one in findings):
        places = [place for place, one in enumerate(findings) if one.contrast.table == table]
        tested = [place for place in places if findings[place].p is not None]
        run = sum(findings[place].state != NOT_RUN for place in places)
        chances = [p for place in tested if (p := findings[place].p) is not None]
        corrected = holm(chances, run - len(chances))
        for place, p in zip(tested, corrected, strict=True):
            first, second = (figure.mean for figure in findings[place].figures)
            order = SAME if first > second else REVERSED
            state = order if p < LEVEL else NO_DIFFERENCE
            findings[place] = dataclasses.replace(findings[place], p=p, state=state)
    return findings


def _compare(contrast: Contrast, comparison: Mapping[str, Any]) -> Finding:
    """A finding whose p is not yet corrected and whose state is that of figures without order."""
    lines = [_line(contrast, place, comparison) for place in (0, 1)]
    measure = next((m for m in comparison["measures"] if m["name"] == contrast.measure), None)
    if measure is None or lines[0] is None or lines[1] is None:
        return Finding(contrast, NOT_RUN)
    figures = tuple(
        _mean_of_runs(line["measures"][contrast.measure], measure) for line in lines if line
    )
    profile = comparison["profile"]
    common = {
        "profile": profile,
        "unlike": unlike(lines[0], lines[1]),
        "parameters": (lines[0]["model_parameters"], lines[1]["model_parameters"]),
    }
    fewest = min(len(figure.values) for figure in figures)
    if not fewest:  # no run had a moment, so nothing is known of when it comes
        return Finding(contrast, UNFITTED, profile)
    found = Finding(contrast, NO_DIFFERENCE, figures=figures, **common)
    metric = contrast.metric
    unfitted = NOT_FITTED in (state_of(lines[0]["runs"]), state_of(lines[1]["runs"]))
    if unfitted and metric not in _MOMENTS:
        return dataclasses.replace(found, state=UNFITTED)
    if fewest == 1:
        return dataclasses.replace(found, state=ONE_RUN)
    if fewest < (_EXACT_RUNS if metric == "eureka_ratio" else _RUNS):
        return dataclasses.replace(found, state=TOO_FEW)
    return dataclasses.replace(found, p=_chance(metric, *figures))


def _mean_of_runs(figure: Mapping[str, Any], measure: Mapping[str, Any]) -> MeanOfRuns:
    """One figure, with the rows that a share is taken on."""
    known = [value for value in figure["values"] if value is not None]
    rows = figure.get("rows") or measure.get("rows")  # a line of its own, if variants differ
    return MeanOfRuns(known, None if measure["metric"] in NO_SHARES else rows)


def _chance(metric: str, first: MeanOfRuns, second: MeanOfRuns) -> float:
    """The p of a difference between two figures, not yet corrected."""
    if metric != "eureka_ratio":
        return welch(first, second)
    counts = (int(sum(first.values)), len(first.values), int(sum(second.values)))
    return fisher(*counts, len(second.values))


def _line(
    contrast: Contrast, place: int, comparison: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Our line of one of a contrast's models, None if it was not run as in this table."""
    for line in comparison["models"]:
        if (line["variant"], line["model"]) == (contrast.variant, contrast.models[place]):
            beside = line["measures"].get(contrast.measure, {}).get("published")
            same = beside is not None and beside["source"] == contrast.source
            found: Mapping[str, Any] | None = line if same else None
            return found
    return None


def unlike(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[str, ...]:
    """What the recipes of two lines of a comparison differ in, besides what makes their models.

    Empty if the models are of one class and nothing but the switches of their names, or one single
    setting, differs.
    """
    recipes = [line["recipes"][0] for line in (first, second)]
    settings = [
        {**{k: v for k, v in one.items() if k not in _NAMES}, **one["options"]} for one in recipes
    ]
    missing = object()
    keys = dict.fromkeys(key for one in settings for key in one)
    differing = [k for k in keys if len({repr(one.get(k, missing)) for one in settings}) > 1]
    models = [MODELS.get(one["model"]) for one in recipes]
    references = {model and model.reference for model in models}
    if len(references) > 1:
        return ("the kind of model", *differing)
    alone = recipes[0]["model"] == recipes[1]["model"] and len(differing) == 1
    return () if alone else tuple(differing)
