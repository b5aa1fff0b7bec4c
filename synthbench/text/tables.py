"""Tables for terminals, Markdown and HTML. Lists and colours for terminals.

`rich` makes the output of a terminal. It is imported when something is shown.
"""

from __future__ import annotations

import dataclasses
import io
import os
import shutil
from collections.abc import Container, Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TextIO

from synthbench.text.layout import TableColumn, bands, row_lines, widths
from synthbench.text.lines import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.text import Text


class Heading(tuple[str, ...]):
    """A row that names the columns again, where another part of a table begins."""


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows under a head, for a terminal (`rich` renders it), Markdown and HTML.

    Attributes:
        head: names of the columns.
        rows: the cells of each row.
        right: indices of the right-aligned columns, whose cells never wrap in a terminal.
        whole: indices of other columns whose cells never wrap: labels of figures, and figures.
        keys: how many of the first columns name a row. A terminal that is too narrow for all
            columns shows some of them below the others, each time behind these.
        apart: whether empty lines separate the rows in a terminal.
        title: the subject of the table. Its caption in HTML.
        notes: sentences that a terminal shows below the table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str | Text]]
    right: Container[int] = ()
    whole: Container[int] = ()
    keys: int = 1
    apart: bool = False
    title: str = ""
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """The table in Markdown. The cells are Markdown already. None contains a bare `|`."""
        rule = ["---:" if column in self.right else "---" for column in range(len(self.head))]
        shown = {True: "**{}**", False: "{}"}
        rows = [[shown[isinstance(row, Heading)].format(cell) for cell in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in (self.head, rule, *rows))

    def html(self) -> str:
        """The table in HTML, with all texts escaped. Right-aligned cells have the class `right`."""
        caption = f"<caption>{escaped(self.title)}</caption>" if self.title else ""
        head, *rows = (self._html_row(row) for row in (Heading(self.head), *self.rows))
        body = "\n".join(["<tbody>", *rows, "</tbody>"])
        return f"<table>{caption}\n<thead>{head}</thead>\n{body}\n</table>"

    def _html_row(self, row: Sequence[str | Text]) -> str:
        cells = []
        for column, cell in enumerate(row):
            tag, scope = ("td", "") if column else ("th", ' scope="row"')
            if isinstance(row, Heading):
                tag, scope = "th", ' scope="col"'
            side = ' class="right"' if column in self.right else ""
            cells.append(f"<{tag}{scope}{side}>{escaped(cell)}</{tag}>")
        return f"<tr>{''.join(cells)}</tr>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table as wide as the terminal; `layout` says what wraps and what stays whole."""
        rows = [[_cell(cell, row) for cell in row] for row in (Heading(self.head), *self.rows)]
        columns = [
            TableColumn(head, cells, at in self.right, at in self.right or at in self.whole)
            for at, (head, *cells) in enumerate(zip(*rows, strict=True))
        ]
        for number, band in enumerate(bands(columns, self.keys, options.max_width)):
            if number:
                yield styled("")
            yield from self._lines(band, widths(band, options.max_width), console)
        for note in self.notes:
            yield styled(note)

    def _lines(
        self, columns: Sequence[TableColumn], room: Sequence[int], console: Console
    ) -> Iterator[Text]:
        """The lines of columns that are beside each other."""
        yield from row_lines([column.head for column in columns], columns, room, console)
        for number, row in enumerate(self.rows):
            if isinstance(row, Heading) or (self.apart and number):
                yield styled("")
            cells = [column.cells[number] for column in columns]
            yield from row_lines(cells, columns, room, console)


def escaped(text: str | Text) -> str:
    """A text for HTML, also with unprintable characters escaped."""
    return escape(printable(str(text)))


def _cell(cell: str | Text, row: Sequence[str | Text]) -> Text:
    """A cell for a terminal: names of columns are bold."""
    if isinstance(cell, str):
        return styled(cell, "bold" if isinstance(row, Heading) else "")
    return cell


def items(texts: Iterable[str | Text]) -> Any:
    """A list: each text behind a dash, its later lines indented as far as its first."""
    from rich import table

    grid = table.Table.grid(padding=(0, 1, 0, 0))
    for text in texts:
        grid.add_row("-", styled(text) if isinstance(text, str) else text)
    return grid


def stack(*parts: Any) -> Group:
    """Tables and texts below each other. Lines of strings stay whole."""
    from rich.console import Group

    return Group(*(styled(part, whole=True) if isinstance(part, str) else part for part in parts))


def captioned(title: str, table: Table, notes: Iterable[str | Text] = ()) -> Group:
    """A table in a terminal, under its title in bold, and above a list of notes."""
    below = ["", items(notes)] if notes else []
    return stack(styled(title, "bold"), "", table, *below)


def styled(text: str, style: str = "", whole: bool = False) -> Text:
    """A paragraph, with unprintable characters escaped.

    Args:
        text: the paragraph.
        style: colours and weight, such as "bold" or "red".
        whole: whether lines stay whole, however narrow the terminal is, so that they can be copied.
    """
    from rich.text import Text

    rich_text = Text(
        printable(text, keep="\n"), no_wrap=whole, overflow="ignore" if whole else "fold"
    )
    rich_text.stylize(style)  # the text alone, not the spaces that fill a column
    return rich_text


def render(*parts: Any, colors: bool = False) -> str:
    """Render a `stack` as text, as wide as the terminal (or 80 columns).

    Args:
        parts: what to render.
        colors: whether to include colours, for a terminal.
    """
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file,
        width=shutil.get_terminal_size().columns,
        force_terminal=colors,
        force_jupyter=False,
        color_system="auto" if colors else None,
        markup=False,
        emoji=False,
        highlight=False,
    )
    console.print(stack(*parts), crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().removesuffix("\n").split("\n"))


def takes_colors(stream: TextIO) -> bool:
    """True if a stream is a terminal on which colours are wanted."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain
