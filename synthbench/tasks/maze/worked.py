"""Worked solutions of maze: the cells by their distance from S, and the way back from G.

    1 from S: 3,2 2,1.
    2 from S: 4,2 1,1.
    Back from G: 4,2 3,2 3,1.

A cell is named by its row and column, counted from 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from synthbench.tasks.maze import solver
from synthbench.tasks.maze.solver import MOVES, Place
from synthbench.tasks.maze.task import MazeTask
from synthbench.tasks.worked import Sentence, ended, expect, following

_LAYER = Sentence("{} from S: {}.")
_BACK = Sentence("Back from G: {}.")


def write_steps(task: MazeTask, question: str) -> Iterator[str]:
    """Each layer of the search up to that of G, and the reference solver's path, backwards."""
    grid = solver.read(question)
    path = solver.shortest_path(grid, task.variant == "tree")
    seen, layer = {path[0]}, [path[0]]
    for number in range(1, len(path)):
        reached = (there for place in layer for there in _beside(place))
        layer = [
            (row, column)
            for row, column in dict.fromkeys(reached)
            if grid[row][column] != "#" and (row, column) not in seen
        ]
        seen.update(layer)
        yield _LAYER(number, _named(layer))
    yield _BACK(_named(path[::-1]))


def replay_steps(task: MazeTask, question: str, steps: Sequence[str]) -> str:
    """Follow the layers and the way back in the maze, and mark it.

    Raises:
        ValueError: a layer has other cells, or the way back is not the only shortest path.
    """
    words, left = question.split(" "), iter(steps)
    grid = solver.read(question)
    size = len(grid)
    free = {divmod(at, size) for at, word in enumerate(words) if word != "#"}
    start, goal = (divmod(words.index(end), size) for end in "SG")
    layers = [{start}]
    while goal not in layers[-1]:
        step = following(left)
        number, named = _LAYER.read(step)
        reached = {there for place in layers[-1] for there in _beside(place)} & free
        free -= layers[-1]
        layers.append(reached & free)
        expect(step, (number, len(layers) - 1), (sorted(_cells(named)), sorted(layers[-1])))
    step = following(left)
    (named,) = _BACK.read(step)
    ended(left)
    back = _cells(named)
    expect(step, (back[0], goal), (len(back), len(layers)))
    pairs = itertools.pairwise(back)
    for (place, before), layer in zip(pairs, layers[-2::-1], strict=True):
        expect(step, ({before}, layer.intersection(_beside(place))))
    return solver.marked(grid, back[::-1])


def _beside(place: Place) -> list[Place]:
    return [(place[0] + down, place[1] + right) for down, right in MOVES.values()]


def _named(places: Sequence[Place]) -> str:
    return " ".join(f"{row},{column}" for row, column in places)


def _cells(named: str) -> list[Place]:
    """The cells of a sentence, or a ValueError."""
    pairs = [cell.split(",") for cell in named.split()]
    return [(int(row), int(column)) for row, column in pairs]
