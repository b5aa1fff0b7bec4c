"""Columns whose values have parts: lists, structs and images."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.column import Column, Encoded, filled
from synthbench.tasks.numeric import read_array, read_lists, read_numbers, unwrap
from synthbench.tasks.tokens import Vocabulary, pad
from synthbench.text.lines import short

if TYPE_CHECKING:
    import pyarrow as pa


@dataclasses.dataclass(frozen=True)
class ListOf(Column):
    """Lists of any length.

    They are in a schema in the old form `[feature]`, which every `datasets` from 2.14 on reads
    (newer versions show it as `List`).
    """

    item: Column

    answers = "numbers"

    @property
    def feature(self) -> Any:
        return [self.item.feature]

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.list_(self.item.arrow)

    @property
    def card(self) -> dict[str, Any]:
        inner = self.item.card
        if isinstance(inner.get("dtype"), str):
            return {"sequence": inner["dtype"]}
        # A list of structs is `list: [fields]`, a list of lists `sequence: {sequence: ...}`.
        return {"list": inner["struct"]} if "struct" in inner else {"sequence": inner}

    def __str__(self) -> str:
        return f"List({self.item})"

    @property
    def is_ragged(self) -> bool:
        return True

    def repeating(self, name: str) -> list[str]:
        return self.item.repeating(f"{name}.list.element")

    def hashed(self, array: pa.Array, checked: bool) -> Iterator[tuple[str, NDArray[Any]]]:
        yield "#length", numpy_array(filled(array.value_lengths(), 0)).astype("<i8")

    def inner(self, array: pa.Array) -> Iterator[tuple[str, Column, pa.Array]]:
        yield "[]", self.item, array.flatten()

    @property
    def expected(self) -> str:
        return "numbers in lists or an array, of the shape that the row asks for"

    def read(self, prediction: Any, label: Any) -> Any:
        """Numbers as an array. As lists of arrays, where the label has lists of several lengths."""
        try:
            shape = np.shape(label)
        except ValueError:
            return self._read_ragged(prediction, label)
        return read_numbers(prediction, shape)

    def _read_ragged(self, prediction: Any, label: Any) -> list[Any] | None:
        lists = read_lists(prediction)
        if lists is None or len(lists) != len(label):
            return None
        parts = [self.item.read(element, part) for element, part in zip(lists, label, strict=True)]
        return None if any(part is None for part in parts) else parts

    def rounded(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.item.rounded(numbers)

    def from_row(self, value: Any) -> Any:
        """Lists, from an array of any library or JSON, too. A ValueError for anything else."""
        if value is None or isinstance(value, list):
            return value
        if (lists := read_lists(value)) is None:
            raise ValueError(f"{short(value)} is not {self}")
        return lists

    def measure(self, label: Any, answer: Any) -> dict[str, float]:
        return {"accuracy": float(answer is not None and self._is_right(answer, label))}

    def _is_right(self, answer: Any, label: Any) -> bool:
        if isinstance(answer, list):
            return len(answer) == len(label) and all(map(self._is_right, answer, label))
        return np.array_equal(self.rounded(answer), label)

    def is_plausible(self, prediction: Any) -> bool:
        if (array := read_array(prediction)) is not None:
            return array.ndim > 0 and array.dtype.kind in "iuf"
        # Lists of several lengths are not an array.
        return isinstance(prediction, list | tuple) and all(map(self.item.is_plausible, prediction))

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return self.item.encodes_items(vocabulary)

    def encode_items(
        self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None
    ) -> Encoded:
        """Every list padded to the longest of its level."""
        lengths, items = unwrap(array, name)
        values, _, fill = self.item.encode_items(items, name, vocabulary)
        return Encoded(pad(values, lengths, fill), fill=fill)


@dataclasses.dataclass(frozen=True)
class Struct(Column):
    """Several named values."""

    fields: Mapping[str, Column]

    @property
    def feature(self) -> Any:
        return {name: field.feature for name, field in self.fields.items()}

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.struct([(name, field.arrow) for name, field in self.fields.items()])

    @property
    def card(self) -> dict[str, Any]:
        return {"struct": [{"name": name, **field.card} for name, field in self.fields.items()]}

    def __str__(self) -> str:
        return f"{{{', '.join(f'{name}: {field}' for name, field in self.fields.items())}}}"

    def repeating(self, name: str) -> list[str]:
        return [
            leaf for key, field in self.fields.items() for leaf in field.repeating(f"{name}.{key}")
        ]

    def hashed(self, array: pa.Array, checked: bool) -> Iterator[tuple[str, NDArray[Any]]]:
        return iter(())

    def inner(self, array: pa.Array) -> Iterator[tuple[str, Column, pa.Array]]:
        # `flatten` carries the struct's own nulls into its fields; `field` would not.
        for (name, field), values in zip(self.fields.items(), array.flatten(), strict=True):
            yield f".{name}", field, values

    def read(self, prediction: Any, label: Any) -> Any:
        return None  # an answer is never a struct


@dataclasses.dataclass(frozen=True)
class Image(Column):
    """An encoded image. A struct of `bytes` and `path` in Arrow, a PIL image in `datasets`."""

    plain = False

    @property
    def feature(self) -> Any:
        return {"_type": "Image"}

    @property
    def arrow(self) -> pa.DataType:
        import pyarrow as pa

        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])

    @property
    def card(self) -> dict[str, Any]:
        return {"dtype": "image"}

    def __str__(self) -> str:
        return "Image"

    def repeating(self, name: str) -> list[str]:
        return []

    def hashed(self, array: pa.Array, checked: bool) -> Iterator[tuple[str, NDArray[Any]]]:
        """Height, width and pixels, so that the encoder does not matter."""
        for pixels in _pixels(array.drop_null(), checked):
            count, *shape = pixels.shape
            yield "#shape", np.tile(np.array(shape, "<i8"), count)
            yield "", pixels

    def read(self, prediction: Any, label: Any) -> Any:
        return None  # an answer is never an image

    def encodes(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def encode(self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None) -> Encoded:
        """Pixels uint8 `(rows, 3, height, width)`."""
        pixels = np.concatenate([*_pixels(array, checked=True)])
        return Encoded(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)))


def _pixels(array: pa.Array, checked: bool) -> Iterator[NDArray[np.uint8]]:
    from synthbench.tasks.images.png import decode_all  # late, as few tasks have images

    return decode_all(array.field("bytes"), checked)
