"""Copying: selective, induction heads and n-gram look-up, their laws and what is a row."""

import collections
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import ParameterError
from synthbench.tasks.copying.places import starts_of_query
from synthbench.tasks.copying.task import Copying
from synthbench.tasks.describe import draw_row
from synthbench.tasks.worked import worked_steps
from tests.tasks.agreement import assert_drawn_from, assert_uniform
from tests.tasks.blocks import (
    assert_both_refuse,
    assert_lengths_share_a_block,
    assert_solver_and_parse_agree,
    assert_sound,
    propose,
    rows_of,
)

ROWS = {
    "selective": ("blank s5 blank blank s2 copy copy", "_ _ _ _ _ s5 s2"),
    "induction": ("s3 copy s7 s1 s4 copy blank", "_ _ _ _ _ s7 s1"),
    "ngram": ("s4 s1 s7 s2 s1 s5 copy s1 s7 blank", "_ _ _ _ _ _ _ _ s2 s1"),
}
VARIANTS = [*ROWS]
SMALL = {"symbols": 8, "length": 24, "copied": 5}


@st.composite
def tasks(draw):
    length = draw(st.integers(24, 70))
    chosen = {
        "symbols": draw(st.integers(4, 40)),
        "length": length,
        "copied": draw(st.integers(5, length // 4)),
    }
    return Copying(draw(st.sampled_from(VARIANTS)), chosen)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rule(variant):
    text, label = ROWS[variant]
    task = Copying(variant)
    assert task.solve(text) == label.split()
    (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
    assert row == {"text": text, "label": label, "length": len(text.split())}
    steps = worked_steps(task, row)
    assert len(steps) == 3
    assert steps[-1] == f"The other {len(text.split()) - 2} places do not ask."
    assert "answers" in draw_row(task, row)


@given(tasks(), st.integers(0, 5))
@settings(max_examples=60)
def test_rows_of_any_size_are_sound(task, block):
    for split in ("train", "test"):
        for bucket in task.split(split).buckets:
            made = propose(task, split, n=8, bucket=bucket, block=block)
            rows = assert_sound(task, made)
            assert {row["length"] for row in rows} == {bucket}
            for row in rows:
                asked = [word for word in row["label"].split() if word != "_"]
                assert len(asked) == task.parameters.copied


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_solver_and_parse_agree_on_what_is_a_row(data):
    """A row is changed in a few places: both refuse it, or both read it alike."""
    task = Copying(data.draw(st.sampled_from(VARIANTS)), {**SMALL, "symbols": 4})
    block = propose(task, n=1, block=data.draw(st.integers(0, 20)))
    words = rows_of(task, block)[0]["text"].split()
    for _ in range(data.draw(st.integers(1, 3))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(st.sampled_from(task.tokens))
    words = words[data.draw(st.integers(0, 2)) : data.draw(st.integers(3, len(words)))]
    assert_solver_and_parse_agree(task, " ".join(words))


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_of_several_lengths_are_read_in_one_block(variant):
    task = Copying(variant, SMALL)
    assert_lengths_share_a_block(task, (48, 96))


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("selective", ""),
        ("selective", "copy"),
        ("selective", "s1 blank copy copy"),
        ("selective", "s1 copy blank"),
        ("induction", "copy s1 copy blank"),
        ("induction", "copy copy"),
        ("induction", "s1 copy s2 copy s3"),
        ("induction", "blank copy s2 copy"),
        ("ngram", "s1 s2 copy"),
        ("ngram", "s1 s2 s1 s3 copy s1"),
        ("ngram", "s1 s2 copy s2"),
        ("ngram", "s1 s2 s3 copy s1 blank s2"),
        ("ngram", "s1 s2 copy s1 s99"),
    ],
)
def test_other_texts_are_refused_by_both(variant, text):
    task = Copying(variant)
    assert_both_refuse(task, text, "expected a row such as")


# The laws.


def test_selective_symbols_are_at_a_uniform_subset_and_uniform():
    task = Copying("selective", {"symbols": 1024, "length": 16, "copied": 2})
    tokens = propose(task, n=20_000)["tokens"].astype(int)
    places = [tuple(np.flatnonzero(row > 2).tolist()) for row in tokens]
    assert_uniform(places, itertools.combinations(range(14), 2))
    task = Copying("selective", {"symbols": 4, "length": 40, "copied": 10})
    tokens = propose(task, n=4_000)["tokens"].astype(int)
    symbols = np.array([row[row > 2] for row in tokens])
    assert_uniform(map(tuple, symbols[:, :3].tolist()), itertools.product(range(3, 7), repeat=3))


def test_an_induction_mark_is_at_any_place_with_enough_behind_it():
    task = Copying("induction", {"symbols": 4, "length": 20, "copied": 3})
    tokens = propose(task, n=20_000)["tokens"].astype(int)
    assert_uniform((tokens == 2).argmax(axis=1).tolist(), range(14))
    assert_uniform(tokens[:, 16][tokens[:, 16] > 2].tolist(), range(3, 7))


def test_a_query_is_uniform_among_the_ngrams_that_stand_once():
    context = np.array([[3, 4, 3, 4, 5, 6, 3]])
    assert starts_of_query(context, 2, 1).tolist() == [[False, True, False, True, True, False]]
    task = Copying("ngram", {"symbols": 4, "length": 16, "copied": 1})
    size = task.parameters.query
    assert size == 4
    drawn, wanted = collections.Counter(), collections.Counter()
    tokens = propose(task, n=20_000)["tokens"].astype(int)
    for row in tokens:
        context, query = row[: 16 - size - 1].tolist(), row[16 - size : 16].tolist()
        starts = range(len(context) - size)
        ngrams = [context[at : at + size] for at in range(len(context) - size + 1)]
        once = [at for at in starts if ngrams.count(ngrams[at]) == 1]
        drawn[ngrams.index(query)] += 1
        for at in once:
            wanted[at] += 1 / len(once)
    assert_drawn_from(drawn, {at: count / len(tokens) for at, count in wanted.items()})


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_longest_rows_have_4096_tokens(variant):
    task = Copying(variant, {"length": 4096, "copied": 64})
    assert task.parameters.test_lengths == (4096,)
    block = propose(task, n=3)
    (row, *_) = rows_of(task, block)
    assert row["length"] == 4096
    assert " ".join(task.solve(row["text"])) == row["label"]
    assert Copying(variant, {"length": 1024}).parameters.test_lengths == (2048, 4096)


def test_rows_with_fewer_symbols_have_the_same_ids():
    one, other = (Copying("selective", {**SMALL, "symbols": n}) for n in (8, 900))
    texts = pa.array([row["text"] for row in rows_of(one, propose(one))])
    first, second = (task.content(task.parse({"text": texts})) for task in (one, other))
    assert (first == second).all()


# What is refused.


@pytest.mark.parametrize(
    ("variant", "chosen", "message"),
    [
        ("ngram", {"copied": 17}, "copied=17: 64 tokens allow 1 to 16"),
        ("selective", {"copied": 1}, r"selective has 1,008 rows .* needs 1,000,000"),
        ("selective", {"symbols": 3}, "symbols=3"),
        ("selective", {"length": 5000}, "length=5000"),
    ],
)
def test_impossible_parameters_are_refused(variant, chosen, message):
    with pytest.raises(ParameterError, match=message):
        Copying(variant, chosen)


def test_one_copied_symbol_is_the_papers_induction():
    task = synthbench.task("copying", "induction", length=256, copied=1)
    (row, *_) = rows_of(task, propose(task))
    assert row["text"].endswith("copy")
    assert row["label"].count("_") == 255
