"""The user's own group: a table of products, read from a file and checked for the group axioms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import MissingPathError, ParameterError

#: The quaternions 1, i, j, k, -1, -i, -j and -k, numbered in this order.
QUATERNIONS = (
    "0 1 2 3 4 5 6 7",
    "1 4 3 6 5 0 7 2",
    "2 7 4 1 6 3 0 5",
    "3 2 5 4 7 6 1 0",
    "4 5 6 7 0 1 2 3",
    "5 0 7 2 1 4 3 6",
    "6 3 0 5 2 7 4 1",
    "7 6 1 0 3 2 5 4",
)
#: The most elements of a group.
_LARGEST = 128
_FORM = (
    "JSON such as [[0, 1], [1, 0]]: line x has x * 0, x * 1 and so on, elements being "
    f"numbered from 0, of a group of 2 to {_LARGEST} elements"
)


def read_table(lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of a table of products, from themselves or from a file.

    Args:
        lines: the path of a JSON file, or lines of numbers separated by spaces, also in brackets.

    Raises:
        MissingPathError: the file does not exist.
        ParameterError: the file or the lines are not the table of a group.
    """
    if len(lines) != 1:
        rows = (",".join(row.strip("[]").replace(",", " ").split()) for row in lines)
        name, text = "Parameter group", f"[{','.join(f'[{row}]' for row in rows)}]"
    else:
        path = Path(lines[0])
        name = f"Parameter group={path}"
        if not path.is_file():
            raise MissingPathError(f"{name}: the file does not exist, expected {_FORM}.")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ParameterError(f"{name} cannot be read: {error}.") from None
    try:
        table = json.loads(text)
        if not all(type(number) is int for row in table for number in row):
            raise ValueError
        products = np.array(table, np.int64)
        if products.ndim != 2 or not 2 <= len(products) <= _LARGEST:
            raise ValueError
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ParameterError(f"{name}: expected {_FORM}.") from None
    if problem := _why_no_group(products):
        raise ParameterError(f"{name} is not a group: {problem}.")
    return tuple(" ".join(map(str, row)) for row in products.tolist())


def _why_no_group(products: NDArray[np.int64]) -> str:
    """The first axiom that a table breaks, with elements that show it, or nothing."""
    order = len(products)
    numbers = np.arange(order)
    if products.shape != (order, order):
        return f"it has {order} lines of {products.shape[1]} numbers"
    outside = np.argwhere((products < 0) | (products >= order))
    if len(outside):
        x, y = outside[0]
        return f"{x} * {y} is {products[x, y]}, and its elements are 0 to {order - 1}"
    identities = (products == numbers).all(axis=1) & (numbers == products.T).all(axis=1)
    if not identities.any():
        return "an element e with e * x = x * e = x for every x is missing"
    lacking = np.flatnonzero(~(products == identities.argmax()).any(axis=1))
    if len(lacking):
        return f"{lacking[0]} lacks an inverse"
    for x in numbers:
        differ = np.argwhere(products[products[x]] != products[x][products])
        if len(differ):
            y, z = differ[0]
            return f"({x} * {y}) * {z} is not {x} * ({y} * {z})"
    return ""
