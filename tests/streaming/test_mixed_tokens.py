"""Tokens of several tasks: the rows of each, in turns, in one vocabulary."""

import pickle

import numpy as np
import pytest

import synthbench
from synthbench.errors import UsageError
from synthbench.tasks.spec import task_of

MIXTURE = {"modular-arithmetic": 2, "parity": 1, synthbench.task("ctl", symbols=4): 1}


def named(batch, row, batches):
    """The tokens of a row, and of its labels where they are asked."""
    there, asked = batch["attention_mask"][row] > 0, batch["labels"][row] != -100
    tokens = [batches.input_tokens[one] for one in batch["input_ids"][row][there]]
    if batch["labels"].ndim == 1:
        return tokens, batches.output_tokens[batch["labels"][row]]
    return tokens, [batches.output_tokens[one] for one in batch["labels"][row][asked]]


def test_every_row_is_the_next_of_its_task():
    for form in (None, "masked-lm", "causal-lm"):
        mixed = synthbench.tokens(MIXTURE, form=form, batch_size=10, seed=3)
        alone = [synthbench.tokens(task, form=form, batch_size=20, seed=3) for task in MIXTURE]
        taken = [0, 0, 0]
        for batch in (next(mixed), next(mixed), next(mixed)):
            for row, part in enumerate(batch["task"].tolist()):
                expected = named(alone[part][0], taken[part], alone[part])
                assert named(batch, row, mixed) == expected
                taken[part] += 1
        assert taken == [15, 8, 7]
        assert [task_of(spec).name for spec in mixed.tasks] == [
            "modular-arithmetic",
            "parity",
            "ctl",
        ]
        assert len(set(mixed.input_tokens)) == mixed.vocabulary_size
        for name, array in batch.items():
            assert array.dtype == np.int32, name


def test_batches_by_number_after_pickling_and_of_any_size_are_the_same_rows():
    mixed = synthbench.tokens(MIXTURE, form="causal-lm", batch_size=6)
    third, again = mixed[2], pickle.loads(pickle.dumps(mixed))
    next(again)
    loaded = pickle.loads(pickle.dumps(again))
    assert loaded.start == 1
    for name, array in loaded[2].items():
        assert (array == third[name]).all()
    large = synthbench.tokens(MIXTURE, form="causal-lm", batch_size=18)[0]
    for row in range(6):
        assert named(third, row, mixed) == named(large, 12 + row, mixed)
    started = synthbench.tokens(MIXTURE, form="causal-lm", batch_size=6, start=2)
    assert (next(started)["input_ids"] == third["input_ids"]).all()


def test_batches_without_rows_of_a_task_have_its_width_and_its_positions():
    """Of three rows one batch in four has none of `addition`, which alone has positions."""
    mixture = {synthbench.task("addition", order="reversed"): 1, "parity": 11}
    mixed = synthbench.tokens(mixture, batch_size=3, form="masked-lm")
    batches = [next(mixed) for _ in range(4)]
    assert len({tuple(np.unique(batch["task"])) for batch in batches}) > 1
    assert {tuple(batch) for batch in batches} == {tuple(batches[0])}
    assert "position_ids" in batches[0]
    for name, array in batches[0].items():
        assert {batch[name].shape for batch in batches} == {array.shape}, name
    for batch in batches:
        for row in np.flatnonzero(batch["task"] == 1):
            count = batch["attention_mask"][row].sum()
            assert batch["position_ids"][row][:count].tolist() == list(range(count))


def test_held_out_rows_of_a_mixture():
    batches = synthbench.tokens(["ctl", "parity"], split="test", batch_size=4)
    batch = batches[0]
    assert batch["task"].tolist() == [0, 1, 0, 1]
    row = batch["input_ids"][1][batch["attention_mask"][1] > 0]
    text = " ".join(batches.input_tokens[one] for one in row.tolist())
    assert synthbench.is_held_out("parity", text)
    assert synthbench.solve("parity", text) == int(batches.output_tokens[batch["labels"][1]])


@pytest.mark.dev
@pytest.mark.usefixtures("short_rounds")
def test_a_tokenizer_gives_all_tasks_its_ids():
    pytest.importorskip("transformers", reason="the extra dev has transformers")
    from tests.llm.tiny_model import bytes_tokenizer

    tokenizer = bytes_tokenizer()
    batch = synthbench.tokens(["ctl", "parity"], tokenizer=tokenizer, batch_size=2)[0]
    for row, expected in enumerate(("ctl", "parity")):
        alone = synthbench.tokens(expected, tokenizer=tokenizer, batch_size=1)[0]
        for name, fill in (("input_ids", tokenizer.pad_token_id), ("labels", -100)):
            both = batch[name][row], alone[name][0]
            width = max(map(len, both))
            one, other = (np.pad(a, (0, width - len(a)), constant_values=fill) for a in both)
            assert (one == other).all()


def test_what_cannot_be_mixed_is_refused():
    for given, options, said in (
        (["listops", "chomsky"], {"form": "sequence-classification"}, "form of chomsky"),
        (["listops", "clusters"], {}, "no form in common|are not texts"),
        (["parity", "parity"], {}, "each may be there once"),
        (["listops", "parity"], {"batch_size": 0}, "Batch size 0"),
    ):
        with pytest.raises(UsageError, match=said):
            synthbench.tokens(given, **options)
