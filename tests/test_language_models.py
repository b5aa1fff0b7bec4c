"""The page of results of language models, made from files."""

import importlib
import json

import pytest

from synthbench.errors import DatasetError
from synthbench.training.train_fit import FITTED, NOT_FITTED
from tests.support import ROOT


@pytest.fixture
def page(monkeypatch):
    """The module that makes the page; MkDocs finds it beside its hooks."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("language_models")


def score(accuracy, **by):
    interval = [accuracy - 0.125, accuracy + 0.125]
    groups = {bucket: {"accuracy": one} for bucket, one in by.items()}
    answers = {"rows": 200, "unparsed": 100 if accuracy < 0.2 else 0, "accuracy": accuracy}
    return {**answers, "accuracy_interval": interval, "by": {"depth": groups}}


def took(seconds, gpu=None):
    machine = {"processor": "A processor", "gpu": gpu, "torch": "2.4"}
    return {"cpu_seconds": seconds, "machine": machine}


def result(level="easy", state=FITTED):
    shortcut = {"chance": 0.125, "best": "last token", "mean": 0.25, "low": 0.2, "high": 0.3}
    shortcut["rows"] = 46
    zero_shot = {"iid": score(0.25, **{"1": 0.25, "2": 0.25}), "test": score(0.125, **{"3": 0.125})}
    fit = {"chosen": 0.75, "state": state, "rows": 1000}
    training = {"steps": 1000, "batch": 32, "rate": 2e-4, "fit": fit}
    return {
        "task": "arithmetic",
        "level": level,
        "command": f"python examples/llm/results.py arithmetic {level}",
        "bucket": "depth",
        "trained_on": [1, 2],
        "parts": {
            "shortcuts": {"iid": shortcut, "test": shortcut, **took(1)},
            "zero-shot": {**zero_shot, **took(2000)},
            "fine-tuned": {**training, **zero_shot, **took(3, gpu="A GPU")},
        },
    }


def with_replies():
    """A result that keeps replies."""
    made = result("medium")
    reply = {"answer": "7", "reply": "Answer: 7\nor | 8", "unread": "it settles on none"}
    zero_shot = made["parts"]["zero-shot"]
    zero_shot["test"] = {**zero_shot["test"], "replies": [reply]}
    return made


def test_every_part_has_a_line_and_what_was_not_run_says_so(page):
    lines = page.results_section([result()]).splitlines()
    start = "| `arithmetic` | easy |"
    shortcut = "0.250 (0.200 to 0.300) of 46 rows, last token"
    scores = "0.250 (0.125 to 0.375) | 0.125 (0.000 to 0.250), 50% unreadable"
    assert [" ".join(line.split()) for line in lines[2:7]] == [
        f"{start} chance | | 0.125 | 0.125 |",
        f"{start} best shortcut of the audit | | {shortcut} | {shortcut} |",
        f"{start} SmolLM2, zero-shot | | {scores} |",
        f"{start} SmolLM2, eight examples | not run | not run | not run |",
        f"{start} SmolLM2, fine-tuned | 0.750 of 1,000 rows | {scores} |",
    ]
    assert lines[-1] == (
        "- `python examples/llm/results.py arithmetic easy`, "
        "fine-tuned with `--steps 1000 --batch 32 --rate 0.0002`: "
        "2,001 s of processor time (A processor, PyTorch 2.4) "
        "and 3 s of processor time (A GPU, PyTorch 2.4)."
    )
    lines = page.results_section([result(), with_replies()]).splitlines()
    assert "The first replies to rows of test, zero-shot:" in lines
    assert r"| `arithmetic` | medium | `7` | `Answer: 7\nor \| 8` | it settles on none |" in lines
    empty = {**result(), "parts": {}}
    assert page.results_section([empty]).count("not run") == 2 + 2 + 3 * 3


def test_a_model_that_is_not_fitted_is_marked_and_not_drawn(page):
    states = FITTED, "stopped improving"  # the latter is of an older version
    fitted, unfinished = (page.results_section([result(state=one)]) for one in states)
    assert "</i>SmolLM2, fine-tuned<" in fitted
    assert "</i>the solver<" in fitted
    assert f"0.750 of 1,000 rows, {NOT_FITTED} in 1,000 steps" in unfinished
    assert "</i>SmolLM2, fine-tuned<" not in unfinished
    assert "</i>SmolLM2, zero-shot<" in unfinished


def test_results_are_ordered_by_task_and_level_and_others_are_refused(page, tmp_path):
    for level in ("medium", "easy"):
        (tmp_path / f"{level}.json").write_text(json.dumps(result(level)), encoding="utf-8")
    (tmp_path / "first.json").write_text(json.dumps({**result(), "task": "listops"}))
    found = [(one["task"], one["level"]) for one in page.read_results(tmp_path)]
    assert found == [("listops", "easy"), ("arithmetic", "easy"), ("arithmetic", "medium")]
    (tmp_path / "other.json").write_text('{"task": "ctl"}', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"other\.json is no result"):
        page.read_results(tmp_path)
    with pytest.raises(DatasetError, match=r"has no \.json files"):
        page.read_results(tmp_path / "nothing")
