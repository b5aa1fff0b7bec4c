"""The reference solver of copying: a walk over the tokens of one row."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: The token without a meaning, the mark, and the token of places that are not asked.
BLANK, COPY, NOT_ASKED = "blank", "copy", "_"
_EXAMPLES = {
    "selective": f"{BLANK} s5 {BLANK} s2 {COPY} {COPY}",
    "induction": f"s3 {COPY} s7 s1 s4 {COPY} {BLANK}",
    "ngram": f"s4 s1 s7 s2 s1 s5 {COPY} s1 s7 {BLANK}",
}


def copied_symbols(variant: str, text: str, symbols: Collection[str]) -> list[str]:
    """For each token of a row the symbol that is asked there, `_` where nothing is asked.

    Raises:
        ValueError: the text is not a row of the variant.
    """
    words = text.split()
    copied = None
    if words and all(word in symbols or word in (BLANK, COPY) for word in words):
        copied = {"selective": _selective, "induction": _induction, "ngram": _ngram}[variant](words)
    if copied is None:
        raise ValueError(
            f"expected a row such as {_EXAMPLES[variant]!r}, whose every question has one answer; "
            f"got {text[:80]!r}"
        )
    return [NOT_ASKED] * (len(words) - len(copied)) + copied


def _selective(words: Sequence[str]) -> list[str] | None:
    """The symbols of a row, if it ends in as many marks."""
    symbols = [word for word in words if word not in (BLANK, COPY)]
    is_row = (
        symbols and [*words].count(COPY) == len(symbols) and {*words[-len(symbols) :]} == {COPY}
    )
    return symbols if is_row else None


def _induction(words: Sequence[str]) -> list[str] | None:
    """The tokens behind the first mark, as many as the row has from the second on."""
    context, *others = _split(words)
    if len(others) != 2:
        return None
    between, rest = others
    if not _are_symbols(context + between) or any(word != BLANK for word in rest):
        return None
    copied = between[: 1 + len(rest)]
    return copied if len(copied) == 1 + len(rest) else None


def _ngram(words: Sequence[str]) -> list[str] | None:
    """The tokens behind the query, as many as there are blanks behind it and one more."""
    context, *others = _split(words)
    if len(others) != 1 or not _are_symbols(context):
        return None
    query = [word for word in others[0] if word != BLANK]
    blanks = len(others[0]) - len(query)
    if not query or others[0] != query + [BLANK] * blanks:
        return None
    size = len(query)
    ends = [
        start + size
        for start in range(len(context) - size + 1)
        if context[start : start + size] == query
    ]
    if len(ends) != 1:
        return None
    copied = context[ends[0] : ends[0] + 1 + blanks]
    return copied if len(copied) == 1 + blanks else None


def _split(words: Sequence[str]) -> list[list[str]]:
    """The tokens between marks."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == COPY:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _are_symbols(words: Sequence[str]) -> bool:
    return BLANK not in words
