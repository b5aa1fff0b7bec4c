"""Figures that pages and cards have typed by hand, held to the stored results."""

import collections
import math
import re
import statistics

import pytest
from scipy import stats

from docs.results import read_comparisons
from synthbench.training.contrasts import NOT_RUN, SAME, judge
from synthbench.training.significance import holm
from tests.support import ROOT

STORED = ROOT / "examples" / "results"


def test_the_page_tells_on_which_contrasts_another_test_differs():
    """Welch's test, with the variance of each mean raised to that of the rows."""
    found = []
    for one in read_comparisons(STORED):
        findings = judge(one)
        for table in dict.fromkeys(each.contrast.table for each in findings):
            of_table = [each for each in findings if each.contrast.table == table]
            means = [each for each in of_table if each.p is not None and _is_of_means(each)]
            run = sum(each.state != NOT_RUN for each in of_table)
            chances = list(map(_welch, means))
            corrected = holm(chances, run - len(chances))
            for each, p in zip(means, corrected, strict=True):
                if (p < 0.05) != (each.p < 0.05):
                    found.append(f"{p:.2g}")
    page = (ROOT / "docs/pages/results/index.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"By it four contrasts .*? Contrasts that", page)
    assert sorted(re.findall(r"0\.\d+", told)) == sorted(found)


def _is_of_means(finding):
    return finding.contrast.metric != "eureka_ratio"


def _welch(finding):
    parts = [
        (max(one.seed_variance, one.row_variance), len(one.values) - 1) for one in finding.figures
    ]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / of for part, of in parts)
    first, second = (one.mean for one in finding.figures)
    return 2 * stats.t.sf(abs(first - second) / math.sqrt(variance), freedom)


def test_contrasts_with_the_same_order_are_of_few_pairs_of_models():
    """As the text below the tables of contrasts says."""
    pairs = {"paper": collections.Counter(), "cpu": collections.Counter()}
    for one in read_comparisons(STORED):
        if one["study"] != "by-rule":
            same = (each.contrast for each in judge(one) if each.state == SAME)
            pairs[one["profile"]].update((each.task, each.models) for each in same)
    sizes = ("grid-count", ("counting", "counting-norm-attention"))
    assert len(pairs["paper"]) == 3
    assert (pairs["paper"].total(), pairs["paper"][sizes]) == (7, 5)
    assert (pairs["cpu"].total(), pairs["cpu"][sizes]) == (28, 5)
    shallow = {"transformer", "transformer-relative", "geometric"}
    behind = (
        pairs["cpu"][task, models]
        for task, models in pairs["cpu"]
        if task == "ctl" and models[1] in shallow
    )
    assert sum(behind) == 18


@pytest.mark.parametrize(
    ("study", "model", "name"),
    [
        *(("main", "coupled", measure) for measure in ("iid", "12x12", "15x15", "20x20", "30x30")),
        *(("main", "learned", "training"), ("reversed", "decoder", "iid")),
        ("plain", "decoder", "iid"),
    ],
)
def test_the_card_of_addition_has_the_figures_of_its_stored_results(study, model, name):
    (stored,) = (
        one
        for one in read_comparisons(STORED)
        if (one["task"], one["study"]) == ("addition", study)
    )
    (line,) = (one for one in stored["models"] if one["model"] == model)
    assert len(line["runs"]) == 5
    if name == "training":
        mean = statistics.fmean(run["fit"]["chosen"] for run in line["runs"])
    else:
        mean = line["measures"][name]["mean"]
    card = (ROOT / "cards" / "addition.md").read_text(encoding="utf-8")
    (models,) = (text for text in card.splitlines() if text.startswith("Models of the profile"))
    assert "means of five seeds" in models
    assert re.search(rf"\b({mean:.3f}|{mean:.4f})\b", models)


def test_rules_that_solve_nothing_score_more_than_the_models_of_two_chomsky_variants():
    """And what the models have learned of their training rows is told beside them."""
    page = (ROOT / "docs/pages/results/differences.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"On two of these seven a rule .*? in these steps\.", page)
    copying, sums, _, _, *of_copying, most = map(float, re.findall(r"\d\.\d+", told))
    (stored,) = (
        one
        for one in read_comparisons(STORED)
        if (one["task"], one["study"]) == ("chomsky", "main")
    )
    learned = {}
    for variant, rule in (("duplicate-string", copying), ("binary-addition", sums)):
        lines = [line for line in stored["models"] if line["variant"] == variant]
        assert all(max(line["measures"]["test"]["values"]) < rule for line in lines)
        learned[variant] = [run["fit"]["learned"] for line in lines for run in line["runs"]]
    above = sorted(share for share in learned["duplicate-string"] if share > copying)
    assert [f"{share:.3f}" for share in above] == [f"{share:.3f}" for share in of_copying]
    assert f"{max(learned['binary-addition']):.3f}" == f"{most:.3f}"
