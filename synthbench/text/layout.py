"""A table as lines of a terminal, where a figure is always in the line of its label.

Prose wraps within its column. Labels and figures stay whole. Columns that do not fit beside
each other continue below, behind the columns that name the rows:

    model  measure  here          model  measure  here  paper
    ndr    iid      1.000         ndr    iid     1.000  0.990
           test     0.968                test    0.968  0.990

    model  measure  paper
    ndr    iid      0.990
           test     0.990
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Spaces between two columns. For columns that wrap, the longest word that is kept whole, and the
#: minimum width.
_GAP, _WORD, _LEAST = 2, 20, 8


@dataclasses.dataclass(frozen=True)
class TableColumn:
    """A column of a table.

    Attributes:
        head: its name.
        cells: its cells, from top to bottom. Lines of one cell are beside the same lines of the
            other cells of its row that have several.
        is_right: whether it is right-aligned.
        is_whole: whether its cells, not its name, keep their lines whole.
    """

    head: Text
    cells: Sequence[Text]
    is_right: bool
    is_whole: bool

    @functools.cached_property
    def wanted(self) -> int:
        """The width at which nothing wraps."""
        return max(map(_width, (self.head, *self.cells)))

    @functools.cached_property
    def least(self) -> int:
        """The smallest width at which no word of moderate length is cut."""
        needed = _width if self.is_whole else _longest_word
        return max([_longest_word(self.head), *map(needed, self.cells)])


def bands(columns: Sequence[TableColumn], keys: int, room: int) -> list[list[TableColumn]]:
    """The columns that are beside each other, from top to bottom. Each band starts with the keys.

    Keys stay whole if half of a line has room for them.

    Args:
        columns: all columns. Those that are right-aligned stay with a column of labels before them.
        keys: how many of the first columns name the rows.
        room: the number of characters of a line.
    """
    named, rest = columns[:keys], columns[keys:]
    if sum(column.wanted for column in named) <= room // 2:
        named = [dataclasses.replace(column, is_whole=True) for column in named]
    units: list[list[TableColumn]] = []
    for column in rest:
        if column.is_right and units and not units[-1][0].is_right:
            units[-1].append(column)
        else:
            units.append([column])
    groups = [[*named]]
    for unit in units:
        if len(groups[-1]) > keys and _needed([*groups[-1], *unit]) > room:
            groups.append([*named])
        groups[-1] += unit
    return groups


def _needed(columns: Sequence[TableColumn]) -> int:
    return sum(column.least for column in columns) + _GAP * (len(columns) - 1)


def widths(columns: Sequence[TableColumn], room: int) -> list[int]:
    """Widths of columns that are beside each other. Columns that wrap share the room."""
    sizes = [column.least for column in columns]
    spare = room - _needed(columns)
    for _ in range(spare):
        narrow = [i for i, column in enumerate(columns) if sizes[i] < column.wanted]
        if narrow:
            sizes[min(narrow, key=sizes.__getitem__)] += 1
    for _ in range(-spare):
        wide = [i for i, column in enumerate(columns) if not column.is_whole and sizes[i] > _LEAST]
        if wide:
            sizes[max(wide, key=sizes.__getitem__)] -= 1
    return sizes


def row_lines(
    cells: Sequence[Text], columns: Sequence[TableColumn], room: Sequence[int], console: Console
) -> Iterator[Text]:
    """The lines of one row, whose columns have these widths."""
    wrapped = [
        [list(line.wrap(console, width)) for line in cell.split(allow_blank=True) or [cell]]
        for cell, width in zip(cells, room, strict=True)
    ]
    several = [lines for lines in wrapped if len(lines) > 1]
    heights = [max(map(len, beside)) for beside in itertools.zip_longest(*several, fillvalue=[])]
    for lines in several:
        for line, height in zip(lines, heights, strict=False):
            line += [cells[0].blank_copy()] * (height - len(line))
    stacks = [[*itertools.chain.from_iterable(lines)] for lines in wrapped]
    for beside in itertools.zip_longest(*stacks, fillvalue=cells[0].blank_copy()):
        yield _joined(beside, columns, room)


def _joined(cells: Sequence[Text], columns: Sequence[TableColumn], room: Sequence[int]) -> Text:
    line = cells[0].blank_copy()
    line.no_wrap, line.overflow = True, "ignore"
    for cell, column, width in zip(cells, columns, room, strict=True):
        space = " " * (width - cell.cell_len)
        line.append(" " * _GAP if line else "")
        line.append(space if column.is_right else "").append_text(cell)
        line.append("" if column.is_right else space)
    return line


def _width(cell: Text) -> int:
    return max((line.cell_len for line in cell.split(allow_blank=True)), default=0)


def _longest_word(cell: Text) -> int:
    from rich.cells import cell_len

    return max((min(cell_len(word), _WORD) for word in cell.plain.split()), default=0)
