"""Row ids: what they follow from, and that they alone say who may have a row."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import synthbench
from synthbench.errors import UsageError
from synthbench.seeding import Draws
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Block
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.row_ids import (
    HELD_OUT_SHARE,
    PROBLEM_BITS,
    are_held_out,
    fingerprints,
    ids,
    read_ids,
)
from tests.support import ONE_EACH, RULES, draw_splits, first_fast, id_texts

every_variant = pytest.mark.parametrize(("name", "variant"), first_fast(RULES))


def candidates(task, n, bucket):
    """Candidates of a bucket of the first split, held out or not, each once."""
    kinds = [dataclasses.replace(task.splits[0], evaluation=held_out) for held_out in (False, True)]
    block = Block.concatenate([task.propose(Draws({"test": 1}), n, kind, bucket) for kind in kinds])
    return block.take(np.unique(fingerprints(task, block), return_index=True)[1])


def check_splits_and_stream(name, variant, seed):
    task = make_task(name, variant, seed=seed)
    for split, rows in draw_splits(task, 60).items():
        beginnings = {one[0] for one in id_texts(rows.fingerprints)}
        if task.split(split).evaluation:
            assert beginnings <= set("01")
        else:
            assert beginnings <= set("23456789abcdef")
    for split in (task.splits[0], task.splits[-1]):
        streamed = Rounds(task, split.name).rows(seed).fingerprints
        assert (are_held_out(streamed) == split.evaluation).all()


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize(("name", "variant"), ONE_EACH)
def test_evaluation_splits_have_the_held_out_rows_and_nothing_else_has_any(name, variant):
    check_splits_and_stream(name, variant, seed=0)


@pytest.mark.slow
@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize(
    ("seed", "name", "variant"), [(seed, *one) for seed, one in enumerate(RULES, 1)]
)
def test_so_it_is_for_every_variant_and_other_seeds(seed, name, variant):
    check_splits_and_stream(name, variant, seed)


@every_variant
def test_one_row_in_eight_is_held_out_whatever_its_bucket_label_and_length(name, variant):
    task = make_task(name, variant)
    split = task.splits[0]
    for bucket in split.buckets:
        if (task.capacity(split, bucket) or 10**9) < 50_000:
            continue  # few rows, of which more or less than an eighth may be held out
        if name == "state-tracking" and bucket <= 3:
            continue  # every learner must see these rows
        if (name, variant) == ("sudoku", "9x9"):
            continue  # a proposal has only grids that its split may have
        block = candidates(task, 800 if name == "clusters" else 2_000, bucket)
        held_out = are_held_out(fingerprints(task, block))
        columns = task.rendered(block)
        groups: dict[Any, NDArray[np.bool_]] = {"all": np.ones(len(block), np.bool_)}
        for column in ("label", "length"):
            if column in columns and pa.types.is_integer(columns[column].type):
                values = columns[column].to_numpy()
                groups |= {(column, one): values == one for one in np.unique(values)}
        for group, rows in groups.items():
            # Five standard deviations; ctl holds out eight start symbols together, but few are
            # among the candidates.
            few = 5 * np.sqrt(HELD_OUT_SHARE * (1 - HELD_OUT_SHARE) * rows.sum()) + 1
            assert abs(held_out[rows].sum() - HELD_OUT_SHARE * rows.sum()) < few, (bucket, group)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=10), st.integers(0, 7), st.integers(0, 7))
def test_chains_of_ctl_with_the_same_functions_pose_the_same_problem(functions, one, other):
    def held_out(variant, symbol):
        words = [f"{symbol:03b}", *("abcdefghi"[function] for function in functions)]
        text = " ".join(words if variant == "forward" else reversed(words))
        return synthbench.is_held_out("ctl", text)

    answers = {
        held_out(variant, symbol) for variant in ("forward", "backward") for symbol in (one, other)
    }
    assert len(answers) == 1
    if len(functions) == 1:
        assert answers == {False}


numbers = st.integers(0, 10)


@given(numbers, numbers, numbers, numbers)
def test_equations_of_parity_with_a_and_b_exchanged_pose_the_same_problem(a, b, c, d):
    one, other = (
        synthbench.is_held_out("parity", f"{x} {y} {c} {d} =") for x, y in ((a, b), (b, a))
    )
    assert one == other


@given(st.integers(0, 96), st.integers(0, 96), st.sampled_from(["{} + {} =", "{} * {} ="]))
def test_equations_of_operations_that_commute_pose_the_same_problem_exchanged(a, b, form):
    one, other = (
        synthbench.is_held_out("modular-arithmetic", form.format(*pair))
        for pair in ((a, b), (b, a))
    )
    assert one == other


@pytest.mark.parametrize(
    ("task", "one", "other"),
    [
        ("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]", "[MED [MAX 9 4 8 ] 8 4 5 ]"),
        ("listops", "[SM 1 [MIN 2 3 ] 5 ]", "[SM 5 1 [MIN 3 2 ] ]"),
        ("arithmetic", "((4*7)+2)", "(2+(7*4))"),
        ("parity", "1 2 3 4 =", "2 1 3 4 ="),
        ("ctl", "101 d a b", "000 d a b"),
    ],
)
def test_only_the_first_three_bits_come_from_the_problem(task, one, other):
    chosen = make_task(task)
    prints = [
        fingerprints(chosen, chosen.parse({"text": pa.array([text])})) for text in (one, other)
    ]
    assert (prints[0] & PROBLEM_BITS) == (prints[1] & PROBLEM_BITS)
    assert prints[0] != prints[1]


@pytest.mark.parametrize(
    ("name", "text", "parameters"),
    [
        ("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]", {"max_length": 100, "ties": "first"}),
        ("listops", "[MED 4 8 5 [MAX 8 4 9 ] ]", {"operators": "SM"}),
        ("arithmetic", "((4*7)+2)", {"max_length": 100, "modulus": 7, "operators": "+"}),
        ("ctl", "101 d a b", {"functions": 900, "test_lengths": "50"}),
        ("parity", "1 0 1 0 =", {"n_values": 3}),
        ("parity", "1 0 1 0 =", {"n_values": 40}),
    ],
)
def test_an_id_names_its_text_whatever_the_parameters_and_the_seed(name, text, parameters):
    asked = {"text": pa.array([text])}
    tasks = [make_task(name), make_task(name, **parameters, seed=9)]
    one, other = (fingerprints(task, task.parse(asked)).tolist() for task in tasks)
    assert one == other


def test_an_id_depends_on_its_row_alone_not_on_its_neighbours():
    for name, _ in ONE_EACH:
        task = make_task(name)
        block = candidates(task, 50, task.splits[0].buckets[-1])
        together = fingerprints(task, block)
        alone = [
            fingerprints(task, block.take(slice(row, row + 1)))[0] for row in range(len(block))
        ]
        assert together.tolist() == alone


# `held_out`, as a user asks.


def test_held_out_takes_text_or_a_row_of_any_variant_and_says_what_is_none():
    rows = draw_splits(make_task("ctl", "backward"), 20)
    task = make_task("ctl", "backward")
    for split, drawn in rows.items():
        held_out = split != "train"
        for text in task.rendered(drawn.block)["text"].to_pylist():
            assert synthbench.is_held_out("ctl", text) == held_out
            assert synthbench.is_held_out("ctl", {"text": text, "label": 3}) == held_out
            assert synthbench.is_held_out(task, f" {text.replace(' ', '  ')}\n") == held_out
    grids = draw_splits(make_task("grid-count"), 5)["test"].block
    for grid in make_task("grid-count").rendered(grids)["grid"].to_pylist():
        assert synthbench.is_held_out("grid-count", grid)
    with pytest.raises(UsageError, match=r"'1 2 3 =' is not a row of parity"):
        synthbench.is_held_out("parity", "1 2 3 =")
    with pytest.raises(UsageError, match="is not a row of listops: the expression ends too early"):
        synthbench.is_held_out("listops", "[MED 4 8 5")
    with pytest.raises(UsageError, match="is not a row of ctl forward: expected"):
        synthbench.is_held_out("ctl", "a 101 b")
    with pytest.raises(UsageError, match="7 of type int is not the 'text' of a row of listops"):
        synthbench.is_held_out("listops", 7)
    with pytest.raises(UsageError, match=r"Did you mean 'parity'\?"):
        synthbench.is_held_out("partity", "1 2 3 4 =")


# Ids.


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20))
def test_ids_are_sixteen_hexadecimal_digits_and_are_read_again(numbers):
    column = ids(np.array(numbers, np.uint64))
    column.validate(full=True)
    assert column.to_pylist() == [f"{number:016x}" for number in numbers]
    assert read_ids(column).tolist() == numbers
    assert read_ids(column).dtype == np.uint64


def test_ids_are_read_from_slices_too():
    column = ids(np.arange(10, dtype=np.uint64))
    assert read_ids(column.slice(3, 4)).tolist() == [3, 4, 5, 6]
    assert read_ids(column.slice(3, 0)).tolist() == []


@pytest.mark.parametrize(
    "bad",
    ["", "0", "00000000000000f", "00000000000000fff", "00000000000000FF", "000000000000000g",
     "0x00000000000000", "+000000000000000", "00000000000000\u00e9", None],
)  # fmt: skip
def test_what_is_no_id_is_refused_by_name(bad):
    column = pa.array(["0123456789abcdef", bad, "0123456789abcdef"], pa.string())
    with pytest.raises(ValueError, match="is not 16 hexadecimal digits") as refused:
        read_ids(column)
    assert str(refused.value).startswith(repr(bad))
