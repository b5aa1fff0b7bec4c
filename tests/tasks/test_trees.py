"""Trees are grown with exactly the proposal's distribution, given the bucket."""

import collections
import dataclasses
import functools
import itertools
import random

import numpy as np
import pytest

from synthbench.seeding import Draws
from synthbench.tasks.arithmetic.task import Arithmetic, DepthDistribution
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees.distribution import DEPTH_MASK, operator_chances
from synthbench.tasks.trees.grammar import Grammar
from synthbench.tasks.trees.sampling import grow
from tests.tasks.agreement import assert_drawn_from, assert_same_distribution
from tests.tasks.blocks import all_candidates, rows_of
from tests.tasks.trees import (
    PAPER,
    PooledDepthDistribution,
    depth_of,
    every_tree,
    flat,
    listops_distribution,
    plain_trees,
    tokens_of,
)

# The worked example of docs/pages/how-it-works/sampling.md.


def test_the_worked_example_of_trees_of_depth_2_and_3_is_right():
    distribution = DepthDistribution(Grammar(0.2, 2, 2, 3, 50, operators=2, separators=1))
    assert distribution.argument(1) == pytest.approx({0: 0.8, 1: 0.2})
    assert operator_chances(distribution, 2) == pytest.approx({1: 0.64, 2: 0.36})
    assert distribution.argument(2) == pytest.approx({0: 0.8, 1: 0.128, 2: 0.072})
    assert operator_chances(distribution, 3)[3] == pytest.approx(0.138816)


def test_4_of_1000_listops_trees_have_dependency_depth_8_and_1_of_25_of_these_is_short_enough():
    grammar = dataclasses.replace(PAPER, max_depth=8)
    distribution = listops_distribution(True, grammar=grammar)
    chances = operator_chances(distribution, 8)
    deep = sum(chance for key, chance in chances.items() if key & DEPTH_MASK == 8)
    assert deep == pytest.approx(0.004, abs=0.0005)
    forest, _ = grow(Draws({"worked": "example"}), 10_000, distribution, 8)
    assert forest.trees / 10_000 == pytest.approx(1 / 25, abs=0.005)


@pytest.mark.parametrize("kind", [DepthDistribution, PooledDepthDistribution])
def test_in_the_worked_example_four_of_nine_trees_are_deep_on_the_left_and_one_on_both_sides(kind):
    distribution = kind(Grammar(0.2, 2, 2, 2, 50, operators=2, separators=1))
    forest, _ = grow(Draws({"worked": "example"}), 40_000, distribution, 2)
    below = forest.levels[1]
    deep = np.zeros(len(below.symbol), bool)
    deep[below.operators] = True
    shapes = collections.Counter(map(tuple, deep.reshape(-1, 2).tolist()))
    chances = {(True, False): 4 / 9, (False, True): 4 / 9, (True, True): 1 / 9}
    assert_drawn_from(shapes, chances)


# Against exact chances ...


def exact_arithmetic(p_op, depth, max_length):
    """The chance of every shape of exactly this depth in the paper's proposal, unlimited."""
    chances = {}
    for tree in every_tree(Grammar(0.5, 2, 2, 3, 50, operators=1, digits=1), depth):
        length = tokens_of(tree, 1)
        if depth_of(tree) == depth and length <= max_length:
            operations = (length - 1) // 4
            chances[flat(tree)] = p_op ** (operations - 1) * (1 - p_op) ** (operations + 1)
    total = sum(chances.values())
    return {shape: chance / total for shape, chance in chances.items()}


@pytest.mark.parametrize("distribution", [DepthDistribution, PooledDepthDistribution])
@pytest.mark.parametrize(
    ("p_op", "depth", "max_length"),
    [(0.2, 2, 50), (0.9, 3, 29), (0.5, 4, 25)],
)
def test_every_shape_of_arithmetic_has_the_chance_that_the_paper_gives_it(
    distribution, p_op, depth, max_length
):
    grammar = Grammar(p_op, 2, 2, depth + 1, max_length, operators=1, separators=1, digits=1)
    forest, _ = grow(Draws({"test": 5}), 20_000, distribution(grammar), depth)
    shapes = collections.Counter(map(flat, plain_trees(forest)))
    assert_drawn_from(shapes, exact_arithmetic(p_op, depth, max_length))


def test_with_one_level_more_the_limit_of_depth_is_not_felt():
    drawn = []
    for more in (1, 4):
        grammar = Grammar(0.4, 2, 2, 3 + more, 29, operators=1, separators=1)
        forest, _ = grow(Draws({"test": 6}), 30_000, DepthDistribution(grammar), 3)
        drawn.append([flat(tree) for tree in plain_trees(forest)])
    assert_same_distribution(*drawn)


@functools.cache
def every_listops_row():
    """All rows over MIN and SM, with two arguments, of depth 1 and 2, with their chances."""
    rows = {}
    for name, chosen in itertools.product(("MIN", "SM"), itertools.product(range(10), repeat=2)):
        rows[f"[{name} {chosen[0]} {chosen[1]} ]"] = 1 / 200
    arguments = {str(digit): 0.6 / 10 for digit in range(10)}
    arguments |= {text: 0.4 * chance for text, chance in rows.items()}
    return {
        f"[{name} {left} {right} ]": arguments[left] * arguments[right] / 2
        for name in ("MIN", "SM")
        for left, right in itertools.product(arguments, repeat=2)
    }


def shape_of(text):
    return "".join("d" if character.isdigit() else character for character in text)


@pytest.mark.parametrize("ties", ["strict", "first"])
def test_every_shape_and_label_of_listops_has_its_chance_given_the_bucket(ties):
    task = ListOps(
        parameters={
            "operators": "MIN,SM", "max_args": 2, "p_op": 0.4, "ties": ties, "max_length": 9,
            "train_depths": "1,2", "validation_depths": "1", "test_depths": "2",
        }
    )  # fmt: skip
    exact = {1: collections.Counter(), 2: collections.Counter()}
    for text, chance in every_listops_row().items():
        if text.count(" ") < 9:
            derived = task.recompute_columns({"text": text})
            exact[derived["dependency_depth"]][shape_of(text), derived["label"]] += chance
    for bucket, chances in exact.items():
        total = sum(chances.values())
        block = all_candidates(task, {"test": 7}, 30_000, bucket)
        texts = task.rendered(block)["text"].to_pylist()
        outcomes = zip(map(shape_of, texts), block["label"].tolist(), strict=True)
        assert_drawn_from(
            collections.Counter(outcomes), {one: chance / total for one, chance in chances.items()}
        )


# ... and against a plain sampler that draws and throws away.


def listops_candidate(rng, chosen, room):
    """One candidate of the paper's proposal, no deeper than `room`."""

    def written(room):
        count = rng.randint(2, chosen.max_args)
        return f"[{rng.choice(chosen.operators)} {' '.join(draw(room - 1) for _ in range(count))} ]"

    def draw(room):
        return written(room) if room and rng.random() < chosen.p_op else str(rng.randrange(10))

    return written(room)


def arithmetic_candidate(rng, chosen, _):
    """One candidate of the paper's proposal, which has no limit of depth."""

    def written():
        return f"({draw()}{rng.choice(chosen.operators)}{draw()})"

    def draw():
        return written() if rng.random() < chosen.p_op else str(rng.randrange(10))

    return written()


def thrown_away(task, candidate, split, tries, seed):
    """Rows of each bucket of a split, found by drawing and rejecting."""
    rng = random.Random(seed)
    found = {bucket: [] for bucket in split.buckets}
    for _ in range(tries):
        text = candidate(rng, task.parameters, max(split.buckets))
        row = {"text": text, **task.recompute_columns({"text": text})}
        if row["length"] <= task.parameters.max_length and row[task.bucket_name] in found:
            found[row[task.bucket_name]].append(row)
    return found


FEATURES = {
    "length": lambda row: row["length"],
    "depth": lambda row: (row["depth"], row["dependency_depth"]),
    "label": lambda row: row["label"],
    "beginning": lambda row: shape_of(row["text"])[:9],
    "end": lambda row: shape_of(row["text"])[-9:],
    "operators": lambda row: sum(row["text"].count(sign) for sign in "[+*"),
}

SAMPLED = [
    (ListOps, listops_candidate, {"train_depths": "1,2,3"}, 20_000),
    (ListOps, listops_candidate, {"train_depths": "1,2,3", "ties": "first"}, 20_000),
    (
        ListOps,
        listops_candidate,
        {"train_depths": "1,2,3", "p_op": 0.5, "max_args": 3, "max_length": 20,
         "operators": "MED,SM,MAX"},
        30_000,
    ),
    (
        ListOps,
        listops_candidate,
        {"train_depths": "1,3", "p_op": 0.5, "max_args": 4, "max_length": 18,
         "operators": "MED,MIN", "ties": "first"},
        30_000,
    ),
    (Arithmetic, arithmetic_candidate, {"train_depths": "1,2,3,4"}, 60_000),
    (
        Arithmetic,
        arithmetic_candidate,
        {"train_depths": "2,3,4", "p_op": 0.4, "max_length": 29, "operators": "*"},
        40_000,
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("task_class", "candidate", "parameters", "tries"), SAMPLED)
def test_rows_are_distributed_as_if_drawn_and_thrown_away(task_class, candidate, parameters, tries):
    fitting = {"validation_depths": "1", "test_depths": "1"}
    task = task_class(parameters=parameters | fitting)
    split = task.split("train")
    found = thrown_away(task, candidate, split, tries, seed=8)
    for bucket, rows in found.items():
        assert len(rows) > 300
        block = all_candidates(task, {"test": 8}, 2 * len(rows), bucket)
        grown = rows_of(task, block)
        for name, feature in FEATURES.items():
            values = [feature(row) for row in rows], [feature(row) for row in grown]
            if len({*values[0], *values[1]}) > 1:
                try:
                    assert_same_distribution(*values)
                except AssertionError as error:
                    raise AssertionError(f"{name} in bucket {bucket}") from error
