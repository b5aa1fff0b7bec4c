"""NumPy arrays to and from Arrow without pandas.

`pa.array` and `Array.to_numpy` import pandas to recognise its types, which takes a second of the
processor. These functions use Arrow's buffers instead.

Modules of tasks import pyarrow where they use it: streams of tokens do without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_array(
    values: NDArray[Any] | Sequence[str], absent: NDArray[np.bool_] | None = None
) -> pa.Array:
    """Numbers, booleans or texts as an Arrow array, which shares the memory of numbers.

    Args:
        values: one axis of any type that Arrow knows, or texts.
        absent: the positions of nulls, bool `(values,)`.

    Example:
        >>> import numpy as np
        >>> from synthbench.tasks.arrow import arrow_array
        >>> arrow_array(np.array([1, 2], np.int8)).type, arrow_array(["a", "bc"]).to_pylist()
        (DataType(int8), ['a', 'bc'])
    """
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        data = [text.encode() for text in values]
        ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
        buffers = [pa.py_buffer(ends), pa.py_buffer(b"".join(data))]
        return pa.Array.from_buffers(pa.string(), len(data), [None, *buffers])
    if values.ndim != 1 or values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        return pa.array(values, mask=absent)
    validity = None if absent is None else pa.py_buffer(_bits(~absent))
    native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    data = pa.py_buffer(_bits(native) if native.dtype == bool else native)
    return pa.Array.from_buffers(pa.from_numpy_dtype(native.dtype), len(native), [validity, data])


def numpy_array(array: pa.Array) -> NDArray[Any]:
    """The values of an Arrow array, read-only where they share its memory.

    Texts and lists are objects, `str` and arrays. Nulls are those of `pyarrow.Array.to_numpy`.
    """
    import pyarrow as pa

    kind, is_type = array.type, pa.types
    if array.null_count == 0 and is_type.is_string(kind):
        return np.array([*array.to_pylist(), None], object)[:-1]
    if array.null_count == 0 and is_type.is_list(kind):
        ends = np.cumsum(numpy_array(array.value_lengths()))[:-1]
        lists = np.empty(len(array), object)
        lists[:] = np.split(numpy_array(array.flatten()), ends) if len(array) else []
        return lists
    if array.null_count == 0 and (is_type.is_integer(kind) or is_type.is_floating(kind)):
        whole = np.frombuffer(array.buffers()[1] or b"", kind.to_pandas_dtype())
        return whole[array.offset : array.offset + len(array)]
    if array.null_count == 0 and is_type.is_boolean(kind):
        return numpy_array(array.cast("uint8")).astype(bool)
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(flags, bitorder="little")
