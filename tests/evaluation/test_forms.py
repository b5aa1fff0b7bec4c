"""Every form of predictions gives the report of `{id: prediction}`, for every task."""

from __future__ import annotations

import csv
import json
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

from synthbench.errors import UsageError
from synthbench.evaluation.single_rows import score
from tests.evaluation.asked import asked, frame, records, scores, table
from tests.support import run_python

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra dev has it")
pl = pytest.importorskip("polars", reason="Polars is not installed: the extra dev has it")

pytestmark = pytest.mark.dev


def test_what_the_forms_are_compared_with_is_right_but_for_one_row(case):
    report = case.expected
    assert report.rows == report.parsed.rows == 12
    assert report.parsed_as == {"value": 12}
    assert report.warning is None
    if case.classes is not None:
        assert report.accuracy == 11 / 12


# By id.

BY_ID: dict[str, Callable[[list[str], list[Any]], Any]] = {
    "mapping": lambda ids, answers: dict(zip(ids, answers, strict=True)),
    "Series": lambda ids, answers: pd.Series(answers, index=ids),
    "DataFrame": frame,
    "DataFrame with an index of ids": lambda ids, answers: pd.DataFrame(
        {"answer of the model": answers}, index=ids
    ),
    "DataFrame with an index named id": lambda ids, answers: (
        frame(ids, answers).assign(more=0).set_index("id")
    ),
    "DataFrame of strings": lambda ids, answers: frame(ids, answers).astype({"id": "string"}),
    "Polars": lambda ids, answers: pl.from_arrow(table(ids, answers)),
    "Arrow table": table,
    "Arrow table, response": lambda ids, answers: table(ids, answers, "response"),
    "Arrow table, completion": lambda ids, answers: table(ids, answers, "completion"),
    "record batch": lambda ids, answers: table(ids, answers).to_batches()[0],
    "DuckDB": lambda ids, answers: duckdb.from_arrow(table(ids, answers)),
    "datasets": lambda ids, answers: datasets.Dataset(table(ids, answers)),
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
    "DataFrame": lambda answers: pd.DataFrame({"prediction": answers}),
    "Series after a filter": lambda answers: pd.Series(answers, index=np.arange(len(answers))),
    "Polars series": lambda answers: pl.Series(values=answers),
    "Arrow array": pa.array,
    "chunked array": lambda answers: pa.chunked_array([answers[:5], answers[5:]]),
    "Arrow scalars": lambda answers: list(pa.array(answers)),
    "column of datasets": lambda answers: datasets.Dataset.from_dict({"it": answers})["it"],
    "NumPy scalars or arrays": lambda answers: [np.array(answer)[()] for answer in answers],
    "texts": lambda answers: [json.dumps(answer) for answer in answers],
}


@pytest.mark.parametrize("form", IN_ORDER.values(), ids=IN_ORDER)
def test_predictions_in_order_may_have_any_form(case, form):
    assert case.evaluate(form(case.answers)) == case.expected


ARRAYS: dict[str, Callable[[list[Any]], Any]] = {
    "NumPy": np.array,
    "float64": lambda answers: np.array(answers, np.float64),
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

SCORES: dict[str, Callable[[Any], Any]] = {
    "float64": lambda values: values,
    "float16": lambda values: values.astype(np.float16),
}


@pytest.mark.parametrize("form", SCORES.values(), ids=SCORES)
def test_scores_are_read_as_their_argmax_where_there_are_classes(case, form):
    if case.classes is None:
        with pytest.raises(UsageError):  # as other numbers of another shape
            case.evaluate(form(np.random.default_rng(0).normal(size=(12, 77))))
        return
    report = case.evaluate(form(scores(case)))
    assert report.accuracy == 11 / 12
    assert report.parsed_as == {"argmax of scores": 12}
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
    assert report.unparsed == (case.ids[3], case.ids[5])
    assert report.accuracy == 9 / 12
