"""`tokens` for PyTorch's `DataLoader`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch.utils.data
from numpy.typing import NDArray
from torch.utils.data import default_convert
from torch.utils.data._utils.collate import default_collate_fn_map

from synthbench.checks import check_whole_number
from synthbench.engine.engine import Engine
from synthbench.errors import UsageError
from synthbench.streaming.batches import View
from synthbench.streaming.columns import Columns
from synthbench.streaming.rounds import RoundReader, Rounds
from synthbench.streaming.token_batches import FormView, chosen_form
from synthbench.tasks.base import Block, Task, TextTask
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


class _Tokens(FormView):
    """Shows rows in a form, in the integers that models of PyTorch expect."""

    def batch(self, block: Block) -> dict[str, Any]:
        """A batch of int64."""
        return {name: one.astype(np.int64) for name, one in super().batch(block).items()}


#: How many single rows are shown in one step.
_ROWS_AHEAD = 1_024


class TorchStream(torch.utils.data.IterableDataset[dict[str, Any]]):
    """`synthbench.tokens` for a `DataLoader`, whose workers share the work.

    Either the stream makes the batches, which is faster, or the `DataLoader` does:

        DataLoader(TorchStream("listops", batch_size=32), batch_size=None)
        DataLoader(TorchStream("listops", batch_size=None), batch_size=32)

    Both give the arguments of a Hugging Face model, `model(**batch)`, as int64 tensors. A
    `DataLoader` that would join whole batches raises UsageError.

    Rows of tasks that are not texts come by column, as in `synthbench.stream`: as tensors whose
    first axis is the batch, or as NumPy arrays if a column is text or has lists of different
    lengths. A structured column (`quadrants` of `composites`) is a dict of its fields, because
    PyTorch has no structured tensors.

    Worker `w` of `n` makes the rounds `w`, `w + n`, ... and cuts them into batches: together the
    workers give exactly the rows of `synthbench.tokens`, each once. Their order depends on the
    number of workers alone; without workers it is that of `synthbench.tokens`.

    `state_dict` says which row comes next. After `load_state_dict`, reading continues there without
    making earlier rounds, also with another batch size. torchdata's `StatefulDataLoader` calls both
    in every worker; it must have the same number of workers when it resumes.

    Args:
        task: a task, or the name of one with its defaults.
        split: as in `synthbench.tokens`, like the arguments below.
        form: one of the task's `forms`; default: the first.
        batch_size: rows of a batch; None gives single rows.
        seed: of the draws.
        tokenizer: a tokenizer of Transformers.
        start: number of the first batch, or of the first row without `batch_size`; workers leave
            out earlier rows.

    Raises:
        UsageError: a name that does not exist, a number that is not allowed, or a form that the
            task does not have.
        ParameterError: the split has no rows.

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
        task: str | Task,
        *,
        split: str = "train",
        form: str | None = None,
        batch_size: int | None = 512,
        seed: int | None = None,
        tokenizer: Any | None = None,
        start: int = 0,
    ) -> None:
        super().__init__()
        start = check_whole_number("Start", start, least=0)
        if batch_size is not None:
            batch_size = check_whole_number("Batch size", batch_size, least=1)
        made = as_task(task)
        self._view: View
        if isinstance(made, TextTask) or form is not None or tokenizer is not None:
            self._view = _Tokens(chosen_form(made, form, tokenizer), None)
        else:
            self._view = Columns(made)
        self._rounds = Rounds(made, split, seed)
        self._batch_size = batch_size
        self._start = start * (batch_size or 1)  # the number of a row
        self._next: int | None = None  # of the rows of this process; None: before the first
        self._loaded: int | None = None

    def state_dict(self) -> dict[str, Any]:
        """The number of the next row of this process, and everything that the rows depend on.

        Returns:
            `{"next": number, "of": {...}}`, JSON values. Without workers, rows are numbered as in
            `synthbench.tokens`; the rows of a worker are numbered by themselves.
        """
        number = self._own(self._start, *_turn()) if self._next is None else self._next
        return {"next": number, "of": self._rounds.to_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where `state_dict` was called.

        Args:
            state: what `state_dict` returned, in a stream of the same rows.

        Raises:
            UsageError: `state` is not such a state, or is of a stream of other rows.
        """
        if not isinstance(state, Mapping) or set(state) != {"next", "of"}:
            raise UsageError(f"State {short(state)}: expected what state_dict returns.")
        check_whole_number("State 'next'", state["next"], least=0)
        mine = self._rounds.to_dict()
        if state["of"] != mine:
            of = state["of"] if isinstance(state["of"], Mapping) else {}
            differ = "; ".join(
                f"{name} {short(of.get(name))} there, {short(value)} here"
                for name, value in mine.items()
                if of.get(name) != value
            )
            raise UsageError(f"The state is of another stream ({differ}): use the same arguments.")
        self._next = self._loaded = state["next"]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The batches or rows of this process: all of them, or a worker's share."""
        turn, turns = _turn()
        first = self._own(self._start, turn, turns) if self._loaded is None else self._loaded
        # A loaded state holds for one iterator; later ones begin at `start` again.
        self._loaded = None
        reader = RoundReader(self._rounds.rows, Engine(None, 1), self._view.round)
        while True:
            count = self._batch_size or _ROWS_AHEAD
            parts = [
                reader(turn + turns * number).take(rows)
                for number, rows in self._rounds.slices(first, count)
            ]
            batch = self._view.batch(Block.concatenate(parts))
            columns = {name: _fields(column) for name, column in batch.items()}
            if self._batch_size is None:
                for index in range(count):
                    self._next = first + index + 1
                    yield TorchRow(_row(columns, index))
            else:
                self._next = first + count
                yield TorchBatch(columns)
            first += count

    def _own(self, row: int, turn: int, turns: int) -> int:
        """The number of the first row of a worker that is row number `row` or a later one."""
        number, index = divmod(row, self._rounds.size)
        ahead = (turn - number) % turns
        return (number + ahead) // turns * self._rounds.size + (0 if ahead else index)


def _turn() -> tuple[int, int]:
    """The number of this worker of a `DataLoader`, and how many there are."""
    worker = torch.utils.data.get_worker_info()
    return (worker.id, worker.num_workers) if worker else (0, 1)


def _fields(column: NDArray[Any]) -> Any:
    """A structured array as a dict of plain arrays; any other array as it is."""
    if column.dtype.names is None:
        return column
    # Contiguous, because PyTorch refuses strides that are not multiples of the item size.
    return {name: _fields(np.ascontiguousarray(column[name])) for name in column.dtype.names}


def _row(columns: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {
        name: _row(column, index) if isinstance(column, dict) else column[index]
        for name, column in columns.items()
    }
