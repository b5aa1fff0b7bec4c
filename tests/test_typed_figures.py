"""Figures that pages and cards have typed by hand, held to the stored results."""

import functools
import re
import statistics

import pytest

from docs.results import read_comparisons
from synthbench.training.train_fit import NOT_FITTED, state_of
from tests.support import ROOT

stored_comparisons = functools.cache(read_comparisons)


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
        one for one in stored_comparisons() if (one["task"], one["study"]) == ("addition", study)
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
    page = (ROOT / "docs/pages/results/differences.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"On two of the variants that no model .*? binary addition\.", page)
    rules = map(float, re.findall(r"\d\.\d+", sentence))
    (stored,) = (
        one for one in stored_comparisons() if (one["task"], one["study"]) == ("chomsky", "main")
    )
    for variant, rule in zip(("duplicate-string", "binary-addition"), rules, strict=True):
        lines = [line for line in stored["models"] if line["variant"] == variant]
        assert lines and all(max(line["measures"]["test"]["values"]) < rule for line in lines)
        assert all(state_of(line["runs"]) == NOT_FITTED for line in lines)


def test_the_differences_of_a_task_have_at_most_120_words():
    page = (ROOT / "docs/pages/results/differences.md").read_text(encoding="utf-8")
    boxes = re.split(r"^## ", re.sub(r"{{.*?}}", "0.5", page), flags=re.MULTILINE)[1:]
    assert len(boxes) >= 11
    assert [box for box in boxes if len(box.split()) > 120] == []
