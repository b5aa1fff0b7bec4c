"""Columns with one value a row: a number, a text, a class, a sequence of tokens."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.column import Column, Encoded, filled
from synthbench.tasks.numeric import (
    is_number,
    plain_value,
    plain_values,
    read_array,
    read_class,
    read_numbers,
    read_whole_number,
    split_bytes,
    to_array,
)
from synthbench.tasks.tokens import Vocabulary, packed, pad
from synthbench.text.lines import short

#: Longer whole numbers are not read as digits; `str` refuses more than 4,300 digits.
_MOST_BITS = 14_000
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
        return pa.type_for_alias(self.dtype)

    @property
    def card(self) -> dict[str, Any]:
        return {"dtype": self.dtype}

    def __str__(self) -> str:
        return self.dtype

    @property
    def expected(self) -> str:
        if pa.types.is_integer(self.arrow):
            return f"a whole number from {self._range.min} to {self._range.max}"
        return super().expected

    @property
    def _range(self) -> np.iinfo[Any]:
        """The least and the largest value of a type of whole numbers."""
        return np.iinfo(self.arrow.to_pandas_dtype())

    def read(self, prediction: Any, label: Any) -> Any:
        if pa.types.is_integer(self.arrow):
            number = read_whole_number(prediction)
            is_value = number is not None and self._range.min <= number <= self._range.max
            return number if is_value else None
        numbers = read_numbers(prediction, ())
        return None if numbers is None else self.rounded(numbers)

    def rounded(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        if not pa.types.is_floating(self.arrow):
            return numbers
        with np.errstate(over="ignore"):  # infinite in float16, which is the answer to no row
            return numbers.astype(self.arrow.to_pandas_dtype()).astype(np.float64)

    def _from_row(self, given: Any) -> Any:
        if pa.types.is_boolean(self.arrow):
            return given
        if (number := self.read(given, None)) is None:
            raise ValueError(f"{short(given)} is not {self}")
        return number if isinstance(number, int) else float(number)

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def encode_items(
        self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None
    ) -> Encoded:
        fill = np.nan if pa.types.is_floating(array.type) else -1
        return Encoded(plain_values(array, name), fill=fill)


@dataclasses.dataclass(frozen=True)
class Text(Column):
    """Text; of a `TextTask`, made of its tokens."""

    answers = "text"

    @property
    def feature(self) -> Any:
        return {"dtype": "string", "_type": "Value"}

    @property
    def arrow(self) -> pa.DataType:
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

    def _from_row(self, given: Any) -> str:
        if not isinstance(given, str):
            raise ValueError(f"{short(given)} is not text")
        return str(given)

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
class Sequence(Text):
    """Text that is a sequence of known tokens: as a label, a target for each position.

    Attributes:
        tokens: all tokens that it can have, in a fixed order; the first has id 1.
        separator: the text between two tokens; if it is empty, each character is a token.
        ignored: a further token, the last, at places that nobody asks; None if all are asked.
    """

    tokens: tuple[str, ...]
    separator: str = " "
    ignored: str | None = None

    metrics = ("exact_match", "position_accuracy")
    binary_metrics = ("exact_match",)

    @property
    def vocabulary(self) -> Vocabulary:
        ignored = () if self.ignored is None else (self.ignored,)
        return Vocabulary((*self.tokens, *ignored), self.separator)

    def __str__(self) -> str:
        return f"Sequence({span(self.tokens)})"

    @property
    def expected(self) -> str:
        shown = ", ".join(_some(self.tokens))
        return f"a list of tokens ({shown}), or a text of them separated by {self.separator!r}"

    @property
    def wanted(self) -> str:
        return "its tokens, separated by spaces,"

    def _from_plain(self, values: Any) -> pa.Array:
        """Texts, lists of tokens, or ids `(rows, width)` from 1, where zeros are left out."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return self.vocabulary.join(self._check_ids(values).astype(self.vocabulary.dtype))
        lists = [self._split(one) if isinstance(one, str) else [*map(str, one)] for one in values]
        known = self.vocabulary.tokens
        for unknown in (token for one in lists for token in one if token not in known):
            raise ValueError(f"{unknown!r} is not a token of {self}")
        return pa.array([self.separator.join(one) for one in lists], pa.string())

    def _check_ids(self, values: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        if values.max(initial=0) >= self.vocabulary.size:
            text = f"the tokens have the ids 1 to {self.vocabulary.size - 1}"
            raise ValueError(f"{values.max()} is not the id of a token: {text}")
        return values

    def _split(self, text: str) -> list[str]:
        return text.split(self.separator) if self.separator else list(text)

    def read(self, prediction: Any, label: Any) -> str | None:
        """The text of a sequence, from its text or from a list or array of its tokens.

        If tokens stand side by side without a separator, a whole number stands for its digits, as
        JSON and tables have them.
        """
        prediction = plain_value(prediction)
        if is_number(prediction):
            prediction = _digits(prediction)
        if isinstance(prediction, str):
            given = self._words(prediction.strip())
        elif self.is_plausible(prediction):
            given = [str(one) for one in to_array(prediction).tolist()]
        else:
            return None
        known = set(self.vocabulary.tokens)
        return self.separator.join(given) if given and set(given) <= known else None

    def _words(self, text: str) -> list[str]:
        """The words of an answer, whether or not they are tokens."""
        return text.split() if self.separator.isspace() else self._split(text)

    def solutions(self, value: Any) -> tuple[Any, ...]:
        """The text, or the list of its tokens."""
        return value, self._split(value)

    def from_solver(self, answer: Any) -> str | None:
        return self.read(answer, None)

    def from_row(self, given: Any) -> str | None:
        """The text, from a text or from a list or array of tokens; ValueError if it is neither."""
        if given is not None and (text := self.read(given, None)) is None:
            raise ValueError(f"{short(given)} is not {self.expected}")
        return None if given is None else text

    def measure(self, label: Any, answer: Any) -> dict[str, float]:
        """Whether all tokens that are asked are right, and the share of them that are.

        A position that only one of the two has counts as wrong.
        """
        if answer is None:
            return dict.fromkeys(self.metrics, 0.0)
        asked = self.right_places(label, answer)
        same = sum(asked.values())
        share = same / max(len(asked), 1)
        return {"exact_match": float(same == len(asked)), "position_accuracy": share}

    def right_places(self, label: Any, answer: Any) -> dict[int, bool]:
        right, given = self._split(label), [] if answer is None else self._split(answer)
        pairs = enumerate(zip_longest(right, given, fillvalue=""), 1)
        return {place: one == other for place, (one, other) in pairs if one != self.ignored}

    def is_plausible(self, prediction: Any) -> bool:
        array = read_array(prediction)
        return is_number(prediction) or (array is not None and array.ndim == 1)

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return False

    def encodes(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def encode(self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None) -> Encoded:
        return super().encode(array, name, self.vocabulary)

    def ids(self, values: Any) -> NDArray[np.int64]:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return packed(self._check_ids(values)).astype(np.int64)
        return self.vocabulary.encode(self.cast(values)).astype(np.int64)


@dataclasses.dataclass(frozen=True)
class Digit(Sequence):
    """A sequence that has one token in every row, a digit."""

    is_number = True


@dataclasses.dataclass(frozen=True)
class ClassLabel(Column):
    """An index into `names`, which `datasets` shows by name; int64 in Arrow."""

    names: tuple[str, ...] = ()

    @property
    def feature(self) -> Any:
        return {"names": list(self.names), "_type": "ClassLabel"}

    @property
    def arrow(self) -> pa.DataType:
        return pa.int64()

    @property
    def card(self) -> dict[str, Any]:
        names = {str(index): name for index, name in enumerate(self.names)}
        return {"dtype": {"class_label": {"names": names}}}

    def __str__(self) -> str:
        return f"ClassLabel({span(self.names)})"

    def _from_plain(self, values: Any) -> pa.Array:
        """Indices, or names."""
        given = super()._from_plain(values) if isinstance(values, np.ndarray) else pa.array(values)
        if not pa.types.is_string(given.type):
            return given
        import pyarrow.compute as pc  # late, as many commands need none of it

        classes = pc.index_in(given, value_set=pa.array(self.names, pa.string()))
        if classes.null_count:
            unknown = given.filter(classes.is_null())[0].as_py()
            raise ValueError(f"{unknown!r} is not a name of {self}")
        return classes

    @property
    def expected(self) -> str:
        return f"a class ({', '.join(_some(self.names))}) or its index, 0 to {len(self.names) - 1}"

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
        """Whether the names are 0, 1, 2 and so on."""
        return all(name == str(index) for index, name in enumerate(self.names))

    def from_solver(self, answer: Any) -> int | None:
        return read_class(answer, self.names)

    def _from_row(self, given: Any) -> int:
        """An index from 0, or a name; a table of text has the index as text."""
        is_padded = isinstance(given, str) and given[:1] == "0" and given[1:2].isdigit()
        index = None if is_padded and given not in self.names else read_class(given, self.names)
        if index is None:
            raise ValueError(f"{short(given)} is not {self.expected}")
        return index

    def format_answer(self, value: Any) -> str:
        return str(self.names[value])

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def ids(self, values: Any) -> NDArray[np.int64]:
        classes: NDArray[np.int64] = self.cast(values).to_numpy(zero_copy_only=False)
        return classes


def _digits(number: Any) -> str | None:
    """A whole number as text; None if it is not whole, or if `str` refuses it as too long."""
    if isinstance(number, int):
        return str(number) if number.bit_length() < _MOST_BITS else None
    whole = read_whole_number(number)
    return None if whole is None else str(whole)


def _known(vocabulary: Vocabulary | None, name: str) -> Vocabulary:
    if vocabulary is None:
        raise ValueError(f"{name} is text of unknown tokens")
    return vocabulary


def span(names: tuple[str, ...] | list[str]) -> str:
    """All names; of more than ten the first two and the last."""
    return ", ".join(names) if len(names) <= 10 else f"{names[0]}, {names[1]} .. {names[-1]}"


def _some(names: tuple[str, ...]) -> list[str]:
    """All names, or of many the first three and the last."""
    return list(names) if len(names) <= _SHOWN_NAMES else [*names[:3], "...", names[-1]]
