"""The README's table of results, made from files."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from synthbench.errors import DatasetError, UsageError
from synthbench.training.results import main, read_comparisons, replace_section, results_section
from tests.support import ROOT, environment

README = "# Title\n\n<!-- results -->\nold\n<!-- end of results -->\n\nMore.\n"


def comparison(task="ctl", profile="cpu", variants=("forward", "backward")):
    figure = {"mean": 0.5, "deviation": 0.1, "values": [0.4, 0.6], "published": None}
    published = {"mean": 1.0, "deviation": 0.0, "runs": None, "source": "NDR, table 1"}
    return {
        "task": task,
        "profile": profile,
        "command": f"synthbench validate {task} --profile {profile}",
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
        "| `ctl` forward | cpu | `ndr` | iid: 0.500 ± 0.100 |  "
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
        "- `synthbench validate parity --profile paper`: 2 seeds, 61 s with 2 at once, "
        "A processor, PyTorch 2.4."
    )


def test_the_section_is_replaced_and_doing_it_again_changes_nothing(results):
    readme = results / "README.md"
    readme.write_text(README, encoding="utf-8")
    assert main([str(results), str(readme)]) == 0
    once = readme.read_text(encoding="utf-8")
    assert once.startswith("# Title\n\n<!-- results -->\n| task |")
    assert once.endswith("\n<!-- end of results -->\n\nMore.\n")
    assert "old" not in once
    assert main([str(results), str(readme)]) == 0
    assert readme.read_text(encoding="utf-8") == once


@pytest.mark.parametrize(
    "text",
    ["nothing", "<!-- results -->", README + README, "<!-- end of results --><!-- results -->"],
)
def test_a_text_without_the_two_marks_is_refused(text):
    with pytest.raises(UsageError, match="each once, in this order"):
        replace_section(text, "new")


def test_what_is_no_comparison_is_refused_by_name(tmp_path):
    with pytest.raises(DatasetError, match=r"has no \.json files"):
        read_comparisons(tmp_path)
    (tmp_path / "other.json").write_text('{"task": 1}', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"other\.json is no comparison"):
        read_comparisons(tmp_path)


def test_as_a_program_it_says_in_one_line_what_is_wrong(tmp_path):
    for words, status in (([], 2), ([str(tmp_path), "README.md"], 1)):
        done = subprocess.run(
            [sys.executable, "-m", "synthbench.training.results", *words],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert len(done.stderr.splitlines()) == 1
