"""Sudoku beside generators from PyPI, in one process: `python -m benchmarks sudoku [--rows N]`.

Processor seconds for a thousand puzzles of 9 x 9 cells, and how many of a sample have one solution,
by exact cover. Ours have the balance of train, so a third needs no search and a third 28 nodes or
more. Needs `pip install py-sudoku dokusan reasoning-gym`; those that are missing are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import time

import numpy as np

import synthbench
from synthbench.tasks.sudoku import solver
from synthbench.text.tables import Table, render

#: Puzzles of each other generator, which are slower.
_FEWER = 100


def main(words):
    """Measure all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sudoku", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000)
    rows = parser.parse_args(words).rows
    lines = [_line("synthbench sudoku 9x9", rows, _ours)]
    for name, make in (
        ("py-sudoku, difficulty 0.5", _py_sudoku),
        ("dokusan, rank 150", _dokusan),
        ("reasoning-gym sudoku", _reasoning_gym),
    ):
        with contextlib.suppress(ModuleNotFoundError):
            lines.append(_line(name, min(rows, _FEWER), make))
    head = ("generator", "CPU seconds for 1,000", "clues", "one solution")
    print(render(Table(head, lines, right=(1, 2, 3))))


def _line(name, rows, make):
    make(1)  # imports, and tables that are made once
    started = time.process_time()
    puzzles = make(rows)
    seconds = (time.process_time() - started) * 1_000 / len(puzzles)
    sample = puzzles[:_FEWER]
    unique = sum(len(solver.solutions(digits)) == 1 for digits in sample)
    clues = np.mean([np.count_nonzero(digits) for digits in puzzles])
    return name, f"{seconds:.2f}", f"{clues:.1f}", f"{unique} of {len(sample)}"


def _ours(rows):
    puzzles = []
    for batch in synthbench.stream(synthbench.task("sudoku", "9x9"), batch_size=rows):
        puzzles = [solver.read(text, 81) for text in batch["text"]]
        break
    return puzzles


def _py_sudoku(rows):
    from sudoku import Sudoku

    boards = (Sudoku(3, seed=seed).difficulty(0.5).board for seed in range(rows))
    return [[cell or 0 for line in board for cell in line] for board in boards]


def _dokusan(rows):
    from dokusan import generators

    return [[*map(int, str(generators.random_sudoku(avg_rank=150)))] for _ in range(rows)]


def _reasoning_gym(rows):
    import reasoning_gym

    dataset = reasoning_gym.create_dataset("sudoku", size=rows, seed=0)
    return [
        [cell for line in dataset[row]["metadata"]["puzzle"] for cell in line]
        for row in range(rows)
    ]
