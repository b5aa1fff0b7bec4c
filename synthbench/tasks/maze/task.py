"""Mazes: the one shortest path from S to G, marked in the grid or written as moves.

    # # # # # # # # #      # # # # # # # # #
    # . # . . . . . #      # . # * * * . . #
    # . # . # . # # #      # . # * # * # # #
    # . . G # . . . #      # . . G # * * * #
    # . # # # # # . #      # . # # # # # * #
    # . . . . . # . #      # . . . . . # * #
    # . # # # # # . #      # . # # # # # * #
    # . # . . S . . #      # . # . . S * * #
    # # # # # # # # #      # # # # # # # # #

    moves: R R U U U U L L U U L L D D

Larger mazes are tested than trained. A maze, its rotations and reflections, and all of these with S
and G exchanged are held out together.

Source: Wang et al., Hierarchical Reasoning Model (2025), whose Maze-Hard asks for the path in open
mazes of 30 x 30. Here the shortest path is unique.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import ParameterError
from synthbench.seeding import Draws, hash_rows, mix
from synthbench.tasks.base import (
    LABEL,
    Block,
    Breakdown,
    Parameters,
    Split,
    TextTask,
    parameter,
)
from synthbench.tasks.column import Column
from synthbench.tasks.features import value
from synthbench.tasks.maze import solver
from synthbench.tasks.maze.drawn import Mazes, draw_mazes
from synthbench.tasks.maze.written import MarkedMaze, Maze, mark_moves, read_path
from synthbench.tasks.numeric import distinct_numbers, text_ends

if TYPE_CHECKING:
    import pyarrow as pa

_WALL, _FREE, _START, _GOAL, _PATH = range(1, 6)

#: The most positions of mazes that are drawn together. More would not be faster.
_POSITIONS = 1 << 19
#: Streams of held-out mazes that are larger have small rounds.
_LARGE = 31


@dataclasses.dataclass(frozen=True)
class MazeParameters(Parameters):
    """The parameters of maze."""

    size: tuple[int, ...] = parameter(
        (9, 11, 13), "sizes of train and iid, odd", least=solver.LEAST, most=solver.MOST
    )
    test_size: tuple[int, ...] = parameter(
        (15, 17, 21), "sizes of test, odd, some of them larger", least=solver.LEAST,
        most=solver.MOST,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, sizes in (("size", self.size), ("test_size", self.test_size)):
            if even := [size for size in sizes if size % 2 == 0]:
                raise ParameterError(
                    f"Parameter {name}={even[0]}: sizes are odd, such as {even[0] + 1}."
                )
        if max(self.test_size) <= max(self.size):
            raise ParameterError(
                f"Parameter test_size={','.join(map(str, self.test_size))}: at least one must be "
                f"larger than those of size, which go to {max(self.size)}."
            )


class MazeTask(TextTask):
    """Mazes with one shortest path."""

    name = "maze"
    title = "Maze"
    summary = "Which way is the shortest from S to G through the maze?"
    source = "Hierarchical Reasoning Model (Wang et al., 2025), the task Maze-Hard"
    variants: ClassVar[Mapping[str, str]] = {
        "tree": "One path leads from each cell to each other.",
        "open": "The maze has rooms and loops, and one shortest path.",
    }
    parameters_type = MazeParameters
    categories = ("text-generation",)
    bucket_name = "size"
    group_by = (Breakdown("steps", width=10),)
    scored_columns = ("text",)
    metrics = ("accuracy", "position_accuracy")
    blank = "."
    forms = ("token-classification", "masked-lm", "causal-lm")
    tokens = ("#", ".", "S", "G")
    block_rows, group_rows = 256, 8_192
    round_rows = 1_024
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {"size": (9,), "test_size": (11, 13)},
        "medium": {},
        "hard": {"size": (21, 25, 31), "test_size": (35, 41)},
    }

    def stream_round_rows(self, split: Split) -> int:
        """Rows of a round: fewer held-out mazes if they are large, as few are held out."""
        large = split.evaluation and max(split.buckets) > _LARGE
        return 128 if large else self.round_rows

    def solve(self, question: str) -> str:
        grid = solver.read(question)
        return solver.marked(grid, self._path(grid))

    def _path(self, grid: list[list[str]]) -> list[solver.Place]:
        return solver.shortest_path(grid, is_tree=self.variant == "tree")

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> str | None:
        """The grid with its path, also as lists of rows, or moves, separated by spaces."""
        if isinstance(prediction, str):
            return read_path(prediction)
        if hasattr(prediction, "tolist"):
            prediction = prediction.tolist()
        answer: str | None = self.answer.read(prediction, None)
        if answer is None and isinstance(prediction, list | tuple):
            rows = [row if isinstance(row, list | tuple) else [row] for row in prediction]
            cells = itertools.islice(itertools.chain.from_iterable(rows), solver.MOST**2 + 1)
            return read_path(" ".join(map(str, cells)))
        return answer

    def check(self, row: Mapping[str, Any], answer: Any) -> bool:
        grid = solver.read(row["text"])
        written = read_path(answer) if isinstance(answer, str) else None
        if written is None:
            return False
        path = self._path(grid)
        return written in (solver.marked(grid, path), solver.moves(path))

    def right_places(self, row: Mapping[str, Any], answer: Any) -> dict[int, bool]:
        """The verdict on each free cell. Moves mark the cells that they reach."""
        grid = solver.read(row["text"])
        marked = None if answer is None else mark_moves(grid, answer)
        return super().right_places({**row, LABEL: solver.marked(grid, self._path(grid))}, marked)

    @property
    def columns(self) -> dict[str, Column]:
        return {"text": Maze(), "label": MarkedMaze(), "steps": value("int16")}

    @property
    def splits(self) -> tuple[Split, ...]:
        parameters = self.parameters
        return (
            Split("train", 50_000, parameters.size, evaluation=False),
            Split("iid", 1_000, parameters.size),
            Split("test", 1_000, parameters.test_size),
        )

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        # Every cell is one byte, with a space between two.
        cells = (np.diff(text_ends(columns["text"])).astype(np.int64) + 1) // 2
        return _root(cells)

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return self.propose_blocks([draws], n, split, bucket)[0]

    def propose_blocks(
        self, blocks: Sequence[Draws], n: int, split: Split, bucket: int
    ) -> list[Block]:
        several, is_open = max(1, _POSITIONS // (n * bucket**2)), self.variant == "open"
        mazes: list[Mazes] = []
        for first in range(0, len(blocks), several):
            mazes += draw_mazes(blocks[first : first + several], n, bucket, is_open)
        return [*map(_written, mazes)]

    def render(self, block: Block) -> dict[str, Any]:
        tokens = block["tokens"]
        path = np.unpackbits(block["path"], axis=1, count=tokens.shape[1])
        # A byte each for the mask and the tokens, as NumPy is fastest with these.
        label = tokens + path * (tokens == _FREE) * np.uint8(_PATH - _FREE)
        return {"label": label, "steps": np.count_nonzero(path, axis=1) - 1}

    def problem(self, block: Block) -> NDArray[np.uint64]:
        """A hash of the maze with S and G alike, the least of all rotations and reflections."""
        tokens = np.where(block["tokens"] == _GOAL, _START, block["tokens"])
        lengths = np.count_nonzero(tokens, axis=1)
        least = np.empty(len(tokens), np.uint64)
        for length in distinct_numbers(lengths):
            rows, size = np.flatnonzero(lengths == length), _root(np.array([length]))[0]
            grids = tokens[rows, :length].reshape(len(rows), size, size)
            hashes = [
                hash_rows(np.ascontiguousarray(turned).reshape(len(rows), -1))
                for mazes in (grids, grids.transpose(0, 2, 1))
                for turned in (mazes, mazes[:, ::-1], mazes[:, :, ::-1], mazes[:, ::-1, ::-1])
            ]
            least[rows] = np.min(hashes, axis=0)
        return mix(least)

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        tokens = self.vocabulary.encode(columns["text"]).astype(np.uint8)
        lengths = np.count_nonzero(tokens, axis=1)
        sizes = _root(lengths)
        right = (sizes**2 == lengths) & (sizes % 2 == 1)
        right &= (sizes >= solver.LEAST) & (sizes <= solver.MOST)
        for end in (_START, _GOAL):
            right &= (tokens == end).sum(axis=1) == 1
        places, size = np.arange(tokens.shape[1]), np.maximum(sizes, 1)[:, None]
        row, column = places // size, places % size
        border = (row == 0) | (row == size - 1) | (column == 0) | (column == size - 1)
        right &= ((tokens == _WALL) | ~border | (row >= size)).all(axis=1)
        if not right.all():
            raise ValueError(
                f"maze: not every row is a square of an odd size from {solver.LEAST} to "
                f"{solver.MOST} with one S, one G and # around it"
            )
        return Block({"tokens": tokens})

    @property
    def instruction(self) -> str:
        """The rule, and both forms of the answer."""
        kind = "Exactly one path" if self.variant == "tree" else "Exactly one shortest path"
        return (
            "The grid is a maze: # is a wall, . is free, S is the start and G the goal. A path "
            f"goes up, down, left and right through free cells. {kind} leads from S to G. The "
            "answer is this path as its moves: U for up, R for right, D for down and L for left. "
            "The grid with * on all cells of the path between S and G is right, too."
        )

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        grid = solver.read(row["text"])
        path = self._path(grid)
        return {"label": solver.marked(grid, path), "steps": len(path) - 1}


def _written(mazes: Mazes) -> Block:
    """The tokens, and the path with a bit for each of them."""
    tokens = np.where(mazes.free, np.uint8(_FREE), np.uint8(_WALL))
    rows = np.arange(len(tokens))
    tokens[rows, mazes.start] = _START
    tokens[rows, mazes.goal] = _GOAL
    return Block({"tokens": tokens, "path": np.packbits(mazes.path, axis=1)})


def _root(squares: NDArray[np.int64]) -> NDArray[np.int64]:
    """The whole part of square roots up to some thousands, exactly."""
    table = np.arange(200) ** 2
    roots: NDArray[np.int64] = np.searchsorted(table, squares, side="right") - 1
    return roots
