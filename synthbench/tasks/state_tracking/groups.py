"""Finite groups as tables of products.

    Z5       the numbers 0 to 4, added modulo 5
    S3       the permutations of 1 to 3: 213 sends 1 to 2, 2 to 1 and 3 to 3
    A4       the even permutations of 1 to 4
    D8       the 8 symmetries of a square, as permutations of its corners 1 to 4
    H3       the Heisenberg group modulo 3: 120 is the matrix (1 1 0, 0 1 2, 0 0 1)
    A4xZ5    pairs of elements of A4 and Z5, such as 2143:3

Elements are numbered from 0: numbers and matrices by their digits, permutations in lexicographic
order, pairs by their first part and then by their second. A product applies its first factor first:
x * y sends i to y(x(i)). Two groups have rows of some of their elements alone:

    S5-swaps         12345 and the permutations that exchange two of its numbers
    A5-generators    23451 and 21435, whose products are all of A5
"""

from __future__ import annotations

import dataclasses
import functools
import itertools

import numpy as np
from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True)
class Group:
    """A finite group.

    Attributes:
        names: its elements, in the order of their numbers.
        products: the number of x * y for all numbers x and y, int64 `(order, order)`.
        symbols: the numbers of the elements that rows have, ascending; None: all.
    """

    names: tuple[str, ...]
    products: NDArray[np.int64]
    symbols: NDArray[np.int64] | None = None

    @property
    def commutes(self) -> bool:
        """True if x * y = y * x for all elements."""
        return bool((self.products == self.products.T).all())


@functools.cache
def group(name: str) -> Group:
    """The group of this name, such as `Z60`, `S3`, `A4xZ5` or `S5-swaps`."""
    whole, _, part = name.partition("-")
    product = functools.reduce(_direct_product, map(_factor, whole.split("x")))
    if not part:
        return product
    symbols = [i for i, element in enumerate(product.names) if _is_symbol(part, element)]
    return dataclasses.replace(product, symbols=np.array(symbols))


@functools.cache
def group_of_table(rows: tuple[str, ...]) -> Group:
    """The group of a table: line x has the numbers of x * 0, x * 1 and so on."""
    products = np.array([row.split() for row in rows], np.int64)
    return Group(tuple(map(str, range(len(rows)))), products)


def _is_symbol(part: str, element: str) -> bool:
    if part == "generators":
        return element in ("23451", "21435")
    return sum(int(point) != place for place, point in enumerate(element, 1)) <= 2


def _factor(name: str) -> Group:
    kind, size = name[0], int(name[1:])
    if kind == "Z":
        numbers = np.arange(size)
        return Group(tuple(map(str, numbers)), np.add.outer(numbers, numbers) % size)
    if kind == "H":
        return _heisenberg(size)
    if kind == "D":  # named by its order, twice its number of corners
        size //= 2
    points = list(itertools.permutations(range(size)))
    if kind == "A":
        points = [permutation for permutation in points if _inversions(permutation) % 2 == 0]
    if kind == "D":
        points = [permutation for permutation in points if _keeps_neighbours(permutation)]
    permutations = np.array(points)
    # The digits of each permutation as a number: they ascend with the permutations.
    weights = size ** np.arange(size)[::-1]
    composed = permutations[:, permutations].swapaxes(0, 1)  # [x, y, i] is y(x(i))
    products = np.searchsorted(permutations @ weights, composed @ weights)
    return Group(
        tuple("".join(str(1 + i) for i in permutation) for permutation in points), products
    )


def _keeps_neighbours(permutation: tuple[int, ...]) -> bool:
    """True if neighbouring corners of a polygon stay neighbours."""
    corners = len(permutation)
    steps = zip(permutation, (*permutation[1:], permutation[0]), strict=True)
    return all((after - before) % corners in (1, corners - 1) for before, after in steps)


def _heisenberg(modulus: int) -> Group:
    """Matrices (1 a c, 0 1 b, 0 0 1) of numbers modulo this, written abc."""
    a, b, c = np.array(list(itertools.product(range(modulus), repeat=3))).T
    corner = np.add.outer(c, c) + np.outer(a, b)
    digits = [np.add.outer(a, a), np.add.outer(b, b), corner]
    products = np.zeros_like(corner)
    for digit in digits:
        products = modulus * products + digit % modulus
    return Group(tuple(f"{x}{y}{z}" for x, y, z in zip(a, b, c, strict=True)), products)


def _inversions(permutation: tuple[int, ...]) -> int:
    return sum(before > after for before, after in itertools.combinations(permutation, 2))


def _direct_product(left: Group, right: Group) -> Group:
    names = tuple(":".join(pair) for pair in itertools.product(left.names, right.names))
    first, second = left.products[:, None, :, None], right.products[None, :, None, :]
    products = first * len(right.names) + second
    return Group(names, products.reshape(len(names), len(names)))
