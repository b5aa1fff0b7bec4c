"""The table of results, made from files."""

import json

import pytest

from docs.results import (
    contrasts_section,
    figure,
    fitted_models,
    read_comparisons,
    results_section,
)
from synthbench import __version__
from synthbench.errors import DatasetError
from synthbench.training.contrasts import CONTRASTS
from synthbench.training.fit import FITTED, PLATEAU, UNFINISHED


def fit(state):
    return {"metric": "accuracy", "chosen": 0.75, "state": state}


def comparison(
    task="ctl", profile="cpu", variants=("forward", "backward"), states=(FITTED, FITTED)
):
    figure = {"mean": 0.5, "deviation": 0.1, "values": [0.4, 0.6], "published": None}
    published = {"mean": 1.0, "deviation": 0.0, "runs": None, "source": "NDR, table 1"}
    return {
        "task": task,
        "study": "main",
        "profile": profile,
        "synthbench": __version__,
        "command": f"synthbench reproduce {task} --profile {profile}",
        "seeds": 2,
        "seconds": 61.0,
        "workers": 2,
        "machine": {"gpu": None, "processor": "A processor", "torch": "2.4"},
        "measures": [
            {"name": "iid", "metric": "accuracy", "headline": "in"},
            {"name": "between", "metric": "accuracy", "headline": ""},
            {"name": "test", "metric": "accuracy", "headline": "out"},
        ],
        "models": [
            {
                "model": "ndr",
                "variant": variant,
                "runs": [{"fit": fit(state)} for state in states],
                "measures": {
                    "iid": figure,
                    "between": figure,
                    "test": {**figure, "published": published},
                },
            }
            for variant in variants
        ],
    }


@pytest.fixture
def results(tmp_path):
    for task, profile in (("parity", "paper"), ("parity", "cpu"), ("ctl", "cpu")):
        text = json.dumps(comparison(task, profile))
        (tmp_path / f"{task}-{profile}.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_table_has_a_line_for_each_model_and_variant_in_the_order_of_the_tasks(results):
    lines = results_section(read_comparisons(results)).splitlines()
    assert lines[2] == (
        "| `ctl` forward | cpu | `ndr` | 0.750 | iid: 0.500 ± 0.100 |  "
        "| test: 0.500 ± 0.100 | 1.000 ± 0.000 |"
    )
    assert [line.split(" | ")[:2] for line in lines[2:8]] == [
        ["| `ctl` forward", "cpu"],
        ["| `ctl` backward", "cpu"],
        ["| `parity` forward", "cpu"],
        ["| `parity` backward", "cpu"],
        ["| `parity` forward", "paper"],
        ["| `parity` backward", "paper"],
    ]
    assert lines[-1] == (
        "- `synthbench reproduce parity --profile paper`: 2 seeds, 61 s with 2 at once, "
        f"A processor, PyTorch 2.4, synthbench {__version__}."
    )


def test_a_result_names_all_machines_and_commits_of_its_runs_and_another_version():
    made = comparison(variants=("forward",))
    first, second = made["models"][0]["runs"]
    first["commit"] = "0123456789" * 4
    second["commit"] = "abcdefabcd" * 4 + "-dirty"
    second["machine"] = {"gpu": "A GPU", "processor": "A processor", "torch": "2.15"}
    made["synthbench"] = "0.1.0"
    last = results_section([made]).splitlines()[-1]
    assert last.endswith(
        "A processor, PyTorch 2.4, synthbench 0.1.0 at commit 0123456; "
        "A GPU, PyTorch 2.15, synthbench 0.1.0 at commit abcdefa with changes; "
        f"this is {__version__}."
    )


def test_what_is_no_comparison_is_refused_by_name(tmp_path):
    with pytest.raises(DatasetError, match=r"has no \.json files"):
        read_comparisons(tmp_path)
    (tmp_path / "other.json").write_text('{"task": 1}', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"other\.json is no comparison"):
        read_comparisons(tmp_path)


def test_a_model_that_is_not_trained_to_the_end_is_marked_in_the_table_and_in_no_picture():
    unfinished = comparison(states=(FITTED, UNFINISHED))
    assert fitted_models(unfinished) == []
    assert "0.750, 1 of 2 not trained to the end" in results_section([unfinished])
    assert len(fitted_models(comparison(states=(FITTED, PLATEAU)))) == 2


def test_a_sentence_rests_on_a_figure_of_a_model_that_was_trained_to_the_end():
    assert figure([comparison()], "ctl cpu forward ndr test") == "0.500 ± 0.100"
    assert figure([comparison()], "ctl cpu forward ndr training") == "0.750"
    with pytest.raises(DatasetError, match="not trained to the end"):
        figure([comparison(states=(UNFINISHED,))], "ctl cpu forward ndr test")
    for unknown in ("ctl paper forward ndr test", "ctl cpu forward ndr tset"):
        with pytest.raises(DatasetError, match="no result has it"):
            figure([comparison()], unknown)


def test_every_contrast_is_listed_whether_it_was_run_or_not():
    text = contrasts_section([comparison()])
    assert text.startswith(f"0 of {len(CONTRASTS)} are shown.")
    assert text.count("| not run |") == len(CONTRASTS)
