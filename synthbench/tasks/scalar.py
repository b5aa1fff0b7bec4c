"""Columns with a single value in each row: a number, a text, a class."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.arrow import arrow_array, numpy_array
from synthbench.tasks.column import Column, Encoded, filled
from synthbench.tasks.numeric import (
    plain_values,
    read_class,
    read_numbers,
    read_whole_number,
    split_bytes,
)
from synthbench.tasks.tokens import Vocabulary, pad
from synthbench.text.lines import short

if TYPE_CHECKING:
    import pyarrow as pa

#: The most names of classes that a message lists, and that a prompt lists.
_SHOWN_NAMES, _LISTED = 12, 16


@dataclasses.dataclass(frozen=True)
class Number(Column):
    """Numbers, or booleans, of an Arrow type such as `int16`.

    A label that is a boolean needs a `read_answer` of its task.
    """

    dtype: str

    @property
    def feature(self) -> Any:
        return {"dtype": self.dtype, "_type": "Value"}

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.type_for_alias(self.dtype)

    @property
    def card(self) -> dict[str, Any]:
        return {"dtype": self.dtype}

    def __str__(self) -> str:
        return self.dtype

    def repeating(self, name: str) -> list[str]:
        return [] if self._kind == "floating" else [name]

    @property
    def expected(self) -> str:
        if self._kind == "integer":
            return f"a whole number from {self._range.min} to {self._range.max}"
        return super().expected

    @functools.cached_property
    def _kind(self) -> str:
        import pyarrow as pa

        kinds = {
            "integer": pa.types.is_integer,
            "floating": pa.types.is_floating,
            "boolean": pa.types.is_boolean,
        }
        return next((name for name, is_kind in kinds.items() if is_kind(self.arrow)), "other")

    @property
    def _range(self) -> np.iinfo[Any]:
        """The least and the largest value of a type of whole numbers."""
        return np.iinfo(self.arrow.to_pandas_dtype())

    def read(self, prediction: Any, label: Any) -> Any:
        if self._kind == "integer":
            number = read_whole_number(prediction)
            is_value = number is not None and self._range.min <= number <= self._range.max
            return number if is_value else None
        numbers = read_numbers(prediction, ())
        return None if numbers is None else self.rounded(numbers)

    def rounded(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._kind != "floating":
            return numbers
        with np.errstate(over="ignore"):  # infinite in float16, which is the answer to no row
            return numbers.astype(self.arrow.to_pandas_dtype()).astype(np.float64)

    def _from_row(self, value: Any) -> Any:
        if self._kind == "boolean":
            return value
        if (number := self.read(value, None)) is None:
            raise ValueError(f"{short(value)} is not {self}")
        return number if isinstance(number, int) else float(number)

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def encode_items(
        self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None
    ) -> Encoded:
        values = plain_values(array, name)
        return Encoded(values, fill=np.nan if values.dtype.kind == "f" else -1)


@dataclasses.dataclass(frozen=True)
class Text(Column):
    """Text. For a `TextTask`, made of its tokens."""

    answers = "text"

    @property
    def feature(self) -> Any:
        return {"dtype": "string", "_type": "Value"}

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.string()

    @property
    def card(self) -> dict[str, Any]:
        return {"dtype": "string"}

    def __str__(self) -> str:
        return "string"

    @property
    def is_ragged(self) -> bool:
        return True

    def repeating(self, name: str) -> list[str]:
        return []

    def hashed(self, array: pa.Array, checked: bool) -> Iterator[tuple[str, NDArray[Any]]]:
        data, lengths = split_bytes(filled(array, ""))
        yield "#length", lengths.astype("<i8")
        yield "", data

    def read(self, prediction: Any, label: Any) -> Any:
        return prediction.strip() if isinstance(prediction, str) else None

    def _from_row(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{short(value)} is not text")
        return str(value)

    def format_answer(self, value: Any) -> str:
        return str(value)

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return vocabulary is not None

    def encode(self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None) -> Encoded:
        ids, lengths = _known(vocabulary, name).read(array)
        return Encoded(pad(ids, lengths), lengths)

    def encode_items(
        self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None
    ) -> Encoded:
        return Encoded(_known(vocabulary, name).ids_of(array))


@dataclasses.dataclass(frozen=True)
class ClassLabel(Column):
    """An index into `names`, which `datasets` shows by name. Int64 in Arrow."""

    names: tuple[str, ...] = ()

    @property
    def feature(self) -> Any:
        return {"names": list(self.names), "_type": "ClassLabel"}

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.int64()

    @property
    def card(self) -> dict[str, Any]:
        names = {str(index): name for index, name in enumerate(self.names)}
        return {"dtype": {"class_label": {"names": names}}}

    @property
    def chance(self) -> float:
        """The share of right answers of a uniform guess among the classes."""
        return 1 / len(self.names)

    def __str__(self) -> str:
        return f"ClassLabel({span(self.names)})"

    def _from_plain(self, values: Any) -> pa.Array:
        """Indices, or names."""
        import pyarrow as pa

        array = super()._from_plain(values) if isinstance(values, np.ndarray) else pa.array(values)
        if not pa.types.is_string(array.type):
            return array
        import pyarrow.compute as pc  # late, as many commands do not need it

        classes = pc.index_in(array, value_set=arrow_array(self.names))
        if classes.null_count:
            unknown = array.filter(classes.is_null())[0].as_py()
            raise ValueError(f"{unknown!r} is not a name of {self}")
        return classes

    @property
    def expected(self) -> str:
        return f"a class ({', '.join(some(self.names))}) or its index, 0 to {len(self.names) - 1}"

    @property
    def wanted(self) -> str:
        if self._counted:
            return f"a number from 0 to {len(self.names) - 1}"
        return f"one of {', '.join(self.names)}" if len(self.names) <= _LISTED else super().wanted

    def read(self, prediction: Any, label: Any) -> int | None:
        return read_class(prediction, self.names)

    def solutions(self, value: Any) -> tuple[Any, ...]:
        """The class's name, or its index if the names are 0, 1, 2 and so on."""
        return (value if self._counted else self.names[value],)

    @property
    def _counted(self) -> bool:
        """True if the names are 0, 1, 2 and so on."""
        return all(name == str(index) for index, name in enumerate(self.names))

    def from_solver(self, answer: Any) -> int | None:
        return read_class(answer, self.names)

    def _from_row(self, value: Any) -> int:
        """An index from 0, or a name. A table of text has the index as text."""
        if type(value) is int and 0 <= value < len(self.names):  # rewards ask this of every row
            return value
        is_padded = isinstance(value, str) and value[:1] == "0" and value[1:2].isdigit()
        index = None if is_padded and value not in self.names else read_class(value, self.names)
        if index is None:
            raise ValueError(f"{short(value)} is not {self.expected}")
        return index

    def format_answer(self, value: Any) -> str:
        return str(self.names[value])

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def ids(self, values: Any) -> NDArray[np.int64]:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return values.astype(np.int64)  # without Arrow, whose conversions import pandas
        classes: NDArray[np.int64] = numpy_array(self.cast(values))
        return classes


def _known(vocabulary: Vocabulary | None, name: str) -> Vocabulary:
    if vocabulary is None:
        raise ValueError(f"{name} is text of unknown tokens")
    return vocabulary


def span(names: tuple[str, ...] | list[str]) -> str:
    """All names. Of more than ten the first two and the last."""
    return ", ".join(names) if len(names) <= 10 else f"{names[0]}, {names[1]} .. {names[-1]}"


def some(names: tuple[str, ...]) -> list[str]:
    """All names, or of many the first three and the last."""
    return list(names) if len(names) <= _SHOWN_NAMES else [*names[:3], "...", names[-1]]
