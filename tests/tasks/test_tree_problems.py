"""Problem keys of trees: what a row asks, whatever the order of arguments."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.auditing.variant import audit_spec_of
from synthbench.seeding import Draws
from synthbench.tasks.arithmetic.task import OPERATORS as ARITHMETIC_OPERATORS
from synthbench.tasks.block import PROBLEM_KEYS
from synthbench.tasks.listops.distribution import OPERATORS as LISTOPS_OPERATORS
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.row_ids import are_held_out
from synthbench.tasks.trees.problems import problem_keys
from synthbench.tasks.trees.task import ExpressionTask
from tests.tasks.blocks import all_candidates


def expressions(name, **parameters):
    task = make_task(name, **parameters)
    assert isinstance(task, ExpressionTask)
    return task


LISTOPS, ARITHMETIC = expressions("listops"), expressions("arithmetic")
both = pytest.mark.parametrize("task", [LISTOPS, ARITHMETIC], ids=["listops", "arithmetic"])


def keys_of(task, texts):
    """The keys of rows as they are read from a file."""
    return task.problem(task.parse({"text": pa.array(texts)})).tolist()


def texts_of(task, block):
    texts: list[str] = task.rendered(block)["text"].to_pylist()
    return texts


# The definition, word by word.


def mix(word):
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def plain_key(task, tree):
    is_listop = task.name == "listops" and tree.arguments
    code = mix(1 + task.tokens.index(f"[{tree.symbol}" if is_listop else tree.symbol))
    if not tree.arguments:
        return code
    return mix((code + sum(plain_key(task, one) for one in tree.arguments)) % 2**64)


def test_the_worked_example_is_right():
    forms = "[SM 3 [MIN 4 1 ] ]", "[SM 3 [MIN 1 4 ] ]", "[SM [MIN 4 1 ] 3 ]", "[SM [MIN 1 4 ] 3 ]"
    assert mix((mix(12) + mix(5) + mix(2)) % 2**64) == 0x9B5EFE496630FA66
    assert keys_of(LISTOPS, list(forms)) == [0x49BC16B23BB786D6] * 4
    assert keys_of(LISTOPS, ["[SM 1 [MIN 4 3 ] ]"]) != [0x49BC16B23BB786D6]


# Against each other and against the definition, whatever the parameters.


def written(task, tree, arguments):
    if task.name == "arithmetic":
        return f"({arguments[0]}{tree.symbol}{arguments[1]})"
    return f"[{tree.symbol} {' '.join(arguments)} ]"


def shuffled(task, tree, rng):
    """The tree with the arguments of every operator in another order."""
    if not tree.arguments:
        return tree.symbol
    arguments = [shuffled(task, argument, rng) for argument in tree.arguments]
    rng.shuffle(arguments)
    return written(task, tree, arguments)


def normal(task, tree):
    """The tree with the arguments of every operator in ascending order."""
    if not tree.arguments:
        return tree.symbol
    return written(task, tree, sorted(normal(task, argument) for argument in tree.arguments))


@st.composite
def tasks(draw):
    name = draw(st.sampled_from(["listops", "arithmetic"]))
    depths = st.lists(st.integers(1, 4), min_size=1, max_size=2, unique=True).map(tuple)
    every = LISTOPS_OPERATORS if name == "listops" else ARITHMETIC_OPERATORS
    own: dict[str, Any] = {"modulus": draw(st.integers(2, 20))}
    if name == "listops":
        own = {
            "max_args": draw(st.integers(2, 10)),
            "ties": draw(st.sampled_from(["strict", "first"])),
        }
    return expressions(
        name,
        operators=tuple(draw(st.lists(st.sampled_from(every), min_size=1, unique=True))),
        p_op=draw(st.sampled_from([0.2, 0.7])),
        max_length=draw(st.integers(20, 90)),
        train_depths=draw(depths),
        validation_depths=draw(depths),
        test_depths=draw(depths),
        balance=draw(st.sampled_from(["depth", "label"])),
        **own,
    )


@given(tasks(), st.data())
@settings(max_examples=20, deadline=None)
def test_generator_and_solver_give_each_tree_its_key_whatever_the_order_of_arguments(task, data):
    split = data.draw(st.sampled_from(task.splits))
    bucket = data.draw(st.sampled_from(split.buckets))
    draws = Draws({"seed": data.draw(st.integers(0, 99))})
    block = task.propose(draws, 200, split, bucket)
    texts = texts_of(task, block)
    keys = block[PROBLEM_KEYS].tolist()
    assert keys == problem_keys(block["tokens"], task.tokens).tolist()
    assert (are_held_out(block[PROBLEM_KEYS]) == split.evaluation).all()

    trees = [task.read(text) for text in texts[:40]]
    assert keys[:40] == [plain_key(task, tree) for tree in trees]
    rng = random.Random(0)
    if texts:
        assert keys_of(task, texts) == keys
        assert keys_of(task, [shuffled(task, tree, rng) for tree in trees]) == keys[:40]
    problems = {normal(task, task.read(text)): key for text, key in zip(texts, keys, strict=True)}
    assert len(problems) == len(set(keys))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.integers(0, 9))
def test_another_digit_another_operator_or_another_nesting_is_another_problem(digits, other):
    words = " ".join(map(str, digits))
    nested = f"[MIN {digits[0]} [MIN {' '.join(map(str, digits[1:]))} ] ]"
    different = [f"[MIN {words} ]", f"[MAX {words} ]", f"[MIN {words} {other} ]", nested]
    if other != digits[0]:
        different.append(f"[MIN {' '.join(map(str, [other, *digits[1:]]))} ]")
    assert len(set(keys_of(LISTOPS, different))) == len(different)


def test_a_bucket_that_is_listed_has_the_keys_of_its_rows():
    task = expressions("arithmetic", train_depths=(1,), validation_depths=(1,), test_depths=(1,))
    block = task.enumerate_rows(task.split("train"), 1)
    assert block[PROBLEM_KEYS].tolist() == keys_of(task, texts_of(task, block))
    assert len(block) == 200
    assert len(np.unique(block[PROBLEM_KEYS])) == 2 * 55  # pairs of digits without their order


def test_brackets_that_do_not_match_do_no_harm_to_the_other_rows():
    texts = ["] ] ] ]", "[MIN 4 1 ]", "[MIN [MIN [MIN", "]", "[MIN 1 4 ]", "3", "[MIN 1 ] ] ]"]
    keys = keys_of(LISTOPS, texts)
    assert keys[1] == keys[4] == keys_of(LISTOPS, ["[MIN 4 1 ]"])[0]


@both
def test_rows_with_arguments_in_another_order_are_near_duplicates_in_an_audit(task):
    (key,) = audit_spec_of(task).near_duplicate_keys.values()
    texts = {
        "listops": ["[SM 3 [MIN 4 1 ] ]", "[SM [MIN 1 4 ] 3 ]", "[SM [MIN 1 3 ] 4 ]"],
        "arithmetic": ["((1+2)*3)", "(3*(2+1))", "((1+3)*2)"],
    }[task.name]
    one, same, other = key({"text": pa.array(texts)}).tolist()
    assert one == same != other


# Held out: an eighth of everything.


@both
def test_train_and_iid_divide_the_candidates_an_eighth_of_every_depth_label_and_length(task):
    for bucket in task.split("train").buckets:
        rows = all_candidates(task, {"bits": bucket}, 20_000, bucket)
        # Problems, not rows: a problem is held out in all of its forms.
        _, first = np.unique(rows[PROBLEM_KEYS], return_index=True)
        rows = rows.take(first)
        for column in ("depth", "dependency_depth", "label", "length"):
            for value in np.unique(rows[column]):
                found = rows[PROBLEM_KEYS][rows[column] == value]
                bits = np.bincount((found >> np.uint64(61)).astype(int), minlength=8)
                spread = np.sqrt(len(found) * 7 / 64)
                assert np.abs(bits - len(found) / 8).max() <= 4.5 * spread + 1
