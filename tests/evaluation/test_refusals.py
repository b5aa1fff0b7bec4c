"""What cannot be judged is refused: wrong usage and broken datasets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import ClassVar

import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest

import synthbench
from synthbench import llm
from synthbench.errors import DatasetError, ParameterError, UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.rows import _numbers_to_check
from synthbench.tasks.listops.task import ListOps
from tests.evaluation.making import refusal
from tests.support import shards


def test_an_unknown_split_is_refused_and_the_nearest_offered(made):
    text = refusal(UsageError, made.path, {}, split="tset")
    assert "'tset'. Allowed: train, iid, validation, test. Did you mean 'test'?" in text
    text = refusal(UsageError, made.rows, {}, split="tset", task="listops")
    assert "Did you mean 'test'?" in text


def test_another_number_of_predictions_than_rows_is_refused(made):
    expected = (
        "39 predictions in order for the 40 rows of split 'test': "
        "expected one prediction for each row."
    )
    assert refusal(UsageError, made.path, [0] * 39, split="test") == expected
    rows = made.rows["test"]
    assert refusal(UsageError, rows, [0] * 39, split="test", task="listops") == expected


def test_predictions_in_order_need_one_split(made):
    text = refusal(UsageError, made.path, [0] * 40)
    assert text.endswith("Splits: train, iid, validation, test.")
    assert evaluate({"test": made.rows["test"]}, [0] * 40, task="listops").rows == 40


def test_predictions_for_no_row_of_any_split_are_refused(made):
    text = refusal(DatasetError, made.path, {"x": 1, "y": 2})
    assert text.startswith("None of the 2 predictions has an id of ")
    assert text.endswith("variant 'default'; their ids begin 'x', 'y'.")


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize(
    ("function", "order"),
    [
        (evaluate, "The order is evaluate(data, predictions, task)."),
        (llm.evaluate, "The order is llm.evaluate(data, completions, task)."),
    ],
)
def test_another_order_of_arguments_is_refused_with_the_right_order(
    made, tmp_path, monkeypatch, function, order, is_there
):
    monkeypatch.chdir(tmp_path)
    if is_there:  # the task's name is then a dataset directory, too
        Path("listops").symlink_to(made.path)
    rows, answers, task = made.rows["test"], ["0"] * 40, synthbench.task("listops")
    by_id = {row["id"]: "0" for row in rows}
    calls = [
        ("listops", rows, answers),
        ("listops", rows, by_id),
        (str(made.path), rows, answers),
        (made.path, rows, by_id),
        (task, rows, answers),
        (task, rows),
        (rows, "listops", answers),
        (rows, task),
        (rows, task, answers),
        (answers, rows, "listops"),
    ]
    if not is_there:
        calls.append(("listops", answers))
    for call in calls:
        with pytest.raises(UsageError) as caught:
            function(*call)
        assert order in str(caught.value), call


def test_data_of_either_function_may_be_a_directory(made):
    answers = [str(row["label"]) for row in made.rows["test"]]
    for data in (made.path, str(made.path)):
        assert evaluate(data, answers, split="test").accuracy == 1.0
        assert llm.evaluate(data, answers, split="test").accuracy == 1.0
        assert llm.evaluate(data, made.right("test")).accuracy == 1.0
    assert llm.evaluate(made.rows["test"], answers, made.path).accuracy == 1.0
    with pytest.raises(UsageError, match="do not name their task"):
        llm.evaluate(made.rows["test"], answers)


def test_an_array_of_the_wrong_shape_names_the_task_at_hand(made):
    for name in ("listops", "ctl"):
        text = refusal(UsageError, [{"label": 3}] * 2, np.zeros((2, 99)), name)
        assert f"Allowed for {name} are (rows,)" in text
        assert f"synthbench.task('{name}', ...)" in text


def test_rows_need_a_task(made):
    text = refusal(UsageError, made.rows["test"], {})
    assert text == "Rows of type list do not name their task. Give it after the predictions."
    assert "Did you mean 'listops'?" in refusal(UsageError, made.rows["test"], {}, task="listop")


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("ctl", "is of task 'listops'. Expected 'ctl'."),
        (synthbench.task("arithmetic"), "is of task 'listops'. Expected 'arithmetic'."),
        (synthbench.task("listops", seed=3), "has seed=0; seed=3 was asked for."),
        (synthbench.task("listops", p_op=0.5), "has p_op=0.3; p_op=0.5 was asked for."),
    ],
)
def test_another_task_than_that_of_the_directory_is_refused(made, task, said):
    text = refusal(UsageError, made.path, {}, split="test", task=task)
    assert text == f"Data {str(made.path)!r} {said}"


def test_an_impossible_parameter_of_the_task_is_refused_by_its_name():
    with pytest.raises(ParameterError, match=r"p_op=2\.0"):
        evaluate([{"label": 3}], [3], synthbench.task("listops", p_op=2.0))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (3, "Rows of split 'rows' are of type int: expected"),
        ({1, 2}, "Rows of split 'rows' are of type set: expected"),
        ({"test": "text"}, "Rows of split 'test' are of type str: expected"),
        ([], "Split 'rows' is empty."),
        ([3, 4], "Row 0 of the data is 3: expected a dict."),
        ([{"label": 3}, 4], "Row 1 of split 'rows' is not a dict with the columns label"),
        ([{"label": 3}, {"id": "x"}], "Row 1 of split 'rows' is not a dict with the columns label"),
        ([{"text": "3"}] * 2, "A row has no column 'label', by which answers of listops are"),
    ],
)
def test_rows_that_are_none_are_refused(rows, expected):
    assert refusal(UsageError, rows, [3, 4], task="listops").startswith(expected)


class Undeclared(ListOps):
    """A task that does not say by which columns it judges."""

    scored_columns: ClassVar[tuple[str, ...]] = ()


def test_rows_of_quite_another_kind_are_refused():
    text = refusal(UsageError, [{"id": "a"}], [3], task=Undeclared())
    expected = "the columns text, label, depth, dependency_depth, length; these have id."
    assert text.endswith(expected)
    assert evaluate([{"label": 3}], [3], task=Undeclared()).accuracy == 1.0


PARITY = {"id": "a", "text": "3 4 7 2 =", "label": 7, "a": 3, "b": 4, "c": 7, "d": 2}


@pytest.mark.parametrize("form", [list, datasets.Dataset.from_list])
def test_the_rows_of_another_task_are_refused(made, form):
    text = refusal(UsageError, form([PARITY]), [7], task="listops")
    assert "they have the columns a, b, c, d and lack depth, dependency_depth, length." in text
    rows = form(made.rows["test"])
    text = refusal(UsageError, rows, [7] * 40, task="arithmetic")  # which has the same columns
    assert text.startswith("Row 0 of split 'rows' is not a row of arithmetic with these parameters")
    text = refusal(UsageError, rows, [7] * 40, task="parity")
    assert "they have the columns depth, dependency_depth, length and lack a, b, c, d." in text


def test_rows_may_lack_columns_or_have_more_or_hold_the_prediction():
    less = {"id": "a", "label": 7, "prediction": 7}
    for row in (PARITY, {**PARITY, "note": "x"}, less, {"label": 7}):
        assert evaluate([row], [7], task="parity").accuracy == 1.0


def test_a_label_of_other_parameters_is_refused():
    text = refusal(UsageError, [{"label": 15}], [15], task="parity")
    assert text.startswith(
        "Row 0 of split 'rows': Column 'label' of a row: 15 is not a class (0, 1"
    )
    assert evaluate([{"label": 15}], [15], synthbench.task("parity", n_values=20)).accuracy == 1


def test_streamed_rows_are_refused(made):
    streamed = datasets.Dataset.from_list(made.rows["test"]).to_iterable_dataset()
    text = refusal(UsageError, streamed, {}, task="listops")
    assert text == "Rows of split 'rows' are streamed. Give them as list(...)."


def test_predictions_by_id_need_ids():
    text = refusal(UsageError, [{"label": 3}], {"x": 3}, task="listops")
    assert text == "Predictions are by id, but split 'rows' lacks the column 'id'."


def broken_copy(made, directory, change):
    """Copy the dataset and change the rows of test; returns their shard."""
    shutil.copytree(made.path, directory)
    (shard,) = shards(directory, "default", "test")
    pq.write_table(change(pq.read_table(shard)), shard)
    return shard


def test_a_directory_with_fewer_rows_than_its_manifest_is_refused(made, tmp_path):
    broken_copy(made, tmp_path / "copy", lambda table: table.slice(0, 30))
    text = refusal(DatasetError, tmp_path / "copy", [0] * 40, split="test")
    assert "default/test has 30 rows where its manifest says 40: a shard is damaged" in text


def test_a_directory_without_a_column_is_refused(made, tmp_path):
    shard = broken_copy(made, tmp_path / "copy", lambda table: table.drop_columns(["label"]))
    text = refusal(DatasetError, tmp_path / "copy", [0] * 40, split="test")
    assert text == f"{shard}: column label is missing, expected int64."


@pytest.mark.parametrize("form", [list, datasets.Dataset.from_list])
@pytest.mark.parametrize("place", [1, 99, 199])
def test_a_mixture_with_the_rows_of_another_task_is_refused(form, place):
    sums = [{"text": f"{one} + 2 =", "label": (one + 2) % 97} for one in range(97)] * 3
    others = [{"text": "5 - 2 =", "label": 3}] * 50
    rows = form([*sums[:place], *others, *sums[place:200]])
    text = refusal(UsageError, rows, [0] * 250, task="modular-arithmetic")
    assert re.match(r"Row \d+ of split 'rows' is not a row of modular-arithmetic with these", text)
    assert "'5 - 2 =': expected 'a + b ='" in text


def test_the_first_and_the_last_row_are_always_checked():
    for rows in (1, 2, 63, 64, 65, 1_000, 123_456):
        numbers = _numbers_to_check(rows)
        assert numbers[0] == 0
        assert numbers[-1] == rows - 1
        assert len(numbers) == len(set(numbers)) <= 66
        assert rows > 64 or len(numbers) == rows
