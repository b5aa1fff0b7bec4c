"""Columns as authors of tasks declare them, and the schema of their files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthbench.errors import UsageError
from synthbench.tasks import nested, scalar, sequences
from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.column import Column

if TYPE_CHECKING:
    import pyarrow as pa

#: The column of right answers.
LABEL = "label"

Columns = Mapping[str, Column]


def value(dtype: str) -> Column:
    """A plain value, such as `int16`, `float32` or `string`.

    A label of `bool` needs a `read_answer` of its task.
    """
    return scalar.Text() if dtype == "string" else scalar.Number(dtype)


def class_label(names: Sequence[str]) -> Column:
    """An index into `names`, which `datasets` shows by name; int64 in Arrow."""
    return scalar.ClassLabel(tuple(names))


def sequence(tokens: Sequence[str], separator: str = " ", ignored: str | None = None) -> Column:
    """Text that is a sequence of these tokens: as a label, a target for each position.

    An answer is a text or a list of tokens. It is scored by `exact_match`, and by
    `position_accuracy`, the share of positions that have the right token.

    Args:
        tokens: all tokens that can be asked, in a fixed order. The first has id 1.
        separator: the text between two tokens. If it is empty, each character is a token.
        ignored: a further token, such as `_`, for positions that nobody asks: whatever an answer
            has there, it does not count. It has the id behind those of `tokens`.

    Raises:
        ValueError: `ignored` is one of `tokens`.

    Example:
        >>> from synthbench.tasks.features import sequence
        >>> label = sequence("0123456789")
        >>> label.read([3, 2, 1], None), label.read("3 2 x", None)
        ('3 2 1', None)
        >>> label.measure("3 2 1", "3 2 2")["position_accuracy"]
        0.6666666666666666
        >>> recall = sequence("0123456789", ignored="_")
        >>> recall.measure("_ _ 3 _ 4", "7 _ 3 0 4")["exact_match"]
        1.0
    """
    if ignored is not None and ignored in tokens:
        raise ValueError(f"ignored={ignored!r} is also a token that can be asked")
    return sequences.Sequence(tuple(tokens), separator, ignored)


def list_of(item: Column) -> Column:
    """Lists of any length, such as `list_of(value("int8"))`; of anything but images."""
    return nested.ListOf(item)


def struct(fields: Columns) -> Column:
    """Several named values, which are no images."""
    return nested.Struct(dict(fields))


def image() -> Column:
    """An encoded image. A struct of `bytes` and `path` in Arrow, a PIL image in `datasets`."""
    return nested.Image()


def class_answer(names: Sequence[str], index: int) -> int | str:
    """A class as `solve` returns it: its name, or its index if the names are 0, 1, 2 and so on.

    Example:
        >>> from synthbench.tasks.features import class_answer
        >>> class_answer(["0", "1", "2"], 2), class_answer(["000", "001", "010"], 2)
        (2, '010')
    """
    answer: int | str = class_label(names).solutions(index)[0]
    return answer


def arrow_schema(columns: Columns) -> pa.Schema:
    """The schema of a shard, with the features of `datasets` in its `huggingface` metadata."""
    import pyarrow as pa

    features = {name: column.feature for name, column in columns.items()}
    info = json.dumps({"info": {"features": features}}, separators=(",", ":"))
    fields = [pa.field(name, column.arrow) for name, column in columns.items()]
    return pa.schema(fields, metadata={"huggingface": info})


def card_features(columns: Columns) -> list[dict[str, Any]]:
    """The columns as a dataset card's `dataset_info` lists them."""
    return [{"name": name, **column.card} for name, column in columns.items()]


def cast(columns: Columns, values: Mapping[str, Any], rows: int) -> dict[str, pa.Array]:
    """The columns that `render` returned, in the declared order and types.

    Raises:
        ValueError: other columns are given, another number of values than rows, a null, or a value
            that its column cannot have.
    """
    if values.keys() != columns.keys():
        declared, names = ", ".join(columns), ", ".join(values)
        raise ValueError(f"columns declares {declared}. Render gives {names}")
    arrays = {}
    for name, column in columns.items():
        try:
            arrays[name] = column.cast(values[name])
        except ValueError as error:
            raise ValueError(f"Column {name}: {error}") from error
        _check_values(name, column, arrays[name], rows)
    return arrays


def row_values(columns: Columns, row: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of a row from elsewhere. What is no column stays as it is.

    Args:
        columns: the columns that are read.
        row: the row, whose values may be text, or scalars and arrays of any library; None stands
            for a missing value, which only a label must not be.

    Raises:
        UsageError: a value that its column cannot have.
    """
    values = dict(row)
    for name in filter(columns.__contains__, row):
        try:
            values[name] = columns[name].from_row(row[name])
        except ValueError as error:
            raise UsageError(f"Column {name!r} of a row: {error}.") from None
        if name == LABEL and values[name] is None:
            raise UsageError("Column 'label' of a row: None is no answer to compare with.")
    return values


def _check_values(name: str, column: Column, values: pa.Array, rows: int) -> None:
    if len(values) != rows:
        raise ValueError(f"{len(values)} values of {name} for {rows} rows")
    if values.null_count:
        raise ValueError(f"null as {name} in {values.null_count} rows")
    _check_classes(name, column, values)


def _check_classes(name: str, column: Column, values: pa.Array) -> None:
    """Make sure that all classes exist, also those in lists and structs, where nulls may be."""
    for place, inner, parts in column.inner(values):
        _check_classes(f"{name}{place}", inner, parts)
    if column.names is not None and len(values) > values.null_count:
        classes = numpy_array(values.drop_null())
        low, high = int(classes.min()), int(classes.max())
        if low < 0 or high >= len(column.names):
            raise ValueError(
                f"Column {name} has the classes {low} to {high}, but only {len(column.names)} "
                "names: a class is an index from 0"
            )
