"""Compositional table lookup: tables, both directions, and the generator against the solver."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.ctl.task import CompositionalTableLookup
from synthbench.tasks.describe import draw_row
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import assert_sound, ids, propose_all, rows_of

VARIANTS = ("forward", "backward")


@st.composite
def tasks(draw, most_symbols=40, most_functions=60):
    lengths = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True)
    parameters = {
        "symbols": draw(st.integers(2, most_symbols)),
        "functions": draw(st.integers(1, most_functions)),
        "train_lengths": draw(lengths),
    }
    return CompositionalTableLookup(
        draw(st.sampled_from(VARIANTS)), parameters, draw(st.integers(0, 3))
    )


# The paper's rows.


def test_the_paper_s_row_is_three_lookups_in_either_direction():
    for variant, text in (("forward", "101 d a b"), ("backward", "b a d 101")):
        task = CompositionalTableLookup(variant)
        a, b, d = (dict(zip(task.symbols, task.tables[f], strict=True)) for f in "abd")
        steps = [d["101"], a[d["101"]], b[a[d["101"]]]]
        derived = task.recompute_columns({"text": text})
        assert derived == {"label": int(steps[-1], 2), "steps": steps, "length": 3}
        assert task.solve(text) == steps[-1]


def test_the_answer_of_steps_has_every_intermediate_symbol():
    task, forward = CompositionalTableLookup("steps"), CompositionalTableLookup("forward")
    split = task.split("test")
    rows, others = (
        rows_of(one, one.propose(Draws({"a": 1}), 20, split, 9)) for one in (task, forward)
    )
    for row, other in zip(rows, others, strict=True):
        assert row["text"] == other["text"]
        assert row["label"].split() == row["steps"] == other["steps"]
        assert task.solve(row["text"]) == row["label"]
        assert task.score(row, row["steps"]) == 1
        first, *rest = row["steps"]
        assert task.score(row, " ".join([*rest, first])) == float(rest == row["steps"][:-1])
        assert row["label"] in str(draw_row(task, row))
    assert task.forms == ("masked-lm", "causal-lm")


def test_eight_symbols_and_nine_functions_stand_in_the_columns_and_tables():
    task = CompositionalTableLookup()
    assert list(task.variants) == ["forward", "backward", "steps"]
    assert task.variant == "forward"
    assert task.columns["label"].names == (
        "000", "001", "010", "011", "100", "101", "110", "111"
    )  # fmt: skip
    assert "".join(task.tables) == "abcdefghi"
    assert list(task.columns) == ["text", "label", "steps", "length"]


def test_train_alone_has_the_72_rows_of_one_function():
    task = CompositionalTableLookup()
    assert task.capacity(task.split("train"), 1) == 72
    assert all(1 not in split.buckets for split in task.splits if split.evaluation)


def test_there_is_no_iid_split_when_train_has_single_functions_only():
    task = CompositionalTableLookup(parameters={"train_lengths": "1"})
    assert [split.name for split in task.splits] == ["train", "validation", "test"]


# The tables.


@given(tasks())
@settings(max_examples=20, deadline=None)
def test_every_table_is_a_bijection_of_the_symbols(task):
    assert len(task.tables) == task.parameters.functions
    for reached in task.tables.values():
        assert sorted(reached) == list(task.symbols)


def test_the_tables_depend_on_the_seed_and_not_on_variant_lengths_or_later_functions():
    first = CompositionalTableLookup("forward", {"test_lengths": "11..12"}, 3).tables
    assert first == CompositionalTableLookup("backward", seed=3).tables
    more = CompositionalTableLookup(parameters={"functions": 30}, seed=3).tables
    assert {name: more[name] for name in first} == first
    other = CompositionalTableLookup(seed=4).tables
    assert sum(first[name] == other[name] for name in first) == 0


def test_all_bijections_are_equally_likely():
    tables = [
        tuple(reached)
        for seed in range(6)
        for reached in CompositionalTableLookup(
            parameters={"symbols": 3, "functions": 1024}, seed=seed
        ).tables.values()
    ]
    assert_uniform(tables, itertools.permutations(symbol_names(3)))


# Names.


def symbol_names(count):
    return CompositionalTableLookup(parameters={"symbols": count}).symbols


def function_names(count):
    return CompositionalTableLookup(parameters={"functions": count}).functions


def test_symbols_are_binary_strings_wide_enough():
    assert symbol_names(2) == ("0", "1")
    assert symbol_names(5) == ("000", "001", "010", "011", "100")
    assert symbol_names(9)[8] == "1000"


def test_functions_beyond_z_are_named_as_spreadsheet_columns():
    names = function_names(1024)
    assert "".join(names[:26]) == "abcdefghijklmnopqrstuvwxyz"
    assert names[26:29] == ("aa", "ab", "ac")
    assert names[701:704] == ("zz", "aaa", "aab")
    assert len(set(names) | set(symbol_names(1024))) == 2048
    assert names[:9] == function_names(9)


# Rows.


@given(tasks())
@settings(max_examples=25, deadline=None)
def test_rows_of_any_parameters_are_sound_and_end_with_their_answer(task):
    for row in assert_sound(task, propose_all(task)):
        assert row["steps"][-1] == task.symbols[row["label"]]


@given(tasks())
@settings(max_examples=30, deadline=None)
def test_both_variants_hold_the_same_rows_with_the_same_ids(task):
    forward, backward = (
        CompositionalTableLookup(variant, task.parameters, task.seed) for variant in VARIANTS
    )
    assert forward.stream == backward.stream
    assert "variant" not in forward.stream
    one, other = propose_all(forward), propose_all(backward)
    assert ids(forward, one) == ids(backward, other)
    for row, turned in zip(rows_of(forward, one), rows_of(backward, other), strict=True):
        assert row.pop("text").split() == turned.pop("text").split()[::-1]
        assert row == turned


def test_symbols_of_different_width_have_different_ids():
    seen = set()
    for symbols, text in ((2, "1 a"), (4, "01 a"), (8, "001 a"), (16, "0001 a"), (8, "011 a")):
        task = CompositionalTableLookup(parameters={"symbols": symbols})
        seen.update(ids(task, task.parse({"text": pa.array([text])})))
    assert len(seen) == 5


def test_content_does_not_end_in_a_zero_byte_before_its_padding():
    task = CompositionalTableLookup(parameters={"symbols": 1024, "functions": 1024})
    content = task.content(propose_all(task, n=3000))
    width = np.repeat([4, 6, 8, 10, 12], 3000)
    columns = np.arange(content.shape[1])
    assert (content[columns >= width[:, None]] == 0).all()
    assert (content[np.arange(len(content)), width - 1] > 0).all()


def test_symbols_functions_and_places_are_drawn_uniformly():
    task = CompositionalTableLookup()
    block = task.propose(Draws({"test": 2}), 20_000, task.split("train"), 3)
    symbol, applied = task.symbols_and_functions(block)
    assert_uniform(symbol.tolist(), range(8))
    for place in range(3):
        functions = applied[:, place].astype(int) - 1
        assert_uniform(functions.tolist(), range(9))
        assert_uniform((symbol * 9 + functions).tolist(), range(72))
    assert not applied[:, 3:].any()


# Counting.


@given(tasks(most_symbols=5, most_functions=4), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_the_listing_has_every_row_once_and_the_capacity_counts_them(task, length):
    parameters = {**task.parameters.to_dict(), "train_lengths": [length, length + 1]}
    task = CompositionalTableLookup(task.variant, parameters, task.seed)
    split = task.split("train")
    block = task.enumerate_rows(split, length)
    expected = set()
    for symbol, *functions in itertools.product(task.symbols, *[task.functions] * length):
        words = [symbol, *functions]
        expected.add(" ".join(words if task.variant == "forward" else words[::-1]))
    rows = rows_of(task, block)
    assert len(rows) == task.capacity(split, length) == len(expected)
    assert {row["text"] for row in rows} == expected
    assert {row["length"] for row in rows} == {length}
    assert all(
        task.recompute_columns(row) == {k: v for k, v in row.items() if k != "text"} for row in rows
    )


def test_capacity_is_exact_however_large():
    task = CompositionalTableLookup(parameters={"functions": 1000, "test_lengths": "100"})
    assert task.capacity(task.split("test"), 100) == 8 * 10**300


# What is refused.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"symbols": 1}, "symbols=1: allowed are 2 to 1024"),
        ({"symbols": 1025}, "symbols=1025: allowed are 2 to 1024"),
        ({"functions": 0}, "functions=0: allowed are 1 to 1024"),
        ({"functions": "many"}, "functions='many': expected a whole number"),
        ({"train_lengths": "0..3"}, "train_lengths=0,1,2,3: allowed are different lengths from 1"),
        ({"train_lengths": []}, "train_lengths=: allowed are different lengths from 1 to 100"),
        ({"train_lengths": "2,2"}, "train_lengths=2,2: allowed are different lengths"),
        ({"validation_lengths": "1"}, "validation_lengths=1: allowed are different lengths from 2"),
        ({"test_lengths": "101"}, "test_lengths=101: allowed are different lengths from 2 to 100"),
    ],
)
def test_bad_parameters_are_refused_with_what_is_allowed(parameters, message):
    with pytest.raises(ParameterError, match=message):
        CompositionalTableLookup(parameters=parameters)


@pytest.mark.parametrize(
    "text",
    ["", "101", "d", "101 101", "101 d 101 a", "d 101 a", "101  d", "101 d ", "101 z", "01 d"],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_text_that_is_no_row_is_refused_by_parse(variant, text):
    task = CompositionalTableLookup(variant)
    if variant == "backward":
        text = " ".join(text.split(" ")[::-1])
    good = "101 d a" if variant == "forward" else "a d 101"
    for column in ([text], [good, text], [text, good], [good, text, good]):
        with pytest.raises(ValueError, match=r"ctl|is not a token"):
            task.parse({"text": pa.array(column)})


@pytest.mark.parametrize("variant", VARIANTS)
def test_null_and_overlong_text_is_refused_by_parse(variant):
    words = ["101"] + ["a"] * 101
    overlong = " ".join(words if variant == "forward" else words[::-1])
    for text, reason in ((None, "null"), (overlong, "a symbol and 1 to 100 functions")):
        with pytest.raises(ValueError, match=reason):
            CompositionalTableLookup(variant).parse({"text": pa.array([text], pa.string())})


def test_the_other_variant_s_rows_are_refused():
    forward, backward = (CompositionalTableLookup(variant) for variant in VARIANTS)
    with pytest.raises(ValueError, match=r"ctl forward: not every row is .* such as '111 a'"):
        forward.parse({"text": pa.array(["b a d 101"])})
    with pytest.raises(ValueError, match=r"ctl backward: not every row is .* such as 'a 111'"):
        backward.parse({"text": pa.array(["101 d a b"])})
    with pytest.raises(ValueError, match="'101 d a b' is not a row of ctl backward"):
        backward.solve("101 d a b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a row of ctl forward: expected a symbol and 1 to 100 functions"),
        ("101", "'101' is not a row of ctl forward"),
        ("d a b", "such as '111 a'"),
        ("101 d z b", "'z' in '101 d z b' is not a function: allowed are a to i"),
        ("101 d 101", "'101' in '101 d 101' is not a function: allowed are a to i"),
    ],
)
def test_the_solver_says_what_is_wrong_with_a_question(text, message):
    with pytest.raises(ValueError, match=message):
        CompositionalTableLookup().solve(text)


# Scoring.


@pytest.mark.parametrize(
    ("prediction", "answer"),
    [
        ("101", 5),
        ("5", 5),
        ("000", 0),
        ("0", 0),
        ("1", 1),
        (101, None),  # a number is an index
        ("10", None),  # as text a name, but of no symbol; leading zeros are not supplied
        ("0101", None),
        ("d", None),
    ],
)
def test_an_answer_is_a_symbol_s_name_or_its_index(prediction, answer):
    assert CompositionalTableLookup().read_answer({}, prediction) == answer


def test_text_of_zeros_and_ones_is_never_read_as_a_decimal_index():
    task = CompositionalTableLookup(parameters={"symbols": 200})
    assert task.read_answer({}, "101") is None
    assert task.read_answer({}, "00000101") == 5
    assert task.read_answer({}, 101) == 101
    assert task.read_answer({}, "102") == 102


# For people.


def test_a_row_is_drawn_as_its_lookups_with_the_entry_taken_in_brackets():
    task = CompositionalTableLookup()
    text = "101 d a"
    head, symbols, first, second = str(draw_row(task, {"text": text})).splitlines()
    between, answer = task.recompute_columns({"text": text})["steps"]
    assert head == f"101 d a  ->  {answer}"
    assert symbols.split() == list(task.symbols)
    assert first.startswith(f"d(101) = {between} ")
    assert second.startswith(f"a({between}) = {answer} ")
    for line, taken, into in ((first, "101", between), (second, between, answer)):
        assert line[symbols.index(taken) - 1 :].startswith(f"[{into}]")
        assert line.count("[") == 1


def test_large_tables_are_not_drawn():
    task = CompositionalTableLookup("backward", {"symbols": 17, "functions": 27})
    steps = task.recompute_columns({"text": "aa b 10000"})["steps"]
    assert str(draw_row(task, {"text": "aa b 10000"})).splitlines() == [
        f"aa b 10000  ->  {steps[1]}",
        f"b(10000) = {steps[0]}",
        f"aa({steps[0]}) = {steps[1]}",
    ]
