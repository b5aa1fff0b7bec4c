"""Many grids at once: candidates as bits, naked and hidden singles, and a search.

    masks[cell, grid]    bit d: the cell may have the digit d + 1

A unit is a row, a column or a box. A naked single is a cell with one candidate, which the other
cells of its units then lose. A hidden single is a candidate that only one cell of a unit has.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

Masks = NDArray[np.uint16]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: Guesses in a line after which a search gives up. More make few puzzles harder, and cost more.
_GUESSES = 1
#: Bits of every mask, of up to nine candidates.
BITS = np.array([bin(mask).count("1") for mask in range(1 << 9)], np.uint8)
#: The digit of a mask with one bit.
DIGITS = np.array([mask.bit_length() for mask in range(1 << 9)], np.uint8)


@dataclasses.dataclass(frozen=True)
class Shape:
    """A grid of boxes.

    Attributes:
        high, wide: rows and columns of a box.
    """

    high: int
    wide: int

    @property
    def size(self) -> int:
        """The digits, and the cells of a row."""
        return self.high * self.wide

    @property
    def cells(self) -> int:
        """The cells of a grid."""
        return self.size**2

    @property
    def all_digits(self) -> int:
        """The mask of an empty cell."""
        return (1 << self.size) - 1

    @functools.cached_property
    def units(self) -> Ints:
        """The row, column and box of each cell, numbered together, `(3, cells)`."""
        row, column = np.divmod(np.arange(self.cells), self.size)
        box = row // self.high * self.high + column // self.wide
        return np.stack([row, self.size + column, 2 * self.size + box])


def to_masks(shape: Shape, digits: NDArray[np.uint8]) -> Masks:
    """The masks `(cells, grids)` of digits `(grids, cells)`, where 0 is an empty cell."""
    table = np.array([shape.all_digits, *(1 << d for d in range(shape.size))], np.uint16)
    return table.take(np.ascontiguousarray(digits.T))


Counted = tuple[Masks, Masks]


def _counted(members: Masks) -> Counted:
    """The bits that some and that several of the masks along the first axis have."""
    some, several = members[0] | members[1], members[0] & members[1]
    for member in members[2:]:
        several |= some & member
        some |= member
    return some, several


def _merged(some: Masks, several: Masks) -> Counted:
    """The same for groups along the first axis."""
    any_of, many_of = some[0] | some[1], several[0] | several[1]
    many_of |= some[0] & some[1]
    for once, twice in zip(some[2:], several[2:], strict=True):
        many_of |= twice
        many_of |= any_of & once
        any_of |= once
    return any_of, many_of


def _units(shape: Shape, masks: Masks) -> tuple[tuple[Masks, Masks, tuple[int, ...]], ...]:
    """Bits of rows, columns and boxes, and their shapes beside `(bands, high, stacks, wide)`."""
    high, wide = shape.high, shape.wide
    parts = masks.reshape(wide, high, high, wide, -1)
    across = _counted(parts.transpose(3, 2, 0, 1, 4))  # (stacks, bands, high)
    down = _counted(parts.transpose(1, 0, 2, 3, 4))  # (bands, stacks, wide)
    return (
        (*_merged(*across), (wide, high, 1, 1, -1)),
        (*_merged(*down), (1, 1, high, wide, -1)),
        (*_merged(*(counted.transpose(2, 1, 0, 3) for counted in across)), (wide, 1, high, 1, -1)),
    )


def step(shape: Shape, masks: Masks) -> tuple[Masks, Bools]:
    """One step of naked and hidden singles in every grid.

    Returns:
        The new masks, and the grids without a contradiction, `(grids,)`.
    """
    count, low_bit = masks.shape[1], np.uint16(1)
    single = (masks & (masks - low_bit)) == 0
    # Both are counted in one pass: the candidates of all cells, and those of single cells.
    both = np.empty((shape.cells, 2 * count), np.uint16)
    both[:, :count] = masks
    np.multiply(masks, single, out=both[:, count:])
    there = np.full(count, shape.all_digits, np.uint16)
    marks, clashing = [], []
    for some, several, spread in _units(shape, both):
        there &= np.bitwise_and.reduce(some[..., :count].reshape(-1, count), axis=0)
        some[..., :count] &= ~several[..., :count]
        marks.append(some.reshape(spread))
        clashing.append(several[..., count:].reshape(spread))
    # For each cell: candidates that no other cell of a unit has, and digits of single cells.
    known = (marks[0] | marks[1] | marks[2]).reshape(-1, 2 * count)
    clashes = (clashing[0] | clashing[1] | clashing[2]).reshape(-1, count)
    hidden = masks & known[:, :count]
    new = np.where(hidden != 0, hidden, masks)
    new &= ~np.where(single, clashes, known[:, count:])
    # Digits without a place, cells that are the only place of two digits, or without candidates.
    right = there == shape.all_digits
    right &= np.maximum.reduce(hidden & (hidden - low_bit), axis=0) == 0
    right &= np.minimum.reduce(new, axis=0) > 0
    return new, right


def close(shape: Shape, masks: Masks) -> tuple[Masks, Bools]:
    """Steps until nothing changes.

    Returns:
        The masks, and the grids without a contradiction. Masks of others mean nothing.
    """
    closed, right = masks.copy(), np.ones(masks.shape[1], np.bool_)
    grids = np.arange(masks.shape[1])
    while len(grids):
        new, alive = step(shape, masks)
        going = alive & (np.bitwise_or.reduce(new ^ masks, axis=0) > 0)
        if going.all():
            masks = new
            continue
        right[grids[~alive]] = False
        stopped = alive & ~going
        closed[:, grids[stopped]] = new[:, stopped]
        masks, grids = new[:, going], grids[going]
    return closed, right


def is_full(masks: Masks) -> Bools:
    """The grids with one candidate in each cell, `(grids,)`."""
    full: Bools = np.maximum.reduce(masks & (masks - np.uint16(1)), axis=0) == 0
    return full


def fewest(masks: Masks) -> Ints:
    """The first open cell with the fewest candidates, in grids with open cells, `(grids,)`."""
    bits = BITS.take(masks)
    cells: Ints = np.where(bits > 1, bits, 99).argmin(axis=0)
    return cells


def may_have_solution(shape: Shape, masks: Masks) -> Bools:
    """The grids that some guesses do not refute, `(grids,)`."""
    possible = np.zeros(masks.shape[1], np.bool_)
    owner = np.arange(masks.shape[1])
    for depth in range(_GUESSES + 1):
        masks, right = close(shape, masks)
        masks, owner = masks[:, right], owner[right]
        possible[owner[is_full(masks) | (depth == _GUESSES)]] = True
        left = ~possible[owner]
        masks, owner = masks[:, left], owner[left]
        if not len(owner):
            break
        masks, owner = branch(masks, owner)
    return possible


def branch(masks: Masks, owner: Ints) -> tuple[Masks, Ints]:
    """Each grid twice: with the lowest candidate of an open cell, and without it."""
    cell, grids = fewest(masks), np.arange(masks.shape[1])
    candidates = masks[cell, grids]
    low = candidates & (~candidates + np.uint16(1))
    both = np.concatenate([masks, masks], axis=1)
    both[cell, grids] = low
    both[cell, grids + len(grids)] = candidates & ~low
    return both, np.concatenate([owner, owner])
