"""The smallest task that works: add two numbers. Registered from outside the package.

    7 + 5        12     digits 1
    40 + 38      78     digits 2

Both numbers of a row have the same number of digits, which is what splits are balanced over.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, Task, parameter
from synthbench.tasks.features import Feature, value


@dataclasses.dataclass(frozen=True)
class AdditionParameters(Parameters):
    """What can be set."""

    train_digits: tuple[int, ...] = parameter((1, 2), "buckets of train and iid")
    test_digits: tuple[int, ...] = parameter((3,), "buckets of test")

    def __post_init__(self) -> None:
        for name in ("train_digits", "test_digits"):
            given = getattr(self, name)
            if not given or not set(given) <= set(range(1, 9)) or len(set(given)) < len(given):
                text = ",".join(map(str, given))
                raise ParameterError(f"Parameter {name}={text}: allowed are different 1 to 8.")


class Addition(Task):
    """Sums of two numbers of equal length."""

    name = "addition"
    title = "Addition"
    summary = "What is the sum of two whole numbers?"
    source = "No paper: an example"
    parameters_type = AdditionParameters
    bucket_name = "digits"
    breakdowns = (Breakdown("digits"),)

    @property
    def columns(self) -> dict[str, Feature]:
        return {"text": value("string"), "label": value("int32"), "digits": value("int8")}

    @property
    def splits(self) -> tuple[Split, ...]:
        return (
            Split("train", 2_000, self.parameters.train_digits, evaluation=False),
            Split("iid", 200, self.parameters.train_digits),
            Split("test", 500, self.parameters.test_digits),
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        smallest, count = _numbers(bucket)
        return Block({"numbers": smallest + draws.integers(count, (n, 2))})

    def capacity(self, split: Split, bucket: int) -> int:
        return _numbers(bucket)[1] ** 2

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        smallest, count = _numbers(bucket)
        pairs = np.indices((count, count)).reshape(2, -1).T
        return Block({"numbers": smallest + pairs})

    def render(self, block: Block) -> dict[str, pa.Array]:
        a, b = (pa.array(column) for column in block["numbers"].T)
        return {
            "text": pc.binary_join_element_wise(a.cast("string"), b.cast("string"), " + "),
            "label": pc.add(a, b).cast("int32"),
            "digits": pc.utf8_length(a.cast("string")).cast("int8"),
        }

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"label": self.solve(row["text"]), "digits": len(row["text"].split()[0])}

    def solve(self, question: str) -> int:
        first, plus, second = question.split()
        if plus != "+":
            raise ValueError(f"{question!r} is not a row of addition: expected 'a + b'")
        return int(first) + int(second)


def _numbers(digits: int) -> tuple[int, int]:
    """The smallest number of so many digits, and how many numbers there are."""
    smallest = 10 ** (digits - 1) if digits > 1 else 0
    return smallest, 10**digits - smallest
