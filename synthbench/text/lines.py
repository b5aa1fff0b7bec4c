"""Values and texts on one line, shortened, with control characters escaped."""

from __future__ import annotations

import reprlib
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

#: The width of words in lines below each other.
_WIDTH = 72
#: The most characters of a line.
LONGEST_LINE = 1_000


class _Short(reprlib.Repr):
    """Values in a few words, whatever they are."""

    def repr_int(self, x: int, level: int) -> str:
        """A whole number; Python refuses to write one of more than 4,300 digits."""
        try:
            return super().repr_int(x, level)
        except ValueError:
            return "a number of thousands of digits"


_SHORT = _Short()
_SHORT.maxlist = _SHORT.maxdict = 12
_SHORT.maxstring = _SHORT.maxother = 60


def short(value: Any) -> str:
    """A value in a few words, on one line."""
    words = " ".join(map(str.strip, _SHORT.repr(value).splitlines()))  # arrays have several lines
    return printable(words)


def one_line(text: str) -> str:
    """A text on one line, shortened, with control characters escaped.

    File names, texts in rows and a library's messages may contain any character.
    """
    if len(text) > LONGEST_LINE:
        text = f"{text[: LONGEST_LINE // 2]} ... {text[-LONGEST_LINE // 2 :]}"
    return printable(text)


def error_text(error: BaseException) -> str:
    """Type and message of an error on one line. The error's own class may fail to write it."""
    name = type(error).__name__
    try:
        return one_line(f"{name}: {error}" if str(error) else name)
    except Exception:  # whatever the class raises
        return name


def printable(text: str, keep: str = "") -> str:
    r"""A text with all characters escaped that are not printable, such as control characters.

    Args:
        text: the text.
        keep: characters that stay as they are.

    Example:
        >>> from synthbench.text.lines import printable
        >>> print(printable("a\tred \x1b[31mfolder"))
        a\tred \x1b[31mfolder
    """
    return "".join(
        character
        if character.isprintable() or character in keep
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


#: Characters that turn the direction of the text behind them.
_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def is_one_line(text: str) -> bool:
    """True if a text is one line without control characters or lone surrogates.

    Characters that turn the direction of the text behind them count as control characters.
    """
    return not any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or unicodedata.bidirectional(character) in _TURNING
        for character in text
    )


def beside(lines: Mapping[str, Sequence[str]]) -> str:
    """Named lines of as many words each, word below word, in parts that fit into a terminal.

    Example:
        >>> from synthbench.text.lines import beside
        >>> print(beside({"symbols": ["a", "b"], "states": ["q1", "q0"]}))
        symbols   a  b
        states   q1 q0
    """
    width = max(len(word) for words in lines.values() for word in words)
    names = max(map(len, lines))
    count = max(1, _WIDTH // (width + 1))
    longest = max(map(len, lines.values()))
    return "\n\n".join(
        "\n".join(
            f"{name:{names}}  {' '.join(word.rjust(width) for word in words[at : at + count])}"
            for name, words in lines.items()
        )
        for at in range(0, longest, count)
    )
