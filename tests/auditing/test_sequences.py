"""Shortcuts for labels that are texts, each on rows where it is known what it must answer."""

import numpy as np
import pyarrow as pa
import pytest

from synthbench.auditing.audit import audit
from synthbench.auditing.sequences import sequence_shortcuts
from synthbench.auditing.tokens import token_shortcuts
from synthbench.generation.generate import generate
from synthbench.tasks import registry
from synthbench.tasks.base import Block, Split
from synthbench.tasks.tokens import Vocabulary
from tests.auditing.planting import make, marked, only, planted_task
from tests.planted.task import Reversal
from tests.tasks.test_sequences import Sorting

LABELS = Vocabulary(tuple("abcdef"))
MADE = {
    "frequent token at each place",
    "frequent token from the end",
    "token at the same place",
    "copy of the text",
}


def words(rows):
    return Vocabulary(()).split(rows["text"])


def columns(rows):
    texts, labels = zip(*rows, strict=True)
    return {"text": pa.array(texts), "label": pa.array(labels)}


def answers(name, train, asked, tokens=words):
    every = [*sequence_shortcuts(LABELS, tokens), *token_shortcuts(words)]
    shortcut = next(one for one in every if one.name == name)
    return list(shortcut.fit(columns(train))(columns([(text, "a") for text in asked])))


def test_the_text_is_copied_without_the_tokens_that_labels_lack():
    train = [("a b", "b a")]
    assert answers("copy of the text", train, ["c x d =", "f", "x"]) == ["c d", "f", ""]


def test_the_most_frequent_token_stands_at_each_place():
    train = [("x", "a b c"), ("y", "a b d"), ("z", "e b d")]
    assert answers("frequent token at each place", train, ["x", "q q q q"]) == ["a b d"] * 2
    train = [("x", "a f"), ("x x", "b a f"), ("x x x", "b b a f")]
    assert answers("frequent token from the end", train, ["x", "x x x"]) == ["a f", "b b a f"]


def test_the_token_at_the_same_place_decides():
    train = [("x y", "a b"), ("y x x", "b a a"), ("x", "c")]
    assert answers("token at the same place", train, ["y y x", "x"]) == ["b b a", "a"]
    # Behind the text's end, and for tokens that train lacks, there is one answer.
    train = [("x y", "a b c"), ("y x", "b a c"), ("y", "b c")]
    assert answers("token at the same place", train, ["x", "q"])[0] == "a c"


@pytest.mark.parametrize(
    ("lengths", "asked"),
    [
        ([(1, 4), (2, 4), (9, 4)], [4, 4]),  # always the same
        ([(3, 2), (4, 3), (9, 8), (5, 5)], [1, 6]),  # one less
        ([(1, 2), (2, 4), (3, 6), (4, 4)], [4, 14]),  # twice as many
        ([(2, 1), (3, 1), (3, 2)], [1, 1]),  # as good as one less: the constant comes first
        ([(9, 1), (8, 1), (1, 1), (3, 3), (4, 4)], [1, 1]),
    ],
)
def test_a_label_is_as_long_as_train_suggests(lengths, asked):
    train = [(" ".join("x" * text), " ".join("a" * label)) for text, label in lengths]
    made = answers("frequent token at each place", train, ["x x", "x x x x x x x"])
    assert [len(one.split()) for one in made] == asked


def test_without_a_text_there_are_still_places():
    names = {one.name for one in sequence_shortcuts(LABELS, None)}
    assert names == {"frequent token at each place", "frequent token from the end"}
    train = [("x", "a b"), ("x x", "a c"), ("x", "a b")]
    assert answers("frequent token at each place", train, ["x x x"], None) == ["a b"]


def test_shortcuts_of_any_label_answer_with_whole_texts_of_train():
    train = [("a x", "c d"), ("b x", "e"), ("b y", "e"), ("b z", "f f")]
    assert answers("first token", train, ["a q", "b q", "q q"]) == ["c d", "e", "e"]
    assert answers("number of tokens", train, ["q q"]) == ["e"]
    assert answers("nearest row", train, ["b z", "a x"]) == ["f f", "c d"]
    assert answers("1- to 3-grams", 9 * train, ["b z", "a x", "b y"]) == ["f f", "c d", "e"]
    assert answers("last token", [("a", "f"), ("a", "b")], ["a"]) == ["b"]


class Mapping(Sorting):
    """Each digit is replaced by the digit that it always has as its image."""

    name = "mapping"
    splits = Split("train", 900, (3, 4), evaluation=False), Split("test", 100, (5, 6))

    def solve(self, question):
        return " ".join(str(9 - int(digit)) for digit in question.split(" "))

    def propose(self, draws, n, split, bucket):
        tokens = np.zeros((n, 6), np.uint8)
        tokens[:, :bucket] = 1 + draws.integers(10, (n, bucket))
        return Block({"tokens": tokens})

    def render(self, block):
        tokens = block["tokens"].astype(np.int64)
        return {"label": np.where(tokens > 0, 11 - tokens, 0)}


def audited(task, place, monkeypatch):
    monkeypatch.setitem(registry._registered, task.name, task)
    generate(task.name, out=place, workers=1, progress=False)
    return only(audit(place, progress=False))


def test_an_audit_finds_what_solves_a_task_with_sequences(tmp_path, monkeypatch):
    found = audited(Mapping, tmp_path / "mapping", monkeypatch)
    names = {one.name for one in found.shortcuts}
    assert names == MADE | {
        "majority label",
        "first token",
        "last token",
        "rarest token",
        "number of tokens",
        "nearest row",
    }
    assert set(found.left_out) == {"bag of tokens and pairs", "1- to 3-grams"}
    assert marked(found) == {"token at the same place"}
    assert "test: token at the same place comes near solving it" in " ".join(found.findings)
    balance = {one.name: one for one in found.balance}
    assert balance["number of a label's tokens"].values == ["3", "4", "5", "6"]
    assert sum(balance["tokens of labels"].counts["test"]) == 550


def test_an_audit_of_sequences_that_nothing_solves_marks_nothing(tmp_path, monkeypatch):
    found = audited(Sorting, tmp_path / "sorting", monkeypatch)
    assert {one.name for one in found.shortcuts} > MADE
    assert marked(found) == set()
    for shortcut in found.shortcuts:
        assert set(shortcut.splits["test"].figures) == {"exact_match", "position_accuracy"}


def test_labels_that_are_other_texts_get_the_shortcuts_of_whole_labels(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered, Reversal.name, Reversal)
    out = make(tmp_path / "reversal", task="reversal")
    with planted_task():
        found = only(audit(out, progress=False))
    names = {one.name for one in found.shortcuts}
    assert {"majority label", "first token", "number of tokens", "nearest row"} <= names
    assert not MADE & names
