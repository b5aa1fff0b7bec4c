"""Numbers: arrays to and from Arrow's lists and strings, and predictions read as numbers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import TaskError
from synthbench.tasks.arrow import arrow_array, numpy_array

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST = float(np.finfo(np.float32).max)


def distinct_numbers(numbers: NDArray[np.integer[Any]]) -> list[int]:
    """The distinct numbers, in ascending order.

    With counts asked for, `np.unique` does not import `numpy.ma`, which takes as long as pyarrow.
    """
    found: list[int] = np.unique(numbers, return_counts=True)[0].tolist()
    return found


def by_quotient(numbers: NDArray[np.int64], size: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each quotient of ascending numbers by `size`, with the remainders."""
    if len(numbers) and (quotient := int(numbers[0]) // size) == int(numbers[-1]) // size:
        yield quotient, numbers - quotient * size
        return
    of, remainders = np.divmod(numbers, size)
    for quotient in distinct_numbers(of):
        yield quotient, remainders[of == quotient]


def _offsets(lengths: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def json_rows(columns: Sequence[pa.Array]) -> NDArray[np.uint8]:
    """The rows of some columns as JSON, uint8 `(rows, width)`, padded with zeros on the right.

    Raises:
        TaskError: a column has values that are not JSON, such as bytes.
    """
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    try:
        texts = np.array([json.dumps(row).encode() for row in rows] or [b" "], np.bytes_)
    except TypeError as error:
        raise TaskError(f"The inputs of a task: {error}; override content and parse.") from error
    return texts[: len(columns[0]), None].view(np.uint8)


def list_array(
    values: pa.Array, lengths: NDArray[np.integer[Any]], absent: pa.Array | None = None
) -> pa.Array:
    """Consecutive runs of `values`, of these lengths, as lists. Null where `absent` is true."""
    import pyarrow as pa

    return pa.ListArray.from_arrays(arrow_array(_offsets(lengths)), values, mask=absent)


def join_bytes(
    data: bytes | NDArray[np.uint8],
    lengths: NDArray[np.integer[Any]],
    kind: pa.DataType | None = None,
) -> pa.Array:
    """Consecutive runs of bytes, of these lengths, as an array of `kind`. Default: of strings."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(_offsets(lengths)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind or pa.string(), len(lengths), buffers)


def split_bytes(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all strings or binary values in one array, and the number of bytes of each."""
    ends = text_ends(texts)
    whole = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    return whole[ends[0] : ends[-1]], np.diff(ends).astype(np.int64)


def text_ends(texts: pa.Array) -> NDArray[np.int32]:
    """The start of the first string or binary value and the end of each, int32 `(1 + values,)`."""
    if not len(texts):
        return np.zeros(1, np.int32)
    ends = np.frombuffer(texts.buffers()[1], np.int32)
    return ends[texts.offset : texts.offset + len(texts) + 1]


def nest(rows: NDArray[Any]) -> pa.Array:
    """An array of two or more axes as nested lists, one for each entry of the first axis."""
    nested = arrow_array(rows.reshape(-1))
    for length in reversed(rows.shape[1:]):
        nested = list_array(nested, np.full(len(nested) // length, length))
    return nested


def unwrap(column: pa.Array, name: str) -> tuple[NDArray[np.int64], pa.Array]:
    """The lengths of a column of lists, int64 `(lists,)`, and their values in one array.

    Raises:
        ValueError: there are nulls among the lists.
    """
    import pyarrow.compute as pc  # here, because many commands do without it

    if column.null_count:
        raise ValueError(f"{name} has a null where a list is expected")
    lengths = numpy_array(pc.list_value_length(column))
    return lengths.astype(np.int64), column.flatten()


def plain_values(column: pa.Array, name: str) -> NDArray[Any]:
    """The numbers of a column without lists.

    Raises:
        ValueError: there are nulls among them.
    """
    if column.null_count:
        raise ValueError(f"{name} has a null where a number is expected")
    return numpy_array(column)


def unnest(column: pa.Array, shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """A column of nested lists that all have one shape, as an array `(rows, *shape)`.

    Raises:
        ValueError: a row has another shape, or a null.
    """
    rows = len(column)
    for length in shape:
        lengths, column = unwrap(column, name)
        if len(wrong := lengths[lengths != length]):
            raise ValueError(f"{name} has a list of {wrong[0]} where {length} are expected")
    return plain_values(column, name).reshape(rows, *shape)


#: The types of most predictions and labels.
_PLAIN_TYPES = frozenset((str, int, float, bool, type(None)))


def plain_value(prediction: Any) -> Any:
    """A scalar of NumPy, torch or Arrow as a plain Python value. Anything else as it is."""
    if type(prediction) in _PLAIN_TYPES:  # rewards ask this several times a completion
        return prediction
    if hasattr(type(prediction), "as_py"):
        return prediction.as_py()
    return prediction.item() if getattr(prediction, "shape", None) == () else prediction


def is_number(value: Any) -> bool:
    """True if a plain value is a real number: an int, a float, a Fraction, a Decimal. No bool."""
    return isinstance(value, int | float | Real | Decimal) and not isinstance(value, bool)


def read_numbers(prediction: Any, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    """Numbers of this shape from nested lists, a flat list, or an array; None if unreadable.

    Args:
        prediction: the prediction, or its JSON, as in tables of text. A flat list is in
            row-major order. Fractions and Decimals are numbers. Other text, booleans, NaN and
            numbers too large for float32 are unreadable.
        shape: the shape of the result.
    """
    numbers = read_array(prediction)
    if numbers is None or numbers.dtype.kind not in "iuf":
        return None
    if numbers.shape not in (shape, (int(np.prod(shape)),)):
        return None
    numbers = numbers.astype(np.float64).reshape(shape)
    return numbers if bool((np.abs(numbers) <= _LARGEST).all()) else None


def read_array(prediction: Any) -> NDArray[Any] | None:
    """An array as `to_array` makes it, from a prediction or its JSON; None if unreadable."""
    try:
        return to_array(json.loads(prediction) if isinstance(prediction, str) else prediction)
    except (ValueError, TypeError, ArithmeticError, RuntimeError):
        return None


def read_lists(prediction: Any) -> list[Any] | None:
    """Nested lists of any lengths, from what `read_array` reads, too; None if unreadable."""
    try:
        value = json.loads(prediction) if isinstance(prediction, str) else plain_value(prediction)
        if (array := read_array(value)) is not None:
            return array.tolist() if array.ndim else None
        if not isinstance(value, list | tuple | np.ndarray):
            return None
        parts = [read_lists(part) for part in value]
    except (ValueError, RecursionError):
        return None
    return None if None in parts else parts


def to_array(values: Any) -> NDArray[Any]:
    """A NumPy array from an array of any library, or from nested lists of numbers.

    Args:
        values: torch tensors may require gradients or be on another device. Bfloat16, which NumPy
            does not have, becomes float32.

    Raises:
        ValueError, TypeError, ArithmeticError, RuntimeError: not an array, or lists that differ
            in length.
    """
    torch, pa = sys.modules.get("torch"), sys.modules.get("pyarrow")
    if torch is not None and isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = values.float() if values.dtype is torch.bfloat16 else values
    elif pa is not None and isinstance(values, pa.Scalar | pa.Array):
        values = values.to_pylist() if isinstance(values, pa.Array) else values.as_py()
    if isinstance(values, np.ndarray) and values.dtype == object:
        values = values.tolist()
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.dtype.name == "bfloat16":  # as JAX has it
        return array.astype(np.float32)
    if array.dtype == object and array.size and all(map(is_number, array.flat)):
        return array.astype(np.float64)
    return array


def all_digits(base: int, digits: int) -> NDArray[np.int64]:
    """Every row of `places` digits below `base`, int64 `(base**places, places)`, in order."""
    powers = base ** np.arange(digits - 1, -1, -1)
    return np.arange(base**digits)[:, None] // powers % base


#: The most digits of a whole number that is read: those of the largest uint64.
_MOST_DIGITS = 20
#: A whole number as text. Tables with missing values write 3 as `3.0`.
_WHOLE = re.compile(r"(-?)0*(\d+?)(?:\.0+)?", re.ASCII)


def read_class(prediction: Any, names: Sequence[str]) -> int | None:
    """A class index from an index or a name: `3`, `"3"`, `" 3 "`, `3.0`; None if unreadable.

    Args:
        prediction: an integer, an integral float, Fraction or Decimal, text, or one of these as
            a NumPy, torch or Arrow scalar. Booleans, other numbers, NaN and infinity are not read.
        names: the class names. Text is looked up here first, then read as an index.

    Example:
        >>> from synthbench.tasks.base import read_class
        >>> [read_class(one, ["no", "yes"]) for one in ("yes", " 1 ", "1.0", 1.5, True, 2)]
        [1, 1, 1, None, None, None]
    """
    prediction = _plain(prediction)
    if isinstance(prediction, str):
        prediction = prediction.strip()
        if prediction in names:
            return names.index(prediction)
        if "-" in prediction:
            return None
    index = read_whole_number(prediction)
    return index if index is not None and 0 <= index < len(names) else None


def read_whole_number(prediction: Any) -> int | None:
    """A whole number from an integral number, a scalar, or text in ASCII digits.

    Example:
        >>> from synthbench.tasks.numeric import read_whole_number
        >>> [read_whole_number(one) for one in (7, "-7", "7.0", 7.5, True, "seven")]
        [7, -7, 7, None, None, None]
    """
    prediction = _plain(prediction)
    if type(prediction) is int and -(10**_MOST_DIGITS) < prediction < 10**_MOST_DIGITS:
        return prediction
    if isinstance(prediction, str):
        whole = _WHOLE.fullmatch(prediction.strip())
        if whole is None or len(whole[2]) > _MOST_DIGITS:  # `int` refuses long texts
            return None
        return int(whole[1] + whole[2])
    if not is_number(prediction) or (isinstance(prediction, Decimal) and prediction.is_nan()):
        return None
    if not abs(prediction) < 10**_MOST_DIGITS or prediction != int(prediction):
        return None
    return int(prediction)


def _plain(prediction: Any) -> Any:
    """A scalar as a plain Python value, bytes as text."""
    if type(prediction) in _PLAIN_TYPES:
        return prediction
    prediction = plain_value(prediction)
    return prediction.decode("utf-8", "replace") if isinstance(prediction, bytes) else prediction
