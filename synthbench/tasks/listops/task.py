"""ListOps, balanced over how deep the computation has to go.

    [MED 4 8 5 [MAX 8 4 9 ] ]                 6    depth 2, dependency depth 1
    [SM 3 [MIN 0 [MAX 1 2 ] ] ]               3    depth 3, dependency depth 2

A list has an operator and two to five arguments, each a digit or a list. MIN and MAX give the
smallest and the largest argument, SM the sum modulo 10, MED the median: of an even number of
arguments the floor of the mean of the two middle values.

One argument decides MIN and MAX, one or two decide MED, all decide SM. The dependency depth of a
tree is the depth that is left when all other arguments are cut. Among arguments with the same value
those that leave the tree shallowest are kept, so every level of the dependency depth is needed.

Source: NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.3 and C.2, after Nangia & Bowman
(2018).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split, parameter
from synthbench.tasks.block import PROBLEM_KEYS
from synthbench.tasks.listops.distribution import OPERATORS, ListOpsDistribution
from synthbench.tasks.listops.solver import apply, deciding, read_tree
from synthbench.tasks.row_ids import are_held_out
from synthbench.tasks.trees.distribution import DEPTH_BITS
from synthbench.tasks.trees.effort import check_effort
from synthbench.tasks.trees.every import every_tree
from synthbench.tasks.trees.expression import Expression
from synthbench.tasks.trees.grammar import Grammar
from synthbench.tasks.trees.sampling import grow_all
from synthbench.tasks.trees.task import DIGITS, LONGEST, ExpressionParameters, ExpressionTask

TOKENS = (*DIGITS, "]", *(f"[{name}" for name in OPERATORS))
#: Rows that may be longer are drawn in smaller blocks.
_LONG = 1000
#: Rows of a round of an evaluation split, if they may not be short either. Few candidates are so
#: long, held out and of one of three splits.
_EVALUATION_ROWS = 512
#: Streams of deeper rows have small rounds.
_DEEP = 32
#: The id of each token; 0 is padding.
IDS = {token: number for number, token in enumerate(TOKENS, start=1)}


@dataclasses.dataclass(frozen=True)
class ListOpsParameters(ExpressionParameters):
    """Parameters of listops. The defaults are the paper's."""

    all_operators = OPERATORS
    per_level = 3
    nesting = "[{operator} 0 {inner} ]"

    operators: tuple[str, ...] = parameter(OPERATORS, "operators that are drawn")
    # The tables of probabilities grow with the number of arguments.
    max_args: int = parameter(
        5, "largest number of arguments of an operator. The smallest is 2", least=2, most=10
    )
    min_length: int = parameter(1, "least tokens of a row", least=1, most=LONGEST)
    ties: str = parameter(
        "strict",
        "of arguments with the same value keep those that make the tree shallowest (strict), "
        "or the first in order, as published (first)",
        choices=("strict", "first"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_length > self.max_length:
            raise ParameterError(
                f"Parameter min_length={self.min_length}: allowed are 1 to "
                f"max_length={self.max_length}."
            )


class ListOps(ExpressionTask):
    """Nested lists of digits under MIN, MAX, MED and SM."""

    name = "listops"
    title = "ListOps by dependency depth"
    summary = "What does a nested list of MIN, MAX, MED and SM (sum modulo 10) evaluate to?"
    source = "NDR (Csordás, Irie, Schmidhuber, ICLR 2022), sections 3.3 and C.2"
    instruction = (
        "Evaluate the nested list, in which each bracket holds an operator and its arguments: "
        "digits, or brackets. [MIN and [MAX give the smallest and the largest of their "
        "arguments, [SM their sum modulo 10, and [MED their median; of an even number of "
        "arguments the median is the mean of the two middle ones, rounded down. The answer is "
        "a digit, the value of the whole list."
    )
    parameters_type = ListOpsParameters
    bucket_name = "dependency_depth"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {
            "train_depths": (1, 2),
            "validation_depths": (3,),
            "test_depths": (3,),
            "max_args": 3,
            "max_length": 20,
        },
        "medium": {},  # as in the paper
        "hard": {
            "train_depths": (4, 5, 6, 7, 8),
            "validation_depths": (9,),
            "test_depths": (10, 12),
            "max_length": 120,
        },
        "long": {  # the sizes of Long Range Arena
            "p_op": 0.25,
            "max_args": 10,
            "min_length": 500,
            "max_length": 2000,
            "train_depths": tuple(range(1, 11)),
            "validation_depths": tuple(range(1, 11)),
            "test_depths": tuple(range(1, 11)),
        },
    }
    labels = DIGITS
    ordinary_bits, ordinary_tokens = 0.0, 3
    train_rows = 1_000_000
    tokens = TOKENS

    def read(self, text: str) -> Expression:
        return read_tree(text, self._strict)

    def deciding(self, node: Expression) -> Sequence[Expression]:
        return deciding(node, self._strict)

    def apply(self, operator: str, values: list[int]) -> int:
        return apply(operator, values)

    @property
    def block_rows(self) -> int:
        """Candidates of a block: fewer if rows may be longer than a thousand tokens."""
        rows = super().block_rows
        return rows if self.parameters.max_length <= _LONG else min(rows, 1_024)

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round: fewer if rows may be longer than a thousand tokens, or are very deep.

        Raises:
            ParameterError: the first row would take too long.
        """
        check_effort(self, self.distribution, split, self._round_rows)
        return self._round_rows(split)

    def _round_rows(self, split: Split) -> int:
        if self.goal(max(split.buckets)).depth > _DEEP:
            return 32 if split.evaluation else 256
        if self.parameters.max_length <= _LONG:
            return self.round_rows
        is_rare = self.parameters.min_length > 1 and split.evaluation
        return _EVALUATION_ROWS if is_rare else 2_048

    @property
    def is_ordinary(self) -> bool:
        if any(self.parameters == ListOpsParameters(**level) for level in self.levels.values()):
            return True
        parameters, paper = self.parameters, ListOpsParameters()
        more = parameters.min_length > paper.min_length or parameters.max_args > paper.max_args
        return super().is_ordinary and not more

    @property
    def _strict(self) -> bool:
        return bool(self.parameters.ties == "strict")

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The innermost list has an operator, and then a digit."""
        return tuple(token for token in TOKENS if token[1:]), DIGITS

    def grammar(self, split: Split) -> Grammar:
        """The proposal. No tree is deeper than the split's largest dependency depth."""
        parameters = self.parameters
        # Buckets are in the order of their depths first, so the largest is the deepest.
        return Grammar(
            p_op=parameters.p_op,
            min_args=2,
            max_args=parameters.max_args,
            max_depth=self.goal(max(split.buckets)).depth,
            max_length=parameters.max_length,
            operators=len(parameters.operators),
        )

    def distribution(self, split: Split) -> ListOpsDistribution:
        """The proposal and the keys of its trees."""
        return ListOpsDistribution(self.grammar(split), self.parameters.operators, self._strict)

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        goal, distribution = self.goal(bucket), self.distribution(split)
        forest, keys, whole = grow_all(
            draws, n, distribution, goal.depth, goal.operator, goal.label
        )
        problems = self.problems(forest)
        layout = forest.layout()
        wanted = whole & (are_held_out(problems) == split.evaluation)
        wanted &= layout.lengths >= self.parameters.min_length
        # Writing many of the other trees takes longer than leaving them out before.
        if 4 * np.count_nonzero(wanted) < forest.trees:
            forest, keys, problems = forest.take(wanted), keys[wanted], problems[wanted]
            layout, wanted = forest.layout(), wanted[wanted]
        block = Block(
            {
                "tokens": forest.write(layout, IDS["0"], self.operator_ids, IDS["]"]),
                "label": (keys >> DEPTH_BITS).astype(np.int8),
                "depth": forest.depths,
                "dependency_depth": np.full(forest.trees, goal.depth, np.int8),
                "length": layout.lengths.astype(np.int16),
                PROBLEM_KEYS: problems,
            }
        )
        return block.take(wanted)

    def gives(self, operator: int, label: int) -> bool:
        """All pairs but MIN with 9 and MAX with 0, which are too rare from depth 2 on.

        All arguments of such a list must be 9 (or 0), and as the shallowest of equal arguments
        decides, all of them must be as deep as the row needs.
        """
        return (self.parameters.operators[operator], label) not in (("MIN", 9), ("MAX", 0))

    def capacity(self, split: Split, bucket: int) -> int | None:
        if self.parameters.balance == "label" or self.parameters.min_length > 1:
            return None
        grammar = self.grammar(split)
        # Only what SM computes depends on a tree's shape alone, so that it can be counted.
        if grammar.max_depth == 1 or self.parameters.operators == ("SM",):
            return grammar.count(bucket)
        return None

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        forest = every_tree(self.grammar(split), bucket)
        ids = forest.write(forest.layout(), IDS["0"], self.operator_ids, IDS["]"])
        texts = self.vocabulary.join(ids).to_pylist()
        if forest.grammar.max_depth > 1:
            return self.block_of(texts)
        # Among digits the order does not matter, so that few of these lists differ.
        kinds = ["".join(sorted(text)) for text in texts]
        solved = {
            kind: self.read(text) for kind, text in dict(zip(kinds, texts, strict=True)).items()
        }
        return self.block_of(texts, [solved[kind] for kind in kinds])
