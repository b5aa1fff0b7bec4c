"""Functions of lists: the list itself, its distinct symbols, a union, a list without a symbol.

    identity   s4 s1 s4 s7              ->  s4 s1 s4 s7
    set        s4 s1 s4 s7              ->  s4 s1 s7 end _
    union      s4 s1 union s7 s4        ->  s4 s1 s7 end _
    delete     s4 s1 s4 s7 delete s4    ->  s1 s4 s7

`set` and `union` list symbols in the order in which they first occur, `delete` takes the first
occurrence away. Labels of `set` and `union` end in `end`, and `_` behind it hides their length.
Train, iid and validation have rows of one length, test of two and four times this length.

Source: Jiang et al., Procedural Pretraining: Warming Up Language Models with Abstract Data (2026),
and its program, which has these functions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.base import Block, Parameters, Split, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.coupling import first_positions
from synthbench.tasks.features import sequence, value
from synthbench.tasks.lists.columns import FUNCTIONS, without
from synthbench.tasks.lists.solver import BEHIND, DELETE, END, UNION, list_function
from synthbench.tasks.longer_rows import LongerRows, longer

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 2048


@dataclasses.dataclass(frozen=True)
class ListParameters(Parameters):
    """The sizes of rows."""

    symbols: int = parameter(99, "different symbols", least=4, most=128)
    length: int = parameter(
        64, "tokens of a row of train (test: two and four times as many)", least=16, most=LONGEST
    )

    positions: str = parameter(
        "counted",
        "counted, or coupled: in identity a symbol and its copy have the same position",
        choices=("counted", "coupled"),
    )

    @property
    def test_lengths(self) -> tuple[int, ...]:
        """The lengths of test."""
        return longer(self.length, LONGEST)


class Lists(LongerRows):
    """A function of a list, or of two lists."""

    name = "lists"
    title = "Functions of lists"
    summary = "Which list does a function of lists give: identity, set, union or delete?"
    source = "Procedural Pretraining (Jiang et al., 2026), its program"
    variants: ClassVar[Mapping[str, str]] = {
        "identity": "The list itself.",
        "set": "The distinct symbols of a list, in the order in which they first occur.",
        "union": "The distinct symbols of two lists, in the order in which they first occur.",
        "delete": "The list without the first occurrence of a symbol.",
    }
    parameters_type = ListParameters
    categories = ("text-generation",)
    bucket_name = "length"
    unstreamed = ("positions",)
    train_rows, block_tokens, group_blocks = 160_000, 1 << 19, 16
    scored_columns = ("label",)
    drawn_by_workers = False
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"symbols": 16, "length": 16},
        "medium": {},
        "hard": {"symbols": 128, "length": 256},
    }

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.parameters.positions == "coupled" and self.variant != "identity":
            raise ParameterError(
                f"Parameter positions=coupled: possible in identity, not in {self.variant}."
            )

    def position_ids(self, block: Block) -> NDArray[np.int64] | None:
        """With `positions=coupled`, positions that count on from a number drawn for each row."""
        if self.parameters.positions != "coupled":
            return None
        tokens = block["tokens"]
        lengths = np.count_nonzero(tokens, axis=1)
        longest = max(*self.parameters.test_lengths, int(lengths.max(initial=0)))
        first = first_positions(self.content(block), lengths, longest)
        return np.where(tokens == 0, 0, first[:, None] + np.arange(tokens.shape[1]))

    def answer_positions(self, block: Block) -> NDArray[np.int64] | None:
        """Those of the list."""
        return self.position_ids(block)

    def solve(self, question: str) -> list[str]:
        return list_function(self.variant, question, self._symbols)

    @property
    def tokens(self) -> tuple[str, ...]:
        return (UNION, DELETE, *self._symbols)

    @functools.cached_property
    def _symbols(self) -> dict[str, None]:
        return dict.fromkeys(f"s{number}" for number in range(1, 1 + self.parameters.symbols))

    @property
    def columns(self) -> dict[str, Column]:
        symbols = tuple(self._symbols)
        is_ended = self.variant in ("set", "union")
        label = sequence((*symbols, END), ignored=BEHIND) if is_ended else sequence(symbols)
        return {"text": value("string"), "label": label, "length": value("int16")}

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        """Uniform symbols. The place of `union` and the place of the deleted symbol are uniform."""
        marks = {"identity": 0, "set": 0, "union": 1, "delete": 2}[self.variant]
        tokens = 3 + draws.integers(self.parameters.symbols, (n, bucket - marks))
        if self.variant == "union":
            mark = 1 + draws.integers(bucket - 2, n)
            places = np.arange(bucket) - (np.arange(bucket) > mark[:, None])
            tokens = np.take_along_axis(tokens, np.minimum(places, bucket - 2), axis=1)
            tokens[np.arange(n), mark] = 1
        elif self.variant == "delete":
            place = draws.integers(bucket - 2, n)
            deleted = tokens[np.arange(n), place]
            tokens = np.column_stack([tokens, np.full(n, 2), deleted])
        return Block({"tokens": tokens.astype(np.uint8)})

    def render(self, block: Block) -> dict[str, Any]:
        ids = block["tokens"].astype(np.int64)
        return {"label": FUNCTIONS[self.variant](ids, self.parameters.symbols)}

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = super().parse(columns)
        self.render(block)  # refuses other rows
        return block

    def problem(self, block: Block) -> NDArray[np.uint64] | None:
        """For `union` a hash of both lists in a row: the answer does not depend on the mark."""
        if self.variant != "union":
            return None
        tokens = block["tokens"]
        return hash_rows(without(tokens.astype(np.int64), tokens == 1).astype(np.uint8))

    @property
    def instruction(self) -> str:
        """The rule and the form of an answer."""
        rules = {
            "identity": "The line is a list of symbols such as s1. The answer is the same list.",
            "set": (
                "The line is a list of symbols such as s1. The answer has each symbol of the list "
                f"once, in the order in which the symbols first occur, then '{END}'."
            ),
            "union": (
                f"The line has two lists of symbols such as s1, with '{UNION}' between them. The "
                "answer has each symbol of the two lists once, in the order in which the symbols "
                f"first occur, then '{END}'."
            ),
            "delete": (
                f"The line has a list of symbols such as s1, then '{DELETE}' and one of the "
                "symbols. The answer is the list without the first occurrence of this symbol."
            ),
        }
        return f"{rules[self.variant]} Its tokens are separated by spaces."
