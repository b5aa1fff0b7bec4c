"""Keys of trees: the law by which they follow from each other, and the chances of all of them."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.seeding import Draws, total
from synthbench.tasks.arithmetic.task import DepthDistribution
from synthbench.tasks.listops.distribution import OPERATORS, ListOpsDistribution
from synthbench.tasks.trees.distribution import (
    DEPTH_BITS,
    DEPTH_MASK,
    KeyDistribution,
    operator_chances,
)
from synthbench.tasks.trees.grammar import Grammar
from synthbench.tasks.trees.sampling import grow
from tests.tasks.agreement import assert_drawn_from
from tests.tasks.trees import listops_distribution

# The rule that makes a key of keys, in its two forms.


def plain_key(name, arguments, strict):
    """Value and depth of a ListOps operator over (value, depth) arguments, by the paper."""
    values = sorted(value for value, _ in arguments)
    if name == "SM":
        return sum(values) % 10, 1 + max(depth for _, depth in arguments)
    count = len(values)
    decisive = {
        "MIN": values[:1],
        "MAX": values[-1:],
        "MED": values[(count - 1) // 2 : count // 2 + 1],
    }[name]
    left, depths = list(arguments), []
    for value in decisive:
        equal = [one for one in left if one[0] == value]
        kept = min(equal, key=lambda one: one[1]) if strict else equal[0]
        left.remove(kept)
        depths.append(kept[1])
    return sum(decisive) // len(decisive), 1 + max(depths)


def key(value, depth):
    return value << DEPTH_BITS | depth


argument = st.tuples(st.integers(0, 9), st.integers(0, 8))
few_values = st.tuples(st.integers(3, 5), st.integers(0, 2))  # with many ties


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.one_of(st.lists(one, min_size=2, max_size=5) for one in (argument, few_values)),
        ),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_listops_keys_follow_the_papers_rule(operators, strict):
    keys = np.zeros((5, len(operators)), np.int16)
    for column, (_, arguments) in enumerate(operators):
        keys[: len(arguments), column] = [key(*one) for one in arguments]
    made = listops_distribution(strict).keys(
        np.array([kind for kind, _ in operators], np.uint8),
        np.array([len(arguments) for _, arguments in operators]),
        keys,
    )
    assert made.tolist() == [
        key(*plain_key(OPERATORS[kind], arguments, strict)) for kind, arguments in operators
    ]


@given(
    st.dictionaries(st.one_of(argument, few_values), st.integers(1, 100), min_size=1, max_size=6),
    st.integers(0, 3),
    st.integers(2, 5),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_listops_chances_are_those_of_all_combinations(weights, kind, arity, strict):
    total = sum(weights.values())
    arguments = {key(*one): weight / total for one, weight in weights.items()}
    distribution = listops_distribution(strict)
    chances = {
        outcome: chance
        for outcome, chance in distribution.chances(kind, arity, arguments).items()
        if chance
    }
    assert chances == pytest.approx(
        KeyDistribution.chances(distribution, kind, arity, arguments), rel=1e-9, abs=1e-12
    )


# The chances of all keys.


def test_chances_are_added_up_from_left_to_right_in_every_python():
    assert total([1.0, 1e100, 1.0, -1e100]) == 0.0  # `sum` of Python 3.12 gives 2


def distributions():
    for p_op, max_args, operators in (
        (0.3, 5, OPERATORS),
        (0.001, 2, ("MIN", "SM")),
        (0.9, 7, ("MED",)),
    ):
        grammar = Grammar(p_op, 2, max_args, 6, 50, operators=len(operators))
        for strict in (True, False):
            yield ListOpsDistribution(grammar, operators, strict)
    for p_op in (0.0, 0.2, 0.999):
        yield DepthDistribution(Grammar(p_op, 2, 2, 9, 50, operators=2, separators=1))


@pytest.mark.parametrize("distribution", list(distributions()), ids=str)
def test_the_chances_of_all_keys_sum_to_one(distribution):
    for height in range(1, distribution.grammar.max_depth + 1):
        assert sum(distribution.argument(height).values()) == pytest.approx(1, abs=1e-12)
        chances = operator_chances(distribution, height)
        assert sum(chances.values()) == pytest.approx(1, abs=1e-12)
        assert all(1 <= outcome & DEPTH_MASK <= height for outcome in chances)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_drawn_keys_agree_with_the_tables(strict, depth):
    grammar = Grammar(0.3, 2, 4, 4, max_length=1000, operators=4)
    distribution = listops_distribution(strict, grammar=grammar)
    _, keys = grow(Draws({"test": 4}), 30_000, distribution, depth)
    assert len(keys) == 30_000
    chances = {
        outcome: chance
        for outcome, chance in operator_chances(distribution, grammar.max_depth).items()
        if outcome & DEPTH_MASK == depth
    }
    total = sum(chances.values())
    assert_drawn_from(
        collections.Counter(keys.tolist()),
        {outcome: chance / total for outcome, chance in chances.items()},
    )
