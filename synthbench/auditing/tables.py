"""The tables of a report, in a form that a terminal and the page both show.

`show_sections` renders them as text, the template `page.html.jinja` as HTML.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from synthbench import text
from synthbench.auditing.figures import BarChart, IntervalChart
from synthbench.text import items, stack, styled

if TYPE_CHECKING:
    from rich.console import Group


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: its text.
        mark: a sign that is shown after the text; may be empty.
    """

    text: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.mark}" if self.mark else self.text


@dataclasses.dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        head: the names of its columns.
        rows: its cells; the first cell of each row names the row.
        right: indices of the columns that are aligned on the right.
        notes: sentences that explain it.
        charts: drawings of the same values, for the page.
        detail: whether it is shown only on the page, folded.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    right: Sequence[int] = ()
    notes: Sequence[str] = ()
    charts: Sequence[BarChart | IntervalChart] = ()
    detail: bool = False


@dataclasses.dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes:
        title: its heading.
        items: sentences, shown as a list.
        tables: its tables.
    """

    title: str
    items: Sequence[str] = ()
    tables: Sequence[Table] = ()


def show_sections(sections: Sequence[Section]) -> Group:
    """Sections for a terminal, without the detailed tables."""
    parts: list[Any] = []
    for section in sections:
        parts += ["", styled(section.title, "bold"), items(section.items)]
        for number, one in enumerate(one for one in section.tables if not one.detail):
            rows = [[str(cell) for cell in row] for row in one.rows]
            parts += [*([""] if number else []), text.Table(one.head, rows, one.right)]
            parts += map(styled, one.notes)
    return stack(*parts)
