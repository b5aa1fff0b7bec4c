"""Multi-query associative recall: pairs, questions, fillers, and what is held out."""

import collections
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.describe import draw_row
from synthbench.tasks.forms import form_of
from synthbench.tasks.mqar.task import AssociativeRecall
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.row_ids import are_held_out, fingerprints
from tests.support import draw_splits
from tests.tasks.agreement import assert_drawn_from, assert_uniform
from tests.tasks.blocks import assert_solver_and_parse_agree, assert_sound, ids, propose, rows_of

ROW = "k5 v9 k2 v7 blank blank k2 blank k5 blank blank blank"
ANSWER = "_ _ _ _ _ _ v7 _ v9 _ _ _"
SMALL = {"vocabulary": 20, "length": 12, "pairs": 2, "test_lengths": [16], "test_pairs": [3, 4]}


@st.composite
def tasks(draw):
    pairs = draw(st.integers(2, 6))
    length = 2 * draw(st.integers(2 * pairs, 30))
    chosen = {
        "vocabulary": 2 * draw(st.integers(8, 40)), "length": length, "pairs": pairs,
        "test_lengths": [length + 4], "test_pairs": [pairs, pairs + 1],
        "gaps": draw(st.sampled_from(["power", "uniform"])),
        "filler": draw(st.sampled_from(["blank", "random"])),
    }  # fmt: skip
    return AssociativeRecall(parameters=chosen)


def of_texts(*texts, **parameters):
    task = AssociativeRecall(parameters=parameters)
    return task, task.parse({"text": pa.array(texts)})


# The rule.


def test_a_key_that_stands_there_for_the_second_time_is_answered_with_its_value():
    task, block = of_texts(ROW)
    assert task.solve(ROW) == ANSWER.split()
    (row,) = rows_of(task, block)
    assert row == {"text": ROW, "label": ANSWER, "pairs": 2, "length": 12}
    assert task.recompute_columns(row) == {"label": ANSWER, "pairs": 2, "length": 12}


def test_other_keys_and_values_behind_the_pairs_are_not_asked():
    task, block = of_texts("k5 v9 k2 v7 k3 v7 k2 k9 k5 v9 v1 k4")
    (row,) = rows_of(task, block)
    assert row["label"] == ANSWER
    assert task.solve(row["text"]) == ANSWER.split()


@given(tasks(), st.sampled_from(["train", "test"]), st.integers(0, 5))
@settings(max_examples=60)
def test_rows_of_any_size_are_sound(task, split, block):
    for bucket in task.split(split).buckets:
        assert_sound(task, propose(task, split, n=12, bucket=bucket, block=block))


@given(st.data())
@settings(max_examples=60)
def test_solver_and_parse_agree_on_what_is_a_row(data):
    """A row is changed in one place: both refuse it, or both read it alike."""
    task = AssociativeRecall(parameters=SMALL)
    words = propose(task, n=1, block=data.draw(st.integers(0, 20)))
    words = rows_of(task, words)[0]["text"].split()
    words[data.draw(st.integers(0, 11))] = data.draw(st.sampled_from(task.tokens))
    words = words[: data.draw(st.integers(10, 12))]
    assert_solver_and_parse_agree(task, " ".join(words))


# How rows are drawn.


def test_keys_and_values_are_uniform_and_apart_and_each_pair_is_asked_once():
    task = AssociativeRecall(parameters={**SMALL, "vocabulary": 16})
    block = propose(task, n=8_000)
    head = block["tokens"][:, :4].astype(int)
    keys, values = head[:, ::2] - 2, head[:, 1::2] - 9
    unequal = [(a, b) for a in range(8) for b in range(8) if a != b]
    assert_uniform(map(tuple, values.tolist()), unequal)
    assert_uniform(map(tuple, keys.tolist()), [one for one in unequal if max(one) < 7])
    asked = (block["tokens"][:, 4:, None] == block["tokens"][:, None, :4:2]).sum(axis=1)
    assert (asked == 1).all()


def asked_slots(task, n):
    """For each row the slots of its keys, in the order of presentation."""
    tokens = propose(task, n=n)["tokens"].astype(int)
    (pairs,) = task.parameters.pairs
    matches = tokens[:, 2 * pairs :: 2, None] == tokens[:, None, : 2 * pairs : 2]
    return matches.argmax(axis=1)


@pytest.mark.parametrize("gaps", ["power", "uniform"])
def test_questions_stand_in_slots_of_the_stated_weights_without_replacement(gaps):
    task = AssociativeRecall(parameters={**SMALL, "gaps": gaps})
    weights = [Fraction((1 << 24) // (g + 1) if gaps == "power" else 1) for g in range(4)]
    chances = collections.Counter()
    for one, first in enumerate(weights):
        for two, second in enumerate(weights):
            if one != two:
                chance = first / sum(weights) * second / (sum(weights) - first)
                chances[one, two] += chance / 2  # which of the two keys is asked there is even
                chances[two, one] += chance / 2
    drawn = collections.Counter(map(tuple, asked_slots(task, 20_000).tolist()))
    assert_drawn_from(drawn, {slots: float(chance) for slots, chance in chances.items()})


def test_no_key_is_asked_sooner_for_standing_first():
    slots = asked_slots(AssociativeRecall(), 20_000)
    assert_uniform(slots.argsort(axis=1)[:, 0].tolist(), range(4))


def test_keys_of_long_rows_are_asked_everywhere_alike():
    sizes = {"length": 2048, "pairs": 2, "test_lengths": (2048,), "test_pairs": (4,)}
    task = AssociativeRecall(parameters={**sizes, "gaps": "uniform"})
    block = propose(task, n=2_000, bucket=task.split("train").buckets[0])
    assert_uniform((block["asked"].ravel() // 256).tolist(), range(8))


def test_random_fillers_are_uniform_and_never_a_key_of_the_row_nor_a_key_twice():
    task = AssociativeRecall(parameters={**SMALL, "filler": "random"})
    block = propose(task, n=20_000)
    tokens = block["tokens"].astype(int)
    keys, first = tokens[:, :4:2], tokens[:, 5]  # behind the first slot's own place
    assert not (first[:, None] == keys).any()
    free = collections.Counter(first.tolist())
    # Every token is there but two of the nine keys; a key gives way if it has been there already.
    assert set(free) == set(range(1, 21))
    assert_uniform([one for one in first.tolist() if one > 10], range(11, 21))
    for row in tokens[:500]:
        others = [one for one in row[4:] if 2 <= one <= 10 and one not in row[:4:2]]
        assert len(set(others)) == len(others)


def test_fillers_do_not_decide_pairs_and_questions():
    """The same draws give the same pairs and slots, whatever stands elsewhere."""
    blank, random = (
        AssociativeRecall(parameters={"filler": filler}) for filler in ("blank", "random")
    )
    bucket = blank.split("train").buckets[0]
    one, other = (
        task.propose(Draws({"same": 1}), 50, task.split("train"), bucket)
        for task in (blank, random)
    )
    assert blank.render(one)["label"].tolist() == random.render(other)["label"].tolist()


# Sizes.


def test_test_has_every_length_with_every_number_of_pairs_that_fits():
    train, iid, validation, test = AssociativeRecall().splits
    assert (train.rows, iid.rows, validation.rows, test.rows) == (100_000, 3_000, 3_000, 4_000)
    assert train.buckets == iid.buckets == validation.buckets == (64_004,)
    labels = [AssociativeRecall().bucket_label(bucket) for bucket in test.buckets]
    assert labels == [
        "8 in 64", "16 in 64", "4 in 128", "8 in 128", "16 in 128", "4 in 256", "8 in 256",
        "16 in 256",
    ]  # fmt: skip
    small = AssociativeRecall(parameters={"test_lengths": [64, 32], "test_pairs": [4, 9]})
    assert small.split("test").buckets == (64_009, 32_004)


def test_the_levels_have_the_sizes_of_the_papers_figure():
    sizes = [
        (task.parameters.length, task.parameters.pairs)
        for task in (make_task("mqar", level=level) for level in AssociativeRecall.levels)
    ]
    assert sizes == [((64,), (4,)), ((128,), (8,)), ((256,), (16,)), ((512,), (64,))]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pairs": 17}, "pairs=17: 64 places allow 2 to 16"),
        ({"pairs": 1}, "pairs=1: allowed are 2 to 512"),
        ({"length": 63}, "length=63: allowed are even numbers, such as 64"),
        ({"test_lengths": [64, 65]}, "test_lengths=65: allowed are even numbers, such as 66"),
        ({"vocabulary": 8191}, "vocabulary=8191: allowed are even numbers, such as 8192"),
        ({"vocabulary": 16}, "test_pairs=16: 16 tokens have 7 keys"),
        ({"test_lengths": [64], "test_pairs": [4, 17]}, "test_pairs=4,17: test has no size but"),
        ({"gaps": "powr"}, "value of gaps 'powr'.*Did you mean 'power'"),
    ],
)
def test_impossible_parameters_are_refused(parameters, message):
    with pytest.raises((ParameterError, synthbench.errors.UsageError), match=message):
        AssociativeRecall(parameters=parameters)


# What is held out.


def test_rows_of_the_same_pairs_are_held_out_together():
    texts = [
        ROW,
        "k2 v7 k5 v9 k5 blank k2 blank",
        "k5 v9 k2 v7 v1 v2 k5 v3 k2 k3",
    ]
    for vocabulary in (20, 8192):
        task, block = of_texts(*texts, **{**SMALL, "vocabulary": vocabulary})
        problem = task.problem(block)
        assert len(set(problem.tolist())) == 1
        assert len(set(ids(task, block))) == 3
        _, other = of_texts("k5 v7 k2 v9 k5 blank k2 blank", **{**SMALL, "vocabulary": vocabulary})
        assert task.problem(other)[0] != problem[0]


def test_an_id_does_not_depend_on_the_size_of_the_vocabulary():
    small, few = of_texts(ROW, vocabulary=64)
    large, many = of_texts(ROW, vocabulary=8192)
    assert ids(small, few) == ids(large, many)


def test_an_eighth_of_rows_is_held_out_and_splits_have_only_their_side():
    task = AssociativeRecall()
    held_out = are_held_out(fingerprints(task, propose(task, n=20_000)))
    assert 0.11 < held_out.mean() < 0.14
    drawn = draw_splits(task, 60)
    for name, rows in drawn.items():
        assert are_held_out(rows.fingerprints).all() == (name != "train")
    pairs = [set(task.problem(drawn[name].block).tolist()) for name in ("iid", "validation")]
    assert not pairs[0] & pairs[1]


# What is refused.


BAD_TEXT = [
    "", "blank", "k1 v1", "k1 v1 k1", "k1 v1 blank k1", "k1 k2 k1 blank", "v1 k1 k1 blank",
    "k1 v1 k1 blank k1 blank", "k1 v1 blank blank k2 v2 k1 blank k2 blank",
    "k1 v1 k1 blank k9999 blank", "k1 v1 k1 _", "k0 v1 k0 blank", "k1 v0 k1 blank",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_TEXT)
def test_text_that_is_no_row_is_refused(text):
    task = AssociativeRecall()
    with pytest.raises(ValueError, match=r"expected pairs of a key and a value.*[;.] [gG]ot"):
        task.solve(text)
    for column in ([text], [ROW, text], [text, ROW]):
        with pytest.raises(ValueError, match=r"mqar: not every row|not a token|no tokens"):
            task.parse({"text": pa.array(column)})


# Forms, scoring, people, audits.


def test_as_tokens_every_asked_key_has_its_value_and_no_other_place_has_a_label():
    task, block = of_texts(ROW, vocabulary=64)
    form = form_of(task)
    assert form.name == "token-classification"
    batch = form.batch(form.read(block))
    asked = [form.output_tokens[one] for one in batch["labels"][0] if one >= 0]
    assert asked == ["v7", "v9"]
    assert (batch["labels"][0] >= 0).nonzero()[0].tolist() == [6, 8]


def test_what_an_answer_has_at_places_that_nobody_asks_does_not_count():
    task = AssociativeRecall()
    row = {"label": ANSWER}
    assert task.score(row, ANSWER.replace("_", "v1")) == 1.0
    assert task.measure(row, ANSWER.replace("v7", "v8")) == {
        "exact_match": 0.0,
        "position_accuracy": 0.5,
    }


def test_a_row_is_drawn_with_its_questions():
    drawn = draw_row(AssociativeRecall(), {"text": ROW})
    assert str(drawn).splitlines() == [
        "2 pairs in 12 places:   k5 v9   k2 v7",
        "place    7   k2  ->  v7",
        "place    9   k5  ->  v9",
    ]


def test_the_audit_guesses_without_a_look_at_the_key():
    task = AssociativeRecall()
    columns = {"text": pa.array([ROW])}
    guessed = {
        one.name: [word for word in one.fit(columns)(columns)[0] if word != "_"]
        for one in audit_spec_of(task).shortcuts
    }
    assert guessed == {
        "value of the first pair": ["v9", "v9"],
        "value of the last pair": ["v7", "v7"],
        "order of presentation": ["v9", "v7"],
        "opposite order": ["v7", "v9"],
        "answer to the key asked before": ["v7", "v7"],
    }
    assert audit_spec_of(task).distributions["slots of questions"](columns) == [1, 2]
    assert np.array_equal(
        audit_spec_of(task).near_duplicate_keys["the same pairs"](columns),
        task.problem(task.parse(columns)),
    )
