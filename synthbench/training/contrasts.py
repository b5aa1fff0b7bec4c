"""Contrasts of the papers, derived from their tables, and our results for each.

A contrast is a pair of models of one published table whose figures on one measure differ: by at
least the larger of their deviations, or by more than `LEAST` without deviations in the paper. A
figure of one published run does not count, because nothing is known of its spread.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from synthbench.text.tables import Table
from synthbench.training.cells import ONE_RUN, cell
from synthbench.training.recipes import STUDIES
from synthbench.training.recipes.base import Published, Study
from synthbench.training.significance import LEVEL, MeanOfRuns, fisher, holm, welch
from synthbench.training.train_fit import NOT_FITTED, state_of

#: The least difference of two published figures without deviations.
LEAST = 0.05
#: The fewest runs that a difference of means can be tested with, and one of shares of runs: by an
#: exact test three runs of each model never differ.
_RUNS, _EXACT_RUNS = 3, 20
#: Metrics that say when, or in how many runs, a moment came. They count runs without a moment,
#: whether it is fitted or not.
_MOMENTS = ("eureka_ratio", "eureka_epoch", "eureka_percent")
#: Metrics other than shares of rows.
NO_SHARES = (*_MOMENTS, "mse", "distance", "halting")

SAME, REVERSED, NO_DIFFERENCE = "same order", "reversed", "no difference"
UNFITTED, TOO_FEW = NOT_FITTED, "too few runs"


@dataclasses.dataclass(frozen=True)
class Contrast:
    """Two models of a published table that differ on a measure.

    Attributes:
        task: name of the task.
        study: name of the study that has both models.
        variant: the variant that both are trained on.
        measure: the name of the measure.
        metric: its metric.
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
        """The table of `source`, without its part in brackets."""
        return self.source.partition(" (")[0]


@dataclasses.dataclass(frozen=True)
class Finding:
    """The result of one comparison for a contrast.

    Attributes:
        contrast: the paper's.
        state: the verdict, such as `same order`.
        figures: our figures in the order of the contrast's models, as tables show them.
        means: the same with the value of each run.
        p: the p-value of their difference, corrected by Holm's procedure for the contrasts of one
            table; None if it was not tested.
    """

    contrast: Contrast
    state: str
    figures: tuple[str, str]
    means: tuple[MeanOfRuns, MeanOfRuns]
    p: float | None = None


def derive(studies: Iterable[Study]) -> tuple[Contrast, ...]:
    """The contrasts of the tables that the studies at the papers' sizes have the figures of."""
    contrasts = []
    for study in studies:
        # Those with `percent_of` are epochs once more.
        measures = [measure for measure in study.measures if not measure.percent_of]
        for variant, measure in itertools.product(study.variants, measures):
            figures = {
                recipe.title: figure
                for recipe in study.recipes
                if (figure := recipe.published.get((variant, measure.name))) and figure.runs != 1
            }
            for pair in itertools.combinations(figures, 2):
                higher, lower = sorted(pair, key=lambda title: -figures[title].value)
                both = figures[higher], figures[lower]
                if both[0].source == both[1].source and _differ(*both):
                    place = (study.task, study.name, variant, measure.name, measure.metric)
                    contrasts.append(Contrast(*place, (higher, lower), both, both[0].source))
    return tuple(contrasts)


def _differ(higher: Published, lower: Published) -> bool:
    known = [figure.deviation for figure in (higher, lower) if figure.deviation is not None]
    difference = round(higher.value - lower.value, 12)  # of rounded figures, so free of dust
    return difference >= max(known) and difference > 0 if known else difference > LEAST


CONTRASTS = derive(study for study in STUDIES if study.profile == "paper")


def judge(comparison: Mapping[str, Any]) -> list[Finding]:
    """Our results for every contrast whose two models a comparison of `reproduce` has.

    A study that the paper does not have is compared with the paper's main study.

    Means over seeds are compared by Welch's test, numbers of runs by Fisher's exact test. Both are
    two-sided and corrected for the number of contrasts of one table that were run (Holm). A model
    that has not learned its training rows shows nothing, but its contrasts count in that number, so
    that fewer fitted runs do not make the others more significant. A Eureka-moment counts whether a
    run is fitted or not.
    """
    of_task = [contrast for contrast in CONTRASTS if contrast.task == comparison["task"]]
    of_paper = comparison["study"] in {contrast.study for contrast in of_task}
    study = comparison["study"] if of_paper else "main"
    every = (_compare(contrast, comparison) for contrast in of_task if contrast.study == study)
    findings = [finding for finding in every if finding is not None]
    for table in dict.fromkeys(finding.contrast.table for finding in findings):
        places = [
            place for place, finding in enumerate(findings) if finding.contrast.table == table
        ]
        tested = [place for place in places if findings[place].p is not None]
        chances = [p for place in tested if (p := findings[place].p) is not None]
        corrected = holm(chances, len(places) - len(chances))
        for place, p in zip(tested, corrected, strict=True):
            first, second = (figure.mean for figure in findings[place].means)
            order = SAME if first > second else REVERSED
            state = order if p < LEVEL else NO_DIFFERENCE
            findings[place] = dataclasses.replace(findings[place], p=p, state=state)
    return findings


def _compare(contrast: Contrast, comparison: Mapping[str, Any]) -> Finding | None:
    """A finding whose p-value is not yet corrected, None if a model was not run."""
    lines = [_line(contrast, model, comparison) for model in contrast.models]
    measure = next((m for m in comparison["measures"] if m["name"] == contrast.measure), None)
    if measure is None or lines[0] is None or lines[1] is None:
        return None
    figures = [line["measures"][contrast.measure] for line in lines if line]
    metric = contrast.metric
    first, second = (_mean_of_runs(figure, measure) for figure in figures)
    shown = [cell(metric, figure, len(figure["values"])) for figure in figures]
    finding = Finding(contrast, UNFITTED, (shown[0], shown[1]), (first, second))
    fewest = min(len(first.values), len(second.values))
    unfitted = NOT_FITTED in (state_of(line["runs"]) for line in lines if line)
    if not fewest or (unfitted and metric not in _MOMENTS):  # or no run had a moment
        return finding
    if fewest == 1:
        return dataclasses.replace(finding, state=ONE_RUN)
    if fewest < (_EXACT_RUNS if metric == "eureka_ratio" else _RUNS):
        return dataclasses.replace(finding, state=TOO_FEW)
    return dataclasses.replace(finding, p=_chance(metric, first, second))


def _mean_of_runs(figure: Mapping[str, Any], measure: Mapping[str, Any]) -> MeanOfRuns:
    """One figure, with the rows that a share is taken on."""
    known = [value for value in figure["values"] if value is not None]
    rows = figure.get("rows") or measure.get("rows")  # a line of its own, if variants differ
    return MeanOfRuns(known, None if measure["metric"] in NO_SHARES else rows)


def _chance(metric: str, first: MeanOfRuns, second: MeanOfRuns) -> float:
    """The p-value of a difference between two figures, not yet corrected."""
    if metric != "eureka_ratio":
        return welch(first, second)
    counts = (int(sum(first.values)), len(first.values), int(sum(second.values)))
    return fisher(*counts, len(second.values))


def _line(
    contrast: Contrast, model: str, comparison: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Our line of one of a contrast's models, None if it was not run as in this table."""
    for line in comparison["models"]:
        if (line["variant"], line["model"]) == (contrast.variant, model):
            beside = line["measures"].get(contrast.measure, {}).get("published")
            if beside is not None and beside["source"] == contrast.source:
                ours: Mapping[str, Any] = line
                return ours
    return None


HEAD = ("the paper's contrast", "measure", "paper", "ours", "result", "table")


def contrasts_markdown(findings: Sequence[Finding]) -> str:
    """The contrasts of a comparison as a table in Markdown. Empty without contrasts."""
    lines = list(map(contrast_cells, findings))
    return Table(HEAD, lines).markdown() if lines else ""


def contrast_cells(finding: Finding) -> list[str]:
    """The cells of a finding below `HEAD`."""
    contrast = finding.contrast
    paper = " and ".join(cell(contrast.metric, p.to_dict(), p.runs) for p in contrast.published)
    names = [_names(contrast, "`"), _where(contrast), paper]
    return [*names, _ours(finding), finding.state, contrast.source]


def contrasts_notes(findings: Sequence[Finding]) -> list[str]:
    """The contrasts that a comparison reverses, for a terminal."""
    return [
        f"Reversed: {_names(finding.contrast)}, {_where(finding.contrast)}: {_ours(finding)}."
        for finding in findings
        if finding.state == REVERSED
    ]


def _names(contrast: Contrast, mark: str = "") -> str:
    """The models, the one with the higher figure first."""
    return " above ".join(f"{mark}{model}{mark}" for model in contrast.models)


def _where(contrast: Contrast) -> str:
    """The variant and the measure of a contrast."""
    variant = contrast.variant
    return contrast.measure if variant == "default" else f"{variant}, {contrast.measure}"


def _ours(finding: Finding) -> str:
    """Our two figures and the corrected p-value. Empty if a model shows nothing."""
    if finding.state == UNFITTED:
        return ""
    chance = ""
    if finding.p is not None:
        chance = ", p < 0.001" if finding.p < 0.001 else f", p = {finding.p:.2g}"
    return " and ".join(finding.figures) + chance
