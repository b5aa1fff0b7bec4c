"""Sizes whose streams begin soon, or are refused before any work."""

import hashlib
import itertools
import re

import numpy as np
import pytest

import synthbench
from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Split
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees import effort
from synthbench.tasks.trees.grammar import MANY, Grammar
from synthbench.tasks.trees.task import Goal


def depths(*chosen):
    return {f"{name}_depths": chosen for name in ("train", "validation", "test")}


EASY = {"level": "easy", "balance": "label"}
SUMS = {"balance": "label", "operators": ("+",), "train_depths": (3,)}
PRODUCTS = {"balance": "label", "operators": ("*",)}


@pytest.mark.parametrize(
    ("task", "split", "parameters", "named"),
    [
        ("listops", "test", {**depths(40), "max_length": 200}, "test_depths=40"),
        ("listops", "train", {**depths(12), "balance": "label"}, "train_depths=12"),
        ("listops", "train", {"p_op": 0.999}, "Allowed is train_depths="),
        ("listops", "test", {"balance": "label"}, "test_depths=7,8"),
        ("listops", "train", {"level": "long", "min_length": 1_900}, "seconds, where two"),
        ("listops", "test", {"max_args": 8}, "seconds, where two"),
        ("listops", "test", {"min_length": 49}, "min_length=49"),
        ("arithmetic", "train", {**depths(40), "balance": "label"}, "train_depths=40"),
        ("addition", "train", {"train_digits": 100, "test_digits": (101,)}, "train_digits=32"),
        ("clusters", "test", {"first_points": 10_000}, "dimension=2 2,771 points"),
        ("clusters", "test", {"dimension": 16, "second_points": 400}, "dimension=16 554 points"),
        ("arithmetic", "test", {"balance": "label", "modulus": 100}, "modulus=100 and balance"),
        ("arithmetic", "train", {"balance": "label", "operators": ("*",)}, "is train_depths=2"),
        ("arithmetic", "test", {**PRODUCTS, "modulus": 8}, "modulus=8 and balance=label"),
        ("arithmetic", "test", {**PRODUCTS, "modulus": 9}, r"operators=\*, modulus=9"),
        (
            "arithmetic",
            "train",
            {**depths(40), "p_op": 0.47, "max_length": 2_000},
            "MiB, where 500",
        ),
        (
            "listops",
            "test",
            {"test_depths": (24,), "max_length": 2_000},
            "Allowed is test_depths=16",
        ),
        ("listops", "test", {"level": "long", "min_length": 950}, "min_length=950"),
        ("listops", "train", {**EASY, "operators": ("MED",)}, "operators=MED and balance=label"),
        ("listops", "train", {**EASY, "operators": ("MED", "MIN")}, "operators=MED,MIN"),
        (
            "listops",
            "test",
            {"balance": "label", "p_op": 0.89, "validation_depths": (1,), "test_depths": (1, 2)},
            "operators=MIN,MAX,MED,SM and balance=label",
        ),
        (
            "listops",
            "train",
            {"level": "long", "p_op": 0.6, "train_depths": (8, 37)},
            "p_op=0.6: the chances of trees of depth 26 .* Allowed are depths up to 25",
        ),
        ("arithmetic", "train", {**SUMS, "modulus": 14}, "modulus=14 and balance=label"),
        (
            "arithmetic",
            "train",
            {**PRODUCTS, "modulus": 100, "train_depths": (20,), "p_op": 0.6, "max_length": 83},
            r"operators=\*, modulus=100 and balance=label",
        ),
        (
            "chomsky",
            "train",
            {"variant": "solve-equation", "train_lengths": (1_000,)},
            "train_lengths=100",
        ),
        (
            "chomsky",
            "test",
            {"variant": "solve-equation", "test_lengths": (1_000,)},
            "test_lengths=800",
        ),
        (
            "chomsky",
            "train",
            {"variant": "modular-arithmetic-brackets", "train_lengths": (1, 2, 3, 500)},
            "train_lengths=250",  # few strings are short
        ),
        (
            "chomsky",
            "iid",
            {"variant": "solve-equation", "train_lengths": (1, 2, 3, 1_000)},
            "train_lengths=800",
        ),
        (
            "chomsky",
            "test",
            {"variant": "modular-arithmetic-brackets", "test_lengths": range(1, 1_001)},
            "test_lengths=1000",
        ),
        (
            "chomsky",
            "train",
            {"variant": "duplicate-string", "train_lengths": (2, 3, 1_000)},
            "train_lengths=250",
        ),
        ("sudoku", "train", {"variant": "9x9", "augmentations": 1_000}, "0 to 100"),
        ("sudoku", "train", {"variant": "4x4", "augmentations": 1_000}, "0 to 750"),
    ],
)
def test_streams_that_would_begin_late_are_refused(task, split, parameters, named):
    if "max_length" not in parameters and "train_depths" in parameters and "balance" in parameters:
        parameters = {**parameters, "max_length": 100 if task == "listops" else 500}
    with pytest.raises(ParameterError, match=named):
        synthbench.stream(synthbench.task(task, **parameters), split=split)


@pytest.mark.parametrize(
    ("task", "split", "parameters"),
    [
        ("listops", "train", {"balance": "label"}),
        ("listops", "validation", {"balance": "label"}),
        ("listops", "train", {"max_args": 10}),
        ("listops", "iid", {"min_length": 49}),
        ("arithmetic", "train", {"balance": "label"}),
        ("arithmetic", "test", {"balance": "label", "level": "hard"}),
        ("arithmetic", "train", {"balance": "label", "level": "easy", "operators": ("*",)}),
        ("arithmetic", "test", {"balance": "label", "operators": ("*",)}),
        ("arithmetic", "train", {**PRODUCTS, "modulus": 5}),
        ("arithmetic", "train", {**depths(1), "balance": "label", "modulus": 100}),
        ("arithmetic", "train", {**depths(40), "p_op": 0.47, "max_length": 1_000}),
        ("listops", "train", EASY),
        ("listops", "iid", {**EASY, "operators": ("MED",)}),
        ("arithmetic", "test", {**depths(40), "max_length": 200}),
        ("chomsky", "train", {"variant": "solve-equation", "train_lengths": (100,)}),
        ("chomsky", "test", {"variant": "solve-equation", "test_lengths": (800,)}),
        ("chomsky", "iid", {"variant": "modular-arithmetic-brackets", "train_lengths": (1_000,)}),
        ("clusters", "test", {"dimension": 16, "first_points": 500, "second_points": 50}),
    ],
)
def test_other_streams_are_allowed(task, split, parameters):
    chosen = synthbench.task(task, **parameters)
    assert chosen.stream_round_rows(chosen.split(split)) == chosen.round_rows


def test_refusals_take_few_trials():
    task = synthbench.task("listops", level="long", max_args=7, balance="label", operators=("MAX",))
    before = effort._trial.cache_info().misses
    with pytest.raises(ParameterError, match="seconds, where two"):
        task.stream_round_rows(task.split("train"))
    assert 0 < effort._trial.cache_info().misses - before < 40


def test_the_depth_that_a_refusal_recommends_is_allowed():
    sizes = {"p_op": 0.5, "max_length": 1_000}
    task = synthbench.task("listops", **sizes, train_depths=(1, 40))
    with pytest.raises(ParameterError, match=r"Allowed is train_depths=\d+") as caught:
        task.stream_round_rows(task.split("train"))
    depth = int(re.findall(r"Allowed is train_depths=(\d+)", str(caught.value))[0])
    task = synthbench.task("listops", **sizes, train_depths=(depth,))
    assert task.stream_round_rows(task.split("train")) == task.round_rows


@pytest.mark.parametrize(("operators", "modulus"), [(("+", "*"), 7), (("*",), 10), (("+",), 12)])
def test_chances_of_labels_are_their_shares_of_drawn_expressions(operators, modulus):
    parameters = {"operators": operators, "modulus": modulus, "max_length": 500}
    plain = synthbench.task("arithmetic", **parameters)
    task = synthbench.task("arithmetic", balance="label", **parameters)
    split = Split("trial", 0, (2,), evaluation=False)
    block = plain.propose(Draws({"purpose": "labels"}), 16_384, split, 2)
    shares = np.bincount(block["label"], minlength=modulus) / len(block["label"])
    roots = range(len(operators))
    for label, share in enumerate(shares):
        chance = np.mean([task.label_chance(Goal(2, root, label)) for root in roots])
        assert chance == pytest.approx(share, abs=0.015)
    assert sum(task.label_chance(Goal(2, 0, label)) for label in range(modulus)) == pytest.approx(1)


def test_the_rows_of_a_stream_by_label_stay():
    task = synthbench.task("listops", balance="label", train_depths=(1, 2))
    ids = "".join(next(iter(synthbench.stream(task)))["id"])
    assert hashlib.sha256(ids.encode()).hexdigest().startswith("fefa3ac1")


@pytest.mark.parametrize("level", sorted(ListOps.levels))
def test_every_level_of_listops_has_streams(level):
    task = synthbench.task("listops", level=level)
    sizes = {split.name: Rounds(task, split.name).size for split in task.splits}
    train, evaluation = (2_048, 512) if level == "long" else (65_536, 2_048)
    assert sizes == {"train": train} | dict.fromkeys(("iid", "validation", "test"), evaluation)


@pytest.mark.parametrize("modulus", [2, 10, 97])
def test_listed_expressions_have_the_values_of_the_solver(modulus):
    task = synthbench.task("arithmetic", modulus=modulus, max_length=9, **depths(2))
    listed = task.enumerate_rows(task.split("train"), 2)
    texts = task.rendered(listed)["text"].to_pylist()[::23]
    assert len(texts) > 300
    plain = task.block_of(texts)
    for name, column in plain.columns.items():
        assert listed[name].dtype == column.dtype
        assert listed[name][::23].tolist() == column.tolist()


def test_very_deep_rows_have_small_rounds():
    task = synthbench.task("listops", test_depths=(40,), max_length=2_000)
    assert (Rounds(task, "train").size, Rounds(task, "test").size) == (2_048, 32)


def test_trees_are_counted_up_to_a_limit():
    for operators, most, depth in itertools.product((1, 2), (2, 3), range(1, 4)):
        small = Grammar(0.3, 2, most, 8, 14, operators)
        assert small.count(depth) == sum(_trees(small, depth).values())
    assert Grammar(0.3, 2, 2, 41, 2_000, 2, separators=1).count(40) is None
    assert Grammar(0.3, 2, 2, 41, 2_000, 2, separators=1).count(6) is None
    assert Grammar(0.3, 2, 2, 41, 100, 2, separators=1).count(3) < MANY


def _trees(grammar, depth):
    """The number of trees of exactly this depth by tokens, by a recursion over arguments."""
    if depth == 0:
        return {1: grammar.digits}
    below = [_trees(grammar, less) for less in range(depth)]
    counts = {}
    for arity in grammar.arities:
        for chosen in itertools.product(range(depth), repeat=arity):
            if max(chosen) == depth - 1:
                for parts in itertools.product(*(below[one].items() for one in chosen)):
                    length = 2 + sum(tokens for tokens, _ in parts)
                    if length <= grammar.max_length:
                        number = grammar.operators * int(np.prod([count for _, count in parts]))
                        counts[length] = counts.get(length, 0) + number
    return counts
