"""The reference solver over whole columns: each state follows from the one before it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.automaton import solver
from synthbench.tasks.automaton.task import Automaton
from synthbench.tasks.base import Block


def prove_rows(task: Automaton, block: Block, rows: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: a row without the form of the task, which the solver must look at.
    """
    symbols = block["tokens"]
    vocabulary = task.answer.vocabulary
    assert vocabulary is not None, "the label is a sequence"
    label = vocabulary.encode(rows["label"])
    if label.shape != symbols.shape:
        raise ValueError("a label does not have as many states as its row")
    rule = task.rule
    # By the ids of state and symbol; 0 on the left is the start, which is state 0.
    after = np.zeros((1 + len(rule.words), 1 + len(rule.letters)), np.int16)
    for state in range(len(rule.words)):
        for symbol, letter in enumerate(rule.letters, 1):
            after[1 + state, symbol] = 1 + solver.next_state(rule, state, letter)
    after[0] = after[1]
    before = np.pad(label, ((0, 0), (1, 0)))[:, :-1]
    right: NDArray[np.bool_] = (label == after[before, symbols]).all(axis=1)
    right &= numpy_array(rows["length"]) == (symbols > 0).sum(axis=1)
    return right
