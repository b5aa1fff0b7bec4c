"""The chances of values of expressions of a depth, whatever their length."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.trees.task import DIGITS


@functools.lru_cache(maxsize=256)
def label_chances(
    p_op: float, operators: tuple[str, ...], modulus: int, depth: int, root: str
) -> NDArray[np.float64]:
    """The chance of each value of an expression of exactly this depth, float64 `(modulus,)`.

    Args:
        p_op: chance that an operand is an operation.
        operators: the operators that are drawn.
        modulus: every value is taken modulo this.
        depth: operations on the longest path.
        root: the root's operator.
    """
    digits = np.arange(len(DIGITS)) % modulus
    # The chance that an operand has a value and is as deep as the loop is, or shallower.
    exactly = (1.0 - p_op) * np.bincount(digits, minlength=modulus) / len(DIGITS)
    shallower = np.zeros(modulus)
    for _ in range(depth - 1):
        value = np.mean([_result(kind, exactly, shallower) for kind in operators], axis=0)
        shallower, exactly = shallower + exactly, p_op * value
    value = _result(root, exactly, shallower)
    chances: NDArray[np.float64] = value / math.fsum(value)
    chances.flags.writeable = False  # callers share it
    return chances


def _result(
    operator: str, exactly: NDArray[np.float64], shallower: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The chance of each result if an operand is as deep as the loop is."""
    pairs = np.outer(exactly, exactly + 2.0 * shallower)  # either operand may be the deeper
    values = np.arange(len(pairs))
    results = np.add if operator == "+" else np.multiply
    places = results.outer(values, values) % len(pairs)
    return np.bincount(places.ravel(), pairs.ravel(), len(pairs)).astype(np.float64)
