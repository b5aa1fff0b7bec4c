"""Strings of any number of symbols and calculations of any modulus."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.tasks.chomsky.task import Chomsky
from synthbench.tasks.worked import worked_steps
from synthbench.verification.proof import prover
from tests.tasks.blocks import assert_sound, propose

NUMBERED = ["reverse-string", "duplicate-string", "odds-first", "bucket-sort"]


@pytest.mark.parametrize("variant", NUMBERED)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_strings_of_any_number_of_symbols_are_sound(variant, data):
    chosen = {
        "symbols": data.draw(st.integers(2, 128)),
        "train_lengths": [data.draw(st.integers(1, 90))],
        "reading": data.draw(st.sampled_from(["paper", "program"])),
    }
    task = Chomsky(variant, chosen)
    rows = assert_sound(task, propose(task))
    assert {token for row in rows for token in row["text"].split()} <= set(task.tokens)
    assert all(worked_steps(task, row) for row in rows[:3])
    table = pa.Table.from_pylist(rows)
    block = task.parse({"text": table["text"].combine_chunks()})
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    assert prover(Chomsky)(task, block, columns).all()


def test_symbols_are_refused_where_the_paper_fixes_them():
    with pytest.raises(ParameterError, match="possible in reverse-string, duplicate-string, odds"):
        Chomsky("parity-check", {"symbols": 3})
    with pytest.raises(ParameterError, match="symbols=1: allowed are 0 and 2 to 128"):
        Chomsky("reverse-string", {"symbols": 1})
    with pytest.raises(ValueError, match="is not a string of bucket-sort"):
        Chomsky("bucket-sort", {"symbols": 7}).solve("3 7")
    assert Chomsky("bucket-sort", {"symbols": 12}).solve("10 9 2 10") == ["2", "9", "10", "10"]


MODULAR = ["modular-arithmetic-simple", "cycle-navigation", "modular-arithmetic-brackets",
           "solve-equation"]  # fmt: skip


@pytest.mark.parametrize("variant", MODULAR)
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_rows_of_any_modulus_are_sound(variant, data):
    modulus = data.draw(st.integers(2, 128))
    length = data.draw(st.integers(3, 60))
    chosen = {
        "modulus": modulus,
        "train_lengths": [length],
        "reading": data.draw(st.sampled_from(["paper", "program"])),
    }
    task = Chomsky(variant, chosen)
    block = propose(task, n=4)
    rows = assert_sound(task, block)
    assert all(worked_steps(task, row) for row in rows)
    assert all(synthbench.score(task, row, int(row["label"])) == 1.0 for row in rows)
    assert f"0 to {modulus - 1}" in task.instruction
    table = pa.Table.from_pylist(rows)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    assert prover(Chomsky)(task, block, columns).all()
    answer = st.sampled_from([one for one in range(modulus) if str(one) != rows[0]["label"]])
    columns["label"] = pa.array([str(data.draw(answer)), *columns["label"].to_pylist()[1:]])
    assert prover(Chomsky)(task, block, columns).tolist() == [False] + 3 * [True]
    audit_spec_of(task)


@given(st.integers(2, 7), st.integers(1, 9), st.booleans())
@settings(max_examples=10, deadline=None)
def test_all_expressions_of_any_modulus_are_counted_and_listed(modulus, length, hides):
    variant = ["modular-arithmetic-brackets", "solve-equation"][hides]
    length += 2 * hides
    task = Chomsky(variant, {"modulus": modulus, "train_lengths": [length]})
    train = task.split("train")
    count = task.capacity(train, length)
    assert count is not None
    if count < 10_000:
        listed = task.enumerate_rows(train, length)
        assert len(np.unique(listed["tokens"], axis=0)) == len(listed) == count


def test_a_modulus_is_refused_where_answers_have_none():
    with pytest.raises(ParameterError, match=r"parity-check are not modulo.*simple, cycle-nav"):
        Chomsky("parity-check", {"modulus": 7})
    for wrong in (1, 129):
        with pytest.raises(ParameterError, match=f"modulus={wrong}"):
            Chomsky("solve-equation", {"modulus": wrong})
    task = Chomsky("modular-arithmetic-simple", {"modulus": 13})
    assert task.solve("11 + 12 * 3") == ["4"]
    for text in ("13", "1 2", "<3>", "1 + 1 2", "01"):
        with pytest.raises(ValueError, match="is not a string of modular-arithmetic-simple"):
            task.solve(text)
    assert Chomsky("cycle-navigation", {"modulus": 3}).solve("- 0") == ["2"]
