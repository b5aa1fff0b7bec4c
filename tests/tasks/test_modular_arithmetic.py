"""Modular arithmetic: all equations of five operations, their answers, and what is held out."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.tasks.describe import draw_row
from synthbench.tasks.modular_arithmetic.task import ModularArithmetic
from synthbench.tasks.row_ids import are_held_out, fingerprints
from tests.support import draw_splits, id_texts
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import assert_sound, ids, propose, rows_of

VARIANTS = tuple(ModularArithmetic.variants)
COMMUTING = ("add", "multiply", "sum-of-squares")
PRIMES = (7, 11, 13, 23, 97, 251, 257, 997)


@st.composite
def tasks(draw):
    variant = draw(st.sampled_from(VARIANTS))
    moduli = st.sampled_from(PRIMES) if variant == "divide" else st.integers(7, 1000)
    return ModularArithmetic(variant, {"modulus": draw(moduli)})


def every_row(variant, modulus=97):
    task = ModularArithmetic(variant, {"modulus": modulus})
    return task, task.enumerate_rows(task.split("train"), 0)


# The rule.


@pytest.mark.parametrize(
    ("variant", "text", "answer"),
    [
        ("add", "50 + 60 =", 13), ("add", "0 + 0 =", 0), ("add", "96 + 1 =", 0),
        ("subtract", "5 - 7 =", 95), ("subtract", "7 - 5 =", 2),
        ("multiply", "96 * 96 =", 1), ("multiply", "0 * 5 =", 0),
        ("divide", "5 / 2 =", 51), ("divide", "0 / 5 =", 0), ("divide", "96 / 96 =", 1),
        ("sum-of-squares", "10 ^2 + 3 ^2 =", 12),
    ],
)  # fmt: skip
def test_answers_are_remainders(variant, text, answer):
    task = ModularArithmetic(variant)
    assert task.solve(text) == answer
    a, b = (int(word) for word in text.split() if word.isdigit())
    assert task.recompute_columns({"text": text}) == {"label": answer, "a": a, "b": b}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_equation_satisfies_its_definition(variant):
    task, block = every_row(variant)
    columns = task.rendered(block)
    a, b, label = (np.asarray(columns[name]).astype(int) for name in ("a", "b", "label"))
    zero = {
        "add": a + b - label,
        "subtract": label + b - a,
        "multiply": a * b - label,
        "divide": label * b - a,
        "sum-of-squares": a * a + b * b - label,
    }[variant]
    assert not (zero % 97).any()
    assert len(block) == (9_312 if variant == "divide" else 9_409)
    assert label.min() == 0
    assert label.max() == 96
    assert b.min() == (variant == "divide")


@given(tasks(), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_rows_of_any_modulus_are_sound(task, block):
    assert_sound(task, propose(task, block=block))


def test_numbers_are_drawn_uniformly():
    for variant in ("add", "divide"):
        task = ModularArithmetic(variant, {"modulus": 11})
        rows = rows_of(task, propose(task, n=20_000))
        possible = [(a, b) for a in range(11) for b in range(variant == "divide", 11)]
        assert_uniform([(row["a"], row["b"]) for row in rows], possible)


# What is held out.


@pytest.mark.parametrize("variant", VARIANTS)
def test_train_has_its_share_of_all_equations_and_test_all_that_are_held_out(variant):
    for share in (0.05, 0.3, 0.5, 0.8):
        task = ModularArithmetic(variant, {"train_share": share})
        train, test = task.splits
        equations = task.capacity(train, 0)
        assert train.rows == round(share * equations)
        assert 0.11 * equations < test.rows < 0.14 * equations
        drawn = draw_splits(task, 0)
        assert [len(rows) for rows in drawn.values()] == [train.rows, test.rows]
        assert are_held_out(drawn["test"].fingerprints).all()
        assert not are_held_out(drawn["train"].fingerprints).any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_modulus_leaves_train_its_share_and_test_some_rows(variant):
    for modulus in PRIMES if variant == "divide" else range(7, 100):
        task = ModularArithmetic(variant, {"modulus": modulus, "train_share": 0.8})
        train, test = task.splits
        assert test.rows >= 1
        assert train.rows <= task.capacity(train, 0) - test.rows


@pytest.mark.parametrize("variant", COMMUTING)
def test_exchanged_numbers_are_one_problem_of_operations_that_commute(variant):
    task, block = every_row(variant)
    table = fingerprints(task, block).reshape(97, 97)
    held_out = are_held_out(table)
    assert (held_out == held_out.T).all()
    assert (table != table.T).sum() == 97 * 96  # but their ids differ


@pytest.mark.parametrize("variant", ["subtract", "divide"])
def test_exchanged_numbers_are_two_problems_of_other_operations(variant):
    task, block = every_row(variant)
    table = are_held_out(fingerprints(task, block)).reshape(97, -1)
    assert (table[1:, -96:] != table[1:, -96:].T).any()


def test_an_id_depends_on_operation_and_numbers_but_not_on_the_modulus():
    named = {}
    for variant in VARIANTS:
        small, block = every_row(variant, 7)
        large, other = every_row(variant, 257)  # whose ids of tokens take two bytes
        texts = small.rendered(block)["text"].to_pylist()
        found = dict(zip(large.rendered(other)["text"].to_pylist(), ids(large, other), strict=True))
        assert [found[text] for text in texts] == ids(small, block)
        named |= found
    assert len(set(named.values())) == len(named) == 5 * 257**2 - 257


def test_a_row_is_held_out_as_its_split_says_whatever_its_variant():
    for variant in VARIANTS:
        task = ModularArithmetic(variant)
        for split, rows in draw_splits(task, 20).items():
            texts = task.rendered(rows.block)["text"].to_pylist()
            for text, name in zip(texts, id_texts(rows.fingerprints), strict=True):
                held_out = synthbench.is_held_out("modular-arithmetic", text)
                assert held_out == (split == "test") == (name[0] in "01")


# What is refused.


@pytest.mark.parametrize(
    ("variant", "parameters", "message"),
    [
        ("divide", {"modulus": 96}, "modulus=96: variant divide needs a prime number, such as 97"),
        ("divide", {"modulus": 1000}, "modulus=1000: .* such as 997"),
        ("add", {"modulus": 6}, "modulus=6: allowed are 7 to 1000"),
        ("add", {"modulus": 1001}, "modulus=1001: allowed are 7 to 1000"),
        ("add", {"train_share": 0.9}, r"train_share=0.9: allowed are 0.05 to 0.8"),
        ("add", {"train_share": "nan"}, r"train_share=nan: allowed are 0.05 to 0.8"),
    ],
)
def test_impossible_parameters_are_refused(variant, parameters, message):
    with pytest.raises(ParameterError, match=message):
        ModularArithmetic(variant, parameters)


def test_a_modulus_that_is_not_prime_will_do_without_division():
    for variant in VARIANTS:
        if variant != "divide":
            assert ModularArithmetic(variant, {"modulus": 96}).splits


BAD_TEXT = [
    "", "=", "1 + 2", "1 + 2 = 3", "1 - 2 =", "97 + 1 =", "1 + 97 =", "-1 + 2 =", "01 + 2 =",
    "+ 1 2 =", "1 2 + =", "1 + + =", "= + 1 =", "1 ^2 + 2 ^2 =",
]  # fmt: skip


@pytest.mark.parametrize("text", [*BAD_TEXT, "1  + 2 =", "1 + 2 = "])
def test_text_that_is_no_row_is_refused_by_parse(text):
    for column in ([text], ["1 + 2 =", text], [text, "1 + 2 ="]):
        with pytest.raises(ValueError, match=r"not every row is 'a \+ b ='|not a token|no tokens"):
            ModularArithmetic("add").parse({"text": pa.array(column)})


@pytest.mark.parametrize("text", BAD_TEXT)
def test_the_solver_says_what_an_equation_looks_like(text):
    with pytest.raises(ValueError, match=r"expected 'a \+ b =' with a and b from 0 to 96, got"):
        ModularArithmetic("add").solve(text)


def test_nothing_is_divided_by_zero():
    task = ModularArithmetic("divide")
    with pytest.raises(ValueError, match="from 0 to 96 and b not 0, got '5 / 0 ='"):
        task.solve("5 / 0 =")
    with pytest.raises(ValueError, match="not every row"):
        task.parse({"text": pa.array(["5 / 1 =", "5 / 0 ="])})


# For people, and for audits.


@pytest.mark.parametrize(
    ("variant", "text", "drawn"),
    [
        ("add", "50 + 60 =", "50 + 60 =  ->  13\n50 + 60 = 110 = 1 * 97 + 13"),
        ("add", "50 + 6 =", "50 + 6 =  ->  56\n50 + 6 = 56"),
        ("subtract", "5 - 7 =", "5 - 7 =  ->  95\n5 - 7 = -2 = -1 * 97 + 95"),
        ("multiply", "9 * 11 =", "9 * 11 =  ->  2\n9 * 11 = 99 = 1 * 97 + 2"),
        ("divide", "5 / 2 =", "5 / 2 =  ->  51\n2 * 51 = 102 = 1 * 97 + 5"),
        (
            "sum-of-squares",
            "10 ^2 + 3 ^2 =",
            "10 ^2 + 3 ^2 =  ->  12\n10 * 10 + 3 * 3 = 109 = 1 * 97 + 12",
        ),
    ],
)
def test_a_row_is_drawn_with_its_calculation(variant, text, drawn):
    assert str(draw_row(ModularArithmetic(variant), {"text": text})) == drawn


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_audit_knows_exchanged_rows_of_operations_that_commute(variant):
    task = ModularArithmetic(variant)
    keys = audit_spec_of(task).near_duplicate_keys
    assert bool(keys) == (variant in COMMUTING)
    for code in keys.values():
        rows = {"a": pa.array([1, 2, 0, 1]), "b": pa.array([2, 1, 1, 0])}
        first, second, third, fourth = code(rows).tolist()
        assert first == second != third == fourth


SAME_ANSWER = "a and b up to sign and order"
KNOWN_ANSWER = f"{SAME_ANSWER}, answer negated or inverted"


@pytest.mark.parametrize(
    ("variant", "steps"),
    [
        ("add", [KNOWN_ANSWER]),
        ("subtract", [SAME_ANSWER, KNOWN_ANSWER]),
        ("multiply", [SAME_ANSWER, KNOWN_ANSWER]),
        ("divide", [SAME_ANSWER, KNOWN_ANSWER]),
        ("sum-of-squares", [SAME_ANSWER]),
    ],
)
def test_rows_that_are_equal_up_to_signs_have_the_same_answer(variant, steps):
    for modulus in (7, 97):
        task, block = every_row(variant, modulus)
        columns = task.rendered(block)
        shortcuts = audit_spec_of(task).shortcuts
        assert [one.name for one in shortcuts] == ["a alone", "b alone", *steps]
        for shortcut in shortcuts[2:]:
            predict = shortcut.fit(columns)
            assert (predict(columns) == np.asarray(columns["label"])).all()


@pytest.mark.parametrize(
    ("variant", "known", "name", "follows"),
    [
        ("subtract", (50, 60, 87), SAME_ANSWER, [(37, 47, 87)]),
        ("divide", (5, 2, 51), SAME_ANSWER, [(92, 95, 51)]),
        ("sum-of-squares", (10, 3, 12), SAME_ANSWER, [(94, 10, 12), (87, 94, 12)]),
        ("add", (50, 60, 13), KNOWN_ANSWER, [(60, 50, 13), (47, 37, 84), (37, 47, 84)]),
        ("subtract", (50, 60, 87), KNOWN_ANSWER, [(37, 47, 87), (60, 50, 10), (47, 37, 10)]),
        ("multiply", (9, 11, 2), KNOWN_ANSWER, [(86, 88, 2), (88, 11, 95), (11, 88, 95)]),
        ("divide", (5, 2, 51), KNOWN_ANSWER, [(92, 2, 46), (2, 5, 78), (95, 92, 78), (2, 92, 19)]),
    ],
)
def test_answers_follow_from_those_of_other_rows_of_train(variant, known, name, follows):
    task = ModularArithmetic(variant)
    (shortcut,) = (one for one in audit_spec_of(task).shortcuts if one.name == name)

    def columns(rows):
        return {
            one: pa.array(values)
            for one, values in zip(("a", "b", "label"), zip(*rows, strict=True), strict=True)
        }

    other = 1, 1, 0
    predict = shortcut.fit(columns([known, other, other]))  # what is unknown gets another label
    assert list(predict(columns(follows))) == [label for _, _, label in follows]
    form = " ".join(task._words)
    for a, b, label in (known, *follows):
        assert task.solve(form.replace("a", str(a)).replace("b", str(b))) == label
