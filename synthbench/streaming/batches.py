"""Batches of a stream, in order or by number, from any number of threads."""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_whole_number
from synthbench.engine.engine import Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.streaming.rounds import RoundReader, Rounds
from synthbench.streaming.rows import StreamRows, numbers
from synthbench.tasks.base import Block

Batch = dict[str, NDArray[Any]]
T = TypeVar("T")


class RoundRows(Protocol):
    """The rows of a round in the form of a view."""

    def take(self, rows: NDArray[np.int64], /) -> Block:
        """Some of the rows, by their ascending indices."""


class View(Protocol):
    """The form in which a stream shows its rows: columns or tokens."""

    def make(self, part: int, rounds: Rounds, number: int) -> Any:
        """A round of a task in small types. A worker process may make and send it."""

    def show(self, part: int, rows: Any) -> RoundRows:
        """A round that `make` gave, as rows that can be taken by their ascending indices."""

    def batch(self, parts: NDArray[np.int64], blocks: Mapping[int, Block]) -> Any:
        """A batch of rows.

        Args:
            parts: the index of each row's task.
            blocks: the rows of each task, in order, which only this batch uses.
        """


class Batches(Iterator[T]):
    """Endless batches of a stream, or of a share of its rows.

    `next(batches)` is the next batch, and `batches[n]` is batch `n`, which has the rows
    `n * batch_size` to `(n + 1) * batch_size - 1`. Of share `rank`, row `j` is row
    `j * world_size + rank` of the stream. Any number of threads may read the same batches. Each
    batch goes to one thread. A pickled copy continues at the same batch, in another process, too.

    Attributes:
        stream: the rows.
        start: number of the next batch. Set it to continue at another batch.
    """

    def __init__(
        self,
        stream: StreamRows,
        view: View,
        batch_size: int,
        start: int = 0,
        workers: int = 1,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self._batch_size = check_whole_number("Batch size", batch_size, least=1)
        self.start = check_whole_number("Start", start, least=0)
        self._workers = check_workers(workers)
        self._share = check_share(rank, world_size)
        self.stream, self._view = stream, view
        self._lock = threading.RLock()
        self._readers: list[RoundReader[RoundRows]] | None = None
        self._end: Callable[[], object] = _nothing

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (self.stream, self._view, self._batch_size, self.start, self._workers)
        return type(self), (*arguments, *self._share)

    def __repr__(self) -> str:
        return f"<batches of {self._batch_size} {str(self.stream)[1:-1]}, next batch {self.start}>"

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        with self._lock:
            batch = self[self.start]
            self.start += 1
        return batch

    def __getitem__(self, number: int) -> T:
        number = check_whole_number("Batch number", number, least=0)
        return self.take(numbers(number * self._batch_size, self._batch_size, *self._share))

    def rows(self, first: int, count: int) -> T:
        """A batch of `count` rows, at least 1, from row `first` of the share on."""
        first = check_whole_number("First row", first, least=0)
        count = check_whole_number("Number of rows", count, least=1)
        return self.take(numbers(first, count, *self._share))

    def take(self, rows: NDArray[np.int64]) -> T:
        """A batch of any rows, by their ascending numbers in the whole stream."""
        with self._lock:
            parts, pieces = self.stream.pieces(rows, self._open())
        blocks = {part: Block.concatenate(chunks) for part, chunks in pieces.items()}
        batch: T = self._view.batch(parts, blocks)
        return batch

    def _open(self) -> list[RoundReader[RoundRows]]:
        if self._readers is None:
            engine = Engine(None, 1)
            if self._workers > 1:
                check_workers(self._workers)  # again: this may be another process, and daemonic
                stack = contextlib.ExitStack()
                engine = stack.enter_context(open_engine(workers=self._workers))
                # At the end of the program, too, while its threads can still be ended.
                self._end = weakref.finalize(self, stack.close)
            self._readers = [
                RoundReader(
                    functools.partial(self._view.make, part, rounds),
                    engine,
                    functools.partial(self._view.show, part),
                )
                for part, rounds in enumerate(self.stream.rounds.parts)
            ]
        return self._readers

    def close(self) -> None:
        """End the worker processes. The next batch starts them again."""
        with self._lock:
            self._end()
            self._readers, self._end = None, _nothing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def check_share(rank: int, world_size: int) -> tuple[int, int]:
    """A rank and the number of ranks, as whole numbers.

    Raises:
        UsageError: a rank that is not below `world_size`, or a number that is not allowed.
    """
    world_size = check_whole_number("World size", world_size, least=1)
    return check_whole_number("Rank", rank, least=0, most=world_size - 1), world_size


def _nothing() -> None:
    pass
