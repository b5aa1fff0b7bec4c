"""Simple arithmetic: nested additions and multiplications modulo ten, each in brackets.

    ((4*7)+2)                  0    depth 2, dependency depth 2
    (((3+1)*(5*2))+9)          9    depth 3, dependency depth 3
    ((0*((1+2)*3))+4)          4    depth 4, dependency depth 2

One character is one token. Depth is the number of nested operations, digits not counted; the
splits are balanced over it, as in the paper. The dependency depth tells how deep the computation
has to go: a factor whose value is 0 makes the other one unneeded, and of two zero factors the
shallower is kept. Of `+` both operands are needed.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.2 and C.2.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.arithmetic_solver import deciding, read_expression
from synthbench.tasks.base import Block, Split, parameter
from synthbench.tasks.expression_trees import draw_expression
from synthbench.tasks.expressions import DIGITS, ExpressionParameters, ExpressionTask
from synthbench.tasks.growing import grow
from synthbench.tasks.laws import Law
from synthbench.tasks.numeric import list_array
from synthbench.tasks.scrutiny import Columns, Scrutiny
from synthbench.tasks.tree_scrutiny import Reader
from synthbench.tasks.trees import Forest, Grammar

OPERATORS = ("+", "*")

#: Expressions of a depth, at most, that are listed to be counted by label.
MOST_LISTED = 200_000


@dataclasses.dataclass(frozen=True)
class ArithmeticParameters(ExpressionParameters):
    """What can be set; the defaults are the paper's."""

    all_operators = OPERATORS
    smallest = 5
    per_level = 4
    nesting = "(0{operator}{inner})"

    p_op: float = parameter(0.2, "chance that an operand is an operation")
    operators: tuple[str, ...] = parameter(OPERATORS, "operators that are drawn")
    modulus: int = parameter(10, "every value is taken modulo this; digits stay 0 to 9")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.modulus <= 100:
            raise ParameterError(f"Parameter modulus={self.modulus}: allowed are 2 to 100.")


@dataclasses.dataclass(frozen=True)
class DepthLaw(Law):
    """The law of depth alone: an operation is one deeper than its deeper operand."""

    grammar: Grammar
    listed = True

    @property
    def leaves(self) -> dict[int, float]:
        return {0: 1.0}

    def keys(
        self, kinds: NDArray[np.uint8], arity: NDArray[np.int64], arguments: NDArray[np.int16]
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
    train_rows = 100_000
    tokens = ("(", ")", "+", "*", *DIGITS)
    separator = ""

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

    def grammar(self, depth: int) -> Grammar:
        """The proposal, as far as trees of this depth go.

        The paper's proposal has no limit of depth but rejects what is too deep. With one level
        more than a tree has, its digits are digits by chance and not because of the limit.
        """
        chosen = self.parameters
        return Grammar(
            p_op=chosen.p_op,
            min_args=2,
            max_args=2,
            max_depth=depth + 1,
            max_length=chosen.max_length,
            operators=len(chosen.operators),
            separators=1,
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        goal = self.goal(bucket)
        forest, _ = grow(draws, n, DepthLaw(self.grammar(goal.depth)), goal.depth, goal.operator)
        forest = draw_digits(draws, forest)
        operators = np.array([ord(name) for name in self.parameters.operators], np.uint8)
        lengths = forest.lengths()
        label, needed = evaluate(forest, operators, self.parameters.modulus)
        block = Block(
            {
                "tokens": write_characters(forest, operators, lengths),
                "label": label,
                "depth": np.full(forest.trees, goal.depth, np.int8),
                "dependency_depth": needed,
                "length": lengths[0].astype(np.int16),
            }
        )
        return block if goal.label is None else block.take(label == goal.label)

    def join(self, tokens: NDArray[np.uint8], length: NDArray[np.int16]) -> pa.Array:
        return join_characters(tokens, length)

    def capacity(self, split: Split, bucket: int) -> int | None:
        goal = self.goal(bucket)
        count = self.grammar(goal.depth).count(goal.depth)
        if goal.label is None:
            return count
        # By label they are counted one by one, where they are few.
        return len(self.listing(split, bucket)) if count <= MOST_LISTED else None

    def listing(self, split: Split, bucket: int) -> Block:
        goal = self.goal(bucket)
        every, kinds = self._of_depth(goal.depth)
        if goal.label is None:
            return every
        return every.take((kinds == goal.operator) & (every["label"] == goal.label))

    @functools.lru_cache(maxsize=2)  # noqa: B019 - a task is a value, and few are made
    def _of_depth(self, depth: int) -> tuple[Block, NDArray[np.int64]]:
        """Every expression of a depth, and the numbers of their root operators."""
        operators = self.parameters.operators
        texts = self.grammar(depth).expressions(
            depth, DIGITS, lambda kind, operands: f"({operands[0]}{operators[kind]}{operands[1]})"
        )
        return self.listed(texts), self.root_operators({"text": pa.array(texts, pa.string())})

    def root_operators(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        characters = split_characters(columns["text"])
        opened, closed = characters == ord("("), characters == ord(")")
        level = np.cumsum(opened, axis=1) - np.cumsum(closed, axis=1)
        codes = np.array([ord(name) for name in self.parameters.operators], np.uint8)
        is_root = (level == 1) & np.isin(characters, codes)
        root = characters[np.arange(len(characters)), is_root.argmax(axis=1)]
        return np.where(is_root.any(axis=1), (codes == root[:, None]).argmax(axis=1), -1)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        return Block({"tokens": split_characters(columns["text"])})

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        root = read_expression(row["text"], self.parameters.modulus)
        return {
            "label": root.value,
            "depth": root.depth,
            "dependency_depth": root.dependency_depth,
            "length": len(row["text"]),
        }

    def solve(self, question: str) -> int:
        return read_expression(question, self.parameters.modulus).value

    @property
    def reader(self) -> Reader:
        modulus = self.parameters.modulus
        return Reader(
            read=functools.partial(read_expression, modulus=modulus),
            apply=lambda operator, values: (
                (sum(values) if operator == "+" else math.prod(values)) % modulus
            ),
            deciding=deciding,
            operators=self.parameters.operators,
            opening=(ord("("),),
            closing=ord(")"),
        )

    def scrutiny(self) -> Scrutiny:
        return dataclasses.replace(super().scrutiny(), tokens=characters)

    def draw(self, row: Mapping[str, Any]) -> str:
        root = read_expression(row["text"], self.parameters.modulus)
        return f"{row['text']}\n{draw_expression(root, deciding)}"


# The generator: whole blocks at a time. Operands come in pairs, left and right.


def draw_digits(draws: Draws, forest: Forest) -> Forest:
    """The trees with a uniform digit at every leaf."""
    levels = []
    for level in forest.levels:
        symbol = draws.integers(len(DIGITS), len(level.tree)).astype(np.uint8)
        symbol[level.operators] = level.symbol.take(level.operators)
        levels.append(level._replace(symbol=symbol))
    return dataclasses.replace(forest, levels=tuple(levels))


def evaluate(
    forest: Forest, operators: NDArray[np.uint8], modulus: int
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Value and dependency depth of each tree, both int8 `(trees,)`, from the leaves upwards."""
    value = np.zeros(0, np.uint16)
    depth = np.zeros(0, np.int8)
    for level in reversed(forest.levels):
        left, right = value[0::2], value[1::2]
        left_depth, right_depth = depth[0::2], depth[1::2]
        is_product = (operators == ord("*")).take(level.symbol.take(level.operators))
        left_zero, right_zero = is_product & (left == 0), is_product & (right == 0)
        deepest = np.maximum(left_depth, right_depth)
        deepest = np.where(left_zero, left_depth, deepest)
        deepest = np.where(right_zero, right_depth, deepest)
        both_zero = left_zero & right_zero
        deepest = np.where(both_zero, np.minimum(left_depth, right_depth), deepest)
        result = np.where(is_product, left * right, left + right)
        value, depth = level.symbol.astype(np.uint16), np.zeros(len(level.tree), np.int8)
        value[level.operators], depth[level.operators] = result, deepest + np.int8(1)
        value %= np.uint16(modulus)
    return value.astype(np.int8), depth


def write_characters(
    forest: Forest, operators: NDArray[np.uint8], lengths: list[NDArray[np.int64]]
) -> NDArray[np.uint8]:
    """The trees as ASCII codes, uint8 `(trees, max_length)`, padded with 0."""
    width = forest.grammar.max_length
    characters = np.zeros(forest.trees * width, np.uint8)
    places = [
        level.tree.astype(np.int64) * width + start
        for level, start in zip(forest.levels, forest.starts(lengths), strict=True)
    ]
    for level, length, place in zip(forest.levels, lengths, places, strict=True):
        characters[place] = level.symbol + np.uint8(ord("0"))
        opening = place.take(level.operators)
        characters[opening] = ord("(")
        characters[opening + length.take(level.operators) - 1] = ord(")")
    for level, below in zip(forest.levels, places[1:], strict=False):
        characters[below[1::2] - 1] = operators.take(level.symbol.take(level.operators))
    return characters.reshape(forest.trees, width)


def join_characters(characters: NDArray[np.uint8], length: NDArray[np.integer[Any]]) -> pa.Array:
    """ASCII codes, padded with 0, as text: Arrow strings are such codes without the padding."""
    offsets = np.zeros(len(characters) + 1, np.int32)
    np.cumsum(length, out=offsets[1:])
    codes = characters[characters > 0]
    return pa.StringArray.from_buffers(len(characters), pa.py_buffer(offsets), pa.py_buffer(codes))


def split_characters(texts: pa.Array) -> NDArray[np.uint8]:
    """The opposite of `join_characters`, for texts of known characters only.

    Raises:
        ValueError: a text is empty, or has other characters.
    """
    known = pc.fill_null(pc.match_substring_regex(texts, r"^[()+*0-9]+$"), False)
    strange = pc.index(known, False).as_py()
    if strange >= 0:
        raise ValueError(f"{texts[strange].as_py()!r} is no expression of arithmetic")
    width = pc.max(pc.binary_length(texts)).as_py() or 1
    padded = pc.ascii_rpad(texts, width, padding="\0").buffers()[2]
    return np.frombuffer(padded, np.uint8)[: len(texts) * width].reshape(-1, width)


def characters(columns: Columns) -> pa.ListArray:
    """The characters of each text, one by one."""
    codes = split_characters(columns["text"])
    names = pa.array([chr(code) for code in range(128)])
    return list_array(pc.take(names, pa.array(codes[codes > 0])), (codes > 0).sum(axis=1))
