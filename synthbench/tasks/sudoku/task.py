"""Sudoku: every row, column and box has each digit once. Each puzzle has one solution.

    1 . | . .      1 2 | 3 4
    . . | 1 .      3 4 | 1 2
    ----+----      ----+----
    . 1 | . .      2 1 | 4 3
    4 . | . .      4 3 | 2 1

A puzzle and all of its arrangements are held out together: bands, stacks, rows and columns in other
orders, other digits, and the transposed grid. Puzzles of 9 x 9 cells are held out together with all
puzzles that have the same solution, in any arrangement.

Sources: Wang et al., Hierarchical Reasoning Model (2025), whose Sudoku-Extreme has 1,000 training
puzzles with 1,000 arrangements of each, and Jolicoeur-Martineau, Tiny Recursive Model (2025).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, TextTask, parameter
from synthbench.tasks.column import Column
from synthbench.tasks.features import value
from synthbench.tasks.row_ids import are_held_out
from synthbench.tasks.sudoku import solver
from synthbench.tasks.sudoku.arrangements import (
    Digits,
    Hashes,
    arrange,
    draw_arrangements,
    hash_puzzles,
    hash_solutions,
)
from synthbench.tasks.sudoku.classes import arranged_puzzles
from synthbench.tasks.sudoku.drawn import count_nodes, dig, draw_grids
from synthbench.tasks.sudoku.masks import Ints, Shape
from synthbench.tasks.sudoku.written import FilledGrid, Grid

if TYPE_CHECKING:
    import pyarrow as pa

_EMPTY = 1  # the id of the digit d is d + 1
SHAPES = {"9x9": Shape(3, 3), "6x6": Shape(2, 3), "4x4": Shape(2, 2)}
#: The least nodes of each bucket. Singles solve all puzzles of 4 x 4 cells.
_LEAST_NODES = {"9x9": (0, 1, 28), "6x6": (0, 1), "4x4": (0,)}
_MOST_NODES = np.iinfo(np.int32).max
#: Puzzles that are drawn together, and puzzles of a round of a stream: about those of three blocks.
_TOGETHER, _ROUND = 256, {"9x9": 150, "6x6": 64, "4x4": 2_048}
#: The most augmentations in a stream.
_STREAMED = {"9x9": 100, "6x6": 250, "4x4": 750}
_TRAIN = 1_000


@dataclasses.dataclass(frozen=True)
class SudokuParameters(Parameters):
    """The parameters of sudoku."""

    difficulty: str = parameter(
        "all",
        "all, easy (half of the cells or more are clues), hard (the most nodes, in 4x4 few clues)",
        choices=("all", "easy", "hard"),
    )
    augmentations: int = parameter(
        0, "further arrangements of each puzzle of train", least=0, most=1_000
    )


class Sudoku(TextTask):
    """Sudoku puzzles with one solution."""

    name = "sudoku"
    title = "Sudoku"
    summary = "Which digits fill the grid, each once in every row, column and box?"
    source = "Hierarchical Reasoning Model (Wang et al., 2025), the task Sudoku-Extreme"
    variants: ClassVar[Mapping[str, str]] = {
        "4x4": "Boxes of 2 x 2 cells.",
        "6x6": "Boxes of 2 x 3 cells.",
        "9x9": "Boxes of 3 x 3 cells.",
    }
    parameters_type = SudokuParameters
    categories = ("text-generation",)
    bucket_name = "nodes"
    blank = "."
    group_by = (Breakdown("nodes", width=20), Breakdown("clues", width=4))
    forms = ("token-classification", "masked-lm", "causal-lm")
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"difficulty": "easy"},
        "medium": {},
        "hard": {"difficulty": "hard"},
    }

    @property
    def drawn_by_workers(self) -> bool:
        """False for 4 x 4 cells, whose puzzles are in a table."""
        return self.variant != "4x4"

    @property
    def _shape(self) -> Shape:
        return SHAPES[self.variant]

    @property
    def tokens(self) -> tuple[str, ...]:
        return ".", *self._digits

    @property
    def _digits(self) -> tuple[str, ...]:
        return tuple(map(str, range(1, self._shape.size + 1)))

    def solve(self, question: str) -> str:
        return " ".join(map(str, solver.solution(question, self._shape.cells)))

    @property
    def columns(self) -> dict[str, Column]:
        return {
            "text": Grid(),
            "label": FilledGrid(self._digits),
            "clues": value("int8"),
            "nodes": value("int32"),
        }

    # Splits and buckets.

    @functools.cached_property
    def splits(self) -> tuple[Split, ...]:
        parameters, last = self.parameters, len(self._least_nodes) - 1
        buckets = {"all": range(last + 1), "easy": range(1), "hard": range(last, last + 1)}
        of_each, test = 1 + parameters.augmentations, {"9x9": 10_000, "6x6": 1_000, "4x4": 500}
        return (
            Split(
                "train", _TRAIN * of_each, tuple(buckets[parameters.difficulty]), evaluation=False
            ),
            Split("test", test[self.variant], tuple(buckets[parameters.difficulty])),
        )

    @property
    def _least_nodes(self) -> tuple[int, ...]:
        return _LEAST_NODES[self.variant]

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        return self._buckets_of(columns["nodes"].to_numpy().astype(np.int64))

    def _buckets_of(self, nodes: Ints) -> Ints:
        return np.searchsorted(np.array(self._least_nodes), nodes, side="right") - 1

    def bucket_label(self, bucket: int) -> str:
        least = [*self._least_nodes, None][bucket : bucket + 2]
        first, end = least[0], least[1]
        if end is None:
            return f"{first}+" if first else "0"
        return str(first) if end == (first or 0) + 1 else f"{first}..{end - 1}"

    def bucket_weights(self, split: Split) -> tuple[float, ...]:
        """A quarter of the rows of 6 x 6 cells need a search: such puzzles are rare."""
        rare = self.variant == "6x6" and len(split.buckets) > 1
        return (3.0, 1.0) if rare else (1.0,) * len(split.buckets)

    @property
    def block_rows(self) -> int:
        more = int(self.parameters.augmentations)
        return _TOGETHER if not more else _TOGETHER // 4 * (1 + more)

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round, which has all augmentations of its puzzles.

        Raises:
            ParameterError: the first row would take too long.
        """
        most = _STREAMED[self.variant]
        if self._of_each(split) > 1 + most:
            raise ParameterError(
                f"Parameter augmentations={self.parameters.augmentations}: the first row of a "
                f"stream of train waits for those of {_ROUND[self.variant]} puzzles. Allowed are "
                f"0 to {most}. Datasets may have such rows."
            )
        rows = _ROUND[self.variant] * self._of_each(split)
        hard = self.parameters.difficulty == "hard" and self.variant != "4x4"
        return rows // 2 if hard and split.evaluation else rows

    def _of_each(self, split: Split) -> int:
        return 1 if split.evaluation else 1 + int(self.parameters.augmentations)

    # Rows.

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        of_each = self._of_each(split)
        if self.variant == "4x4":
            block = self.enumerate_rows(split, bucket)
            return block.take(draws.integers(len(block), n))
        shape, count = self._shape, max(1, min(_TOGETHER, n // of_each))
        grids = self._draw_solutions(draws, count, split)
        least_clues = np.zeros(len(grids), np.int64)
        if self.parameters.difficulty == "easy":
            half = -(-shape.cells // 2)
            least_clues = half + draws.integers(half // 2 + 1, len(grids))
        elif bucket == 0:
            least_clues = draws.integers(shape.cells // 2 + 1, len(grids))
        puzzles = dig(shape, grids, draws.permutations(len(grids), shape.cells), least_clues)
        nodes, _ = count_nodes(shape, puzzles)
        rows = np.flatnonzero((nodes >= 0) & (self._buckets_of(nodes) == bucket))
        puzzles, grids, nodes = puzzles[rows], grids[rows], nodes[rows]
        problems = self._problems(puzzles, grids).repeat(of_each)  # equal in all arrangements
        if of_each > 1:
            places, digits = draw_arrangements(draws, len(rows) * of_each, shape)
            places[::of_each], digits[::of_each] = np.arange(shape.cells), range(shape.size + 1)
            puzzles, grids = (
                arrange(cells.repeat(of_each, axis=0), places, digits) for cells in (puzzles, grids)
            )
        return self._block(puzzles, grids, nodes.repeat(of_each), problems).take(slice(n))

    def _draw_solutions(self, draws: Draws, count: int, split: Split) -> Digits:
        """Full grids, of 9 x 9 cells only those that the split may have."""
        kept: list[Digits] = []
        while sum(map(len, kept)) < count:
            grids = draw_grids(draws, 2 * count, self._shape)
            if self.variant == "9x9":
                held_out = are_held_out(hash_solutions(self._shape, grids))
                grids = grids[held_out == split.evaluation]
            kept.append(grids)
        return np.concatenate(kept)[:count]

    def _block(
        self, puzzles: Digits, grids: Digits, nodes: Ints, problems: Hashes | None = None
    ) -> Block:
        if problems is None:
            problems = self._problems(puzzles, grids)
        tokens = puzzles + np.uint8(_EMPTY)
        return Block({"tokens": tokens, "solution": grids, "nodes": nodes, "problem": problems})

    def _problems(self, puzzles: Digits, grids: Digits) -> Hashes:
        if self.variant == "9x9":
            return hash_solutions(self._shape, grids)
        return hash_puzzles(self._shape, puzzles)

    def capacity(self, split: Split, bucket: int) -> int | None:
        return len(self.enumerate_rows(split, bucket)) if self.variant == "4x4" else None

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        """All puzzles of 4 x 4 cells, each class in an arrangement that the seed draws.

        With augmentations the first 1,000 classes that train may have, in all their arrangements.
        """
        clues = {"all": (0, 16), "easy": (8, 16), "hard": (0, 7)}[self.parameters.difficulty]
        of_each = self._of_each(split)
        stream = {"task": self.name, "variant": self.variant, "seed": self.seed}
        puzzles, grids, problems = arranged_puzzles(tuple(stream.items()), of_each, clues, _TRAIN)
        return self._block(puzzles, grids, np.zeros(len(puzzles), np.int64), problems)

    def render(self, block: Block) -> dict[str, Any]:
        clues = (block["tokens"] > _EMPTY).sum(axis=1, dtype=np.int8)
        nodes = block["nodes"].astype(np.int32)
        return {"label": block["solution"], "clues": clues, "nodes": nodes}

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """A hash of the puzzle in any arrangement, of 9 x 9 cells that of its solution."""
        return block["problem"]

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        tokens, shape = self.vocabulary.encode(columns["text"]).astype(np.uint8), self._shape
        if not len(tokens):
            tokens = np.ones((0, shape.cells), np.uint8)
        if tokens.shape[1] != shape.cells or not tokens.all():
            raise ValueError(f"sudoku: not every row has {shape.cells} cells")
        puzzles = tokens - np.uint8(_EMPTY)
        nodes, solutions = count_nodes(shape, puzzles)
        for row in np.flatnonzero(nodes < 0).tolist():
            question = columns["text"][row].as_py()
            solutions[row] = solver.solution(question, shape.cells)
        return self._block(puzzles, solutions, nodes)

    @property
    def instruction(self) -> str:
        """The rule."""
        size, shape = self._shape.size, self._shape
        return (
            f"The grid is a Sudoku of {size} x {size} cells with boxes of {shape.high} x "
            f"{shape.wide} (rows x columns): . is an empty cell. Fill every empty cell with a "
            f"digit from 1 to {size}, so that every row, every column and every box has each digit "
            "exactly once. The given digits stay. There is one solution. The answer is the filled "
            "grid, row by row."
        )

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        digits = solver.read(row["text"], self._shape.cells)
        return {
            **super().recompute_columns(row),
            "clues": sum(digit > 0 for digit in digits),
            "nodes": solver.count_nodes(digits),
        }
