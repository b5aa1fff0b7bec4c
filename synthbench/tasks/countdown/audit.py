"""Shortcuts and balances of countdown: sums and differences alone, and two numbers alone."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import AuditSpec, Columns, Values, fixed
from synthbench.tasks.audit_spec import numbers as values
from synthbench.tasks.countdown.task import Countdown

Ints = NDArray[np.int64]


def audit_spec(task: Countdown) -> AuditSpec:
    """Sums and differences alone, two numbers alone, other orders of the numbers, balances."""
    uses_all = task.variant == "all"

    def pairs(columns: Columns) -> list[str]:
        return _answers(columns, _pair_equations)

    def signed(columns: Columns) -> list[str]:
        return _answers(columns, functools.partial(_sums, uses_all=uses_all))

    def operations(columns: Columns) -> Values:
        labels = columns["label"].to_pylist()
        return [word for label in labels for word in label.split() if word in "+-*/"]

    def pair_is_enough(columns: Columns) -> Values:
        return ["yes" if answer else "no" for answer in pairs(columns)]

    return AuditSpec(
        shortcuts=(
            fixed("+ and - alone", "Every sum and difference of the numbers is tried.", signed),
            *(
                []
                if uses_all
                else [fixed("two numbers", "All equations of two numbers are tried.", pairs)]
            ),
        ),
        near_duplicate_keys={
            "the same numbers in another order": lambda columns: task.problem(task.parse(columns))
        },
        distributions={
            "target": lambda columns: values(columns["target"]),
            "operations of the label": operations,
            "two of the numbers reach the target": pair_is_enough,
        },
    )


def _answers(
    columns: Columns, equations: Callable[[Ints, Ints], list[tuple[NDArray[np.bool_], str]]]
) -> list[str]:
    """The first equation that is right in each row, or an empty text."""
    rows, targets = columns["numbers"].to_pylist(), values(columns["target"])
    counts, answers = np.array(list(map(len, rows))), [""] * len(rows)
    for count in np.unique(counts):
        places = np.flatnonzero(counts == count)
        numbers = np.array([rows[place] for place in places], np.int64)
        for right, form in equations(numbers, targets[places]):
            for index in np.flatnonzero(right).tolist():
                place = places[index]
                answers[place] = answers[place] or form.format(*rows[place])
    return answers


def _pair_equations(numbers: Ints, targets: Ints) -> list[tuple[NDArray[np.bool_], str]]:
    """For each equation of two numbers, the rows in which it is right, and its form."""
    equations = []
    for i, j in itertools.permutations(range(numbers.shape[1]), 2):
        a, b = numbers[:, i], numbers[:, j]
        for sign, right in (("-", a - b == targets), ("/", a == b * targets)):
            equations.append((right, f"{{{i}}} {sign} {{{j}}}"))
        if i < j:
            for sign, right in (("+", a + b == targets), ("*", a * b == targets)):
                equations.append((right, f"{{{i}}} {sign} {{{j}}}"))
    return equations


def _sums(numbers: Ints, targets: Ints, uses_all: bool) -> list[tuple[NDArray[np.bool_], str]]:
    """The same for sums and differences, of all numbers or of any."""
    equations = []
    for signs in itertools.product((1, -1) if uses_all else (1, -1, 0), repeat=numbers.shape[1]):
        order = sorted(
            filter(signs.__getitem__, range(len(signs))), key=lambda index: -signs[index]
        )
        words = "".join(f" {'-+'[signs[index] > 0]} {{{index}}}" for index in order)
        equations.append((numbers @ np.array(signs) == targets, words.removeprefix(" + ")))
    return equations
