"""Strings of the Chomsky hierarchy as tokens, prompts and rows of an audit."""

from pathlib import Path

import pyarrow as pa
import pytest

from synthbench.auditing.variant import audit_spec_of
from synthbench.tasks.chomsky.task import Chomsky
from synthbench.tasks.forms import form_of
from tests.tasks.test_chomsky import DISPUTED, every_variant, program, texts


def test_answers_are_read_at_mask_tokens_and_what_is_behind_their_end_is_not_scored():
    task = Chomsky("stack-manipulation")
    form = form_of(task)
    assert form.name == "masked-lm"
    batch = form.batch(form.read(task.parse({"text": pa.array(["1 0 pop"])})))
    shown = [form.input_tokens[one] for one in batch["input_ids"][0]]
    assert shown == ["1", "0", "pop", *["<mask>"] * 4]
    asked = [form.input_tokens[one] if one >= 0 else "" for one in batch["labels"][0]]
    assert asked == ["", "", "", "1", "end", "", ""]
    row = {"label": "1 end _ _"}
    assert task.score(row, "1 end") == task.score(row, "1 end 0 0") == 1.0
    assert task.score(row, "1 1 end _") == 0.0


@every_variant
def test_the_rule_says_which_reading_counts(variant):
    task = Chomsky(variant)
    assert (task.instruction != program(variant).instruction) == (variant in DISPUTED)
    assert ("'end'" in task.instruction) == (task.answer.ignored == "_")


def shortcut(task, text):
    (only,) = audit_spec_of(task).shortcuts
    columns = {"text": pa.array([text])}
    return only.name, " ".join(only.fit({})(columns)[0])


def test_the_audit_knows_simpler_rules():
    task = Chomsky("missing-duplicate")
    for text in texts("missing-duplicate", 11, 50):
        assert shortcut(task, text) == ("parity of the ones", *task.solve(text))
    found = shortcut(Chomsky("stack-manipulation"), "0 1 1 pop push0")
    assert found == ("stack before the actions", "1 1 0 end")
    found = shortcut(Chomsky("binary-addition"), "1 1 plus 0 1 1")
    assert found == ("sum without carries", "1 0 1 end")
    found = shortcut(Chomsky("bucket-sort"), "3 3 3 3 3 3 3")
    assert found == ("length alone", "0 0 1 2 2 3 4")
    for variant in DISPUTED:
        (text,) = texts(variant, 9, 1)
        for task, other in (
            (Chomsky(variant), program(variant)),
            (program(variant), Chomsky(variant)),
        ):
            assert shortcut(task, text) == ("other reading", " ".join(other.solve(text)))


def test_the_audit_knows_strings_that_are_only_reordered():
    assert not audit_spec_of(Chomsky("even-pairs")).near_duplicate_keys
    for variant in ("parity-check", "cycle-navigation", "bucket-sort"):
        (code,) = audit_spec_of(Chomsky(variant)).near_duplicate_keys.values()
        symbols = Chomsky(variant).tokens
        rows = [f"{symbols[0]} {symbols[1]}", f"{symbols[1]} {symbols[0]}", symbols[1]]
        first, second, third = code({"text": pa.array(rows)}).tolist()
        assert first == second != third


@pytest.mark.parametrize(
    ("task", "alike", "other"),
    [
        (Chomsky("binary-addition"), ["1 1 plus 0 1", "0 1 plus 1 1 0"], "1 plus 1"),
        (Chomsky("binary-addition"), ["0 plus 0", "0 0 plus 0"], "0 plus 1"),
        (Chomsky("binary-multiplication"), ["1 times 0 1", "0 1 0 0 times 1 0"], "0 1 times 0 1"),
        (Chomsky("compute-sqrt"), ["1 0 1", "1 0 1 0 0"], "0 1 0 1"),
        (program("compute-sqrt"), ["1 0 1", "0 0 1 0 1"], "1 0 1 0"),
    ],
)  # fmt: skip
def test_the_audit_knows_numbers_that_differ_only_in_insignificant_zeros(task, alike, other):
    ((name, code),) = audit_spec_of(task).near_duplicate_keys.items()
    assert name == "the same numbers with more or fewer insignificant zeros"
    *same, different = code({"text": pa.array([*alike, other])}).tolist()
    assert len({*same}) == 1
    assert different not in same


def test_even_lengths_become_odd_where_all_lengths_are_and_the_card_says_so():
    task = Chomsky("modular-arithmetic-simple", {"train_lengths": [2, 4]})
    assert task.split("train").buckets == (1, 3)
    card = (Path(__file__).parents[2] / "cards" / "chomsky.md").read_text("utf-8")
    assert "`--set train_lengths=2,4` gives the lengths 1 and 3" in card
