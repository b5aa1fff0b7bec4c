"""The tables of results, made from files."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from docs.origins import changed_models
from docs.recipes import recipe_differences
from docs.results import (
    contrasts_section,
    drawn_models,
    figure,
    read_comparisons,
    section,
)
from synthbench import __version__
from synthbench.errors import DatasetError
from synthbench.training.recipes import find_study, study_of_run
from synthbench.training.runs import (
    full_parameters,
    read_runs,
    recipe_fields,
    stored,
    stored_runs,
    write_runs,
)
from synthbench.training.train_fit import FITTED, NOT_FITTED
from tests.support import ROOT

GOLDEN = json.loads((ROOT / "tests/golden/losses.json").read_text(encoding="utf-8"))["losses"]


def results_section(comparisons):
    """The sections of several comparisons."""
    return "\n\n".join(part for one in comparisons for part in section(one))


def comparison(
    task="ctl", profile="cpu", variants=("forward", "backward"), states=(FITTED, FITTED)
):
    ours = {"mean": 0.5, "deviation": 0.1, "values": [0.4, 0.6], "published": None}
    published = {"mean": 1.0, "deviation": 0.0, "runs": None, "source": "NDR, table 1"}
    fits = [{"metric": "accuracy", "chosen": 0.75, "state": state} for state in states]
    recipe = {"name": "ndr", "model": "ndr", "steps": 100, "options": {}}
    made_with = {"machine": "A processor", "torch": "2.4", "version": __version__, "commit": None}
    kept = {"steps": 100, "golden": None, "note": None, "searched": False, **made_with}
    return {
        "task": task,
        "study": "main",
        "profile": profile,
        "synthbench": __version__,
        "command": f"synthbench reproduce {task} --profile {profile}",
        "seeds": 2,
        "run_seconds": 1100.0,
        "data": {"parameters": {}, "rows": {}, "stream": False},
        "precision": "float32",
        "measures": [
            {"name": "iid", "metric": "accuracy", "headline": "in", "rows": 1000},
            {"name": "between", "metric": "accuracy", "headline": "", "rows": 1000},
            {"name": "test", "metric": "accuracy", "headline": "out", "rows": 1000},
        ],
        "models": [
            {
                "model": "ndr",
                "variant": variant,
                "recipes": [recipe],
                "model_parameters": 43_533,
                "runs": [{**kept, "seed": seed, "fit": one} for seed, one in enumerate(fits)],
                "measures": {
                    "iid": ours,
                    "between": ours,
                    "test": {**ours, "published": published},
                },
            }
            for variant in variants
        ],
    }


def test_each_comparison_has_a_table_with_parameters_seeds_and_rows():
    places = (("ctl", "cpu"), ("parity", "cpu"), ("parity", "paper"))
    variants = {"parity": ("default",), "ctl": ("forward", "backward")}
    made = [comparison(task, profile, variants[task]) for task, profile in places]
    lines = results_section(made).splitlines()
    assert [line for line in lines if line.startswith("##")] == [
        "## Main study (profile cpu)",
        "## Main study (profile cpu)",
        "## Main study (profile paper)",
    ]
    assert lines[2] == (
        "| model | variant | parameters | seeds | steps | training rows | iid, 1,000 rows | "
        "test, 1,000 rows | paper |"
    )
    assert lines[4] == (
        "| `ndr` | forward | 43,533 | 2 | 100 | 0.750 | 0.500 ± 0.100 | 0.500 ± 0.100 | "
        "1.000 ± 0.000 |"
    )
    assert lines[9].startswith(
        "The paper's task. Recipes differ from those of the profile `paper` in `steps`, "
    )
    assert "Besides: iid is balanced over lengths" in lines[9]
    assert "first column (paper's table 1: from the last)" in lines[9]
    same = "The paper's task and sizes, but for: initial weights"  # parity's recipes are the same
    assert sum(line.startswith(same) for line in lines) == 2
    opened = next(i for i, line in enumerate(lines) if line.startswith("??? note"))
    assert "    | `steps` | 30,000 | 100 | all |" in lines[opened:]
    assert (
        "`synthbench reproduce ctl --profile cpu`: training of all runs 1,100 s, "
        f"A processor, PyTorch 2.4, synthbench {__version__}."
    ) in lines


def test_settings_are_compared_with_defaults_by_model_and_by_variant():
    made = comparison()  # an NDR without options for 100 steps
    found = {one.setting: one for one in recipe_differences(made)}
    assert (found["steps"].paper, found["steps"].ours) == ("30,000", "100")
    assert (found["d_model"].paper, found["d_model"].ours) == ("256", "128"), "the model's default"
    assert "gate_drop" in found and "copy_gate" not in found, "a switch of the name is no option"
    made["models"][0]["recipes"] = [{**made["models"][0]["recipes"][0], "steps": 7}]
    steps = [one for one in recipe_differences(made) if one.setting == "steps"]
    assert [(one.ours, one.lines) for one in steps] == [
        ("7", (("ndr", "forward"),)),
        ("100", (("ndr", "backward"),)),
    ]
    assert "| `steps` | 30,000 | 7 | in `forward` |" in results_section([made])
    unknown = {**made["models"][1], "model": "mine"}
    assert "Not in the profile `paper`: `mine`." in (
        results_section([{**made, "models": [made["models"][0], unknown]}])
    )


def test_an_option_of_the_name_of_a_field_stays_apart_from_it():
    stored = next(
        one
        for one in read_comparisons()
        if (one["task"], one["study"], one["profile"]) == ("mqar", "main", "cpu")
    )
    (steps,) = (one for one in recipe_differences(stored) if one.setting == "steps")
    assert (steps.paper, steps.ours, len(steps.lines)) == ("12,500", "750", 5)


def test_headings_say_what_the_figures_are_and_the_table_what_differs_from_the_paper():
    made = comparison("arithmetic", variants=("default",))
    made["data"]["parameters"] = {"modulus": 5}
    made["measures"][0] |= {"name": "iid", "metric": "eureka_ratio"}
    made["measures"][2]["metric"] = "eureka_accuracy"
    text = results_section([made])
    assert "**Not the paper's task**: `modulus` 5 (paper: 10). Recipes differ " in text
    made["data"] = {"parameters": {}, "rows": {"test": 7}, "stream": False}
    assert "The paper's task. Other numbers of rows: 7 rows of test (profile `paper`: 1,000). " in (
        results_section([made])
    )
    assert "| iid, runs with a moment | test, of runs with a moment, 1,000 rows | paper |" in text


def test_a_result_names_all_machines_and_commits_of_its_runs_and_another_version():
    made = comparison(variants=("forward",))
    first, second = made["models"][0]["runs"]
    first["commit"] = "0123456789" * 4
    second["commit"] = "abcdefabcd" * 4 + "-dirty"
    second |= {"machine": "A GPU", "torch": "2.15", "version": "0.1.0", "note": "on other rows"}
    assert (
        f"A processor, PyTorch 2.4, synthbench {__version__} at commit 0123456; "
        "A GPU, PyTorch 2.15, synthbench 0.1.0 at commit abcdefa with changes. On other rows."
    ) in results_section([made])


def test_a_sentence_has_a_figure_that_is_there():
    assert figure([comparison()], "ctl cpu forward ndr test") == "0.500 ± 0.100"
    assert figure([comparison()], "ctl cpu forward ndr training") == "0.750"
    other = {**comparison(), "study": "layers"}
    other["measures"][2]["name"] = "in a longer row"
    other["models"][0]["measures"]["in a longer row"] = {**other["models"][0]["measures"]["test"]}
    other["models"][0]["measures"]["in a longer row"]["mean"] = 0.25
    name = "ctl cpu/layers forward ndr in a longer row"
    assert figure([comparison(), other], name) == "0.250 ± 0.100"
    single = comparison()
    single["models"][0]["measures"]["test"] |= {"deviation": None, "values": [0.5, None]}
    assert figure([single], "ctl cpu forward ndr test") == "0.500 (one run)"
    assert "| 0.500 ± 0.100 | 0.500 (one run) | 1.000 ± 0.000 |" in results_section([single])
    unknown_study = "ctl cpu/rates forward ndr test"
    for unknown in ("ctl paper forward ndr test", "ctl cpu forward ndr tset", unknown_study):
        with pytest.raises(DatasetError, match="no result has it"):
            figure([comparison()], unknown)


@pytest.mark.parametrize(
    "losses, changed",
    [
        (None, False),
        (GOLDEN["ndr"], False),
        ([one * (1 + 1e-6) for one in GOLDEN["ndr"]], False),
        ([one * 1.01 for one in GOLDEN["ndr"]], True),
        (GOLDEN["ndr"][:5], True),
    ],
)
def test_a_result_names_the_models_whose_code_has_changed(losses, changed):
    made = comparison()
    made["models"][0]["runs"][1]["golden"] = losses
    assert changed_models(made) == ["ndr"] * changed
    assert ("The code of ndr has changed since." in results_section([made])) == changed


def test_a_file_that_is_not_a_table_of_runs_is_refused_by_name(tmp_path):
    with pytest.raises(DatasetError, match=r"runs\.parquet is not a table of runs"):
        read_comparisons(tmp_path / "runs.parquet")
    (tmp_path / "runs.parquet").write_text("{}", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"runs\.parquet is not a table of runs"):
        read_comparisons(tmp_path / "runs.parquet")
    pq.write_table(pa.table({"task": ["ctl"]}), tmp_path / "other.parquet")
    with pytest.raises(DatasetError, match=r"other\.parquet is not a table of runs"):
        read_runs(tmp_path / "other.parquet")


def test_the_stored_table_is_small_and_written_again_as_it_was(tmp_path):
    assert stored().stat().st_size < 500_000
    write_runs(tmp_path / "runs.parquet", reversed(stored_runs()))
    again = read_runs(tmp_path / "runs.parquet")
    assert sorted(again, key=str) == sorted(stored_runs(), key=str)


def test_a_model_that_is_not_fitted_is_named_below_the_table_marked_in_sentences_and_not_drawn():
    made = comparison(states=(FITTED, NOT_FITTED))
    assert drawn_models(made) == []
    shown = results_section([made])
    assert "not learned in 100 steps: `ndr` on forward (1 of 2 runs, 0.750)" in shown
    assert "| `ndr` |" not in shown
    name = "ctl cpu forward ndr test"
    assert figure([made], name) == "0.500 ± 0.100 (1 of 2 not fitted in 100 steps)"
    assert [one["model"] for one in drawn_models(comparison())] == ["ndr"] * 2


def test_of_a_study_of_moments_only_the_runs_that_learned_their_rows_are_drawn():
    made = comparison("parity", variants=("default",), states=(NOT_FITTED, FITTED))
    made["measures"][0]["metric"] = "eureka_ratio"
    (line,) = drawn_models(made)
    assert [run["seed"] for run in line["runs"]] == [1]
    assert line["measures"]["test"]["values"] == [0.6] and line["measures"]["test"]["mean"] == 0.6
    failed = comparison("parity", variants=("default",), states=(NOT_FITTED, NOT_FITTED))
    failed["measures"][0]["metric"] = "eureka_ratio"
    assert drawn_models(failed) == []


def test_the_page_of_contrasts_has_those_between_models_that_have_learned_their_rows():
    text = contrasts_section(read_comparisons())
    assert "| `heat` above `softmax` | Eureka-ratio | 4/5 " in text
    assert "and 12/20 (0.39 to 0.78), p = 0.11 | no difference | Eureka, section 5.3 |" in text
    (gate,) = (
        line
        for line in text.splitlines()
        if "`transformer-relative-gate` above `transformer-relative` | forward, test" in line
    )
    assert "| same order |" in gate
    assert NOT_FITTED not in text


def test_every_stored_run_of_a_study_has_the_recipe_and_the_data_of_the_study():
    of_studies = [run for run in stored_runs() if run["study"]]
    assert len(of_studies) >= 800
    tasks = {}
    for run in of_studies:
        study = study_of_run(run["task"], run["profile"], run["study"])
        (recipe,) = (one for one in study.recipes if one.title == run["model"])
        recipe = recipe.for_variant(run["variant"])
        assert run["recipe"] == recipe_fields(recipe.to_dict(), run["model"])
        assert run["steps"] == recipe.steps or recipe.cooldown < run["steps"] < recipe.steps
        place = (study.task, study.name, study.profile)
        if place not in tasks:
            tasks[place] = {one.variant: one.parameters.to_dict() for one in study.tasks()}
        assert full_parameters(run) == tasks[place][run["variant"]]
        assert [one["measure"] for one in run["figures"]] == [one.name for one in study.measures]


def test_every_run_is_of_a_study_or_searched_and_the_searched_sizes_are_marked():
    assert all(run["study"] or run["searched"] for run in stored_runs())
    marked = {
        (run["task"], run["study"]) for run in stored_runs() if run["study"] and run["searched"]
    }
    assert marked == {
        ("arithmetic", "main"),
        ("listops", "main"),
        ("sudoku", "main"),
        ("sudoku", "6x6"),
        ("chomsky", "layers-cycle"),
        ("mqar", "layers-recall-4"),
        ("modular-arithmetic", "layers-modular-addition"),
        ("lists", "main"),
        ("state-tracking", "harder-groups"),
    }
    searched = [one for one in read_comparisons() if (one["task"], one["study"]) in marked]
    assert results_section(searched).count("This size was searched for") == len(searched)


def test_the_learning_rates_of_mqar_are_among_those_that_are_best_on_validation():
    best = {}
    for run in stored_runs():
        if (run["task"], run["study"]) == ("mqar", "rates"):
            (score,) = (one["value"] for one in run["figures"] if one["measure"] == "validation")
            rate = run["recipe"].get("learning_rate", 1e-3)
            best.setdefault(run["recipe"]["model"], []).append((score, rate))
    for recipe in find_study("mqar").recipes:
        scores = dict(map(reversed, best[recipe.model]))
        assert scores[recipe.learning_rate] == max(scores.values())
