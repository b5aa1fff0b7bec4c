"""Vectors that are their own answers: exact floats, uniform, and the mean squared error."""

import itertools
import math
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.tasks.describe import draw_row
from synthbench.tasks.identity.task import Identity
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import assert_sound, ids, propose

ranges = st.floats(1e-6, 1e6)


# The generator.


@given(dims=st.integers(1, 100), train=ranges, test=ranges)
@settings(max_examples=60, deadline=None)
def test_numbers_are_float32_and_in_the_range_of_their_split(dims, train, test):
    task = Identity(parameters={"dims": dims, "train_range": train, "test_range": test})
    for split, span in (("train", train), ("iid", train), ("test", test)):
        numbers = propose(task, split)["x"]
        assert numbers.shape == (20, dims) and numbers.dtype == np.float32
        assert np.abs(numbers.astype(np.float64)).max() <= span
        steps, step = task.lattice(task.split(split))
        assert 2**23 <= steps <= 2**24 and steps * step <= span < (steps + 1) * step
        multiples = numbers.astype(np.float64) / step
        assert (multiples == np.rint(multiples)).all()
        assert not np.signbit(numbers[numbers == 0]).any()


def test_the_ends_of_the_range_are_floats_of_the_lattice():
    task = Identity()
    assert task.lattice(task.split("train")) == (2**24, 2.0**-25)
    assert task.lattice(task.split("test")) == (2**24, 2.0**-24)
    uneven = Identity(parameters={"train_range": 0.3})
    assert uneven.lattice(uneven.split("train")) == (math.floor(0.3 * 2**25), 2.0**-25)


def test_numbers_are_uniform_and_independent_in_every_place():
    for split, span in (("train", 0.5), ("iid", 0.5), ("test", 1.0)):
        numbers = propose(Identity(), split, n=20_000)["x"] / span
        for place in numbers.T:
            assert_uniform(np.ceil(5 * place).clip(-4, 5).tolist(), range(-4, 6))
        correlation = np.corrcoef(numbers.astype(float), rowvar=False)
        assert np.abs(correlation - np.eye(5)).max() < 5 / math.sqrt(20_000)


# Counting.


def test_the_capacity_is_the_number_of_vectors_on_the_lattice():
    task = Identity()
    assert task.capacity(task.split("train"), 0) == (2**25 + 1) ** 5
    uneven = Identity(parameters={"dims": 2, "test_range": 0.3})
    assert uneven.capacity(uneven.split("test"), 0) == (2 * math.floor(0.3 * 2**25) + 1) ** 2


def test_the_listing_has_every_vector_once(monkeypatch):
    task = Identity(parameters={"dims": 3})
    monkeypatch.setattr(Identity, "lattice", lambda self, split: (2, 0.25))
    listed = task.enumerate_rows(task.split("train"), 0)
    expected = set(itertools.product([-0.5, -0.25, 0.0, 0.25, 0.5], repeat=3))
    assert set(map(tuple, listed["x"].tolist())) == expected
    assert len(set(ids(task, listed))) == len(listed) == task.capacity(task.split("train"), 0)


# Files.


@given(dims=st.integers(1, 8))
@settings(max_examples=10, deadline=None)
def test_rows_of_any_dimension_are_sound(dims):
    task = Identity(parameters={"dims": dims})
    assert_sound(task, propose(task, "test"))


def test_the_content_is_the_bytes_of_the_floats_and_an_end_mark():
    task = Identity(parameters={"dims": 2})
    block = task.parse({"x": pa.array([[0.5, 0.0]], pa.list_(pa.float32()))})
    assert task.content(block).tobytes() == struct.pack("<ff", 0.5, 0.0) + b"\x01"


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.0] * 4, "list of 4 where 5 are expected"),
        ([0.0] * 6, "list of 6 where 5 are expected"),
        ([0.0, 0.0, 0.0, 0.0, 1.5], "not between -1.0 and 1.0"),
        ([0.0, 0.0, 0.0, 0.0, math.nan], "not between -1.0 and 1.0"),
        ([0.0, 0.0, 0.0, 0.0, None], "null where a number"),
        (None, "null where a list"),
    ],
)
def test_a_row_that_is_no_vector_of_the_task_is_refused(x, message):
    with pytest.raises(ValueError, match=message):
        Identity().parse({"x": pa.array([x], pa.list_(pa.float32()))})


def test_arrays_are_two_float32_matrices_that_share_no_memory():
    task = Identity()
    block = propose(task)
    arrays = task.arrays(block)
    assert list(arrays) == ["x", "label"]
    assert (arrays["x"] == arrays["label"]).all()
    assert arrays["label"].dtype == np.float32 and arrays["label"].shape == (20, 5)
    assert not np.shares_memory(arrays["x"], arrays["label"])


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dims": 0}, "Parameter dims=0: allowed are 1 to 100."),
        ({"dims": 101}, "Parameter dims=101: allowed are 1 to 100."),
        ({"train_range": 0.0}, "Parameter train_range=0.0: allowed are 1e-06 to 1e+06."),
        ({"test_range": "nan"}, "Parameter test_range=nan: allowed are 1e-06 to 1e+06."),
    ],
)
def test_an_impossible_parameter_is_refused_by_name(parameters, message):
    with pytest.raises(ParameterError) as refused:
        Identity(parameters=parameters)
    assert str(refused.value) == message


# Answers.


@given(errors=st.lists(st.floats(-10, 10), min_size=5, max_size=5))
def test_the_error_is_the_mean_of_the_squares(errors):
    row = {"x": [0.5] * 5, "label": [0.5] * 5}
    expected = sum(error * error for error in errors) / 5
    assert Identity().score(row, [0.5 + error for error in errors]) == pytest.approx(expected)


def test_the_error_is_taken_in_double_precision():
    row = {"x": [0.0] * 5, "label": [0.0] * 5}
    assert Identity().score(row, [1e-30, 0, 0, 0, 0]) == pytest.approx(2e-61)


def test_the_largest_readable_answer_has_a_finite_error():
    row = {"x": [0.0] * 5, "label": [0.0] * 5}
    assert math.isfinite(Identity().score(row, [3.4e38] * 5))


@pytest.mark.parametrize(
    "prediction",
    [None, "0 0 0 0 0", [0.0] * 4, [[0.0] * 5] * 2, [0, 0, 0, 0, math.nan], [0, 0, 0, 0, 1e39]],
)
def test_an_answer_that_cannot_be_read_is_infinitely_wrong(prediction):
    task = Identity()
    row = {"x": [0.0] * 5, "label": [0.0] * 5}
    assert task.read_answer(row, prediction) is None
    assert task.score(row, prediction) == math.inf


def test_a_drawn_row_shows_the_vector_above_its_label():
    drawn = draw_row(Identity(), {"x": [0.5, -0.25], "label": [0.5, -0.25]})
    assert str(drawn).splitlines() == [
        "x      +0.5000000  -0.2500000",
        "label  +0.5000000  -0.2500000",
    ]
