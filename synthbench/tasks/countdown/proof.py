"""The label's equation is calculated over whole columns, by Dijkstra's shunting yard.

    ( 13 * 71 + 23 ) / 11        values 13 71 23 11, calculated as soon as the next sign allows

Values are exact fractions. Those of six numbers up to 200 fit into 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.countdown.solver import MOST
from synthbench.tasks.countdown.task import Countdown
from synthbench.tasks.tokens import Vocabulary

Ints = NDArray[np.int64]
Rows = NDArray[np.bool_]

_SIGNS = "+-*/()"
_MINUS, _OVER, _OPEN, _CLOSE = 2, 4, 5, 6
#: How strongly the sign with each id binds. An open bracket waits for its end.
_BINDS = np.array([0, 1, 1, 2, 2, 0, 0])


def prove_rows(task: Countdown, block: Block, rows: Mapping[str, pa.Array]) -> Rows:
    """Compute True for every right row, bool `(rows,)`."""
    words = Vocabulary((*_SIGNS, *map(str, range(1, task.parameters.largest + 1))))
    ids = words.encode(rows["label"]).astype(np.int64)
    targets = numpy_array(rows["target"]).astype(np.int64)
    counts = numpy_array(rows["numbers"].value_lengths())
    tokens = block["tokens"].astype(np.int64) - 1  # 0 is the arrow, -1 is behind the text
    places = np.arange(tokens.shape[1])
    text = np.where(places == counts[:, None], 0, -1)
    text[places < counts[:, None]] = numpy_array(rows["numbers"].flatten())
    np.put_along_axis(text, counts[:, None] + 1, targets[:, None], axis=1)
    right: Rows = (tokens == text).all(axis=1)

    used = np.sort(np.maximum(ids - len(_SIGNS), 0), axis=1)
    right &= (used[:, :-MOST] == 0).all(axis=1)
    used = used[:, -MOST:, None]
    given = np.where(places < counts[:, None], tokens, 0)[:, None]
    times, available = ((used == numbers).sum(axis=2) for numbers in (used.swapaxes(1, 2), given))
    right &= ((times <= available) | (used[..., 0] == 0)).all(axis=1)
    if task.variant == "all":
        right &= np.count_nonzero(used, axis=(1, 2)) == counts
    signs = [1 + _SIGNS.index(sign) for sign in task.parameters.operations]
    right &= (np.isin(ids, [0, *signs, _OPEN, _CLOSE]) | (ids > len(_SIGNS))).all(axis=1)
    return right & _Yard(*ids.shape).have_values(ids, targets)


class _Yard:
    """The values and signs that wait in each row."""

    def __init__(self, n: int, most: int) -> None:
        self.values: Any = np.zeros((2, n, most + 1), np.int64)  # numerators and denominators
        self.signs = np.zeros((n, most + 1), np.int64)
        self.kept, self.waiting = np.zeros((2, n), np.int64)  # how many values and signs
        self.fine, self.operand = np.ones((2, n), np.bool_)  # whether an operand comes next

    def have_values(self, ids: Ints, targets: Ints) -> Rows:
        """The rows of ids `(rows, most)` that are expressions with the values of their targets."""
        for column in ids.T:
            self.take(column)
        self.calculate(np.flatnonzero(self.fine & ~self.operand), 1)
        top, under = self.values[:, :, 0]
        right: Rows = self.fine & ~self.operand & (self.waiting == 0) & (top == targets * under)
        return right

    def take(self, ids: Ints) -> None:
        """Take the next id of each row. 0 is behind its end."""
        begins = (ids > len(_SIGNS)) | (ids == _OPEN)  # an operand
        self.fine &= (begins == self.operand) | (ids == 0)
        rows = np.flatnonzero(self.fine & (ids > 0))
        ids, begins = ids[rows], begins[rows]
        is_number, is_close = ids > len(_SIGNS), ids == _CLOSE
        numbers = rows[is_number]
        self.values[0, numbers, self.kept[numbers]] = ids[is_number] - len(_SIGNS)
        self.values[1, numbers, self.kept[numbers]] = 1
        self.kept[numbers] += 1
        self.calculate(rows[is_close | (ids < 3)], 1)  # + and - bind weakly
        self.calculate(rows[(ids == 3) | (ids == _OVER)], 2)
        closing = rows[is_close]
        self.fine[closing] &= self.waiting[closing] > 0
        self.waiting[closing] -= self.fine[closing]  # the open bracket
        entering = rows[~is_number & ~is_close]
        self.signs[entering, self.waiting[entering]] = ids[~is_number & ~is_close]
        self.waiting[entering] += 1
        self.operand[rows] = ~is_number & ~is_close

    def calculate(self, rows: Ints, least: int) -> None:
        """Calculate the last values of rows while the last sign binds at least so strongly."""
        while True:
            rows = rows[self.waiting[rows] > 0]
            sign = self.signs[rows, self.waiting[rows] - 1]
            rows, sign = rows[_BINDS[sign] >= least], sign[_BINDS[sign] >= least]
            if not len(rows):
                return
            self.kept[rows] -= 1
            self.waiting[rows] -= 1
            at = self.kept[rows]
            (top, under), (other, below) = self.values[:, rows, at - 1], self.values[:, rows, at]
            self.fine[rows[(sign == _OVER) & (other == 0)]] = False
            other = np.where(sign == _MINUS, -other, other)
            factor, divisor = np.where(sign == _OVER, (below, other), (other, below))
            is_sum = sign <= _MINUS
            total = np.where(is_sum, top * below + other * under, top * factor)
            self.values[:, rows, at - 1] = total, under * np.where(is_sum, below, divisor)
