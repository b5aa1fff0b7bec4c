"""The reference solver of Dyck words: a walk over a row with a list of open brackets.

`o3` opens a bracket of kind 3, `c3` closes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

#: The first letters of brackets that open and close, and the token where no bracket is open.
OPEN, CLOSE, NOTHING = "o", "c", "_"
_EXAMPLES = {"nested": "o1 o2 c2 c1 o1 c1", "shuffled": "o1 o2 c1 o1 c2 c1"}


def due_brackets(variant: str, text: str, kinds: Collection[str]) -> list[str]:
    """For each bracket of a row the closing bracket that is due behind it, `_` if all are closed.

    Args:
        variant: `nested` or `shuffled`.
        text: the row.
        kinds: the names of all kinds.

    Raises:
        ValueError: the text is not a row of the variant.
    """
    return [CLOSE + is_open[-1] if is_open else NOTHING for is_open in _walk(variant, text, kinds)]


def depth_of(variant: str, text: str, kinds: Collection[str]) -> int:
    """The most brackets that are open at once. Arguments and errors are those of `due_brackets`."""
    return max(map(len, _walk(variant, text, kinds)))


def _walk(variant: str, text: str, kinds: Collection[str]) -> Iterator[Sequence[str]]:
    """The kinds of the open brackets, in the order of opening, behind each bracket of a row."""
    words, is_open = text.split(), list[str]()
    right = all(word[0] in (OPEN, CLOSE) and word[1:] in kinds for word in words) and words
    for word in words if right else ():
        kind = word[1:]
        if word[0] == OPEN:
            is_open.append(kind)
        elif kind in (is_open if variant == "shuffled" else is_open[-1:]):
            del is_open[len(is_open) - 1 - is_open[::-1].index(kind)]
        else:
            right = False
            break
        yield tuple(is_open)
    if not right or is_open:
        raise ValueError(
            f"expected brackets that are all closed, such as {_EXAMPLES[variant]!r}, "
            f"not {text[:80]!r}"
        )
