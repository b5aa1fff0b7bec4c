"""Column types: what we write is what `datasets` reads, in the old form and the new."""

from __future__ import annotations

import json
import re

import datasets
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from synthbench.tasks.features import (
    arrow_schema,
    card_features,
    cast,
    class_label,
    image,
    list_of,
    sequence,
    struct,
    value,
)
from tests.arbitrary import tables

QUADRANTS = list_of(struct({"kind": value("string"), "rgb": list_of(value("float32"))}))


@pytest.mark.parametrize(
    ("feature", "arrow"),
    [
        (value("string"), pa.string()),
        (value("bool"), pa.bool_()),
        (value("int8"), pa.int8()),
        (value("float32"), pa.float32()),
        (class_label(["no", "yes"]), pa.int64()),
        (image(), pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        (list_of(list_of(value("int16"))), pa.list_(pa.list_(pa.int16()))),
        (
            QUADRANTS,
            pa.list_(pa.struct([("kind", pa.string()), ("rgb", pa.list_(pa.float32()))])),
        ),
    ],
)
def test_every_feature_has_the_arrow_type_that_datasets_expects(feature, arrow):
    assert feature.arrow == arrow


def test_lists_stand_in_the_schema_in_the_old_form_that_datasets_2_14_reads():
    columns = {"id": value("string"), "steps": list_of(value("int8")), "quadrants": QUADRANTS}
    schema = arrow_schema(columns)
    assert schema.names == list(columns)
    metadata = json.loads(schema.metadata[b"huggingface"])
    assert metadata == {
        "info": {"features": {name: column.feature for name, column in columns.items()}}
    }
    assert isinstance(metadata["info"]["features"]["steps"], list)
    assert b"List" not in schema.metadata[b"huggingface"]
    assert b"Sequence" not in schema.metadata[b"huggingface"]


@given(tables(images=True))
def test_datasets_reads_the_schema_and_the_card_as_the_same_features(columns):
    schema = arrow_schema(columns)
    read = datasets.Features.from_arrow_schema(schema)
    assert list(read) == list(columns)
    assert read.arrow_schema.remove_metadata() == schema.remove_metadata()
    assert datasets.Features._from_yaml_list(card_features(columns)) == read


def test_names_of_labels_and_images_are_known_and_of_nothing_else():
    assert class_label(["a", "b"]).names == ("a", "b")
    assert not image().plain
    for column in (value("string"), list_of(class_label(["a"])), struct({"a": value("int8")})):
        assert column.plain
        assert column.names is None


@pytest.mark.parametrize(
    ("column", "given", "there"),
    [
        (value("int8"), np.array([1, -128]), [1, -128]),
        (value("float32"), np.array([0.5, 2]), [0.5, 2.0]),
        (value("string"), ["a", "ü"], ["a", "ü"]),
        (class_label(["no", "yes"]), ["yes", "no"], [1, 0]),
        (class_label(["no", "yes"]), np.array([1, 0], np.uint8), [1, 0]),
        (list_of(value("int16")), np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (list_of(value("string")), [["a"], []], [["a"], []]),
        (list_of(list_of(value("int8"))), np.ones((2, 1, 3), int), [[[1, 1, 1]]] * 2),
        (sequence("01", ""), np.array([[1, 2, 0], [2, 0, 0]]), ["01", "1"]),
        (sequence(["a", "b"]), [["b", "a"], "a b"], ["b a", "a b"]),
    ],
)
def test_plain_values_are_cast_to_the_type_of_their_column(column, given, there):
    cast = column.cast(given)
    assert (cast.type, cast.to_pylist()) == (column.arrow, there)
    assert column.cast(cast) is cast


@pytest.mark.parametrize(
    ("column", "given", "message"),
    [
        (value("int8"), np.array([200]), "is not int8: .*200"),
        (value("int8"), np.array([0.5]), "is not int8: .*truncated"),
        (value("int64"), [2**70], "is not int64"),
        (list_of(value("int64")), [[2**70]], r"is not List\(int64\)"),
        (value("int8"), ["two"], "is not int8"),
        (
            class_label(["no", "yes"]),
            ["perhaps"],
            "'perhaps' is not a name of",
        ),
        (list_of(value("int8")), np.array([1, 2]), r"is not List\(int8\)"),
    ],
)
def test_values_that_a_column_cannot_have_are_refused(column, given, message):
    with pytest.raises(ValueError, match=message):
        column.cast(given)


KINDS = class_label(["u", "v"])


@pytest.mark.parametrize(
    ("column", "right", "wrong", "place"),
    [
        (KINDS, [0, 1], [0, 4], "kind"),
        (list_of(KINDS), [[0, None], []], [[0], [1, 4]], "kind[]"),
        (list_of(list_of(KINDS)), [[[1]]], [[[1], [0, 4]]], "kind[][]"),
        (struct({"a": KINDS}), [{"a": None}], [{"a": 0}, {"a": 4}], "kind.a"),
        (list_of(struct({"a": KINDS})), [[{"a": 1}]], [[{"a": 0}, {"a": 4}]], "kind[].a"),
    ],
)
def test_classes_that_do_not_exist_are_refused_at_every_depth(column, right, wrong, place):
    assert cast({"kind": column}, {"kind": right}, len(right))["kind"].to_pylist() == right
    with pytest.raises(ValueError, match=re.escape(f"Column {place} has the classes ") + ".* to 4"):
        cast({"kind": column}, {"kind": wrong}, len(wrong))


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_whole_numbers_are_read_if_their_type_has_them(kind, bits):
    column, (least, largest) = value(f"{kind}{bits}"), (0, 2**bits - 1)
    if kind == "int":
        least, largest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    for number in (least, largest):
        for answer in (number, str(number), np.array(number, column.dtype)):
            assert column.read(answer, number) == number == column.from_row(answer)
    for number in (least - 1, largest + 1, 10**400):
        assert column.read(number, 0) is None
    assert column.read("1" * 5_000, 0) is None
    assert column.expected == f"a whole number from {least} to {largest}"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_answer_is_rounded_as_its_label_was(dtype):
    (label,), column = value(dtype).cast([2.8]).to_pylist(), value(dtype)
    for answer in (2.8, "2.8", "0.28e1", label):
        assert column.measure(label, column.read(answer, label)) == {"accuracy": 1.0}
    for wrong in (2.81, "3", 1e38):
        assert column.measure(label, column.read(wrong, label)) == {"accuracy": 0.0}
    assert column.from_row("2.8") == label
    lists = list_of(list_of(column))
    for labels, right in (([[label]], [[2.8]]), ([[], [label]], "[[], [2.8]]")):
        assert lists.measure(labels, lists.read(right, labels)) == {"accuracy": 1.0}


def test_lists_of_numbers_are_right_if_all_numbers_are():
    column = list_of(value("int8"))
    assert column.measure([1, 2], column.read("[1, 2]", [1, 2])) == {"accuracy": 1.0}
    assert column.measure([1, 2], column.read([1, 3], [1, 2])) == {"accuracy": 0.0}
    assert column.measure([1, 2], column.read([1], [1, 2])) == {"accuracy": 0.0}


def test_lists_of_several_lengths_are_right_if_all_their_lists_are():
    column, label = list_of(list_of(value("int8"))), [[], [5], [5, 5]]
    objects = np.array([np.array(one) for one in label], object)
    for answer in (label, json.dumps(label), objects, pa.scalar(label), tuple(label)):
        assert column.measure(label, column.read(answer, label)) == {"accuracy": 1.0}, answer
        assert column.from_row(answer) in (label, answer)
    for wrong in ([[], [5], [5, 6]], "[[], [5], [5, 5.5]]"):
        assert column.measure(label, column.read(wrong, label)) == {"accuracy": 0.0}
    unreadable = [[[5], [], [5, 5]], [[5], [5, 5]], [5, 5, 5], "[[], [5]", [[], [5], ["5", "5"]]]
    for wrong in (*unreadable, [[], [5], [True, True]], 5, None, [[], 5, [5, 5]], {"a": [5]}):
        assert column.read(wrong, label) is None, wrong
    for depth in (100, 900, 5_000):
        assert column.read(f"{'[' * depth}1{']' * (depth - 1)}, [2]]", label) is None
    assert column.measure(label, None) == {"accuracy": 0.0}
    deeper = list_of(column)
    assert deeper.measure([label, []], deeper.read([label, []], [label, []])) == {"accuracy": 1.0}
    assert deeper.read([label, [[]]], [label, []]) is None


def test_an_answer_may_have_lists_of_several_lengths_but_no_text_in_them():
    column = list_of(list_of(value("int8")))
    for answer in ([[1], [2, 3]], ([], [1]), [[1, 2]], [1, 2]):
        assert column.is_plausible(answer), answer
    for answer in ([[1], ["a", "b"]], [[1], [[2], 3]], [1, [2]], {"a": 1}, 3, True):
        assert not column.is_plausible(answer), answer
