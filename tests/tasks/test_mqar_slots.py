"""Recall with several sizes, noise, rewritten keys and second hops."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.tasks.describe import draw_row
from synthbench.tasks.mqar.task import AssociativeRecall
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.worked import worked_steps
from tests.tasks.blocks import assert_sound, propose, rows_of
from tests.tasks.test_mqar import SMALL


def test_several_sizes_of_train_are_taken_in_pairs():
    task = synthbench.task("mqar", length="64,128,128", pairs="4,4,8")
    assert task.split("train").buckets == (64_004, 128_004, 128_008)
    assert {len(row["text"].split()) for row in rows_of(task, propose(task, bucket=128_004))} == {
        128
    }
    assert task.split("test").buckets == (64_008, 64_016, 128_016, 256_004, 256_008, 256_016)
    assert make_task("mqar", **task.parameters.to_dict()) == task
    one = synthbench.task("mqar", length=128, pairs=8)
    assert one.stream["parameters"] == {"length": 128, "pairs": 8}


@st.composite
def slot_tasks(draw):
    pairs = draw(st.integers(2, 6))
    chosen = {
        "vocabulary": 2 * draw(st.integers(60, 90)), "length": 128, "pairs": pairs,
        "test_lengths": [136], "test_pairs": [pairs, pairs + 1],
        "noise": draw(st.sampled_from([0.0, 0.2, 0.5, 0.7])),
        "rewrites": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "hops": draw(st.integers(1, 2)), "gaps": draw(st.sampled_from(["power", "uniform"])),
    }  # fmt: skip
    return AssociativeRecall(parameters=chosen)


@given(slot_tasks(), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_rows_with_noise_rewrites_and_hops_are_sound(task, block):
    sizes = task.parameters
    (pairs,) = sizes.pairs
    rows = assert_sound(task, propose(task, n=6, block=block))
    for row in rows:
        slots = row["text"].split()[::2], row["text"].split()[1::2]
        stored = [key for key, other in zip(*slots, strict=True) if "blank" not in (key, other)]
        assert (row["pairs"], row["length"]) == (pairs, 128)
        assert len(set(stored)) == sizes.first_pairs(pairs) or sizes.is_plain
        assert len(stored) - len(set(stored)) == sizes.rewritten(pairs)
        assert len(worked_steps(task, row)) == sizes.hops * pairs + 1
        assert draw_row(task, row).plain
    spec = audit_spec_of(task)
    columns = {name: pa.array([row[name] for row in rows]) for name in ("text", "label")}
    for shortcut in spec.shortcuts:
        assert len(shortcut.fit({})(columns)) == len(rows)
    assert_sound(task, propose(task, "test", n=6))


def test_the_rule_of_a_rewritten_key_and_of_a_second_hop():
    text = "k5 k3 k9 v1 k3 v9 k5 blank k3 v2 k5 blank"
    task = synthbench.task("mqar", hops=2, noise=0.3)
    assert task.solve(text) == ["_", "_", "_", "_", "_", "_", "v9", "_", "_", "_", "v2", "_"]
    (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
    assert row["label"] == "_ _ _ _ _ _ v9 _ _ _ v2 _"
    assert worked_steps(task, row)[:2] == [
        "Place 7 asks for k5, which is at place 1 with k3 behind it.",
        "Place 7 asks for k3, which is at place 5 with v9 behind it.",
    ]
    first_value = audit_spec_of(task).shortcuts[1].fit({})({"text": pa.array([text])})
    assert first_value == [["_"] * 6 + ["v9"] + ["_"] * 3 + ["v9", "_"]]


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_solver_and_parse_agree_on_rows_of_slots(data):
    chosen = {**SMALL, "length": 24, "test_lengths": [32], "hops": 2, "rewrites": 0.5}
    task = AssociativeRecall(parameters=chosen)
    words = rows_of(task, propose(task, n=1, block=data.draw(st.integers(0, 20))))[0][
        "text"
    ].split()
    words[data.draw(st.integers(0, 23))] = data.draw(st.sampled_from(task.tokens))
    text = " ".join(words[: data.draw(st.integers(20, 24))])
    try:
        solved = " ".join(task.solve(text))
    except ValueError:
        with pytest.raises(ValueError, match="mqar: not every row"):
            task.parse({"text": pa.array([text])})
    else:
        (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
        assert row["label"] == solved


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"length": [64, 128]}, "pairs=4: expected 2 numbers"),
        ({"length": [64, 64], "pairs": [4, 4]}, "length=64,64: allowed are different sizes"),
        ({"noise": 0.95}, "noise=0.95: allowed are 0 to 0.9"),
        ({"rewrites": 2}, "rewrites=2"),
        ({"hops": 3}, "hops=3: allowed are 1 to 2"),
        ({"noise": 0.5, "filler": "random"}, "noise, rewrites and hops need filler=blank"),
        ({"noise": 0.9}, "length=64: 4 pairs with noise, rewrites and hops need 88 places"),
    ],
)
def test_impossible_noise_rewrites_and_sizes_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        AssociativeRecall(parameters=parameters)
