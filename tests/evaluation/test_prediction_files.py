"""Predictions are read in every form that is promised, and every other is refused by name."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import DatasetError, UsageError
from synthbench.evaluation.predictions import read_predictions


def write(path, *lines):
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def refusal(given, kind, split=None):
    with pytest.raises(kind) as caught:
        read_predictions(given, split)
    return str(caught.value)


# In memory.


def test_masked_entries_of_an_array_are_no_predictions():
    masked = np.ma.masked_array([1, 2], mask=[False, True])
    assert read_predictions(masked).in_order == [1, None]


def test_a_mapping_keyed_by_row_number_is_refused():
    assert "Predictions by id: 0 is not an id" in refusal({0: 3}, UsageError)


@pytest.mark.parametrize(
    "odd", [None, 3, {1, 2}, b"abc", iter([1])], ids=lambda odd: type(odd).__name__
)
def test_what_is_no_collection_of_predictions_is_refused_by_its_type(odd):
    assert f"Predictions of type {type(odd).__name__}" in refusal(odd, UsageError)


def test_a_single_value_is_refused():
    assert "a single value" in refusal(np.array(3), UsageError)


# Files.


def test_a_jsonl_file_has_one_prediction_a_line(tmp_path):
    path = tmp_path / "p.jsonl"
    lines = '\ufeff{"id": "a", "prediction": NaN, "more": 2}\r\n  \n{"prediction": "2", "id": "b"}'
    path.write_text(lines, encoding="utf-8")
    by_id = read_predictions(str(path)).by_id
    assert by_id is not None and list(by_id) == ["a", "b"]
    assert np.isnan(by_id["a"]) and by_id["b"] == "2"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.text(), json_values, min_size=1))
@settings(max_examples=50)
def test_a_jsonl_prediction_may_be_any_json_value(tmp_path_factory, values):
    lines = [{"id": name, "prediction": value} for name, value in values.items()]
    path = write(tmp_path_factory.mktemp("any") / "p.jsonl", *lines)
    assert read_predictions(path).by_id == values


TEXTS = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_a_parquet_file_has_one_prediction_a_row(tmp_path, text):
    path = tmp_path / "split=test" / "p.PARQUET"
    path.parent.mkdir()
    table = {"more": [0, 0], "prediction": [[1.5], None], "id": pa.array(["a", "b"], text)}
    pq.write_table(pa.table(table), path)
    assert read_predictions(path).by_id == {"a": [1.5], "b": None}


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_predictions_of_other_splits_are_set_aside(tmp_path, kind):
    lines = [
        {"id": "a", "prediction": 1, "split": "test"},
        {"id": "b", "prediction": 2, "split": "iid"},
        {"id": "b", "prediction": 3, "split": "iid"},
        {"id": "c", "prediction": 4, "split": None},
    ]
    path = tmp_path / f"p.{kind}"
    if kind == "jsonl":
        write(path, *lines)
    else:
        pq.write_table(pa.Table.from_pylist(lines), path)
    assert read_predictions(path, "test").by_id == {"a": 1, "c": 4}
    assert read_predictions(path, "test").repeated == ()
    assert read_predictions(path).by_id == {"a": 1, "b": 2, "c": 4}
    assert read_predictions(path).repeated == ("b",)


def test_a_file_without_predictions_for_the_split_says_for_which_it_has_some(tmp_path):
    lines = [{"id": "a", "prediction": 1, "split": name} for name in ("test", "iid", "test")]
    path = write(tmp_path / "p.jsonl", *lines)
    expected = f"{path} has no predictions for split 'train'. It has some for: iid, test."
    assert refusal(path, DatasetError, "train") == expected


# What is wrong with a file.


def test_another_kind_of_file_is_refused(tmp_path):
    for name in ("p.pkl", "p", "p.jsonl.gz", "p.jsonl.zip", "-"):
        path = tmp_path / name
        allowed = ".jsonl, .json, .csv, .tsv, .txt, .parquet, .npy, .npz, .pt, .eval"
        expected = f"Predictions {str(path)!r}: allowed are files {allowed}."
        assert refusal(path, UsageError) == expected


def test_what_cannot_be_read_as_a_file_is_named(tmp_path):
    for path in (tmp_path / "a.jsonl", tmp_path / "a.parquet"):
        path.mkdir()
        expected = f"{path} cannot be read: it is not a regular file."
        assert refusal(path, DatasetError) == expected
    path = write(tmp_path / "p.parquet", "no parquet")
    assert refusal(path, DatasetError).startswith(f"{path} cannot be read: ")


def test_an_empty_file_is_refused(tmp_path):
    path = write(tmp_path / "p.jsonl", "", " ")
    assert refusal(path, DatasetError) == f"{path} is empty: it holds no predictions."
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string()), "prediction": []}), path)
    assert refusal(path, DatasetError) == f"{path} is empty: it holds no predictions."


GOOD = {"id": "a", "prediction": 1}
COLUMNS = "'id' and 'prediction' (or 'pred' or 'model_output' or 'response' or 'completion')"
RIGHT = "no 'prediction'; 'answer' is a name of right answers. If it holds predictions, name it"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{'id': 3}", "not valid JSON (Expecting property name"),
        ('{"id": "b", ', "not valid JSON (Expecting"),
        ("[" * 100_000, "not valid JSON ("),
        ("7" * 5_000, "not valid JSON ("),
        ("[1, 2]", "expected an object with 'id' and 'prediction', got [1, 2]."),
        ("null", "expected an object with 'id' and 'prediction', got None."),
        ('{"id": "b", "answer": 3}', RIGHT),
        ('{"id": "b", "text": 3}', f"no 'prediction'; expected {COLUMNS}, got id, text."),
        ('{"prediction": 3}', "no 'id', which other entries have."),
        ('{"id": 5, "prediction": 3}', "id 5 is not text."),
        ('{"id": null, "prediction": 3}', "id None is not text."),
        ('{"id": "b", "prediction": 3, "split": 1}', "split 1 is not text."),
    ],
)
def test_a_bad_line_is_told_by_its_number(tmp_path, line, expected):
    path = write(tmp_path / "p.jsonl", GOOD, "", line)
    start = f"{path}, line 3: {expected}"
    assert refusal(path, DatasetError).startswith(start)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("p.jsonl", b'{"id": "a", "prediction": "\xff"}\n', ", line 1: not valid JSON ("),
        ("p.csv", b"id,prediction\na,\xff\n", ", line 2: 'utf-8' codec can't decode"),
    ],
)
def test_a_line_that_is_no_utf8_is_told_by_its_number(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_bytes(text)
    assert refusal(path, DatasetError).startswith(f"{path}{expected}")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"id": ["a"], "answer": [1]}, f": {RIGHT} 'prediction'."),
        (
            {"example_id": ["a"], "prediction": [1]},
            ": no 'id', but 'example_id': name the column of ids 'id', or leave it out.",
        ),
        (
            {"__index_level_0__": [1, 0], "prediction": [1, 2]},
            ", row 0: the rows are numbered, but 1 is where 0 is expected. Give predictions in the "
            "order of the rows, or ids in a column 'id'.",
        ),
        (
            {"prediction": [1], "split": ["iid"]},
            ", row 0: a prediction for split 'iid' without an id. Name the split to evaluate, or "
            "give ids.",
        ),
        (
            {"id": ["a"], "response": ["1"], "completion": ["1"]},
            ": both 'response' and 'completion'. Name one of them 'prediction'.",
        ),
        ({"id": [5], "prediction": [1]}, ", row 0: id 5 is not text."),
        ({"id": ["a", None], "prediction": [1, 2]}, ", row 1: id None is not text."),
        ({"id": ["a"], "prediction": [1], "split": [2]}, ", row 0: split 2 is not text."),
    ],
)
def test_bad_columns_of_a_parquet_file_are_told(tmp_path, columns, expected):
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table(columns), path)
    assert refusal(path, DatasetError) == f"{path}{expected}"


# Tables as text, and JSON in one piece.


def written(path, text):
    path.write_bytes(text.encode())
    return path


def test_the_answer_may_be_called_prediction_response_or_completion(tmp_path):
    for name in ("prediction", "response", "completion"):
        path = write(tmp_path / "p.jsonl", {"id": "a", name: "3", "text": "x"})
        assert read_predictions(path).by_id == {"a": "3"}
    both = write(tmp_path / "p.jsonl", {"id": "a", "response": "It is 3.", "prediction": "3"})
    assert read_predictions(both).by_id == {"a": "3"}


def test_cells_of_a_table_may_hold_quotes_commas_and_lines(tmp_path):
    text = '\ufeffsplit,prediction,id\r\niid,"a ""b"", c\nd",x\r\n\r\ntest,3,y\r\n'
    path = written(tmp_path / "p.CSV", text)
    assert read_predictions(path).by_id == {"x": 'a "b", c\nd', "y": "3"}
    assert read_predictions(path, "test").by_id == {"y": "3"}
    paragraphs = written(tmp_path / "p.csv", '\nid,prediction\nx,"a is odd:\n\n7"\n \ny,""\n')
    assert read_predictions(paragraphs).by_id == {"x": "a is odd:\n\n7", "y": ""}
    long = "x" * 300_000
    path = written(tmp_path / "p.tsv", f"id\tcompletion\na\t{long}\n")
    assert read_predictions(path).by_id == {"a": long}


def test_json_in_one_piece_may_be_a_mapping_records_or_in_order(tmp_path):
    path = written(tmp_path / "p.json", '{"a": 3, "b": [1, 2]}')
    assert read_predictions(path).by_id == {"a": 3, "b": [1, 2]}
    path = written(tmp_path / "p.json", '[{"id": "a", "response": 3}]')
    assert read_predictions(path).by_id == {"a": 3}
    path = written(tmp_path / "p.json", "[3, null,\n4]")
    assert read_predictions(path).in_order == [3, None, 4]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("p.csv", "id,prediction\na,3\nb,4,5\n", ", line 3: 3 cells under 2 names of columns."),
        ("p.csv", "id,id,prediction\n", ": 'id' appears more than once."),
        ("p.csv", "a,3\n", ": no 'prediction'; expected"),
        ("p.csv", 'id,prediction\na,"3\n', ", line 2: unexpected end of data."),
        ("p.csv", "", " is empty: it holds no predictions."),
        ("p.tsv", "id\tprediction\n", " is empty: it holds no predictions."),
        ("p.json", "", " is empty: it holds no predictions."),
        ("p.json", "[]", " is empty: it holds no predictions."),
        ("p.json", "[3", ": not valid JSON ("),
        ("p.json", "3", ": expected a list or an object, got 3."),
        ("p.json", '[{"id": "a", "prediction": 1}, 3]', ": 1 of its 2 entries are dicts."),
        (
            "p.json",
            '{"id": {"0": "a"}, "prediction": {"0": 3}}',
            ": 'id' is {'0': 'a'}. Expected a",
        ),
        ("p.json", '{"id": "a", "prediction": 3}', ": 'id' is 'a'. Expected a"),
    ],
)
def test_what_is_wrong_with_a_table_is_told(tmp_path, name, text, expected):
    path = written(tmp_path / name, text)
    found = refusal(path, DatasetError)
    assert found.startswith(f"{path}{expected}"), found
