"""Aligned tables of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def text_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()
) -> str:
    """Rows under a head, columns aligned with two spaces between them.

    Args:
        head: names of the columns.
        rows: their cells, as text.
        right: indices of the columns that are aligned on the right.
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
