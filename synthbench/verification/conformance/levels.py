"""Every level of a task has rows that can be made, verified and streamed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from synthbench.errors import SynthbenchError
from synthbench.generation.generate import generate
from synthbench.sampling.plan import make_plan
from synthbench.streaming import stream
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import Task
from synthbench.tasks.registry import changed
from synthbench.tasks.row_ids import are_held_out
from synthbench.verification.conformance.rows import Problems
from synthbench.verification.verify import verify

#: Rows of each split of a level.
_ROWS = 16


def check_levels(task: Task, directory: Path) -> Problems:
    """A few rows of every split are made, verified and streamed, by default and at each level.

    Args:
        task: the task.
        directory: a directory for the datasets.
    """
    leveled = {task: "With the default parameters"}
    for level, parameters in task.levels.items():
        leveled.setdefault(changed(task, parameters=parameters), f"Level {level}")
    problems = []
    for number, (leveled_task, where) in enumerate(leveled.items()):
        try:
            faults = _check_rows(leveled_task, directory / f"level-{number}")
        except SynthbenchError as error:
            faults = [str(error)]
        problems += [f"{where}: {problem}" for problem in faults]
    return problems


def _check_rows(task: Task, out: Path) -> Problems:
    plan = make_plan(task, {split.name: _ROWS for split in task.splits}, at_most=True)
    rows = {split.name: plan.rows(split.name) for split in task.splits}
    generate(task, out=out, rows=rows, workers=1, progress=False)
    problems = verify(out, fast=True, workers=1, progress=False).failures
    for split in task.splits:
        size = Rounds(task, split.name).size  # a stream makes a whole round for its first row
        batch = next(stream(task, split=split.name, batch_size=size))
        held_out = are_held_out(np.array([int(row_id, 16) for row_id in batch["id"]], np.uint64))
        if (held_out != split.evaluation).any():
            lacks = "not " if split.evaluation else ""
            problems.append(f"The stream of split {split.name} has a row that is {lacks}held out.")
    return problems
