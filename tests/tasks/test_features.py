"""Column types: what we write is what `datasets` reads, in the old form and the new."""

from __future__ import annotations

import json

import datasets
import pyarrow as pa
import pytest
from hypothesis import given

from synthbench.tasks.features import (
    arrow_schema,
    card_features,
    class_label,
    image,
    list_of,
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


def test_class_labels_have_their_names_in_datasets():
    columns = {"label": class_label(["000", "001"])}
    read = datasets.Features.from_arrow_schema(arrow_schema(columns))
    assert read["label"].int2str(1) == "001"
    assert datasets.Features._from_yaml_list(card_features(columns)) == read


def test_names_of_labels_and_images_are_known_and_of_nothing_else():
    assert class_label(["a", "b"]).names == ("a", "b")
    assert not image().plain
    for column in (value("string"), list_of(class_label(["a"])), struct({"a": value("int8")})):
        assert column.plain
        assert column.names is None
