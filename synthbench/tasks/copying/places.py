"""The places that rows ask for and the places of the answers, for many rows at once.

A layout takes ids `(rows, width)`: 0 padding, 1 `blank`, 2 `copy`, symbols from 3 on. It returns
the places that are asked and the places of their answers, counted through all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.integer[Any]]
Asked = tuple[NDArray[np.int64], NDArray[np.int64]]

_BLANK, _COPY, _SYMBOL = 1, 2, 3


def _require(holds: NDArray[np.bool_] | np.bool_, rule: str) -> None:
    if not np.all(holds):
        raise ValueError(f"copying: not every row has {rule}")


def selective(tokens: Ids) -> Asked:
    """The i-th mark asks for the i-th symbol."""
    symbols, marks = tokens >= _SYMBOL, tokens == _COPY
    count, length = marks.sum(axis=1), (tokens > 0).sum(axis=1)
    _require((count > 0) & (symbols.sum(axis=1) == count), "as many symbols as marks")
    _require(marks.argmax(axis=1) == length - count, "its marks at its end")
    return np.flatnonzero(marks), np.flatnonzero(symbols)


def induction(tokens: Ids) -> Asked:
    """From the second mark on, symbols after the first mark."""
    marks, length = tokens == _COPY, (tokens > 0).sum(axis=1)
    _require(marks.sum(axis=1) == 2, "two marks")
    first = marks.argmax(axis=1)
    second = tokens.shape[1] - 1 - marks[:, ::-1].argmax(axis=1)
    copied = length - second
    _behind(tokens, second, copied - 1)
    _require(second - first > copied, "enough symbols between its marks")
    return _from(tokens, copied, second, first + 1)


def ngram(tokens: Ids) -> Asked:
    """From the last symbol of the query on, symbols after the same symbols before the mark."""
    marks, length = tokens == _COPY, (tokens > 0).sum(axis=1)
    _require(marks.sum(axis=1) == 1, "one mark")
    mark = marks.argmax(axis=1)
    places = np.arange(tokens.shape[1])
    size = ((tokens >= _SYMBOL) & (places > mark[:, None])).sum(axis=1)
    _require(size > 0, "a query behind its mark")
    copied = length - mark - size
    _behind(tokens, mark + size, copied - 1)
    matches = places[None] + size[:, None] <= mark[:, None]
    for step in range(int(size.max(initial=0))):
        query = np.take_along_axis(tokens, np.minimum(mark + 1 + step, length - 1)[:, None], axis=1)
        shifted = np.pad(tokens[:, step:], ((0, 0), (0, step)))
        matches &= (shifted == query) | (step >= size)[:, None]
    _require(matches.sum(axis=1) == 1, "its query once before its mark")
    start = matches.argmax(axis=1)
    _require(start + size + copied <= mark, "enough symbols after its query")
    return _from(tokens, copied, mark + size, start + size)


def _behind(tokens: Ids, last: Ids, blanks: Ids) -> None:
    """Make sure that blanks, and blanks alone, are behind a place."""
    behind = np.arange(tokens.shape[1]) > last[:, None]
    blank = tokens == _BLANK
    right = (blank.sum(axis=1) == blanks) & ((blank & behind).sum(axis=1) == blanks)
    _require(right, "blanks at its end alone")


def _from(tokens: Ids, count: Ids, first: Ids, source: Ids) -> Asked:
    """So many places of each row, from one on, and from another on, counted through all rows."""
    steps = np.arange(count.sum()) - np.repeat(count.cumsum() - count, count)
    starts = np.arange(len(tokens)) * tokens.shape[1]
    return np.repeat(starts + first, count) + steps, np.repeat(starts + source, count) + steps


LAYOUTS: Mapping[str, Callable[[Ids], Asked]] = {
    "selective": selective,
    "induction": induction,
    "ngram": ngram,
}


def starts_of_query(context: Ids, size: int, copied: int) -> NDArray[np.bool_]:
    """The places where an n-gram begins that the row has once, with enough symbols behind it.

    Args:
        context: ids of symbols, `(rows, width)`.
        size: the symbols of an n-gram, which as a number fit into 63 bits.
        copied: the symbols that must be behind it.

    Returns:
        bool `(rows, width - size + 1)`.
    """
    windows = np.lib.stride_tricks.sliding_window_view(context, size, axis=1)
    base = int(context.max(initial=0)) + 1
    codes = windows @ base ** np.arange(size)
    order = np.argsort(codes, axis=1, kind="stable")
    ordered = np.take_along_axis(codes, order, axis=1)
    same = ordered[:, 1:] == ordered[:, :-1]
    repeated = np.pad(same, ((0, 0), (1, 0))) | np.pad(same, ((0, 0), (0, 1)))
    unique: NDArray[np.bool_] = np.empty_like(repeated)
    np.put_along_axis(unique, order, ~repeated, axis=1)
    unique[:, context.shape[1] - size - copied + 1 :] = False
    return unique
