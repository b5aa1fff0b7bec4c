"""What the tests of trees grow trees by, and plain trees: nested tuples over leaves as texts."""

import functools
import itertools

from synthbench.tasks.arithmetic.task import DepthDistribution
from synthbench.tasks.listops.distribution import OPERATORS, ListOpsDistribution
from synthbench.tasks.trees.grammar import Grammar

PAPER = Grammar(p_op=0.3, min_args=2, max_args=5, max_depth=5, max_length=50, operators=4)


class PooledDepthDistribution(DepthDistribution):
    """Keys that are the depth alone; operators drawn from pools instead of a list."""

    enumerated = False


def listops_distribution(strict, operators=OPERATORS, grammar=PAPER):
    return ListOpsDistribution(grammar, operators, strict)


@functools.cache
def every_tree(grammar, depth):
    """All trees of depth 0 to `depth` as nested tuples, whatever their length."""
    leaves = [str(digit) for digit in range(grammar.digits)]
    if depth == 0:
        return leaves
    arguments = every_tree(grammar, depth - 1)
    return leaves + [
        (operator, *chosen)
        for operator in range(grammar.operators)
        for arity in range(grammar.min_args, grammar.max_args + 1)
        for chosen in itertools.product(arguments, repeat=arity)
    ]


def plain_trees(forest):
    """The trees of a forest as nested tuples, read level by level from below."""
    below = []
    for level in reversed(forest.levels):
        arities = dict(zip(level.operators.tolist(), level.arity.tolist(), strict=True))
        kinds, position = iter(level.kinds.tolist()), 0
        nodes = []
        for index, symbol in enumerate(level.symbol.tolist()):
            if index in arities:
                count = arities[index]
                nodes.append((next(kinds), *below[position : position + count]))
                position += count
            else:
                nodes.append(str(symbol))
        assert position == len(below)
        below = nodes
    return below


def depth_of(tree):
    return 0 if isinstance(tree, str) else 1 + max(map(depth_of, tree[1:]))


def tokens_of(tree, separators):
    if isinstance(tree, str):
        return 1
    return 2 + separators * (len(tree) - 2) + sum(tokens_of(one, separators) for one in tree[1:])


def flat(tree):
    return tree if isinstance(tree, str) else f"({tree[0]}:{' '.join(map(flat, tree[1:]))})"
