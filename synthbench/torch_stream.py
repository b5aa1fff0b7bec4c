"""`stream` for PyTorch's `DataLoader`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import torch.utils.data

from synthbench.errors import check_whole_number
from synthbench.registry import make_task
from synthbench.streaming import Batch, Rounds


class TorchStream(torch.utils.data.IterableDataset[Batch]):
    """Endless batches of fresh rows, shared out over the workers of a `DataLoader`.

    Use it with `DataLoader(TorchStream("listops"), batch_size=None, num_workers=...)`. Worker `w`
    of `n` makes the rounds `w`, `w + n`, ...: together the workers give exactly the batches of
    `stream`, none twice. With workers their order differs from `stream`'s; it is the same in
    every run with the same number of workers.

    Args:
        task: name of the task.
        split: as in `synthbench.stream`, as is all that follows.
        variant: one of the task's variants.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.
        batch_size: rows of a batch.
        rows: rows of the dataset's evaluation splits, where it has more than the paper's.
        start: number of the first batch, as in `synthbench.stream`; batches before it are left
            out, by whatever worker.

    Raises:
        UsageError: a name that does not exist, or a number that is not allowed.
        ParameterError: impossible parameters.

    Example:
        >>> from synthbench.torch_stream import TorchStream
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
        rows: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        check_whole_number("Start", start, least=0)
        self._source = Rounds(make_task(task, variant, parameters, seed), split, batch_size, rows)
        self._start = start

    def __iter__(self) -> Iterator[Batch]:
        """The batches of this process: all of them, or a worker's share."""
        worker = torch.utils.data.get_worker_info()
        turn, turns = (worker.id, worker.num_workers) if worker else (0, 1)
        first, skip = divmod(self._start, self._source.batches)
        for number in itertools.count(first):
            if number % turns != turn:
                continue
            batches = self._source.batches_of(self._source.rows(number))
            yield from itertools.islice(batches, skip if number == first else 0, None)
