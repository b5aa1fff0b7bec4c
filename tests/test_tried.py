"""The page *Every size tried* and the budget of tuning."""

import importlib
import sys

import pytest

from synthbench.training.runs import SCHEMA, stored_runs
from tests.support import ROOT


@pytest.fixture
def tried(monkeypatch):
    """The module that makes the page *Every size tried*."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("tried")
    sys.modules.pop("tried", None)


def run(model, test, learned=None, seed=0, study=None, **parameters):
    return {
        **dict.fromkeys(SCHEMA.names),
        **{"task": "arithmetic", "variant": "default", "model": model, "study": study},
        **{"parameters": parameters, "rows": {}, "stream": True, "steps": 9, "seed": seed},
        **{"recipe": {"model": model, "options": {}}, "version": "0.2.0", "commit": "0" * 40},
        **{"learned": learned, "fitted": None if learned is None else learned >= 0.99},
        "figures": [{"measure": "test", "metric": "accuracy", "value": test, "rows": 10}],
    }


def test_runs_of_a_setting_share_a_line_below_the_title_of_their_size(tried):
    runs = [
        run("lstm", 0.926, 1.0, modulus=3),
        run("lstm", 0.924, 0.5, seed=1, modulus=3),
        run("ndr", 0.876, modulus=3),
        {**run("ndr", 0.978, modulus=5), "source": "notes", "note": "stopped"},
    ]
    lines = tried.tried_section(runs).splitlines()
    assert [one for one in lines if one.startswith("## ")] == [
        "## arithmetic: modulus 3, fresh rows",
        "## arithmetic: modulus 5, fresh rows",
    ]
    code = "synthbench 0.2.0 at commit 0000000"
    assert f"| `lstm` | 9 | 2 | 0.750, 1 not fitted | 0.925 |  | {code} |" in lines
    assert f"| `ndr` | 9 | 1 |  | 0.876 |  | {code} |" in lines
    assert "| `ndr` | 9 | 1 |  | 0.978 |  | notes; stopped |" in lines


def test_runs_of_other_code_or_recipe_have_a_line_of_their_own(tried):
    older = {**run("lstm", 0.5), "commit": "1" * 40}
    wider = run("lstm", 0.7)
    wider["recipe"] = {**wider["recipe"], "options": {"d_model": 8}}
    lines = tried.tried_section([older, run("lstm", 0.6), wider]).splitlines()
    assert sum(line.startswith("| `lstm` | 9 | 1 |") for line in lines) == 3
    assert sum("| `d_model=8` |" in line for line in lines) == 1


def test_the_budget_counts_settings_runs_and_steps(tried):
    runs = [run("ndr", 0.5), run("ndr", 0.6), run("ndr", 0.6, modulus=3)]
    assert tried.budget_section(runs).splitlines()[-1] == "| `arithmetic` | `ndr` | 2 | 3 | 27 |"


def test_a_run_that_belongs_to_two_studies_counts_once(tried):
    rates = {**run("ndr-0.002", 0.5, study="rates")}
    rates["recipe"] = {**rates["recipe"], "learning_rate": 0.002}
    main = {**rates, "model": "ndr", "study": "main"}
    assert len(tried.trained([rates, main])) == 1
    assert len(tried.trained([rates, {**main, "seed": 1}])) == 2


def test_the_page_has_all_runs_that_trained_a_model(tried):
    kept = tried.trained(stored_runs())
    assert all(one["steps"] != 0 for one in kept)
    assert len(kept) >= 1300
    text = tried.tried_section(stored_runs())
    assert "modulus 3" in text and text.count("## arithmetic") > 5
