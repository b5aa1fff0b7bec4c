"""Trees are counted, listed and laid out as one finds them by trying all and walking through."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.seeding import Draws
from synthbench.tasks.arithmetic.task import DepthDistribution
from synthbench.tasks.trees import every
from synthbench.tasks.trees.grammar import Grammar
from synthbench.tasks.trees.sampling import grow
from tests.tasks.trees import (
    PAPER,
    PooledDepthDistribution,
    depth_of,
    every_tree,
    flat,
    plain_trees,
    tokens_of,
)

# Counting and listing.

SMALL = [
    (Grammar(0.5, 2, 2, 3, 50, operators=1, digits=1), 4),
    (Grammar(0.5, 2, 2, 3, 50, operators=2, separators=1, digits=1), 3),
    (Grammar(0.5, 1, 3, 3, 50, operators=1, digits=2), 2),
    (Grammar(0.5, 2, 3, 3, 50, operators=1, separators=2, digits=2), 2),
    (Grammar(0.5, 3, 3, 3, 50, operators=2, digits=2), 2),
]


@pytest.mark.parametrize(("grammar", "deepest"), SMALL)
def test_trees_are_counted_and_listed_as_one_finds_them_by_trying_all(grammar, deepest):
    trees = every_tree(grammar, deepest)
    lengths = [tokens_of(tree, grammar.separators) for tree in trees]
    longest = max(lengths)
    for max_length in {*range(1, min(longest, 24)), longest - 1, longest}:
        limited = Grammar(0.5, grammar.min_args, grammar.max_args, 3, max_length,
                          grammar.operators, grammar.separators, grammar.digits)  # fmt: skip
        for depth in range(1, deepest + 1):
            found = [
                flat(tree)
                for tree, length in zip(trees, lengths, strict=True)
                if depth_of(tree) == depth and length <= max_length
            ]
            assert limited.count(depth) == len(found)
            forest = every.every_tree(limited, depth)
            assert sorted(flat(tree) for tree in plain_trees(forest)) == sorted(found)
            assert forest.depths.tolist() == [depth] * len(found)


@pytest.mark.parametrize(("grammar", "deepest"), SMALL)
def test_the_shortest_tree_of_each_depth_is_known(grammar, deepest):
    trees = every_tree(grammar, deepest)
    for depth in range(deepest + 1):
        lengths = [tokens_of(tree, grammar.separators) for tree in trees if depth_of(tree) == depth]
        assert grammar.shortest(depth) == min(lengths)


def test_the_papers_trees_of_depth_1_are_counted():
    assert PAPER.count(1) == 4 * (10**2 + 10**3 + 10**4 + 10**5)
    assert PAPER.count(0) == 0


# Laying out.


@st.composite
def grammars(draw):
    min_args = draw(st.integers(1, 3))
    depth = draw(st.integers(1, 5))
    grammar = Grammar(
        p_op=draw(st.sampled_from([0.05, 0.3, 0.6])),
        min_args=min_args,
        max_args=draw(st.integers(min_args, 3)),
        max_depth=depth + draw(st.integers(0, 2)),
        max_length=draw(st.integers(1, 60)),
        operators=draw(st.integers(1, 3)),
        separators=draw(st.integers(0, 2)),
    )
    return grammar, depth


def plain_places(roots, grammar, width):
    """The place of every node's first token, level by level, by walking through the trees.

    Every tree has `width` places.
    """
    levels = []
    here = [(root, number * width) for number, root in enumerate(roots)]
    while here:
        levels.append([start for _, start in here])
        there = []
        for tree, start in here:
            if isinstance(tree, str):
                continue
            for argument in tree[1:]:
                there.append((argument, start + 1))
                start += tokens_of(argument, grammar.separators) + grammar.separators
        here = there
    return levels


@pytest.mark.parametrize("distribution", [DepthDistribution, PooledDepthDistribution])
@given(grammars())
@settings(max_examples=40, deadline=None)
def test_trees_have_the_depth_asked_for_and_never_too_many_tokens(distribution, chosen):
    grammar, depth = chosen
    forest, keys = grow(Draws({"test": 1}), 40, distribution(grammar), depth)
    trees = plain_trees(forest)
    assert len(trees) == forest.trees == len(keys) <= 40
    assert {depth_of(tree) for tree in trees} <= {depth}
    assert forest.depths.tolist() == [depth] * len(trees)
    assert keys.tolist() == [depth] * len(trees)
    assert all(tokens_of(tree, grammar.separators) <= grammar.max_length for tree in trees)
    if grammar.shortest(depth) > grammar.max_length:
        assert not trees


@given(grammars())
@settings(max_examples=40, deadline=None)
def test_lengths_and_places_are_those_of_the_written_trees(chosen):
    grammar, depth = chosen
    forest, _ = grow(Draws({"test": 2}), 40, DepthDistribution(grammar), depth)
    trees = plain_trees(forest)
    layout = forest.layout()
    assert layout.lengths.tolist() == [tokens_of(tree, grammar.separators) for tree in trees]
    written = forest.write(layout, 1, np.full(grammar.operators, 11, np.uint8), 12)
    first = np.flatnonzero((written > 0) & (written < 12))
    places = plain_places(trees, grammar, written.shape[1])
    assert first.tolist() == sorted(itertools.chain.from_iterable(places))


def test_short_limits_leave_few_trees_or_none():
    for max_length in (32, 33):
        distribution = DepthDistribution(
            Grammar(0.5, 2, 2, 9, max_length, operators=2, separators=1)
        )
        forest, keys = grow(Draws({"test": 3}), 2_000, distribution, 8)
        assert forest.trees == len(keys)
        levels = plain_places(plain_trees(forest), distribution.grammar, max_length)
        assert {len(level) for level in levels} <= {forest.trees, 2 * forest.trees}
        assert bool(forest.trees) == (max_length == 33)
