"""Parity: the parities of two numbers select which of two other numbers is the answer.

    3 4 7 2 =          7    exactly one of 3 and 4 is odd: the third is the answer
    3 5 7 2 =          2    both of 3 and 5 are odd: the fourth is the answer

A row is an equation `a b c d =` of integers from 0 to 10. The label is c if exactly one of a and b
is odd, else d. There are 11^4 = 14,641 equations. Test has those that are held out, about an
eighth, and train 30% of all, drawn from the others.

Source: Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.12.
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

from synthbench.features import Feature, class_label, value
from synthbench.seeding import Draws, hash_rows
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, TextTask, parameter
from synthbench.tasks.parity.solver import asks_for_c, read_equation
from synthbench.tasks.row_ids import is_held_out

NUMBERS = ("a", "b", "c", "d")


@dataclasses.dataclass(frozen=True)
class ParityParameters(Parameters):
    """What can be set; the default is the paper's."""

    # Of the sixteen equations of two values none is held out.
    n_values: int = parameter(
        11, "how many values a, b, c and d may have: 0 to n_values - 1", least=3, most=40
    )


class Parity(TextTask):
    """One of two numbers, chosen by the parities of two others."""

    name = "parity"
    title = "Parity"
    summary = "In `a b c d =`: c if exactly one of a and b is odd, else d."
    source = "Eureka (Hoffmann, Schrodi, Behrmann, Fischer, Brox, ICML 2024), sections 4 and A.12"
    parameters_type = ParityParameters
    bucket_name = "equations"
    judged_by = ("label",)
    breakdowns = (Breakdown("label"),)

    def solve(self, question: str) -> int:
        a, b, c, d = read_equation(question, self.parameters.n_values)
        return c if asks_for_c(a, b) else d

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*map(str, range(self.parameters.n_values)), "=")

    @property
    def columns(self) -> dict[str, Feature]:
        label = class_label(self.tokens[:-1])
        return {"text": value("string"), "label": label, **dict.fromkeys(NUMBERS, value("int8"))}

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        """30% of all equations, and all that are held out."""
        held_out = is_held_out(self.problem(self.all_equations()))
        train = Split("train", round(0.3 * len(held_out)), evaluation=False)
        return train, Split("test", int(held_out.sum()))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return self.equations(draws.integers(self.parameters.n_values, (n, 4)))

    def equations(self, numbers: NDArray[np.integer[Any]]) -> Block:
        """Rows of four numbers each, from `(rows, 4)`: the token id of number n is n + 1."""
        return Block({"tokens": np.insert(numbers + 1, 4, len(self.tokens), axis=1).astype("u1")})

    def render(self, block: Block) -> dict[str, pa.Array]:
        a, b, c, d = numbers = (block["tokens"][:, :4] - np.uint8(1)).T
        label = np.where((a ^ b) & 1, c, d).astype(np.int64)
        columns = dict(zip(NUMBERS, map(pa.array, numbers.astype(np.int8)), strict=True))
        return {"text": self.join(block), "label": pa.array(label), **columns}

    @property
    def instruction(self) -> str:
        return (
            "The line has four numbers a, b, c and d, and then a '='. If exactly one of a and b is "
            "odd, the answer is c; otherwise the answer is d."
        )

    def capacity(self, split: Split, bucket: int) -> int:
        return int(self.parameters.n_values**4)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        return self.all_equations()

    def all_equations(self) -> Block:
        return self.equations(np.indices((self.parameters.n_values,) * 4).reshape(4, -1).T)

    def content(self, block: Block) -> NDArray[np.uint8]:
        """Token ids of the four numbers; that of '=' depends on `n_values` and is left out."""
        return block["tokens"][:, :4].copy()

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """The content, with a and b in ascending order."""
        content = self.content(block)
        content[:, :2].sort(axis=1)
        return hash_rows(content)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        block = super().parse(columns)
        if not pc.match_substring_regex(columns["text"], r"^([0-9]+ ){4}=$").to_numpy(False).all():
            raise ValueError("parity: not every row is of the form 'a b c d ='")
        return block if len(block) else self.equations(np.zeros((0, 4), np.uint8))

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        numbers = read_equation(row["text"], self.parameters.n_values)
        return {"label": self.solve(row["text"]), **dict(zip(NUMBERS, numbers, strict=True))}

    def probe_targets(self, row: Mapping[str, Any]) -> dict[str, int]:
        """Whether a and b are odd, whether the rule selects c, both candidates and the label."""
        a, b = row["a"], row["b"]
        asked = {"a is odd": a % 2, "b is odd": b % 2, "outcome": int(asks_for_c(a, b))}
        return asked | {name: row[name] for name in ("c", "d", "label")}
