"""A suite tries a layer on several settings."""

import dataclasses
import json

import pytest

from synthbench.errors import SynthbenchError, UsageError
from synthbench.training import recipes, suite
from synthbench.training.recipes.layers import STUDIES as LAYERS
from synthbench.training.recipes.layers import SUITES
from synthbench.training.suite import reproduce_suite, suite_markdown
from tests.training.making import recorded_bars

LAYER = "import torch.nn as nn\n\nclass Layer(nn.Linear):\n    def __init__(self, width):\n"
LAYER += "        super().__init__(width, width)\n"


def test_the_suite_has_twelve_settings_and_its_layers_have_one_recipe_and_one_size():
    assert sum(len(study.variants) for study in SUITES["layers"]) == 12
    for study in LAYERS:
        kinds = [dataclasses.replace(one, name="", model="", options={}) for one in study.recipes]
        assert all(one == kinds[0] for one in kinds)
        assert study.recipes[0].model == "gru"


@pytest.fixture
def short(monkeypatch):
    """The suite with twenty steps a run, for two of its studies."""
    studies = []
    for study in (LAYERS[0], LAYERS[-1]):
        made = [
            dataclasses.replace(one, steps=20, warmup=1, validate_every=10, batch_size=8)
            for one in study.recipes
        ]
        rows = {**study.rows, "train": 200} if study is LAYERS[0] else {}
        changes = {"recipes": tuple(made), "variants": study.variants[:2], "rows": rows}
        studies.append(dataclasses.replace(study, **changes))
    monkeypatch.setattr(recipes, "STUDIES", tuple(studies))
    monkeypatch.setattr(suite, "SUITES", {"layers": tuple(studies)})


@pytest.mark.slow
def test_a_layer_is_tried_on_every_setting_and_goes_on_where_it_stopped(
    short, tmp_path, monkeypatch
):
    bars = recorded_bars(monkeypatch)
    (tmp_path / "my_layer.py").write_text(LAYER)
    place = {"layers": [f"{tmp_path}/my_layer.py:Layer"], "out": tmp_path / "out"}
    first = reproduce_suite("layers", workers=1, progress=False, **place)
    (bar,) = bars
    assert sorted(set(bar.seen)) == [*range(bar.total + 1)]
    assert bar.total == 3 * 20
    for setting in ("state-tracking S3", "modular-arithmetic add"):
        assert any(f"{setting}, my_layer.Layer, seed 0:" in title for title in bar.titles)
    report = reproduce_suite("layers", workers=1, progress=False, **place)
    assert (bars[1].seen[0], bars[1].seen[-1]) == (bar.total, bar.total)
    for one, other in zip(first["comparisons"], report["comparisons"], strict=True):
        assert one["models"] == other["models"]  # runs are read, with the seconds that they took
    assert json.loads((tmp_path / "out" / "layers.json").read_text("utf-8")) == report
    assert (tmp_path / "out" / "layers.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "out" / "layers.md").read_text("utf-8")
    assert text == suite_markdown(report)
    for setting in ("state-tracking, Z2", "state-tracking, S3", "modular-arithmetic, add"):
        assert f"| {setting} | my_layer.Layer | 1 |" in text


def test_the_lines_of_a_setting_stand_together():
    lines = [{"model": model, "variant": variant} for model in "ab" for variant in ("S3", "Z2")]
    report = {"comparisons": [{"models": lines}, {"models": [{"model": "c", "variant": "add"}]}]}
    assert [(line["variant"], line["model"]) for _, line in suite._settings(report)] == [
        *(("S3", "a"), ("S3", "b"), ("Z2", "a"), ("Z2", "b")),
        ("add", "c"),
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
        ({"workers": 0}, "Workers 0"),
        ({"device": "gpu"}, "'gpu'"),
        ({"precision": "float8"}, "'float8'"),
        ({"models": ["grus"]}, "Did you mean 'gru'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_written(wrong, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        reproduce_suite("layers", out=tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()
