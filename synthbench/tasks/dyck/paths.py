"""Random Dyck paths: how many brackets are open after each step, at most so many, 0 at the end.

All paths of a length are equally likely. A step up has the share of the ways to the end that begin
with it. These shares follow from the number of ways with one step less.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws


def draw_paths(draws: Draws, n: int, length: int, depth: int) -> NDArray[np.bool_]:
    """Uniform paths: True for a step up, bool `(length, n)`.

    Args:
        draws: the only randomness.
        n: the number of paths.
        length: steps of a path, an even number.
        depth: the largest height.
    """
    halves, shares = draws.halves((length, n)), _shares_of_up(length, depth)
    ups = np.empty((length, n), np.bool_)
    height = np.zeros(n, np.int64)
    for step in range(length):
        np.less(halves[step], shares[length - step].take(height), out=ups[step])
        height += 2 * ups[step].view(np.int8) - 1
    return ups


@functools.lru_cache(maxsize=8)
def _shares_of_up(length: int, depth: int) -> NDArray[np.uint64]:
    """The share of steps up with so many steps left, in 2**-32, uint64 `(length + 1, depth + 1)`.

    A share that is 0 or 1 is exact. Numbers of ways are kept as fractions of a power of two, which
    changes no share.
    """
    shares = np.zeros((length + 1, depth + 1), np.uint64)
    ways = np.zeros(depth + 3)  # from each height from -1 on, with no step left
    ways[1] = 1
    for left in range(1, length + 1):
        up, both = ways[2:].copy(), ways[2:] + ways[:-2]
        there = both > 0
        share = np.divide(up, both, out=np.zeros_like(up), where=there)
        shares[left] = np.floor(np.ldexp(share, 32)).astype(np.uint64)
        _, exponent = np.frexp(both.max())
        ways[1:-1] = np.ldexp(both, -exponent)
    return shares


def count_paths(length: int, depth: int, enough: int) -> int:
    """The number of paths of a length, or a number that is `enough`."""
    ways = [1] + [0] * (depth + 1)
    for _ in range(length // 2):
        for _ in range(2):
            ways = [
                (ways[height - 1] if height else 0) + ways[height + 1]
                for height in range(depth + 1)
            ] + [0]
        if ways[0] >= enough:
            break
    return ways[0]
