"""Column types: what we write is what `datasets` reads, in the old form and the new."""

from __future__ import annotations

import json

import datasets
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from synthbench.tasks.features import (
    arrow_schema,
    card_features,
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


def test_lists_of_numbers_are_right_if_all_numbers_are():
    column = list_of(value("int8"))
    assert column.measure([1, 2], column.read("[1, 2]", [1, 2])) == {"accuracy": 1.0}
    assert column.measure([1, 2], column.read([1, 3], [1, 2])) == {"accuracy": 0.0}
    assert column.measure([1, 2], column.read([1], [1, 2])) == {"accuracy": 0.0}
