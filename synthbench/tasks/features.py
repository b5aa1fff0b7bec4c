"""Column types, in the form in which Hugging Face `datasets` stores them in a Parquet schema.

A feature is the JSON value in the schema's metadata. Lists are written in the old form `[feature]`,
which every `datasets` from 2.14 on reads (newer versions show it as `List`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

Feature = dict[str, Any] | list[Any]
Features = Mapping[str, Feature]


def value(dtype: str) -> Feature:
    """A plain value, such as `int16` or `string`."""
    return {"dtype": dtype, "_type": "Value"}


def class_label(names: Sequence[str]) -> Feature:
    """An index into `names`, which `datasets` shows by name; int64 in Arrow."""
    return {"names": list(names), "_type": "ClassLabel"}


def image() -> Feature:
    """An encoded image; a struct of `bytes` and `path` in Arrow, a PIL image in `datasets`."""
    return {"_type": "Image"}


def is_image(feature: Feature) -> bool:
    """Whether the feature is `image()`."""
    return isinstance(feature, dict) and feature.get("_type") == "Image"


def label_names(feature: Feature) -> list[str] | None:
    """The names of a class label, None for any other feature."""
    if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
        return list(feature["names"])
    return None


def class_answer(names: Sequence[str], index: int) -> int | str:
    """A class as `solve` returns it: its name, or its index if the names are 0, 1, 2 and so on.

    Example:
        >>> from synthbench.tasks.features import class_answer
        >>> class_answer(["0", "1", "2"], 2), class_answer(["000", "001", "010"], 2)
        (2, '010')
    """
    counted = all(name == str(place) for place, name in enumerate(names))
    return index if counted else names[index]


def arrow_type(feature: Feature) -> pa.DataType:
    """The Arrow type that `datasets` expects for a feature."""
    if isinstance(feature, list):
        return pa.list_(arrow_type(feature[0]))
    kind = feature.get("_type")
    if kind == "Value":
        return pa.type_for_alias(feature["dtype"])
    if kind == "ClassLabel":
        return pa.int64()
    if kind == "Image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    return pa.struct([(name, arrow_type(field)) for name, field in feature.items()])


def arrow_schema(features: Features) -> pa.Schema:
    """The schema of a shard, with the features in its `huggingface` metadata."""
    info = json.dumps({"info": {"features": features}}, separators=(",", ":"))
    fields = [pa.field(name, arrow_type(feature)) for name, feature in features.items()]
    return pa.schema(fields, metadata={"huggingface": info})


def card_features(features: Features) -> list[dict[str, Any]]:
    """The features as a dataset card's `dataset_info` lists them."""
    return [{"name": name, **_card_type(feature)} for name, feature in features.items()]


def _card_type(feature: Feature) -> dict[str, Any]:
    if isinstance(feature, list):
        inner = _card_type(feature[0])
        if "dtype" in inner and isinstance(inner["dtype"], str):
            return {"sequence": inner["dtype"]}
        # A list of structs is `list: [fields]`, a list of lists `sequence: {sequence: ...}`.
        return {"list": inner["struct"]} if "struct" in inner else {"sequence": inner}
    kind = feature.get("_type")
    if kind == "Value":
        return {"dtype": feature["dtype"]}
    if kind == "ClassLabel":
        names = {str(index): name for index, name in enumerate(feature["names"])}
        return {"dtype": {"class_label": {"names": names}}}
    if kind == "Image":
        return {"dtype": "image"}
    return {"struct": card_features(feature)}
