"""`stream` for PyTorch's `DataLoader`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch.utils.data
from numpy.typing import NDArray
from torch.utils.data._utils.collate import default_collate_fn_map

from synthbench.errors import UsageError, check_whole_number
from synthbench.registry import make_task
from synthbench.streaming.rounds import Batch, Rounds


class TorchBatch(dict[str, Any]):
    """A batch as a dict of NumPy arrays by column, first axis `batch_size`.

    A structured column (`quadrants` of `composites`) is a dict of arrays by field, because PyTorch
    has no structured tensors.
    """

    @classmethod
    def of(cls, batch: Batch) -> TorchBatch:
        """The batch of a stream."""
        return cls({name: _fields(column) for name, column in batch.items()})


def _fields(column: NDArray[Any]) -> Any:
    """A structured array as a dict of plain arrays; any other array as it is."""
    if column.dtype.names is None:
        return column
    # Contiguous, because PyTorch takes no strides that are not whole items.
    return {name: _fields(np.ascontiguousarray(column[name])) for name in column.dtype.names}


def _refuse_to_collate(batches: list[TorchBatch], **_: Any) -> None:
    raise UsageError(
        f"DataLoader with batch_size={len(batches)} would join whole batches of TorchStream. Write "
        "DataLoader(TorchStream(..., batch_size=N), batch_size=None), where N is the rows of a "
        "batch."
    )


# DataLoader puts rows together by these functions unless batch_size is None.
default_collate_fn_map[TorchBatch] = _refuse_to_collate


class TorchStream(torch.utils.data.IterableDataset[TorchBatch]):
    """Endless batches of fresh rows, shared out over the workers of a `DataLoader`.

    Use it with `DataLoader(TorchStream("listops"), batch_size=None, num_workers=...)`: a batch is
    a dict by column, of tensors, and of arrays where a column is text; a structured column is a
    dict of its fields. With any other `batch_size` for the `DataLoader`, the first batch raises
    UsageError.

    Worker `w` of `n` makes the rounds `w`, `w + n`, ...: together the workers give exactly the
    batches of `stream`, none twice. With workers their order differs from `stream`'s; it is the
    same in every run with the same number of workers.

    `state_dict` says which batch comes next, and after `load_state_dict` reading goes on there
    without making the batches before it. torchdata's `StatefulDataLoader` calls both in every
    worker; it must have as many workers again.

    Args:
        task: name of the task.
        split: as in `synthbench.stream`, as is all that follows.
        variant: one of the task's variants.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.
        batch_size: rows of a batch.
        start: number of the first batch, as in `synthbench.stream`; batches before it are left
            out, by whatever worker.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: impossible parameters.

    Example:
        >>> from synthbench.streaming.torch import TorchStream
        >>> from torch.utils.data import DataLoader
        >>> loader = DataLoader(TorchStream("identity", batch_size=8), batch_size=None)
        >>> next(iter(loader))["x"].shape
        torch.Size([8, 5])
    """

    def __init__(
        self,
        task: str,
        *,
        split: str = "train",
        variant: str | None = None,
        seed: int = 0,
        parameters: Mapping[str, Any] | None = None,
        batch_size: int = 512,
        start: int = 0,
    ) -> None:
        super().__init__()
        check_whole_number("Start", start, least=0)
        self._source = Rounds(make_task(task, variant, parameters, seed), split, batch_size)
        self._start = start
        self._next = start
        self._loaded: int | None = None

    def state_dict(self) -> dict[str, int]:
        """The number of the next batch of this process, as in `start`.

        Returns:
            `{"next": number}`.
        """
        return {"next": self._next}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go on where `state_dict` was asked.

        Args:
            state: what `state_dict` returned, in a stream with the same arguments.

        Raises:
            UsageError: it is no such state.
        """
        if not isinstance(state, Mapping) or set(state) != {"next"}:
            raise UsageError(f"State {state!r}: expected what state_dict returns, {{'next': 0}}.")
        check_whole_number("State 'next'", state["next"], least=0)
        self._next = self._loaded = state["next"]

    def __iter__(self) -> Iterator[TorchBatch]:
        """The batches of this process: all of them, or a worker's share."""
        worker = torch.utils.data.get_worker_info()
        turn, turns = (worker.id, worker.num_workers) if worker else (0, 1)
        # A loaded state holds for one iterator; later ones begin at `start` again.
        start = self._start if self._loaded is None else self._loaded
        self._loaded = None
        first, skip = divmod(start, self._source.batches)
        for number in itertools.count(first):
            if number % turns != turn:
                continue
            batches = self._source.batches_of(self._source.rows(number))
            begin = skip if number == first else 0
            for place, batch in enumerate(itertools.islice(batches, begin, None), start=begin):
                self._next = number * self._source.batches + place + 1
                yield TorchBatch.of(batch)
