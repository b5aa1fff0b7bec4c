"""A row's id: 64 bits computed from the row alone, three of which decide whether it is held out.

The first three bits come from the problem that a row poses, the other 61 from its content. A row is
held out if the three bits are zero, that is, if its id begins with 0 or 1. Evaluation splits have
only held-out rows. Train splits and streams never have them, whatever their seed and parameters. So
a model that was trained on our rows has never seen a row that it is evaluated on, nor the same
problem in another form (`Task.problem`), and the ids prove it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import TaskError
from synthbench.seeding import hash_rows
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.features import Columns, arrow_schema, value
from synthbench.tasks.numeric import join_bytes, split_bytes
from synthbench.text.lines import short

if TYPE_CHECKING:
    import pyarrow as pa

#: The bits that come from the problem, and the share of all rows for which they are zero.
PROBLEM_BITS = np.uint64(0b111 << 61)
HELD_OUT_SHARE = 1 / 8
#: The number of digits of an id, and the codes of digits.
_DIGITS, _HEXADECIMAL = 16, np.frombuffer(b"0123456789abcdef", np.uint8)


def fingerprints(task: Task, block: Block) -> NDArray[np.uint64]:
    """The ids of a block's rows as numbers, uint64 `(rows,)`.

    Raises:
        TaskError: `content` or `problem` gives other arrays than it may.
    """
    rows = len(block)
    content = hash_rows(_array(task, "content", task.content(block), np.uint8, rows, axes=2))
    problem = task.problem(block)
    if problem is None:
        return content
    problem = _array(task, "problem", problem, np.uint64, rows, axes=1)
    return (problem & PROBLEM_BITS) | (content & ~PROBLEM_BITS)


def _array(
    task: Task, method: str, returned: Any, dtype: type[np.generic], rows: int, axes: int
) -> NDArray[Any]:
    """A method's result, if it is an array of this type with this many rows and axes."""
    there = isinstance(returned, np.ndarray)
    if there and returned.dtype == dtype and returned.ndim == axes and len(returned) == rows:
        return returned  # type: ignore[no-any-return]
    gave = f"{returned.dtype} of shape {returned.shape}" if there else short(returned)
    raise TaskError(
        f"{method} of {task.name} gave {gave} for {rows:,} rows: expected {np.dtype(dtype)} of "
        f"shape ({', '.join(['rows', 'width'][:axes])})."
    )


def recomputed(task: Task, rows: pa.Table) -> NDArray[np.uint64]:
    """The ids of rows as their inputs in a file give them, as numbers, uint64 `(rows,)`.

    Raises:
        ValueError: a row that is not one of the task's.
    """
    return fingerprints(
        task, task.parse({name: rows[name].combine_chunks() for name in task.inputs})
    )


def are_held_out(prints: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """A mask of held-out rows, by their fingerprints or problem keys, bool `(rows,)`."""
    held_out: NDArray[np.bool_] = np.equal(prints & PROBLEM_BITS, 0)
    return held_out


def may_have(
    task: Task, split: Split, bucket: int, prints: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """A mask of the rows of a bucket that a split may have, by fingerprint, bool `(rows,)`.

    Evaluation splits may have the rows that are held out, other splits the rest. Splits of the same
    kind that share a bucket divide its rows among themselves by the other bits.
    """
    allowed = np.equal(are_held_out(prints), split.evaluation)
    names = _rivals(task, split, bucket)
    if len(names) > 1:
        content = prints & ~PROBLEM_BITS
        allowed &= content % np.uint64(len(names)) == names.index(split.name)
    return allowed


def share_of(task: Task, split: Split, bucket: int) -> float:
    """The share of a bucket's rows that a split may have, on average."""
    part = HELD_OUT_SHARE if split.evaluation else 1 - HELD_OUT_SHARE
    return part / max(1, len(_rivals(task, split, bucket)))


def _rivals(task: Task, split: Split, bucket: int) -> list[str]:
    """The splits that divide a bucket's rows. None for a stream, which has a split of its own."""
    if split not in task.splits:
        return []
    return [
        other.name
        for other in task.splits
        if other.evaluation == split.evaluation and bucket in other.buckets
    ]


def ids(prints: NDArray[np.uint64]) -> pa.Array:
    """Fingerprints as the `id` column: 16 hexadecimal digits each."""
    digits = prints.astype(">u8").tobytes().hex().encode("ascii")
    return join_bytes(digits, np.full(len(prints), 16))


def read_ids(column: pa.Array) -> NDArray[np.uint64]:
    """The `id` column as fingerprints, uint64 `(rows,)`.

    Raises:
        ValueError: an id that is not 16 lower-case hexadecimal digits.
    """
    codes, lengths = split_bytes(column)
    if (
        column.null_count
        or not (lengths == _DIGITS).all()
        or not np.isin(codes, _HEXADECIMAL).all()
    ):
        texts = column.to_pylist()
        wrong = next(text for text in texts if not re.fullmatch(r"[0-9a-f]{16}", text or ""))
        raise ValueError(f"{wrong!r} is not {_DIGITS} hexadecimal digits")
    return np.frombuffer(bytes.fromhex(codes.tobytes().decode()), ">u8").astype(np.uint64)


def columns_of(task: Task) -> Columns:
    """All columns of a task's shards, `id` first."""
    return {"id": value("string"), **task.columns}


def rows_table(task: Task, block: Block, prints: NDArray[np.uint64]) -> pa.Table:
    """Rows as they are in a shard: their ids, then the task's columns."""
    import pyarrow as pa

    columns = {"id": ids(prints), **task.rendered(block)}
    return pa.Table.from_arrays([*columns.values()], schema=arrow_schema(columns_of(task)))
