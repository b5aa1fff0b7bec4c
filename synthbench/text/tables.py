"""Tables for terminals, Markdown and HTML; lists and colours for terminals.

What a terminal shows is made by `rich`, which is imported when there is something to show.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
import shutil
from collections.abc import Container, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, TextIO

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
        right: indices of the right-aligned columns.
        apart: whether empty lines separate the rows in a terminal.
        title: what the table shows; its caption in HTML.
        notes: sentences that a terminal shows below the table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str | Text]]
    right: Container[int] = ()
    apart: bool = False
    title: str = ""
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """The table in Markdown. The cells are Markdown already; none contains a bare `|`."""
        rule = ["---:" if column in self.right else "---" for column in range(len(self.head))]
        shown = {True: "**{}**", False: "{}"}
        rows = [[shown[isinstance(row, Heading)].format(one) for one in row] for row in self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in (self.head, rule, *rows))

    def html(self) -> str:
        """The table in HTML, with all texts escaped; right-aligned cells have the class `right`."""
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
        """The table as wide as the terminal: long cells wrap, but not in right-aligned columns."""
        from rich import table

        rows = [[_cell(cell, row) for cell in row] for row in (Heading(self.head), *self.rows)]
        widths = self._widths(rows, options.max_width)
        made = table.Table.grid(padding=(0, _GAP, 0, 0))
        for column, width in enumerate(widths):
            made.add_column(justify="right" if column in self.right else "left", width=width)
        for number, row in enumerate(rows):
            is_heading = number > 0 and isinstance(self.rows[number - 1], Heading)
            if is_heading or (self.apart and number > 1):
                made.add_row()
            made.add_row(*row)
        whole = sum(widths) + _GAP * len(widths)
        yield from console.render(made, options.update_width(max(whole, options.max_width)))
        for note in self.notes:
            yield styled(note)

    def _widths(self, rows: Sequence[Sequence[Text]], room: int) -> list[int]:
        """Widths of the columns: words of moderate length stay whole as long as there is room."""
        columns = list(itertools.zip_longest(*rows, fillvalue=styled("")))
        wanted = [max(map(_width, column)) for column in columns]
        widths = [
            max([_longest_word(head), *map(_width if at in self.right else _longest_word, cells)])
            for at, (head, *cells) in enumerate(columns)
        ]
        spare = room - sum(widths) - _GAP * (len(widths) - 1)
        for _ in range(spare):
            narrow = [i for i, want in enumerate(wanted) if widths[i] < want]
            if narrow:
                widths[min(narrow, key=widths.__getitem__)] += 1
        for _ in range(-spare):
            wide = [i for i, width in enumerate(widths) if i not in self.right and width > _LEAST]
            if wide:
                widths[max(wide, key=widths.__getitem__)] -= 1
        return widths


#: Spaces between two columns; for columns that wrap, the longest word that is kept whole, and the
#: minimum width.
_GAP, _WORD, _LEAST = 2, 20, 8


def escaped(text: str | Text) -> str:
    """A text for HTML, also with unprintable characters escaped."""
    return escape(printable(str(text)))


def _cell(cell: str | Text, row: Sequence[str | Text]) -> Text:
    """A cell for a terminal: names of columns are bold."""
    if isinstance(cell, str):
        return styled(cell, "bold" if isinstance(row, Heading) else "")
    return cell


def _width(cell: Text) -> int:
    return max(line.cell_len for line in cell.split(allow_blank=True)) if cell else 0


def _longest_word(cell: Text) -> int:
    from rich.cells import cell_len

    return max((min(cell_len(word), _WORD) for word in cell.plain.split()), default=0)


def items(texts: Iterable[str | Text]) -> Any:
    """A list: each text behind a dash, its later lines indented as far as its first."""
    from rich import table

    made = table.Table.grid(padding=(0, 1, 0, 0))
    for text in texts:
        made.add_row("-", styled(text) if isinstance(text, str) else text)
    return made


def stack(*parts: Any) -> Group:
    """Tables and texts one below the other; lines of strings stay whole."""
    from rich.console import Group

    return Group(*(styled(part, whole=True) if isinstance(part, str) else part for part in parts))


def styled(text: str, style: str = "", whole: bool = False) -> Text:
    """A paragraph, with unprintable characters escaped.

    Args:
        text: the paragraph.
        style: colours and weight, such as "bold" or "red".
        whole: whether lines stay whole, however narrow the terminal is, so that they can be copied.
    """
    from rich.text import Text

    made = Text(printable(text, keep="\n"), no_wrap=whole, overflow="ignore" if whole else "fold")
    made.stylize(style)  # the text alone, not the spaces that fill a column
    return made


def render(*parts: Any, colors: bool = False) -> str:
    """Render a `stack` as text, as wide as the terminal (80 columns if there is none).

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
    """Whether a stream is a terminal on which colours are wanted."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain
