"""Checks of some rows of a task: columns, ids, labels, answers.

Each check takes a task and a block of its rows, and returns the problems it found, as sentences
for the task's author.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.evaluation.final_answer import score_answer
from synthbench.tasks import describe
from synthbench.tasks.answer_check import accepts
from synthbench.tasks.base import LABEL, Block, Task, TextTask
from synthbench.tasks.returned import wrong_bucket
from synthbench.tasks.row_ids import fingerprints
from synthbench.tasks.worked import answer_line, solution, worked_functions
from synthbench.text.lines import short

Problems = list[str]
#: The number of rows whose answers are scored and that are drawn for people.
_SCORED = 10
#: The number of rows that are worked out, which may take hundreds of steps.
_WORKED = 3


def plain_rows(task: Task, block: Block) -> list[dict[str, Any]]:
    """The rows of a block as plain Python values."""
    return pa.table(task.rendered(block)).to_pylist()  # type: ignore[no-any-return]


def check_columns(task: Task, block: Block) -> Problems:
    """`render` gives exactly the columns that `columns` declares, without nulls."""
    task.rendered(block)
    return []


def check_parts(task: Task, block: Block) -> Problems:
    """`render` gives the same rows for parts of a block as for the whole block."""
    whole = plain_rows(task, block)
    parts = [
        row
        for part in (slice(0, 1), slice(1, 17), slice(17, None))
        for row in plain_rows(task, block.take(part))
    ]
    return (
        [] if parts == whole else ["render gives a row other values when other rows are beside it."]
    )


def check_buckets(task: Task, block: Block, bucket: int) -> Problems:
    """Rows proposed or listed for a bucket are in this bucket."""
    rows = pa.table(task.rendered(block))
    wrong = wrong_bucket(task, rows, np.full(len(block), bucket, np.int64))
    return [] if wrong is None else [wrong[1]]


def check_ids(task: Task, block: Block) -> Problems:
    """`parse` recovers the content of the rows from the rendered inputs."""
    columns = task.rendered(block)
    parsed = task.parse({name: columns[name] for name in task.inputs})
    same = fingerprints(task, parsed) == fingerprints(task, block)
    if same.all():
        return []
    row = plain_rows(task, block)[int(np.flatnonzero(~same)[0])]
    return [
        f"parse does not give back what was rendered: the row {inputs_of(task, row)} gets another "
        "id when it is read from a file. Compare content and parse (and tokens, in a TextTask)."
    ]


def check_solver(task: Task, block: Block) -> Problems:
    """`recompute_columns`, which calls `solve`, gives every column except inputs and images."""
    rows = plain_rows(task, block)
    for row in rows:
        inputs = {name: row[name] for name in task.inputs}
        solved = task.recompute_columns(inputs)
        if both := sorted(set(inputs) & set(solved)):
            return [f"recompute_columns gives {', '.join(both)}, which are inputs."]
        for name in row:
            if name in inputs or not task.columns[name].plain:
                continue
            if name not in solved:
                return [_lacks(task, name)]
            if name == LABEL and task.is_checked:
                if not accepts(task, row, solved[name]):
                    return [
                        f"For {inputs_of(task, row)} solve and recompute_columns give "
                        f"{short(solved[name])}, which check refuses."
                    ]
            elif solved[name] != row[name]:
                return [
                    f"For {inputs_of(task, row)} render gives {name} {short(row[name])}, solve and "
                    f"recompute_columns give {short(solved[name])}: the two rules differ."
                ]
        if extra := sorted(set(solved) - set(row)):
            return [f"recompute_columns gives {', '.join(extra)}, which columns does not declare."]
    return _check_kinds_of_answers(task, rows[:_SCORED])


def _lacks(task: Task, name: str) -> str:
    """The problem of a column that `recompute_columns` does not give, and its remedy."""
    text = f"recompute_columns does not give {name}: "
    inherited = name == LABEL or (name == "length" and isinstance(task, TextTask))
    if inherited:
        return f"{text}begin your columns with **super().recompute_columns(row), which gives it."
    return (
        f"{text}return it, as in `def recompute_columns(self, row): return "
        f"{{**super().recompute_columns(row), {name!r}: ...}}`, or drop the column."
    )


def _check_kinds_of_answers(task: Task, rows: list[dict[str, Any]]) -> Problems:
    """`solve` answers as its docstring says: with the value, or with the name of the class."""
    for row in rows if LABEL in task.columns else []:
        answer = task.solve(row[task.inputs[0]])
        label = task.answer.from_solver(answer) if task.is_checked else row[LABEL]
        expected = task.answer.solutions(label)
        if not any(type(answer) is type(solution) and answer == solution for solution in expected):
            return [
                f"solve answers {inputs_of(task, row)} with {answer!r} ({type(answer).__name__}): "
                f"expected {expected[0]!r} ({type(expected[0]).__name__})."
            ]
    return []


def check_refusals(task: Task, block: Block) -> Problems:
    """`solve` raises ValueError for texts that are not questions of the task.

    A task whose rows are made of tokens must refuse every other text. Another task may answer it.
    """
    text = plain_rows(task, block.take(slice(0, 1)))[0][task.inputs[0]]
    if not isinstance(text, str):
        return []
    tokens = "".join(task.tokens) if isinstance(task, TextTask) else ""
    foreign = next(sign for sign in "?#@" + chr(0x110000 - 1) if sign not in tokens)
    for other in (f"{text}{foreign}", f"{foreign} {text}", foreign):
        try:
            answer = task.solve(other)
        except ValueError:
            continue
        except Exception as error:
            return [
                f"solve raises {type(error).__name__} for {short(other)}, which is not a question: "
                "raise a ValueError that says what is expected."
            ]
        if isinstance(task, TextTask):
            return [
                f"solve answers {short(other)}, which is not a question, with {short(answer)}: "
                "raise a ValueError that says what is expected."
            ]
    return []


def check_answers(task: Task, block: Block) -> Problems:
    """A row's own answer scores best, also in a reply. A wrong answer scores differently."""
    rows = plain_rows(task, block.take(slice(0, _SCORED)))
    exact = task.metrics[0] in task.binary_metrics
    replies = exact and LABEL in task.columns and not pa.types.is_floating(task.answer.arrow)
    for row in rows:
        inputs, own = inputs_of(task, row), task.solve(row[task.inputs[0]])
        reached, nothing = task.score(row, own), task.score(row, None)
        if exact and reached != 1:
            return [f"The right answer to {inputs}, {own!r}, scores {reached}: expected 1."]
        if reached == nothing:
            return [f"The right answer to {inputs} scores {reached}, just as no answer does."]
        if LABEL not in row:
            continue
        if not math.isclose(task.score(row, row[LABEL]), reached):
            return [f"The label of {inputs} and the answer of solve score differently."]
        if replies and (read := score_answer(task, row, _reply(task, row[LABEL]))) != 1:
            return [f"The reply {short(_reply(task, row[LABEL]))} to {inputs} scores {read}."]
        for other in rows:
            if other[LABEL] == row[LABEL] or (task.is_checked and accepts(task, row, other[LABEL])):
                continue
            wrong = task.score(row, other[LABEL])
            if wrong == reached or (exact and wrong != 0):
                return [f"{short(other[LABEL])}, a wrong answer to {inputs}, scores {wrong}."]
            if replies and (read := score_answer(task, row, _reply(task, other[LABEL]))) != 0:
                reply = short(_reply(task, other[LABEL]))
                return [f"The reply {reply}, a wrong answer to {inputs}, scores {read}."]
    return []


def _reply(task: Task, label: Any) -> str:
    """The reply of a language model. Text of several lines is kept as it is."""
    answer = task.answer.format_answer(label)
    return answer if "\n" in answer else answer_line(answer)


def check_drawing(task: Task, block: Block) -> Problems:
    """`synthbench preview` can show every row, and all rows have the same probe targets."""
    rows = plain_rows(task, block)
    problems = []
    if not all(str(describe.draw_row(task, row)).strip() for row in rows[:_SCORED]):
        problems.append("draw_row gives an empty text.")
    targets = [task.probe_targets(row) for row in rows]
    whole = all(type(target) is int for row_targets in targets for target in row_targets.values())
    if len({tuple(row_targets) for row_targets in targets}) != 1 or not whole:
        problems.append(
            "probe_targets must give the same names for every row, and only int values."
        )
    return problems


def check_worked(task: Task, block: Block) -> Problems:
    """Steps lead to the label, their last line is the answer, and no step can be left out."""
    functions = worked_functions(type(task))
    if functions is None:
        return []
    for row in plain_rows(task, block.take(slice(0, _WORKED))):
        inputs, text = inputs_of(task, row), solution(task, row)
        *steps, last = text.split("\n")
        for read, what in ((text, "solution"), (last, "last line of the solution")):
            if score_answer(task, row, read) != 1:
                return [f"The {what} of {inputs} does not read as its label: {short(read)}."]
        for place in {0, len(steps) // 2, len(steps) - 1} & {*range(len(steps))}:
            try:
                functions[1](task, row[task.inputs[0]], steps[:place] + steps[place + 1 :])
            except ValueError:
                continue
            return [
                f"replay_steps of {inputs} holds without the step {short(steps[place])}: raise a "
                "ValueError for a step that does not follow, or leave the step out."
            ]
    return []


def inputs_of(task: Task, row: dict[str, Any]) -> str:
    """The row's first input, as messages show it."""
    return short(row[task.inputs[0]])
