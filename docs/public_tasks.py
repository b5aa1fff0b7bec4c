"""Tables of the page *Tasks of public generators*, from the store of `benchmarks published`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synthbench.probing.report import FOUND, HOLDS, NOT_ASKED, STATED, WRONG
from synthbench.text.tables import Table

STORE = Path(__file__).parents[1] / "benchmarks/public-tasks.jsonl"
#: The columns of the page, and the questions of a probe that each sums up. A name that ends in a
#: colon takes all questions that begin with it.
COLUMNS = {
    "again": ("repeatable",),
    "process": ("process",),
    "hash seed": ("hash seed",),
    "state": ("global state",),
    "state unmoved": ("global state is moved",),
    "next seed": ("seeds",),
    "repeats": ("repeats", "repeats of a seed"),
    "one answer": ("contradictions",),
    "answers vary": ("balance",),
    "shortcuts": ("shortcut:",),
    "right paid": ("scorer: right",),
    "as written": ("scorer: blanks", "scorer: sign", "scorer: digit groups", "scorer: capitals",
                   "scorer: full stop"),
    "wrong unpaid": ("scorer: another row's", "scorer: empty", "scorer: question",
                     "scorer: all at once", "scorer: near miss"),
}  # fmt: skip
#: The marks of results, the most serious first.
MARKS = {WRONG: "**no**", FOUND: "look", STATED: "=", HOLDS: "+", NOT_ASKED: "\u00b7"}


def result_of(line: Mapping[str, Any], questions: tuple[str, ...]) -> str:
    """The most serious result of some questions of a task."""
    for result in MARKS:
        for question in line[result]:
            if any(
                question == pattern or (pattern[-1] == ":" and question.startswith(pattern))
                for pattern in questions
            ):
                return result
    return NOT_ASKED


def _row(line: Mapping[str, Any]) -> list[str]:
    marks = [MARKS[result_of(line, questions)] for questions in COLUMNS.values()]
    return [f"`{line['task']}`", str(line["rows"]), *marks]


def _lines() -> list[dict[str, Any]]:
    """A line for each task. A later line of a task replaces an earlier line."""
    lines = map(json.loads, STORE.read_text(encoding="utf-8").splitlines())
    return [*{line["task"]: line for line in lines}.values()]


def counts_table() -> str:
    """How many tasks have each result, by question."""
    answered = [line for line in _lines() if "error" not in line]
    kinds = (HOLDS, STATED, FOUND, WRONG, NOT_ASKED)
    rows = []
    for column, questions in COLUMNS.items():
        results = [result_of(line, questions) for line in answered]
        rows.append([column, *(str(results.count(kind)) for kind in kinds)])
    heads = ("question", "holds +", "stated =", "look", "**no**", "not asked \u00b7")
    return Table(heads, rows).markdown()


def tasks_table() -> str:
    """The results of each task, and the tasks that could not be asked."""
    lines = _lines()
    answered = [line for line in lines if "error" not in line]
    libraries = dict.fromkeys(
        f"{line['task'].partition(':')[0]} {line['version']}" for line in answered
    )
    table = Table(("task", "rows", *COLUMNS), [_row(line) for line in answered])
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if "error" in line:
            reason = line["error"].removeprefix(f"{line['task']}: ").rstrip(".")
            reasons.setdefault(reason, []).append(f"`{line['task']}`")
    parts = [f"{len(answered)} tasks of {' and '.join(libraries)}.", table.markdown()]
    if reasons:
        parts.append("Not asked:")
        parts.append("\n".join(f"- {reason}: {', '.join(of)}." for reason, of in reasons.items()))
    return "\n\n".join(parts)
