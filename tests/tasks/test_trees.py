"""Trees: counting, laying out, and growing them with exactly the proposal's distribution."""

import collections
import dataclasses
import functools
import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.seeding import Draws, total
from synthbench.tasks.arithmetic.task import Arithmetic, DepthDistribution
from synthbench.tasks.listops.distribution import OPERATORS, ListOpsDistribution
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.trees import sampling
from synthbench.tasks.trees.distribution import (
    DEPTH_BITS,
    DEPTH_MASK,
    KeyDistribution,
    operator_chances,
)
from synthbench.tasks.trees.grammar import Grammar
from synthbench.tasks.trees.growing import grow
from tests.tasks.blocks import all_candidates

PAPER = Grammar(p_op=0.3, min_args=2, max_args=5, max_depth=5, max_length=50, operators=4)


class PooledDepthDistribution(DepthDistribution):
    """Keys that are the depth alone; operators drawn from pools instead of a list."""

    enumerated = False


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
    deep = np.zeros(len(below.tree), bool)
    deep[below.operators] = True
    shapes = collections.Counter(map(tuple, deep.reshape(-1, 2).tolist()))
    chances = {(True, False): 4 / 9, (False, True): 4 / 9, (True, True): 1 / 9}
    assert_drawn_from(shapes, chances)


def test_in_the_worked_example_the_first_deep_operand_is_the_left_one_in_five_of_nine_trees():
    distribution = PooledDepthDistribution(Grammar(0.2, 2, 2, 2, 50, operators=2, separators=1))
    tables = sampling._pool_tables(distribution, 2, 2)
    assert tables.leader.tolist() == pytest.approx([0.2, 0.36])  # 0.2 / 0.36 = 5/9


# Statistics: every seed is fixed, so these tests pass or fail for good.


def limit(degrees):
    """What a chi-square exceeds with a chance of one in a thousand (Wilson and Hilferty)."""
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + 3.09 * math.sqrt(spread)) ** 3


def assert_drawn_from(counts, chances):
    """Counts by outcome agree with chances by outcome, which add up to 1."""
    assert counts.keys() <= chances.keys()
    total, statistic, cells, rest, rest_chance = sum(counts.values()), 0.0, 0, 0, 0.0
    for outcome, chance in chances.items():
        if total * chance < 10:
            rest, rest_chance = rest + counts.get(outcome, 0), rest_chance + chance
            continue
        statistic += (counts.get(outcome, 0) - total * chance) ** 2 / (total * chance)
        cells += 1
    if total * rest_chance >= 1:
        statistic += (rest - total * rest_chance) ** 2 / (total * rest_chance)
        cells += 1
    assert cells > 1
    assert statistic < limit(cells - 1)


def assert_same_distribution(left, right):
    """Two collections of outcomes could come from one distribution."""
    counts = collections.Counter(left), collections.Counter(right)
    n, m = len(left), len(right)
    cells = collections.defaultdict(lambda: [0, 0])
    for outcome in sorted(counts[0].keys() | counts[1].keys()):
        both = counts[0][outcome], counts[1][outcome]
        cell = cells[outcome if sum(both) >= 20 else "rare"]
        cell[0], cell[1] = cell[0] + both[0], cell[1] + both[1]
    assert len(cells) > 1
    statistic = sum(
        (math.sqrt(m / n) * a - math.sqrt(n / m) * b) ** 2 / (a + b) for a, b in cells.values()
    )
    assert statistic < limit(len(cells) - 1)


# Counting and listing.


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


def depth_of(tree):
    return 0 if isinstance(tree, str) else 1 + max(map(depth_of, tree[1:]))


def tokens_of(tree, separators):
    if isinstance(tree, str):
        return 1
    return 2 + separators * (len(tree) - 2) + sum(tokens_of(one, separators) for one in tree[1:])


def flat(tree):
    return tree if isinstance(tree, str) else f"({tree[0]}:{' '.join(map(flat, tree[1:]))})"


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
            listed = limited.expressions(
                depth, [str(digit) for digit in range(grammar.digits)],
                lambda kind, texts: f"({kind}:{' '.join(texts)})",
            )  # fmt: skip
            assert sorted(listed) == sorted(found)


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


def plain_trees(forest):
    """The trees of a forest as nested tuples, read level by level from below."""
    below = []
    for level in reversed(forest.levels):
        operators, arity, position = set(level.operators.tolist()), iter(level.arity.tolist()), 0
        nodes = []
        for index, symbol in enumerate(level.symbol.tolist()):
            if index in operators:
                count = next(arity)
                nodes.append((symbol, *below[position : position + count]))
                position += count
            else:
                nodes.append(str(symbol))
        assert position == len(below)
        below = nodes
    return below


def plain_starts(roots, separators):
    """Position of every node's first token, level by level, by walking through the trees."""
    levels = []
    here = [(root, 0) for root in roots]
    while here:
        levels.append([start for _, start in here])
        there = []
        for tree, start in here:
            if isinstance(tree, str):
                continue
            for argument in tree[1:]:
                there.append((argument, start + 1))
                start += tokens_of(argument, separators) + separators
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
    assert forest.depths().tolist() == [depth] * len(trees)
    assert keys.tolist() == [depth] * len(trees)
    assert all(tokens_of(tree, grammar.separators) <= grammar.max_length for tree in trees)
    if grammar.shortest(depth) > grammar.max_length:
        assert not trees


@given(grammars())
@settings(max_examples=40, deadline=None)
def test_lengths_and_starts_are_those_of_the_written_trees(chosen):
    grammar, depth = chosen
    forest, _ = grow(Draws({"test": 2}), 40, DepthDistribution(grammar), depth)
    trees = plain_trees(forest)
    lengths = forest.lengths()
    assert lengths[0].tolist() == [tokens_of(tree, grammar.separators) for tree in trees]
    starts = [level.tolist() for level in forest.starts(lengths)]
    expected = plain_starts(trees, grammar.separators)
    assert starts == expected + [[]] * (len(starts) - len(expected))


def test_short_limits_leave_few_trees_or_none():
    for max_length in (32, 33):
        distribution = DepthDistribution(
            Grammar(0.5, 2, 2, 9, max_length, operators=2, separators=1)
        )
        forest, keys = grow(Draws({"test": 3}), 2_000, distribution, 8)
        assert forest.trees == len(keys)
        assert {len(level) for level in plain_starts(plain_trees(forest), 1)} <= {
            forest.trees,
            2 * forest.trees,
        }
        assert bool(forest.trees) == (max_length == 33)


# Laws: the rule that makes a key of keys, in its two forms.


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


def listops_distribution(strict, operators=OPERATORS, grammar=PAPER):
    return ListOpsDistribution(grammar, operators, strict)


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


def test_chances_are_added_up_from_left_to_right_in_every_python():
    assert total([1.0, 1e100, 1.0, -1e100]) == 0.0  # `sum` of Python 3.12 gives 2


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


# Growing: the proposal's distribution, given the bucket. Against exact chances ...


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
        texts = task.render(block)["text"].to_pylist()
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
        columns = task.render(block)
        grown = [
            dict(zip(columns, row, strict=True))
            for row in zip(*(column.to_pylist() for column in columns.values()), strict=True)
        ]
        for name, feature in FEATURES.items():
            values = [feature(row) for row in rows], [feature(row) for row in grown]
            if len({*values[0], *values[1]}) > 1:
                try:
                    assert_same_distribution(*values)
                except AssertionError as error:
                    raise AssertionError(f"{name} in bucket {bucket}") from error
