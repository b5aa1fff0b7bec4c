"""State tracking: groups, their products at each place, and which sequences are held out."""

import itertools
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench.auditing.variant import audit_spec_of
from synthbench.errors import ParameterError
from synthbench.evaluation.final_answer import find_answer
from synthbench.tasks.describe import draw_row
from synthbench.tasks.row_ids import are_held_out, fingerprints
from synthbench.tasks.state_tracking import solver
from synthbench.tasks.state_tracking.groups import group
from synthbench.tasks.state_tracking.own_group import QUATERNIONS
from synthbench.tasks.state_tracking.task import StateTracking
from tests.support import draw_splits, id_texts
from tests.tasks.agreement import assert_uniform
from tests.tasks.blocks import assert_sound, ids, propose, rows_of

VARIANTS = tuple(StateTracking.variants)
every_variant = pytest.mark.parametrize("variant", VARIANTS)


ORDERS = {
    "Z2": 2, "Z60": 60, "S3": 6, "A4xZ5": 60, "A5": 60, "S5": 120, "D8": 8, "S4": 24, "A4": 12,
    "H3": 27, "S5-swaps": 120, "A5-generators": 60, "own": 8,
}  # fmt: skip


def group_of(variant):
    return StateTracking(variant).group


def symbols(variant):
    task = StateTracking(variant)
    return [task.tokens[number] for number in task.symbols]


def sequences(variant):
    return st.lists(st.sampled_from(symbols(variant)), min_size=1, max_size=40)


# Groups.


@every_variant
def test_a_group_has_its_order_an_identity_inverses_and_associative_products(variant):
    names, products = group_of(variant).names, group_of(variant).products
    order = ORDERS[variant]
    assert len(set(names)) == len(names) == order
    assert products.shape == (order, order)
    numbers = np.arange(order)
    assert (products[0] == numbers).all()  # the first element changes nothing
    assert (products[:, 0] == numbers).all()
    assert (np.sort(products, axis=0) == numbers[:, None]).all()
    assert (np.sort(products, axis=1) == numbers).all()
    few = numbers[:: max(1, order // 12)]
    for x, y, z in itertools.product(few, repeat=3):
        assert products[products[x, y], z] == products[x, products[y, z]]
    assert group_of(variant).commutes == (variant[0] == "Z")


@every_variant
def test_the_solver_knows_the_same_elements_and_products_as_the_table(variant):
    task = StateTracking(variant)
    names, products = task.group.names, task.group.products
    for x, y in itertools.product(range(0, len(names), 7), range(len(names))):
        assert solver.product(task.rule, names[x], names[y]) == names[products[x, y]]
    numbers = {str(number) for number in range(130)}
    digits = {"".join(part) for part in itertools.product("01234", repeat=3)}
    permutations = {
        "".join(one) for count in (3, 4, 5) for one in itertools.permutations("12345", count)
    }
    pairs = {f"{one}:{number}" for one in permutations for number in range(6)}
    words = numbers | digits | permutations | pairs
    assert {word for word in words if solver.is_element(task.rule, word)} == set(names)
    assert {word for word in words if solver.is_symbol(task.rule, word)} == set(symbols(variant))


@every_variant
def test_the_elements_of_rows_generate_the_group(variant):
    products, elements = group_of(variant).products, StateTracking(variant).symbols
    for _ in range(10):  # each time products of twice as many
        elements = np.unique(products[np.ix_(elements, elements)])
    assert len(elements) == ORDERS[variant]


def test_some_groups_have_rows_of_some_elements_alone():
    assert symbols("A5-generators") == ["21435", "23451"]
    assert len(symbols("S5-swaps")) == 11
    assert "12345" in symbols("S5-swaps")
    for variant in ("A5-generators", "S5-swaps"):
        rows = rows_of(StateTracking(variant), propose(StateTracking(variant), n=500, bucket=9))
        used = {word for row in rows for word in row["text"].split()}
        assert used == set(symbols(variant))


def test_known_products_of_quaternions_and_matrices():
    assert solver.running_products(QUATERNIONS, "1 2 3") == ["1", "3", "4"]  # i j k = -1
    assert solver.running_products("H3", "100 010") == ["100", "111"]
    assert solver.running_products("H3", "010 100") == ["010", "110"]


def test_elements_are_numbered_in_order():
    assert group("D8").names == (*("1234", "1432", "2143", "2341", "3214", "3412", "4123", "4321"),)
    assert group("S3").names == ("123", "132", "213", "231", "312", "321")
    assert group("Z60").names[58:] == ("58", "59")
    assert group("A4xZ5").names[3:7] == ("1234:3", "1234:4", "1342:0", "1342:1")
    for name in ("S3", "A4xZ5", "A5", "S5"):
        assert list(group(name).names) == sorted(group(name).names)
    assert set(group("A5").names) < set(group("S5").names)


def test_a_product_applies_its_first_factor_first():
    x, y = "213", "132"  # 1 goes to 2 by x and then to 3 by y
    assert solver.product("S3", x, y) == "312"
    assert solver.product("S3", y, x) == "231"
    names, products = group("S3").names, group("S3").products
    assert names[products[names.index(x), names.index(y)]] == "312"


# Rows.


@pytest.mark.parametrize(
    ("variant", "text", "label"),
    [
        ("S3", "213 132 132", "213 312 213"),
        ("Z2", "1 1 0 1", "1 0 0 1"),
        ("Z60", "59 2 58", "59 1 59"),
        ("A4xZ5", "2143:3 2143:3 1342:0", "2143:3 1234:1 1342:1"),
        ("A5", "23451 23451", "23451 34512"),
        ("S5", "21345", "21345"),
    ],
)
def test_the_product_so_far_stands_at_each_place(variant, text, label):
    task = StateTracking(variant)
    assert task.solve(text) == label
    length = len(text.split())
    assert task.recompute_columns({"text": text}) == {"label": label, "length": length}


@given(st.sampled_from(VARIANTS), st.data())
@settings(max_examples=60, deadline=None)
def test_generator_and_solver_agree_on_any_sequence_in_whole_and_in_two_halves(variant, data):
    words = data.draw(sequences(variant))
    task = StateTracking(variant)
    block = task.parse({"text": pa.array([" ".join(words), words[0]])})
    (row, first) = assert_sound(task, block)
    assert row["label"].split(" ")[0] == words[0] == first["label"]
    cut = data.draw(st.integers(1, len(words)))
    before, whole = (task.solve(" ".join(part)).split()[-1] for part in (words[:cut], words))
    if rest := words[cut:]:  # products are associative
        after = task.solve(" ".join(rest)).split()[-1]
        assert solver.product(task.rule, before, after) == whole
    else:
        assert before == whole


@every_variant
def test_sequences_of_500_elements_are_sound(variant):
    task = StateTracking(variant, {"test_lengths": "4,500,1000"})
    for length in (500, 1000):
        for row in assert_sound(task, propose(task, "test", n=3, bucket=length)):
            assert row["length"] == len(row["label"].split()) == length


@pytest.mark.parametrize("variant", ["Z2", "S3", "S5"])
def test_elements_are_uniform_and_apart_and_so_are_products(variant):
    task = StateTracking(variant)
    rows = rows_of(task, propose(task, n=20_000, bucket=2))
    pairs = [tuple(row["text"].split()) for row in rows]
    if variant != "S5":
        assert_uniform(pairs, itertools.product(task.tokens, repeat=2))
    for place in range(2):
        assert_uniform([pair[place] for pair in pairs], task.tokens)
    assert_uniform([row["label"].split()[1] for row in rows], task.tokens)


# Splits.


def test_iid_has_the_lengths_of_train_from_4_on_and_is_left_out_without_any():
    train, iid, validation, test = StateTracking().splits
    assert train.buckets == tuple(range(1, 33))
    assert iid.buckets == tuple(range(4, 33))
    assert validation.buckets == tuple(range(33, 41))
    assert test.buckets == (48, 64, 96, 128, 192, 256)
    short = StateTracking(parameters={"train_lengths": "1..3"})
    assert [split.name for split in short.splits] == ["train", "validation", "test"]


@every_variant
def test_short_sequences_are_never_held_out(variant):
    task = StateTracking(variant)
    for length in (1, 2, 3):
        block = propose(task, n=500, bucket=length)
        assert not are_held_out(fingerprints(task, block)).any()
    held_out = are_held_out(fingerprints(task, propose(task, n=20_000, bucket=8)))
    assert abs(held_out.mean() - 1 / 8) < 0.01 or len(symbols(variant)) == 2  # 256 rows


def test_train_has_every_short_sequence_of_small_groups():
    for variant, most in (("Z2", 3), ("S3", 3), ("Z60", 2), ("A5", 2)):
        task = StateTracking(variant)
        rows = draw_splits(task, 200_000, "train")["train"].block["tokens"]
        length = np.count_nonzero(rows, axis=1)
        for bucket in range(1, most + 1):
            assert np.count_nonzero(length == bucket) == task.capacity(task.split("train"), bucket)


def test_an_id_depends_on_the_text_alone():
    for one, other in (("A5", "S5"), ("Z2", "Z60")):
        small, large = StateTracking(one), StateTracking(other)
        block = propose(small, n=200, bucket=7)
        texts = small.rendered(block)["text"]
        assert ids(small, block) == ids(large, large.parse({"text": texts}))
    for variant in VARIANTS:
        names = group_of(variant).names
        assert len({int(name.replace(":", "")) for name in names}) == len(names)


@every_variant
def test_a_row_is_held_out_as_its_split_says_whatever_the_variant(variant):
    task = StateTracking(variant)
    for split, rows in draw_splits(task, 20).items():
        texts = task.rendered(rows.block)["text"].to_pylist()
        for text, name in zip(texts, id_texts(rows.fingerprints), strict=True):
            held_out = synthbench.is_held_out(task, text)
            assert held_out == (split != "train") == (name[0] in "01")


# What is refused.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"train_lengths": "0..3"}, "allowed are different lengths from 1 to 1000"),
        ({"validation_lengths": "3"}, "validation_lengths=3: allowed are different lengths from 4"),
        ({"test_lengths": "3,8"}, "test_lengths=3,8: allowed are different lengths from 4 to 1000"),
        ({"test_lengths": "1001"}, "test_lengths=1001: allowed are different lengths from 4"),
        ({"test_lengths": []}, "test_lengths=: allowed are different lengths"),
    ],
)
def test_impossible_lengths_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        StateTracking(parameters=parameters)


@pytest.mark.parametrize(
    ("variant", "text", "expected"),
    [
        ("Z60", "60", "a number from 0 to 59"),
        ("Z60", "07", "a number from 0 to 59"),
        ("S3", "123 122", "a permutation of 1 to 3"),
        ("S3", "123 1234", "a permutation of 1 to 3"),
        ("A5", "21345", "an even permutation of 1 to 5"),
        ("A4xZ5", "2143", "an even permutation of 1 to 4 and a number from 0 to 4, separated"),
        ("A4xZ5", "2134:0", "an even permutation of 1 to 4 and a number from 0 to 4, separated"),
        ("A4xZ5", "2143:5", "an even permutation of 1 to 4 and a number from 0 to 4, separated"),
        ("D8", "1324", "the numbers 1 to 4 in a circle, from any of them and either way round"),
        ("H3", "013", "three digits from 0 to 2"),
        ("S5-swaps", "123450", "12345, or two of its numbers exchanged"),
    ],
)
def test_what_is_no_element_is_refused_by_solver_and_parse(variant, text, expected):
    task = StateTracking(variant)
    word = text.split()[-1]
    message = re.escape(f"{word!r} is not an element of {variant}: expected {expected}")
    with pytest.raises(ValueError, match=message):
        task.solve(text)
    with pytest.raises(ValueError, match="is not a token"):
        task.parse({"text": pa.array([text])})


@pytest.mark.parametrize(
    ("variant", "text"), [("S5-swaps", "12345 23145"), ("A5-generators", "23451 12345")]
)
def test_elements_that_rows_do_not_have_are_refused(variant, text):
    with pytest.raises(ValueError, match=f"is not an element of {variant}: expected"):
        StateTracking(variant).solve(text)


def test_no_elements_or_too_many_are_refused():
    task = StateTracking()
    with pytest.raises(ValueError, match="expected 1 to 1000 elements of Z2, got 0"):
        task.solve(" ")
    overlong = " ".join(["1"] * 1001)
    with pytest.raises(ValueError, match="expected 1 to 1000 elements of Z2, got 1001"):
        task.solve(overlong)
    with pytest.raises(ValueError, match="a row has 1001 elements, allowed are 1 to 1000"):
        task.parse({"text": pa.array(["0 1", overlong])})


# For people and language models.


@every_variant
def test_the_instruction_shows_a_worked_example_whose_answer_is_read(variant):
    task = StateTracking(variant)
    text, label = re.findall(r"'([\d: ]+)'", task.instruction)
    assert task.solve(text) == label
    assert not synthbench.is_held_out(task, text)
    row = {"text": text, "label": label}
    for answer in (label, f"Answer: {label}", f"I multiply.\n\nAnswer: {label}"):
        assert task.score(row, find_answer(task, answer)) == 1
    first = label.split()[0]
    assert task.score(row, find_answer(task, f"Answer: {first}")) == 0


def test_a_row_is_drawn_with_the_products_below_its_elements():
    drawn = str(draw_row(StateTracking("S3"), {"text": "213 132 132"}))
    assert drawn == "elements  213 132 132\nproducts  213 312 213"
    long = str(draw_row(StateTracking("Z60"), {"text": " ".join(["7"] * 30)}))
    assert [len(part.splitlines()) for part in long.split("\n\n")] == [2, 2]
    assert long.splitlines()[0].startswith("elements   7  7")
    assert long.splitlines()[1].startswith("products   7 14 21")
    assert max(map(len, long.splitlines())) <= 82


# Audits.


def shortcut(task, name, train, rows):
    (found,) = (one for one in audit_spec_of(task).shortcuts if one.name == name)
    columns = {"text": pa.array(rows), "label": pa.array([task.solve(row) for row in rows])}
    texts = pa.array(train)
    fitted = {"text": texts, "label": pa.array([task.solve(row) for row in train])}
    return found.fit(fitted)(columns)


def test_the_last_elements_give_the_product_that_train_has_most_often():
    task = StateTracking("S3")
    train = ["213 132", "213 132", "123 213 132", "321"]
    rows = ["213 132", "321 213 132 321", "132"]
    assert shortcut(task, "last two elements", train, rows) == [
        "213 312",
        "321 213 312 213",  # a pair that train lacks gets the most frequent product
        "213",
    ]
    three = shortcut(task, "last three elements", [*train, "321 213 132 321"], rows)
    assert three[1] == task.solve(rows[1])


def test_only_groups_whose_order_matters_are_answered_in_ascending_order():
    for variant in VARIANTS:
        task = StateTracking(variant)
        names = [one.name for one in audit_spec_of(task).shortcuts]
        assert ("elements in ascending order" in names) == (variant[0] != "Z")
    task = StateTracking("S3")
    rows = ["213 132 321", "132 213 321", "321", "123 213 123"]  # rows that end are padded
    expected = ["213 231 213", "132 231 213", "321"]  # 132 before 213, whatever the row says
    expected.append("123 213 213")  # the identity is element 0, and no padding
    assert shortcut(task, "elements in ascending order", ["123"], rows) == expected


def test_the_last_products_are_counted():
    columns = {"label": pa.array(["213 312", "123"])}
    spec = audit_spec_of(StateTracking("S3"))
    assert spec.distributions["last product"](columns) == ["312", "123"]
