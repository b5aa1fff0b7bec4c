"""Count colours in a grid: how often does each cell's colour occur in it?

    6 6 0          3 3 0
    3 7 0          2 1 0
    4 3 6          1 2 3

    0 5            0 1
    0 0            0 0

Colours are 1..9; 0 is the background, whose cells have the label 0 however many there are. Grids
are square: small ones to learn counting from, larger ones to see whether it was learned.

Source: Counting (Ouellette, Pfister, Jud, 2023), sections III-A and IV; the first row is the
grid of table III.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.features import Feature, value
from synthbench.seeding import Draws, threshold
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, Task, parameter
from synthbench.tasks.grid_scrutiny import grid_scrutiny
from synthbench.tasks.grids import (
    COLORS,
    from_lists,
    pack,
    paint,
    to_colors,
    to_labels,
    to_lists,
    to_squares,
)
from synthbench.tasks.numeric import all_digits, nest, read_numbers
from synthbench.tasks.scrutiny import Scrutiny

#: The paper counts in grids of up to 100x100 cells.
LARGEST_SIZE = 100


@dataclasses.dataclass(frozen=True)
class GridCountParameters(Parameters):
    """What can be set; the defaults are the paper's."""

    fill: float = parameter(0.8, "chance that a cell is coloured")
    train_sizes: tuple[int, ...] = parameter((1, 2, 3, 4, 5, 6), "buckets of train")
    iid_sizes: tuple[int, ...] = parameter((6,), "buckets of iid, some of train_sizes")
    test_sizes: tuple[int, ...] = parameter((7, 8, 9, 10, 12, 15, 20), "buckets of test")

    def __post_init__(self) -> None:
        if not 0.0 <= self.fill <= 1.0:
            raise ParameterError(f"Parameter fill={self.fill}: allowed are 0 to 1.")
        for name in ("train_sizes", "iid_sizes", "test_sizes"):
            sizes = getattr(self, name)
            allowed = set(range(1, LARGEST_SIZE + 1))
            if not sizes or len(set(sizes)) < len(sizes) or not set(sizes) <= allowed:
                raise ParameterError(
                    f"Parameter {name}={_join(sizes)}: "
                    f"allowed are different sizes from 1 to {LARGEST_SIZE}."
                )
        if not set(self.iid_sizes) <= set(self.train_sizes):
            raise ParameterError(
                f"Parameter iid_sizes={_join(self.iid_sizes)}: "
                f"allowed are sizes of train_sizes={_join(self.train_sizes)}."
            )


def _join(sizes: tuple[int, ...]) -> str:
    return ",".join(map(str, sizes))


class GridCount(Task):
    """Square grids of ten colours, labelled with how often each cell's colour occurs."""

    name = "grid-count"
    title = "Colour counting in grids"
    summary = "How often does each cell's colour occur in a square grid?"
    source = "Counting (Ouellette, Pfister, Jud, 2023), sections III-A and IV"
    parameters_type = GridCountParameters
    categories = ("other",)
    bucket_name = "size"
    inputs = ("grid",)
    judged_by = ("grid", "label")
    breakdowns = (Breakdown("size"),)
    metrics = ("cell_accuracy", "foreground_accuracy", "grid_accuracy")
    binary_metrics = ("grid_accuracy",)

    @property
    def columns(self) -> dict[str, Feature]:
        return {
            "grid": [[value("int8")]],
            "label": [[value("int16")]],
            "color_counts": [value("int16")],
            "size": value("int16"),
        }

    @property
    def splits(self) -> tuple[Split, ...]:
        chosen = self.parameters
        return (
            Split("train", 100_000, chosen.train_sizes, evaluation=False),
            Split("iid", 1_000 * len(chosen.iid_sizes), chosen.iid_sizes),
            Split("test", 1_000 * len(chosen.test_sizes), chosen.test_sizes),
        )

    # Two million cells are a block of some 10 ms, four million a round of some 50 MB.

    @property
    def block_rows(self) -> int:
        return self._rows_of(1 << 21, 16_384)

    @property
    def round_rows(self) -> int:
        return self._rows_of(1 << 22, 65_536)

    @property
    def group_rows(self) -> int:
        return self._rows_of(1 << 21, 65_536)

    @property
    def shard_rows(self) -> int:
        return self._rows_of(1 << 23, 250_000)

    def _rows_of(self, cells: int, most: int) -> int:
        """How many of the largest grids have this many cells; at most `most`."""
        largest = max(self.parameters.train_sizes + self.parameters.test_sizes)
        return int(min(most, cells // largest**2))

    @functools.cached_property
    def _edges(self) -> list[int]:
        """Where the shares of 0 to 8 end among the 32-bit integers; the rest belongs to 9."""
        fill = self.parameters.fill
        return [int(threshold(1.0 - fill + fill * (color / 9))) for color in COLORS[:-1]]

    @functools.cached_property
    def _possible(self) -> NDArray[np.int64]:
        """The colours that are drawn at all: not 0 with a fill of 1, 0 alone with one of 0."""
        return np.flatnonzero(np.diff([0, *self._edges, 1 << 32]))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        halves = draws.halves((n, bucket * bucket))
        cells = np.ones(halves.shape, np.uint8)
        for edge in self._edges:
            cells += halves >= edge
        return pack(cells, max(split.buckets))

    def content(self, block: Block) -> NDArray[np.uint8]:
        return block["cells"]

    def render(self, block: Block) -> dict[str, pa.Array]:
        return {
            "grid": to_lists(to_colors(block), block),
            "label": to_lists(to_labels(block), block),
            "color_counts": nest(block["color_counts"]),
            "size": pa.array(block["size"]),
        }

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """The columns in NumPy, grids padded to the largest size of the split.

        Returns:
            `grid` int8 and `label` int16, both `(rows, largest, largest)` with -1 beyond the
            grid, which fills the upper left corner; `color_counts` int16 `(rows, 10)`; `size`
            int16 `(rows,)`.
        """
        return {
            "grid": to_squares(to_colors(block), block),
            "label": to_squares(to_labels(block), block),
            "color_counts": block["color_counts"],
            "size": block["size"],
        }

    def capacity(self, split: Split, bucket: int) -> int | None:
        return int(len(self._possible) ** (bucket * bucket))

    def listing(self, split: Split, bucket: int) -> Block:
        choices = all_digits(len(self._possible), bucket * bucket)
        return pack((self._possible[choices] + 1).astype(np.uint8), max(split.buckets))

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        return Block({"cells": from_lists(columns["grid"])})

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        counts = Counter(chain.from_iterable(row["grid"]))
        return {
            "label": self.solve(row["grid"]),
            "color_counts": [counts[color] for color in COLORS],
            "size": len(row["grid"]),
        }

    def solve(self, question: list[list[int]]) -> list[list[int]]:
        counts = Counter(chain.from_iterable(question))
        counts[0] = 0
        return [[counts[color] for color in line] for line in question]

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> NDArray[np.float64] | None:
        """Counts as whole numbers, float64 `(size, size)`, halves rounded to the even one."""
        size = len(row["grid"])
        counts = read_numbers(prediction, (size, size))
        return None if counts is None else np.rint(counts)

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """The share of right cells, of right coloured cells, and whether all are right.

        A row without a coloured cell has NaN for the second, which says nothing about an answer.
        """
        if answer is None:
            return dict.fromkeys(self.metrics, 0.0)
        right = answer == np.asarray(row["label"])
        colored = right[np.asarray(row["grid"]) != 0]
        return {
            "cell_accuracy": float(right.mean()),
            "foreground_accuracy": float(colored.mean()) if colored.size else math.nan,
            "grid_accuracy": float(right.all()),
        }

    def baseline(self) -> dict[str, float]:
        """The expected cell accuracy of a prediction that counts nothing."""
        return {"zeros everywhere": 1.0 - self.parameters.fill}

    def scrutiny(self) -> Scrutiny:
        return grid_scrutiny()

    def draw(self, row: Mapping[str, Any]) -> str:
        width = 1 + max(len(str(count)) for line in row["label"] for count in line)
        lines = [f"{row['size']}x{row['size']} grid, and how often each cell's colour occurs:"]
        for colors, counts in zip(row["grid"], row["label"], strict=True):
            grid = [paint(color, f" {color or '.'}") for color in colors]
            label = [
                paint(color, f"{count:{width}}")
                for color, count in zip(colors, counts, strict=True)
            ]
            lines.append("".join(grid) + "    " + "".join(label))
        return "\n".join(lines)
