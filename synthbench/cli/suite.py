"""`reproduce --suite`: layers on the settings of a suite, or a comparison of two runs."""

from __future__ import annotations

import contextlib
from typing import Any

from synthbench.checks import needs
from synthbench.cli.options import show
from synthbench.errors import UsageError


def try_suite(
    suite: str,
    task: str | None,
    keywords: dict[str, Any],
    fixed: dict[str, Any],
    quiet: bool,
    width: int | None,
    rates: str | None,
    compare: tuple[str, str] | None,
) -> None:
    """Run a suite and show its table. Its settings have tasks, sizes and datasets of their own.

    Raises:
        UsageError: a task or an option that the settings fix.
    """
    usual = {"study": "main", "dataset": None, "stream": None, "compile": False}
    taken = {name: keywords.pop(name) for name in usual}
    fixed |= {f"--{name}": value for name, value in taken.items() if value != usual[name]}
    refused = [name for name, value in {"TASK": task, **fixed}.items() if value]
    if refused:
        raise UsageError(
            f"--suite {suite} has settings of its own. Leave out {', '.join(refused)}."
        )
    with needs("'reproduce'", "PyTorch", "train"):
        from synthbench.training.suite import reproduce_suite
        from synthbench.training.suite.run import read_report
        from synthbench.training.suite.tables import comparison_table, suite_table
    if compare is not None:
        first, second = map(read_report, compare)
        show(comparison_table(first, second, compare))
        return
    if width is not None:
        keywords["width"] = width
    if rates is not None:
        keywords["rates"] = _rates(rates)
    try:
        report = reproduce_suite(suite, **keywords)
    except KeyboardInterrupt:
        if not quiet:
            with contextlib.suppress(UsageError):
                show(suite_table(read_report(keywords["out"] or f"{suite}-reproduced")))
        raise
    if not quiet:
        show(suite_table(report))


def _rates(text: str) -> list[float]:
    """Learning rates, separated by commas."""
    try:
        return [float(rate) for rate in text.split(",")]
    except ValueError:
        raise UsageError(
            f"Option '--rates': {text!r} is not a list of numbers such as 1e-3,3e-3."
        ) from None
