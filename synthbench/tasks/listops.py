"""ListOps, balanced by how deep the computation really has to go.

    [MED 4 8 5 [MAX 8 4 9 ] ]                 6    depth 2, dependency depth 1
    [SM 3 [MIN 0 [MAX 1 2 ] ] ]               3    depth 3, dependency depth 2

A list has an operator and two to five arguments, each a digit or a list. MIN and MAX are clear,
SM is the sum modulo 10, MED the median: of an even number of arguments the floor of the mean of
the two middle values.

MIN and MAX are decided by one argument, MED by one or two, SM by all. The dependency depth of a
tree is the depth that is left when all other arguments are cut; of arguments with the same value
the ones that leave the tree shallowest are kept, so that the depth is really needed.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.3 and C.2, after Nangia & Bowman
(2018).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.errors import ParameterError, unknown_name
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split, parameter
from synthbench.tasks.expression_trees import draw_expression
from synthbench.tasks.expressions import DIGITS, ExpressionParameters, ExpressionTask
from synthbench.tasks.growing import grow
from synthbench.tasks.laws import DEPTH_BITS
from synthbench.tasks.listops_law import OPERATORS, ListOpsLaw
from synthbench.tasks.listops_solver import apply, deciding, read_tree
from synthbench.tasks.scrutiny import numbers
from synthbench.tasks.tree_scrutiny import Reader
from synthbench.tasks.trees import Forest, Grammar

#: The most arguments that can be asked for: the tables of chances grow with them.
MOST_ARGUMENTS = 10
#: Tokens by code; code 0 is padding.
TOKENS = ("", *DIGITS, "]", *(f"[{name}" for name in OPERATORS))
CLOSE = TOKENS.index("]")


@dataclasses.dataclass(frozen=True)
class ListOpsParameters(ExpressionParameters):
    """What can be set; the defaults are the paper's."""

    all_operators = OPERATORS
    smallest = 4
    per_level = 3
    nesting = "[{operator} 0 {inner} ]"

    operators: tuple[str, ...] = parameter(OPERATORS, "operators that are drawn")
    max_args: int = parameter(5, "most arguments of an operator; their number is uniform from 2")
    ties: str = parameter(
        "strict",
        "of arguments with the same value keep those that make the tree shallowest (strict), "
        "or the first in order, as published (first)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.max_args <= MOST_ARGUMENTS:
            raise ParameterError(
                f"Parameter max_args={self.max_args}: allowed are 2 to {MOST_ARGUMENTS}."
            )
        if self.ties not in ("strict", "first"):
            raise unknown_name("value of ties", self.ties, ("strict", "first"))


class ListOps(ExpressionTask):
    """Nested lists of digits under MIN, MAX, MED and SM."""

    name = "listops"
    title = "ListOps by dependency depth"
    summary = "What does a nested list of MIN, MAX, MED and SM (sum modulo 10) evaluate to?"
    source = "NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.3 and C.2"
    parameters_type = ListOpsParameters
    bucket_name = "dependency_depth"
    labels = DIGITS
    train_rows = 1_000_000
    tokens = TOKENS[1:]

    @property
    def instruction(self) -> str:
        return (
            "Evaluate the nested list. [MIN and [MAX give the smallest and the largest of their "
            "arguments, [SM their sum modulo 10, and [MED their median; of an even number of "
            "arguments the median is the mean of the two middle ones, rounded down. The answer is "
            "a digit."
        )

    def grammar(self, split: Split) -> Grammar:
        """The proposal's trees; none is deeper than the split's largest dependency depth."""
        chosen = self.parameters
        return Grammar(
            p_op=chosen.p_op,
            min_args=2,
            max_args=chosen.max_args,
            max_depth=self.deepest(split),
            max_length=chosen.max_length,
            operators=len(chosen.operators),
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        law = ListOpsLaw(self.grammar(split), self.parameters.operators, self._strict)
        goal = self.goal(bucket)
        forest, keys = grow(draws, n, law, goal.depth, goal.operator, goal.label)
        lengths = forest.lengths()
        return Block(
            {
                "tokens": write_tokens(forest, self.parameters.operators, lengths),
                "label": (keys >> DEPTH_BITS).astype(np.int8),
                "depth": forest.depths(),
                "dependency_depth": np.full(forest.trees, goal.depth, np.int8),
                "length": lengths[0].astype(np.int16),
            }
        )

    def root_operators(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        first = pc.list_element(pc.split_pattern(columns["text"], " ", max_splits=1), 0)
        names = pa.array([f"[{name}" for name in self.parameters.operators])
        return numbers(pc.index_in(first, value_set=names).fill_null(-1))

    def gives(self, operator: int, label: int) -> bool:
        """All but MIN with 9 and MAX with 0.

        At a depth beyond 1 these take several arguments of the full depth that are all 9 (0): of
        arguments with the same value the shallowest decides.
        """
        return (self.parameters.operators[operator], label) not in (("MIN", 9), ("MAX", 0))

    def join(self, tokens: NDArray[np.uint8], length: NDArray[np.int16]) -> pa.Array:
        return join_tokens(tokens, length)

    def capacity(self, split: Split, bucket: int) -> int | None:
        if self.parameters.balance == "label":
            return None
        grammar = self.grammar(split)
        # What MIN, MAX and MED leave undecided depends on values, not on shape: not counted.
        if grammar.max_depth == 1 or self.parameters.operators == ("SM",):
            return grammar.count(bucket)
        return None

    def listing(self, split: Split, bucket: int) -> Block:
        operators, grammar = self.parameters.operators, self.grammar(split)
        texts = grammar.expressions(
            bucket, DIGITS, lambda kind, arguments: f"[{operators[kind]} {' '.join(arguments)} ]"
        )
        return self.listed(texts)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        words = pc.split_pattern(columns["text"], " ")
        codes = pc.index_in(words.values, value_set=pa.array(TOKENS[1:]))
        if codes.null_count:
            unknown = words.values[pc.index(codes.is_null(), True).as_py()]
            raise ValueError(f"{unknown.as_py()!r} is not a token of ListOps")
        lengths = np.diff(words.offsets.to_numpy())
        tokens = np.zeros((len(words), max(1, int(lengths.max(initial=1)))), np.uint8)
        filled = np.arange(tokens.shape[1]) < lengths[:, None]
        tokens[filled] = codes.to_numpy(zero_copy_only=False) + 1
        return Block({"tokens": tokens})

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        root = read_tree(row["text"], self._strict)
        return {
            "label": root.value,
            "depth": root.depth,
            "dependency_depth": root.dependency_depth,
            "length": len(row["text"].split()),
        }

    def solve(self, question: str) -> int:
        return read_tree(question, self._strict).value

    @property
    def reader(self) -> Reader:
        return Reader(
            read=functools.partial(read_tree, strict=True),
            apply=apply,
            deciding=functools.partial(deciding, strict=True),
            operators=self.parameters.operators,
            opening=tuple(range(CLOSE + 1, len(TOKENS))),
            closing=CLOSE,
        )

    def draw(self, row: Mapping[str, Any]) -> str:
        root = read_tree(row["text"], self._strict)
        kept = functools.partial(deciding, strict=self._strict)
        return f"{row['text']}\n{draw_expression(root, kept)}"

    @property
    def _strict(self) -> bool:
        return bool(self.parameters.ties == "strict")


# The generator's text: whole blocks at a time.


def write_tokens(
    forest: Forest, operators: tuple[str, ...], lengths: list[NDArray[np.int64]]
) -> NDArray[np.uint8]:
    """The trees as token codes, uint8 `(trees, max_length)`, padded with 0."""
    width = forest.grammar.max_length
    tokens = np.zeros(forest.trees * width, np.uint8)
    codes = np.array([TOKENS.index(f"[{name}") for name in operators], np.uint8)
    for level, length, start in zip(forest.levels, lengths, forest.starts(lengths), strict=True):
        place = level.tree.astype(np.int64) * width + start
        tokens[place] = level.symbol + np.uint8(1)
        inner = level.operators
        begin = place.take(inner)
        tokens[begin] = codes.take(level.symbol.take(inner))
        tokens[begin + length.take(inner) - 1] = CLOSE
    return tokens.reshape(forest.trees, width)


def join_tokens(tokens: NDArray[np.uint8], length: NDArray[np.integer[Any]]) -> pa.Array:
    """Token codes as text, one space between two tokens.

    Four tokens are looked up at once: codes have four bits.
    """
    rows, width = tokens.shape
    quads = -(-width // 4)
    padded = np.zeros((rows, quads * 4), np.uint8)
    padded[:, :width] = tokens
    pairs = padded[:, 0::2] | padded[:, 1::2] << 4
    codes = pairs[:, 0::2] | pairs[:, 1::2].astype(np.uint16) << 8
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum((length + 3) // 4, out=offsets[1:])
    words = pc.take(_quads(), pa.array(codes[codes > 0]))
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), words), " ")


@functools.cache
def _quads() -> pa.Array:
    """The text of every four tokens, by their codes; missing ones at the end are left out."""
    pairs = [f"{TOKENS[low]} {TOKENS[high]}".strip() for high in range(16) for low in range(16)]
    return pa.array([f"{first} {second}".strip() for second in pairs for first in pairs])
