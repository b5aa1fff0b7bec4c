"""The papers' contrasts: derived from the published figures, and tested over seeds and rows."""

import dataclasses
import itertools

import pytest

from synthbench.training.cells import ONE_RUN
from synthbench.training.contrasts import (
    CONTRASTS,
    NO_DIFFERENCE,
    REVERSED,
    SAME,
    TOO_FEW,
    UNFITTED,
    contrasts_markdown,
    contrasts_notes,
    derive,
    judge,
)
from synthbench.training.recipes import STUDIES, find_study
from synthbench.training.recipes.base import Measure, Published, Recipe, Study
from synthbench.training.train_fit import FITTED, NOT_FITTED

SOURCE = "NDR, table 1"


def study(**figures):
    """A study with a line for each figure, a mean or a mean and its deviation."""
    recipes = []
    for name, figure in figures.items():
        value, deviation = figure if isinstance(figure, tuple) else (figure, None)
        published = {("default", "test"): Published(value, SOURCE, deviation)}
        recipes.append(Recipe(name, "lstm", steps=1, published=published))
    measures = (Measure("test", "test", "accuracy"),)
    return Study("ctl", "paper", "", tuple(recipes), measures)


def figure(values, published):
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if known else None
    return {"mean": mean, "deviation": None, "values": list(values), "published": published}


def line(model, values, states=(), variant="forward", **options):
    """A line of a comparison of ctl, fitted unless `states` say otherwise."""
    published = {"mean": 1.0, "deviation": None, "runs": None}
    recipe = {"name": model, "model": model, "steps": 10, "options": options}
    return {
        "model": model,
        "variant": variant,
        "recipes": [recipe],
        "model_parameters": 500,
        "measures": {
            name: figure(values, {**published, "source": SOURCE}) for name in ("iid", "test")
        },
        "runs": [
            {"fit": {"state": state}}
            for _, state in itertools.zip_longest(values, states, fillvalue=FITTED)
        ],
    }


def comparison(*lines, rows=1000):
    return {
        "task": "ctl",
        "study": "main",
        "profile": "cpu",
        "data": {"parameters": {}, "rows": {}},
        "measures": [
            {"name": name, "metric": "accuracy", "rows": rows} for name in ("iid", "test")
        ],
        "models": list(lines),
    }


def found(*lines, higher="ndr", lower="transformer", measure="test", **changes):
    """The finding of one contrast of ctl forward, None if it was not run."""
    findings = [
        one
        for one in judge(comparison(*lines, **changes))
        if (one.contrast.variant, one.contrast.measure) == ("forward", measure)
        and one.contrast.models == (higher, lower)
    ]
    return findings[0] if findings else None


@pytest.mark.parametrize(
    "figures, models",
    [
        ({"a": (0.7, 0.1), "b": (0.8, 0.05)}, [("b", "a")]),  # as far as the larger deviation
        ({"a": (0.7, 0.11), "b": (0.8, 0.05)}, []),
        ({"a": (1.0, 0.0), "b": (0.99, 0.0)}, [("a", "b")]),
        ({"a": (1.0, 0.0), "b": (1.0, 0.0)}, []),
        ({"a": 0.5, "b": 0.56}, [("b", "a")]),  # 0.05 where there are no deviations
        ({"a": 0.5, "b": 0.55}, []),
        ({"a": 0.1, "b": 0.5, "c": 0.9}, [("b", "a"), ("c", "a"), ("c", "b")]),
    ],
)
def test_a_contrast_is_every_pair_of_a_table_that_differs(figures, models):
    assert [one.models for one in derive([study(**figures)])] == models


def test_figures_of_two_tables_are_no_contrast():
    made = study(a=0.1, b=0.9)
    other = {("default", "test"): Published(0.9, "NDR, table 5")}
    recipes = (made.recipes[0], dataclasses.replace(made.recipes[1], published=other))
    assert derive([dataclasses.replace(made, recipes=recipes)]) == ()


def test_a_figure_of_one_published_run_is_in_no_contrast():
    made = study(a=(0.1, 0.02), b=(0.9, 0.02))
    one_run = {("default", "test"): Published(0.9, SOURCE, runs=1)}
    recipes = (made.recipes[0], dataclasses.replace(made.recipes[1], published=one_run))
    assert derive([dataclasses.replace(made, recipes=recipes)]) == ()
    rare = [one for one in CONTRASTS if one.source == "Eureka, table 5"]
    pairs = {one.models for one in rare if one.metric != "eureka_ratio"}
    assert pairs == {("resnet", "vit-normsoftmax"), ("vit-normsoftmax", "resnet")}


def test_the_contrasts_of_the_papers_are_whole_and_include_those_that_ours_do_not_show():
    pairs = {(one.task, one.variant, one.measure, *one.models) for one in CONTRASTS}
    assert ("listops", "default", "test", "transformer", "lstm") in pairs
    assert ("ctl", "forward", "test", "transformer-relative", "transformer") in pairs
    assert (
        "grid-count",
        "default",
        "10x10",
        *("counting-norm-attention", "counting-norm-feedforward"),
    ) in pairs
    assert ("parity", "default", "Eureka-ratio", "heat", "softmax") in pairs
    assert not any(one.task == "clusters" for one in CONTRASTS), "DNAS has pictures, no figures"
    assert len(CONTRASTS) > 400
    for one in CONTRASTS:
        assert one.published[0].value > one.published[1].value
        (paper,) = (
            s for s in STUDIES if (s.task, s.name, s.profile) == (one.task, one.study, "paper")
        )
        assert set(one.models) <= {recipe.title for recipe in paper.recipes}


@pytest.mark.parametrize(
    "higher, lower, state",
    [
        ([1.0, 0.98, 0.99], [0.2, 0.3, 0.25], SAME),
        ([0.2, 0.3, 0.25], [1.0, 0.98, 0.99], REVERSED),
        ([0.5, 0.9, 0.7], [0.6, 0.5, 0.7], NO_DIFFERENCE),
        ([0.9], [0.1, 0.1, 0.1], ONE_RUN),
        ([0.9, 0.9], [0.1, 0.1, 0.1], TOO_FEW),
        ([1.0, 1.0, 1.0], [0.997, 0.997, 0.997], NO_DIFFERENCE),  # a few of 1,000 rows
        ([0.99, 0.99, 0.99], [0.9, 0.9, 0.9], SAME),
    ],
)
def test_means_are_compared_over_seeds_and_rows(higher, lower, state):
    assert found(line("ndr", higher), line("transformer", lower)).state == state


def test_runs_that_agree_on_few_rows_show_nothing():
    lines = line("ndr", [0.9] * 3), line("transformer", [0.6] * 3)
    assert found(*lines, rows=1000).state == SAME
    assert found(*lines, rows=8).state == NO_DIFFERENCE


def test_p_is_corrected_for_the_contrasts_of_the_table():
    two = line("ndr", [0.9, 0.8, 0.85]), line("transformer", [0.6, 0.65, 0.5])
    more = line("lstm", [0.9, 0.1, 0.5]), line("geometric", [0.2, 0.7, 0.5])
    alone, among = found(*two).p, found(*two, *more).p
    # iid and test of the pair alone, then of every pair of the four.
    assert alone < among <= 1


def test_contrasts_that_are_not_fitted_count_in_the_correction():
    """Otherwise a run that is not fitted would make other contrasts more significant."""
    two = line("ndr", [0.9, 0.8, 0.85]), line("transformer", [0.6, 0.65, 0.5])
    third = [0.3, 0.7, 0.5]
    fitted, unfitted = line("lstm", third), line("lstm", third, [NOT_FITTED])
    alone, with_third, with_unfitted = (found(*two, *more).p for more in ([], [fitted], [unfitted]))
    assert alone < with_third <= with_unfitted <= 1


def test_the_parts_of_a_table_are_corrected_together():
    """Table II has columns of training and of test: two contrasts, one table."""
    published = ({"source": "Counting, table II (training)"}, {"source": "Counting, table II"})
    lines = [
        {
            **line(name, [], variant="default"),
            "runs": [{"fit": {"state": FITTED}}],
            "measures": {
                measure: figure(values, source)
                for measure, source in zip(("iid", "test"), published, strict=True)
            },
        }
        for name, values in (("identity", [0.1, 0.12, 0.15]), ("identity-norm", [0.2, 0.25, 0.3]))
    ]
    measures = [{"name": name, "metric": "mse"} for name in ("iid", "test")]
    made = {**comparison(*lines), "task": "identity", "measures": measures}
    (iid, test), (alone,) = judge(made), judge({**made, "measures": measures[1:]})
    assert (iid.contrast.table, test.contrast.table) == ("Counting, table II",) * 2
    assert test.p == pytest.approx(2 * alone.p)


def test_a_study_of_ours_is_held_against_the_papers_main_table():
    lines = line("ndr", [1.0] * 3), line("transformer", [0.1] * 3)
    made = {**comparison(*lines), "study": "by-rule"}
    states = {one.contrast.models: one.state for one in judge(made)}
    assert states == {("ndr", "transformer"): SAME}, "what was not run there is not counted"


def test_a_model_that_is_not_fitted_shows_nothing():
    lines = line("ndr", [1.0] * 3), line("transformer", [0.1] * 3, [NOT_FITTED])
    finding = found(*lines)
    assert (finding.state, finding.p) == (UNFITTED, None)
    assert "| 1.000 ± 0.000 and 0.130 ± 0.010 |  | not fitted |" in contrasts_markdown([finding])
    single = line("ndr", [1.0]), line("transformer", [0.1], [NOT_FITTED])
    assert found(*single).state == UNFITTED, "not one run"


def test_a_model_that_was_not_run_or_not_as_in_the_table_makes_no_finding():
    both = line("ndr", [1.0] * 3), line("transformer", [0.1] * 3)
    assert found(both[0]) is None
    both[1]["measures"]["test"]["published"] = {"source": "NDR, table 5"}
    assert found(*both) is None
    both[1]["measures"]["test"]["published"] = None
    assert found(*both) is None


def eureka(name, had, runs, fitted=True):
    published = {"source": "Eureka, section 5.3"}
    made = line(name, [1.0] * had + [0.0] * (runs - had), [FITTED if fitted else NOT_FITTED] * runs)
    measures = {"Eureka-ratio": {**made["measures"]["test"], "published": published}}
    return {**made, "variant": "default", "measures": measures}


@pytest.mark.parametrize(
    "softmax, normsoftmax, runs, state",
    [
        (8, 20, 20, SAME),
        (20, 8, 20, REVERSED),
        (17, 20, 20, NO_DIFFERENCE),
        (0, 5, 5, TOO_FEW),  # exact tests from 20 runs on
    ],
)
def test_numbers_of_runs_are_compared_exactly_whether_they_are_fitted_or_not(
    softmax, normsoftmax, runs, state
):
    lines = eureka("softmax", softmax, runs, fitted=False), eureka("normsoftmax", normsoftmax, runs)
    measure = {"name": "Eureka-ratio", "metric": "eureka_ratio", "rows": 1000}
    parity = {**comparison(*lines), "task": "parity", "measures": [measure]}
    (finding,) = (one for one in judge(parity) if one.contrast.models == ("normsoftmax", "softmax"))
    assert finding.state == state


def test_moments_that_no_run_had_are_not_compared():
    published = {"source": "Eureka, table 4"}
    lines = [
        {
            **line(name, values, variant="main"),
            "measures": {"Eureka-epoch": figure(values, published)},
        }
        for name, values in (("vit", [None] * 3), ("resnet", [1.0, 2.0, 1.5]))
    ]
    measure = {"name": "Eureka-epoch", "metric": "eureka_epoch"}
    made = {**comparison(*lines), "task": "composites", "measures": [measure]}
    (finding,) = (one for one in judge(made) if one.contrast.models == ("vit", "resnet"))
    assert (finding.state, finding.p) == (UNFITTED, None)


def test_a_line_has_rows_of_its_own_where_variants_differ():
    lines = [line("transformer", [0.5, 0.6, 0.7]), line("ndr", [0.8, 0.9, 0.9])]
    made = comparison(*lines)
    for rows, one in ((7, lines[0]), (5, lines[1])):
        one["measures"]["test"]["rows"] = rows
    found = next(one for one in judge(made) if one.contrast.models == ("ndr", "transformer"))
    assert [mean.rows for mean in found.means] == [5, 7]


def test_the_studies_for_two_cores_have_the_names_of_the_papers_lines():
    """So that a figure is never held against that of another line of the table."""
    of_papers = {made.task for made in STUDIES if made.profile == "paper"}
    for made in STUDIES:
        if made.profile != "paper" and made.name == "main" and made.task in of_papers:
            paper = find_study(made.task, "paper", made.name)
            titles = {recipe.title: recipe for recipe in paper.recipes}
            for recipe in made.recipes:
                for place, figure in recipe.published.items():
                    if figure.source == SOURCE or "table 4" in figure.source:
                        assert titles[recipe.title].published[place] == figure, recipe.name


def test_tables_have_both_figures_and_the_result_and_notes_name_those_reversed():
    findings = judge(comparison(line("ndr", [0.2] * 3), line("transformer", [0.9] * 3)))
    notes = contrasts_notes(findings)
    reverse = "ndr above transformer, forward, test: 0.200 and 0.900, p < 0.001."
    assert f"Reversed: {reverse}" in notes
    assert len(notes) == sum(one.state == REVERSED for one in findings)
    table = contrasts_markdown(findings)
    shown = "| `ndr` above `transformer` | forward, test | 1.000 ± 0.000 and 0.130 ± 0.010 | "
    assert f"{shown}0.200 and 0.900, p < 0.001 | reversed | NDR, table 1 |" in table
    assert contrasts_markdown([]) == ""
