"""`tokens` for PyTorch's `DataLoader`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch.utils.data
from numpy.typing import NDArray
from torch.utils.data import default_convert
from torch.utils.data._utils.collate import default_collate_fn_map

from synthbench.checks import check_whole_number
from synthbench.errors import UsageError
from synthbench.streaming.batches import Batches, check_share
from synthbench.streaming.columns import stream
from synthbench.streaming.ranks import accelerate_processes, distributed_ranks, ranks_here
from synthbench.streaming.rows import StreamRows, check_row
from synthbench.streaming.token_batches import TokenBatches
from synthbench.streaming.token_streams import start_of, tokens
from synthbench.tasks.base import Task, TextTask
from synthbench.tasks.mixture import Mixture
from synthbench.tasks.registry import as_task
from synthbench.text.lines import short


class TorchBatch(dict[str, Any]):
    """A batch as a dict of NumPy arrays, first axis `batch_size`."""


class TorchRow(dict[str, Any]):
    """A row as a dict of NumPy arrays, numbers and text."""


def _refuse_to_join(batches: Sequence[TorchBatch], **_: Any) -> None:
    raise UsageError(
        f"DataLoader with batch_size={len(batches)} would join whole batches of TorchStream. Write "
        "DataLoader(TorchStream(..., batch_size=N), batch_size=None), where N is the rows of a "
        "batch, or have the DataLoader join single rows: "
        "DataLoader(TorchStream(..., batch_size=None), batch_size=N)."
    )


def _join(rows: Sequence[Any], **_: Any) -> Any:
    """Rows as a batch, in the same form as a batch of the stream."""
    first = rows[0]
    if isinstance(first, dict):
        return {name: _join([row[name] for row in rows]) for name in first}
    if isinstance(first, str) or first.dtype == object or len({row.shape for row in rows}) > 1:
        joined = np.empty(len(rows), object)
        for index, row in enumerate(rows):
            joined[index] = row
        return joined
    return default_convert(np.stack(rows))  # type: ignore[no-untyped-call]


# A DataLoader joins a dataset's items with these functions, unless its batch_size is None. PyTorch
# documents this table, at `default_collate`, as the way to join items of a type of one's own.
default_collate_fn_map[TorchBatch] = _refuse_to_join
default_collate_fn_map[TorchRow] = _join


#: How many single rows are shown in one step.
_ROWS_AHEAD = 1_024


class TorchStream(torch.utils.data.IterableDataset[dict[str, Any]]):
    """`synthbench.tokens` for a `DataLoader`, whose workers share the work.

    Either the stream makes the batches, which is faster, or the `DataLoader` does:

        DataLoader(TorchStream("listops", batch_size=32), batch_size=None)
        DataLoader(TorchStream("listops", batch_size=None), batch_size=32)

    Both give the arguments of a Hugging Face model, `model(**batch)`, as int64 tensors. A
    `DataLoader` that would join whole batches raises UsageError. Batches of several tasks also
    have `task`, the index of each row's task.

    Rows of tasks that are not texts come by column, as in `synthbench.stream`: as tensors whose
    first axis is the batch, or as NumPy arrays if a column is text or has lists of different
    lengths. A structured column (`quadrants` of `composites`) is a dict of its fields, because
    PyTorch lacks structured tensors.

    Processes that train together share the rows: rank `r` of `n` reads the rows of
    `tokens(..., rank=r, world_size=n)`. The workers of a rank's `DataLoader` share the rows of
    that rank, round by round. Together, all workers of all ranks read each row of `tokens` once.
    Accelerate and the `Trainer` of Hugging Face share rows themselves. They get the whole stream,
    as single rows (`batch_size=None`).

    Args:
        task: a task, the name of a task, or several tasks, as in `synthbench.tokens`.
        split: as in `synthbench.tokens`, like the arguments below.
        form: one of the task's `forms`. Default: the first.
        batch_size: rows of a batch; None gives single rows.
        seed: of the draws.
        tokenizer: a tokenizer of Transformers.
        start: True for a start symbol before each row. Or a whole number: the first batch, or the
            first row without `batch_size`. Workers leave out earlier rows.
        rank: the rank of this process. Default: that of `torch.distributed` if it is initialised,
            else `RANK` of the environment, else 0.
        world_size: number of ranks. Default: likewise, with `WORLD_SIZE`.

    Raises:
        UsageError: a name that does not exist, a number that is not allowed, or a form that the
            task does not have.
        ParameterError: the split is empty.

    Example:
        >>> from synthbench.torch_stream import TorchStream
        >>> from torch.utils.data import DataLoader
        >>> loader = DataLoader(TorchStream("listops", batch_size=8), batch_size=None)
        >>> {name: tuple(column.shape) for name, column in next(iter(loader)).items()}
        {'input_ids': (8, 50), 'attention_mask': (8, 50), 'labels': (8,)}
        >>> loader = DataLoader(TorchStream("identity", batch_size=None), batch_size=8)
        >>> next(iter(loader))["x"].shape
        torch.Size([8, 5])
    """

    def __init__(
        self,
        task: str | Task | Sequence[str | Task] | Mapping[str | Task, int],
        *,
        split: str = "train",
        form: str | None = None,
        batch_size: int | None = 512,
        seed: int | None = None,
        tokenizer: Any | None = None,
        start: int | bool = 0,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        super().__init__()
        first, symbol = start_of(start)
        if batch_size is not None:
            batch_size = check_whole_number("Batch size", batch_size, least=1)
        tasks = Mixture.of(task).map(as_task)
        options: dict[str, Any] = {"split": split, "seed": seed, "batch_size": batch_size or 1}
        is_text = any(isinstance(part, TextTask) for part in tasks.parts)
        self._batches: Batches[dict[str, Any]]
        if is_text or symbol or form is not None or tokenizer is not None:
            self._batches = tokens(task, form=form, tokenizer=tokenizer, start=symbol, **options)
        else:
            self._batches = stream(task, **options)  # type: ignore[arg-type]
        if (rank is None) != (world_size is None):
            raise UsageError(f"rank={rank} and world_size={world_size}: give both or neither.")
        self._ranks = None if rank is None else check_share(rank, world_size)  # type: ignore[arg-type]
        self._batch_size = batch_size
        self._start = first * (batch_size or 1)  # the number of a row
        self._next: int | None = None  # of the rows of this process; None: before the first
        self._loaded: dict[str, Any] | None = None
        # Shared memory: a worker sets it, and the main process reads it.
        self._is_in_workers = _shared(torch.zeros((), dtype=torch.bool))

    @property
    def _rows(self) -> StreamRows:
        return self._batches.stream

    def set_epoch(self, epoch: int) -> None:
        """Note that accelerate shares the rows: its loaders call this before they read.

        Args:
            epoch: not used, as the stream is endless.

        Raises:
            UsageError: the stream makes whole batches, or was given ranks of its own.
        """
        if accelerate_processes() == 1:
            return
        if self._batch_size is not None:
            raise UsageError(
                f"TorchStream(batch_size={self._batch_size}): accelerate shares single rows among "
                "its processes. Write DataLoader(TorchStream(..., batch_size=None), batch_size=N)."
            )
        if self._ranks not in (None, (0, 1)):
            raise UsageError(
                "TorchStream(rank=..., world_size=...): accelerate shares the rows itself. Leave "
                "out both."
            )
        self._ranks = 0, 1

    def __getstate__(self) -> dict[str, Any]:
        # A worker that is spawned sees neither `torch.distributed` nor accelerate.
        ranks = self._ranks or (ranks_here() if distributed_ranks() else None)
        return {**self.__dict__, "_ranks": ranks}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _shared(self._is_in_workers)  # a copy has memory of its own

    def state_dict(self) -> dict[str, Any]:
        """The number of the next row of this process, and everything that the rows depend on.

        Returns:
            `{"next": number, "of": {...}, "reader": {...}}`, JSON values. Each worker of each rank
            numbers its rows by itself.

        Raises:
            UsageError: workers of a `DataLoader` read the stream, and this is another process.
        """
        reader = self._reader()
        if not reader["workers"] and self._is_in_workers:
            raise UsageError(
                "Workers of a DataLoader read this TorchStream, so that their positions are not "
                "known here. Use StatefulDataLoader of torchdata, and save its state_dict()."
            )
        number = self._own(self._start, reader) if self._next is None else self._next
        if self._loaded is not None:
            number = self._loaded["next"]
        return {"next": number, "of": self._rows.to_dict(), "reader": reader}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where `state_dict` was called.

        Args:
            state: what `state_dict` returned, in a stream of the same rows, in the same rank and
                worker.

        Raises:
            UsageError: `state` is not such a state, is of a stream of other rows, or of another
                rank, worker, or number of them.
        """
        if not isinstance(state, Mapping) or set(state) != {"next", "of", "reader"}:
            raise UsageError(f"State {short(state)}: expected what state_dict returns.")
        check_whole_number("State 'next'", state["next"], least=0)
        _check_same("stream: use the same arguments", state["of"], self._rows.to_dict())
        _check_same(_OTHER_READER, state["reader"], self._reader())
        self._loaded = dict(state)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The batches or rows of this process: its share of them."""
        reader, first = self._reader(), None
        self._is_in_workers.fill_(reader["workers"] > 0)
        if self._loaded is not None:
            _check_same(_OTHER_READER, self._loaded["reader"], reader)
            first = self._loaded["next"]
            # A loaded state holds for one iterator. Later iterators begin at `start` again.
            self._loaded = None
        self._next = self._own(self._start, reader) if first is None else first
        return self._read(reader, self._next)

    def _read(self, reader: Mapping[str, int], first: int) -> Iterator[dict[str, Any]]:
        wide = isinstance(self._batches, TokenBatches)
        while True:
            count = self._batch_size or _ROWS_AHEAD
            batch = self._batches.take(self._numbers(first, count, reader))
            columns = {
                name: column.astype(np.int64) if wide else _fields(column)
                for name, column in batch.items()
            }
            if self._batch_size is None:
                for index in range(count):
                    self._next = first + index + 1
                    yield TorchRow(_row(columns, index))
            else:
                self._next = first + count
                yield TorchBatch(columns)
            first += count

    def _reader(self) -> dict[str, int]:
        """The rank and the worker of a `DataLoader` that read here, and their numbers."""
        rank, world_size = self._ranks or ranks_here()
        worker = torch.utils.data.get_worker_info()
        number, workers = (worker.id, worker.num_workers) if worker else (0, 0)
        return {"rank": rank, "world_size": world_size, "worker": number, "workers": workers}

    def _own(self, row: int, reader: Mapping[str, int]) -> int:
        """The number, among a worker's own rows, of the rank's row `row` or the next after it."""
        workers, unit = max(reader["workers"], 1), self._unit(reader)
        number, index = divmod(row, unit)
        ahead = (reader["worker"] - number) % workers
        return (number + ahead) // workers * unit + (0 if ahead else index)

    def _numbers(self, first: int, count: int, reader: Mapping[str, int]) -> NDArray[np.int64]:
        """The stream's numbers of `count` of a worker's own rows, from row `first` on."""
        workers, unit = max(reader["workers"], 1), self._unit(reader)
        check_row((first + count + unit) * workers * reader["world_size"])
        units, index = np.divmod(first + np.arange(count), unit)
        rows = (units * workers + reader["worker"]) * unit + index
        return rows * reader["world_size"] + reader["rank"]

    def _unit(self, reader: Mapping[str, int]) -> int:
        """The number of a rank's rows that its workers take in turns: whole rounds."""
        return math.lcm(self._rows.unit, reader["world_size"]) // reader["world_size"]


def _shared(flag: torch.Tensor) -> torch.Tensor:
    return flag.share_memory_()  # type: ignore[no-untyped-call, no-any-return]


#: The error for a state that was saved elsewhere.
_OTHER_READER = (
    "reader: load it in the rank where it was saved, with as many ranks and workers; "
    "StatefulDataLoader of torchdata saves and loads the states of workers"
)


def _check_same(what: str, there: Any, here: Mapping[str, Any]) -> None:
    """Raise a UsageError that lists the differences of a state."""
    known = there if isinstance(there, Mapping) else {}
    differ = [
        f"{name} {short(known.get(name))} there, {short(value)} here"
        for name, value in here.items()
        if known.get(name) != value
    ]
    if differ:
        raise UsageError(f"The state ({'; '.join(differ)}) is of another {what}.")


def _fields(column: NDArray[Any]) -> Any:
    """A structured array as a dict of plain arrays. Any other array as it is."""
    if column.dtype.names is None:
        return column
    # Contiguous, because PyTorch refuses strides that are not multiples of the item size.
    return {name: _fields(np.ascontiguousarray(column[name])) for name in column.dtype.names}


def _row(columns: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {
        name: _row(column, index) if isinstance(column, dict) else column[index]
        for name, column in columns.items()
    }
