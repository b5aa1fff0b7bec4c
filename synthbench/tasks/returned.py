"""Checks of the values that a task's methods return.

A task may be somebody else's. A value that no task may return would give wrong rows, or an error
far from its cause. So the rest of the package asks for blocks, counts and buckets here. An error
names the method and its result.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import TaskError
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.tokens import Vocabulary
from synthbench.text.lines import short

if TYPE_CHECKING:
    import pyarrow as pa

#: Weights are divided as decimal fractions of six digits.
_LEAST_WEIGHT = 0.000001


def proposed(task: Task, draws: Draws, n: int, split: Split, bucket: int) -> Block:
    """The result of `Task.propose`, as a block. A `TextTask`'s tokens have its vocabulary's type.

    Raises:
        TaskError: it is not a block of at most `n` rows.
    """
    method = _Method("propose", task, split, bucket)
    with _no_exit(method):
        returned = task.propose(draws, n, split, bucket)
    return _at_most(n, task, method, returned)


def draws_together(task: Task) -> bool:
    """True if the task has `propose_blocks`, and no subclass of its class has another `propose`."""
    methods = ("propose", "propose_blocks")
    first = next(
        vars(cls) for cls in type(task).__mro__ if any(name in vars(cls) for name in methods)
    )
    return "propose_blocks" in first


def proposed_blocks(
    task: Task, blocks: Sequence[Draws], n: int, split: Split, bucket: int
) -> list[Block]:
    """The results of `Task.propose_blocks`, each in the form of `proposed`.

    Raises:
        TaskError: it is not a list of as many blocks, each of at most `n` rows.
    """
    method = _Method("propose_blocks", task, split, bucket)
    with _no_exit(method):
        returned = task.propose_blocks(blocks, n, split, bucket)
    if not isinstance(returned, list) or len(returned) != len(blocks):
        given = f"{len(returned)} blocks" if isinstance(returned, list) else short(returned)
        raise TaskError(f"{method} gave {given}: expected a list of {len(blocks)} blocks.")
    return [_at_most(n, task, method, each) for each in returned]


def _at_most(n: int, task: Task, method: _Method, returned: object) -> Block:
    block = _block(task, method, returned)
    if len(block) > n:
        raise TaskError(f"{method} gave {len(block):,} rows of {n:,} candidates: at most n.")
    return block


def enumerated(task: Task, split: Split, bucket: int) -> Block:
    """The result of `Task.enumerate_rows`, as a block of the same form as `proposed`.

    Raises:
        TaskError: it is not a block, or has not as many rows as `capacity` says.
    """
    method = _Method("enumerate_rows", task, split, bucket)
    with _no_exit(method):
        returned = task.enumerate_rows(split, bucket)
    block = _block(task, method, returned)
    capacity = capacity_of(task, split, bucket)
    if capacity is not None and len(block) != capacity:
        raise TaskError(f"{method} gave {len(block):,} rows, but capacity says {capacity:,}.")
    return block


class _Method(NamedTuple):
    """A call of a task's method. Its text is made for errors alone, as labels take time."""

    name: str
    task: Task
    split: Split
    bucket: int

    def __str__(self) -> str:
        asked = _asked(self.task, self.split, self.bucket)
        return f"{self.name} of {self.task.name}, asked for {asked},"


@contextlib.contextmanager
def _no_exit(method: _Method) -> Iterator[None]:
    """In a worker process, `sys.exit` would look like a lack of memory."""
    try:
        yield
    except SystemExit as error:
        raise TaskError(f"{method} calls sys.exit({error.code!r}).") from error


def capacity_of(task: Task, split: Split, bucket: int) -> int | None:
    """The result of `Task.capacity`.

    Raises:
        TaskError: it is neither None nor a whole number from 0.
    """
    capacity = task.capacity(split, bucket)
    if capacity is None:
        return None
    if isinstance(capacity, bool) or not isinstance(capacity, int | np.integer) or capacity < 0:
        raise TaskError(
            f"capacity of {task.name}, asked for {_asked(task, split, bucket)}, gave "
            f"{short(capacity)}: expected the number of distinct rows, or None if it is unknown."
        )
    return int(capacity)


def weights_of(task: Task, split: Split) -> tuple[float, ...]:
    """The result of `Task.bucket_weights`.

    Raises:
        TaskError: it is not a number from 0.000001 for each of the split's buckets.
    """
    weights = task.bucket_weights(split)
    right = isinstance(weights, Sequence | np.ndarray) and len(weights) == len(split.buckets)
    if not right or not all(_is_weight(weight) for weight in weights):
        raise TaskError(
            f"bucket_weights of {task.name} gave {short(weights)} for split {split.name}: expected "
            f"{len(split.buckets)} numbers from {_LEAST_WEIGHT}, one for each bucket."
        )
    return tuple(map(float, weights))


def _is_weight(weight: object) -> bool:
    number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
    return number and _LEAST_WEIGHT <= weight < math.inf  # type: ignore[operator]


def buckets_of(task: Task, rows: pa.Table) -> NDArray[np.int64]:
    """The result of `Task.buckets` for the rows of a shard, int64 `(rows,)`.

    Raises:
        TaskError: it is not a whole number for each row.
    """
    columns = {}
    for name in task.columns:
        column = rows[name]
        # `combine_chunks` copies a single chunk, too.
        columns[name] = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    buckets = np.asarray(task.buckets(columns))
    if buckets.shape != (rows.num_rows,) or buckets.dtype.kind not in "iu":
        raise TaskError(
            f"buckets of {task.name} gave {buckets.dtype} values of shape {buckets.shape} for "
            f"{rows.num_rows:,} rows: expected a whole number for each row."
        )
    return buckets.astype(np.int64, copy=False)


def wrong_bucket(task: Task, rows: pa.Table, expected: NDArray[np.int64]) -> tuple[int, str] | None:
    """The first row that is not in the bucket for which it was drawn, and its fault.

    Args:
        task: the task.
        rows: its columns.
        expected: the bucket of each row, as `propose` or `enumerate_rows` was asked for it.

    Raises:
        TaskError: `buckets` gives something else than a bucket for each row.
    """
    buckets = buckets_of(task, rows)
    wrong = np.flatnonzero(buckets != expected)
    if not len(wrong):
        return None
    row = int(wrong[0])
    first = short(rows[task.inputs[0]][row].as_py())
    counted = type(task).enumerate_rows is not Task.enumerate_rows
    methods = "propose or enumerate_rows" if counted else "propose"
    return row, (
        f"{methods} of {task.name} was asked for {task.bucket_name} "
        f"{task.bucket_label(int(expected[row]))} and gave the row {first} of {task.bucket_name} "
        f"{label_of(task, int(buckets[row]))}: keep only candidates of the bucket."
    )


def label_of(task: Task, bucket: int) -> str:
    """The name of a bucket, which may be missing in all splits."""
    known = any(bucket in split.buckets for split in task.splits)
    return task.bucket_label(bucket) if known else str(bucket)


def _asked(task: Task, split: Split, bucket: int) -> str:
    """Split and bucket in words."""
    return f"split {split.name}, {task.bucket_name} {task.bucket_label(bucket)}"


def _block(task: Task, method: _Method, returned: object) -> Block:
    """A method's result, as a block."""
    columns = returned.columns if isinstance(returned, Block) else returned
    if not isinstance(columns, Mapping) or not columns:
        raise TaskError(
            f"{method} gave {short(returned)}: expected arrays by name, such as {{'tokens': ids}}."
        )
    for name, column in columns.items():
        if not isinstance(name, str) or not isinstance(column, np.ndarray) or not column.ndim:
            raise TaskError(
                f"{method} gave {short(column)} as {short(name)}: expected a NumPy array whose "
                "first axis counts the rows."
            )
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{count:,} of {name}" for name, count in lengths.items())
        raise TaskError(f"{method} gave arrays of different lengths: {each}.")
    if task.vocabulary is None:
        return Block(columns)
    if "tokens" not in columns:
        raise TaskError(f"{method} gave only {', '.join(columns)}: a TextTask gives tokens, too.")
    return Block({**columns, "tokens": _tokens(task.vocabulary, method, columns["tokens"])})


def _tokens(vocabulary: Vocabulary, method: _Method, ids: NDArray[Any]) -> NDArray[np.integer[Any]]:
    """The ids of texts in the type in which `Vocabulary.encode` gives them.

    Ids depend on it (`TextTask.content`), so it must be the same wherever a text comes from.
    """
    if ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise TaskError(
            f"{method} gave {ids.dtype} tokens of shape {ids.shape}: expected whole numbers of "
            "shape (rows, width)."
        )
    if not len(ids):
        return ids.astype(vocabulary.dtype)
    most = len(vocabulary.tokens)
    low, high = int(ids.min(initial=most)), int(ids.max(initial=0))
    if low < 0 or high > most:
        raise TaskError(
            f"{method} gave the token id {high if high > most else low}: allowed are 1 to {most}, "
            "and 0 for padding on the right."
        )
    there = ids > 0
    padded = low == 0 and (not there[:, 0].all() or (there[:, 1:] > there[:, :-1]).any())
    if padded or not ids.shape[1]:
        raise TaskError(
            f"{method} gave tokens that begin with 0 or have one between others: 0 is padding, "
            "on the right of at least one token."
        )
    return ids.astype(vocabulary.dtype, copy=False)
