"""Copying: symbols that a row holds, given back where it asks for them.

    selective    blank s5 blank blank s2 copy copy      ->  _ _ _ _ _ s5 s2
    induction    s3 copy s7 s1 s4 copy blank            ->  _ _ _ _ _ s7 s1
    ngram        s4 s1 s7 s2 s1 s5 copy s1 s7 blank     ->  _ _ _ _ _ _ _ _ s2 s1

The answer has a place for each token of the row, `_` where nothing is asked. In `selective` the
symbols are at a uniform subset of the places before the marks, and the marks ask for them in order.
In `induction` a mark occurs twice, and the symbols after the first are asked from the second on. In
`ngram` a query behind the mark occurs exactly once before it, and the symbols after it are asked.
Train, iid and validation have rows of one length, test of two and four times this length.

Sources: Gu, Dao, Mamba (COLM 2024), section 4.1, for selective copying and induction heads;
Jelassi, Brandfonbrener, Kakade, Malach, Repeat After Me (ICML 2024), for n-gram look-up.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.copying.places import LAYOUTS, starts_of_query
from synthbench.tasks.copying.solver import BLANK, COPY, NOT_ASKED, copied_symbols
from synthbench.tasks.features import sequence, value
from synthbench.tasks.longer_rows import LongerRows, longer

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = 4096
#: The fewest different rows of a bucket, so that no split runs out of rows.
_FEWEST_ROWS = 1_000_000


@dataclasses.dataclass(frozen=True)
class CopyingParameters(Parameters):
    """Parameters of the task."""

    symbols: int = parameter(16, "different symbols", least=4, most=1024)
    length: int = parameter(
        64, "tokens of a row of train (test: two and four times as many)", least=16, most=LONGEST
    )
    copied: int = parameter(8, "symbols that are asked, at most a quarter of `length`", least=1,
                            most=1024)  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if 4 * self.copied > self.length:
            raise ParameterError(
                f"Parameter copied={self.copied}: {self.length} tokens allow 1 to "
                f"{self.length // 4}."
            )

    @property
    def test_lengths(self) -> tuple[int, ...]:
        """The lengths of test."""
        return longer(self.length, LONGEST)

    @property
    def query(self) -> int:
        """The symbols of a query, whose number of values is twice the longest row or more."""
        wanted = 2 * self.test_lengths[-1]
        return next(size for size in range(1, wanted) if self.symbols**size >= wanted)


class Copying(LongerRows):
    """Symbols given back where a row asks for them."""

    name = "copying"
    title = "Copying"
    summary = "Which symbols does a row ask to be copied, and in which order?"
    source = "Mamba (Gu, Dao, COLM 2024), section 4.1; Repeat After Me (Jelassi et al., ICML 2024)"
    variants: ClassVar[Mapping[str, str]] = {
        "selective": "Symbols among blanks, then as many marks, which ask for them in order.",
        "induction": "A mark occurs twice: symbols after the first are asked from the second on.",
        "ngram": "A query occurs before a mark and behind it: the symbols after it are asked.",
    }
    parameters_type = CopyingParameters
    categories = ("token-classification",)
    bucket_name = "length"
    train_rows, block_tokens, group_blocks = 100_000, 1 << 18, 64
    scored_columns = ("label",)
    forms = ("token-classification", "masked-lm", "causal-lm")
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"length": 32, "copied": 4},
        "medium": {},
        "hard": {"length": 256, "copied": 16},
    }

    def check_parameters(self) -> None:
        sizes = self.parameters
        rows = math.comb(sizes.length - sizes.copied, sizes.copied) * sizes.symbols**sizes.copied
        if self.variant == "selective" and rows < _FEWEST_ROWS:
            raise ParameterError(
                f"Parameter copied={sizes.copied}: selective has {rows:,} rows of {sizes.length} "
                f"tokens and {sizes.symbols} symbols, and needs {_FEWEST_ROWS:,}. Copy more "
                "symbols."
            )

    def solve(self, question: str) -> list[str]:
        return copied_symbols(self.variant, question, self._symbols)

    @property
    def tokens(self) -> tuple[str, ...]:
        return (BLANK, COPY, *self._symbols)

    @functools.cached_property
    def _symbols(self) -> dict[str, None]:
        return dict.fromkeys(f"s{number}" for number in range(1, 1 + self.parameters.symbols))

    @property
    def columns(self) -> dict[str, Column]:
        label = sequence(tuple(self._symbols), ignored=NOT_ASKED)
        return {"text": value("string"), "label": label, "length": value("int16")}

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        draw = getattr(self, f"_{self.variant}")
        return Block({"tokens": draw(draws, n, bucket).astype(self.vocabulary.dtype)})

    def _selective(self, draws: Draws, n: int, length: int) -> NDArray[np.int64]:
        """Symbols at a uniform subset of the places before the marks."""
        copied = self.parameters.copied
        tokens = np.full((n, length), 1)
        tokens[:, length - copied :] = 2
        subset = draws.permutations(n, length - copied)[:, :copied]
        np.put_along_axis(tokens, subset, self._drawn(draws, n, copied), axis=1)
        return tokens

    def _induction(self, draws: Draws, n: int, length: int) -> NDArray[np.int64]:
        """Symbols around a mark, then a second mark."""
        copied = self.parameters.copied
        context = length - copied
        tokens = np.full((n, length), 1)
        tokens[:, :context] = self._drawn(draws, n, context)
        tokens[:, context] = 2
        tokens[np.arange(n), draws.integers(context - copied, (n,))] = 2
        return tokens

    def _ngram(self, draws: Draws, n: int, length: int) -> NDArray[np.int64]:
        """Symbols, and behind a mark a query: uniform among the n-grams that occur once.

        A row in which no n-gram does so is drawn again.
        """
        copied, size = self.parameters.copied, self.parameters.query
        context = length - size - copied
        tokens = np.full((n, length), 1)
        tokens[:, context] = 2
        left = np.arange(n)
        while len(left):
            drawn = self._drawn(draws, len(left), context)
            unique = starts_of_query(drawn, size, copied)
            counts = unique.sum(axis=1)
            has_start = counts > 0
            drawn, unique, rows = drawn[has_start], unique[has_start], left[has_start]
            wanted = draws.below(counts[has_start]) if len(rows) else counts[has_start]
            start = (unique.cumsum(axis=1) <= wanted[:, None]).sum(axis=1)
            tokens[rows, :context] = drawn
            query = np.take_along_axis(drawn, start[:, None] + np.arange(size), axis=1)
            tokens[rows, context + 1 : context + 1 + size] = query
            left = left[~has_start]
        return tokens

    def _drawn(self, draws: Draws, n: int, count: int) -> NDArray[np.int64]:
        """The ids of uniform symbols."""
        return 3 + draws.integers(self.parameters.symbols, (n, count))

    def render(self, block: Block) -> dict[str, Any]:
        tokens = np.ascontiguousarray(block["tokens"])
        places, sources = LAYOUTS[self.variant](tokens)
        # The id of '_' is behind all symbols.
        label = (tokens > 0) * tokens.dtype.type(1 + self.parameters.symbols)
        label.reshape(-1)[places] = tokens.reshape(-1)[sources] - 2
        return {"label": label}

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = super().parse(columns)
        LAYOUTS[self.variant](block["tokens"])  # refuses other rows
        return block

    def content(self, block: Block) -> NDArray[np.uint8]:
        """Odd codes of two bytes, which do not depend on the number of symbols."""
        tokens = block["tokens"].astype(np.uint16)
        return np.where(tokens > 0, 2 * tokens + 1, 0).astype(">u2").view(np.uint8)

    @property
    def instruction(self) -> str:
        """The rule and the form of an answer."""
        rules = {
            "selective": (
                f"The line has symbols such as s1 among tokens '{BLANK}', and at its end as many "
                f"tokens '{COPY}' as it has symbols. In the answer the first '{COPY}' is replaced "
                "by the first symbol of the line, the second by the second symbol, and so on."
            ),
            "induction": (
                f"The line has symbols such as s1, and the token '{COPY}' twice. In the answer the "
                f"second '{COPY}' and each '{BLANK}' behind it are replaced by the symbols that "
                f"follow the first '{COPY}', in order."
            ),
            "ngram": (
                f"The line has symbols such as s1, then the token '{COPY}', then a query: a few "
                f"symbols that occur exactly once, in this order and side by side, before "
                f"'{COPY}'. In the answer the last symbol of the query and each '{BLANK}' behind "
                "it are replaced by the symbols that follow the query there, in order."
            ),
        }
        return (
            f"{rules[self.variant]} The answer has as many tokens as the line, separated by "
            f"spaces: every other token is replaced by '{NOT_ASKED}'."
        )
