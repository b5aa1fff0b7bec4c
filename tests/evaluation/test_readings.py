"""How predictions were read, which rows are scored, and what is said of unreadable ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from synthbench.errors import UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.single_rows import score
from tests.evaluation.making import SIZES, refusal, wrong
from tests.planted.task import Reversal

# Over all rows, and over the answered ones.


def test_scores_are_given_over_all_rows_and_over_the_answered_ones(made):
    rows = made.rows["test"]
    predictions: dict[str, Any] = {row["id"]: row["label"] for row in rows[:20]}
    predictions[rows[0]["id"]] = wrong(rows[0]["label"])
    predictions[rows[1]["id"]] = "no idea"
    report = evaluate(made.path, predictions, split="test")
    assert (report.rows, report.accuracy) == (40, 18 / 40)
    assert (report.parsed.rows, report.parsed.accuracy) == (19, 18 / 19)
    assert report.to_dict()["parsed"]["accuracy"] == 18 / 19
    assert "answered rows" in str(report) and "19    0.9474" in str(report)
    assert "answered rows" not in str(evaluate(made.path, made.right("test"), split="test"))


def test_without_any_answer_there_is_no_score_over_the_answered_rows():
    report = evaluate([{"label": 9}], [None], task="listops")
    assert report.parsed.rows == 0 and np.isnan(report.parsed.accuracy)
    nothing = {"rows": 0, "asked": 0, "accuracy": None, "scaled_accuracy": None}
    assert report.to_dict()["parsed"] == nothing
    assert str(report).splitlines()[4].split() == ["answered", "rows", "0", "-", "-", "-"]


# Running text.


def test_answers_are_found_in_running_text_when_asked_for(made):
    rows = made.rows["test"]
    texts: list[Any] = [f"First 3. So **the answer is {row['label']}.**" for row in rows]
    texts[0], texts[1] = rows[0]["label"], "No idea at all."
    report = evaluate(made.path, texts, split="test", read="text")
    assert report.accuracy == 39 / 40
    assert report.unparsed == (rows[1]["id"],)
    assert report.parsed_as == {"value": 1, "text": 38}
    assert "Read as: value (1), text (38)" in str(report)
    assert evaluate(made.path, texts, split="test").accuracy == 1 / 40


def test_text_labels_are_found_in_running_text_and_as_they_are():
    rows = [{"id": name, "label": name[::-1]} for name in ("abc", "de", "3 f")]
    texts = {"abc": "cba", "de": "The answer is **ed**.", "3 f": "No: f3"}
    report = evaluate(rows, texts, task=Reversal(), read="text")
    assert (report.accuracy, report.parsed_as) == (2 / 3, {"text": 3})
    assert evaluate(rows, texts, task=Reversal()).accuracy == 1 / 3
    assert score(Reversal(), rows[0], "cba") == 1.0


def test_another_way_to_read_is_refused(made):
    text = refusal(UsageError, made.path, {}, read="texts")
    assert text == "Unknown way to read predictions 'texts'. Allowed: value, text. Did you mean " \
        "'text'?"  # fmt: skip


# The warning.


def test_if_most_cannot_be_read_an_example_and_what_would_mend_it_are_told(made):
    name = made.rows["test"][0]["id"]
    texts = [f"The answer is {row['label']}." for row in made.rows["test"]]
    report = evaluate(made.path, texts, split="test")
    example = f"'{texts[0]}' for id '{name}'"
    assert report.warning == (
        f"40 of 40 predictions cannot be read, such as {example}. "
        "With --read text (read='text') answers are found in running text."
    )
    assert evaluate(made.path, texts, split="test", read="text").warning is None
    report = evaluate(made.path, [3.5] * 40, split="test")
    expected = "Expected a class (0, 1, 2, 3, 4, 5, 6, 7, 8, 9) or its index, 0 to 9."
    assert report.warning is not None
    assert report.warning.endswith(f"3.5 for id '{name}'. {expected}")
    nothing = evaluate(made.path, [None] * 40, split="test").warning
    assert nothing is not None and "such as None" in nothing


@pytest.mark.parametrize(("unreadable", "warned"), [(20, False), (21, True)])
def test_the_warning_comes_above_a_half(made, unreadable, warned):
    answers: list[Any] = [row["label"] for row in made.rows["test"]]
    answers[:unreadable] = ["?"] * unreadable
    report = evaluate(made.path, answers, split="test")
    assert (report.warning is not None) == warned
    predicted = dict(zip((row["id"] for row in made.rows["test"][:2]), ["?", 3], strict=True))
    assert evaluate(made.path, predicted, split="test").warning is None


# As a table for pandas and for notebooks.


def test_the_report_is_a_data_frame(made):
    report = evaluate(made.path, {**made.right("iid", "test"), made.rows["iid"][0]["id"]: None})
    frame = report.to_pandas()
    assert list(frame) == [
        "by",
        "value",
        "rows",
        "asked",
        "accuracy",
        "scaled_accuracy",
        "accuracy_low",
        "accuracy_high",
    ]
    splits = frame[frame["by"] == "split"].set_index("value")
    assert list(splits.index) == ["iid", "test", "all", "answered rows"]
    assert splits.loc["iid", "accuracy"] == report.splits["iid"].accuracy == 49 / 50
    assert splits.loc["answered rows", "rows"] == 89
    assert splits.loc["all", "accuracy_low"] == report.intervals["accuracy"][0]
    depths = frame[frame["by"] == "dependency_depth"]
    assert list(depths["value"]) == list(report.by["dependency_depth"])
    assert depths["rows"].sum() == SIZES["iid"] + SIZES["test"]
    assert isinstance(frame, pd.DataFrame)


def test_the_report_is_a_table_in_a_notebook(made):
    predictions = {**made.right("test"), "<script>": 3}
    text = evaluate(made.path, predictions, split="test")._repr_html_()
    assert text.count("<tr>") == text.count("</tr>") > 10
    assert '<th scope="col">dependency_depth</th><th scope="col" class="right">rows</th>' in text
    assert '<th scope="row">test</th><td class="right">40</td>' in text
    assert "1 unknown (not in test): &#x27;&lt;script&gt;&#x27;" in text
    assert "<script>" not in text
