"""Batches of a stream, in order or by number, from any number of threads."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, TypeVar

from numpy.typing import NDArray

from synthbench.checks import check_whole_number
from synthbench.engine.engine import Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.sampling.blocks import KeyedRows
from synthbench.streaming.rounds import RoundReader, Rounds
from synthbench.tasks.base import Block

Batch = dict[str, NDArray[Any]]
T = TypeVar("T")


class View(Protocol):
    """How a stream shows its rows: as columns or as tokens.

    Attributes:
        compact: whether worker processes send rounds as `round` gives them. If not, they send the
            rows as they were drawn: Python objects take longer to send than to make.
    """

    compact: bool

    def round(self, rows: KeyedRows) -> Block:
        """What is kept of a round, as arrays whose first axis counts the rows."""

    def batch(self, block: Block) -> Any:
        """A batch, from its rows in `block`, which nobody else uses."""


class RoundMaker:
    """Makes what a view keeps of a round; can be sent to another process."""

    def __init__(self, rounds: Rounds, view: View) -> None:
        self._rounds, self._view = rounds, view

    def __call__(self, number: int) -> Block:
        """The round of this number."""
        return self._view.round(self._rounds.rows(number))


class Batches(Iterator[T]):
    """Endless batches of a stream.

    `next(batches)` is the next batch, and `batches[n]` is batch `n`, which has the rows
    `n * batch_size` to `(n + 1) * batch_size - 1` of the stream. Any number of threads may read
    the same batches; each batch goes to one of them. Pickled and loaded again, in another process,
    too, they continue where they were.

    Attributes:
        start: number of the next batch. The same call with `start=batches.start` continues here.
    """

    def __init__(
        self, rounds: Rounds, view: View, batch_size: int, start: int = 0, workers: int = 1
    ) -> None:
        self._batch_size = check_whole_number("Batch size", batch_size, least=1)
        self.start = check_whole_number("Start", start, least=0)
        self._workers = check_workers(workers)
        self._rounds, self._view = rounds, view
        self._lock = threading.Lock()
        self._reader: RoundReader[Block] | None = None
        self._end: Callable[[], object] = _nothing

    def __reduce__(self) -> tuple[Any, ...]:
        made = (self._rounds, self._view, self._batch_size, self.start, self._workers)
        return type(self), made

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        with self._lock:
            batch = self._batch(self.start)
            self.start += 1
        return batch

    def __getitem__(self, number: int) -> T:
        number = check_whole_number("Batch number", number, least=0)
        with self._lock:
            return self._batch(number)

    def rows(self, first: int, count: int) -> T:
        """A batch of `count` rows, at least 1, from row `first` of the stream on."""
        first = check_whole_number("First row", first, least=0)
        count = check_whole_number("Number of rows", count, least=1)
        with self._lock:
            return self._rows(first, count)

    def _batch(self, number: int) -> T:
        return self._rows(number * self._batch_size, self._batch_size)

    def _rows(self, first: int, count: int) -> T:
        reader = self._open()
        parts = [reader(of).take(rows) for of, rows in self._rounds.slices(first, count)]
        batch: T = self._view.batch(Block.concatenate(parts))
        return batch

    def _open(self) -> RoundReader[Block]:
        if self._reader is None:
            engine = Engine(None, 1)
            if self._workers > 1:
                check_workers(self._workers)  # again: this may be another process, and daemonic
                stack = contextlib.ExitStack()
                engine = stack.enter_context(open_engine(workers=self._workers))
                # At the end of the program, too, while its threads can still be ended.
                self._end = weakref.finalize(self, stack.close)
            if self._view.compact:
                self._reader = RoundReader(RoundMaker(self._rounds, self._view), engine)
            else:
                self._reader = RoundReader(self._rounds.rows, engine, self._view.round)
        return self._reader

    def close(self) -> None:
        """End the worker processes; the next batch starts them again."""
        with self._lock:
            self._end()
            self._reader, self._end = None, _nothing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _nothing() -> None:
    pass
