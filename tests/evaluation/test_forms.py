"""Every form of predictions gives the report of `{id: prediction}`, for every task."""

from __future__ import annotations

import csv
import functools
import gzip
import json
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from synthbench.errors import UsageError
from synthbench.evaluation.evaluate import evaluate
from synthbench.evaluation.single_rows import score
from synthbench.tasks.features import label_names
from synthbench.tasks.registry import make_task
from tests.support import draw_splits, id_texts, plain_rows, run_python

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra dev has it")
pl = pytest.importorskip("polars", reason="Polars is not installed: the extra dev has it")

pytestmark = pytest.mark.dev

#: One of each kind of answer: digits, symbols, names, grids, vectors, clusters.
TASKS = [
    *(("listops", "default"), ("ctl", "forward"), ("composites", "main")),
    *(("grid-count", "default"), ("identity", "default"), ("clusters", "balanced")),
]


class Asked:
    """Rows of one task in a shuffled order, and an answer to each."""

    def __init__(self, task):
        self.task = task
        if task.name == "composites":  # whose rows need source images, but whose labels do not
            rows = [{"id": f"{number:016x}", "label": number % 7} for number in range(12)]
        else:
            drawn = draw_splits(task, 12)["test"]
            rows = plain_rows(task.render(drawn.block))
            for row, name in zip(rows, id_texts(drawn.fingerprints), strict=True):
                row["id"] = name
        random.Random(1).shuffle(rows)
        self.rows = rows
        self.ids = [row["id"] for row in rows]
        self.answers = [self.answer(row) for row in rows]
        # The first prediction is wrong, so that what is read for other rows shows.
        wrong = self.answers[1] if self.classes is None else (self.answers[0] + 1) % self.classes
        if np.shape(wrong) == np.shape(self.answers[0]):
            self.answers[0] = wrong

    def answer(self, row):
        return row["label"] if "label" in row else [[2 * x, y] for x, y in row["points"]]

    @property
    def classes(self):
        names = label_names(self.task.columns.get("label", {}))
        return None if names is None else len(names)

    def evaluate(self, predictions):
        return evaluate(self.rows, predictions, task=self.task)

    @functools.cached_property
    def expected(self):
        return self.evaluate(dict(zip(self.ids, self.answers, strict=True)))

    def shuffled(self):
        """Ids and answers in another order than the rows."""
        pairs = list(zip(self.ids, self.answers, strict=True))
        random.Random(2).shuffle(pairs)
        ids, answers = zip(*pairs, strict=True)
        return list(ids), list(answers)

    @property
    def uniform(self):
        """Whether all answers have one shape, as those of an array must have."""
        return len({np.shape(answer) for answer in self.answers}) == 1


@functools.cache
def asked(name, variant):
    return Asked(make_task(name, variant))


@pytest.fixture(params=TASKS, ids=lambda pair: "-".join(pair))
def case(request):
    return asked(*request.param)


def test_what_the_forms_are_compared_with_is_right_but_for_one_row(case):
    report = case.expected
    assert report.rows == report.answered.rows == 12
    assert report.readings == {"value": 12}
    assert report.warning is None
    if case.classes is not None:
        assert report.accuracy == 11 / 12


# By id.


def table(ids, answers, name="prediction"):
    return pa.table({"more": [0] * len(ids), name: answers, "id": ids})


def frame(ids, answers):
    return pd.DataFrame({"prediction": answers, "id": ids}, index=range(7, 7 + len(ids)))


def records(ids, answers):
    return [{"id": one, "prediction": answer} for one, answer in zip(ids, answers, strict=True)]


BY_ID: dict[str, Callable[[list[str], list[Any]], Any]] = {
    "mapping": lambda ids, answers: dict(zip(ids, answers, strict=True)),
    "Series": lambda ids, answers: pd.Series(answers, index=ids),
    "DataFrame": frame,
    "DataFrame of strings": lambda ids, answers: frame(ids, answers).astype({"id": "string"}),
    "Polars": lambda ids, answers: pl.from_arrow(table(ids, answers)),
    "Arrow table": table,
    "Arrow table, response": lambda ids, answers: table(ids, answers, "response"),
    "Arrow table, completion": lambda ids, answers: table(ids, answers, "completion"),
    "record batch": lambda ids, answers: table(ids, answers).to_batches()[0],
    "DuckDB": lambda ids, answers: duckdb.from_arrow(table(ids, answers)),
    "datasets": lambda ids, answers: datasets.Dataset(table(ids, answers)),
    "datasets as torch": lambda ids, answers: datasets.Dataset(table(ids, answers)).with_format(
        "torch", columns=["prediction"]
    ),
    "records": records,
    "tuple of records": lambda ids, answers: tuple(records(ids, answers)),
    "columns": lambda ids, answers: {"id": ids, "prediction": answers},
    "columns of arrays": lambda ids, answers: {"id": np.array(ids), "completion": answers},
}


@pytest.mark.parametrize("form", BY_ID.values(), ids=BY_ID)
def test_predictions_by_id_may_have_any_form(case, form):
    assert case.evaluate(form(*case.shuffled())) == case.expected


def write_lines(path, ids, answers):
    text = "".join(f"{json.dumps(one)}\n" for one in records(ids, answers))
    path.write_text(text, encoding="utf-8")


def write_json(path, ids, answers):
    path.write_text(json.dumps(records(ids, answers), indent=1), encoding="utf-8")


def write_mapping(path, ids, answers):
    path.write_text(json.dumps(dict(zip(ids, answers, strict=True))), encoding="utf-8")


def write_separated(path, ids, answers):
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["", "id", "response"])
        texts = [one if isinstance(one, str) else json.dumps(one) for one in answers]
        writer.writerows(zip(range(len(ids)), ids, texts, strict=True))


def write_parquet(path, ids, answers):
    pq.write_table(table(ids, answers), path)


FILES = {
    "p.jsonl": write_lines,
    "p.json": write_json,
    "mapping.json": write_mapping,
    "p.csv": write_separated,
    "p.tsv": write_separated,
    "p.parquet": write_parquet,
}


@pytest.mark.parametrize(("name", "write"), FILES.items(), ids=FILES)
def test_a_file_may_have_any_form(case, tmp_path, name, write):
    write(tmp_path / name, *case.shuffled())
    assert case.evaluate(tmp_path / name) == case.expected
    assert case.evaluate(str(tmp_path / name)) == case.expected
    if name != "p.parquet":
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        assert case.evaluate(packed) == case.expected


def test_no_library_is_loaded_to_tell_what_predictions_are():
    code = """
import sys
from synthbench import evaluate, score
rows = [{"id": "a", "label": 3}, {"id": "b", "label": 4}]
assert evaluate(rows, {"a": 3, "b": "4"}, task="listops").accuracy == 1.0
assert evaluate(rows, [3, 4], task="listops").accuracy == score("listops", rows[0], 3) == 1.0
print(*({"torch", "pandas", "polars", "datasets", "duckdb"} & set(sys.modules)))
"""
    assert run_python(code).split() == []


# In order.


IN_ORDER: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "Series": pd.Series,
    "Series after a filter": lambda answers: pd.Series(answers, index=np.arange(len(answers))),
    "Polars series": lambda answers: pl.Series(values=answers),
    "Arrow array": pa.array,
    "chunked array": lambda answers: pa.chunked_array([answers[:5], answers[5:]]),
    "Arrow scalars": lambda answers: list(pa.array(answers)),
    "column of datasets": lambda answers: datasets.Dataset.from_dict({"it": answers})["it"],
    "NumPy scalars or arrays": lambda answers: [np.array(answer)[()] for answer in answers],
    "tensors": lambda answers: [torch.tensor(answer) for answer in answers],
    "texts": lambda answers: [json.dumps(answer) for answer in answers],
}


@pytest.mark.parametrize("form", IN_ORDER.values(), ids=IN_ORDER)
def test_predictions_in_order_may_have_any_form(case, form):
    assert case.evaluate(form(case.answers)) == case.expected


ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "NumPy": np.array,
    "float64": lambda answers: np.array(answers, np.float64),
    "torch": torch.tensor,
    "torch with gradients": lambda answers: torch.tensor(
        answers, dtype=torch.float32, requires_grad=True
    ),
}


@pytest.mark.parametrize("form", ARRAYS.values(), ids=ARRAYS)
def test_an_array_has_one_row_for_each_row(case, form):
    if case.uniform:
        assert case.evaluate(form(case.answers)) == case.expected
    else:  # grids differ in size
        with pytest.raises(ValueError):
            form(case.answers)


SCALARS: dict[str, Callable[[int], Any]] = {
    "Fraction": Fraction,
    "Decimal": Decimal,
    "text with a zero": lambda answer: f"{answer}.0",
    "bytes": lambda answer: str(answer).encode(),
    "uint8": np.uint8,
    "float16": np.float16,
    "longdouble": np.longdouble,
    "Arrow": lambda answer: pa.scalar(answer, pa.int8()),
    "Arrow's text": lambda answer: pa.scalar(str(answer)),
    "bfloat16": lambda answer: torch.tensor(answer, dtype=torch.bfloat16),
}


@pytest.mark.parametrize("form", SCALARS.values(), ids=SCALARS)
def test_a_class_may_be_a_number_of_any_type(case, form):
    if case.classes is not None:
        assert case.evaluate([form(answer) for answer in case.answers]) == case.expected
        assert score(case.task, case.rows[1], form(case.answers[1])) == 1.0


@pytest.mark.parametrize("form", [Fraction, Decimal], ids=["Fraction", "Decimal"])
def test_several_numbers_may_be_of_any_type(case, form):
    def exact(answer):
        return [exact(one) for one in answer] if isinstance(answer, list) else form(answer)

    if case.classes is None:
        assert case.evaluate([exact(answer) for answer in case.answers]) == case.expected


# Scores over classes.


def scores(case):
    assert case.classes is not None
    noise = np.random.default_rng(0).normal(size=(len(case.answers), case.classes))
    return noise + 100.0 * np.eye(case.classes)[case.answers]


SCORES: dict[str, Callable[[Any], Any]] = {
    "float64": lambda values: values,
    "float16": lambda values: values.astype(np.float16),
    "torch": torch.tensor,
    "bfloat16 with gradients": lambda values: torch.tensor(
        values, dtype=torch.bfloat16, requires_grad=True
    ),
}


@pytest.mark.parametrize("form", SCORES.values(), ids=SCORES)
def test_scores_are_read_as_their_argmax_where_there_are_classes(case, form):
    if case.classes is None:
        with pytest.raises(UsageError):  # as other numbers of another shape
            case.evaluate(form(np.random.default_rng(0).normal(size=(12, 77))))
        return
    report = case.evaluate(form(scores(case)))
    assert report.accuracy == 11 / 12
    assert report.readings == {"argmax of scores": 12}
    assert "Read as: argmax of scores (12)" in str(report)
    ids, order = case.ids[::-1], form(np.ascontiguousarray(scores(case)[::-1]))
    assert case.evaluate({"id": ids, "prediction": order}) == report


def test_a_row_of_scores_with_nan_or_a_mask_is_no_prediction():
    case = asked("listops", "default")
    values = scores(case)
    values[3, 2] = np.nan
    masked = np.ma.masked_array(values, mask=np.zeros_like(values))
    masked[5, 9] = np.ma.masked
    report = case.evaluate(masked)
    assert report.unreadable == (case.ids[3], case.ids[5])
    assert report.accuracy == 9 / 12


# What has no certain meaning.


def wrong_forms(case):
    ids, answers = case.shuffled()
    values = scores(case)
    return {
        "scores of another number of classes": values[:, :-1],
        "scores turned round": values.T,
        "one-hot whole numbers": values.astype(int),
        "a column": np.array(answers)[:, None],
        "three axes": values[:, :, None],
        "lists of scores": values.tolist(),
        "tensors of scores": list(torch.tensor(values)),
        "scores by id": dict(zip(ids, values, strict=True)),
        "frame of scores": pd.DataFrame(values),
        "frame without ids": pd.DataFrame({"prediction": answers}),
        "frame whose index is the ids": pd.DataFrame({"prediction": answers}, index=ids),
        "frame of another name": pd.DataFrame({"id": ids, "label": answers}),
        "frame with two answers": pd.DataFrame({"id": ids, "response": answers, "completion": ids}),
        "lazy frame": pl.LazyFrame({"id": ids, "prediction": answers}),
        "streamed": datasets.Dataset(table(ids, answers)).to_iterable_dataset(),
        "dict of splits": datasets.DatasetDict({"rows": datasets.Dataset(table(ids, answers))}),
        "frames by split": {"rows": frame(ids, answers)},
        "numbered series": pd.Series(answers, index=range(1, 13)),
        "shuffled series": pd.Series(answers).sample(frac=1, random_state=0),
        "series of two levels": pd.Series(answers, index=pd.MultiIndex.from_arrays([ids, ids])),
        "pairs": list(zip(ids, answers, strict=True)),
        "records without ids": [{"prediction": answer} for answer in answers],
        "records and values": [{"id": ids[0], "prediction": 3}, *answers[1:]],
        "records by id": dict(zip(ids, records(ids, answers), strict=True)),
        "columns by row number": frame(ids, answers).to_dict(),
        "uneven columns": {"id": ids, "prediction": answers[1:]},
        "truth values": np.array(answers) == 3,
        "a set": set(answers),
        "a generator": (answer for answer in answers),
        "values of a dict": dict(zip(ids, answers, strict=True)).values(),
        "objects": [object()] * 12,
        "a number": 3,
        "nothing": None,
    }


@pytest.mark.parametrize("name", wrong_forms(asked("listops", "default")))
def test_what_has_no_certain_meaning_is_refused(name):
    for task in [("listops", "default"), ("ctl", "forward"), ("composites", "main")]:
        case = asked(*task)
        given = wrong_forms(case)[name]
        with pytest.raises(UsageError) as caught:
            case.evaluate(given)
        text = str(caught.value)
        assert len(text) > 40 and text.endswith("."), text
        assert ": " in text, "what was got, and what is allowed"


def test_scores_in_a_list_are_refused_with_the_form_that_is_read():
    case = asked("listops", "default")
    with pytest.raises(UsageError) as caught:
        case.evaluate(list(torch.tensor(scores(case))))
    text = str(caught.value)
    assert text.startswith("No prediction is an answer: got tensor([")
    assert f" of type Tensor for id '{case.ids[0]}'; expected a class (0, 1, 2" in text
    assert text.endswith(" Scores are given as one floating array (rows, classes).")


def test_several_numbers_of_a_form_without_meaning_are_refused(case):
    if case.classes is not None:
        return
    pairs = list(zip(case.ids, case.answers, strict=True))
    arrays = [] if not case.uniform else [np.array(case.answers)[:, :-1], np.zeros((12, 3))]
    for given in ([3] * 12, pairs, [{"a": 1}] * 12, [True] * 12, np.zeros(12), *arrays):
        with pytest.raises(UsageError):
            case.evaluate(given)


@pytest.mark.parametrize(
    "given",
    [[3], np.array([3]), np.zeros(10), torch.zeros(10), {"a": 3}, True, np.True_, object(),
     pd.Series([3]), pa.scalar([3]), pa.array([3]), {3}, 3 + 0j],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_score_refuses_what_no_class_can_be(given):
    with pytest.raises(UsageError) as caught:
        score("listops", {"label": 3}, given)
    assert f"of type {type(given).__name__}: expected a class (0, 1, 2" in str(caught.value)


@pytest.mark.parametrize("given", [None, float("nan"), "none", b"x", 3.5, 17, -1, Decimal("sNaN")])
def test_score_takes_what_a_model_may_answer_and_counts_it_as_wrong(given):
    assert score("listops", {"label": 3}, given) == 0.0


@pytest.mark.parametrize("given", [3, True, "a", {"a": 1}, [True, False]], ids=str)
def test_score_of_several_numbers(given):
    row = {"x": [1.0, 2.0], "label": [1.0, 2.0]}
    assert score("identity", row, "[1, 2]") == 0.0
    assert score("identity", row, [1, 2, 3]) == np.inf
    if isinstance(given, str):
        assert score("identity", row, given) == np.inf
    else:
        with pytest.raises(UsageError, match="expected numbers in lists"):
            score("identity", row, given)
