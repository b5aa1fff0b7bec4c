"""The papers' contrasts: each names what exists, and is shown only by figures that show it."""

import dataclasses
import itertools

import pytest

from synthbench.training.contrasts import (
    CONTRASTS,
    NOT_RUN,
    NOT_SHOWN,
    SHOWN,
    Contrast,
    Side,
    judge,
    judge_one,
)
from synthbench.training.fit import FITTED, PLATEAU, UNFINISHED
from synthbench.training.recipes import STUDIES

CTL = Contrast(
    "ctl",
    "main",
    "One is better.",
    Side("forward", "ndr", "test"),
    Side("forward", "lstm", "test"),
    False,
    "A table",
)


def line(model, values, *states):
    return {
        "model": model,
        "variant": "forward",
        "measures": {measure: {"values": values} for measure in ("iid", "test")},
        "runs": [
            {"fit": {"state": state}, "eureka": {"epoch": 1.0} if value else None}
            for value, state in itertools.zip_longest(values, states, fillvalue=FITTED)
        ],
    }


def comparison(*lines, metric="accuracy"):
    return {
        "task": "ctl",
        "study": "main",
        "profile": "cpu",
        "measures": [{"name": measure, "metric": metric} for measure in ("iid", "test")],
        "models": list(lines),
    }


def test_every_contrast_names_models_variants_and_measures_of_a_study_for_two_cores_or_the_paper():
    assert len(CONTRASTS) >= 30
    for one in CONTRASTS:
        studies = [s for s in STUDIES if (s.task, s.name) == (one.task, one.study)]
        for side in (one.better, one.worse):
            assert any(
                side.variant in study.variants
                and side.model in {recipe.title for recipe in study.recipes}
                and side.measure in {measure.name for measure in study.measures}
                for study in studies
                if study.profile != "quick"
            ), (one, side)


def test_every_contrast_agrees_with_the_published_figures():
    for one in CONTRASTS:
        figures = []
        for side in (one.better, one.worse):
            (study,) = (
                s for s in STUDIES if (s.task, s.name, s.profile) == (one.task, one.study, "paper")
            )
            recipe = next(recipe for recipe in study.recipes if recipe.title == side.model)
            figures.append(recipe.published.get((side.variant, side.measure)))
        if None not in figures:
            better, worse = (figure.value for figure in figures)
            assert better < worse if one.below else better > worse, one.claim


@pytest.mark.parametrize(
    "better, worse, state",
    [
        ([1.0, 0.98, 0.99], [0.2, 0.3, 0.25], SHOWN),
        ([0.5, 0.9, 0.7], [0.6, 0.5, 0.7], NOT_SHOWN),  # the spread is as large as the difference
        ([0.2, 0.3], [0.9, 0.8], NOT_SHOWN),
        ([1.0, 1.0], [0.99, 0.99], NOT_SHOWN),  # the same in every run, but hardly different
        ([0.9], [0.7], SHOWN),
        ([0.9], [0.85], NOT_SHOWN),
    ],
)
def test_figures_show_a_contrast_if_they_differ_by_two_deviations(better, worse, state):
    assert judge_one(CTL, comparison(line("ndr", better), line("lstm", worse))).state == state


def test_a_model_that_is_not_trained_to_the_end_shows_nothing():
    for state, expected in ((UNFINISHED, NOT_SHOWN), (PLATEAU, SHOWN)):
        lines = line("ndr", [1.0, 1.0]), line("lstm", [0.2, 0.2], state)
        finding = judge_one(CTL, comparison(*lines))
        assert finding.state == expected
    assert (
        "runs of lstm are not trained to the end"
        in judge_one(CTL, comparison(line("ndr", [1.0]), line("lstm", [0.2], UNFINISHED))).evidence
    )


def test_a_model_that_was_not_trained_leaves_the_contrast_open():
    assert judge_one(CTL, comparison(line("ndr", [1.0]))).state == NOT_RUN


@pytest.mark.parametrize(
    "better, worse, state",
    [(20, 8, SHOWN), (20, 17, NOT_SHOWN), (5, 3, NOT_SHOWN), (8, 20, NOT_SHOWN)],
)
def test_numbers_of_runs_are_compared_exactly(better, worse, state):
    runs = 20 if max(better, worse) > 5 else 5
    values = [[1.0] * one + [0.0] * (runs - one) for one in (better, worse)]
    found = judge_one(
        CTL,
        comparison(
            *(line(name, one) for name, one in zip(("ndr", "lstm"), values, strict=True)),
            metric="eureka_ratio",
        ),
    )
    assert found.state == state
    assert found.figures == f"{better} of {runs} and {worse} of {runs} runs"


@pytest.mark.parametrize(
    "unlearned, unfinished, state",
    [
        (8, 2, SHOWN),
        (8, 4, NOT_SHOWN),  # 20 and at most 16
    ],
)
def test_a_run_that_may_still_have_its_moment_counts_as_if_it_had_it(unlearned, unfinished, state):
    values = [0.0] * unlearned + [1.0] * (20 - unlearned)
    worse = line("lstm", values, *[UNFINISHED] * unfinished)
    found = judge_one(CTL, comparison(line("ndr", [1.0] * 20), worse, metric="eureka_ratio"))
    assert found.state == state
    assert f"with the {unfinished} of them that are not trained to the end" in found.evidence


@pytest.mark.parametrize("first, state", [([1000.0, 1200.0], SHOWN), ([1000.0, None], NOT_SHOWN)])
def test_moments_stay_where_they_are_if_every_run_of_the_better_model_had_its_own(first, state):
    contrast = dataclasses.replace(CTL, below=True)
    later = line("lstm", [6000.0, 6400.0, None], FITTED, FITTED, UNFINISHED)
    found = judge_one(contrast, comparison(line("ndr", first), later, metric="eureka_epoch"))
    assert found.state == state


def test_of_two_profiles_the_one_that_shows_a_contrast_counts_and_the_other_is_named():
    sides = "ndr", "transformer"
    good = comparison(*(line(name, one) for name, one in zip(sides, ([1.0], [0.1]), strict=True)))
    bad = {**comparison(*(line(name, [0.5]) for name in sides)), "profile": "paper"}
    for comparisons in ([good, bad], [bad, good]):
        finding = next(
            one
            for one in judge(comparisons)
            if one.contrast.better == Side("forward", "ndr", "test")
            and one.contrast.worse == Side("forward", "transformer", "test")
        )
        assert (finding.state, finding.profile) == (SHOWN, "cpu")
        assert finding.evidence == (
            "1 and 0.1 (a single run); profile paper, not shown: 0.5 and 0.5 (a single run)"
        )
