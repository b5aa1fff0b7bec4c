"""Dyck words: nested and shuffled, their laws and what is a row."""

import collections
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.dyck.brackets import nested_word, shuffled_word
from synthbench.tasks.dyck.paths import count_paths, draw_paths
from synthbench.tasks.dyck.task import Dyck
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
    "nested": ("o1 o2 c2 c1 o1 c1", "c1 c2 c1 _ c1 _", 2),
    "shuffled": ("o1 o2 c1 o1 c2 c1", "c1 c2 c2 c1 c1 _", 2),
}
VARIANTS = [*ROWS]


@st.composite
def tasks(draw):
    chosen = {
        "kinds": draw(st.integers(2, 64)),
        "depth": draw(st.integers(1, 64)),
        "length": 2 * draw(st.integers(20, 45)),
    }
    return Dyck(draw(st.sampled_from(VARIANTS)), chosen)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_rule(variant):
    text, label, depth = ROWS[variant]
    task = Dyck(variant)
    assert task.solve(text) == label.split()
    (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
    assert row == {"text": text, "label": label, "length": len(text.split()), "depth": depth}
    assert worked_steps(task, row)[-1] == "c1: all are closed."
    assert task.solve("o1 o2 c2 o2 c2 c1") == ["c1", "c2", "c1", "c2", "c1", "_"]


@given(tasks(), st.integers(0, 5))
@settings(max_examples=40)
def test_rows_of_any_size_are_sound(task, block):
    for split in ("train", "test"):
        for bucket in task.split(split).buckets:
            rows = assert_sound(task, propose(task, split, n=8, bucket=bucket, block=block))
            assert {row["length"] for row in rows} == {bucket}
            assert max(row["depth"] for row in rows) <= task.parameters.depth


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_solver_and_parse_agree_on_what_is_a_row(data):
    """A row is changed in a few places: both refuse it, or both read it alike."""
    task = Dyck(data.draw(st.sampled_from(VARIANTS)), {"kinds": 3, "length": 26})
    block = propose(task, n=1, block=data.draw(st.integers(0, 20)))
    words = rows_of(task, block)[0]["text"].split()
    places = st.integers(0, len(words) - 1)
    if data.draw(st.booleans()):
        words[data.draw(places)] = data.draw(st.sampled_from(task.tokens))
    one, other = data.draw(places), data.draw(places)
    words[one], words[other] = words[other], words[one]
    words = words[data.draw(st.sampled_from([0, 0, 1, 2])) :]
    assert_solver_and_parse_agree(task, " ".join(words))


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_of_several_lengths_are_read_in_one_block(variant):
    task = Dyck(variant, {"length": 30})
    assert_lengths_share_a_block(task, (60, 120))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("text", ["", "o1", "c1 o1", "o1 c2", "o1 c1 c1", "o1 o2 c2", "o1 c9", "o"])
def test_other_texts_are_refused_by_both(variant, text):
    task = Dyck(variant)
    assert_both_refuse(task, text, "expected brackets that are all closed")


def test_crossing_brackets_are_words_of_shuffled_alone():
    assert Dyck("shuffled").solve("o1 o2 c1 c2") == ["c1", "c2", "c2", "_"]
    for refuse in (Dyck("nested").solve, lambda text: Dyck().parse({"text": pa.array([text])})):
        with pytest.raises(ValueError, match=r"nested|all closed"):
            refuse("o1 o2 c1 c2")


# The laws.


def paths(length, depth):
    """All paths up and down within a depth, as tuples of truth values."""
    for ups in itertools.product([True, False], repeat=length):
        heights = list(itertools.accumulate(1 if up else -1 for up in ups))
        if min(heights) >= 0 and max(heights) <= depth and heights[-1] == 0:
            yield ups


@pytest.mark.parametrize(("length", "depth"), [(2, 1), (8, 2), (10, 5), (12, 3), (12, 64)])
def test_paths_are_uniform_and_counted(length, depth):
    every = [*paths(length, depth)]
    drawn = draw_paths(Draws({"dyck": depth}), 20_000, length, depth)
    assert_uniform(map(tuple, drawn.T.tolist()), every)
    assert count_paths(length, depth, 10**9) == len(every)


def test_nested_words_are_uniform():
    draws = Draws({"dyck": 0})
    words = nested_word(draws, draw_paths(draws, 40_000, 6, 2), 2)
    counts = collections.Counter(map(tuple, words.tolist()))
    assert len(counts) == len([*paths(6, 2)]) * 2**3
    assert_uniform(counts.elements(), [*counts])


def test_shuffled_words_close_a_uniform_open_bracket():
    """Each step is replayed with exact chances: the kinds of open brackets are a multiset."""
    draws = Draws({"dyck": 1})
    words = shuffled_word(draws, draw_paths(draws, 40_000, 6, 3), 2)
    chances = {}
    for ups in paths(6, 3):
        states = {((), ()): 1 / len([*paths(6, 3)])}
        for up in ups:
            following = collections.Counter()
            for (word, is_open), chance in states.items():
                if up:
                    for kind in (1, 2):
                        following[(*word, 2 * kind - 1), (*is_open, kind)] += chance / 2
                else:
                    for at, kind in enumerate(is_open):
                        left = is_open[:at] + is_open[at + 1 :]
                        following[(*word, 2 * kind), left] += chance / len(is_open)
            states = following
        for (word, _), chance in states.items():
            chances[word] = chances.get(word, 0) + chance
    assert_drawn_from(collections.Counter(map(tuple, words.tolist())), chances)


@pytest.mark.parametrize("depth", [1, 64])
def test_the_longest_rows_have_2048_brackets_of_64_kinds(depth):
    for variant in VARIANTS:
        task = Dyck(variant, {"length": 2048, "kinds": 64, "depth": depth})
        assert task.parameters.test_lengths == (2048,)
        rows = assert_sound(task, propose(task, n=3))
        assert {row["length"] for row in rows} == {2048}
        assert max(row["depth"] for row in rows) <= depth


def test_rows_with_fewer_kinds_have_the_same_ids():
    one, other = (Dyck("nested", {"kinds": n}) for n in (4, 64))
    texts = pa.array([row["text"] for row in rows_of(one, propose(one))])
    first, second = (task.content(task.parse({"text": texts})) for task in (one, other))
    assert (first == second).all()


def test_words_for_language_models_share_no_row():
    task = synthbench.task("dyck", kinds=2, length=40)
    seen = {}
    for split in ("train", "validation"):
        batch = next(synthbench.tokens(task, split=split, form="causal-lm", batch_size=2_000))
        seen[split] = set(map(bytes, batch["input_ids"][:, :40].astype(np.uint8)))
    assert len(seen["train"]) == len(seen["validation"]) == 2_000
    assert not seen["train"] & seen["validation"]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"kinds": 65}, "kinds=65: allowed are 1 to 64"),
        ({"depth": 0}, "depth=0: allowed are 1 to 64"),
        ({"length": 2050}, "length=2050: allowed are 4 to 2048"),
        ({"length": 63}, "length=63: allowed are even numbers, such as 62"),
        ({"kinds": 1, "depth": 1}, "there are 1 nested words, and 1,000,000 are needed"),
        ({"kinds": 2, "length": 10}, "there are 1,344 nested words"),
    ],
)
def test_impossible_parameters_are_refused(chosen, message):
    with pytest.raises(ParameterError, match=message):
        Dyck("nested", chosen)
    assert Dyck("nested", {"kinds": 1, "depth": 2, "length": 64})
