"""Functions of lists: identity, set, union and delete, their laws and what is a row."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import ParameterError
from synthbench.tasks.lists.task import Lists
from synthbench.tasks.row_ids import fingerprints
from synthbench.tasks.worked import worked_steps
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import (
    assert_both_refuse,
    assert_lengths_share_a_block,
    assert_solver_and_parse_agree,
    assert_sound,
    propose,
    rows_of,
)

ROWS = {
    "identity": ("s4 s1 s4 s7", "s4 s1 s4 s7"),
    "set": ("s4 s1 s4 s7", "s4 s1 s7 end _"),
    "union": ("s4 s1 union s7 s4", "s4 s1 s7 end _"),
    "delete": ("s4 s1 s4 s7 delete s4", "s1 s4 s7"),
}
VARIANTS = [*ROWS]


@st.composite
def tasks(draw):
    chosen = {"symbols": draw(st.integers(4, 128)), "length": draw(st.integers(16, 90))}
    return Lists(draw(st.sampled_from(VARIANTS)), chosen)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rule(variant):
    text, label = ROWS[variant]
    task = Lists(variant)
    assert task.solve(text) == label.split()
    (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
    assert row == {"text": text, "label": label, "length": len(text.split())}
    assert worked_steps(task, row)
    assert task.score(row, label.removesuffix(" _")) == 1
    assert task.score(row, label.split()[:2]) == 0


@given(tasks(), st.integers(0, 5))
@settings(max_examples=60)
def test_rows_of_any_size_are_sound(task, block):
    for split in ("train", "test"):
        for bucket in task.split(split).buckets:
            rows = assert_sound(task, propose(task, split, n=8, bucket=bucket, block=block))
            assert {row["length"] for row in rows} == {bucket}
            # The number of tokens of a label says nothing about its row.
            assert len({len(row["label"].split()) for row in rows}) == 1


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_solver_and_parse_agree_on_what_is_a_row(data):
    """A row is changed in a few places: both refuse it, or both read it alike."""
    task = Lists(data.draw(st.sampled_from(VARIANTS)), {"symbols": 4, "length": 16})
    block = propose(task, n=1, block=data.draw(st.integers(0, 20)))
    words = rows_of(task, block)[0]["text"].split()
    for _ in range(data.draw(st.integers(0, 3))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(st.sampled_from(task.tokens))
    words = words[data.draw(st.integers(0, 14)) :]
    assert_solver_and_parse_agree(task, " ".join(words))


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_of_several_lengths_are_read_in_one_block(variant):
    task = Lists(variant, {"symbols": 8, "length": 16})
    assert_lengths_share_a_block(task, (32, 64))


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("identity", ""),
        ("identity", "s1 union s2"),
        ("set", "s1 delete s1"),
        ("set", "s1 s200"),
        ("union", "s1 s2"),
        ("union", "union s1"),
        ("union", "s1 union"),
        ("union", "s1 union s2 union s3"),
        ("delete", "s1 s2"),
        ("delete", "s1 s2 delete s3"),
        ("delete", "s1 delete s1"),
        ("delete", "s1 s2 delete"),
        ("delete", "s1 s2 delete s1 s2"),
    ],
)
def test_other_texts_are_refused_by_both(variant, text):
    task = Lists(variant)
    assert_both_refuse(task, text, "expected a row such as")


def test_symbols_marks_and_deleted_places_are_uniform():
    symbols = propose(Lists("set", {"symbols": 4, "length": 16}), n=4_000)["tokens"].astype(int)
    assert_uniform(map(tuple, symbols[:, 6:9].tolist()), itertools.product(range(3, 7), repeat=3))
    unions = propose(Lists("union", {"length": 16}), n=20_000)["tokens"].astype(int)
    assert_uniform((unions == 1).argmax(axis=1).tolist(), range(1, 15))
    assert_uniform(unions[:, 1:15][unions[:, 1:15] > 2].tolist(), range(3, 102))
    deleted = propose(Lists("delete", {"length": 16, "symbols": 128}), n=60_000)["tokens"]
    alone = deleted[(deleted[:, :14] == deleted[:, 15:]).sum(axis=1) == 1]
    assert_uniform((alone[:, :14] == alone[:, 15:]).argmax(axis=1).tolist(), range(14))


def test_unions_that_differ_in_the_mark_are_held_out_together():
    union, of_all = Lists("union"), Lists("set")
    symbols = [f"s{number}" for number in (5, 7, 5, 9, 1, 2, 8, 3)]
    texts = [" ".join([*symbols[:place], "union", *symbols[place:]]) for place in range(1, 8)]
    prints = fingerprints(union, union.parse({"text": pa.array(texts)}))
    assert len(set(prints.tolist())) == len(texts)
    one_list = fingerprints(of_all, of_all.parse({"text": pa.array([" ".join(symbols)])}))
    assert set((prints >> np.uint64(61)).tolist()) == set((one_list >> np.uint64(61)).tolist())


def test_the_longest_rows_have_2048_tokens_of_128_symbols():
    task = Lists("union", {"length": 2048, "symbols": 128})
    assert task.parameters.test_lengths == (2048,)
    (row, *_) = rows_of(task, propose(task, n=3))
    assert row["length"] == 2048
    assert " ".join(task.solve(row["text"])) == row["label"]


def test_rows_with_fewer_symbols_have_the_same_ids():
    one, other = (Lists("delete", {"symbols": n}) for n in (8, 128))
    texts = pa.array([row["text"] for row in rows_of(one, propose(one))])
    first, second = (task.content(task.parse({"text": texts})) for task in (one, other))
    assert (first == second).all()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"symbols": 129}, "symbols=129: allowed are 4 to 128"),
        ({"length": 2049}, "length=2049: allowed are 16 to 2048"),
        ({"length": 15}, "length=15"),
    ],
)
def test_impossible_parameters_are_refused(chosen, message):
    with pytest.raises(ParameterError, match=message):
        Lists("set", chosen)


def test_streams_for_language_models_share_no_row():
    """Answers follow the separator, and no held-out row is in the stream of train."""
    task = synthbench.task("lists", "union", symbols=4, length=16)
    seen = {}
    for split in ("train", "validation"):
        batch = next(synthbench.tokens(task, split=split, form="causal-lm", batch_size=2_000))
        assert batch["labels"].max() > 0
        seen[split] = set(map(bytes, batch["input_ids"][:, :16].astype(np.uint8)))
    assert len(seen["train"]) == len(seen["validation"]) == 2_000
    assert not seen["train"] & seen["validation"]
