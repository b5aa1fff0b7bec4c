"""Addition and multiplication: digits, carries, positions, numbers as people write them."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench import llm
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.addition import digits
from synthbench.tasks.addition.ids import numbers
from synthbench.tasks.addition.task import Addition
from synthbench.tasks.describe import draw_row
from synthbench.tasks.forms import form_of
from synthbench.tasks.row_ids import are_held_out, fingerprints
from tests.support import draw_splits
from tests.tasks.agreement import assert_drawn_from, assert_uniform
from tests.tasks.blocks import assert_sound, ids, propose, propose_all, rows_of

VARIANTS = ("addition", "multiplication")
SMALL = {"train_digits": 3, "test_digits": [2, 4, 9]}
whole = st.integers(0, 10**12) | st.integers(0, 99)


def of_texts(*texts, variant="addition", **parameters):
    task = Addition(variant, parameters)
    return task, task.parse({"text": pa.array(texts)})


def spaced(number):
    return " ".join(str(number))


# The rule.


def test_the_sum_of_two_numbers_in_every_way_of_writing_it():
    for chosen, text, label in (
        ({}, "7 + 9 5 =", "1 0 2"),
        ({"order": "reversed"}, "7 + 9 5 =", "2 0 1"),
        ({"zero_padding": True}, "0 7 + 9 5 =", "1 0 2"),
        ({"zero_padding": True}, "0 7 + 1 5 =", "0 2 2"),
        ({"zero_padding": True, "order": "reversed"}, "0 7 + 1 5 =", "2 2 0"),
    ):
        task, block = of_texts(text, **chosen)
        (row,) = rows_of(task, block)
        assert row == {"text": text, "label": label, "digits_a": 1, "digits_b": 2}
        assert task.solve(text) == label
        assert task.recompute_columns(row) == {"label": label, "digits_a": 1, "digits_b": 2}


def test_only_the_answers_of_products_are_padded():
    for chosen, text, label in (
        ({}, "7 * 9 5 =", "6 6 5"),
        ({"zero_padding": True}, "7 * 1 2 =", "0 8 4"),
        ({"zero_padding": True, "order": "reversed"}, "0 * 1 2 =", "0 0 0"),
    ):
        task, block = of_texts(text, variant="multiplication", **chosen)
        (row,) = rows_of(task, block)
        assert (row["label"], task.solve(text)) == (label, label)


@settings(max_examples=30)
@given(whole, whole)
def test_columns_are_those_of_pythons_whole_numbers(a, b):
    for variant, sign, result in (("addition", "+", a + b), ("multiplication", "*", a * b)):
        text = f"{spaced(a)} {sign} {spaced(b)} ="
        task, block = of_texts(text, f"1 0 0 {sign} 0 =", variant=variant)
        row = rows_of(task, block)[0]
        assert row["label"] == spaced(result) == task.solve(text)
        assert (row["digits_a"], row["digits_b"]) == (len(str(a)), len(str(b)))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("order", ["plain", "reversed"])
@pytest.mark.parametrize("zero_padding", [False, True])
def test_rows_of_all_buckets_are_sound(variant, order, zero_padding):
    task = Addition(variant, {**SMALL, "order": order, "zero_padding": zero_padding})
    for split in ("train", "test"):
        block = propose_all(task, split, 15)
        assert_sound(task, block)
        asked = np.repeat(task.split(split).buckets, 15)
        assert task.buckets(task.rendered(block)).tolist() == asked.tolist()


def test_the_longest_numbers_are_added_and_longer_ones_refused():
    task = Addition(parameters={"train_digits": 1, "test_digits": [500]})
    assert_sound(task, propose(task, "test", 3))
    text = f"{spaced('9' * 501)} + 1 ="
    with pytest.raises(ValueError, match="at most 500 digits"):
        task.solve(text)
    with pytest.raises(ValueError, match=r"addition: not every row is 'a . b ='"):
        task.parse({"text": pa.array([text])})


# How rows are drawn.


def test_every_number_of_carries_is_equally_frequent():
    task = Addition()
    for places_a, places_b in ((5, 5), (8, 2), (3, 7), (1, 1), (10, 10), (1, 2)):
        block = propose(task, "train", 4_000, 1_000 * places_a + places_b)
        shorter = min(places_a, places_b)
        a, b = (one[:, :shorter] for one in numbers(block["tokens"]))
        assert_uniform(digits.carries(a, b).tolist(), range(shorter + 1))


def test_pairs_with_equally_many_carries_are_equally_likely():
    n = 120_000
    for places, possible in (((2, 1), range(2)), ((2, 2), range(3))):
        a, b = digits.draw_pairs(Draws({"test": places}), n, *places)
        pairs = zip((a @ [1, 10]).tolist(), (b @ [1, 10][: places[1]]).tolist(), strict=True)
        groups = {count: {} for count in possible}
        every = range(10), range(10, 100)
        for x, y in itertools.product(every[places[0] - 1], every[places[1] - 1]):
            count = int(x % 10 + y % 10 > 9) + int(places[1] > 1 and x + y > 99)
            groups[count][x, y] = 0
        of_pair = {pair: count for count, group in groups.items() for pair in group}
        for pair in pairs:
            groups[of_pair[pair]][pair] += 1
        for group in groups.values():
            assert_drawn_from(group, dict.fromkeys(group, 1 / len(group)))
        counts = {count: sum(group.values()) for count, group in groups.items()}
        assert_drawn_from(counts, dict.fromkeys(possible, 1 / len(possible)))


def test_further_digits_of_the_longer_number_are_uniform():
    a, b = digits.draw_pairs(Draws({"test": 2}), 9_000, 2, 5)
    assert (a.shape, b.shape) == ((9_000, 2), (9_000, 5))
    for place, possible in ((2, range(10)), (3, range(10)), (4, range(1, 10))):
        assert_uniform(b[:, place].tolist(), possible)


def test_numbers_of_products_are_uniform_and_have_no_zero_in_front():
    for places, first in ((1, range(10)), (3, range(1, 10))):
        drawn = digits.draw_numbers(Draws({"test": places}), 9_000, places)
        assert set(drawn[:, -1].tolist()) == set(first)
        assert_uniform(drawn[:, -1].tolist(), first)


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_rows_of_short_numbers_are_listed(variant):
    task = Addition(variant)
    split = task.split("train")
    listed = rows_of(task, task.enumerate_rows(split, 1002))
    texts = {row["text"] for row in listed}
    sign = "+" if variant == "addition" else "*"
    assert texts == {f"{a} {sign} {spaced(b)} =" for a in range(10) for b in range(10, 100)}
    assert len(listed) == task.capacity(split, 1002)


def test_test_asks_every_pair_of_its_digits_that_train_lacks():
    task = Addition(parameters=SMALL)
    labels = [task.bucket_label(one) for one in task.split("test").buckets]
    assert labels == ["2 x 4", "2 x 9", "4 x 2", "4 x 4", "4 x 9", "9 x 2", "9 x 4", "9 x 9"]
    assert task.split("iid").buckets == task.split("train").buckets


# Ids.


def test_exchanged_numbers_are_one_problem_and_an_eighth_is_held_out():
    task, block = of_texts("3 8 + 9 5 =", "9 5 + 3 8 =", "3 8 + 9 6 =")
    one, exchanged, other = task.problem(block).tolist()
    assert one == exchanged != other
    assert len(set(ids(task, block))) == 3
    drawn = draw_splits(Addition(parameters=SMALL), 200)
    for name, rows in drawn.items():
        assert are_held_out(rows.fingerprints).all() == (name != "train")
    problems = [set(task.problem(drawn[name].block).tolist()) for name in ("train", "iid")]
    assert not problems[0] & problems[1]
    held_out = are_held_out(fingerprints(task, propose(task, n=20_000, bucket=9009)))
    assert 0.11 < held_out.mean() < 0.14


def test_ids_depend_on_the_numbers_and_the_variant_alone():
    _, plain = of_texts("7 + 9 5 =")
    named = [
        ids(Addition(parameters=chosen), of_texts(text, **chosen)[1])
        for chosen, text in (
            ({"order": "reversed"}, "7 + 9 5 ="),
            ({"zero_padding": True}, "0 7 + 9 5 ="),
            ({"train_digits": 2}, "7 + 9 5 ="),
        )
    ]
    assert named == [ids(Addition(), plain)] * 3
    product, block = of_texts("7 * 9 5 =", variant="multiplication")
    assert ids(product, block) not in named


# What is refused.


@pytest.mark.parametrize(
    "text",
    ["", "3", "3 + 4", "+ 4 =", "3 + =", "3 + 4 = 7", "3 + 4 + 5 =", "3 * 4 =", "0 3 + 4 =",
     "3 + 0 0 =", "3 - 4 =", "38 + 95 =", "= 3 + 4", "3 4 =", "3 = 4 +"],
)  # fmt: skip
def test_text_that_is_no_row_is_refused(text):
    task = Addition()
    with pytest.raises(ValueError, match=r"expected two numbers .*; got|expected two .*, got"):
        task.solve(text)
    for column in ([text], ["3 + 4 =", text], [text, "1 2 + 3 4 ="]):
        with pytest.raises(ValueError, match=r"addition: not every row|not a token|no tokens"):
            task.parse({"text": pa.array(column)})


def test_padded_rows_have_the_zeros_of_the_longer_number_and_no_more():
    task = Addition(parameters={"zero_padding": True})
    for text in ("7 + 9 5 =", "0 7 + 0 5 =", "0 0 7 + 9 5 ="):
        with pytest.raises(ValueError, match="padded with zeros"):
            task.solve(text)
        with pytest.raises(ValueError, match="not every row"):
            task.parse({"text": pa.array([text])})


def test_test_must_ask_for_more_digits_than_train():
    with pytest.raises(ParameterError, match=r"test_digits=1,5: .* train_digits, such as 6\.$"):
        Addition(parameters={"train_digits": 5, "test_digits": "1,5"})
    with pytest.raises(ParameterError, match="allowed are 1 to 500"):
        Addition(parameters={"train_digits": 501})


# Positions.


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("zero_padding", [False, True])
def test_digits_of_one_weight_have_one_position_in_question_and_answer(variant, zero_padding):
    chosen = {**SMALL, "order": "reversed", "zero_padding": zero_padding}
    task = Addition(variant, chosen)
    block = propose_all(task, "test", 10)
    most, starts = 0, set()
    for name in ("causal-lm", "masked-lm"):
        form = form_of(task, name)
        batch = form.batch(form.read(block))
        rows = zip(batch["input_ids"], batch["position_ids"], rows_of(task, block), strict=True)
        for ids_, positions, row in rows:
            words = [form.input_tokens[one] for one in ids_ if one]
            at = dict(enumerate(positions.tolist()))
            sign, equals = words.index("+" if variant == "addition" else "*"), words.index("=")
            start = at[sign]
            assert at[equals] == start >= 1
            for end, first in ((sign, 0), (equals, sign + 1)):
                found = [at[place] for place in range(first, end)]
                assert found == [start + 1 + weight for weight in reversed(range(end - first))]
            begin = equals + 1
            if name == "causal-lm":
                assert (words[begin], at[begin]) == ("<separator>", start)
                begin += 1
            answer = len(row["label"].split())
            found = [at[begin + weight] for weight in range(answer)]
            assert found == [start + 1 + weight for weight in range(answer)]
            most, starts = max(most, *positions.tolist()), {*starts, start}
    longest = 10 if variant == "addition" else 18
    assert most <= longest + 2
    assert len(starts) > 5


def test_the_start_of_positions_depends_on_the_row_alone_and_leaves_room_for_the_longest():
    task = Addition(parameters={"order": "reversed"})
    block = propose(task, "train", 4_000, 5005)
    start = task.position_ids(block)[:, -1]
    assert_uniform(start.tolist(), range(1, 27))  # the longest answer has 31 digits, these 6
    again = task.position_ids(block.take(slice(100, 200)))
    assert again.tolist() == task.position_ids(block)[100:200].tolist()
    assert set(task.position_ids(propose(task, "test", 50, 30030))[:, -1].tolist()) == {1}


def test_the_usual_order_has_no_positions_as_they_would_tell_the_answers_length():
    task, block = of_texts("3 8 + 9 5 =", zero_padding=True)
    assert task.position_ids(block) is None
    form = form_of(task, "causal-lm")
    assert "position_ids" not in form.batch(form.read(block))


# People, language models, audits.


def test_answers_are_read_as_people_write_numbers():
    task, row = Addition(), {"text": "9 9 9 + 1 3 4 =", "label": "1 1 3 3"}
    right = ["1 1 3 3", "1133", "1,133", "1 133", "1'133", "1_133", "1\u202f133", " 1133 ", 1133,
             1133.0, [1, 1, 3, 3], list("1133"), np.array([1, 1, 3, 3])]  # fmt: skip
    for answer in right:
        assert task.score(row, answer) == 1.0, answer
    assert task.score({**row, "label": spaced(1_133_000)}, "1,133,000") == 1.0
    for answer in ("11,33", "1,1,3,3", "1.133", "-1133", "one", "1133 or 1134", "11 33", ""):
        assert task.read_answer(row, answer) is None, answer
    assert task.score(row, "1134") == task.score(row, "133") == 0.0
    assert task.measure(row, "1 1 3 4")["position_accuracy"] == 0.75


def test_prompts_have_numbers_as_people_write_them():
    task = synthbench.task("addition", level="easy")
    rows = llm.prompts(task, limit=5, shots=2)
    for row in rows:
        asked = row["text"].replace(" ", "").replace("+", " + ").replace("=", " =")
        assert row["prompt"][-1]["content"] == asked
        assert row["answer"] == row["label"].replace(" ", "")
        assert not any(" 1 " in turn["content"] for turn in row["prompt"][1::2])
        for said in ("{}", "The answer is {}.", "So\n**{}**", "\\boxed{{{}}}", "Answer: {}"):
            for answer in (row["answer"], f"{int(row['answer']):,}"):
                assert llm.score(task, row, said.format(answer)) == 1.0
        assert llm.score(task, row, f"Answer: {int(row['answer']) + 1}") == 0.0


def test_instructions_say_how_the_answer_is_written():
    for variant, noun in (("addition", "sum"), ("multiplication", "product")):
        assert f"their {noun}." in Addition(variant).instruction
        reversed_ = Addition(variant, {"order": "reversed", "zero_padding": True})
        assert "least significant digit comes first" in reversed_.instruction
        assert "zeros in front" in reversed_.instruction


def test_a_row_is_drawn_as_at_school():
    task = Addition()
    assert str(draw_row(task, {"text": "9 0 7 + 9 5 =", "label": "1 0 0 2"})).splitlines() == [
        "111",
        " 907",
        "+ 95",
        "----",
        "1002",
    ]
    turned = Addition("multiplication", {"order": "reversed"})
    assert str(draw_row(turned, {"text": "7 * 5 =", "label": "5 3"})).splitlines() == [
        "  7",
        "* 5",
        "---",
        " 35",
        "answer, the least significant digit first: 53",
    ]


def test_the_audit_guesses_from_one_number_and_without_carries():
    for chosen, label in (({}, "{}"), ({"order": "reversed"}, "reversed")):
        task, block = of_texts("9 0 7 + 9 5 =", "5 + 1 2 =", **chosen)
        columns = task.rendered(block)
        spec = audit_spec_of(task)
        guessed = {
            one.name: [
                "".join(reversed(text) if chosen else text).replace(" ", "")
                for text in one.fit(columns)(columns)
            ]
            for one in spec.shortcuts
        }
        assert guessed == {
            "copy of the longer number": ["907", "12"],
            "last digit": ["902", "17"],
            "no carries": ["992", "17"],
        }, label
        assert spec.distributions["number of carries"](columns).tolist() == [3, 0]
        assert spec.distributions["last digit of the answer"](columns) == ["2", "7"]
        assert spec.levels.of(columns).tolist() == [3, 2]


def test_reports_have_a_table_of_digits_by_digits():
    task = Addition(parameters=SMALL)
    rows = rows_of(task, propose_all(task, "test", 3))
    answers = [row["label"] if row["digits_a"] < 9 else "0" for row in rows]
    report = synthbench.evaluate(rows, answers, task)
    grid = report.by["digits_a x digits_b"]
    assert list(grid) == ["2 x 4", "2 x 9", "4 x 2", "4 x 4", "4 x 9", "9 x 2", "9 x 4", "9 x 9"]
    assert [score.accuracy for score in grid.values()] == [1.0] * 5 + [0.0] * 3
    assert report.by["digits_b"][9].rows == 9
    assert "9 x 4" in str(report)
