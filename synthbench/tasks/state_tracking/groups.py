"""Finite groups as tables of products.

    Z5       the numbers 0 to 4, added modulo 5
    S3       the permutations of 1 to 3: 213 sends 1 to 2, 2 to 1 and 3 to 3
    A4       the even permutations of 1 to 4
    A4xZ5    pairs of elements of A4 and Z5, such as 2143:3

Elements are numbered from 0: numbers by their size, permutations in lexicographic order, pairs by
their first part and then by their second. A product applies its first factor first: x * y sends i
to y(x(i)).
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
    """

    names: tuple[str, ...]
    products: NDArray[np.int64]

    @property
    def commutes(self) -> bool:
        """Whether x * y = y * x for all elements."""
        return bool((self.products == self.products.T).all())


@functools.cache
def group(name: str) -> Group:
    """The group of this name, such as `Z60`, `S3` or `A4xZ5`."""
    return functools.reduce(_direct_product, map(_factor, name.split("x")))


def _factor(name: str) -> Group:
    kind, size = name[0], int(name[1:])
    if kind == "Z":
        numbers = np.arange(size)
        return Group(tuple(map(str, numbers)), np.add.outer(numbers, numbers) % size)
    points = list(itertools.permutations(range(size)))
    if kind == "A":
        points = [one for one in points if _inversions(one) % 2 == 0]
    permutations = np.array(points)
    # The digits of each permutation as a number: they ascend with the permutations.
    weights = size ** np.arange(size)[::-1]
    composed = permutations[:, permutations].swapaxes(0, 1)  # [x, y, i] is y(x(i))
    products = np.searchsorted(permutations @ weights, composed @ weights)
    return Group(tuple("".join(str(1 + i) for i in one) for one in points), products)


def _inversions(permutation: tuple[int, ...]) -> int:
    return sum(before > after for before, after in itertools.combinations(permutation, 2))


def _direct_product(left: Group, right: Group) -> Group:
    names = tuple(":".join(pair) for pair in itertools.product(left.names, right.names))
    first, second = left.products[:, None, :, None], right.products[None, :, None, :]
    products = first * len(right.names) + second
    return Group(names, products.reshape(len(names), len(names)))
