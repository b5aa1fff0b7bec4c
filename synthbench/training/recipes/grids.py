"""Recipes for grids, Sudoku and mazes: looped and plain Transformers.

Every cell is a token with a class of its own. The looped Transformer applies its blocks round after
round, with a loss after every round. The plain Transformer has four times as many blocks of half
the width, so as many parameters in its blocks. Both have learned positions, RMSNorm after each sum,
and the same rows, steps and learning rate.

At the profile `paper` widths, blocks, supervised rounds and steps are those of the Tiny Recursive
Model (Jolicoeur-Martineau, 2025), on our rows. Sudoku-Extreme and Maze-Hard are other rows, so
figures of that paper and of the Hierarchical Reasoning Model (Wang et al., 2025) are not here.
"""

from __future__ import annotations

import dataclasses

from synthbench.training.recipes.base import Measure, Recipe, Study, settings

_TITLE = "Blocks in a loop, and four times as many of half the width"


def _recipes(cells: int, width: int, blocks: int, rounds: int, recipe: str) -> tuple[Recipe, ...]:
    """The looped and the plain Transformer for grids of at most so many cells."""
    common = f"num_heads={4 if width < 512 else 8} max_length={cells}"
    looped = f"d_model={width} num_layers={blocks} rounds={rounds}"
    plain = f"d_model={width // 2} num_layers={4 * blocks} causal=false order=post norm=rms"
    return tuple(
        Recipe(name, model, steps=1, form="token-classification").changed(
            settings(recipe), settings(f"{options} {common} position=learned")
        )
        for name, model, options in (
            ("looped", "looped-transformer", looped),
            ("plain", "causal-transformer", plain),
        )
    )


def _measures(split: str, whole: str, rounds: int) -> tuple[Measure, ...]:
    """Blank cells and whole grids, and whole grids in fewer and more rounds than in training."""
    return (
        Measure("blank cells", split, "position_accuracy", headline="in"),
        Measure("whole grids", split, whole, headline="out"),
        *(
            Measure(f"whole grids in {count} rounds", split, whole, rounds=count)
            for count in (rounds // 2, 2 * rounds, 4 * rounds)
        ),
    )


_PAPER = (
    "steps=65000 batch_size=768 learning_rate=1e-4 warmup=2000 beta2=0.95 weight_decay=1.0 "
    "validate_every=5000"
)
_DEPARTURES = (
    "gradients go through all rounds (paper: through the last recursion of each supervised round)",
    "without adaptive halting and without a moving average of the parameters",
    "learned positions (paper: rotary)",
)
SUDOKU_PAPER = Study(
    task="sudoku",
    profile="paper",
    title=_TITLE,
    variants=("9x9",),
    parameters={"augmentations": 1_000},
    measures=_measures("test", "exact_match", 16),
    recipes=_recipes(81, 512, 2, 16, _PAPER),
    seeds=3,
    departures=_DEPARTURES,
)
MAZE_PAPER = Study(
    task="maze",
    profile="paper",
    title=_TITLE,
    variants=("open",),
    parameters={"size": (31,), "test_size": (33,)},
    rows={"train": 1_000, "test": 0},
    measures=_measures("iid", "accuracy", 16),
    recipes=_recipes(31 * 31, 512, 2, 16, _PAPER),
    seeds=3,
    departures=_DEPARTURES,
)

_CPU = (
    "batch_size=32 learning_rate=2e-3 schedule=cosine warmup=100 clip=1 weight_decay=0.01 "
    "validate_every=500"
)
#: 1,000 puzzles of each size with 39 arrangements of each, and held-out puzzles.
SUDOKU = dataclasses.replace(
    SUDOKU_PAPER,
    profile="cpu",
    variants=("4x4",),
    parameters={"augmentations": 39},
    measures=_measures("test", "exact_match", 8),
    recipes=_recipes(16, 64, 1, 8, f"{_CPU} steps=600"),
    seeds=5,
)
#: At least half of the cells are clues.
SUDOKU_6X6 = dataclasses.replace(
    SUDOKU,
    name="6x6",
    title=f"6x6, half of the cells given: {_TITLE.lower()}",
    variants=("6x6",),
    parameters={"augmentations": 39, "difficulty": "easy"},
    recipes=_recipes(36, 64, 1, 8, f"{_CPU} steps=2000"),
)
#: One size, because learned positions know no other.
MAZE = dataclasses.replace(
    MAZE_PAPER,
    profile="cpu",
    variants=("tree",),
    parameters={"size": (9,)},
    rows={"train": 20_000, "test": 0},
    measures=_measures("iid", "accuracy", 8),
    recipes=_recipes(81, 64, 1, 8, f"{_CPU} steps=1200 batch_size=16"),
)

#: At the paper's sizes, and for two cores.
PAPER = (SUDOKU_PAPER, MAZE_PAPER)
STUDIES = (SUDOKU, SUDOKU_6X6, MAZE)
