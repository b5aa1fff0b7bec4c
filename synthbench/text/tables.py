"""Tables, lists and colours: made by `rich`, which is imported when there is something to show."""

from __future__ import annotations

import dataclasses
import io
import itertools
import os
import shutil
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from synthbench.text.lines import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderResult
    from rich.text import Text


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows under a bold head; cells that are too wide wrap within their column.

    Attributes:
        head: names of the columns.
        rows: the cells of each row.
        right: indices of the right-aligned columns; their cells never wrap.
        apart: whether empty lines separate the rows.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str | Text]]
    right: Container[int] = ()
    apart: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich import table

        head = [styled(name, "bold") for name in self.head]
        rows = [
            [styled(cell) if isinstance(cell, str) else cell for cell in row] for row in self.rows
        ]
        widths = self._widths([head, *rows], options.max_width)
        made = table.Table.grid(padding=(0, _GAP, 0, 0))
        for column, width in enumerate(widths):
            made.add_column(justify="right" if column in self.right else "left", width=width)
        for number, row in enumerate([head, *rows]):
            made.add_row(*row)
            if self.apart and 0 < number < len(rows):
                made.add_row()
        whole = sum(widths) + _GAP * len(widths)
        yield from console.render(made, options.update_width(max(whole, options.max_width)))

    def _widths(self, rows: Sequence[Sequence[Text]], room: int) -> list[int]:
        """Widths of the columns: words of moderate length stay whole as long as there is room."""
        columns = list(itertools.zip_longest(*rows, fillvalue=styled("")))
        wanted = [max(map(_width, column)) for column in columns]
        widths = [
            max(_longest_word(head), *map(_width if place in self.right else _longest_word, cells))
            for place, (head, *cells) in enumerate(columns)
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
