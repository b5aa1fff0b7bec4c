"""Checked tasks of the tests: pairs of numbers, and walks on a small grid.

`Pairs` is the task of `synthbench new-task --checked`: its answers are free texts. An answer of
`Walks` is a grid with the walk marked, a sequence of tokens, or the moves of the walk.
"""

import numpy as np

from synthbench.tasks.base import Split, TextTask
from synthbench.tasks.features import sequence, value
from synthbench.tasks.new_task import template_text

made: dict = {"__name__": __name__}
exec(template_text("task.py", "pairs", checked=True), made)
Pairs = made["Pairs"]

_MOVES = {"R": (0, 1), "D": (1, 0)}


class Walks(TextTask):
    """Walks from the upper left corner to the lower right of a square, to the right and down."""

    name, title = "walks", "Walks"
    summary = "Which shortest walk leads from S to G? Mark its cells, or write its moves R and D."
    source = "No paper: a toy"
    tokens = ("S", "G", "a", "b", "c")  # the letters of other cells mean nothing
    columns = {
        "text": value("string"),
        "label": sequence(("S", "G", "a", "b", "c", "*")),
        "size": value("int8"),
    }
    bucket_name = "size"
    splits = (Split("train", 300, (3, 4), evaluation=False), Split("test", 60, (3, 5)))
    block_rows = 64

    def solve(self, question):
        cells = self._cells(question)
        size = len(cells)
        return self._marked(cells, "D" * (size - 1) + "R" * (size - 1))

    def _cells(self, question):
        words = question.split(" ")
        size = int(len(words) ** 0.5)
        if size**2 != len(words) or size < 2 or words[0] != "S" or words[-1] != "G":
            raise ValueError(f"{question!r} is not a square from S to G")
        if not {*words[1:-1]} <= {"a", "b", "c"}:
            raise ValueError(f"{question!r} has other cells than a, b and c")
        return [words[row * size : (row + 1) * size] for row in range(size)]

    def _marked(self, cells, moves):
        row = column = 0
        cells = [list(one) for one in cells]
        for move in moves[:-1]:
            row, column = row + _MOVES[move][0], column + _MOVES[move][1]
            cells[row][column] = "*"
        return " ".join(cell for line in cells for cell in line)

    def read_answer(self, row, prediction):
        """A grid, or moves as letters with or without spaces."""
        grid = super().read_answer(row, prediction)
        if grid is not None or not isinstance(prediction, str) or len(prediction) > 1_000:
            return grid
        moves = "".join(prediction.upper().split())
        return moves if moves and set(moves) <= set(_MOVES) else None

    def check(self, row, answer):
        cells = self._cells(row["text"])
        size = len(cells)
        if set(answer) <= set(_MOVES):
            return sorted(answer) == ["D"] * (size - 1) + ["R"] * (size - 1)
        given = answer.split(" ")
        if len(given) != size**2:
            return False
        at, moves = (0, 0), ""
        while at != (size - 1, size - 1):
            steps = [(move, at[0] + down, at[1] + right) for move, (down, right) in _MOVES.items()]
            there = [
                one
                for one in steps
                if max(one[1:]) < size and given[one[1] * size + one[2]] in ("*", "G")
            ]
            if len(there) != 1:
                return False
            move, *at = there[0]
            at, moves = tuple(at), moves + move
        return answer == self._marked(cells, moves)

    def propose(self, draws, n, split, bucket):
        ids = 3 + draws.integers(3, (n, bucket**2))
        ids[:, 0], ids[:, -1] = 1, 2
        turns = np.argsort(draws.floats((n, 2 * bucket - 2)), axis=1)
        return {"tokens": ids, "down": np.pad(turns < bucket - 1, [(0, 0), (0, 10 - 2 * bucket)])}

    def render(self, block):
        labels, sizes = [], []
        for ids, down in zip(block["tokens"], block["down"], strict=True):
            words = [self.tokens[one - 1] for one in ids if one]
            size = int(len(words) ** 0.5)
            cells = [words[row * size : (row + 1) * size] for row in range(size)]
            moves = "".join("D" if one else "R" for one in down[: 2 * size - 2])
            labels.append(self._marked(cells, moves))
            sizes.append(size)
        return {"label": labels, "size": sizes}

    def recompute_columns(self, row):
        size = len(self._cells(row["text"]))
        return {**super().recompute_columns(row), "size": size}
