"""State tracking: the product of the elements of a group so far, at each place of a sequence.

    213 132 132    ->    213 312 213    in S3: 213 sends 1 to 2, and 132 sends 2 to 3
    1 1 0 1        ->    1 0 0 1        in Z2: whether the number of 1s so far is odd

A row is a sequence of elements, and its label has the running product at each place: the first is
the first element, and every other state is the product before it times the element at its place. In
the product x * y, x comes first: it sends i to y(x(i)). Train has sequences of up to 32 elements,
test of up to 256.

How hard this is depends on the group. In Z2 and Z60 the order of the elements does not matter. In
S3 and A4xZ5 it does, but they are solvable groups. A5 and S5 are not: no Transformer or linear
state-space model of constant depth is known to track them in sequences of any length.

Sequences of one, two or three elements are never held out, because every learner must see the
products of pairs.

Source: Merrill, Petty, Sabharwal, The Illusion of State in State-Space Models (ICML 2024), figure 3
and the experiments around it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.base import Block, Parameters, Split, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import sequence, value
from synthbench.tasks.numeric import all_digits
from synthbench.tasks.own_variant import OWN, OwnVariant
from synthbench.tasks.row_ids import PROBLEM_BITS
from synthbench.tasks.state_tracking import solver
from synthbench.tasks.state_tracking.groups import Group, group, group_of_table
from synthbench.tasks.state_tracking.instruction import in_words
from synthbench.tasks.state_tracking.own_group import QUATERNIONS, read_table

if TYPE_CHECKING:
    import pyarrow as pa

#: The longest rows that are never held out.
_SHORT = 3


@dataclasses.dataclass(frozen=True)
class StateTrackingParameters(Parameters):
    """Parameters of the task."""

    train_lengths: tuple[int, ...] = parameter(
        tuple(range(1, 33)), "buckets of train and, from 4 on, of iid",
        least=1, most=solver.LONGEST,
    )  # fmt: skip
    # Shorter rows are never held out, so they belong to train.
    validation_lengths: tuple[int, ...] = parameter(
        tuple(range(33, 41)), "buckets of validation", least=_SHORT + 1, most=solver.LONGEST
    )
    test_lengths: tuple[int, ...] = parameter(
        (48, 64, 96, 128, 192, 256), "buckets of test", least=_SHORT + 1, most=solver.LONGEST
    )
    group: tuple[str, ...] = parameter(
        ("quaternions",), "a JSON file with the table of products of the variant `own`"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.group != ("quaternions",):
            object.__setattr__(self, "group", read_table(self.group))


class StateTracking(OwnVariant):
    """Products of group elements, at each place of a sequence."""

    name = "state-tracking"
    title = "State tracking"
    summary = "What is the product of the group elements so far, at each place of a sequence?"
    source = "The Illusion of State (Merrill, Petty, Sabharwal, ICML 2024), figure 3"
    variants: ClassVar[Mapping[str, str]] = {
        "Z2": "0 and 1, added modulo 2: parity.",
        "Z60": "0 to 59, added modulo 60.",
        "S3": "All 6 permutations of 1 to 3.",
        "A4xZ5": "60 pairs of an even permutation of 1 to 4 and a number modulo 5: solvable.",
        "A5": "The 60 even permutations of 1 to 5: not solvable.",
        "S5": "All 120 permutations of 1 to 5: not solvable.",
        "D8": "The 8 symmetries of a square: solvable.",
        "S4": "All 24 permutations of 1 to 4: solvable.",
        "A4": "The 12 even permutations of 1 to 4: solvable.",
        "H3": "The 27 matrices of the Heisenberg group modulo 3: solvable.",
        "S5-swaps": "S5 from the 10 exchanges of two numbers and the identity.",
        "A5-generators": "A5 from 23451 and 21435, two elements whose products are all of it.",
        OWN: "The group of a table that `group` names. By default the 8 quaternions.",
    }
    parameters_type = StateTrackingParameters
    own_parameter = "group"
    bucket_name = "length"
    scored_columns = ("label",)
    drawn_by_workers = False
    forms = ("token-classification", "masked-lm", "causal-lm")
    block_rows = 4_096
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {
            "train_lengths": tuple(range(1, 9)),
            "validation_lengths": (9, 10),
            "test_lengths": (12, 16),
        },
        "medium": {},
        "hard": {
            "train_lengths": tuple(range(1, 65)),
            "validation_lengths": (80, 96),
            "test_lengths": (128, 256, 384, 500),
        },
    }

    def solve(self, question: str) -> str:
        return " ".join(solver.running_products(self.rule, question))

    @property
    def rule(self) -> solver.Group:
        """The name of the group, or the lines of the table of products of the user's."""
        if self.variant != OWN:
            return self.variant
        table: tuple[str, ...] = self.parameters.group
        return table if "group" in self.parameters.changed() else QUATERNIONS

    @property
    def group(self) -> Group:
        """The group of the variant."""
        return group_of_table(self.rule) if isinstance(self.rule, tuple) else group(self.rule)

    @functools.cached_property
    def symbols(self) -> NDArray[np.int64]:
        """The numbers of the elements that rows have."""
        some = self.group.symbols
        return np.arange(len(self.tokens)) if some is None else some

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.group.names

    @property
    def columns(self) -> dict[str, Column]:
        label = sequence(self.tokens)
        return {"text": value("string"), "label": label, "length": value("int16")}

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        parameters = self.parameters
        long = tuple(length for length in parameters.train_lengths if length > _SHORT)
        return (
            Split("train", 200_000, parameters.train_lengths, evaluation=False),
            *([Split("iid", 3_000, long)] if long else []),
            Split("validation", 1_000, parameters.validation_lengths),
            Split("test", 3_000, parameters.test_lengths),
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return self._block(draws.integers(len(self.symbols), (n, bucket)))

    def _block(self, symbols: NDArray[np.int64]) -> Block:
        return Block({"tokens": (1 + self.symbols[symbols]).astype(self.vocabulary.dtype)})

    def render(self, block: Block) -> dict[str, Any]:
        table, tokens = self._transitions, block["tokens"]
        labels = np.empty_like(tokens)
        product = np.zeros(len(tokens), tokens.dtype)
        for place in range(tokens.shape[1]):
            product = table[product, tokens[:, place]]
            labels[:, place] = product
        return {"label": labels}

    @functools.cached_property
    def _transitions(self) -> NDArray[np.integer[Any]]:
        """The id of each product by the ids of its factors, `(1 + order, 1 + order)`.

        The id 0 on the left is the empty product. On the right it is padding, whose product is 0.
        """
        ids = np.pad(1 + self.group.products, ((1, 0), (1, 0)))
        ids[0] = np.arange(len(ids))
        return ids.astype(self.vocabulary.dtype)

    @property
    def instruction(self) -> str:
        """The rule of the group, with an example that is never held out."""
        x, y = (self.tokens[self.symbols[number]] for number in (-1, len(self.symbols) // 2))
        return (
            "The line has elements of a group, separated by spaces. "
            f"{in_words(self.rule, x)} The answer has as many "
            "elements as the line, separated by spaces: the first is the line's first element, and "
            "each of the others is the product of the answer's previous element and the line's "
            f"element at the same place. For example, the answer to '{x} {y} {y}' is "
            f"'{self.solve(f'{x} {y} {y}')}'."
        )

    def capacity(self, split: Split, bucket: int) -> int:
        return int(len(self.symbols) ** bucket)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        return self._block(all_digits(len(self.symbols), bucket))

    @functools.cached_property
    def _codes(self) -> NDArray[np.uint32]:
        """A code of each id that depends on the token alone, odd but for padding, big-endian."""
        codes = [2 * int(name.replace(":", "")) + 1 for name in self.tokens]
        return np.array([0, *codes], ">u4")

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The tokens as numbers, whatever the group: a row of A5 has its id in S5, too."""
        return self._codes.take(block["tokens"]).view(np.uint8)

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """The hash of the content. Rows of at most three elements are never held out."""
        problem = hash_rows(self.content(block))
        problem[np.count_nonzero(block["tokens"], axis=1) <= _SHORT] = PROBLEM_BITS
        return problem

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = super().parse(columns)
        if (longest := block["tokens"].shape[1]) > solver.LONGEST:
            raise ValueError(
                f"state-tracking {self.variant}: a row has {longest} elements, allowed are 1 to "
                f"{solver.LONGEST}"
            )
        return block
