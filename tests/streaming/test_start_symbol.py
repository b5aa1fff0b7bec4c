"""A start symbol before each row: in every form, beside a tokenizer, in mixtures and loaders."""

import itertools

import numpy as np
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.streaming.batches import Batches
from synthbench.streaming.token_batches import chosen_form
from synthbench.tasks.base import TextTask
from synthbench.tasks.forms import form_of
from synthbench.tasks.start_symbol import StartSymbol
from tests.streaming.test_tokens import Words
from tests.support import ONE_EACH, easiest

pytestmark = pytest.mark.usefixtures("short_rounds")


def forms():
    for name, variant in ONE_EACH:
        task = easiest(name, variant)
        if isinstance(task, TextTask):
            yield from ((task, form) for form in task.forms)


def test_every_form_of_every_task_has_the_symbol_before_its_rows():
    for task, form in forms():
        plain = synthbench.tokens(task, form=form, batch_size=30)
        started = synthbench.tokens(task, form=form, batch_size=30, start=True)
        before, batch = plain[0], started[0]
        assert started.input_tokens == (*plain.input_tokens, "<start>")
        assert started.vocabulary_size == plain.vocabulary_size + 1
        assert started.output_tokens[: plain.outputs] == plain.output_tokens
        assert list(batch) == list(before)
        symbol = {"input_ids": plain.vocabulary_size, "attention_mask": 1, "labels": -100}
        for name, array in batch.items():
            assert array.dtype == np.int32
            if array.ndim == 1:
                np.testing.assert_array_equal(array, before[name])
            else:
                assert (array[:, 0] == symbol.get(name, 0)).all()
                np.testing.assert_array_equal(array[:, 1:], before[name])


def test_questions_begin_with_the_symbol_and_right_predictions_are_right_answers():
    for task, name in forms():
        plain = form_of(task, name)
        started = StartSymbol(plain)
        block = synthbench.tokens(task, form=name)._open()[0](0).take(np.arange(20))
        questions, batch = started.questions(block), started.batch(block)
        assert "labels" not in questions
        for ids, mask, old in zip(
            questions["input_ids"],
            questions["attention_mask"],
            plain.questions(block)["input_ids"],
            strict=True,
        ):
            assert ids[mask > 0].tolist() == [len(plain.input_tokens), *old[old > 0].tolist()]
        labels = batch["labels"]
        if name == "causal-lm":
            labels = np.array([np.resize(row[row != -100], 20) for row in labels])
        predicted = np.maximum(labels, 0)
        inner = predicted[:, 1:] if started.at_positions else predicted
        assert started.answers(batch, predicted) == plain.answers(plain.batch(block), inner)
        if started.at_positions:
            scores = np.eye(len(started.output_tokens))[predicted]
            assert started.answers(batch, scores) == started.answers(batch, predicted)


def test_mixtures_have_the_symbol():
    source = {"listops": 2, "parity": 1}
    started = synthbench.tokens(source, batch_size=12, form="causal-lm", start=True)
    plain = synthbench.tokens(source, batch_size=12, form="causal-lm")
    assert started.input_tokens == (*plain.input_tokens, "<start>")
    symbol = plain.vocabulary_size
    batch = started[0]
    assert (batch["input_ids"][:, 0] == symbol).all()
    for name, array in plain[0].items():
        np.testing.assert_array_equal(batch[name][:, 1:] if array.ndim > 1 else array, array)


def test_a_tokenizer_gives_its_own_symbol_once():
    tokenizer = Words()
    with pytest.raises(UsageError, match=r"no token for the beginning of a text \(bos_token\)"):
        chosen_form(synthbench.task("ctl"), None, tokenizer, start=True)
    tokenizer.bos_token_id = 1
    plain = synthbench.tokens("ctl", batch_size=9, tokenizer=tokenizer)[0]
    started = synthbench.tokens("ctl", batch_size=9, tokenizer=tokenizer, start=True)[0]
    for name, array in plain.items():  # these texts begin with the symbol already
        np.testing.assert_array_equal(started[name], array)
    tokenizer.bos_token_id = 3
    started = synthbench.tokens("ctl", batch_size=9, tokenizer=tokenizer, start=True)[0]
    assert (started["input_ids"][:, 0] == 3).all()
    np.testing.assert_array_equal(started["labels"][:, 1:], plain["labels"])


def test_a_curve_asks_with_the_symbol():
    def predict(batch):
        assert (batch["input_ids"][:, 0] == synthbench.tokens("parity").vocabulary_size).all()
        return batch["input_ids"][:, 3] - 1

    started = synthbench.curve("parity", predict, rows=500, start=True)
    plain = synthbench.curve("parity", lambda batch: batch["input_ids"][:, 2] - 1, rows=500)
    assert started.accuracy == plain.accuracy
    with pytest.raises(UsageError, match="Start 1: allowed are True and False"):
        synthbench.curve("parity", predict, start=1)


def test_a_number_is_the_first_batch_and_both_can_be_had():
    batches = synthbench.tokens("parity", batch_size=5, start=True)
    whole = list(itertools.islice(batches, 4))
    assert isinstance(batches, Batches)
    batches.start = 1
    np.testing.assert_array_equal(next(batches)["input_ids"], whole[1]["input_ids"])
    later = next(synthbench.tokens("parity", batch_size=5, start=1))
    np.testing.assert_array_equal(later["input_ids"], whole[1]["input_ids"][:, 1:])
    assert synthbench.tokens("parity", start=np.True_).vocabulary_size == 1 + len(
        synthbench.tokens("parity", start=False).input_tokens
    )
    for wrong in ("yes", None, 0.5, -1):
        with pytest.raises(UsageError, match="Start"):
            synthbench.tokens("parity", start=wrong)
