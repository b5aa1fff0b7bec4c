"""Batches: the rows of each step as tensors.

A step's batch is a pure function of seed and step, so a run that goes on after an interruption sees
the batches that it would have seen without it. Rows are shuffled in every epoch, and a batch may
end one epoch and begin the next. Batches whose rows all have one length are drawn with replacement
instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.errors import DatasetError, ParameterError
from synthbench.seeding import Draws
from synthbench.streaming.rounds import Rounds
from synthbench.training.forms.form import Form
from synthbench.training.forms.rows import Batch, Rows, concatenate


def take(rows: Rows, indices: NDArray[np.int64], width: int | None = None) -> Batch:
    """The rows at `indices`, int64 `(rows,)`, padded to `width`, by default to the longest row."""
    picks = rows.select(torch.from_numpy(indices).to(rows.inputs.device))
    lengths = picks.lengths
    if lengths is not None and width is None:
        width = int(lengths.max())

    def cut(values: Tensor) -> Tensor:
        is_padded = lengths is not None and values.ndim == 2
        return _wide(values[:, :width] if is_padded else values)

    inputs, targets, positions = cut(picks.inputs), picks.targets, picks.positions
    return Batch(
        inputs.float() / 255 if inputs.ndim == 4 else inputs,
        lengths,
        torch.empty(0) if targets is None else cut(targets),
        None if positions is None else cut(positions),
    )


def _wide(values: Tensor) -> Tensor:
    """Numbers in the type that models take, float32 or int64. Pixels stay as they are."""
    return values if values.is_floating_point() or values.ndim == 4 else values.long()


def read_split(
    dataset: DatasetDirectory, variant: str, split: str, form: Form, columns: Sequence[str] = ()
) -> tuple[Rows, pa.Table]:
    """All rows of a split as tensors, and `columns` as they are stored.

    Raises:
        DatasetError: a shard is missing or cannot be read, there are more or fewer rows than the
            manifest says, or they are not the task's.
    """
    parts, kept = [], []
    names = list(dict.fromkeys([*form.columns, *columns]))
    try:
        for batch in dataset.batches(variant, split, names):
            parts.append(form.encode(batch))
            kept.append(batch.select(list(columns)))
    except (ValueError, KeyError) as error:
        raise DatasetError(f"{dataset.path}, split {split!r}: {error}") from error
    return concatenate(parts), pa.Table.from_batches(kept)


def evaluation_batches(rows: Rows, pairs: int) -> Iterator[tuple[NDArray[np.int64], Batch]]:
    """All rows once, rows of similar length together: their indices and the batch.

    A batch has at most 512 rows, and at most `pairs` pairs of tokens or points if it has more than
    one row, so that attention maps stay small.
    """
    if rows.lengths is None:
        length = 1 if rows.inputs.ndim == 4 else rows.inputs.shape[1]
        order, lengths = np.arange(len(rows)), np.full(len(rows), length)
    else:
        lengths = rows.lengths.cpu().numpy()
        order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        reach = order[start : start + 512]
        fitting = np.arange(1, len(reach) + 1) * lengths[reach] ** 2 <= pairs
        stop = start + max(1, int(fitting.sum()))
        yield order[start:stop], take(rows, order[start:stop])
        start = stop


class ByLength:
    """Draws the rows of batches by their length, with replacement.

    Args:
        lengths: the length of each row, int64 `(rows,)`.
        batch_size: rows of a batch.
        seed: determines the draws.
        one_length: whether all rows of a batch have one length.
        balanced: whether all lengths are equally frequent, or as frequent as among the rows.
    """

    def __init__(
        self,
        lengths: NDArray[np.int64],
        batch_size: int,
        seed: int,
        *,
        one_length: bool,
        balanced: bool,
    ) -> None:
        self._order = np.argsort(lengths, kind="stable")
        _, self._counts = np.unique(lengths, return_counts=True)
        self._ends = np.cumsum(self._counts)
        self._batch_size, self._seed = batch_size, seed
        self._drawn, self._balanced = 1 if one_length else batch_size, balanced

    def indices(self, step: int) -> NDArray[np.int64]:
        """The rows of a step's batch, int64 `(batch_size,)`."""
        purpose = "one length" if self._drawn == 1 else "lengths"
        draws = Draws({"train": purpose, "seed": self._seed}, step)
        if self._balanced:
            lengths = draws.integers(len(self._ends), self._drawn)
        else:
            row = draws.integers(len(self._order), self._drawn)
            lengths = np.searchsorted(self._ends, row, side="right")
        counts = self._counts[lengths]
        if len(counts) == 1:
            places = draws.integers(int(counts[0]), self._batch_size)
        else:
            places = draws.below(counts)
        rows: NDArray[np.int64] = self._order[places + self._ends[lengths] - counts]
        return rows


class EpochBatches:
    """Batches of a split in memory, shuffled in every epoch.

    Args:
        rows: the split. Batches are on its device.
        batch_size: rows of a batch, at most those of the split.
        seed: determines the order.
        one_length: all rows of a batch have one length. See `ByLength`.
        fixed_width: pad every batch to the split's longest row, for compiled models.
        balanced: all lengths are equally frequent. Without `one_length`, an epoch repeats rows of
            rarer lengths.

    Attributes:
        rows: the number of rows in an epoch.

    Raises:
        ParameterError: `one_length` or `balanced` where rows lack lengths.
    """

    def __init__(
        self,
        rows: Rows,
        batch_size: int,
        seed: int,
        *,
        one_length: bool = False,
        fixed_width: bool = False,
        balanced: bool = False,
    ) -> None:
        check_lengths(rows, one_length, balanced)
        self._table = rows
        self._lengths = lengths = None if rows.lengths is None else rows.lengths.cpu().numpy()
        self._one_length: ByLength | None = None
        if one_length and lengths is not None:
            self._one_length = ByLength(
                lengths, batch_size, seed, one_length=True, balanced=balanced
            )
        self._trained_on = _entries(len(rows), lengths, balanced)
        # One length a batch is balanced by its own draws.
        self._entries = np.arange(len(rows)) if one_length else self._trained_on
        self.rows = len(self._entries)
        self._batch_size, self._seed = batch_size, seed
        self._width = rows.inputs.shape[1] if fixed_width and rows.lengths is not None else None
        self._epoch = functools.lru_cache(maxsize=2)(self._shuffled_epoch)

    def batch(self, step: int) -> Batch:
        """The batch of a step, counted from 0. On the device of the rows."""
        if self._one_length is not None:
            indices = self._one_length.indices(step)
        elif self._batch_size == len(self._table) == len(self._entries):
            return self._whole  # their order does not matter
        else:
            indices = self._next_entries(step * self._batch_size)
        return take(self._table, indices, self._width or _longest(self._lengths, indices))

    def sample(self, count: int) -> Rows:
        """At most `count` rows of the split, evenly spaced, as often as they are trained on."""
        return self._table.select(_spaced(self._trained_on, count))

    @functools.cached_property
    def _whole(self) -> Batch:
        return take(self._table, np.arange(len(self._table)))

    def _shuffled_epoch(self, number: int) -> NDArray[np.int64]:
        """All entries in the order of an epoch."""
        draws = Draws({"train": "order", "seed": self._seed}, number)
        return self._entries[draws.permutation(len(self._entries))]

    def _next_entries(self, start: int) -> NDArray[np.int64]:
        """The entries of one batch, `start` entries after the beginning of the first epoch."""
        epoch, index = divmod(start, len(self._entries))
        parts, missing = [], self._batch_size
        while missing > 0:
            part = self._epoch(epoch)[index : index + missing]
            parts.append(part)
            missing, epoch, index = missing - len(part), epoch + 1, 0
        return np.concatenate(parts)


def check_lengths(rows: Rows, one_length: bool, balanced: bool) -> None:
    """Check that rows have a length, if batches depend on it.

    Raises:
        ParameterError: they lack lengths.
    """
    if rows.lengths is None and (one_length or balanced):
        field = "one_length" if one_length else "balanced"
        raise ParameterError(f"Recipe {field}=true: these rows have no length. Allowed is false.")


def _entries(rows: int, lengths: NDArray[np.int64] | None, balanced: bool) -> NDArray[np.int64]:
    """All rows once or, if `balanced`, length by length with as many entries for each length.

    That many as the most frequent length has rows. Rows of the others are repeated.
    """
    if not balanced or lengths is None:
        return np.arange(rows)
    most = int(np.bincount(lengths).max())
    groups = (np.flatnonzero(lengths == length) for length in np.unique(lengths))
    return np.concatenate([np.resize(group, most) for group in groups])


def _spaced(entries: NDArray[np.int64], count: int) -> Tensor:
    """At most `count` of some entries, evenly spaced, int64 `(entries,)`."""
    return torch.from_numpy(entries[:: max(1, -(-len(entries) // count))])


def _longest(lengths: NDArray[np.int64] | None, indices: NDArray[np.int64]) -> int | None:
    """The length of the longest of some rows, from the CPU, so that no GPU is waited for."""
    return None if lengths is None else int(lengths[indices].max())


class StreamBatches:
    """Batches of fresh rows, as `stream` gives them.

    `table` gives a round of `source` by its number, as `Rounds.tables` does, and `rows` is the
    number of rows that count as an epoch. Each step has the next rows of the stream, or, with
    `one_length` or `balanced`, rows that `ByLength` draws from a round.
    """

    def __init__(
        self,
        source: Rounds,
        table: Callable[[int], pa.Table],
        batch_size: int,
        form: Form,
        device: torch.device,
        rows: int,
        *,
        seed: int = 0,
        one_length: bool = False,
        balanced: bool = False,
    ) -> None:
        self._source, self._table = source, table
        self._batch_size, self._form = batch_size, form
        self._device, self.rows = device, rows
        self._seed, self._drawn = seed, {"one_length": one_length, "balanced": balanced}
        self._round = functools.lru_cache(maxsize=2)(self._encoded_round)

    def batch(self, step: int) -> Batch:
        """The batch of a step, counted from 0. On the device."""
        slices = list(self._source.slices(step * self._batch_size, self._batch_size))
        rows, lengths, by_length = self._round(slices[0][0])
        if by_length is not None:
            indices = by_length.indices(step)
        elif len(slices) == 1:
            ((_, part),) = slices
            indices = np.arange(part.start, part.stop)
        else:  # a batch that begins in one round and ends in another
            rows = concatenate([self._round(number)[0].select(part) for number, part in slices])
            lengths = None if rows.lengths is None else rows.lengths.cpu().numpy()
            indices = np.arange(self._batch_size)
        return take(rows, indices, _longest(lengths, indices))

    def sample(self, count: int) -> Rows:
        """Rows of the beginning of the stream, at most `count`, as often as they are trained on."""
        rows, lengths, by_length = self._encoded_round(0)
        if by_length is None or not self._drawn["balanced"]:
            return rows.select(slice(count))
        return rows.select(_spaced(_entries(len(rows), lengths, balanced=True), count))

    def _encoded_round(self, number: int) -> tuple[Rows, NDArray[np.int64] | None, ByLength | None]:
        rows = self._form.encode_table(self._table(number))
        lengths = None if rows.lengths is None else rows.lengths.numpy()
        check_lengths(rows, **self._drawn)
        by_length = None
        if lengths is not None and any(self._drawn.values()):
            by_length = ByLength(lengths, self._batch_size, self._seed, **self._drawn)
        return rows.to(self._device), lengths, by_length
