"""The fifteen functions of strings: their rules, how strings are drawn, and what is held out."""

import collections
import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.chomsky.task import FUNCTIONS, Chomsky
from synthbench.tasks.row_ids import are_held_out, fingerprints
from tests.support import draw_splits
from tests.tasks.agreement import assert_drawn_from, assert_uniform
from tests.tasks.blocks import assert_sound, ids, propose, rows_of

VARIANTS = tuple(FUNCTIONS)
every_variant = pytest.mark.parametrize("variant", VARIANTS)
#: Variants in which the paper and its program differ.
DISPUTED = ("modular-arithmetic-simple", "odds-first", "compute-sqrt")


def program(variant):
    return Chomsky(variant, {"reading": "program"})


def drawn(variant, length, n=20, **chosen):
    """Random strings of one length, whether or not a split has them."""
    task = Chomsky(variant, chosen)
    return task, task.propose(Draws({"length": length}), n, task.split("train"), length)


def texts(variant, length, n):
    task, block = drawn(variant, length, n)
    return [row["text"] for row in rows_of(task, block)]


# The rules.


@pytest.mark.parametrize(
    ("variant", "text", "answer"),
    [
        ("even-pairs", "0 1 1 0", "0"), ("even-pairs", "0 1 0 1", "1"), ("even-pairs", "1", "0"),
        ("modular-arithmetic-simple", "1 + 2 * 3", "4"),
        ("modular-arithmetic-simple", "2 - 4 * 2 * 2", "2"),
        ("modular-arithmetic-simple", "4", "4"),
        ("parity-check", "0 1 1 0 1", "1"), ("parity-check", "0", "0"),
        ("cycle-navigation", "- 0 -", "3"), ("cycle-navigation", "+ + + + +", "0"),
        ("stack-manipulation", "0 1 pop push1 push0", "0 1 0 end _ _"),
        ("stack-manipulation", "1 pop pop pop push0", "0 end _ _ _ _"),
        ("stack-manipulation", "1 pop", "end _ _"), ("stack-manipulation", "1", "1 end"),
        ("reverse-string", "0 0 1 0", "0 1 0 0"),
        ("modular-arithmetic-brackets", "( ( 2 * 4 ) - 1 )", "2"),
        ("modular-arithmetic-brackets", "( 3 - - 2 )", "0"),
        ("modular-arithmetic-brackets", "( 3 * ( - 2 ) )", "4"),
        ("modular-arithmetic-brackets", "- 1", "4"), ("modular-arithmetic-brackets", "( 3 )", "3"),
        ("solve-equation", "( 3 - x ) = 4", "4"), ("solve-equation", "( - x ) = 1", "4"),
        ("solve-equation", "( ( x + 1 ) - - 2 ) = 0", "2"), ("solve-equation", "x = 3", "3"),
        ("duplicate-string", "0 1 1", "0 1 1 0 1 1"),
        ("missing-duplicate", "0 1 1 0 ? 1", "1"), ("missing-duplicate", "? 0 #", "0"),
        ("odds-first", "1 0 0 1 1 1 0", "1 0 1 0 0 1 1"), ("odds-first", "1", "1"),
        ("binary-addition", "1 1 plus 0 1 1", "1 0 0 1 end _ _"),
        ("binary-addition", "0 plus 0", "0 end _ _"),
        ("binary-addition", "1 plus 1 1 1", "0 0 0 1 end _"),
        ("binary-multiplication", "1 1 times 0 1 1", "0 1 0 0 1 end"),
        ("binary-multiplication", "0 0 times 1", "0 end _ _"),
        ("compute-sqrt", "0 1 0 0 1", "0 0 1"), ("compute-sqrt", "1 1 1 1", "1 1"),
        ("compute-sqrt", "0", "0"),
        ("bucket-sort", "3 0 4 0 1", "0 0 1 3 4"),
    ],
)  # fmt: skip
def test_answers_by_hand(variant, text, answer):
    task = Chomsky(variant)
    assert " ".join(task.solve(text)) == answer
    (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
    assert row == {"text": text, "label": answer, "length": len(text.split())}
    assert task.recompute_columns(row) == {"label": answer, "length": len(text.split())}


@pytest.mark.parametrize(
    ("variant", "text", "answer"),
    [
        ("modular-arithmetic-simple", "1 + 2 * 3", "2"),
        ("modular-arithmetic-simple", "2 - 4 * 2 * 2", "1"),
        ("modular-arithmetic-simple", "2 * 3 - 4 + 1 * 2", "4"),
        ("odds-first", "1 0 0 1 1 1 0", "0 1 1 1 0 1 0"),
        ("compute-sqrt", "1 0 0 1 0", "1 0 0"), ("compute-sqrt", "0 1 0 0", "1 0"),
    ],
)  # fmt: skip
def test_answers_as_the_published_program_gives_them(variant, text, answer):
    task = program(variant)
    assert " ".join(task.solve(text)) == answer
    (row,) = rows_of(task, task.parse({"text": pa.array([text])}))
    assert row["label"] == answer


@given(st.sampled_from(VARIANTS), st.integers(1, 90), st.integers(0, 3), st.booleans())
@settings(max_examples=150)
@example("solve-equation", 500, 0, False)
@example("modular-arithmetic-brackets", 500, 0, False)
@example("binary-multiplication", 500, 0, False)
def test_rows_of_any_length_are_sound(variant, length, block, published):
    task = Chomsky(variant, {"reading": "program" if published else "paper"})
    function = task.function
    length = max(length - (length - function.shortest) % function.step, function.shortest)
    proposed = task.propose(Draws({"b": block}, block), 6, task.split("train"), length)
    rows = assert_sound(task, proposed)
    assert {row["length"] for row in rows} == {length}


def test_strings_of_many_lengths_are_answered_together():
    for variant in VARIANTS:
        task = Chomsky(variant)
        rows = draw_splits(task, 45, "iid")["iid"].block
        assert len(set(np.count_nonzero(rows["tokens"], axis=1))) > 15
        assert_sound(task, rows)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.data())
def test_readings_agree_where_nothing_is_disputed(digits, data):
    variant = data.draw(st.sampled_from([one for one in VARIANTS if one not in DISPUTED]))
    assert not Chomsky(variant).function.program_asked
    text = texts(variant, max(3, len(digits)), 1)[0]
    assert Chomsky(variant).solve(text) == program(variant).solve(text)


def test_both_readings_have_the_same_strings_and_ids():
    for variant in DISPUTED:
        one, other = (
            draw_splits(task, 30, "iid")["iid"] for task in (Chomsky(variant), program(variant))
        )
        assert one.fingerprints.tolist() == other.fingerprints.tolist()
        assert (one.block["tokens"] == other.block["tokens"]).all()
    assert Chomsky("odds-first") != program("odds-first")


# How strings are drawn.


@pytest.mark.parametrize(
    "variant",
    ["even-pairs", "modular-arithmetic-simple", "parity-check", "cycle-navigation",
     "reverse-string", "duplicate-string", "missing-duplicate", "odds-first", "compute-sqrt",
     "bucket-sort"],
)  # fmt: skip
def test_all_strings_of_a_length_are_equally_likely(variant):
    length = 4 if variant == "missing-duplicate" else 3
    task = Chomsky(variant)
    listed = rows_of(task, task.enumerate_rows(task.split("train"), length))
    assert_uniform(texts(variant, length, 12_000), {row["text"] for row in listed})


def test_the_sizes_of_a_stack_and_of_the_first_number_are_uniform():
    stacks = [
        sum(len(word) == 1 for word in text.split())
        for text in texts("stack-manipulation", 6, 6_000)
    ]
    assert_uniform(stacks, range(1, 6))
    for variant, sign in (("binary-addition", "plus"), ("binary-multiplication", "times")):
        assert_uniform([text.split().index(sign) for text in texts(variant, 6, 6_000)], range(1, 5))


def chances_of_expressions(length, operators):
    """The chance of each expression, by the grammar."""
    if length < 5:
        forms = {1: "{}", 2: "-{}", 3: "({})", 4: "(-{})"}
        return {forms[length].format(digit): 0.2 for digit in range(5)}
    chances = collections.Counter()
    for left in range(1, length - 3):
        one, other = (chances_of_expressions(part, operators) for part in (left, length - 3 - left))
        for (a, p), sign, (b, q) in itertools.product(one.items(), operators, other.items()):
            chances[f"({a}{sign}{b})"] += p * q / len(operators) / (length - 4)
    return chances


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 6, 8])
def test_expressions_are_drawn_by_the_grammar(length):
    found = [text.replace(" ", "") for text in texts("modular-arithmetic-brackets", length, 30_000)]
    assert_drawn_from(collections.Counter(found), chances_of_expressions(length, "+-*"))


def test_any_digit_of_an_equation_may_be_hidden():
    """Not the more often for standing behind many brackets and signs."""
    for length, places in ((7, (1, 3)), (10, (2, 5))):  # (d+d)=d and (-d+(d))=d among others
        rows = [text.split() for text in texts("solve-equation", length, 20_000)]
        alike = [x.index("x") for x in rows if length == 7 or (x[1] == "-" and x[4] == "(")]
        assert_uniform(alike, places)


@every_variant
def test_a_short_length_that_is_counted_has_all_its_strings(variant):
    task = Chomsky(variant)
    train = task.split("train")
    seen = 0
    for length in train.buckets:
        count = task.capacity(train, length)
        if count is None or count > 3_000:
            break
        listed = task.enumerate_rows(train, length)
        prints = set(fingerprints(task, listed).tolist())
        assert len(listed) == len(prints) == count
        assert set(fingerprints(task, propose(task, n=400, bucket=length)).tolist()) <= prints
        seen += 1
    assert seen >= 3


# Lengths.


@every_variant
def test_train_has_lengths_to_40_and_test_from_41_to_500(variant):
    train, iid, test = Chomsky(variant).splits
    lacking = {"solve-equation": 2, "binary-addition": 2, "binary-multiplication": 2,
               "missing-duplicate": 1}.get(variant, 0)  # fmt: skip
    if variant == "modular-arithmetic-simple":
        assert train.buckets == iid.buckets == tuple(range(1, 40, 2))
        assert test.buckets == (*range(41, 500, 10), 499)
    else:
        assert train.buckets == iid.buckets == tuple(range(1 + lacking, 41))
        assert test.buckets == (*range(41, 500, 10), 500)
    assert (train.rows, iid.rows, test.rows) == (200_000, 4_000, 4_700)


@pytest.mark.parametrize(
    ("variant", "parameters", "message"),
    [
        ("solve-equation", {"train_lengths": [1, 2]}, "=2: strings of solve-equation have 3"),
        ("missing-duplicate", {"test_lengths": [1]}, "=1: strings of missing-duplicate have 2"),
        ("even-pairs", {"test_lengths": [1001]}, "=1001: allowed are different lengths from 1"),
        ("even-pairs", {"reading": "papers"}, "value of reading 'papers'.*Did you mean 'paper'"),
    ],
)  # fmt: skip
def test_impossible_parameters_are_refused(variant, parameters, message):
    with pytest.raises((ParameterError, synthbench.errors.UsageError), match=message):
        Chomsky(variant, parameters)


# What is held out.


def test_a_string_has_one_id_and_is_held_out_in_all_variants_or_in_none():
    for first, second in itertools.combinations(VARIANTS, 2):
        shared = set(Chomsky(first).tokens) & set(Chomsky(second).tokens) & {"0", "1"}
        if len(shared) < 2:
            continue
        found = []
        for variant in (first, second):
            task = Chomsky(variant)
            try:
                [task.solve(text) for text in ("0 1 1 0 1", "1")]
            except ValueError:
                break
            found.append(
                fingerprints(task, task.parse({"text": pa.array(["0 1 1 0 1", "1"])})).tolist()
            )
        assert len(found) < 2 or found[0] == found[1]


@every_variant
def test_a_row_is_held_out_as_its_split_says_also_for_somebody_who_knows_no_variant(variant):
    task = Chomsky(variant, {"test_lengths": [41, 60]})
    for name, rows in draw_splits(task, 30).items():
        held_out = are_held_out(rows.fingerprints)
        assert set(held_out.tolist()) == {name != "train"}
        for text, there in zip(
            task.rendered(rows.block)["text"].to_pylist(), held_out, strict=True
        ):
            assert synthbench.is_held_out("chomsky", text) == there


@given(st.lists(st.integers(0, 1), min_size=1), st.lists(st.integers(0, 1), min_size=1))
def test_both_orders_of_two_numbers_are_held_out_together(one, other):
    for variant, sign in (("binary-addition", "plus"), ("binary-multiplication", "times")):
        task = Chomsky(variant)
        pair = [" ".join(map(str, (*a, sign, *b))) for a, b in ((one, other), (other, one))]
        block = task.parse({"text": pa.array(pair)})
        first, second = task.problem(block).tolist()
        assert first == second
        assert (len(set(ids(task, block))) == 1) == (one == other)


def test_an_odd_string_with_a_hidden_digit_is_held_out_as_without_its_last_sign():
    task = Chomsky("missing-duplicate")
    block = task.parse({"text": pa.array(["0 ? 0 1", "0 ? 0 1 #", "? 1 0 1 #"])})
    first, second, third = task.problem(block).tolist()
    assert first == second != third
    assert len(set(ids(task, block))) == 3


# What is refused.


@pytest.mark.parametrize(
    ("variant", "wrong"),
    [
        ("even-pairs", ["", "2", "0 a", "01"]),
        ("modular-arithmetic-simple", ["1 +", "1 2", "+ 1", "5", "1 - - 1"]),
        ("cycle-navigation", ["1", "+ -1"]),
        ("stack-manipulation", ["pop", "push0 1", "1 pop 0", "1 p", "1 push2"]),
        ("modular-arithmetic-brackets", ["1 + 1", "( 1 + 1", "( ( 1 ) )", "( )", "5", "- - 1"]),
        ("solve-equation", ["x", "x = x", "1 = 1", "( x + x ) = 1", "( x * 2 ) = 1", "x + 1 = 2"]),
        ("missing-duplicate", ["?", "? 1 1", "0 1 ? 0", "? ?", "0 0", "? 1 # #"]),
        ("binary-addition", ["1 0", "plus 1", "1 plus", "1 plus 1 plus 1", "1 times 1", "1 & 1"]),
        ("binary-multiplication", ["1 plus 1", "times", "1 @ 1"]),
        ("bucket-sort", ["5", "0 1 x"]),
    ],
)  # fmt: skip
def test_the_solver_refuses_what_is_no_string_of_the_variant(variant, wrong):
    for text in wrong:
        with pytest.raises(ValueError, match=f"is not a string of {variant}"):
            Chomsky(variant).solve(text)
