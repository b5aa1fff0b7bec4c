"""The page *Every size tried* and the budget of tuning."""

import importlib
import sys

import pytest

from synthbench.training.trials import read_trials
from tests.support import ROOT

STORED = ROOT / "examples" / "results"


@pytest.fixture
def tried(monkeypatch):
    """The module that makes the page *Every size tried*."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("tried")
    sys.modules.pop("tried", None)


def setting(model, test, training=None, date="2026-11-24", source="a file", steps=9, **parameters):
    fitted = None if training is None else training >= 0.99
    run = {"seed": 0, "training": training, "fitted": fitted, "figures": {"test": test}}
    return {
        **{"task": "arithmetic", "variant": "default", "model": model, "parameters": parameters},
        **{"rows": {}, "stream": True, "recipe": {"model": model, "steps": steps, "options": {}}},
        **{"runs": [run], "source": source, "date": date},
    }


def test_sizes_at_which_the_papers_order_is_reversed_stand_first(tried):
    trials = [
        setting("ndr", 0.978, modulus=5),
        setting("lstm", 0.898, 0.5, modulus=5),
        setting("ndr", 0.876, 1.0, modulus=3),
        setting("lstm", 0.926, modulus=3),
    ]
    text = tried.tried_section(trials)
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "## arithmetic: modulus 3, fresh rows",
        "## arithmetic: modulus 5, fresh rows",
    ]
    assert text.startswith("4 settings with 4 runs at 2 sizes; at 1 of them")
    reverse = "`lstm` 0.926 (paper: 0.74) is above `ndr` 0.876 (paper: 0.98), one seed each."
    assert text.count("**Reversed**") == text.count(f"**Reversed**, test: {reverse}") == 1
    assert "| 2026-11-24 | `ndr` | 9 | 1 | 1.000, fitted | 0.876 |  | a file |" in text
    assert "| 2026-11-24 | `lstm` | 9 | 1 | 0.500, not fitted | 0.898 |" in text


def test_figures_from_two_places_are_compared_where_those_of_one_place_reverse_nothing(tried):
    trials = [setting("ndr", 0.5), setting("lstm", 0.9, source="another file")]
    apart = "`lstm` 0.900 (paper: 0.74) is above `ndr` 0.500 (paper: 0.98), one seed each, from"
    assert tried.tried_section(trials).count(f"**Reversed**, test: {apart} different sources.") == 1
    # The pair that differs most stands for all settings of the two models.
    longer = [setting("ndr", 0.6, steps=18), setting("lstm", 0.8, source="a third file", steps=18)]
    assert tried.tried_section([*longer, *trials]).count("**Reversed**") == 1
    assert apart in tried.tried_section([*longer, *trials])
    together = [setting("ndr", 0.6, steps=18), setting("lstm", 0.8, steps=18)]
    text = tried.tried_section([*trials[1:], *together])
    assert text.count("**Reversed**") == 1
    assert "`lstm` 0.800 (paper: 0.74) is above `ndr` 0.600 (paper: 0.98), one seed each." in text


def test_a_model_that_is_read_from_another_column_than_the_papers_reverses_nothing(tried):
    def backward(model, test, **options):
        made = setting(model, test)
        recipe = {**made["recipe"], "options": options}
        return made | {"task": "ctl", "variant": "backward", "recipe": recipe}

    gated, lstm = "transformer-gated-position", backward("lstm", 0.9)  # paper: 0.98 and 0.22
    text = tried.tried_section([lstm, backward(gated, 0.1, readout="last")])
    assert f"`lstm` 0.900 (paper: 0.22) is above `{gated}` 0.100 (paper: 0.98)" in text
    text = tried.tried_section([lstm, backward(gated, 0.1, readout="first")])
    assert "**Reversed**" not in text and "at 0 of them" in text


def test_other_seeds_of_a_setting_share_its_line_and_a_seed_that_was_run_again_does_not(tried):
    def seed(number, test, date, source):
        made = setting("lstm", test, date=date, source=source)
        made["runs"][0]["seed"] = number
        return made

    trials = [
        seed(0, 0.1, "2026-11-21", "an old file"),
        seed(0, 0.5, "2026-11-24", "a file"),
        seed(1, 0.3, "2026-11-25", "another file"),
        seed(None, 0.9, "2026-11-26", "notes"),
    ]
    trials[0]["runs"] += seed(0, 0.2, "", "")["runs"]
    for given in (trials, trials[::-1]):
        text = tried.tried_section([*given, setting("ndr", 0.3)])
        assert text.startswith("2 settings with 6 runs at 1 sizes; at 1 of them")
        assert "| `lstm` | 9 | 1 |  | 0.100 |  | an old file |" in text
        assert "| `lstm` | 9 | 1 |  | 0.200 |  | an old file |" in text
        assert "| `lstm` | 9 | 2 |  | 0.400 |  | a file; another file |" in text
        assert "| `lstm` | 9 | 1 |  | 0.900 |  | notes |" in text
        lower = "`lstm` 0.400 (paper: 0.74) is above `ndr` 0.300 (paper: 0.98)"
        assert f"{lower}, one seed of one." in text


def test_the_budget_counts_settings_runs_and_steps(tried):
    trials = [setting("ndr", 0.5), setting("ndr", 0.6), setting("ndr", 0.6, modulus=3)]
    assert tried.budget_section(trials).splitlines()[-1] == (
        "| `arithmetic` | `ndr` | 2 | 3 | 27 |"
    )


def test_what_was_tried_includes_the_sizes_that_reverse_the_paper(tried):
    text = tried.tried_section(read_trials(STORED / "tried"))
    first = text.partition("\n## ")[2].partition("\n## ")[0]
    assert "arithmetic" in first
    assert "**Reversed**" in first
    assert (
        "test: `lstm` 0.926 (paper: 0.74) is above `ndr` 0.876 (paper: 0.98), one seed each."
        in text
    )
    assert "`lstm` 0.125 (paper: 0.22), one seed each, not all fitted." in text
