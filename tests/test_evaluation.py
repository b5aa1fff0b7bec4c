"""The evaluator finds exactly what was done to predictions, and refuses what it cannot judge."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.dataset import Dataset
from synthbench.errors import DatasetError, ParameterError, UsageError
from synthbench.evaluation import Report, evaluate, score, solve
from synthbench.generation import generate
from synthbench.registry import make_task
from synthbench.report import wilson
from synthbench.tasks.base import read_class
from synthbench.tasks.listops import ListOps

SIZES = {"train": 60, "iid": 50, "validation": 40, "test": 40}
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Made:
    """A small listops dataset and its rows by split."""

    path: Path
    rows: dict[str, Rows]

    def right(self, *splits: str) -> dict[str, Any]:
        return {row["id"]: row["label"] for split in splits for row in self.rows[split]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    path = tmp_path_factory.mktemp("evaluated") / "listops"
    generate("listops", out=path, rows=SIZES, workers=1, progress=False)
    opened = Dataset.open(path)
    return Made(path, {split: list(opened.rows("default", split)) for split in SIZES})


def wrong(label: int) -> int:
    return (label + 1) % 10


def refusal(kind: type[Exception], *arguments: Any, **named: Any) -> str:
    with pytest.raises(kind) as caught:
        evaluate(*arguments, **named)
    return str(caught.value)


# Predictions that were changed: the report tells exactly how.


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_change_to_right_predictions_is_counted(made: Made, data: st.DataObject) -> None:
    rows = made.rows["test"]
    ids = [row["id"] for row in rows]
    kinds = ["right", "right", "wrong", "missing", "unreadable"]
    fates = data.draw(st.lists(st.sampled_from(kinds), min_size=len(rows), max_size=len(rows)))
    predictions: dict[str, Any] = {"another": 3}
    for row, fate in zip(rows, fates, strict=True):
        if fate != "missing":
            answers = {"right": row["label"], "wrong": wrong(row["label"]), "unreadable": "three"}
            predictions[row["id"]] = answers[fate]
    names = data.draw(st.permutations(list(predictions)))

    report = evaluate(made.path, {name: predictions[name] for name in names}, split="test")

    right = fates.count("right")
    assert report.accuracy == right / len(rows)
    assert report.rows == len(rows)
    assert report.missing == tuple(i for i, f in zip(ids, fates, strict=True) if f == "missing")
    unreadable = tuple(i for i, f in zip(ids, fates, strict=True) if f == "unreadable")
    assert report.unreadable == unreadable
    assert report.unknown == ("another",)
    assert report.repeated == ()
    for column in ("dependency_depth", "depth", "length"):
        scores = report.by[column].values()
        assert sum(one.rows for one in scores) == len(rows)
        # The groups' right answers add up to the right answers of all.
        assert sum(round(one.accuracy * one.rows) for one in scores) == right


@given(flipped=st.integers(0, SIZES["iid"]))
@settings(max_examples=20, deadline=None)
def test_k_wrong_answers_of_n_take_k_nths_away(made: Made, flipped: int) -> None:
    labels = [row["label"] for row in made.rows["iid"]]
    given = [wrong(label) for label in labels[:flipped]] + labels[flipped:]
    report = evaluate(made.path, given, split="iid")
    assert Fraction(report.accuracy).limit_denominator(1000) == 1 - Fraction(flipped, len(labels))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_file_gives_the_report_of_the_mapping(made: Made, tmp_path: Path, kind: str) -> None:
    predictions = made.right("test", "iid")
    entries = [{"id": name, "prediction": str(label)} for name, label in predictions.items()]
    random.Random(0).shuffle(entries)
    path = tmp_path / f"predictions.{kind}"
    if kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(entries), path)
    assert evaluate(made.path, path) == evaluate(made.path, predictions)
    assert evaluate(str(made.path), str(path)).accuracy == 1.0


@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 9)), min_size=1, max_size=80))
@settings(max_examples=30, deadline=None)
def test_of_repeated_ids_the_first_prediction_counts(
    made: Made, tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[int, int]]
) -> None:
    rows = made.rows["test"]
    path = tmp_path_factory.mktemp("repeated") / "p.jsonl"
    lines = (json.dumps({"id": rows[i]["id"], "prediction": answer}) for i, answer in drawn)
    path.write_text("\n".join(lines), encoding="utf-8")
    first = {}
    for i, answer in drawn:
        first.setdefault(rows[i]["id"], answer)

    report = evaluate(made.path, path, split="test")

    assert report.accuracy == evaluate(made.path, first, split="test").accuracy
    asked = [rows[i]["id"] for i, _ in drawn]
    assert set(report.repeated) == {name for name in asked if asked.count(name) > 1}
    assert len(report.repeated) == len(set(report.repeated))


def test_predictions_without_any_id_of_the_split_score_nothing(made: Made) -> None:
    report = evaluate(made.path, made.right("iid"), split="test")
    assert report.accuracy == 0.0
    assert len(report.missing) == SIZES["test"]
    assert report.unknown == tuple(row["id"] for row in made.rows["iid"])
    assert evaluate(made.path, {}, split="test").accuracy == 0.0


# Forms of rows and predictions.


FORMS = {
    "list": list,
    "tuple": tuple,
    "int64": np.array,
    "float": lambda labels: np.array(labels, np.float32),
    "objects": lambda labels: np.array(labels, object),
    "text": lambda labels: np.array([str(label) for label in labels]),
    "bytes": lambda labels: np.array([str(label).encode() for label in labels]),
    "torch": torch.tensor,
    "scalars": lambda labels: list(torch.tensor(labels)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_predictions_in_order_may_have_any_form(made: Made, form: Any) -> None:
    labels = [row["label"] for row in made.rows["validation"]]
    labels[7] = wrong(labels[7])
    report = evaluate(made.path, form(labels), split="validation")
    assert report.accuracy == pytest.approx(1 - 1 / SIZES["validation"])
    assert report.missing == report.unknown == report.unreadable == ()


def as_table(rows: Rows) -> datasets.Dataset:
    return datasets.Dataset.from_list(rows)


@pytest.mark.parametrize("form", [list, tuple, as_table], ids=["list", "tuple", "datasets"])
def test_rows_at_hand_give_the_report_of_the_directory(made: Made, form: Any) -> None:
    predictions = made.right("test")
    for name in list(predictions)[:5]:
        predictions[name] = None
    rows = form(made.rows["test"])
    expected = evaluate(made.path, predictions, split="test")
    assert evaluate(rows, predictions, task="listops", split="test") == expected
    assert evaluate(rows, predictions, task=ListOps(), split="test") == expected
    assert len(expected.unreadable) == 5


def test_a_loaded_dataset_is_evaluated_in_whatever_format_it_is(made: Made, tmp_path: Path) -> None:
    loaded = datasets.load_dataset(str(made.path), cache_dir=str(tmp_path))
    predictions = made.right("test", "iid")
    report = evaluate(loaded, predictions, task="listops")
    assert report == evaluate(made.path, predictions)
    torch_rows = loaded["test"].with_format("torch")
    report = evaluate(torch_rows, torch.zeros(SIZES["test"]), task="listops")
    assert list(report.splits) == ["test"]
    zeros = sum(row["label"] == 0 for row in made.rows["test"])
    assert report.accuracy == zeros / SIZES["test"]
    assert set(report.by["dependency_depth"]) == {7, 8}


def test_rows_need_only_what_their_answers_are_judged_by() -> None:
    rows = [{"label": 3}, {"label": 4}]
    report = evaluate(rows, [3, "x"], task="listops")
    assert report.accuracy == 0.5
    assert report.by == {}
    assert report.unreadable == ("row 1",)
    assert list(report.splits) == ["rows"]


def test_numbers_of_rows_at_hand_may_be_of_numpy(made: Made) -> None:
    rows = [{name: np.array(value)[()] for name, value in row.items()} for row in made.rows["test"]]
    report = evaluate(rows, made.right("test"), task="listops")
    assert report.accuracy == 1.0
    assert report.by["dependency_depth"][7].rows == 20


# Which splits are evaluated.


def test_without_a_split_those_with_predictions_are_evaluated(made: Made) -> None:
    report = evaluate(made.path, made.right("iid", "test"))
    assert list(report.splits) == ["iid", "test"]
    assert report.without_predictions == ("train", "validation")
    assert report.rows == SIZES["iid"] + SIZES["test"]
    assert "Not evaluated, having no predictions: train, validation" in str(report)
    everything = evaluate(made.path, made.right(*SIZES))
    assert list(everything.splits) == list(SIZES)
    assert everything.without_predictions == ()


def test_one_prediction_is_enough_for_its_split_to_be_evaluated(made: Made) -> None:
    predictions = made.right("test")
    straggler = made.rows["train"][-1]
    report = evaluate(made.path, {straggler["id"]: straggler["label"], **predictions})
    assert report.splits["train"].accuracy == 1 / SIZES["train"]
    assert report.splits["test"].accuracy == 1.0
    assert len(report.missing) == SIZES["train"] - 1


def test_the_split_column_sets_other_splits_aside(made: Made, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    lines = [
        json.dumps({"id": row["id"], "prediction": row["label"], "split": split})
        for split in ("iid", "test")
        for row in made.rows[split]
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert list(evaluate(made.path, path).splits) == ["iid", "test"]
    report = evaluate(made.path, path, split="test")
    assert report.accuracy == 1.0
    assert report.unknown == ()


# What the report says.


def test_the_breakdowns_are_those_of_the_rows(made: Made) -> None:
    rows = made.rows["test"]
    predictions = made.right("test")
    for row in rows:
        if row["dependency_depth"] == 7:
            predictions[row["id"]] = wrong(row["label"])
    report = evaluate(made.path, predictions, split="test")
    by_depth = report.by["dependency_depth"]
    assert {depth: one.accuracy for depth, one in by_depth.items()} == {7: 0.0, 8: 1.0}
    assert by_depth[7].intervals["accuracy"][0] == 0.0
    for band, one in report.by["length"].items():
        low, high = map(int, band.split(".."))
        assert (low, high) == (low // 10 * 10 + 1, low // 10 * 10 + 10)
        assert one.rows == sum(low <= row["length"] <= high for row in rows)
    assert list(report.by["depth"]) == sorted({row["depth"] for row in rows})


def test_the_report_is_json_values(made: Made) -> None:
    predictions = {**made.right("test"), "b": 1, "a": 2}
    predictions[made.rows["test"][0]["id"]] = "none"
    report = evaluate(made.path, predictions)
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["task"] == "listops" and values["variant"] == "default"
    assert values["accuracy"] == report.accuracy == 39 / 40
    assert values["accuracy_interval"] == list(report.intervals["accuracy"])
    assert values["splits"]["test"]["rows"] == values["rows"] == 40
    assert values["by"]["dependency_depth"]["8"]["rows"] == 20
    assert (values["missing"], values["unknown"], values["unreadable"]) == (0, 2, 1)
    assert values["unknown_ids"] == ["b", "a"]
    assert values["unreadable_ids"] == [made.rows["test"][0]["id"]]
    assert values["without_predictions"] == ["train", "iid", "validation"]


def test_the_printed_report_is_an_aligned_table(made: Made) -> None:
    labels = [row["label"] for row in made.rows["test"]]
    labels[:10] = [wrong(label) for label in labels[:10]]
    lines = str(evaluate(made.path, labels, split="test")).splitlines()
    assert lines[0] == "listops, default"
    assert lines[2].split() == ["split", "rows", "accuracy", "95%", "interval"]
    assert lines[3].split() == ["test", "40", "0.7500", "0.5981", "to", "0.8581"]
    assert lines[-1] == "No prediction is missing, unknown, repeated or unreadable."
    table = [line for line in lines[2:-2] if line]
    assert len({len(line) for line in table}) == 1
    heads = [line.split()[0] for line in table if "rows" in line]
    assert heads == ["split", "dependency_depth", "depth", "length"]


def test_several_splits_have_a_line_for_all(made: Made) -> None:
    text = str(evaluate(made.path, made.right("iid", "test")))
    assert "\nall " in text
    assert "\nall " not in str(evaluate(made.path, made.right("test")))


def test_the_printed_report_names_problems_and_few_ids(made: Made) -> None:
    predictions: dict[str, Any] = dict.fromkeys(made.right("test"), math.nan)
    predictions = dict(list(predictions.items())[:-1])
    predictions["\ud800 unprintable"] = 1
    text = str(evaluate(made.path, predictions, split="test"))
    first, second, third, *_, last = made.right("test")
    assert (
        f"39 unreadable (no answer, scored as wrong): '{first}', '{second}', '{third}', ..." in text
    )
    assert f"1 missing (no prediction, scored as wrong): '{last}'\n" in text
    assert r"1 unknown (not in test): '\ud800 unprintable'" in text
    assert "repeated" not in text
    text.encode("utf-8")


# The interval; the known ones are in Newcombe (1998), table I, method 3.


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0000),
    ],
)
def test_the_interval_has_known_values(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert tuple(round(bound, 4) for bound in wilson(successes, trials)) == (low, high)


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_is_symmetric(drawn: tuple[int, int]) -> None:
    successes, trials = drawn
    low, high = wilson(successes, trials)
    assert 0.0 <= low <= successes / trials <= high <= 1.0
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low), abs=1e-12)


# Other metrics and other tasks.


class Numbers(ListOps):
    """A task of odd metrics on the columns of listops."""

    name = "numbers"
    metrics = ("error", "told", "accuracy")
    judged_by: ClassVar[tuple[str, ...]] = ("label",)

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        if answer is None:
            return {"error": math.inf, "told": math.nan, "accuracy": 0.0}
        right = answer == row["label"]
        told = float(right) / 2 if row["label"] < 5 else math.nan
        return {"error": abs(answer - row["label"]), "told": told, "accuracy": float(right)}

    def baseline(self) -> dict[str, float]:
        return {"guessing": 0.1}


def test_metrics_without_a_value_are_left_out_of_the_mean() -> None:
    rows = [{"label": label} for label in (1, 2, 8, 9)]
    report = evaluate(rows, [1, 3, 8, 9], task=Numbers())
    assert report.metrics == {"error": 0.25, "told": 0.25, "accuracy": 0.75}
    assert math.isnan(evaluate(rows[2:], [8, 9], task=Numbers()).metrics["told"])


def test_only_metrics_of_0_and_1_have_an_interval() -> None:
    rows = [{"label": 1}, {"label": 9}]
    report = evaluate(rows, [1, 9], task=Numbers())
    assert set(report.intervals) == {"accuracy"}
    assert str(report).splitlines()[2].split() == [
        "split", "rows", "error", "told", "accuracy", "95%", "interval",
    ]  # fmt: skip


def test_means_that_are_no_finite_number_are_null_in_json() -> None:
    report = evaluate([{"label": 9}], [None], task=Numbers())
    assert report.metrics["error"] == math.inf
    values = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert values["error"] is None and values["told"] is None and values["accuracy"] == 0.0
    assert str(report).splitlines()[3].split()[2:5] == ["inf", "-", "0.0000"]


def test_a_task_whose_first_metric_is_no_accuracy_has_none() -> None:
    report = evaluate([{"label": 9}], [9], task=Numbers())
    with pytest.raises(AttributeError, match="the task measures error, told, accuracy"):
        report.accuracy  # noqa: B018


def test_what_is_reached_without_solving_the_task_stands_beside() -> None:
    report = evaluate([{"label": 9}], [9], task=Numbers())
    assert report.to_dict()["baselines"] == {"guessing": 0.1}
    assert "For comparison, guessing: 0.1000\n" in str(report)


def test_grids_are_evaluated_from_their_directory(tmp_path: Path) -> None:
    rows = {"train": 20, "iid": 10, "test": 14}
    generate("grid-count", out=tmp_path / "grids", rows=rows, workers=1, progress=False)
    there = list(Dataset.open(tmp_path / "grids").rows("default", "test"))
    predictions = [np.array(row["label"], np.float32) + 0.2 for row in there]
    predictions[3] = np.zeros((1, 1), np.float32)
    report = evaluate(tmp_path / "grids", predictions, split="test")
    assert report.metrics["grid_accuracy"] == 13 / 14
    assert report.accuracy == report.metrics["cell_accuracy"]
    assert report.unreadable == (there[3]["id"],)
    assert list(report.by["size"]) == [7, 8, 9, 10, 12, 15, 20]


def test_class_labels_are_broken_down_by_their_names(tmp_path: Path) -> None:
    parameters = {"n_values": 4}
    out = tmp_path / "parity"
    generate("parity", out=out, parameters=parameters, workers=1, progress=False)
    rows = list(Dataset.open(out).rows("default", "test"))
    in_order = [row["label"] for row in rows]
    report = evaluate(rows, in_order, task="parity", parameters=parameters)
    assert list(report.by["label"]) == ["0", "1", "2", "3"]
    assert evaluate(out, in_order, split="test").by == report.by


def test_another_variant_is_evaluated_when_named(tmp_path: Path) -> None:
    sizes = {"train": 80, "iid": 8, "validation": 6, "test": 6}
    out = tmp_path / "ctl"
    generate("ctl", out=out, variant="all", rows=sizes, workers=1, progress=False)
    rows = list(Dataset.open(out).rows("backward", "test"))
    report = evaluate(out, [row["steps"][-1] for row in rows], split="test", variant="backward")
    assert (report.variant, report.accuracy) == ("backward", 1.0)
    text = refusal(UsageError, out, {}, split="test", variant="backwards")
    assert "'backwards'; allowed: forward, backward. Did you mean 'backward'?" in text


# Wrong usage and broken datasets.


def test_an_unknown_split_is_refused_and_the_nearest_offered(made: Made) -> None:
    text = refusal(UsageError, made.path, {}, split="tset")
    assert "'tset'; allowed: train, iid, validation, test. Did you mean 'test'?" in text
    text = refusal(UsageError, made.rows, {}, split="tset", task="listops")
    assert "Did you mean 'test'?" in text


def test_another_number_of_predictions_than_rows_is_refused(made: Made) -> None:
    expected = "39 predictions in order for the 40 rows of split 'test': expected one for each."
    assert refusal(UsageError, made.path, [0] * 39, split="test") == expected
    rows = made.rows["test"]
    assert refusal(UsageError, rows, [0] * 39, split="test", task="listops") == expected


def test_predictions_in_order_need_one_split(made: Made) -> None:
    text = refusal(UsageError, made.path, [0] * 40)
    assert text.endswith("Splits: train, iid, validation, test.")
    assert evaluate({"test": made.rows["test"]}, [0] * 40, task="listops").rows == 40


def test_predictions_for_no_row_at_all_are_refused_unless_a_split_is_named(made: Made) -> None:
    text = refusal(UsageError, made.path, {"x": 1, "y": 2})
    assert text.startswith("None of the 2 predictions has an id of ")
    assert evaluate(made.path, {"x": 1}, split="iid").unknown == ("x",)


def test_rows_need_a_task(made: Made) -> None:
    text = refusal(UsageError, made.rows["test"], {})
    assert text == "Rows of type list do not say which task they are of; give task=NAME."
    assert "Did you mean 'listops'?" in refusal(UsageError, made.rows["test"], {}, task="listop")


@pytest.mark.parametrize(
    "named", [{"task": "ctl"}, {"parameters": {"p_op": 0.5}}, {"seed": 3}], ids=str
)
def test_what_a_directory_says_itself_is_refused(made: Made, named: dict[str, Any]) -> None:
    text = refusal(UsageError, made.path, {}, split="test", **named)
    assert text.endswith(": a dataset directory says it; leave it out.")
    assert text.startswith(f"{next(iter(named))}=")


def test_choices_beside_a_task_that_has_made_them_are_refused() -> None:
    rows = [{"label": 3}]
    text = refusal(UsageError, rows, [3], task=ListOps(), parameters={"p_op": 0.5})
    assert text.startswith("Task 'listops' is given with its variant, parameters and seed chosen")
    with pytest.raises(ParameterError, match=r"p_op=2\.0"):
        evaluate(rows, [3], task="listops", parameters={"p_op": 2.0})


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (3, "Rows of split 'rows' are of type int: expected"),
        ({1, 2}, "Rows of split 'rows' are of type set: expected"),
        ({"test": "text"}, "Rows of split 'test' are of type str: expected"),
        ([], "Split 'rows' has no rows."),
        ([3, 4], "Row 0 of split 'rows' is 3: expected a dict."),
        ([{"label": 3}, 4], "Row 1 of split 'rows' is no dict with the columns label"),
        ([{"label": 3}, {"id": "x"}], "Row 1 of split 'rows' is no dict with the columns label"),
        ([{"text": "3"}] * 2, "A row has no column 'label', by which answers of listops are"),
    ],
)
def test_rows_that_are_none_are_refused(rows: Any, expected: str) -> None:
    assert refusal(UsageError, rows, [3, 4], task="listops").startswith(expected)


class Undeclared(ListOps):
    """A task that does not say by which columns it judges."""

    judged_by: ClassVar[tuple[str, ...]] = ()


def test_rows_of_quite_another_kind_are_refused() -> None:
    text = refusal(UsageError, [{"name": 3}], [3], task=Undeclared())
    expected = "the columns text, label, depth, dependency_depth, length; these have name."
    assert text.endswith(expected)
    assert evaluate([{"label": 3}], [3], task=Undeclared()).accuracy == 1.0


def test_streamed_rows_are_refused(made: Made) -> None:
    streamed = as_table(made.rows["test"]).to_iterable_dataset()
    text = refusal(UsageError, streamed, {}, task="listops")
    assert text == "Rows of split 'rows' are streamed; give them as list(...)."


def test_a_task_may_say_by_which_columns_it_judges() -> None:
    text = refusal(UsageError, [{"text": "3"}], [3], task=Numbers())
    assert text == "A row has no column 'label', by which answers of numbers are judged."


def test_predictions_by_id_need_ids() -> None:
    text = refusal(UsageError, [{"label": 3}], {"x": 3}, task="listops")
    assert text == "Predictions are by id, but split 'rows' has no column 'id'."


def test_what_is_no_dataset_is_refused(made: Made, tmp_path: Path) -> None:
    assert "there is no such directory" in refusal(DatasetError, tmp_path / "none", {})
    assert "it has no manifest.json" in refusal(DatasetError, tmp_path, {})


def test_a_directory_with_fewer_rows_than_its_manifest_is_refused(
    made: Made, tmp_path: Path
) -> None:
    shard = broken_copy(made, tmp_path)
    pq.write_table(pq.read_table(shard).slice(0, 30), shard)
    text = refusal(DatasetError, tmp_path / "copy", [0] * 40, split="test")
    assert text.endswith("split 'test' has 30 rows where its manifest says 40.")


def test_a_directory_without_a_column_is_refused(made: Made, tmp_path: Path) -> None:
    shard = broken_copy(made, tmp_path)
    pq.write_table(pq.read_table(shard).drop_columns(["label"]), shard)
    text = refusal(DatasetError, tmp_path / "copy", [0] * 40, split="test")
    assert text == f"{shard}: column label is missing, expected int64."


def broken_copy(made: Made, tmp_path: Path) -> Path:
    """A copy of the dataset; returns the shard of test, to be broken."""
    for file in made.path.rglob("*"):
        if file.is_file():
            target = tmp_path / "copy" / file.relative_to(made.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return next((tmp_path / "copy" / "data" / "default").glob("test-*.parquet"))


# One row at a time.


def test_score_judges_one_prediction() -> None:
    row = {"label": 6}
    assert score("listops", row, " 6\n") == 1.0
    assert score("listops", row, 5) == 0.0
    assert score(ListOps(), row, "six") == 0.0
    assert score("parity", {"label": 11}, 11, parameters={"n_values": 12}) == 1.0


def test_score_refuses_a_row_that_cannot_be_judged() -> None:
    with pytest.raises(UsageError, match="no column 'label'"):
        score("listops", {"text": "3"}, 3)
    with pytest.raises(UsageError, match="Did you mean 'listops'"):
        score("listop", {"label": 3}, 3)


def test_solve_answers_by_the_reference_solver() -> None:
    assert solve("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]") == 6
    assert solve("parity", "3 4 7 2 =") == 7
    assert solve("grid-count", [[6, 6, 0], [3, 7, 0], [4, 3, 6]])[0] == [3, 3, 0]
    backward = solve("ctl", "b a 101", variant="backward", seed=3)
    assert backward == solve("ctl", "101 a b", seed=3)
    assert backward == solve(make_task("ctl", seed=3), "101 a b")


@pytest.mark.parametrize("question", ["[MED 4", "[FOO 1 2 ]", "", None, 5, [1, 2]], ids=repr)
def test_solve_refuses_what_is_no_question(question: Any) -> None:
    with pytest.raises(UsageError) as caught:
        solve("listops", question)
    assert str(caught.value).startswith(f"{question!r} is no question of listops: ")


# What is read as a class.

DIGITS = tuple("0123456789")


@pytest.mark.parametrize(
    "prediction",
    [
        3, 3.0, "3", " 3\n", "\t3", "03", b"3", " 3 ",
        np.int8(3), np.uint64(3), np.float16(3), np.float32(3), np.longdouble(3),
        np.str_("3"), np.bytes_(b"3"), np.array(3), np.array("3"), np.array(3.0),
        torch.tensor(3), torch.tensor(3.0),
    ],
    ids=repr,
)  # fmt: skip
def test_what_means_3_is_read_as_3(prediction: Any) -> None:
    read = read_class(prediction, DIGITS)
    assert read == 3
    assert type(read) is int


@pytest.mark.parametrize(
    "prediction",
    [
        None, "three", "", " ", "3.0", "3.5", "-3", "+3", "1_0", "3 3", "0x3", "3e0", "\x00",
        "３", "³", "٣", "10", "11", "9" * 5_000, b"\xff", b"three", bytearray(b"3"),
        3.5, -1, 10, 10**400, -(10**400), 1e300, math.nan, math.inf, -math.inf,
        True, False, np.True_, np.array(True), torch.tensor(True),
        np.float64("nan"), np.float32("inf"), np.int64(-1), np.uint64(2**64 - 1),
        np.longdouble("nan"), np.datetime64("2020-01-01"), np.array(None),
        np.array([3]), torch.tensor([3]), [3], (3,), {"3": 3}, {3}, 3 + 0j, object,
    ],
    ids=lambda prediction: repr(prediction)[:30],
)  # fmt: skip
def test_what_means_no_digit_is_not_read(prediction: Any) -> None:
    assert read_class(prediction, DIGITS) is None


def test_thousands_of_leading_zeros_do_not_matter() -> None:
    assert read_class("0" * 5_000 + "3", DIGITS) == 3
    assert read_class("0" * 5_000, DIGITS) == 0


def test_names_come_before_indices() -> None:
    assert read_class("1", ("2", "1", "0")) == 1
    assert read_class("0", ("2", "1", "0")) == 2
    assert read_class(0, ("2", "1", "0")) == 0
    assert read_class("1", ("shirt", "bag")) == 1
    assert read_class(" bag", ["shirt", "bag"]) == 1
    assert read_class("12", [str(number) for number in range(100)]) == 12


@given(st.integers() | st.floats() | st.text() | st.binary() | st.none() | st.booleans())
def test_anything_is_read_as_a_class_or_not_at_all(prediction: Any) -> None:
    read = read_class(prediction, DIGITS)
    assert read is None or (type(read) is int and 0 <= read < 10)


def test_the_report_is_known_by_its_class(made: Made) -> None:
    assert isinstance(evaluate(made.path, made.right("test")), Report)
