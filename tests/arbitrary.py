"""Arbitrary columns and rows, for hypothesis."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from synthbench.tasks.features import arrow_schema, class_label, image, list_of, struct, value
from synthbench.tasks.images import png

_NAMES = st.text("abcdefghij_", min_size=1, max_size=8)
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}


def features(images=False):
    """A feature as tasks may have them: plain values, class labels, lists, structs."""
    plain = ["string", "bool", "uint8", "float32", *_BITS]
    leaves = st.sampled_from(plain).map(value) | st.just(class_label(["no", "yes", "perhaps"]))
    if images:
        leaves |= st.just(image())
    return st.recursive(
        leaves,
        lambda inner: inner.map(list_of) | st.dictionaries(_NAMES, inner, min_size=1).map(struct),
        max_leaves=4,
    )


def tables(images=False):
    """The columns of a table."""
    return st.dictionaries(_NAMES, features(images), min_size=1, max_size=4)


def values(column):
    """A value of the column, or None, as `pyarrow` takes and gives it."""
    return _values(column.feature)


def _values(feature):
    if isinstance(feature, list):
        return st.none() | st.lists(_values(feature[0]), max_size=3)
    kind = feature.get("_type")
    if kind == "Image":
        return st.none() | st.integers(0, 255).map(_picture)
    if kind == "ClassLabel":
        return st.none() | st.integers(0, len(feature["names"]) - 1)
    if kind is None:
        inner = {name: _values(one) for name, one in feature.items()}
        return st.none() | st.fixed_dictionaries(inner)
    dtype = feature["dtype"]
    if dtype in _BITS:
        bound = 1 << (_BITS[dtype] - 1)
        return st.none() | st.integers(-bound, bound - 1)
    return (
        st.none()
        | {
            "string": st.text(max_size=4),
            "bool": st.booleans(),
            "uint8": st.integers(0, 255),
            "float32": st.floats(width=32, allow_nan=False),
        }[dtype]
    )


def _picture(shade):
    pixels = np.full((1, 2 + shade % 3, 3, 3), shade, np.uint8)
    return {"bytes": png.encode(pixels)[0].as_py(), "path": None}


def rows(columns, min_size, max_size):
    """Rows of a table, as `to_pylist` gives them."""
    row = st.fixed_dictionaries({name: values(feature) for name, feature in columns.items()})
    return st.lists(row, min_size=min_size, max_size=max_size)


def table(columns, given):
    return pa.Table.from_pylist(given, schema=arrow_schema(columns))
