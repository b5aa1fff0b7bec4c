"""Labels of many rows at once, by sorting.

Ids are int64 `(rows, width)`: 0 padding, 1 `union`, 2 `delete`, symbols from 3 on. Labels number
the symbols from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.tokens import packed

Ids = NDArray[np.int64]

_UNION, _DELETE, _SYMBOL = 1, 2, 3


def _require(holds: NDArray[np.bool_] | np.bool_, rule: str) -> None:
    if not np.all(holds):
        raise ValueError(f"lists: not every row has {rule}")


def identity(ids: Ids, symbols: int) -> Ids:
    """The list itself."""
    _require((ids > 0).any(axis=1), "a list")
    _require(((ids == 0) | (ids >= _SYMBOL)).all(axis=1), "symbols alone")
    return np.maximum(ids - (_SYMBOL - 1), 0)


def distinct(ids: Ids, symbols: int) -> Ids:
    """The distinct symbols in the order in which they first occur, then `end` and `_`.

    The label has as many tokens as a row of this length can need.
    """
    listed = identity(ids, symbols)
    answer = packed(np.where(_first_occurrences(listed), listed, 0))
    counts, sizes = (np.count_nonzero(part, axis=1) for part in (answer, listed))
    widths = np.minimum(sizes, symbols) + 1
    label = np.zeros((len(ids), int(widths.max(initial=1))), np.int64)
    shared = min(label.shape[1], answer.shape[1])
    label[:, :shared] = answer[:, :shared]
    places = np.arange(label.shape[1])
    label[places == counts[:, None]] = symbols + 1
    label[(places > counts[:, None]) & (places < widths[:, None])] = symbols + 2
    return label


def union(ids: Ids, symbols: int) -> Ids:
    """The distinct symbols of both lists."""
    is_mark = ids == _UNION
    mark = is_mark.argmax(axis=1)
    inside = (mark > 0) & (mark < np.count_nonzero(ids, axis=1) - 1)
    _require((is_mark.sum(axis=1) == 1) & inside, "a list before and behind one 'union'")
    return distinct(without(ids, is_mark), symbols)


def delete(ids: Ids, symbols: int) -> Ids:
    """The list without the first occurrence of a symbol."""
    length, is_mark = np.count_nonzero(ids, axis=1), ids == _DELETE
    mark = is_mark.argmax(axis=1)
    right = (is_mark.sum(axis=1) == 1) & (mark == length - 2) & (mark > 1)
    _require(right, "two symbols or more, 'delete' and a symbol")
    deleted = ids[np.arange(len(ids)), length - 1]
    in_list = np.arange(ids.shape[1]) < mark[:, None]
    same = (ids == deleted[:, None]) & in_list
    _require((deleted >= _SYMBOL) & same.any(axis=1), "the deleted symbol in its list")
    removed = ~in_list
    removed[np.arange(len(ids)), same.argmax(axis=1)] = True
    return identity(without(ids, removed), symbols)


def without(ids: Ids, removed: NDArray[np.bool_]) -> Ids:
    """Ids without some places. Those behind them move up."""
    return packed(np.where(removed, 0, ids)).astype(np.int64, copy=False)


def _first_occurrences(listed: Ids) -> NDArray[np.bool_]:
    """True at the first occurrence of each symbol, bool `(rows, width)`."""
    small = listed.astype(np.uint8)  # sorted by counting, in linear time
    order = np.argsort(small, axis=1, kind="stable")
    ordered = np.take_along_axis(small, order, axis=1)
    is_new = ordered > 0
    is_new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    first: NDArray[np.bool_] = np.empty_like(is_new)
    np.put_along_axis(first, order, is_new, axis=1)
    return first


#: The label of rows by variant, from their ids and the number of symbols.
FUNCTIONS: Mapping[str, Callable[[Ids, int], Ids]] = {
    "identity": identity,
    "set": distinct,
    "union": union,
    "delete": delete,
}
