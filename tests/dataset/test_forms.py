"""JSON is read strictly, and the first place where it has not its form is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.dataset.forms import (
    ANYTHING,
    DEEPEST,
    NOTHING,
    PLAIN_OR_LIST,
    TEXT,
    WHOLE,
    MapOf,
    check_form,
    differences,
    read_json,
    same,
)
from synthbench.errors import DatasetError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


# Reading.


@given(values, st.booleans())
def test_what_was_written_is_read_again(value, ascii_only):
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        read = read_json(data)
    except ValueError:
        assert not data.isascii()  # a half of a pair of characters, which is no UTF-8
    else:
        assert same(read, value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "Expecting value"),
        (b"\xff", "invalid start byte"),
        (b"\xef\xbb\xbf{}", "Expecting value"),
        ('{"a": 1}'.encode("utf-16"), "invalid start byte"),
        (b'{"a": 1, "b": 2, "a": 1}', "'a' appears more than once"),
        (b'{"x": [{"a": 1, "a": 1}]}', "'a' appears more than once"),
        (b"NaN", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b"1e999", "'1e999' is too large"),
        (b"7" * 5_000, "Exceeds the limit"),
        (b"[" * 40 + b"]" * 40, "nested more than 32 deep"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested more than 32 deep"),
        (b"[" * 1_000_000, "nested more than 32 deep"),
        (b"{} {}", "Extra data"),
    ],
    ids=range(14),
)
def test_what_readers_could_take_for_something_else_is_no_json(data, reason):
    with pytest.raises(ValueError, match=reason):
        read_json(data)


def test_the_deepest_nesting_is_read():
    data = b"[" * DEEPEST + b"]" * DEEPEST
    assert json.dumps(read_json(data)).encode() == data


def test_constants_are_read_where_they_are_allowed():
    assert read_json(b"[-Infinity, 1e999]", constants=True) == [float("-inf"), float("inf")]


# Forms.

FORM = {
    "name": TEXT,
    "shards": [{"rows": WHOLE}],
    "more": MapOf(TEXT, PLAIN_OR_LIST, least=1),
    "free": ANYTHING,
}
RIGHT = {
    "name": "a",
    "shards": [{"rows": 1}] * 4,
    "more": {"x": [1, 0.5, "c", True], "y": 2},
    "free": [{"": None}],
}


def test_values_of_the_form_pass():
    check_form(RIGHT, FORM, "file.json")


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ((), [], "file.json: it is [], expected an object."),
        (("name",), 3, "file.json: name is 3, expected a line of text."),
        (("name",), "a\nb", "file.json: name is 'a\\nb', expected a line of text."),
        (("name",), "\x1b[2J", "file.json: name is '\\x1b[2J', expected a line of text."),
        (("name",), "\ud800", "file.json: name is '\\ud800', expected a line of text."),
        (
            ("shards", 3, "rows"),
            "x",
            "file.json: shards[3].rows is 'x', expected a whole number from 0.",
        ),
        (
            ("shards", 0, "rows"),
            True,
            "file.json: shards[0].rows is True, expected a whole number from 0.",
        ),
        (
            ("shards", 0, "rows"),
            1.0,
            "file.json: shards[0].rows is 1.0, expected a whole number from 0.",
        ),
        (
            ("shards", 0, "rows"),
            1 << 63,
            "file.json: shards[0].rows is 9223372036854775808, expected a whole number from 0.",
        ),
        (("shards",), {}, "file.json: shards is {}, expected a list."),
        (("shards", 1), None, "file.json: shards[1] is None, expected an object."),
        (("shards", 1), {}, "file.json: shards[1].rows is missing."),
        (
            ("shards", 1),
            {"rows": 1, "x": 2},
            "file.json: a name in shards[1] is 'x', expected only rows.",
        ),
        (("more",), {}, "file.json: more is {}, expected an object with entries."),
        (
            ("more", "y"),
            {},
            "file.json: more.y is {}, expected text, a number, true or false, or a list of these.",
        ),
        (("more",), {"a\tb": 1}, "file.json: a name in more is 'a\\tb', expected a line of text."),
    ],
)
def test_the_first_place_that_differs_is_named(path, value, expected):
    whole = json.loads(json.dumps(RIGHT))
    if path:
        holder = whole
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value
    else:
        whole = value
    with pytest.raises(DatasetError) as caught:
        check_form(whole, FORM, "file.json")
    assert str(caught.value) == expected


# Comparing.


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1, True), (0, False), ([1], [True]), ({"a": 1}, {"a": 1.0}), ("1", 1),
     ({"a": 1}, {"a": 1, "b": 2}), ([1, 2], [2, 1]), (None, NOTHING), ({}, [])],
)  # fmt: skip
def test_values_of_other_types_or_places_are_not_the_same(one, other):
    assert not same(one, other)
    assert list(differences(one, other, "x"))


@given(values)
def test_a_value_is_the_same_as_itself_and_has_no_differences(value):
    again = json.loads(json.dumps(value))
    assert same(value, again)
    assert list(differences(value, again, "x")) == []


def test_every_difference_is_told_by_its_place():
    there = {"a": [1, {"b": 2}], "c": 3, "e": None}
    expected = {"a": [1, {"b": 5}], "c": 3, "d": 4}
    assert list(differences(there, expected, "x")) == [
        "x.a[1].b is 2, expected 5",
        "x.d is missing, expected 4",
        "x.e is None, expected missing",
    ]
