"""The reference solver of lists: Python's own lists and dictionaries, on the words of one row."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: The tokens between two lists, and between a list and the symbol that is deleted from it.
UNION, DELETE = "union", "delete"
#: The last token of an answer whose length depends on the row, and the token behind it.
END, BEHIND = "end", "_"
_EXAMPLES = {
    "identity": "s4 s1 s4 s7",
    "set": "s4 s1 s4 s7",
    "union": f"s4 s1 {UNION} s7 s4",
    "delete": f"s4 s1 s4 s7 {DELETE} s4",
}


def list_function(variant: str, text: str, symbols: Collection[str]) -> list[str]:
    """The answer to a row of a variant.

    Args:
        variant: the name of the function.
        text: the row.
        symbols: all symbols that a list may have.

    Raises:
        ValueError: the text is not a row of the variant.
    """
    words = text.split()
    parts = _parts(words, {"union": UNION, "delete": DELETE}.get(variant))
    if not all(word in symbols for part in parts for word in part) or not all(parts):
        raise _wrong(variant, text)
    if variant == "identity":
        return words
    if variant == "delete":
        kept, (deleted, *others) = parts
        if others or deleted not in kept or len(kept) == 1:
            raise _wrong(variant, text)
        kept.remove(deleted)
        return kept
    answer = [*dict.fromkeys(word for part in parts for word in part), END]
    longest = min(sum(map(len, parts)), len(symbols)) + 1
    return answer + [BEHIND] * (longest - len(answer))


def _parts(words: Sequence[str], mark: str | None) -> list[list[str]]:
    """The words before and behind the mark, or all words if the variant lacks a mark."""
    if mark is None:
        return [list(words)]
    place = words.index(mark) if mark in words else len(words)
    return [list(words[:place]), list(words[place + 1 :])]


def _wrong(variant: str, text: str) -> ValueError:
    return ValueError(f"expected a row such as {_EXAMPLES[variant]!r}, not {text[:80]!r}")
