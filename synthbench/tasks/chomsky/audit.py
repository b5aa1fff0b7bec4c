"""Audit of strings: answers by a simpler rule, and the same problem twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import hash_rows
from synthbench.tasks.audit_spec import AuditSpec, Columns, Predictor, codes, fixed
from synthbench.tasks.chomsky.task import Chomsky

#: Simpler rules: a name, a description, and the answer to the symbols of a string.
_RULES: dict[str, tuple[str, str, Callable[[list[str]], list[str]]]] = {
    "missing-duplicate": (
        "parity of the ones",
        "A finite automaton finds the hidden digit: with it, the number of ones is even.",
        lambda x: [str(x.count("1") % 2)],
    ),
    "stack-manipulation": (
        "stack before the actions",
        "The stack at the beginning, from the top down.",
        lambda x: [*(symbol for symbol in reversed(x) if symbol in "01"), "end"],
    ),
    "binary-addition": (
        "sum without carries",
        "Each digit is 1 if those of the two numbers differ.",
        lambda x: [
            *(str(int(a != b)) for a, b in zip_longest(*"".join(x).split("plus"), fillvalue="0")),
            "end",
        ],
    ),
    "bucket-sort": (
        "length alone",
        "As if each symbol were equally frequent in the string.",
        lambda x: _evenly(x, 5),
    ),
}


def audit_spec(task: Chomsky) -> AuditSpec:
    """A simpler rule or the other reading, and strings that differ in order or in zeros only."""

    def predictor(rule: Callable[[list[str]], list[str]]) -> Predictor:
        return lambda columns: [rule(text.split()) for text in columns["text"].to_pylist()]

    def reordered(columns: Columns) -> NDArray[np.uint64]:
        return codes(np.sort(task.parse(columns)["tokens"], axis=1)[:, ::-1])

    # The program reads the number under a root from its greatest digit.
    greatest_first = task.variant == "compute-sqrt" and task.function.program

    def same_numbers(columns: Columns) -> NDArray[np.uint64]:
        numbers = [_numbers(text, greatest_first) for text in columns["text"].to_pylist()]
        width = 1 + max(len(" ".join(row)) for row in numbers)
        texts = np.array([" ".join(row) for row in numbers], f"S{width}")
        return hash_rows(texts.view(np.uint8).reshape(len(texts), -1))

    rules = [_RULES[task.variant]] if task.variant in _RULES else []
    if task.function.program_asked:
        text = "The answer by the rule of the paper or of its program, whichever does not count."
        other = not task.function.program
        rules = [("other reading", text, lambda x: task.solve_as(" ".join(x), other))]
    if task.variant == "bucket-sort":
        name, text, _ = _RULES[task.variant]
        rules = [(name, text, lambda x: _evenly(x, len(task.tokens)))]
    keys: dict[str, Callable[[Columns], NDArray[np.uint64]]] = {}
    if task.variant in ("parity-check", "cycle-navigation", "bucket-sort"):
        keys["the same symbols reordered"] = reordered
    if task.variant in ("binary-addition", "binary-multiplication", "compute-sqrt"):
        keys["the same numbers with more or fewer insignificant zeros"] = same_numbers
    return AuditSpec(
        shortcuts=tuple(fixed(name, text, predictor(rule)) for name, text, rule in rules),
        near_duplicate_keys=keys,
    )


def _evenly(x: list[str], count: int) -> list[str]:
    """A sorted string of as many symbols, each as often as the others."""
    return [str(count * place // len(x)) for place in range(len(x))]


def _numbers(text: str, greatest_first: bool) -> list[str]:
    """The binary numbers of a string without insignificant zeros, in ascending order."""
    parts = re.split("plus|times", text.replace(" ", ""))
    return sorted(part.lstrip("0") if greatest_first else part.rstrip("0") for part in parts)
