"""Logs of lm-evaluation-harness and of Inspect as predictions."""

import importlib.util
import json

import pytest

from synthbench.errors import DatasetError
from synthbench.evaluation.chat_replies import RunningText
from synthbench.evaluation.predictions import read_predictions
from tests.evaluation.test_prediction_files import refusal, write, written


def read(path, *lines):
    return read_predictions(write(path, *lines))


def test_the_first_filter_of_a_harness_log_counts(tmp_path):
    lines = [
        {"doc_id": 0, "doc": {"id": name, "label": 3}, "filter": filter, "filtered_resps": [answer]}
        for filter, answer in (("tolerant", "3"), ("strict", "It is 3."))
        for name in ("a", "b")
    ]
    found = read(tmp_path / "samples.jsonl", *lines)
    assert found.by_id == {"a": "3", "b": "3"}
    assert found.repeated == ()


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ([[-3.5, False], [-0.5, True], [-2.0, False]], 1),
        ([["-3.5", "False"], ["-0.5", "True"]], 1),
        ([[-0.5, True], [None, False]], None),
        ([[-0.5, True], []], None),
        ([[-0.5, True], "ab"], None),
        ([["x"]], None),
    ],
)
def test_of_a_multiple_choice_the_likeliest_is_the_prediction(tmp_path, choices, expected):
    found = read(tmp_path / "samples.jsonl", {"doc": {"id": "a"}, "filtered_resps": choices})
    assert found.by_id == {"a": expected}


def test_a_harness_log_of_rows_without_ids_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="line 1: id None is not text"):
        read(tmp_path / "samples.jsonl", {"doc": {"text": "x"}, "filtered_resps": ["3"]})
    with pytest.raises(DatasetError, match="line 1: no 'prediction'"):
        read(tmp_path / "samples.jsonl", {"id": "a", "doc": "x", "filtered_resps": ["3"]})
    found = read(tmp_path / "samples.jsonl", {"doc": {"id": "a"}, "filtered_resps": []})
    assert found.by_id == {"a": None}


# Logs of Inspect.


def sample(name, completion, **more):
    return {"id": name, "epoch": 1, "output": {"model": "m", "completion": completion}, **more}


def test_the_replies_of_an_inspect_log_are_running_text(tmp_path):
    kept = {"attachments": {"f00": "So it is 4."}}
    samples = [sample("a", "Answer: 3"), sample("b", ""), sample("c", "attachment://f00", **kept)]
    log = {"version": 2, "status": "success", "eval": {"task": "parity"}, "samples": samples}
    for form in (log, written(tmp_path / "log.json", json.dumps(log))):
        found = read_predictions(form)
        assert found.by_id == {"a": "Answer: 3", "b": None, "c": "So it is 4."}
        assert all(isinstance(one, RunningText) for one in found.by_id.values() if one)
    log["samples"] += [sample("a", "Answer: 9")]
    assert read_predictions(log).repeated == ("a",)


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ({}, " is empty: it holds no predictions."),
        ({"samples": []}, " is empty: it holds no predictions."),
        ({"samples": [sample(3, "x")]}, ", sample 0: id 3 is not text."),
        ({"samples": [7]}, ", sample 0: expected an object with 'id' and 'prediction', got 7."),
        ({"samples": 7}, " is empty: it holds no predictions."),
    ],
)
def test_an_inspect_log_that_cannot_be_read_is_told(tmp_path, samples, expected):
    log = {"version": 2, "status": "success", "eval": {}, **samples}
    path = written(tmp_path / "log.json", json.dumps(log))
    assert refusal(path, DatasetError) == f"{path}{expected}"


@pytest.mark.dev
def test_a_file_that_is_no_inspect_log_is_told(tmp_path):
    if importlib.util.find_spec("inspect_ai") is None:
        pytest.skip("the extras inspect and dev have inspect_ai")
    path = write(tmp_path / "log.eval", "no archive")
    assert refusal(path, DatasetError).startswith(f"{path} cannot be read as a log of Inspect: ")


def test_a_file_name_that_a_terminal_would_obey_is_written_out():
    with pytest.raises(DatasetError) as caught:
        read_predictions("\x1b[2J\udce9.parquet")
    assert str(caught.value) == r"\x1b[2J\udce9.parquet is missing."
