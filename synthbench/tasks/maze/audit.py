"""Shortcuts and balances of maze: a walk that only comes nearer to G."""

from __future__ import annotations

import numpy as np

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, fixed, numbers
from synthbench.tasks.maze import solver
from synthbench.tasks.maze.task import MazeTask
from synthbench.tasks.maze.written import walked

#: Rows are grouped by so many steps.
_BAND = 20


def audit_spec(task: MazeTask) -> AuditSpec:
    """The straight line, mirrored and rotated mazes, and the moves and lengths of paths."""

    def moves(columns: Columns) -> list[str]:
        return [move for label in columns["label"].to_pylist() for move in walked(label).split()]

    return AuditSpec(
        shortcuts=(
            fixed(
                "straight line",
                "Moves that come nearer to G, along the longer distance first, up to a wall.",
                lambda columns: [_straight(text) for text in columns["text"].to_pylist()],
            ),
        ),
        near_duplicate_keys={
            "the same maze rotated, reflected, or with S and G exchanged": lambda columns: (
                task.problem(task.parse(columns))
            )
        },
        distributions={"moves of the path": moves},
        levels=Levels(
            "steps",
            lambda columns: numbers(columns["steps"]) // _BAND,
            lambda band: f"{band * _BAND}..{(band + 1) * _BAND - 1}",
            each_must_be_hard=False,  # a short path may well be straight
        ),
    )


def _straight(text: str) -> str:
    """The moves of a walk from S that comes nearer to G with each of them."""
    grid = solver.read(text)
    places = {cell: (i, j) for i, line in enumerate(grid) for j, cell in enumerate(line)}
    at, goal = np.array(places["S"]), np.array(places["G"])
    moves = ""
    while True:
        missing = goal - at
        wanted = [
            name
            for name, change in solver.MOVES.items()
            if np.dot(change, missing) > 0 and grid[at[0] + change[0]][at[1] + change[1]] != "#"
        ]
        if not wanted:
            return moves or "U"
        move = max(wanted, key=lambda name: int(np.dot(solver.MOVES[name], missing)))
        at = at + solver.MOVES[move]
        moves += move
