"""Column types: the base class of all columns.

A column knows its Arrow type, its form in a Parquet schema and in a dataset card, how an answer is
read and measured, how values are shown to people, hashed, and encoded for a model. Nothing else
asks what kind of column it is. Authors write columns with `synthbench.tasks.features`.
"""

from __future__ import annotations

import abc
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.arrow import arrow_array, numpy_array
from synthbench.tasks.numeric import is_number, nest, plain_value, plain_values
from synthbench.tasks.tokens import Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa


class Encoded(NamedTuple):
    """Values of some rows as a model or a file of tensors takes them.

    Attributes:
        values: the values, `(rows, ...)`.
        lengths: int64 `(rows,)`, the number of tokens of each text; None for anything else.
        fill: the padding behind shorter rows.
    """

    values: NDArray[Any]
    lengths: NDArray[np.int64] | None = None
    fill: float = 0


class Column(abc.ABC):
    """One column of a task's rows.

    Attributes:
        names: the names of the classes; None if the values are not classes.
        plain: whether values are text, numbers, or lists of these: all but images.
        answers: the form that a search in running text finds: a `word`, `text` or `numbers`.
        is_number: whether `text` is always one number, which is then looked for as a number is.
        metrics: the metrics that `measure` returns.
        binary_metrics: those of them that are 0 or 1 for each row.
    """

    names: tuple[str, ...] | None = None
    plain: ClassVar[bool] = True
    answers: ClassVar[str] = "word"
    is_number: ClassVar[bool] = False
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    binary_metrics: ClassVar[tuple[str, ...]] = ("accuracy",)

    #: The token of a `sequence` at places that are not asked. None if all are asked.
    ignored: str | None = None

    @property
    def chance(self) -> float | None:
        """The share of right answers of a uniform guess, None if the values cannot be counted."""
        return None

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The tokens of a `sequence`, the ignored one last; None for any other column."""
        return None

    # Files.

    @property
    @abc.abstractmethod
    def feature(self) -> Any:
        """The column as `datasets` stores it in a schema's metadata, a JSON value."""

    @property
    @abc.abstractmethod
    def arrow(self) -> pa.DataType:
        """The Arrow type, which `datasets` expects."""

    @property
    @abc.abstractmethod
    def card(self) -> dict[str, Any]:
        """The column as a dataset card's `dataset_info` lists it, without its name."""

    @abc.abstractmethod
    def __str__(self) -> str:
        """The column in words, such as `List(int8)` or `ClassLabel(0, 1, 2)`."""

    def repeating(self, name: str) -> list[str]:
        """Parquet's names of the leaves whose values repeat, for which a dictionary pays."""
        return [name]

    def hashed(self, array: pa.Array, checked: bool) -> Iterator[tuple[str, NDArray[Any]]]:
        """The data of a digest for some values: names below the column's, and arrays.

        Args:
            array: values of the column, with nulls or without.
            checked: whether the checksums inside images are checked.
        """
        whole = filled(array, False if str(array.type) == "bool" else 0)
        values = numpy_array(whole)
        yield "", values.astype(values.dtype.newbyteorder("<"), copy=False).view(np.uint8)

    def inner(self, array: pa.Array) -> Iterator[tuple[str, Column, pa.Array]]:
        """The columns inside: their names below the column's, and their values."""
        return iter(())

    # Values.

    @property
    def is_ragged(self) -> bool:
        """True if `encode` can give a row more values than another."""
        return False

    def cast(self, values: Any) -> pa.Array:
        """Values as an Arrow array of the column's type.

        Args:
            values: an Arrow array, a NumPy array (for lists with an axis each), or a list.

        Raises:
            ValueError: values that the column's type does not have.
        """
        import pyarrow as pa

        try:
            if not isinstance(values, pa.Array):
                values = self._from_plain(values)
            return values if values.type == self.arrow else values.cast(self.arrow)
        except (pa.ArrowException, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"{type(values).__name__} is not {self}: {error}") from error

    def _from_plain(self, values: Any) -> pa.Array:
        import pyarrow as pa

        if isinstance(values, np.ndarray):
            return nest(values) if values.ndim > 1 else arrow_array(values)
        return pa.array(values, self.arrow)

    def show(self, value: Any) -> str:
        """A value as text for people, in previews and prompts: as it is written in an answer."""
        return self.format_answer(value)

    # Answers.

    @property
    def expected(self) -> str:
        """The form of an answer, for messages."""
        return "a number or text"

    @property
    def wanted(self) -> str:
        """The answer to write, in the words of a prompt."""
        return "the answer"

    @abc.abstractmethod
    def read(self, prediction: Any, label: Any) -> Any:
        """A prediction as a value of the column, None if it cannot be read.

        Args:
            prediction: the prediction, in any form.
            label: the right value. Where it is a list, the answer has its shape.
        """

    def from_row(self, value: Any) -> Any:
        """The value that a row from elsewhere has, such as a class by name or a scalar of torch.

        Args:
            value: the value in any form. None where it is missing.

        Raises:
            ValueError: it cannot be understood as a value of this column.
        """
        value = plain_value(value)
        return value if value is None else self._from_row(value)

    def _from_row(self, value: Any) -> Any:
        """`from_row` of a plain value that is not None."""
        return value

    def measure(self, label: Any, answer: Any) -> dict[str, float]:
        """The metrics of one answer, as `read` returns it; None gets the worst values."""
        return {"accuracy": float(answer is not None and answer == label)}

    def rounded(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers of an answer as the column stores them."""
        return numbers

    def right_places(self, label: Any, answer: Any) -> dict[int, bool]:
        """The verdict on each asked place of a sequence, counted from 1. Otherwise empty."""
        return {}

    def is_plausible(self, prediction: Any) -> bool:
        """True if an answer, right or wrong, can be a plain value of this type.

        Args:
            prediction: neither text, bytes nor None, which any model may give.
        """
        return is_number(prediction)

    def solutions(self, value: Any) -> tuple[Any, ...]:
        """The forms in which `solve` may return a value."""
        return (value,)

    def from_solver(self, answer: Any) -> Any:
        """The value for what `solve` returned."""
        return answer

    def format_answer(self, value: Any) -> str:
        """The value as the text of an answer."""
        return json.dumps(value)

    # Models.

    def encodes(self, vocabulary: Vocabulary | None) -> bool:
        """True if `encode` can encode the values.

        Args:
            vocabulary: the tokens of the task's texts, if it has any.
        """
        return self.encodes_items(vocabulary)

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        """True if values inside lists can be encoded, as one number each."""
        return False

    def encode(self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None) -> Encoded:
        """Values as an array of numbers.

        Args:
            array: values of the column.
            name: the column's name, for messages.
            vocabulary: the tokens of the task's texts, if it has any.

        Raises:
            ValueError: a value that is missing or has a word that is not a token.
        """
        return self.encode_items(array, name, vocabulary)

    def encode_items(
        self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None
    ) -> Encoded:
        """Values inside lists as one number each. Arguments and errors as in `encode`."""
        return Encoded(plain_values(array, name), fill=-1)

    def ids(self, values: Any) -> NDArray[np.int64]:
        """Classes or sequences as numbers.

        Args:
            values: as `Task.render` gives the column.

        Returns:
            Indices of classes, int64 `(rows,)`. For sequences, ids of tokens from 1, padded
            with 0, int64 `(rows, width)`.

        Raises:
            ValueError: values that the column cannot have, or that are neither classes nor
                sequences.
        """
        raise ValueError(f"{self} is neither a class nor a sequence of tokens")


def filled(array: pa.Array, value: object) -> pa.Array:
    """The array with a value in place of nulls."""
    return array.fill_null(value) if array.null_count else array
