"""Parity: whether exactly one of two numbers is odd decides which of two others is the answer.

    3 4 7 2 =          7    of 3 and 4 exactly one is odd: the answer is the third number
    3 5 7 2 =          2    3 and 5 are both odd: the answer is the fourth

A row is an equation `a b c d =` of integers from 0 to 10. Task 1 is to see whether exactly one of a
and b is odd, task 2 to answer c if so, else d. There are 11^4 = 14,641 equations: test has all that
are held out, about an eighth. Train has 30% of all, drawn from the others.

Source: Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.12.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, TextTask, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import class_label, value
from synthbench.tasks.numeric import all_digits
from synthbench.tasks.parity.solver import asks_for_c, read_equation
from synthbench.tasks.row_ids import are_held_out

if TYPE_CHECKING:
    import pyarrow as pa


@dataclasses.dataclass(frozen=True)
class ParityParameters(Parameters):
    """Parameters. The default is the paper's."""

    # With two values, all sixteen equations would be in train.
    n_values: int = parameter(
        11, "how many values a, b, c and d may have: 0 to n_values - 1", least=3, most=40
    )


class Parity(TextTask):
    """One of two numbers, chosen by the parities of two others."""

    name = "parity"
    title = "Parity"
    summary = "In `a b c d =`: c if exactly one of a and b is odd, else d."
    source = "Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.12"
    instruction = (
        "The line has four numbers a, b, c and d, and then a '='. If exactly one of a and b is "
        "odd, the answer is c. Otherwise the answer is d."
    )
    parameters_type = ParityParameters
    bucket_name = "equations"
    scored_columns = ("label",)
    drawn_by_workers = False
    group_by = (Breakdown("label"),)
    ordinary_bits, ordinary_tokens = 0.0, 3
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"n_values": 6},
        "medium": {},  # as in the paper
        "hard": {"n_values": 20},
    }

    def solve(self, question: str) -> int:
        a, b, c, d = read_equation(question, self.parameters.n_values)
        return c if asks_for_c(a, b) else d

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*map(str, range(self.parameters.n_values)), "=")

    @property
    def columns(self) -> dict[str, Column]:
        label = class_label(self.tokens[:-1])
        return {"text": value("string"), "label": label, **dict.fromkeys("abcd", value("int8"))}

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        held_out = are_held_out(self.problem(self.enumerate_rows(Split("all", 0), 0)))
        train = Split("train", round(0.3 * len(held_out)), evaluation=False)
        return train, Split("test", int(held_out.sum()))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return self._block(draws.integers(self.parameters.n_values, (n, 4)))

    def _block(self, numbers: NDArray[np.int64]) -> Block:
        # The id of the number n is n + 1; '=' has the last id.
        tokens = np.full((len(numbers), 5), len(self.tokens), np.uint8)
        tokens[:, :4] = numbers + 1
        return Block({"tokens": tokens})

    def render(self, block: Block) -> dict[str, Any]:
        a, b, c, d = numbers = block["tokens"][:, :4].T.astype(np.int8) - np.int8(1)
        return {"label": np.where(a % 2 != b % 2, c, d), **dict(zip("abcd", numbers, strict=True))}

    def capacity(self, split: Split, bucket: int) -> int:
        return int(self.parameters.n_values**4)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        return self._block(all_digits(self.parameters.n_values, 4))

    def content(self, block: Block) -> NDArray[np.uint8]:
        """The ids of the four numbers, without that of '=', which depends on `n_values`."""
        return block["tokens"][:, :4]

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """The content with a and b in ascending order."""
        content = self.content(block).copy()
        a, b = block["tokens"][:, :2].T
        content[:, 0], content[:, 1] = np.minimum(a, b), np.maximum(a, b)
        return hash_rows(content)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        tokens = self.vocabulary.encode(columns["text"], width=5)
        if tokens.shape[1] > 5 or ((tokens == len(self.tokens)) != [0, 0, 0, 0, 1]).any():
            raise ValueError("parity: not every row is of the form 'a b c d ='")
        return Block({"tokens": tokens})

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The whole row."""
        return (self.tokens[:-1],) * 4 + (("=",),)

    def row_spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Each `=` with the four words before it."""
        return [(end - 5, end) for end, word in enumerate(words, 1) if word == "=" and end >= 5]

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        numbers = read_equation(row["text"], self.parameters.n_values)
        return {"label": self.solve(row["text"]), **dict(zip("abcd", numbers, strict=True))}

    def probe_targets(self, row: Mapping[str, Any]) -> dict[str, int]:
        """The parities of a and b, the answer to task 1, c and d, and the label."""
        a, b = row["a"], row["b"]
        targets = {"a is odd": a % 2, "b is odd": b % 2, "outcome": int(asks_for_c(a, b))}
        return targets | {name: row[name] for name in ("c", "d", "label")}

    def regions(self) -> dict[str, tuple[int, ...]]:
        """The places of a and b, and of c and d."""
        return {"indicators": (0, 1), "targets": (2, 3)}
