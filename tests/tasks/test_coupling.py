"""Positions that a symbol and its copy, or digits of one weight, have in common."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import ParameterError
from synthbench.tasks.forms import form_of
from tests.tasks.blocks import propose

COPIES = [("chomsky", "reverse-string"), ("chomsky", "duplicate-string"),
          ("chomsky", "odds-first"), ("lists", "identity")]  # fmt: skip


def batch_of(task, form, **size):
    form = form_of(task, form)
    block = propose(task, **size)
    batch = form.batch(form.read(block))
    columns = task.rendered(block)
    again = form.batch(form.read_columns({one: columns[one] for one in columns}))
    width = min(batch["labels"].shape[1], again["labels"].shape[1])  # without more padding
    assert all((batch[name][:, :width] == again[name][:, :width]).all() for name in batch)
    return form, batch


def rows_in(batch):
    return zip(batch["input_ids"], batch["labels"], batch["position_ids"], strict=True)


@pytest.mark.parametrize(("name", "variant"), COPIES)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_copy_has_the_position_of_its_source(name, variant, data):
    length = data.draw(st.integers(8, 30)) if name == "chomsky" else 16
    sizes = {"train_lengths": [length]} if name == "chomsky" else {"length": 16}
    task = synthbench.task(name, variant, positions="coupled", **sizes)
    form, batch = batch_of(task, data.draw(st.sampled_from(["masked-lm", "causal-lm"])), n=4)
    first = set()
    for ids, labels, places in rows_in(batch):
        question, answer = slice(None, length), np.flatnonzero(labels >= 0)
        first.add(int(places[0]))
        assert (np.diff(places[question]) == 1).all() and places[0] >= 1
        at = dict(zip(places[question].tolist(), ids[question].tolist(), strict=True))
        if form.name == "causal-lm":
            answer = answer[:-1]
        assert [at[place] for place in places[answer].tolist()] == labels[answer].tolist()
    assert len(first) > 1


def test_rows_are_the_same_whatever_the_positions():
    for name, variant, chosen in (
        ("chomsky", "reverse-string", {}),
        ("lists", "identity", {}),
        ("addition", "addition", {"order": "reversed"}),
    ):
        kinds = ("coupled", "abacus") if name == "addition" else ("counted", "coupled")
        one, other = (
            next(synthbench.stream(task, batch_size=50))["id"]
            for task in (synthbench.task(name, variant, positions=kind, **chosen) for kind in kinds)
        )
        assert list(one) == list(other)


@given(st.sampled_from(["addition", "multiplication"]), st.booleans(), st.integers(1, 9))
@settings(max_examples=12, deadline=None)
def test_abacus_counts_digits_from_the_least_of_each_number(variant, padded, digits):
    task = synthbench.task(
        "addition", variant, order="reversed", positions="abacus", zero_padding=padded
    )
    form, batch = batch_of(task, "causal-lm", n=5, bucket=digits * 1_000 + 3)
    starts = set()
    for ids, labels, places in rows_in(batch):
        tokens = [form.input_tokens[one] for one in ids.tolist()]
        equals = tokens.index("=")
        sign = next(at for at, token in enumerate(tokens) if token in "+*")
        starts.add(start := int(places[sign - 1]))
        assert places[sign] == places[equals] == 0
        for end, count in ((sign, sign), (equals, equals - sign - 1)):
            assert places[end - count : end].tolist() == [start + w for w in range(count)][::-1]
        answer = np.flatnonzero(labels >= 0)[:-1]
        assert places[answer].tolist() == [start + w for w in range(len(answer))]
    assert min(starts) >= 1 and len(starts) > 1


def test_rows_of_few_digits_have_few_positions_though_others_have_hundreds():
    chosen = {"order": "reversed", "positions": "abacus", "test_digits": (500,)}
    task = synthbench.task("addition", "multiplication", **chosen)
    places = task.answer_positions(task.parse({"text": pa.array(["1 2 * 3 4 =", "5 * 6 ="])}))
    assert places[:, 1:].tolist() == [[*range(places[0, 0] + 1, places[0, 0] + 5)],
                                      [places[1, 0] + 1, places[1, 0] + 2, 0, 0]]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "variant", "chosen", "message"),
    [
        ("chomsky", "bucket-sort", {"positions": "coupled"}, "possible in reverse-string, dup"),
        ("lists", "set", {"positions": "coupled"}, "possible in identity, not in set"),
        ("addition", "addition", {"positions": "abacus"}, "given with order=reversed"),
    ],
)
def test_positions_that_do_not_fit_are_refused(name, variant, chosen, message):
    with pytest.raises(ParameterError, match=message):
        synthbench.task(name, variant, **chosen)


def test_counted_positions_are_not_given():
    for name, variant in COPIES:
        task = synthbench.task(name, variant)
        assert "position_ids" not in form_of(task).batch(form_of(task).read(propose(task)))
    one = pa.array(["0 1 1"])
    task = synthbench.task("chomsky", "reverse-string", positions="coupled")
    assert task.position_ids(task.parse({"text": one})).shape == (1, 3)
