"""Rows as tokens: four forms, checked against the text and the label of each row."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from synthbench.errors import UsageError
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Split, TextTask
from synthbench.tasks.features import sequence, value
from synthbench.tasks.forms import FORMS, form_of
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task
from tests.support import RULES, first_fast, plain_rows

pytestmark = pytest.mark.usefixtures("short_rounds")

TEXT = first_fast(one for one in RULES if make_task(*one).forms)
CLASSES = [one for one in TEXT if make_task(*one.values).labels]


class Recall(TextTask):
    """Keys and values, then keys alone, whose values are asked."""

    name, title, summary, source = "recall", "Recall", "Which value did the key have?", "A toy"
    tokens = ("a", "b", "c", "1", "2", "3")
    columns = {"text": value("string"), "label": sequence("123", ignored="_")}
    splits = Split("train", 50, evaluation=False), Split("test", 50)
    forms = ("token-classification", "masked-lm", "causal-lm")

    def solve(self, question):
        words = question.split()
        values = dict(zip(words[:4:2], words[1:4:2], strict=True))
        return ["_"] * 4 + [values[one] for one in words[4:]]

    def propose(self, draws, n, split, bucket):
        keys, values = draws.permutations(n, 3)[:, :2], draws.integers(3, (n, 2))
        asked = np.where(draws.bits(0.5, (n, 1)), keys, keys[:, ::-1])
        single = draws.bits(0.5, (n, 1)) & (np.arange(2) == 1)
        pairs = np.stack([keys + 1, values + 4], axis=2).reshape(n, 4)
        return {"tokens": np.hstack([pairs, np.where(single, 0, asked + 1)])}

    def render(self, block):
        tokens = block["tokens"].astype(int)
        asked, keys, values = tokens[:, 4:], tokens[:, :4:2], tokens[:, 1:4:2] - 3
        found = ((asked[:, :, None] == keys[:, None]) * values[:, None]).sum(axis=2)
        return {"label": np.hstack([np.full((len(tokens), 4), 4), found])}

    def position_ids(self, block):
        return np.tile([0, 0, 1, 1, 2, 3], (len(block), 1))


@functools.cache
def asked_rows(task):
    return Rounds(task, task.splits[-1].name).rows(0).block.take(slice(40))


def encoded(task, name, rows=40):
    """A form's batch of some rows, and the rows as plain values with their tokens."""
    block = asked_rows(task).take(slice(rows))
    form = form_of(task, name)
    read = form.read(block)
    plain = plain_rows(task.rendered(block))
    texts = [
        row["text"].split(task.separator) if task.separator else list(row["text"]) for row in plain
    ]
    return form, read, form.batch(read), plain, texts


def answer_of(task, row):
    names = task.labels
    return [names[row["label"]]] if names else row["label"].split()


def named(form, ids):
    return [form.input_tokens[one] for one in ids if one]


@pytest.mark.parametrize(("name", "variant"), CLASSES)
def test_classes_of_sequences(name, variant):
    task = make_task(name, variant)
    form, _, batch, plain, texts = encoded(task, "sequence-classification")
    assert {column.dtype for column in batch.values()} == {np.dtype(np.int32)}
    assert [named(form, ids) for ids in batch["input_ids"]] == texts
    assert batch["attention_mask"].sum(axis=1).tolist() == list(map(len, texts))
    assert (batch["attention_mask"] == (batch["input_ids"] > 0)).all()
    assert batch["labels"].tolist() == [row["label"] for row in plain]
    assert form.output_tokens == task.labels
    assert form.input_tokens == ("<pad>", *task.tokens)
    # The ids are those of the vocabulary, which datasets are encoded with.
    known = task.vocabulary.model_inputs(
        [row["text"] for row in plain], batch["input_ids"].shape[1]
    )
    np.testing.assert_array_equal(known["input_ids"], batch["input_ids"])


@pytest.mark.parametrize(("name", "variant"), [*TEXT, ("recall", None)])
def test_masked_language_models(name, variant):
    task = Recall() if name == "recall" else make_task(name, variant)
    form, _, batch, plain, texts = encoded(task, "masked-lm")
    for ids, mask, labels, row, words in zip(
        *(batch[one].tolist() for one in ("input_ids", "attention_mask", "labels")), plain, texts,
        strict=True,
    ):  # fmt: skip
        answer = answer_of(task, row)
        assert named(form, ids) == [*words, *["<mask>"] * len(answer)]
        assert sum(mask) == len(words) + len(answer)
        shown = ["_" if one == -100 else form.output_tokens[one] for one in labels]
        expected = ["_"] * len(words) + answer
        assert shown == expected + ["_"] * (len(ids) - len(expected))


@pytest.mark.parametrize(("name", "variant"), [*TEXT, ("recall", None)])
def test_causal_language_models(name, variant):
    task = Recall() if name == "recall" else make_task(name, variant)
    form, read, batch, plain, texts = encoded(task, "causal-lm")
    questions = form.questions(read)
    assert "labels" not in questions
    for place, (row, words) in enumerate(zip(plain, texts, strict=True)):
        answer = answer_of(task, row)
        ids, labels = batch["input_ids"][place].tolist(), batch["labels"][place].tolist()
        assert named(form, ids) == [*words, "<separator>", *answer, "<end>"]
        asked = [*[-100] * (len(words) + 1), *ids[len(words) + 1 :]]
        ignored = form.id_of(task.answer.ignored) if task.answer.ignored else None
        expected = [-100 if one in (0, ignored) else one for one in asked]
        assert labels == expected
        assert batch["attention_mask"][place].tolist() == [int(one > 0) for one in ids]
        # Questions end with the separator, and have padding in front.
        asked_ids, mask = questions["input_ids"][place], questions["attention_mask"][place]
        assert named(form, asked_ids) == [*words, "<separator>"]
        assert form.input_tokens[asked_ids[-1]] == "<separator>"
        assert mask.tolist() == (asked_ids > 0).tolist()


def test_classes_of_tokens():
    form, _, batch, plain, texts = encoded(Recall(), None)
    assert (form.name, form.output_tokens) == ("token-classification", ("1", "2", "3"))
    assert any(len(words) == 5 for words in texts)
    for labels, row, words in zip(batch["labels"].tolist(), plain, texts, strict=True):
        shown = ["_" if one == -100 else form.output_tokens[one] for one in labels]
        assert shown == row["label"].split() + ["_"] * (6 - len(words))
    wanted = np.maximum(batch["labels"], 0)
    for row, answer in zip(plain, form.answers(batch, wanted), strict=True):
        assert len(answer) == len(row["text"].split())
        assert Recall().score(row, answer) == 1.0


def test_positions_count_on_behind_the_question():
    for name, gap in (("token-classification", 0), ("masked-lm", 0), ("causal-lm", 1)):
        form, read, batch, _, texts = encoded(Recall(), name)
        rows = zip(batch["position_ids"].tolist(), batch["attention_mask"], texts, strict=True)
        for ids, mask, words in rows:
            given = [0, 0, 1, 1, 2, 3][: len(words)]
            assert ids[: len(words)] == given
            following = ids[len(words) : mask.sum()]
            # The separator stands where the question ends.
            first = given[-1] + 1 - gap
            assert following == list(range(first, first + len(following)))
            if name != "token-classification":
                assert len(following) == len(words) + 2 * gap
                assert not any(ids[mask.sum() :])
        assert batch["position_ids"].shape == batch["input_ids"].shape
        assert "position_ids" in form.questions(read)


def right_predictions(chosen, read, batch):
    """What a model that is always right predicts."""
    if chosen != "causal-lm":
        return batch["labels"]
    right = np.zeros((len(batch["labels"]), 1 + read["answer"].shape[1]), int)
    starts = 1 + (read["tokens"] > 0).sum(axis=1)
    for row, ids, start in zip(right, batch["input_ids"], starts, strict=True):
        rest = ids[start:][: len(row)]
        row[: len(rest)] = rest
    return right


@pytest.mark.parametrize(("name", "variant"), [*TEXT, ("recall", None)])
def test_right_predictions_are_right_answers_and_wrong_ones_wrong(name, variant):
    task = Recall() if name == "recall" else make_task(name, variant)

    def scored(form, batch, plain, given):
        answers = form.answers(batch, given)
        return [task.score(row, one) for row, one in zip(plain, answers, strict=True)]

    for chosen in task.forms:
        form, read, batch, plain, _ = encoded(task, chosen)
        right = right_predictions(chosen, read, batch)
        assert set(scored(form, batch, plain, right)) == {1.0}, chosen
        assert np.mean(scored(form, batch, plain, np.zeros_like(right))) < 0.6, chosen
        # Of few rows, because mqar has thousands of tokens to choose from.
        form, read, batch, plain, _ = encoded(task, chosen, rows=5)
        right = np.maximum(right_predictions(chosen, read, batch), 0)
        scores = np.where(np.arange(len(form.output_tokens)) == right[..., None], 1.0, 0.0)
        assert set(scored(form, batch, plain, scores)) == {1.0}, chosen


def test_a_task_of_numbers_or_images_has_no_form_and_a_wrong_form_is_named():
    for name in (one for one in list_tasks() if "text" not in make_task(one).columns):
        with pytest.raises(
            UsageError, match=rf"'{name}': its rows are not texts.*synthbench.stream"
        ):
            form_of(make_task(name))
    with pytest.raises(UsageError, match=r"Unknown form of parity 'masked_lm'.*'masked-lm'"):
        form_of(make_task("parity"), "masked_lm")
    with pytest.raises(UsageError, match="Allowed: sequence-classification, masked-lm, causal-lm"):
        form_of(make_task("parity"), "token-classification")
    assert set(FORMS) == {*Recall.forms, *make_task("parity").forms}


def test_a_label_that_is_shorter_than_its_text_cannot_classify_tokens(monkeypatch):
    wrong = Recall()
    monkeypatch.setattr(
        Recall, "render", lambda self, block: {"label": np.ones((len(block), 2), int)}
    )
    block = wrong.propose(_draws(), 5, wrong.splits[0], 0)
    with pytest.raises(ValueError, match="needs a label for each token, but a row has 2 for"):
        form_of(wrong).read(block)


def _draws():
    from synthbench.seeding import Draws

    return Draws({"test": "forms"})
