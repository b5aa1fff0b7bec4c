"""The reference solver of mazes: a search in one grid, which counts all shortest paths."""

from __future__ import annotations

import itertools
import math

LEAST, MOST = 9, 41
#: Each move as a change of row and column.
MOVES = {"U": (-1, 0), "R": (0, 1), "D": (1, 0), "L": (0, -1)}

Place = tuple[int, int]


def read(question: str) -> list[list[str]]:
    """The cells of a maze, row by row.

    Raises:
        ValueError: the text is not a maze of this task.
    """
    words = question.split(" ") if isinstance(question, str) else []
    size = math.isqrt(len(words))
    grid = [words[row * size : (row + 1) * size] for row in range(size)]
    right = size * size == len(words) and size % 2 == 1 and LEAST <= size <= MOST
    right = right and set(words) <= set("#.SG") and words.count("S") == words.count("G") == 1
    if not right or {
        *grid[0],
        *grid[-1],
        *(row[0] for row in grid),
        *(row[-1] for row in grid),
    } != {"#"}:
        raise ValueError(
            f"expected a square of an odd size from {LEAST} to {MOST}, row by row, of # and . with "
            f"one S, one G and # around it, got {str(question)[:80]!r}"
        )
    return grid


def shortest_path(grid: list[list[str]], is_tree: bool) -> list[Place]:
    """The positions from S to G.

    Args:
        grid: the cells.
        is_tree: whether there must be one path between any two positions.

    Raises:
        ValueError: the shortest path is missing or not unique, or the grid is not a tree.
    """
    free = {
        (row, column)
        for row, line in enumerate(grid)
        for column, cell in enumerate(line)
        if cell != "#"
    }
    ends = {grid[row][column]: (row, column) for row, column in free}
    start, goal = ends["S"], ends["G"]
    before: dict[Place, list[Place]] = {start: []}
    layer = [start]
    while layer:
        reached: dict[Place, list[Place]] = {}
        for row, column in layer:
            for down, right in MOVES.values():
                there = row + down, column + right
                if there in free and there not in before:
                    reached.setdefault(there, []).append((row, column))
        before |= reached
        layer = list(reached)
    edges = sum(
        (row + down, column + right) in free
        for row, column in free
        for down, right in ((0, 1), (1, 0))
    )
    if is_tree and (len(before) < len(free) or edges != len(free) - 1):
        raise ValueError("the maze has loops or parts that cannot be reached")
    if goal not in before:
        raise ValueError("no path leads from S to G")
    path = [goal]
    while before[path[-1]]:
        if len(before[path[-1]]) > 1:
            raise ValueError("several paths from S to G are shortest")
        path.append(before[path[-1]][0])
    return path[::-1]


def marked(grid: list[list[str]], path: list[Place]) -> str:
    """The cells with `*` on the path between its ends, as a text."""
    inner = set(path[1:-1])
    return " ".join(
        "*" if (row, column) in inner else cell
        for row, line in enumerate(grid)
        for column, cell in enumerate(line)
    )


def moves(path: list[Place]) -> str:
    """The moves along a path, separated by spaces."""
    names = {change: name for name, change in MOVES.items()}
    pairs = itertools.pairwise(path)
    return " ".join(names[b[0] - a[0], b[1] - a[1]] for a, b in pairs)
