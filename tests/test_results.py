"""The tables of results, made from files."""

import json

import pytest

from docs.origins import held, since
from docs.recipes import recipe_differences
from docs.results import (
    contrasts_section,
    drawn_models,
    figure,
    models_sizes,
    of_studies,
    read_comparisons,
    results_section,
)
from synthbench import __version__
from synthbench.errors import DatasetError
from synthbench.training.comparison import fit_words
from synthbench.training.contrasts import CONTRASTS
from synthbench.training.train_fit import FITTED, NOT_FITTED
from tests.support import ROOT

STORED = ROOT / "examples" / "results"
GOLDEN = json.loads((ROOT / "tests/golden/losses.json").read_text(encoding="utf-8"))["losses"]


def comparison(
    task="ctl", profile="cpu", variants=("forward", "backward"), states=(FITTED, FITTED)
):
    ours = {"mean": 0.5, "deviation": 0.1, "values": [0.4, 0.6], "published": None}
    published = {"mean": 1.0, "deviation": 0.0, "runs": None, "source": "NDR, table 1"}
    fits = [{"metric": "accuracy", "chosen": 0.75, "state": state} for state in states]
    recipe = {"name": "ndr", "model": "ndr", "steps": 100, "options": {}}
    return {
        "task": task,
        "study": "main",
        "profile": profile,
        "synthbench": __version__,
        "command": f"synthbench reproduce {task} --profile {profile}",
        "seeds": 2,
        "seconds": 61.0,
        "run_seconds": 1100.0,
        "workers": 2,
        "data": {"parameters": {}, "rows": {}, "stream": False},
        "precision": "float32",
        "machine": {"gpu": None, "processor": "A processor", "torch": "2.4"},
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
                "runs": [{"seed": seed, "steps": 100, "fit": one} for seed, one in enumerate(fits)],
                "measures": {
                    "iid": ours,
                    "between": ours,
                    "test": {**ours, "published": published},
                },
            }
            for variant in variants
        ],
    }


@pytest.fixture
def results(tmp_path):
    for task, profile in (("parity", "paper"), ("parity", "cpu"), ("ctl", "cpu")):
        variants = ("default",) if task == "parity" else ("forward", "backward")
        text = json.dumps(comparison(task, profile, variants))
        (tmp_path / f"{task}-{profile}.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_each_comparison_has_a_table_with_parameters_seeds_and_rows(results):
    lines = results_section(read_comparisons(results)).splitlines()
    assert [line for line in lines if line.startswith("###")] == [
        "### ctl, profile cpu",
        "### parity, profile cpu",
        "### parity, profile paper",
    ]
    assert lines[2].startswith(
        "The paper's task. Recipes differ from those of the profile `paper` in `steps`, "
    )
    assert "Besides: iid is balanced over lengths" in lines[2]
    assert "first column (paper's table 1: from the last)" in lines[2]
    same = "The paper's task and sizes, but for: initial weights"  # parity's recipes are the same
    assert sum(line.startswith(same) for line in lines) == 2
    assert lines[4] == (
        "| model | variant | parameters | seeds | steps | training rows | iid, 1,000 rows | "
        "test, 1,000 rows | paper |"
    )
    assert lines[6] == (
        "| `ndr` | forward | 43,533 | 2 | 100 | 0.750 | 0.500 ± 0.100 | 0.500 ± 0.100 | "
        "1.000 ± 0.000 |"
    )
    opened = next(i for i, line in enumerate(lines) if line.startswith("??? note"))
    assert "    | `steps` | 30,000 | 100 | all |" in lines[opened:]
    assert (
        "`synthbench reproduce ctl --profile cpu`: all runs together 1,100 s, 61 s with 2 at once, "
        f"A processor, PyTorch 2.4, synthbench {__version__}. "
        "It was not held against today's code. "
        "The recipe has changed since: `steps` of `ndr`, `options` of `ndr`. "
        "The command makes 48 runs; 4 are here."
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
        for one in read_comparisons(STORED)
        if (one["task"], one["study"], one["profile"]) == ("mqar", "main", "cpu")
    )
    (steps,) = (one for one in recipe_differences(stored) if one.setting == "steps")
    assert (steps.paper, steps.ours, len(steps.lines)) == ("12,500", "750", 5)


def test_every_stored_recipe_can_be_read_again_and_the_command_is_compared_with_its_runs():
    words = {
        (one["task"], one["study"]): since(one)
        for one in read_comparisons(STORED)
        if one["profile"] == "cpu"
    }
    assert words["ctl", "main"] == ""
    assert words["chomsky", "main"].startswith(" The command makes 375 runs; ")
    assert not any("recipe" in text for text in words.values()), "a recipe changed after its runs"


def test_a_gallery_page_names_seeds_and_parameters():
    made = comparison()
    made["models"][1]["model_parameters"] = 50_000
    assert models_sizes(made) == "2 seeds; parameters: `ndr` 43,533 or 50,000."
    del made["models"][1]["runs"][1]
    assert models_sizes(made).startswith("2 seeds of forward and 1 seed of backward; ")


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
    second["machine"] = {"gpu": "A GPU", "processor": "A processor", "torch": "2.15"}
    made["synthbench"] = "0.1.0"
    assert (
        "A processor, PyTorch 2.4, synthbench 0.1.0 at commit 0123456; "
        "A GPU, PyTorch 2.15, synthbench 0.1.0 at commit abcdefa with changes; "
        f"this is {__version__}. "
    ) in results_section([made])


@pytest.mark.parametrize(
    "losses, same_rows, words",
    [
        (GOLDEN["ndr"], True, "that code and today's, short test trainings give the same losses."),
        (GOLDEN["ndr"], False, "but the stream has other rows of the same distribution today."),
        ([one * (1 + 1e-6) for one in GOLDEN["ndr"]], True, "the same losses."),
        ([one * 1.01 for one in GOLDEN["ndr"]], True, "the code of ndr has changed since."),
        (GOLDEN["ndr"][:5], True, "the code of ndr has changed since."),
        ([1.0] * 10, False, "today, and short test trainings on it (ndr) give other losses."),
    ],
)
def test_a_result_says_whether_todays_code_still_makes_it(losses, same_rows, words):
    then = {"commit": "0123456789", "date": "2026-11-25", "losses": {"ndr": losses}}
    text = held({**comparison(), "held": {**then, "same_rows": same_rows}})
    assert text.startswith("Stored with commit 0123456 of 2026-11-25; ")
    assert text.endswith(words)


def test_a_result_names_the_runs_whose_stream_has_other_rows_today():
    made = comparison(variants=("forward",))
    made["held"] = {
        **{"commit": "0123456789", "date": "2026-11-25", "losses": {"ndr": GOLDEN["ndr"]}},
        "same_rows": False,
    }
    assert "losses, but the stream has other rows" in held(made)
    made["models"][0]["runs"][1]["commit"] = "0123456789"
    assert "losses, but for `ndr` with seed 0 the stream has other rows" in held(made)


def test_what_is_no_comparison_is_refused_by_name(tmp_path):
    with pytest.raises(DatasetError, match=r"has no \.json files"):
        read_comparisons(tmp_path)
    (tmp_path / "other.json").write_text('{"task": 1}', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"other\.json is no comparison"):
        read_comparisons(tmp_path)


def test_a_model_that_is_not_fitted_is_marked_in_the_table_in_pictures_and_in_sentences():
    # The words of an older version.
    made = comparison(states=(FITTED, "stopped improving"))
    assert [one["model"] for one in drawn_models(made)] == [f"ndr, {NOT_FITTED}"] * 2
    assert "| 0.750, 1 of 2 not fitted in 100 steps |" in results_section([made])
    name = "ctl cpu forward ndr test"
    assert figure([made], name) == "0.500 ± 0.100 (1 of 2 not fitted in 100 steps)"
    assert [one["model"] for one in drawn_models(comparison())] == ["ndr"] * 2


@pytest.mark.parametrize(
    "share, words, drawn",
    [(0.755, "one seed", True), (0.77, "one seed not trained to the end", False)],
)
def test_twice_the_steps_say_whether_a_model_was_trained_to_the_end(share, words, drawn, tmp_path):
    made = comparison(variants=("forward",), states=(NOT_FITTED, NOT_FITTED))
    (tmp_path / "ctl-cpu.json").write_text(json.dumps(made), encoding="utf-8")
    longer = {
        **{"task": "ctl", "variant": "forward", "model": "ndr", "parameters": {}, "rows": {}},
        **{"stream": False, "recipe": {"model": "ndr", "steps": 200, "options": {}}},
        "runs": [{"seed": 1, "training": share, "fitted": False, "figures": {}}],
        **{"source": "a run", "date": "2026-11-26"},
    }
    (tmp_path / "tried").mkdir()
    (tmp_path / "tried" / "ctl.json").write_text(json.dumps([longer]), encoding="utf-8")
    (read,) = read_comparisons(tmp_path)
    marked = f"0.750, not fitted in 100 steps ({words}: 0.750, in 200 steps {share:.3f})"
    assert marked in results_section([read])
    assert bool(drawn_models(read)) == drawn


def test_of_an_error_the_share_of_the_variance_says_what_was_learned():
    made = comparison(variants=("forward",), states=(NOT_FITTED,))["models"][0]
    made["doubled"] = {"steps": 200, "single": 0.761, "doubled": 0.764, "other_rows": False}
    made["runs"][0]["fit"] |= {"metric": "mse", "chosen": 0.02}
    seen = "one seed, share of the variance: 0.761, in 200 steps 0.764"
    assert fit_words({**made, "runs": made["runs"][:1]})[1] == f"not fitted in 100 steps ({seen})"
    made["doubled"] |= {"doubled": 0.9, "other_rows": True}
    assert "(one seed on other rows, share of the variance: 0.761, " in fit_words(made)[1]


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


def test_every_contrast_is_counted_at_the_papers_size_and_at_others():
    text = contrasts_section([comparison(), comparison(profile="paper")])
    assert text.startswith(f"The tables have {len(CONTRASTS)} contrasts.")
    assert text.count(f"| **{len(CONTRASTS)}** |") == 2  # none was run at either


def test_contrasts_at_a_size_chosen_by_a_rule_stand_in_a_column_of_their_own():
    made = comparison("arithmetic", variants=("default",))
    source = {"mean": 0.9, "deviation": 0.0, "runs": None, "source": "NDR, table 2"}
    lines = []
    for model, values in (("ndr", [0.5, 0.52, 0.51]), ("lstm", [0.9, 0.91, 0.92])):
        measured = {"mean": 0.5, "deviation": 0.1, "values": values, "published": source}
        run = {"seed": 0, "steps": 100, "fit": {**made["models"][0]["runs"][0]["fit"]}}
        sizes = {"model": model, "recipes": [{"name": model, "model": model, "options": {}}]}
        lines.append(
            made["models"][0] | sizes | {"runs": [run] * 3, "measures": {"test": measured}}
        )
    made["models"] = lines
    ruled = {**made, "study": "by-rule"}
    ruled["models"] = [
        {**line, "measures": {"test": {**line["measures"]["test"], "values": values}}}
        for line, values in zip(lines, ([0.9, 0.91, 0.92], [0.5, 0.52, 0.51]), strict=True)
    ]
    text = contrasts_section([made, ruled])
    (row,) = (one for one in text.splitlines() if "`ndr` above `lstm` | test" in one)
    assert "| at a size chosen by a rule | at other sizes | differ in |" in text
    assert row.index("same order") < row.index("reversed"), "the column of the rule comes first"
    assert "the largest gap" not in text
    for line, values in zip(lines, ([0.50, 0.52, 0.51], [0.52, 0.54, 0.53]), strict=True):
        line["measures"]["test"]["values"] = values
    assert (
        "Where there is *no difference*, the largest gap is 0.02 in accuracy."
        in contrasts_section([made])
    )


def test_the_contrasts_of_models_alone_are_counted_and_those_of_runs_are_told_apart():
    text = contrasts_section(of_studies(read_comparisons(STORED)))
    own, ruled, others = text.split("| **all** |")[1:]
    # `counting` above LayerNorm in attention at five sizes, and NormSoftmax above softmax.
    assert "6 of the 7 that are *same order* or *reversed* compare the models alone" in own
    assert "(2 pairs of models)" in own
    assert "0 of the 3 that" in ruled and "0 of the 28 that" in others
    # The moments of softmax, 12 of 20 runs, and heat treatment, 6 of 20.
    assert "0.30 in the share of runs with a moment." in others.partition("???")[0]


def test_the_learning_rates_of_mqar_are_those_that_are_best_on_validation():
    from synthbench.training.recipes import find_study

    stored = json.loads((STORED / "mqar-rates-cpu.json").read_text(encoding="utf-8"))
    best = {}
    for line in stored["models"]:
        (recipe,), (run,) = line["recipes"], line["runs"]
        loss = run["curve"][-1]["validation/loss"]
        score = (line["measures"]["validation"]["mean"], -loss)
        best.setdefault(recipe["model"], []).append((score, recipe["learning_rate"]))
    chosen = {one.model: one.learning_rate for one in find_study("mqar").recipes}
    assert chosen == {model: max(tried)[1] for model, tried in best.items()}


def test_what_the_stored_results_say_of_the_contrasts():
    """Single runs and models that are not fitted show nothing, and the paper's size is apart."""
    text = contrasts_section(read_comparisons(STORED))
    lines = [line for line in text.splitlines() if "`heat` above `softmax`" in line]
    assert "| no difference: 6 of 20 runs and 12 of 20 runs, p = 0.11 | not run |" in lines[0]
    (gate,) = (
        line
        for line in text.splitlines()
        if "`transformer-relative-gate` above `transformer-relative` | forward, test" in line
    )
    assert "| not run | same order: " in gate
    assert "standard deviations" not in text


def test_golden_losses_are_written_into_a_result(tmp_path, capsys):
    from benchmarks.hold import main
    from synthbench.errors import SynthbenchError

    file, losses = tmp_path / "ctl-cpu.json", ROOT / "tests/golden/losses.json"
    made = comparison()
    file.write_text(json.dumps(made), encoding="utf-8")
    with pytest.raises(SynthbenchError, match="runs are of None; name one with --commit"):
        main([str(file), "--losses", str(losses)])
    if not (ROOT / ".git").exists():
        pytest.skip("not a Git checkout")
    main([str(file), "--losses", str(losses), "--commit", "HEAD", "--other-rows"])
    then = json.loads(file.read_text(encoding="utf-8"))["held"]
    assert then["losses"] == {"ndr": GOLDEN["ndr"]}
    assert (len(then["commit"]), len(then["date"]), then["same_rows"]) == (40, 10, False)
    assert "the same losses" in held({**made, "held": then})
    assert capsys.readouterr().out.endswith("held against commit HEAD\n")


def test_every_stored_result_names_its_code_and_has_todays_golden_losses():
    for one in read_comparisons(STORED):
        assert one["run_seconds"] > 0, one["command"]
        models = {recipe["model"] for line in one["models"] for recipe in line["recipes"]}
        assert set(one["held"]["losses"]) == models
        assert "not held" not in held(one)
