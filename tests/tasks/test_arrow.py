"""Conversions between NumPy and Arrow agree with those of pyarrow."""

import numpy as np
import pyarrow as pa
import pytest

from synthbench.tasks.arrow import arrow_array, numpy_array

NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?", ">i4", ">f8"]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("count", [0, 1, 9])
def test_numbers_are_the_arrays_of_pyarrow(dtype, count):
    values = (np.arange(2 * count) % 3).astype(dtype)[::2]
    made, theirs = arrow_array(values), pa.array(values.astype(values.dtype.newbyteorder("=")))
    assert made.equals(theirs) and made.type == theirs.type
    for array in (made, made[1:], theirs[: count // 2]):
        back, expected = numpy_array(array), array.to_numpy(zero_copy_only=False)
        assert back.dtype == expected.dtype and back.tolist() == expected.tolist()


def test_absent_values_are_nulls():
    values, absent = np.arange(11), np.arange(11) % 3 == 0
    assert arrow_array(values, absent).equals(pa.array(values, mask=absent))
    assert arrow_array(absent, absent).equals(pa.array(absent, mask=absent))
    back, theirs = numpy_array(arrow_array(values, absent)), pa.array(values, mask=absent)
    np.testing.assert_array_equal(back, theirs.to_numpy(zero_copy_only=False))


@pytest.mark.parametrize("texts", [[], [""], ["a", "", "żółw", "b c"]])
def test_texts_and_lists_come_back(texts):
    array = arrow_array(texts)
    assert array.equals(pa.array(texts, pa.string()))
    assert numpy_array(array).tolist() == texts and numpy_array(array).dtype == object
    lists = pa.array([texts, [], texts, ["d"]], pa.list_(pa.string()))
    for part in (lists, lists[1:], lists[:0]):
        assert [values.tolist() for values in numpy_array(part)] == part.to_pylist()


def test_dates_are_left_to_pyarrow():
    days = np.array(["2026-01-02"], "datetime64[D]")
    assert arrow_array(days).equals(pa.array(days))
