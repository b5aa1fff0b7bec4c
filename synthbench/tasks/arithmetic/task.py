"""Simple arithmetic: nested additions and multiplications modulo ten, each in brackets.

    ((4*7)+2)                  0    depth 2, dependency depth 2
    (((3+1)*(5*2))+9)          9    depth 3, dependency depth 3
    ((0*((1+2)*3))+4)          4    depth 4, dependency depth 2

One character is one token. Depth is the number of nested operations, digits not counted. The
splits are balanced over it, as in the paper. The dependency depth is how deep the computation
has to go: if a factor is 0, the other is not needed, and of two zero factors the shallower is
kept. `+` needs both operands.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.2 and C.2.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.arithmetic.labels import label_chances
from synthbench.tasks.arithmetic.solver import apply, deciding, read_expression
from synthbench.tasks.base import Block, Split, parameter
from synthbench.tasks.block import PROBLEM_KEYS
from synthbench.tasks.row_ids import are_held_out
from synthbench.tasks.trees.distribution import KeyDistribution
from synthbench.tasks.trees.effort import check_effort
from synthbench.tasks.trees.every import every_tree
from synthbench.tasks.trees.expression import Expression
from synthbench.tasks.trees.grammar import Forest, Grammar
from synthbench.tasks.trees.sampling import grow
from synthbench.tasks.trees.task import DIGITS, ExpressionParameters, ExpressionTask, Goal

OPERATORS = ("+", "*")
TOKENS = ("(", ")", *OPERATORS, *DIGITS)
#: The id of each token; 0 is padding.
IDS = {token: number for number, token in enumerate(TOKENS, start=1)}

#: A depth with more expressions is not listed to count them by label.
MOST_LISTED = 200_000
_NO_DEPTH = np.int8(127)

T = TypeVar("T", bound=np.integer[Any])


@dataclasses.dataclass(frozen=True)
class ArithmeticParameters(ExpressionParameters):
    """Parameters of arithmetic. The defaults are the paper's."""

    all_operators = OPERATORS
    per_level = 4
    nesting = "(0{operator}{inner})"

    p_op: float = parameter(0.2, "chance that an operand is an operation")
    operators: tuple[str, ...] = parameter(OPERATORS, "operators that are drawn")
    modulus: int = parameter(
        10, "every value is taken modulo this. Digits stay 0 to 9", least=2, most=100
    )


@dataclasses.dataclass(frozen=True)
class DepthDistribution(KeyDistribution):
    """Keys that are the depth alone: an operation is one deeper than its deeper operand."""

    enumerated = True

    @property
    def leaves(self) -> dict[int, float]:
        return {0: 1.0}

    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int8], arguments: NDArray[np.int16]
    ) -> NDArray[np.int16]:
        deepest: NDArray[np.int16] = arguments.max(axis=0)
        return deepest + np.int16(1)


class Arithmetic(ExpressionTask):
    """Nested sums and products of digits modulo ten."""

    name = "arithmetic"
    title = "Simple arithmetic by depth"
    summary = "What does a nested expression of additions and multiplications give modulo 10?"
    source = "NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.2 and C.2"
    parameters_type = ArithmeticParameters
    bucket_name = "depth"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {
            "train_depths": (1, 2),
            "validation_depths": (3,),
            "test_depths": (3,),
            "max_length": 20,
        },
        "medium": {},  # as in the paper
        "hard": {
            "train_depths": (4, 5, 6, 7, 8),
            "validation_depths": (9,),
            "test_depths": (10, 12),
            "max_length": 120,
        },
    }
    train_rows = 100_000
    ordinary_bits, ordinary_tokens = 40.0, 3  # four operations or more have
    tokens = TOKENS
    separator = ""

    def read(self, text: str) -> Expression:
        return read_expression(text, self.parameters.modulus)

    def deciding(self, node: Expression) -> Sequence[Expression]:
        return deciding(node)

    def apply(self, operator: str, values: list[int]) -> int:
        return apply(operator, values, self.parameters.modulus)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the possible values."""
        return tuple(map(str, range(self.parameters.modulus)))

    @property
    def instruction(self) -> str:
        modulus = self.parameters.modulus
        return (
            f"Evaluate the expression modulo {modulus}. The answer is a number from 0 to "
            f"{modulus - 1}."
        )

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The innermost operation has two digits."""
        return ("(",), DIGITS, OPERATORS, DIGITS, (")",)

    def grammar(self, depth: int) -> Grammar:
        """The proposal for trees of this depth.

        The paper's proposal does not limit the depth but rejects trees that are too deep. The
        limit here is one level more than the trees have, so that their digits are digits by
        chance, not because of the limit.
        """
        parameters = self.parameters
        return Grammar(
            p_op=parameters.p_op,
            min_args=2,
            max_args=2,
            max_depth=depth + 1,
            max_length=parameters.max_length,
            operators=len(parameters.operators),
            separators=1,
        )

    def label_chance(self, goal: Goal) -> float:
        if goal.operator is None or goal.label is None:
            return 1.0
        parameters = self.parameters
        root = parameters.operators[goal.operator]
        chances = label_chances(
            parameters.p_op, parameters.operators, parameters.modulus, goal.depth, root
        )
        return float(chances[goal.label])

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round, which waits for rows of all depths, operators and labels.

        Raises:
            ParameterError: the first row would take too long.
        """
        check_effort(self, None, split, lambda _: self.round_rows)
        return self.round_rows

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        goal = self.goal(bucket)
        distribution = DepthDistribution(self.grammar(goal.depth))
        forest, _ = grow(draws, n, distribution, goal.depth, goal.operator)
        return self._block(draw_digits(draws, forest), goal, held_out=split.evaluation)

    def _block(self, forest: Forest, goal: Goal, held_out: bool | None = None) -> Block:
        """The trees that have the goal's label, if it has any, and are held out or not.

        The sampler would drop the trees that the split must not have, but writing them takes time.
        """
        problems = self.problems(forest)
        label, needed = evaluate(forest, self.operator_ids, self.parameters.modulus)
        kept = np.ones(forest.trees, np.bool_)
        if held_out is not None:
            kept &= are_held_out(problems) == held_out
        if goal.label is not None:
            kept &= label == goal.label
        if 2 * np.count_nonzero(kept) < forest.trees:
            forest, label, needed = forest.take(kept), label[kept], needed[kept]
            problems, kept = problems[kept], kept[kept]
        layout, operators = forest.layout(), self.operator_ids
        opening = np.full_like(operators, IDS["("])
        block = Block(
            {
                "tokens": forest.write(layout, IDS["0"], opening, IDS[")"], infix=operators),
                "label": label,
                "depth": np.full(forest.trees, goal.depth, np.int8),
                "dependency_depth": needed,
                "length": layout.lengths.astype(np.int16),
                PROBLEM_KEYS: problems,
            }
        )
        return block.take(kept)

    def capacity(self, split: Split, bucket: int) -> int | None:
        goal = self.goal(bucket)
        count = self.grammar(goal.depth).count(goal.depth)
        if goal.label is None or count is None:
            return count
        # By label they can only be counted one by one.
        return int(np.count_nonzero(self._listed(goal))) if count <= MOST_LISTED else None

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        goal = self.goal(bucket)
        every = self._of_depth(goal.depth)
        return every if goal.label is None else every.take(self._listed(goal))

    def _listed(self, goal: Goal) -> NDArray[np.bool_]:
        """A mask of the expressions of the goal's depth: those with its operator and label."""
        root, label = self._kinds_of_depth(goal.depth)
        listed: NDArray[np.bool_] = (root == goal.operator) & (label == goal.label)
        return listed

    @functools.lru_cache(maxsize=2)  # noqa: B019 - a task is a value, and few are ever made
    def _of_depth(self, depth: int) -> Block:
        """Every expression of a depth."""
        return self._block(every_tree(self.grammar(depth), depth), Goal(depth))

    @functools.lru_cache(maxsize=2)  # noqa: B019
    def _kinds_of_depth(self, depth: int) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """The root operators and labels of these expressions."""
        forest = every_tree(self.grammar(depth), depth)
        label, _ = evaluate(forest, self.operator_ids, self.parameters.modulus)
        return forest.levels[0].symbol, label


def draw_digits(draws: Draws, forest: Forest) -> Forest:
    """The trees with a uniform digit at every leaf."""
    levels = []
    for level in forest.levels:
        digits = draws.integers(len(DIGITS), len(level.symbol)).astype(np.uint8)
        levels.append(level._replace(symbol=digits))
    return dataclasses.replace(forest, levels=tuple(levels))


def evaluate(
    forest: Forest, operators: NDArray[np.uint8], modulus: int
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Value and dependency depth of each tree, both int8 `(trees,)`, from the leaves upwards.

    Args:
        forest: the trees.
        operators: the token id of each operator.
        modulus: every value is taken modulo this.
    """
    value = _modulo(forest.levels[-1].symbol.astype(np.uint16), modulus)
    depth = np.zeros(len(value), np.int8)
    for level in reversed(forest.levels[:-1]):  # operands come in pairs, left and right
        left, right = value[0::2], value[1::2]
        is_product = (operators == IDS["*"]).take(level.kinds)
        # Of the factors that are 0 the shallower counts. Without any, the deeper operand does.
        zero_depth = depth | (value != 0) * _NO_DEPTH
        zero_depth = np.minimum(zero_depth[0::2], zero_depth[1::2])
        has_zero = is_product & (zero_depth != _NO_DEPTH)
        deepest = _choose(has_zero, zero_depth, np.maximum(depth[0::2], depth[1::2]))
        result = _choose(is_product, left * right, left + right)
        value, depth = level.symbol.astype(np.uint16), np.zeros(len(level.symbol), np.int8)
        value[level.operators], depth[level.operators] = result, deepest + np.int8(1)
        value = _modulo(value, modulus)
    return value.astype(np.int8), depth


def _choose(mask: NDArray[np.bool_], first: NDArray[T], second: NDArray[T]) -> NDArray[T]:
    """As `np.where`, without branches, which is faster where the mask is random."""
    chosen: NDArray[T] = second + mask * (first - second)  # may wrap around twice
    return chosen


def _modulo(value: NDArray[np.uint16], modulus: int) -> NDArray[np.uint16]:
    """As `%`, in less than half of its time."""
    return value - value // np.uint16(modulus) * np.uint16(modulus)
