"""Types between tasks and the rest: rows as arrays, splits, tables of an evaluation report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import TaskError

#: Between the names and the values of two columns by which rows are grouped.
ACROSS = " x "
#: A block's column of problem keys, if nothing else needs them: rows that have fingerprints do
#: without it.
PROBLEM_KEYS = "#problem"


class Block:
    """Rows as a struct of arrays: every column's first axis counts the rows.

    Example:
        >>> import numpy as np
        >>> from synthbench.tasks.base import Block
        >>> block = Block({"numbers": np.arange(6).reshape(3, 2)})
        >>> len(block), block.take(slice(1, None))["numbers"].tolist()
        (3, [[2, 3], [4, 5]])
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def take(self, rows: NDArray[Any] | slice) -> Block:
        """The rows at these indices (or where a mask is true), in this order."""
        if isinstance(rows, slice):
            return Block({name: column[rows] for name, column in self.columns.items()})
        indices = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return Block({name: column.take(indices, axis=0) for name, column in self.columns.items()})

    @staticmethod
    def concatenate(blocks: Sequence[Block]) -> Block:
        """The rows of all blocks, in order. The blocks have the same columns.

        Columns of two axes are padded with 0 on the right to the widest.

        Raises:
            TaskError: the blocks have other columns, of other axes or kinds of values.
        """
        first = blocks[0].form
        for block in blocks[1:]:
            if block.form != first:
                raise TaskError(
                    "propose and enumerate_rows must give arrays of one form for all buckets. They "
                    f"gave {_in_words(first)}, and {_in_words(block.form)}."
                )
        names = blocks[0].columns
        return Block({name: _stack([block[name] for block in blocks]) for name in names})

    @property
    def form(self) -> dict[str, tuple[Any, ...]]:
        """By column its type, whether it has a second axis, and the lengths of further axes.

        A text and a second axis may be of any length.
        """
        return {name: _form(column) for name, column in self.columns.items()}


def _form(column: NDArray[Any]) -> tuple[Any, ...]:
    dtype = column.dtype.kind if column.dtype.kind in "SU" else column.dtype
    return dtype, column.ndim > 1, *column.shape[2:]


def _in_words(form: Mapping[str, tuple[Any, ...]]) -> str:
    return ", ".join(
        f"{name} {dtype} ({', '.join(['rows', *['width'] * wide, *map(str, others)])})"
        for name, (dtype, wide, *others) in form.items()
    )


def _stack(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if len({column.shape[1:] for column in columns}) == 1 or columns[0].ndim != 2:
        return np.concatenate(columns)
    shape = sum(map(len, columns)), max(column.shape[1] for column in columns)
    stacked = np.zeros(shape, np.result_type(*columns))
    first = 0
    for column in columns:
        stacked[first : first + len(column), : column.shape[1]] = column
        first += len(column)
    return stacked


@dataclasses.dataclass(frozen=True)
class Split:
    """A split as its task defines it.

    Attributes:
        name: `train`, `iid`, `validation`, `test`.
        rows: rows of the paper's dataset.
        buckets: the column that the split is balanced over.
        evaluation: whether it has held-out rows. Other splits have only the rest.
    """

    name: str
    rows: int
    buckets: tuple[int, ...] = (0,)
    evaluation: bool = True


@dataclasses.dataclass(frozen=True)
class Breakdown:
    """One table of an evaluation report: the rows grouped by the values of a column.

    Attributes:
        column: the column. Lists are grouped by their lengths.
        width: group integers in ranges of this width (1..10, 11..20); 0: one group per value.
        across: a second column, if rows are grouped by the values of both. Not with `width`.
    """

    column: str
    width: int = 0
    across: str = ""

    @property
    def name(self) -> str:
        """Its name in `report.by`: that of the column, or `column x across`."""
        return ACROSS.join(self.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(filter(None, (self.column, self.across)))

    def values(self, group: str) -> list[str]:
        """The values of its columns in a group of `report.by`."""
        return group.split(ACROSS) if self.across else [group]
