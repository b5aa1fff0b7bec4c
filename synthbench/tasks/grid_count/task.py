"""Count colours in a grid: how often does each cell's colour occur in it?

    6 6 0          3 3 0
    3 7 0          2 1 0
    4 3 6          1 2 3

    0 5            0 1
    0 0            0 0

Colours are 1..9; 0 is the background, whose cells have the label 0 however many there are. Grids
are square: small ones to learn counting from, larger ones to see whether it was learned.

Each cell is coloured with probability `fill`. With `colored_limit=L` each grid also draws a limit,
uniformly from 1 to L. If more cells are coloured, a random subset of that size keeps its colours.
The others become background. The paper does not mention this, but its program does it, with
L = 999: that hardly affects 6x6 grids, but turns a third of a 20x20 grid into background.

The variant `commonest` asks for the colour that occurs most often, in a grid of the same shape. In
the first grid it is 6. Grids in which two colours tie are not drawn.

    6 6 0          6 6 6
    3 7 0          6 6 6
    4 3 6          6 6 6

Source: Counting (Ouellette, Pfister, Jud, 2023), sections III-A and IV. The first row is the grid
of table III. The variant `commonest` is task 5582e5ca of ARC (Chollet, 2019), in appendix A.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, threshold
from synthbench.tasks.base import Block, Parameters, Split, Task, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import list_of, value
from synthbench.tasks.grid_count.grids import (
    COLORS,
    commonest,
    from_lists,
    pack,
    to_colors,
    to_labels,
    to_lists,
    to_squares,
    words_with_one_mode,
)
from synthbench.tasks.numeric import all_digits, nest, read_numbers

if TYPE_CHECKING:
    import pyarrow as pa

#: The paper counts in grids of up to 100x100 cells.
LARGEST_SIZE = 100
#: A hundred times the cells of the largest grid: a larger limit would hardly ever apply.
LARGEST_LIMIT = 100 * LARGEST_SIZE**2
COMMONEST = "commonest"
#: The most cells of a grid whose rows of `commonest` are counted. Larger grids never run out.
_MOST_COUNTED = 9


@dataclasses.dataclass(frozen=True)
class GridCountParameters(Parameters):
    """Parameters. The defaults are the paper's."""

    fill: float = parameter(0.8, "probability that a cell is coloured", least=0.0, most=1.0)
    colored_limit: int = parameter(
        0,
        "if not 0, each grid draws its largest number of coloured cells from 1 to this number; "
        "999 in the paper's program",
    )
    train_sizes: tuple[int, ...] = parameter(
        (1, 2, 3, 4, 5, 6), "buckets of train", least=1, most=LARGEST_SIZE
    )
    iid_sizes: tuple[int, ...] = parameter(
        (6,), "buckets of iid. Each must be in train_sizes", least=1, most=LARGEST_SIZE
    )
    test_sizes: tuple[int, ...] = parameter(
        (7, 8, 9, 10, 12, 15, 20), "buckets of test", least=1, most=LARGEST_SIZE
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.colored_limit <= LARGEST_LIMIT:
            raise ParameterError(
                f"Parameter colored_limit={self.colored_limit}: "
                f"allowed are 0 (no limit) to {LARGEST_LIMIT:,}."
            )
        if not set(self.iid_sizes) <= set(self.train_sizes):
            iid, train = (",".join(map(str, sizes)) for sizes in (self.iid_sizes, self.train_sizes))
            raise ParameterError(
                f"Parameter iid_sizes={iid}: allowed are sizes of train_sizes={train}."
            )


class GridCount(Task):
    """Square grids of ten colours, labelled with how often each cell's colour occurs."""

    name = "grid-count"
    title = "Colour counting in grids"
    summary = "How often does each cell's colour occur in a square grid?"
    source = "Counting (Ouellette, Pfister, Jud, 2023), sections III-A and IV"
    variants: ClassVar[Mapping[str, str]] = {
        "default": "The task as the paper describes it.",
        COMMONEST: "Every cell gets the colour that occurs most often, as in task 5582e5ca of ARC.",
    }
    parameters_type = GridCountParameters
    categories = ("other",)
    bucket_name = "size"
    inputs = ("grid",)
    scored_columns = ("grid", "label")
    drawn_by_workers = False
    metrics = ("cell_accuracy", "foreground_accuracy", "grid_accuracy")
    binary_metrics = ("grid_accuracy",)

    @property
    def instruction(self) -> str:
        """The rule of the variant."""
        if self.asks_commonest:
            return (
                "Each number of the grid is the colour of a cell; 0 is the background. Among the "
                "colours from 1 to 9 one occurs more often than any other. The answer is a grid of "
                "the same shape with this colour in every cell, as a list of rows."
            )
        return (
            "Each number of the grid is the colour of a cell; 0 is the background. Replace every "
            "number from 1 to 9 by how many cells of the whole grid have that colour, and leave "
            "every 0 as it is. The answer is the resulting grid, as a list of rows."
        )

    @property
    def asks_commonest(self) -> bool:
        """True if the answer is the colour that occurs most often."""
        return self.variant == COMMONEST

    def solve(self, question: list[list[int]]) -> list[list[int]]:
        counts = Counter(chain.from_iterable(question))
        counts[0] = 0
        if self.asks_commonest:
            (color, most), *others = counts.most_common()
            if not most or (others and others[0][1] == most):
                raise ValueError("grid has two commonest colours, or only background")
            return [[color] * len(line) for line in question]
        return [[counts[color] for color in line] for line in question]

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "grid": list_of(list_of(value("int8"))),
            "label": list_of(list_of(value("int16"))),
            "color_counts": list_of(value("int16")),
            "size": value("int16"),
        }

    @property
    def splits(self) -> tuple[Split, ...]:
        parameters = self.parameters
        return (
            Split("train", 100_000, parameters.train_sizes, evaluation=False),
            Split("iid", 1_000 * len(parameters.iid_sizes), parameters.iid_sizes),
            Split("test", 1_000 * len(parameters.test_sizes), parameters.test_sizes),
        )

    # A block of two million cells takes about 10 ms, a round of four million about 50 MB.

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
        return self._rows_of(1 << 23, 131_072)

    def _rows_of(self, cells: int, most: int) -> int:
        """Number of the largest grids with this many cells in all, at most `most`."""
        largest = max(self.parameters.train_sizes + self.parameters.test_sizes)
        return int(min(most, cells // largest**2))

    @functools.cached_property
    def _edges(self) -> list[int]:
        """The ends of the colours 0 to 8 among the 32-bit integers. The rest is colour 9."""
        fill = self.parameters.fill
        return [int(threshold(1.0 - fill + fill * (color / 9))) for color in COLORS[:-1]]

    @functools.cached_property
    def _possible(self) -> NDArray[np.int64]:
        """The colours that can occur: with `fill` 0 only 0. With 1 and no limit all but 0."""
        drawn = np.diff([0, *self._edges, 1 << 32])
        drawn[0] += self.parameters.colored_limit
        return np.flatnonzero(drawn)

    def _colored_numbers(self, cells: int) -> range:
        """The possible numbers of coloured cells in a grid of `cells` cells."""
        limit = self.parameters.colored_limit
        most = cells if self._possible[-1] else 0
        fewest = 0 if self._edges[0] else most
        return range(min(fewest, 1), min(most, limit) + 1) if limit else range(fewest, most + 1)

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        halves = draws.halves((n, bucket * bucket))
        cells = np.ones(halves.shape, np.uint8)
        for edge in self._edges:
            cells += halves >= edge
        if self.parameters.colored_limit:
            self._apply_limit(draws, cells)
        return self._answerable(pack(cells, max(split.buckets)))

    def _answerable(self, block: Block) -> Block:
        """The grids that have an answer."""
        return block.take(commonest(block) > 0) if self.asks_commonest else block

    def _apply_limit(self, draws: Draws, cells: NDArray[np.uint8]) -> None:
        """Turn the coloured cells beyond a grid's limit into background, in place.

        `cells` has colours plus 1, uint8 `(rows, size * size)`.
        """
        limits = 1 + draws.integers(self.parameters.colored_limit, (len(cells), 1))
        above = np.flatnonzero((cells > 1).sum(axis=1) > limits[:, 0])
        order = draws.permutations(len(above), cells.shape[1])  # in which cells keep their colour
        rows = cells[above]
        ordered = np.take_along_axis(rows, order, axis=1)
        ordered[(ordered > 1).cumsum(axis=1) > limits[above]] = 1
        np.put_along_axis(rows, order, ordered, axis=1)
        cells[above] = rows

    def content(self, block: Block) -> NDArray[np.uint8]:
        return block["cells"]

    def render(self, block: Block) -> dict[str, Any]:
        return {
            "grid": to_lists(to_colors(block), block),
            "label": to_lists(self._labels(block), block),
            "color_counts": nest(block["color_counts"]),
            "size": block["size"],
        }

    def _labels(self, block: Block) -> NDArray[np.int16]:
        if not self.asks_commonest:
            return to_labels(block)
        return np.where(block["cells"] > 0, commonest(block)[:, None], -1).astype(np.int16)

    def arrays(self, block: Block) -> dict[str, NDArray[Any]]:
        """The columns in NumPy, grids padded to the largest size of the split.

        Returns:
            `grid` int8 and `label` int16, both `(rows, largest, largest)` with -1 beyond the
            grid, which fills the upper left corner; `color_counts` int16 `(rows, 10)`; `size`
            int16 `(rows,)`.
        """
        return {
            "grid": to_squares(to_colors(block), block),
            "label": to_squares(self._labels(block), block),
            "color_counts": block["color_counts"],
            "size": block["size"],
        }

    def capacity(self, split: Split, bucket: int) -> int | None:
        cells = bucket * bucket
        if self.asks_commonest:
            if cells > _MOST_COUNTED:
                return None
            colors, numbers = int(np.count_nonzero(self._possible)), self._colored_numbers(cells)
            return sum(math.comb(cells, n) * words_with_one_mode(n, colors) for n in numbers)
        if not self.parameters.colored_limit:
            return int(len(self._possible) ** cells)
        colors = int(np.count_nonzero(self._possible))
        return sum(math.comb(cells, n) * int(colors**n) for n in self._colored_numbers(cells))

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        cells = bucket * bucket
        colored = [self._colored(cells, number) for number in self._colored_numbers(cells)]
        grids = np.sort(np.concatenate(colored).view(f"S{cells}"), axis=0).view(np.uint8)
        return self._answerable(pack(grids, max(split.buckets)))

    def _colored(self, cells: int, number: int) -> NDArray[np.uint8]:
        """Every grid with this number of coloured cells, as colours plus 1."""
        colors = np.trim_zeros(self._possible).astype(np.uint8) + np.uint8(1)
        colorings = colors[all_digits(len(colors), number)]
        places = np.array(list(itertools.combinations(range(cells), number)), np.intp)
        grids = np.ones((len(places), len(colorings), cells), np.uint8)
        np.put_along_axis(grids, places[:, None], colorings, axis=2)
        return grids.reshape(-1, cells)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        cells = from_lists(columns["grid"])
        limit, most = self.parameters.colored_limit, int((cells > 1).sum(axis=1).max(initial=0))
        if limit and most > limit:
            raise ValueError(f"grid has {most} coloured cells where colored_limit={limit}")
        if self.asks_commonest:
            counts = np.stack([(cells == color + 1).sum(axis=1) for color in COLORS], axis=1)
            if not (commonest(Block({"color_counts": counts})) > 0).all():
                raise ValueError("grid has two commonest colours, or only background")
        return Block({"cells": cells})

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        counts = Counter(chain.from_iterable(row["grid"]))
        return {
            "label": self.solve(row["grid"]),
            "color_counts": [counts[color] for color in COLORS],
            "size": len(row["grid"]),
        }

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> NDArray[np.float64] | None:
        """The counts rounded to whole numbers (halves to even), float64 `(size, size)`."""
        size = len(row["grid"])
        counts = read_numbers(prediction, (size, size))
        return None if counts is None else np.rint(counts)

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        """The share of right cells, the share of right coloured cells, and whether all are right.

        The second is NaN for a row without coloured cells.
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
        """The expected cell accuracy of a prediction that counts nothing.

        With a limit it depends on the size of the grid, so there is no single figure.
        """
        if self.parameters.colored_limit or self.asks_commonest:
            return {}
        return {"zeros everywhere": 1.0 - self.parameters.fill}
