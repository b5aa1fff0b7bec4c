"""`stream` for PyTorch's `DataLoader`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch.utils.data
from numpy.typing import NDArray
from torch.utils.data import default_convert
from torch.utils.data._utils.collate import default_collate_fn_map

from synthbench.errors import UsageError, check_whole_number
from synthbench.sampling.blocks import Rows
from synthbench.streaming.rounds import Rounds
from synthbench.tasks.base import LABEL, Task, TextTask
from synthbench.tasks.registry import list_tasks, make_task, task_class
from synthbench.text.lines import short


class TorchBatch(dict[str, Any]):
    """A batch as a dict of NumPy arrays by column, first axis `batch_size`."""


class TorchRow(dict[str, Any]):
    """A row as a dict of NumPy arrays, numbers and text by column."""


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
        for place, row in enumerate(rows):
            joined[place] = row
        return joined
    return default_convert(np.stack(rows))  # type: ignore[no-untyped-call]


# A DataLoader joins a dataset's items with these functions, unless its batch_size is None. PyTorch
# documents this table, at `default_collate`, as the way to join items of a type of one's own.
default_collate_fn_map[TorchBatch] = _refuse_to_join
default_collate_fn_map[TorchRow] = _join


class TorchStream(torch.utils.data.IterableDataset[dict[str, Any]]):
    """Endless fresh rows for a `DataLoader`, whose workers share the work.

    Either the stream makes the batches, which is faster, or the `DataLoader` does:

        DataLoader(TorchStream("listops", batch_size=32), batch_size=None)
        DataLoader(TorchStream("listops", batch_size=None), batch_size=32)

    Both give batches of the same form, a dict by column. Its values are tensors whose first axis is
    the batch, or NumPy arrays if a column is text or has lists of different lengths. A structured
    column (`quadrants` of `composites`) is a dict of its fields, because PyTorch has no structured
    tensors. A `DataLoader` that would join whole batches raises UsageError.

    With `encode=True`, a batch of a text task has the arguments of a Hugging Face model,
    `model(**batch)`, all int64:

        input_ids       (batch, width)  ids of tokens from 1, padded on the right with 0
        attention_mask  (batch, width)  1 for tokens, 0 for padding
        labels          (batch,)        the class, or the number that is the answer

    `width` is the same in all batches: the longest text that the split can have. So any
    `collate_fn` can join rows, and `torch.compile` compiles once. `TextTask.vocabulary` has the
    tokens of the ids and, as `size`, the model's `vocab_size`.

    Worker `w` of `n` makes the rounds `w`, `w + n`, ...: together the workers give exactly the
    rows of `stream`, each once. With workers the order differs from `stream`'s, but it is the same
    in every run with the same number of workers.

    `state_dict` says which batch or row comes next. After `load_state_dict`, reading continues
    there without making earlier rounds. torchdata's `StatefulDataLoader` calls both in every
    worker; it must have the same number of workers when it resumes.

    Args:
        task: name of the task.
        split: as in `synthbench.stream`, like the arguments below.
        variant: one of the task's variants.
        seed: whole number from 0.
        parameters: parameters that differ from the defaults.
        batch_size: rows of a batch; None gives single rows.
        start: number of the first batch, or of the first row without `batch_size`; workers leave
            out earlier ones.
        encode: give `input_ids`, `attention_mask` and `labels` instead of the columns.

    Raises:
        UsageError: a name that does not exist, a number that is not allowed, or `encode` for a
            task whose rows are not text.
        ParameterError: impossible parameters.

    Example:
        >>> from synthbench.streaming.torch import TorchStream
        >>> from torch.utils.data import DataLoader
        >>> loader = DataLoader(TorchStream("identity", batch_size=8), batch_size=None)
        >>> next(iter(loader))["x"].shape
        torch.Size([8, 5])
        >>> rows = TorchStream("listops", batch_size=None, encode=True)
        >>> batch = next(iter(DataLoader(rows, batch_size=8)))
        >>> {name: tuple(column.shape) for name, column in batch.items()}
        {'input_ids': (8, 50), 'attention_mask': (8, 50), 'labels': (8,)}
    """

    def __init__(
        self,
        task: str,
        *,
        split: str = "train",
        variant: str | None = None,
        seed: int = 0,
        parameters: Mapping[str, Any] | None = None,
        batch_size: int | None = 512,
        start: int = 0,
        encode: bool = False,
    ) -> None:
        super().__init__()
        check_whole_number("Start", start, least=0)
        made = make_task(task, variant, parameters, seed)
        self._encoded = _check_text(made) if encode else None
        self._batch_size = batch_size
        self._of = {
            "task": made.name,
            "variant": made.variant,
            "split": split,
            "seed": seed,
            "parameters": made.parameters.to_dict(),
            "batch_size": batch_size,
        }
        self._source = Rounds(made, split, 1 if batch_size is None else batch_size)
        self._start = start
        self._next = start
        self._loaded: int | None = None

    def state_dict(self) -> dict[str, Any]:
        """The number of the next batch or row of this process, and the stream's arguments.

        Returns:
            `{"next": number, "of": {...}}`; `of` has all that a batch depends on: task, variant,
            split, seed, parameters and batch size.
        """
        return {"next": self._next, "of": self._of}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where `state_dict` was called.

        Args:
            state: what `state_dict` returned, in a stream with the same arguments.

        Raises:
            UsageError: `state` is not such a state, or is of a stream with other arguments.
        """
        if not isinstance(state, Mapping) or set(state) != {"next", "of"}:
            raise UsageError(f"State {state!r}: expected what state_dict returns.")
        check_whole_number("State 'next'", state["next"], least=0)
        if state["of"] != self._of:
            of = state["of"] if isinstance(state["of"], Mapping) else {}
            differ = "; ".join(
                f"{name} {short(of.get(name))} there, {short(mine)} here"
                for name, mine in self._of.items()
                if of.get(name) != mine
            )
            raise UsageError(f"The state is of another stream ({differ}): use the same arguments.")
        self._next = self._loaded = state["next"]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The batches or rows of this process: all of them, or a worker's share."""
        worker = torch.utils.data.get_worker_info()
        turn, turns = (worker.id, worker.num_workers) if worker else (0, 1)
        # A loaded state holds for one iterator; later ones begin at `start` again.
        start = self._start if self._loaded is None else self._loaded
        self._loaded = None
        first, skip = divmod(start, self._source.batches)
        for number in itertools.count(first):
            if number % turns != turn:
                continue
            columns = self._columns(self._source.rows(number))
            for place in range(skip if number == first else 0, self._source.batches):
                self._next = number * self._source.batches + place + 1
                yield self._item(columns, place)

    def _columns(self, drawn: Rows) -> dict[str, Any]:
        """A round's rows by column."""
        if self._encoded is None:
            return {name: _fields(array) for name, array in self._source.arrays(drawn).items()}
        rendered, width = self._encoded.rendered(drawn.block), self._encoded.width(drawn.block)
        inputs = self._encoded.vocabulary.model_inputs(rendered["text"], width)
        return {**inputs, "labels": self._encoded.answer.targets(rendered[LABEL], width)}

    def _item(self, columns: dict[str, Any], place: int) -> dict[str, Any]:
        """A batch or row of a round."""
        if self._batch_size is None:
            return TorchRow(_take(columns, place))
        first = place * self._batch_size
        return TorchBatch(_take(columns, slice(first, first + self._batch_size)))


def _check_text(task: Task) -> TextTask:
    """The task, if it can be encoded."""
    if isinstance(task, TextTask) and task.answer.has_targets:
        return task
    text_tasks = [name for name in list_tasks() if issubclass(task_class(name), TextTask)]
    raise UsageError(
        f"encode=True: rows of {task.name!r} are not text that is answered by a class or number; "
        f"allowed are {', '.join(text_tasks)}. Without encode, {task.name!r} has the columns id, "
        f"{', '.join(task.columns)}."
    )


def _fields(column: NDArray[Any]) -> Any:
    """A structured array as a dict of plain arrays; any other array as it is."""
    if column.dtype.names is None:
        return column
    # Contiguous, because PyTorch refuses strides that are not multiples of the item size.
    return {name: _fields(np.ascontiguousarray(column[name])) for name in column.dtype.names}


def _take(column: Any, where: int | slice) -> Any:
    """Some rows of a column, or of each of the columns of a dict."""
    if isinstance(column, dict):
        return {name: _take(part, where) for name, part in column.items()}
    return column[where]
