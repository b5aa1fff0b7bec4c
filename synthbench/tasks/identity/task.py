"""The identity function on vectors: the label is the input.

    -0.25 0.125 0.5 -0.375 0.0          the same five numbers
    0.8125 -1.0 0.0625 0.75 -0.5        the same: a row of the wider range of test

The numbers are uniform, in a narrow range for training and in a wider one for the test.

Source: Counting (Ouellette, Pfister, Jud, 2023), sections III-C and IV.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, Task, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import list_of, value
from synthbench.tasks.numeric import all_digits, nest, unnest

if TYPE_CHECKING:
    import pyarrow as pa

#: Ranges are divided as finely as float32 allows: its mantissa has 24 bits.
MANTISSA_BITS = 24


@dataclasses.dataclass(frozen=True)
class IdentityParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    dims: int = parameter(5, "numbers of a row", least=1, most=100)
    train_range: float = parameter(
        0.5, "largest magnitude of a number in train and iid", least=1e-6, most=1e6
    )
    test_range: float = parameter(
        1.0, "largest magnitude of a number in test", least=1e-6, most=1e6
    )


class Identity(Task):
    """Vectors to be repeated unchanged."""

    name = "identity"
    title = "Identity on vectors"
    summary = "Repeat the numbers of a vector, even where they are larger than in training."
    source = "Counting (Ouellette, Pfister, Jud, 2023), sections III-C and IV"
    instruction = "Repeat the list of numbers exactly as it is. The answer is the same list."
    parameters_type = IdentityParameters
    categories = ("tabular-regression",)
    bucket_name = "vectors"
    inputs = ("x",)
    scored_columns = ("label",)
    drawn_by_workers = False
    metrics = ("mse",)
    # All splits share one bucket, because the range of test contains that of train, and rows of
    # different splits are kept apart only within a bucket.
    splits = (
        Split("train", 100_000, evaluation=False),
        Split("iid", 1_000),
        Split("test", 1_000),
    )

    def solve(self, question: list[float]) -> list[float]:
        return list(question)

    @property
    def columns(self) -> dict[str, Column]:
        return {"x": list_of(value("float32")), "label": list_of(value("float32"))}

    def lattice(self, split: Split) -> tuple[int, float]:
        """The numbers of a split are `step` times the integers from `-steps` to `steps`.

        Returns:
            `steps`, between 2**23 and 2**24, and `step`, a power of two.
        """
        parameters = self.parameters
        span = parameters.test_range if split.name == "test" else parameters.train_range
        mantissa, exponent = math.frexp(span)
        if mantissa == 0.5:  # a power of two: the numbers below it have a smaller exponent
            exponent -= 1
        step = math.ldexp(1.0, exponent - MANTISSA_BITS)
        return math.floor(span / step), step

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        steps, step = self.lattice(split)
        drawn = draws.integers(2 * steps + 1, (n, self.parameters.dims)) - steps
        return Block({"x": (drawn * step).astype(np.float32)})

    def content(self, block: Block) -> NDArray[np.uint8]:
        numbers = np.ascontiguousarray(block["x"], "<f4")
        end = np.ones((len(block), 1), np.uint8)
        return np.concatenate([numbers.view(np.uint8), end], axis=1)

    def render(self, block: Block) -> dict[str, pa.Array]:
        vectors = nest(block["x"])
        return {"x": vectors, "label": vectors}

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """`x` and `label`, both float32 `(rows, dims)`."""
        return {"x": block["x"], "label": block["x"].copy()}

    def capacity(self, split: Split, bucket: int) -> int | None:
        steps, _ = self.lattice(split)
        return int((2 * steps + 1) ** self.parameters.dims)

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        steps, step = self.lattice(split)
        drawn = all_digits(2 * steps + 1, self.parameters.dims) - steps
        return Block({"x": (drawn * step).astype(np.float32)})

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        numbers = unnest(columns["x"], (self.parameters.dims,), "x").astype(np.float32)
        largest = max(self.parameters.train_range, self.parameters.test_range)
        if not (np.abs(numbers) <= largest).all():
            raise ValueError(f"x has a number that is not between -{largest} and {largest}")
        return Block({"x": numbers})

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """The mean squared error. Without an answer infinite, and so is the mean of the split."""
        if answer is None:
            return {"mse": math.inf}
        return {"mse": float(np.mean((answer - np.asarray(row["label"], np.float64)) ** 2))}
