"""Dyck words: brackets of several kinds, and at each place the closing bracket that is due.

    nested      o1 o2 c2 c1 o1 c1    ->  c1 c2 c1 _ c1 _
    shuffled    o1 o2 c1 o1 c2 c1    ->  c1 c2 c2 c1 c1 _

`o2` opens a bracket of kind 2 and `c2` closes the last open bracket of this kind. In `nested` it is
the last open bracket of all kinds, in `shuffled` brackets of different kinds may cross. Due is the
closing bracket of the last bracket that is still open, `_` if all are closed. Train, iid and
validation have words of one length, test of two and four times this length.

Sources: Hewitt et al., RNNs Can Generate Bounded Hierarchical Languages with Optimal Memory (EMNLP
2020), for words of a bounded depth; Jiang et al., Procedural Pretraining (2026), for both variants.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.dyck.brackets import due, nested_word, shuffled_word
from synthbench.tasks.dyck.paths import count_paths, draw_paths
from synthbench.tasks.dyck.solver import CLOSE, NOTHING, OPEN, depth_of, due_brackets
from synthbench.tasks.features import sequence, value
from synthbench.tasks.longer_rows import LongerRows, longer

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 2048
#: The fewest different rows of a bucket, so that no split runs out of rows.
_FEWEST_ROWS = 1_000_000


@dataclasses.dataclass(frozen=True)
class DyckParameters(Parameters):
    """The sizes of words."""

    kinds: int = parameter(8, "kinds of brackets", least=1, most=64)
    depth: int = parameter(8, "most brackets that are open at once", least=1, most=64)
    length: int = parameter(
        64,
        "brackets of a row of train, an even number (test: two and four times as many)",
        least=4,
        most=LONGEST,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length % 2:
            raise ParameterError(
                f"Parameter length={self.length}: allowed are even numbers, such as "
                f"{self.length - 1}."
            )
        rows = self.kinds ** (self.length // 2)
        if rows < _FEWEST_ROWS:
            rows *= count_paths(self.length, self.depth, _FEWEST_ROWS)
        if rows < _FEWEST_ROWS:
            raise ParameterError(
                f"Parameter length={self.length}: with kinds={self.kinds} and depth={self.depth} "
                f"there are {rows:,} nested words, and {_FEWEST_ROWS:,} are needed. Choose more "
                "kinds, or longer or deeper words."
            )

    @property
    def test_lengths(self) -> tuple[int, ...]:
        """The lengths of test."""
        return longer(self.length, LONGEST)


class Dyck(LongerRows):
    """Words of brackets, and the bracket that is due at each place."""

    name = "dyck"
    title = "Dyck words"
    summary = "Which closing bracket is due after each bracket of a word?"
    source = (
        "RNNs Can Generate Bounded Hierarchical Languages with Optimal Memory (Hewitt et al., "
        "EMNLP 2020), section 2; Procedural Pretraining (Jiang et al., 2026), its program"
    )
    variants: ClassVar[Mapping[str, str]] = {
        "nested": "A bracket closes the last open bracket.",
        "shuffled": "A bracket closes the last open bracket of its kind, and kinds may cross.",
    }
    parameters_type = DyckParameters
    categories = ("token-classification",)
    bucket_name = "length"
    train_rows, block_tokens, group_blocks = 160_000, 1 << 19, 16
    scored_columns = ("label",)
    drawn_by_workers = False
    forms = ("token-classification", "masked-lm", "causal-lm")
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"kinds": 2, "depth": 4, "length": 32},
        "medium": {},
        "hard": {"kinds": 64, "depth": 16, "length": 256},
    }

    def solve(self, question: str) -> list[str]:
        return due_brackets(self.variant, question, self._kinds)

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(side + kind for kind in self._kinds for side in (OPEN, CLOSE))

    @functools.cached_property
    def _kinds(self) -> dict[str, None]:
        return dict.fromkeys(map(str, range(1, 1 + self.parameters.kinds)))

    @property
    def columns(self) -> dict[str, Column]:
        label = sequence(tuple(CLOSE + kind for kind in self._kinds), ignored=NOTHING)
        sizes = {name: value("int16") for name in ("length", "depth")}
        return {"text": value("string"), "label": label, **sizes}

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        """Uniform words of `nested`; `shuffled` closes a uniform one of the open brackets."""
        ups = draw_paths(draws, n, bucket, self.parameters.depth)
        draw_word = nested_word if self.variant == "nested" else shuffled_word
        return Block({"tokens": draw_word(draws, ups, self.parameters.kinds)})

    def render(self, block: Block) -> dict[str, Any]:
        kinds, depths = due(block["tokens"], self.variant)
        # The id of '_' is behind all kinds.
        nothing = np.uint8(1 + self.parameters.kinds)
        label = np.where((block["tokens"] > 0) & (kinds == 0), nothing, kinds)
        return {"label": label, "depth": depths}

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = super().parse(columns)
        due(block["tokens"], self.variant)  # refuses other rows
        return block

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The label, the number of brackets, and the most that are open at once."""
        depth = depth_of(self.variant, row["text"], self._kinds)
        return {**super().recompute_columns(row), "depth": depth}

    @property
    def instruction(self) -> str:
        """The rule and the form of an answer."""
        rules = {
            "nested": f"The token {CLOSE}1 closes the last bracket that is still open.",
            "shuffled": (
                f"The token {CLOSE}1 closes the last bracket of kind 1 that is still open, and "
                "brackets of different kinds may cross."
            ),
        }
        return (
            f"The line is a sequence of brackets: the token {OPEN}1 opens a bracket of kind 1, "
            f"{OPEN}2 a bracket of kind 2, and so on. {rules[self.variant]} In the answer each "
            "token is replaced by the closing token of the last bracket that is still open after "
            f"this token, or by '{NOTHING}' if no bracket is open. The answer has as many tokens "
            "as the line, separated by spaces."
        )
