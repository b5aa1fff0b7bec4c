"""Compositional table lookup for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from synthbench.tasks.ctl.task import STEPS, CompositionalTableLookup


def draw_row(task: CompositionalTableLookup, row: Mapping[str, Any]) -> Text:
    """A row's look-ups, one a line, each with its table and the entry it takes in brackets."""
    solver = task.solver
    symbol, functions = solver.read(row["text"])
    steps = solver.apply(symbol, functions)
    shown = task.symbols if len(task.symbols) <= 16 else ()  # larger tables are left out
    margin = len("() = ") + max(map(len, functions)) + 2 * len(symbol) + 2
    answer = " ".join(steps) if task.variant == STEPS else steps[-1]
    lines = [f"{row['text']}  ->  {answer}", "".join([" " * margin, *map(_cell, shown)])]
    for function, argument, result in zip(functions, [symbol, *steps], steps, strict=False):
        call = f"{function}({argument}) = {result}"
        table = solver.tables[function]
        cells = [_cell(table[start], taken=start == argument) for start in shown]
        lines.append("".join([call.ljust(margin), *cells]))
    drawn = Text("\n".join(line.rstrip() for line in lines if line.strip()))
    drawn.highlight_regex(r"\[\d+\]", "green")
    return drawn


def _cell(symbol: str, taken: bool = False) -> str:
    return f"[{symbol}]" if taken else f" {symbol} "
