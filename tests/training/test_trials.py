"""Trials: settings from comparisons and results, each run once."""

import copy
import json

import pytest

from synthbench.generation.generate import generate
from synthbench.sampling.plan import make_plan
from synthbench.tasks.registry import task_from
from synthbench.training.trials import (
    doubled,
    from_comparison,
    from_result,
    merged,
    read_trials,
    setting_of,
    write_trials,
)

RECIPE = {
    **{"name": "lstm", "model": "lstm", "steps": 100, "batch_size": 32, "learning_rate": 1e-3},
    **{"clip": 1.0, "heat": None, "log_gradients": True, "validate_every": 50},
    "options": {"d_model": 64},
}


def fit(share):
    state = "fitted" if share >= 0.99 else "not fitted"
    return {"metric": "accuracy", "chosen": share, "learned": share, "state": state}


def comparison(shares=(1.0, 0.5), figures=(0.9, 0.7), **recipe):
    line = {
        "model": "lstm",
        "variant": "default",
        "recipes": [{**RECIPE, **recipe}],
        "measures": {"test": {"values": list(figures)}},
        "runs": [{"seed": seed, "fit": fit(share)} for seed, share in enumerate(shares)],
    }
    data = {
        "parameters": {"modulus": 5, "p_op": 0.2},
        "rows": {"train": 500, "iid": 1000, "test": 50},
        "stream": False,
    }
    place = {"task": "arithmetic", "study": "main", "profile": "cpu", "precision": "float32"}
    return {**place, "data": data, "models": [line]}


def trial(**changes):
    (found,) = from_comparison(comparison(**changes), "a file", "2026-11-26")
    return found


def test_a_trial_has_what_differs_and_a_run_for_each_seed():
    assert trial() == {
        "task": "arithmetic",
        "variant": "default",
        "model": "lstm",
        "parameters": {"modulus": 5},  # p_op and the rows of iid are as usual
        "rows": {"train": 500, "test": 50},
        "stream": False,
        "recipe": {
            **{"model": "lstm", "steps": 100, "batch_size": 32, "clip": 1.0, "validate_every": 50},
            "options": {"d_model": 64},
        },
        "runs": [
            {"seed": 0, "training": 1.0, "fitted": True, "figures": {"test": 0.9}},
            {"seed": 1, "training": 0.5, "fitted": False, "figures": {"test": 0.7}},
        ],
        "source": "a file",
        "date": "2026-11-26",
    }


def test_figures_are_kept_to_six_digits():
    (run, *_) = trial(figures=(1 / 3, 2 / 3), shares=(2 / 3, 1.0))["runs"]
    assert run == {
        "seed": 0, "training": 0.666667, "fitted": False, "figures": {"test": 0.333333}
    }  # fmt: skip


def test_runs_of_several_recipes_on_one_line_stay_with_theirs():
    whole = comparison(shares=(1.0, 0.5, 0.9), figures=(0.9, 0.7, 0.8))
    (line,) = whole["models"]
    line["recipes"] = [{**RECIPE, "name": f"lstm-{rate}", "learning_rate": rate} for rate in (1, 2)]
    for run, rate in zip(line["runs"], (1, 2, 2), strict=True):
        run["recipe"] = f"lstm-{rate}"
    found = from_comparison(whole, "", "")
    assert [one["recipe"]["learning_rate"] for one in found] == [1, 2]
    assert [[run["figures"]["test"] for run in one["runs"]] for one in found] == [[0.9], [0.7, 0.8]]
    assert doubled(whole, line, found) is None


def test_another_precision_is_another_setting_and_stored_lines_are_no_trials():
    whole = comparison()
    (found,) = from_comparison({**whole, "precision": "bfloat16"}, "", "")
    assert found["recipe"] == {**trial()["recipe"], "precision": "bfloat16"}
    stored = {**whole["models"][0], "model": "lstm (stored)"}
    assert len(from_comparison({**whole, "models": [*whole["models"], stored]}, "", "")) == 1


def test_the_train_split_does_not_matter_to_a_stream_and_what_needs_no_training_is_no_trial():
    made = comparison()
    made["data"]["stream"] = True
    assert from_comparison(made, "", "")[0]["rows"] == {"test": 50}
    assert from_comparison(comparison(steps=0), "", "") == []


def result(**changed):
    return {
        **{"task": "arithmetic", "variant": "default", "recipe": RECIPE, "seed": 0},
        **{"stream": True, "fit": fit(1.0), "dataset": "/gone", "synthbench": "1.0"},
        "study": {"name": "main", "profile": "cpu"},
        "data": {"parameters": {"modulus": 5}},
        "precision": "float32",
        "eureka": None,
        "splits": {"iid": {"rows": 1000, "accuracy": 1.0}, "test": {"rows": 50, "accuracy": 0.9}},
        **changed,
    }


def test_a_result_and_its_comparison_are_one_trial():
    made = comparison()
    made["data"]["stream"] = True
    one, many = from_result(result(), "a run", "today"), from_comparison(made, "a file", "today")
    assert setting_of(one) == setting_of(many[0])
    assert one["runs"][0]["figures"] == {"iid": 1.0, "test": 0.9}
    assert merged(many, [one]) == many


def test_a_result_stands_under_the_line_of_its_table():
    ruled = {"name": "by-rule", "profile": "cpu"}
    made = result(study=ruled, recipe={**RECIPE, "name": "lstm-0.0015"})
    assert from_result(made, "a run", "today")["model"] == "lstm"


def test_runs_are_added_once_and_those_of_other_figures_are_others():
    first, later = trial(), trial(figures=(0.9, 0.8))
    assert merged([first], [first]) == [first]
    (both,) = merged([first], [later])
    assert [run["figures"]["test"] for run in both["runs"]] == [0.9, 0.7, 0.8]
    elsewhere = {**later, "source": "another file"}
    assert [len(one["runs"]) for one in merged([first], [elsewhere])] == [2, 1]
    assert len(merged([first], [trial(steps=200)])) == 2


def test_a_run_takes_its_fit_from_a_file_that_says_it():
    unknown = copy.deepcopy(trial())
    unknown["runs"][1] |= {"training": None, "fitted": None}
    assert merged([unknown], [trial()]) == [trial()]
    assert merged([trial()], [unknown]) == [trial()]


def test_runs_whose_seed_was_not_noted_are_kept_apart_and_added_once():
    runs = [
        {"seed": None, "training": None, "fitted": None, "figures": {"x": v}} for v in (1, 1, 0)
    ]
    noted = {**trial(), "runs": runs}
    once = merged([], [noted])
    assert once == [noted] == merged(once, [noted])


def test_a_doubled_run_differs_in_its_length_alone_and_has_a_seed_of_the_shorter():
    made = comparison(shares=(0.6, 0.5))
    line = made["models"][0]
    longer = trial(steps=200, validate_every=100, shares=(0.7, 0.9))
    found = {"steps": 200, "single": 0.6, "doubled": 0.7, "other_rows": False}
    assert doubled(made, line, [longer]) == found
    for other in (trial(steps=300), trial(steps=200, clip=2.0)):
        assert doubled(made, line, [other]) is None
    assert doubled(comparison(steps=0), comparison(steps=0)["models"][0], [longer]) is None


def test_a_seed_that_has_learned_its_rows_says_nothing_of_twice_the_steps():
    made = comparison(shares=(1.0, 0.5))
    longer = trial(steps=200, shares=(1.0, 0.9))
    found = doubled(made, made["models"][0], [longer])
    assert found == {"steps": 200, "single": 0.5, "doubled": 0.9, "other_rows": False}


def test_the_shorter_run_counts_as_it_was_last_measured():
    made = comparison(shares=(0.42,), figures=(0.3,))
    again = {**trial(shares=(0.52,), figures=(0.31,)), "source": "later"}
    longer = trial(steps=200, shares=(0.53,), figures=(0.35,))
    found = doubled(made, made["models"][0], [again, longer])
    assert found == {"steps": 200, "single": 0.52, "doubled": 0.53, "other_rows": False}


def test_the_stored_run_counts_if_its_seed_has_learned_its_rows_when_run_again():
    made = comparison(shares=(0.91,), figures=(0.3,))
    again = {**trial(shares=(0.996,), figures=(0.31,)), "source": "later"}
    longer = trial(steps=200, shares=(0.999,), figures=(0.35,))
    found = doubled(made, made["models"][0], [again, longer])
    assert found == {"steps": 200, "single": 0.91, "doubled": 0.999, "other_rows": False}


@pytest.mark.parametrize(
    "same_rows, date, other_rows",
    [(False, "2026-11-25", True), (False, "2026-11-26", False), (True, "2026-11-25", False)],
)
def test_since_the_rows_of_streams_changed_longer_runs_had_other_rows(same_rows, date, other_rows):
    made, again = comparison(shares=(0.5,)), comparison(shares=(0.7,), steps=200)
    made["held"] = {"date": date, "same_rows": same_rows}
    (longer,) = from_comparison(again, "a run", "2026-11-27")
    found = doubled(made, made["models"][0], [longer])
    assert found == {"steps": 200, "single": 0.5, "doubled": 0.7, "other_rows": other_rows}


def test_trials_are_written_by_task_and_read_again(tmp_path):
    other = {**trial(), "task": "ctl"}
    write_trials(tmp_path / "tried", [trial(), other])
    assert sorted(file.name for file in (tmp_path / "tried").iterdir()) == [
        "arithmetic.json",
        "ctl.json",
    ]
    assert read_trials(tmp_path / "tried") == [trial(), other]
    assert read_trials(tmp_path / "none") == []


def test_the_script_collects_comparisons_and_results_once(tmp_path, capsys):
    from benchmarks.tried import main
    from synthbench.errors import DatasetError

    out = tmp_path / "out"
    (out / "default").mkdir(parents=True)
    whole = {**comparison(), "synthbench": "1.0", "measures": []}
    (out / "arithmetic-cpu.json").write_text(json.dumps(whole), encoding="utf-8")
    (out / "default" / "run.json").write_text("{}", encoding="utf-8")
    words = [str(out), "--into", str(tmp_path / "tried"), "--date", "2026-11-26"]
    for new in (2, 0):
        main(words)
        assert capsys.readouterr().out.startswith(f"{new} new runs; 1 trials with 2 runs in ")
    (found,) = read_trials(tmp_path / "tried")
    assert (found["source"], found["date"]) == ("synthbench 1.0", "2026-11-26")
    for run, commit in zip(whole["models"][0]["runs"], ("0123456789", "abcdef0123"), strict=True):
        run |= {"seed": run["seed"] + 2, "commit": commit}
    (out / "arithmetic-cpu.json").write_text(json.dumps(whole), encoding="utf-8")
    main(words)
    sources = [trial["source"] for trial in read_trials(tmp_path / "tried")]
    assert sources == ["synthbench 1.0", "synthbench 1.0 at commits 0123456, abcdef0"]
    with pytest.raises(DatasetError, match="has no results of `reproduce` or `train`"):
        main([str(tmp_path / "none")])


def test_a_split_that_has_all_the_rows_there_are_is_of_the_usual_size(tmp_path):
    from benchmarks.tried import collect

    parameters = {"train_depths": [1], "validation_depths": [2], "test_depths": [3]}
    task = task_from("arithmetic", None, parameters)
    plan = make_plan(task, {split.name: split.rows for split in task.splits}, at_most=True)
    rows = {split.name: plan.rows(split.name) for split in task.splits} | {"test": 50}
    assert rows["train"] < 200
    data = tmp_path / "data"
    generate(task, out=data, rows=rows, workers=1, progress=False)
    run = result(stream=False, dataset=str(data), data={"parameters": parameters})
    (tmp_path / "result.json").write_text(json.dumps(run), encoding="utf-8")
    (found,) = collect(tmp_path, "", "")
    assert found["rows"] == {"test": 50}
