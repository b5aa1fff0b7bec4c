"""Batches: which rows come at which step, and as which tensors.

What comes at a step is a pure function of (seed, step), so a run that goes on after an
interruption sees the batches that it would have seen. Rows are shuffled anew in every epoch;
epochs follow one another without a seam, and no row is left over.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from synthbench.dataset import Dataset
from synthbench.engine import Asked, Engine
from synthbench.errors import DatasetError, UsageError
from synthbench.seeding import Draws
from synthbench.streaming import Rounds
from synthbench.train.encoding import Encoding, Rows, concatenate

#: An evaluation batch has at most so many pairs of tokens, and so many rows.
_PAIRS, _EVALUATION_ROWS = 1 << 23, 512


class Batch(NamedTuple):
    """What a model gets, and what it should answer.

    Attributes:
        inputs: tokens or colours int64 `(rows, length)`, images float32 `(rows, 3, height, width)`
            in 0..1, vectors `(rows, dims)` or points `(rows, points, 2)` float32.
        lengths: tokens or cells of each row, int64 `(rows,)`, or None.
        targets: classes int64 `(rows,)`, counts float32 `(rows, cells)`, vectors float32
            `(rows, dims)`; empty where there is nothing to learn.
    """

    inputs: Tensor
    lengths: Tensor | None
    targets: Tensor

    def to(self, device: torch.device) -> Batch:
        """The batch on a device; from pinned memory, so that nobody waits for the copy."""
        if self.inputs.device.type == device.type:
            return self
        parts = (None if part is None else part.pin_memory() for part in self)
        return Batch(
            *(None if part is None else part.to(device, non_blocking=True) for part in parts)  # type: ignore[arg-type]
        )


def read_split(dataset: Dataset, variant: str, split: str, encoding: Encoding) -> Rows:
    """All rows of a split of a dataset directory.

    Raises:
        DatasetError: a shard that is missing or cannot be read, or rows that are none of the
            task's.
    """
    parts = []
    try:
        for batch in dataset.batches(variant, split, encoding.columns):
            parts.append(encoding.encode(dict(zip(batch.schema.names, batch.columns, strict=True))))
    except (ValueError, KeyError) as error:
        raise DatasetError(f"{dataset.path}, split {split!r}: {error}") from error
    return concatenate(parts)


def take(rows: Rows, indices: NDArray[np.int64], width: int | None = None) -> Batch:
    """The rows at these indices as a batch.

    Args:
        rows: where to take them from.
        indices: which, int64 `(rows,)`.
        width: pad to this length; default: to the longest of these rows.
    """
    chosen = torch.from_numpy(indices).to(rows.inputs.device)
    inputs = rows.inputs.index_select(0, chosen)
    lengths = None if rows.lengths is None else rows.lengths.index_select(0, chosen)
    targets = torch.empty(0) if rows.targets is None else rows.targets.index_select(0, chosen)
    if lengths is not None:
        longest = int(lengths.max()) if width is None else width
        inputs = inputs[:, :longest]
        targets = targets[:, :longest] if targets.ndim == 2 else targets
    if inputs.ndim == 4:
        inputs = inputs.float() / 255
    elif not inputs.is_floating_point():
        inputs = inputs.long()
    return Batch(inputs, lengths, targets if targets.ndim == 1 else targets.float())


def evaluation_batches(rows: Rows) -> Iterator[tuple[NDArray[np.int64], Batch]]:
    """All rows once, those of like length together: their indices and the batch."""
    if rows.lengths is None:
        order, lengths = np.arange(len(rows)), np.ones(len(rows), np.int64)
    else:
        lengths = rows.lengths.cpu().numpy()
        order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        reach = order[start : start + _EVALUATION_ROWS]
        fitting = np.arange(1, len(reach) + 1) * lengths[reach] ** 2 <= _PAIRS
        stop = start + max(1, int(fitting.sum()))
        yield order[start:stop], take(rows, order[start:stop])
        start = stop


class Batches(abc.ABC):
    """The batches of a training run.

    Attributes:
        rows: how many rows an epoch has, None for a stream.
    """

    rows: int | None = None

    @abc.abstractmethod
    def batch(self, step: int) -> Batch:
        """The batch of a step, counted from 0."""


class EpochBatches(Batches):
    """Batches of a split that lies in memory, shuffled anew in every epoch.

    Args:
        rows: the split; a batch is on its device.
        batch_size: rows of a batch.
        seed: whole number from 0; it decides the order.
        window: so many batches are sorted by length among themselves and then shuffled, so that
            little of a batch is padding; 1: batches are random.
        fixed_width: pad every batch to the split's longest row, for compiled models.
        balanced: repeat rows of rarer lengths in an epoch, so that all lengths come equally often.

    Raises:
        UsageError: a batch of more rows than there are.
    """

    def __init__(
        self,
        rows: Rows,
        batch_size: int,
        seed: int,
        *,
        window: int = 1,
        fixed_width: bool = False,
        balanced: bool = False,
    ) -> None:
        if not 1 <= batch_size <= len(rows):
            raise UsageError(
                f"Batch size {batch_size}: train has {len(rows):,} rows; "
                f"allowed are 1 to {len(rows):,}."
            )
        self._table = rows
        self._lengths = None if rows.lengths is None else rows.lengths.cpu().numpy()
        self._entries = np.arange(len(rows))
        if balanced and self._lengths is not None:
            self._entries = _equally_often(self._lengths)
        self.rows = len(self._entries)
        self._batch_size, self._seed, self._window = batch_size, seed, window
        self._width = rows.inputs.shape[1] if fixed_width and rows.lengths is not None else None
        self._epoch = functools.lru_cache(maxsize=2)(self._shuffled_epoch)
        self._in_window = functools.lru_cache(maxsize=1)(self._sorted_window)

    def batch(self, step: int) -> Batch:
        """The batch of a step, counted from 0; on the device of the rows."""
        if self._batch_size == len(self._table) == len(self._entries):
            return self._whole  # their order does not matter
        if self._window == 1 or self._lengths is None:
            indices = self._places(step * self._batch_size, self._batch_size)
        else:
            number, place = divmod(step, self._window)
            indices = self._in_window(number)[place]
        return take(self._table, indices, self._width or _longest(self._lengths, indices))

    @functools.cached_property
    def _whole(self) -> Batch:
        return take(self._table, np.arange(len(self._table)))

    def _shuffled_epoch(self, number: int) -> NDArray[np.int64]:
        """All rows in the order of an epoch."""
        draws = Draws({"train": "order", "seed": self._seed}, number)
        return self._entries[draws.permutation(len(self._entries))]

    def _places(self, start: int, count: int) -> NDArray[np.int64]:
        """The rows at these places of the endless row of epochs."""
        epoch, place = divmod(start, len(self._entries))
        parts = []
        while count > 0:
            part = self._epoch(epoch)[place : place + count]
            parts.append(part)
            count, epoch, place = count - len(part), epoch + 1, 0
        return np.concatenate(parts)

    def _sorted_window(self, number: int) -> NDArray[np.int64]:
        """The batches of a window, int64 `(window, batch_size)`."""
        assert self._lengths is not None
        size = self._window * self._batch_size
        places = self._places(number * size, size)
        places = places[np.argsort(self._lengths[places], kind="stable")]
        order = Draws({"train": "window", "seed": self._seed}, number).permutation(self._window)
        return places.reshape(self._window, self._batch_size)[order]


def _longest(lengths: NDArray[np.int64] | None, indices: NDArray[np.int64]) -> int | None:
    """The longest of some rows, without asking the device that they are on."""
    return None if lengths is None else int(lengths[indices].max())


def _equally_often(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices of rows in which each length has as many entries as the most frequent one."""
    most = int(np.bincount(lengths).max())
    return np.concatenate(
        [np.resize(np.flatnonzero(lengths == length), most) for length in np.unique(lengths)]
    )


class StreamBatches(Batches):
    """Batches of fresh rows, as `stream` gives them.

    Args:
        source: the rounds of the stream.
        batch_size: rows of a batch, as in `source`.
        encoding: how rows become tensors.
        engine: where rounds are made, some ahead of their time.
        device: where batches are to be.
    """

    def __init__(
        self,
        source: Rounds,
        batch_size: int,
        encoding: Encoding,
        engine: Engine,
        device: torch.device,
    ) -> None:
        self._source, self._batch_size, self._encoding = source, batch_size, encoding
        self._engine, self._device = engine, device
        self._asked: dict[int, Asked[pa.Table]] = {}
        self._round = functools.lru_cache(maxsize=1)(self._encoded_round)

    def batch(self, step: int) -> Batch:
        """The batch of a step, counted from 0; on the device."""
        number, place = divmod(step, self._source.batches)
        rows, lengths = self._round(number)
        indices = np.arange(place * self._batch_size, (place + 1) * self._batch_size)
        return take(rows, indices, _longest(lengths, indices))

    def _encoded_round(self, number: int) -> tuple[Rows, NDArray[np.int64] | None]:
        for ahead in range(number, number + self._engine.ahead + 1):
            if ahead not in self._asked:
                self._asked[ahead] = self._engine.submit(self._source.table, ahead)
        table = self._asked.pop(number).result().combine_chunks()
        columns = {name: table[name].chunk(0) for name in self._encoding.columns}
        rows = self._encoding.encode(columns)
        return rows.to(self._device), None if rows.lengths is None else rows.lengths.numpy()
