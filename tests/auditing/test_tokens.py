"""Shortcuts through tokens, each on rows where it is known what it must answer."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.auditing import tokens
from synthbench.auditing.tokens import Bags, Codes, token_shortcuts
from synthbench.tasks.tokens import Vocabulary

Rows = list[tuple[str, int]]


def columns(rows):
    texts, labels = zip(*rows, strict=True)
    return {"text": pa.array(texts), "label": pa.array(labels, pa.int64())}


def words(rows):
    return Vocabulary(()).split(rows["text"])


def answers(name, train, asked):
    shortcut = next(one for one in token_shortcuts(words) if one.name == name)
    return list(shortcut.fit(columns(train))(columns([(text, 0) for text in asked])))


def test_the_first_token_decides_or_the_first_that_differs():
    train = [("a x y", 1), ("b x y", 2), ("b z y", 2)]
    assert answers("first token", train, ["a z z", "b x x", "q x"]) == [1, 2, 2]
    train = [("[ a x y", 1), ("[ b x y", 2), ("[ b z y", 2)]
    assert answers("first token", train, ["[ a z z", "[ b x x", "["]) == [1, 2, 2]


def test_the_last_token_decides_or_the_last_that_differs():
    train = [("x a ]", 1), ("y y b ]", 2), ("b ]", 2)]
    assert answers("last token", train, ["a ]", "x x x b ]", "x a ] ]"]) == [1, 2, 2]


def test_where_all_rows_are_alike_the_majority_is_left():
    assert answers("first token", [("a", 3), ("a", 3), ("a", 1)], ["a", "b"]) == [3, 3]


def test_the_rarest_token_in_train_decides_wherever_it_stands():
    train = [("x r x", 1), ("x x s", 2), ("s x x", 2), ("x x x", 3)]
    assert answers("rarest token", train, ["x x r", "s r x", "x s x", "x x"]) == [1, 1, 2, 3]


def test_the_number_of_tokens_decides():
    train = [("a b", 1), ("c d", 1), ("a b c", 2)]
    assert answers("number of tokens", train, ["x x", "y y y", "z"]) == [1, 2, 1]


@pytest.mark.parametrize(
    "is_planted", [lambda text: text.count("a") > 1, lambda text: "a b" in text]
)
def test_a_bag_weighs_tokens_and_neighbours(is_planted):
    rng = np.random.Generator(np.random.Philox(1))
    texts = [" ".join(rng.choice(list("abcd"), 6)) for _ in range(150)]
    rows = [(text, int(is_planted(text))) for text in texts]
    found = answers("bag of tokens and pairs", rows[:100], texts[100:])
    right = [one == label for one, (_, label) in zip(found, rows[100:], strict=True)]
    assert np.mean(right) > 0.9


def test_a_bag_of_one_label_gives_it():
    assert answers("bag of tokens and pairs", [("a", 7), ("b", 7)], ["a", "c"]) == [7, 7]


def test_the_nearest_row_is_the_one_with_the_most_similar_tokens_and_pairs():
    train = [("a b c d", 1), ("d c b a", 2), ("a a a a", 3)]
    asked = ["a b c c", "d c b b", "a a a", "a b c d"]
    assert answers("nearest row", train, asked) == [1, 2, 3, 1]


def test_of_equally_near_rows_the_first_is_taken():
    assert answers("nearest row", [("a", 5), ("a", 4)], ["a"]) == [5]


@given(st.lists(st.lists(st.sampled_from("abcxyz"), max_size=6), min_size=1, max_size=8))
def test_a_bag_counts_what_is_there(rows):
    listed = {"text": pa.array(rows, pa.list_(pa.string()))}
    bags = Bags(lambda one: one["text"], listed)
    found = bags.of(listed)
    assert found.shape[0] == len(rows)
    for row, bag in zip(rows, found, strict=True):
        assert bag.sum() == len(row) + max(0, len(row) - 1)


def test_only_the_most_frequent_features_are_counted(monkeypatch):
    monkeypatch.setattr(tokens, "MOST_FEATURES", 2)
    rows = columns([("a b a b", 0), ("a c", 0)])
    assert Bags(words, rows).of(rows).tolist() == [[2, 2], [1, 0]]


def test_tokens_that_train_lacks_have_one_number_of_their_own():
    codes = Codes(words, columns([("b a", 0)]))
    values, lengths = codes.of(columns([("a q", 0), ("b r b", 0)]))
    assert (values.tolist(), lengths.tolist()) == ([1, 0, 2, 0, 2], [2, 3])


def test_a_regression_on_3_grams_weighs_what_pairs_do_not_tell():
    rng = np.random.Generator(np.random.Philox(2))
    texts = [" ".join(rng.choice(list("abc"), 3)) for _ in range(600)]
    rows = [(text, int(sum(map("abc".index, text.split())) % 2)) for text in texts]

    def right(name):
        found = answers(name, rows[:400], texts[400:])
        return np.mean([one == label for one, (_, label) in zip(found, rows[400:], strict=True)])

    assert right("1- to 3-grams") == 1.0 > 0.95 > right("bag of tokens and pairs")


@given(st.lists(st.lists(st.sampled_from("abcxyz"), max_size=6), min_size=1, max_size=8))
def test_all_runs_of_up_to_three_tokens_are_told_apart(rows):
    listed = {"text": pa.array(rows, pa.list_(pa.string()))}
    found = Bags(lambda one: one["text"], listed, 3, 1_000).sparse(listed).toarray()
    runs = [
        [tuple(row[at : at + n]) for n in (1, 2, 3) for at in range(len(row) - n + 1)]
        for row in rows
    ]
    distinct = {run for row in runs for run in row}
    assert found.shape[1] == len(distinct)
    assert found.sum(axis=1).tolist() == [len(row) for row in runs]
    assert (found > 0).sum(axis=1).tolist() == [len(set(row)) for row in runs]
