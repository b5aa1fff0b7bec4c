"""The base of listops and arithmetic: rows are expressions, balanced over a depth.

Both have the splits of NDR, section C.2: training and in-distribution rows of depth 1 to 5,
validation of depth 6, test of depth 7 and 8, and at most 50 tokens. The paper balances nothing
else, so some labels are more frequent than others, most of all given the root's operator. With
`balance=label` rows of every depth are balanced over both.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_name
from synthbench.errors import ParameterError
from synthbench.tasks.arrow import arrow_array, numpy_array
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, TextTask, parameter
from synthbench.tasks.block import PROBLEM_KEYS
from synthbench.tasks.column import Column
from synthbench.tasks.features import class_label, value
from synthbench.tasks.tokens import pad
from synthbench.tasks.trees.expression import Expression
from synthbench.tasks.trees.grammar import Forest
from synthbench.tasks.trees.problems import brackets, problem_keys, token_codes

if TYPE_CHECKING:
    import pyarrow as pa

DIGITS = tuple("0123456789")
#: The deepest trees and the longest rows that can be asked for.
DEEPEST, LONGEST = 40, 2000
#: The sign in place of brackets around something else than an expression. No task has such a token.
_NO_EXPRESSION = "?"


@dataclasses.dataclass(frozen=True)
class ExpressionParameters(Parameters):
    """Parameters of both tasks, which have their own defaults for `p_op` and `operators`.

    Attributes:
        all_operators: the operators that may be chosen.
        per_level: tokens that each level adds to the shortest expression. A digit has one token.
        nesting: the shortest expression of a depth, around the one of the depth below.
    """

    all_operators: ClassVar[tuple[str, ...]]
    per_level: ClassVar[int]
    nesting: ClassVar[str]

    p_op: float = parameter(0.3, "chance that an argument is an operator")
    max_length: int = parameter(50, "most tokens of a row", least=1, most=LONGEST)
    operators: tuple[str, ...] = parameter((), "operators that are drawn")
    train_depths: tuple[int, ...] = parameter(
        (1, 2, 3, 4, 5), "buckets of train and iid", least=1, most=DEEPEST
    )
    validation_depths: tuple[int, ...] = parameter(
        (6,), "buckets of validation", least=1, most=DEEPEST
    )
    test_depths: tuple[int, ...] = parameter((7, 8), "buckets of test", least=1, most=DEEPEST)
    balance: str = parameter(
        "depth",
        "what rows are balanced over: depth, as in the paper, or label: in every depth over the "
        "root's operator, and under each operator over the labels",
        choices=("depth", "label"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p_op != 0.0 and not 0.001 <= self.p_op <= 0.999:
            raise ParameterError(f"Parameter p_op={self.p_op}: allowed are 0, or 0.001 to 0.999.")
        for name in self.operators:
            check_name("operator", name, self.all_operators)
        if not self.operators or len(set(self.operators)) < len(self.operators):
            raise ParameterError(f"Parameter operators={','.join(self.operators)}: name each once.")
        # Refuse depths that no tree can have.
        splits = ("train_depths", "validation_depths", "test_depths")
        name = max(splits, key=lambda name: max(getattr(self, name)))
        deepest = max(getattr(self, name))
        if self.p_op == 0.0 and deepest > 1:
            raise ParameterError(
                f"Parameter p_op=0.0 never nests operations, but {name} asks for {deepest}."
            )
        shortest = 1 + self.per_level * deepest
        if self.max_length < shortest:
            expression = "0"
            for _ in range(deepest):
                expression = self.nesting.format(operator=self.operators[0], inner=expression)
            raise ParameterError(
                f"Parameter max_length={self.max_length}: too short for {name} up to {deepest}; "
                f"the shortest expression of depth {deepest} has {shortest} tokens: {expression}"
            )


class Goal(NamedTuple):
    """The common properties of a bucket's rows.

    Attributes:
        depth: the depth that the splits are balanced over.
        operator: number of the root's operator; None for any.
        label: the label; None for any.
    """

    depth: int
    operator: int | None = None
    label: int | None = None


class ExpressionTask(TextTask):
    """A task whose rows are expressions.

    Its blocks have `tokens` uint8 `(rows, longest)`, `PROBLEM_KEYS` uint64, and `label`, `depth`,
    `dependency_depth` and `length` as in the files.
    """

    scored_columns = ("label",)
    group_by = (Breakdown("dependency_depth"), Breakdown("depth"), Breakdown("length", width=10))
    # Half a round, so that rows are written while the next round is drawn.
    group_rows = 32_768
    #: Rows of the paper's train split.
    train_rows: ClassVar[int]

    # Each of the two tasks defines these.

    @abc.abstractmethod
    def read(self, text: str) -> Expression:
        """The tree of a row with all values and depths, by the reference solver.

        Raises:
            ValueError: the text is not an expression of this task.
        """

    @abc.abstractmethod
    def deciding(self, node: Expression) -> Sequence[Expression]:
        """The arguments that decide an operator's value, by the reference solver."""

    @abc.abstractmethod
    def apply(self, operator: str, values: list[int]) -> int:
        """The value of an operator over one or more values, by the reference solver."""

    @property
    @abc.abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the values that an expression can have."""

    def gives(self, operator: int, label: int) -> bool:
        """True if `balance=label` has buckets with this root operator and label, at every depth."""
        return True

    def label_chance(self, goal: Goal) -> float:
        """The share of the proposed trees of a bucket that have its label."""
        return 1.0

    # The rest follows.

    def solve(self, question: str) -> int:
        return self.read(question).value

    @functools.cached_property
    def operator_ids(self) -> NDArray[np.uint8]:
        """The ids of the tokens of the operators that are drawn, uint8 `(operators,)`."""
        names = [token.lstrip("[") for token in self.tokens]
        return np.array([1 + names.index(name) for name in self.parameters.operators], np.uint8)

    def root_operators(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        """The number of each row's root operator, int64 `(rows,)`; -1 if it is never drawn."""
        words = self.vocabulary.split(columns["text"])
        ids = self.vocabulary.number(words.flatten())
        tokens = pad(ids, numpy_array(words.value_lengths()), least=1)
        opened, closed = (
            np.cumsum(bracket.take(tokens), axis=1, dtype=np.int8)
            for bracket in brackets(self.tokens)
        )
        is_root = (opened - closed == 1) & np.isin(tokens, self.operator_ids)
        root = tokens[np.arange(len(tokens)), is_root.argmax(axis=1)]
        index = (self.operator_ids == root[:, None]).argmax(axis=1)
        return np.where(is_root.any(axis=1), index, -1)

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "text": value("string"),
            "label": class_label(self.labels),
            "depth": value("int8"),
            "dependency_depth": value("int8"),
            "length": value("int16"),
        }

    @functools.cached_property  # with balance=label there are hundreds of buckets
    def splits(self) -> tuple[Split, ...]:
        parameters = self.parameters
        return (
            Split(
                "train", self.train_rows, self.buckets_of(parameters.train_depths), evaluation=False
            ),
            Split("iid", 1_000, self.buckets_of(parameters.train_depths)),
            Split("validation", 1_000, self.buckets_of(parameters.validation_depths)),
            Split("test", 1_000, self.buckets_of(parameters.test_depths)),
        )

    @property
    def block_rows(self) -> int:
        """Fewer candidates where there are many buckets, each of which has its own blocks."""
        return 16_384 if self.parameters.balance == "depth" else 512

    @property
    def is_ordinary(self) -> bool:
        """True if rows are at most as deep and as rare as the paper's. Their streams begin soon."""
        own = self.parameters
        depths = (*own.train_depths, *own.validation_depths, *own.test_depths)
        paper = self.parameters_type()
        return bool(
            isinstance(paper, ExpressionParameters)
            and own.balance == paper.balance
            and own.max_length >= paper.max_length
            and own.p_op <= paper.p_op
            and max(depths) <= max(paper.test_depths)
        )

    @property
    def by_depth(self) -> Self:
        """The task with rows of each depth instead of each depth, operator and label."""
        return type(self)(parameters=dataclasses.replace(self.parameters, balance="depth"))

    # Buckets: the depths themselves, or numbers made of depth, root operator and label.

    def buckets_of(self, depths: tuple[int, ...]) -> tuple[int, ...]:
        """The buckets of these depths.

        Operators and labels alternate, because the first buckets get the rows that are left over
        when rows do not divide evenly.
        """
        if self.parameters.balance == "depth":
            return depths
        operators, labels = len(self.parameters.operators), len(self.labels)
        pairs = list(itertools.product(depths, range(operators)))
        return tuple(
            (depth * operators + operator) * labels + (turn + index) % labels
            for turn in range(labels)
            for index, (depth, operator) in enumerate(pairs)
            if self.gives(operator, (turn + index) % labels)
        )

    def goal(self, bucket: int) -> Goal:
        """The common properties of the bucket's rows."""
        if self.parameters.balance == "depth":
            return Goal(bucket)
        rest, label = divmod(bucket, len(self.labels))
        depth, operator = divmod(rest, len(self.parameters.operators))
        return Goal(depth, operator, label)

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        depths = super().buckets(columns)
        if self.parameters.balance == "depth":
            return depths
        operator, label = self.root_operators(columns), numpy_array(columns["label"])
        rest = depths * len(self.parameters.operators) + operator
        return np.where(operator < 0, -1, rest * len(self.labels) + label)

    def bucket_label(self, bucket: int) -> str:
        depth, operator, label = self.goal(bucket)
        if operator is None or label is None:
            return str(depth)
        return f"{depth} {self.parameters.operators[operator]} {self.labels[label]}"

    def input_ids(self, block: Block) -> NDArray[np.integer[Any]]:
        """The ids `(rows, max_length)`: batches of tokens have one width, blocks have their own."""
        tokens = block["tokens"]
        missing = max(0, self.parameters.max_length - tokens.shape[1])
        return np.pad(tokens, ((0, 0), (0, missing))) if missing else tokens

    # Problem keys, which decide what is held out: see `problems`.

    def problem(self, block: Block) -> NDArray[np.uint64]:
        if PROBLEM_KEYS in block.columns:
            return block[PROBLEM_KEYS]
        return problem_keys(block["tokens"], self.tokens)

    def problems(self, forest: Forest) -> NDArray[np.uint64]:
        """The problem keys of trees, uint64 `(trees,)`."""
        codes = token_codes(self.tokens)
        first = 1 + self.tokens.index(DIGITS[0])
        return forest.problems(codes[first : first + len(DIGITS)], codes[self.operator_ids])

    # Expressions in texts of others.

    def row_spans(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Expressions that are not a part of a longer expression, whatever is around them.

        An expression is solved with a digit in place of each of its arguments that are expressions
        themselves, so that the time is linear in the number of words.
        """
        # Of each open bracket: its place, the words behind it, and the expressions among them.
        unclosed: list[tuple[int, list[str], list[tuple[int, int]]]] = [(0, [], [])]
        for place, word in enumerate(words):
            if word[0] in "[(":
                unclosed.append((place, [word], []))
            elif word not in "])" or len(unclosed) == 1:
                unclosed[-1][1].append(word)
            else:
                first, inside, spans = unclosed.pop()
                try:
                    self.solve(self.separator.join([*inside, word]))
                except ValueError:
                    yield from spans
                    unclosed[-1][1].append(_NO_EXPRESSION)
                else:
                    unclosed[-1][1].append(DIGITS[0])
                    if place + 1 - first <= LONGEST:
                        unclosed[-1][2].append((first, place + 1))
        for _, _, spans in unclosed:
            yield from spans

    def render(self, block: Block) -> dict[str, Any]:
        return {name: block[name] for name in ("label", "depth", "dependency_depth", "length")}

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        root = self.read(row["text"])
        return {
            "label": root.value,
            "depth": root.depth,
            "dependency_depth": root.dependency_depth,
            "length": self.vocabulary.count(row["text"]),
        }

    def block_of(self, texts: Sequence[str], roots: Sequence[Expression] = ()) -> Block:
        """A block of the rows with these texts, solved one by one if their trees are not given."""
        tokens = self.vocabulary.encode(arrow_array(texts), self.parameters.max_length)
        trees = roots or [self.read(text) for text in texts]
        columns = {
            "label": np.array([tree.value for tree in trees], np.int8),
            "depth": np.array([tree.depth for tree in trees], np.int8),
            "dependency_depth": np.array([tree.dependency_depth for tree in trees], np.int8),
            "length": np.count_nonzero(tokens, axis=1).astype(np.int16),
        }
        return Block({"tokens": tokens, **columns, PROBLEM_KEYS: problem_keys(tokens, self.tokens)})
