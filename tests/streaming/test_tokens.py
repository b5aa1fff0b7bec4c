"""`tokens`: fresh rows in a form, as NumPy arrays or tensors, resumed, indexed and pickled."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming import rounds as streaming
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.forms import form_of
from synthbench.tasks.registry import task as make_task
from tests.support import ONE_EACH, TEXTS, easiest


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(streaming, "ROUND_ROWS", 300)
    monkeypatch.setattr(streaming, "EVALUATION_ROUND_ROWS", 300)


class Words:
    """A tokenizer that splits at spaces and newlines, and begins every text with a token.

    With `ends`, it ends every text with a token, too.
    """

    pad_token_id, eos_token_id = None, 2

    def __init__(self, ends=False):
        self.ends = ends
        self.words = ["<unknown>", "<begin>", "<eos>", "\n"]

    def __len__(self):
        return len(self.words)

    def __call__(self, texts, add_special_tokens=True):
        rows = []
        for text in texts:
            words = text.replace("\n", " \n").split(" ")
            self.words += [one for one in words if one not in self.words]
            ids = [self.words.index(one) for one in words]
            special = add_special_tokens
            rows.append([1] * special + ids + [2] * (special and self.ends))
        return {"input_ids": rows}

    def convert_ids_to_tokens(self, ids):
        return [self.words[one] for one in ids]

    def batch_decode(self, rows, skip_special_tokens):
        return [" ".join(self.words[one] for one in row if one != 2) for row in rows]


def assert_same(one, two):
    assert list(one) == list(two)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_the_rows_are_those_of_the_stream():
    for split in ("train", "test"):
        batches = synthbench.tokens("ctl", split=split, batch_size=100, seed=3)
        rows = synthbench.stream("ctl", split=split, batch_size=100, seed=3)
        task = make_task("ctl")
        for batch, plain in itertools.islice(zip(batches, rows, strict=True), 5):
            assert batch["labels"].tolist() == plain["label"].tolist()
            known = task.vocabulary.model_inputs(plain["text"], batch["input_ids"].shape[1])
            np.testing.assert_array_equal(batch["input_ids"], known["input_ids"])


def test_text_is_never_made_on_the_way(monkeypatch):
    for name in TEXTS:
        task = make_task(name)
        monkeypatch.setattr(type(task), "join", None)
        assert next(synthbench.tokens(task))["input_ids"].dtype == np.int32


@pytest.mark.parametrize(("name", "variant"), ONE_EACH)
def test_a_row_is_read_alike_in_every_part_of_a_round(name, variant):
    task = easiest(name, variant)
    block = Rounds(task, task.splits[0].name).rows(0).block
    for form in (form_of(task, form) for form in getattr(task, "forms", ())):
        if form.has_one_width:
            whole, part = (form.batch(form.read(rows)) for rows in (block, block.take(slice(3, 9))))
            assert_same({key: array[3:9] for key, array in whole.items()}, part)


@pytest.mark.parametrize("form", ["sequence-classification", "masked-lm", "causal-lm"])
def test_batches_have_a_number_and_one_width_and_are_pickled(form):
    batches = synthbench.tokens("ctl", form=form, batch_size=70)
    read = [next(batches) for _ in range(9)]
    assert len({batch["input_ids"].shape for batch in read}) == 1
    assert batches.start == 9
    again = pickle.loads(pickle.dumps(batches))
    assert_same(next(again), next(batches))
    assert_same(again[4], read[4])
    assert_same(synthbench.tokens("ctl", form=form, batch_size=140)[2], {
        name: np.concatenate([read[4][name], read[5][name]]) for name in read[4]
    })  # fmt: skip
    assert batches.form == form
    assert batches.vocabulary_size == len(batches.input_tokens)
    assert batches.outputs == len(batches.output_tokens)
    assert max(batch["input_ids"].max() for batch in read) < batches.vocabulary_size
    assert max(batch["labels"].max() for batch in read) < batches.outputs


@pytest.mark.parametrize("ends", [False, True])
def test_a_tokenizer_gives_question_answer_and_end(ends):
    tokenizer = Words(ends)
    batches = synthbench.tokens("ctl", split="test", batch_size=50, tokenizer=tokenizer)
    rows = next(synthbench.stream("ctl", split="test", batch_size=50))
    symbols = make_task("ctl").symbols
    batch = next(batches)
    for ids, mask, labels, text, label in zip(
        *batch.values(), rows["text"], rows["label"], strict=True
    ):
        words = tokenizer.convert_ids_to_tokens(ids[mask > 0])
        question = ["<begin>", *text.split(), "\n"]
        assert words == [*question, symbols[label], "<eos>"]
        asked = labels[mask > 0].tolist()
        assert asked == [*[-100] * len(question), *ids[mask > 0][-2:].tolist()]
        assert set(labels[mask == 0].tolist()) <= {-100}
        assert set(ids[mask == 0].tolist()) <= {2}  # no padding token: the end of text
    assert batches.vocabulary_size == len(tokenizer)
    for wrong, message in (
        ({"form": "masked-lm"}, "Form 'masked-lm': with a tokenizer, allowed is 'causal-lm'"),
        ({"tokenizer": object()}, "tokenizer=object: expected a tokenizer of Transformers"),
        ({"task": "identity"}, "Task 'identity': its rows are not texts"),
    ):
        with pytest.raises(UsageError, match=message):
            synthbench.tokens(**{"task": "ctl", "tokenizer": tokenizer, **wrong})


@pytest.mark.slow
def test_two_workers_give_the_same_batches_as_one():
    with synthbench.tokens("parity", batch_size=100, workers=2) as batches:
        for batch, expected in itertools.islice(
            zip(batches, synthbench.tokens("parity", batch_size=100), strict=True), 12
        ):
            assert_same(batch, expected)
