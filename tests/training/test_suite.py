"""A suite tries layers on several settings, each at the best of its learning rates."""

import csv
import dataclasses
import io
import json

import pytest

from synthbench.cli.main import main
from synthbench.errors import ParameterError, SynthbenchError, UsageError
from synthbench.training import plan as plans_module
from synthbench.training.recipes.layers import BASELINES, RATES, SETTINGS
from synthbench.training.suite import reproduce_suite, run
from synthbench.training.suite.report import best_rate, line_of
from synthbench.training.suite.tables import comparison_rows, latex, markdown
from tests.training.making import recorded_bars

LAYER = "import torch.nn as nn\n\nclass Layer(nn.Linear):\n    def __init__(self, width):\n"
LAYER += "        super().__init__(width, width)\n"


def test_all_layers_of_a_setting_have_one_recipe_and_differ_in_the_rate_alone():
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert sum(setting.quick for setting in SETTINGS) == 4
    for setting in SETTINGS:
        kinds = [
            dataclasses.replace(one, name="", model="", options={}, learning_rate=0)
            for one in setting.study.recipes
        ]
        assert all(one == kinds[0] for one in kinds)
        assert kinds[0].start
        rates = dict.fromkeys(one.learning_rate for one in setting.study.recipes)
        assert tuple(rates) == RATES or (setting.validation is None and len(rates) == 1)
        assert [one.model for one in setting.study.recipes[:: len(rates)]] == list(BASELINES)
        assert setting.validation is None or setting.validation.split != "test"


@pytest.fixture
def short(monkeypatch):
    """The suite with twenty steps a run, for two of its settings."""
    settings = []
    for setting in SETTINGS[:2]:
        made = [
            dataclasses.replace(
                one, steps=20, warmup=1, cooldown=0, validate_every=10, batch_size=8
            )
            for one in setting.study.recipes
        ]
        study = dataclasses.replace(setting.study, recipes=tuple(made))
        settings.append(dataclasses.replace(setting, study=study))
    monkeypatch.setattr(run, "SUITES", {"layers": tuple(settings)})
    monkeypatch.setattr(run, "stored_runs", list)


@pytest.mark.slow
def test_a_layer_is_tried_on_every_setting_and_goes_on_where_it_stopped(
    short, tmp_path, monkeypatch, capsys
):
    bars = recorded_bars(monkeypatch)
    (tmp_path / "my_layer.py").write_text(LAYER)
    (tmp_path / "other.py").write_text(LAYER.replace("Layer", "Other"))
    layers = [f"{tmp_path}/my_layer.py:Layer", f"{tmp_path}/other.py:Other"]
    place = {"layers": layers, "out": tmp_path / "out", "seeds": 2, "rates": [1e-3, 2e-3]}
    finish, calls = plans_module.finish_runs, []

    def stopped(runs, *others):
        calls.append(runs)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return finish(runs, *others)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(plans_module, "finish_runs", stopped)
        reproduce_suite("layers", workers=1, progress=False, **place)
    file = tmp_path / "out" / "layers.json"
    first, second = json.loads(file.read_text("utf-8"))["settings"]
    assert [line["state"] for line in first["models"]] == ["unfinished"] * 2
    assert second["models"] == []
    report = reproduce_suite("layers", workers=1, progress=False, **place)
    bar = bars[-1]
    assert bar.total == 2 * 2 * (20 * 2 + 20)
    assert (bar.seen[0], bar.seen[-1]) == (2 * 2 * 20, bar.total)
    assert any("state-tracking Z2, my_layer.Layer-0.002, seed 0:" in one for one in bar.titles)
    assert json.loads(file.read_text("utf-8")) == report
    for setting in report["settings"]:
        for line in setting["models"]:
            assert (line["state"], line["seeds"], len(line["rates"])) == ("not learned", 2, 2)
            assert line["mean"] is None
            assert line["tokens_per_second"] > 0
    for name, begins in {"svg": b"<?xml", "pdf": b"%PDF", "tex": b"% \\usepackage"}.items():
        assert (tmp_path / "out" / f"layers.{name}").read_bytes().startswith(begins)
    text = (tmp_path / "out" / "layers.md").read_text("utf-8")
    assert text == markdown(report)
    assert "| Z2 | not learned in 20 steps | not learned in 20 steps |" in text
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "layers.csv").read_text("utf-8"))))
    assert [row["model"] for row in rows] == ["my_layer.Layer", "other.Other"] * 2
    with pytest.raises(SystemExit, match="0"):
        main(["reproduce", "--suite", "layers", "--compare", *[str(tmp_path / "out")] * 2])
    assert " ".join(capsys.readouterr().out.split()).count("not learned in 20 steps") == 8


def row(seed, rate, beyond, *, fitted=True, validation=0.5, steps=10):
    return {
        **{"seed": seed, "rate": rate, "beyond": beyond, "fitted": fitted, "steps": steps},
        **{"validation": validation, "parameters": 7, "by_size": {"20": beyond}, "curve": []},
        **{"seconds": None, "tokens_per_second": None},
    }


def test_the_rate_is_chosen_by_validation_among_runs_that_have_learned():
    assert best_rate([row(0, 1, 0.9), row(0, 2, 0.1, validation=0.6)]) == 1
    assert best_rate([row(0, 1, 0.1), row(0, 2, 0.9, validation=0.6, fitted=False)]) == 0
    assert best_rate([row(0, 1, 0.1), row(0, 2, 0.9, steps=9), row(0, 4, 1.0, steps=9)]) == 1
    assert best_rate([row(0, 1, 0.1, validation=None), row(0, 2, 1.0, validation=None)]) == 0


def test_only_a_layer_whose_seeds_have_all_learned_has_figures():
    rows = [row(0, 1, 0.2), row(0, 2, 0.4, validation=0.9), row(1, 2, 0.6)]
    line = line_of("mine", rows, seeds=2, tried=2)
    assert (line["state"], line["rate"], line["rates"]) == ("learned", 2, [1, 2])
    assert (line["mean"], line["low"], line["high"]) == (0.5, 0.4, 0.6)
    assert line["by_size"] == {"20": 0.5}
    rows[2]["fitted"] = False
    line = line_of("mine", rows, seeds=2, tried=2)
    assert (line["state"], line["learned"], line["mean"], line["by_size"]) == (
        "not learned", 1, None, {}
    )  # fmt: skip
    assert line_of("mine", rows, seeds=3, tried=2)["state"] == "unfinished"
    assert line_of("mine", rows, seeds=2, tried=3)["state"] == "unfinished"


def report(*lines, width=64):
    setting = {"name": "S_3", "title": "", "pass": "", "fail": "", "steps": 1000, "models": lines}
    return {"suite": "layers", "width": width, "settings": [setting]}


def test_tables_name_why_there_is_no_figure_and_escape_latex():
    learned = line_of("a_b", [row(0, 1, 0.25), row(1, 1, 0.75)], seeds=2, tried=1)
    failed = line_of("c", [row(0, 1, 0.25, fitted=False), row(1, 1, 0.75)], seeds=2, tried=1)
    text = latex(report(learned, failed))
    assert r"S\_3 & 0.50 (0.25 to 0.75, 2 seeds) & " in text
    assert r"\textcolor{gray}{not learned in 1,000 steps, 1 of 2}" in text
    better = {**learned, "mean": 0.625}
    assert comparison_rows(report(learned, failed), report(better, width=32)) == [
        ["S_3", "a_b", "0.50 (0.25 to 0.75, 2 seeds)", "0.62 (0.25 to 0.75, 2 seeds)", "+0.12"],
        ["S_3", "c", "not learned in 1,000 steps, 1 of 2", "", ""],
    ]


def test_files_of_others_stay_as_they_are(short, tmp_path):
    mine = tmp_path / "layers.json"
    mine.write_text("mine")
    (tmp_path / "my_layer.py").write_text(LAYER)
    with pytest.raises(UsageError, match="holds other files"):
        reproduce_suite("layers", layers=[f"{tmp_path}/my_layer.py:Layer"], out=tmp_path)
    assert mine.read_text() == "mine"
    with pytest.raises(UsageError, match="there is no file"):
        reproduce_suite("layers", layers=["nowhere.py:Layer"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_layer_that_looks_ahead_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "my_layer.py").write_text(LAYER + "    def forward(self, states):\n"
        "        return super().forward(states + states.mean(1, keepdim=True))\n")  # fmt: skip
    with pytest.raises(SynthbenchError, match="causal: outputs change"):
        reproduce_suite("layers", layers=[f"{tmp_path}/my_layer.py:Layer"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_suite_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(UsageError, match=r"Unknown suite 'layer'.*Did you mean 'layers'"):
        reproduce_suite("layer", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seeds": 0}, "Seeds 0: allowed are whole numbers from 1"),
        ({"width": 0}, "Width 0"),
        ({"profile": "quik"}, "Did you mean 'quick'"),
        ({"workers": 0}, "Workers 0"),
        ({"device": "gpu"}, "'gpu'"),
        ({"precision": "float8"}, "'float8'"),
        ({"models": ["grus"]}, "Did you mean 'gru'"),
        ({"rates": [1e-3, 1e-3]}, "a rate is repeated"),
        ({"rates": [0.0]}, "Learning rate 0.0"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_written(wrong, message, tmp_path):
    with pytest.raises((UsageError, ParameterError), match=message):
        reproduce_suite("layers", out=tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["parity", "--width", "32"], "--width is for --suite"),
        (["--suite", "layers", "--rates", "fast"], "is not a list of numbers"),
        (["--suite", "layers", "--compare", "nowhere", "there"], "No report of a suite"),
        (["--suite", "layers", "--profile", "paper"], "Unknown profile of a suite 'paper'"),
    ],
)
def test_options_of_the_suite_are_checked(words, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", *words])
    assert message in " ".join(capsys.readouterr().err.split())
