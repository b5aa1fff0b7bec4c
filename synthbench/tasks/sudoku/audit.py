"""Shortcuts and balances of sudoku: copies of the clues, and singles without a search."""

from __future__ import annotations

import numpy as np

from synthbench.tasks.audit_spec import AuditSpec, Columns, Levels, fixed, numbers
from synthbench.tasks.sudoku.arrangements import Digits, hash_puzzles, hash_solutions
from synthbench.tasks.sudoku.masks import DIGITS, close, is_full, to_masks
from synthbench.tasks.sudoku.task import SHAPES, Sudoku


def audit_spec(task: Sudoku) -> AuditSpec:
    """Copies with a common digit, singles alone, other arrangements, and balances."""
    shape = SHAPES[task.variant]

    def puzzles(columns: Columns) -> Digits:
        return task.vocabulary.encode(columns["text"]).astype(np.uint8) - np.uint8(1)

    def copied(columns: Columns) -> list[str]:
        clues = puzzles(columns)
        counts = [np.count_nonzero(clues == digit, axis=1) for digit in range(1, shape.size + 1)]
        common = 1 + np.argmax(counts, axis=0)
        return _texts(np.where(clues > 0, clues, common[:, None]))

    def singles(columns: Columns) -> list[str]:
        masks, right = close(shape, to_masks(shape, puzzles(columns)))
        single = right & ((masks & (masks - np.uint16(1))) == 0)
        return _texts(np.where(single, DIGITS.take(masks), 1).T)

    def solved_by_singles(columns: Columns) -> list[str]:
        masks, right = close(shape, to_masks(shape, puzzles(columns)))
        return ["yes" if done else "no" for done in right & is_full(masks)]

    keys = {"the same puzzle in another arrangement": lambda columns: (
        hash_puzzles(shape, puzzles(columns))
    )}  # fmt: skip
    if task.variant == "9x9":
        keys["the same solution in another arrangement"] = lambda columns: hash_solutions(
            shape, task.answer.ids(columns["label"]).astype(np.uint8)
        )
    return AuditSpec(
        shortcuts=(
            fixed(
                "copy, common digit",
                "The clues, and in all other cells the most frequent digit among them.",
                copied,
            ),
            fixed(
                "singles", "Naked and hidden singles, and 1 in the cells that are left.", singles
            ),
        ),
        near_duplicate_keys=keys,
        distributions={
            "clues": lambda columns: numbers(columns["clues"]),
            "solved by singles alone": solved_by_singles,
        },
        levels=Levels(
            "nodes",
            lambda columns: task.buckets(columns),
            task.bucket_label,
            each_must_be_hard=False,  # singles solve the rows of the first bucket
        ),
    )


def _texts(grids: Digits) -> list[str]:
    return [" ".join(map(str, grid)) for grid in grids.tolist()]
