"""Text for people: aligned tables, values in a few words, lines that a terminal can show."""

from __future__ import annotations

import reprlib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any


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


def short(given: Any) -> str:
    """A value in a few words."""
    return _SHORT.repr(given)


def one_line(text: str) -> str:
    """A text as one line of moderate length, with nothing in it that a terminal would obey.

    File names, texts in rows and what a library says of them are whatever somebody wrote.
    """
    if len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE // 2]} ... {text[-LONGEST_LINE // 2 :]}"
    return printable(text)


def printable(text: str, keep: str = "") -> str:
    r"""A text with control characters, and whatever else is not printable, escaped.

    Args:
        text: the text.
        keep: characters that stay as they are.

    Example:
        >>> from synthbench.text import printable
        >>> print(printable("a\tred \x1b[31mfolder"))
        a\tred \x1b[31mfolder
    """
    return "".join(
        one if one.isprintable() or one in keep else one.encode("unicode_escape").decode("ascii")
        for one in text
    )


#: Characters of a line, at most.
LONGEST_LINE = 1_000


def is_one_line(text: str) -> bool:
    """Whether a text is one line of nothing but characters that stand for something."""
    return not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in text)


_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxdict = 12
_SHORT.maxstring = _SHORT.maxother = 60
