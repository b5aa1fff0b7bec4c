"""Batches of rows as token ids, masks and labels, of one task or of several that take turns."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import needs
from synthbench.errors import UsageError
from synthbench.seeding import Draws
from synthbench.streaming.batches import Batches, RoundRows
from synthbench.streaming.converted import ConvertedRows
from synthbench.streaming.rounds import Rounds
from synthbench.streaming.tokenizer_form import TokenizerForm
from synthbench.tasks.base import Block, Split, Task
from synthbench.tasks.form import END, MASK, NOT_ASKED, SEPARATOR, START, Batch, TokenForm
from synthbench.tasks.forms import check_text, form_of
from synthbench.tasks.registry import is_own
from synthbench.tasks.returned import proposed
from synthbench.tasks.spec import task_spec

#: What fills a row up to the width of its batch; `input_ids` have padding of their own.
_FILLS = {"input_ids": 0, "attention_mask": 0, "labels": NOT_ASKED, "position_ids": 0}


class TokenView:
    """Shows rows of tasks in a form, as NumPy arrays or as tensors on a device.

    Several tasks share one vocabulary: padding, the tokens of all tasks, each once, and last the
    special tokens. Their batches have `task`, the index of each row's task.

    Args:
        forms: the form of each task.
        split: name of the split.
        device: as in `synthbench.tokens`.
    """

    def __init__(self, forms: Sequence[TokenForm], split: str, device: str | None) -> None:
        self.forms, self._split, self._device = tuple(forms), split, device

    @functools.cached_property
    def input_tokens(self) -> tuple[str, ...]:
        """The token of each id of `input_ids`."""
        return _union([form.input_tokens for form in self.forms])

    @functools.cached_property
    def output_tokens(self) -> tuple[str, ...]:
        """The class or token of each number in `labels`."""
        return _union([form.output_tokens for form in self.forms])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.forms, self._split, self._device)

    def make(self, part: int, rounds: Rounds, number: int) -> RoundRows:
        """The tokens and answers of a round."""
        form, block = self.forms[part], rounds.rows(number).block
        if form.has_one_width and is_own(form.task.name):
            return ConvertedRows(block, form.read)
        return form.read(block)  # the widest row of the round decides how wide all are

    def show(self, part: int, rows: RoundRows) -> RoundRows:
        """The round as it was made."""
        return rows

    def batch(self, parts: NDArray[np.int64], blocks: Mapping[int, Block]) -> dict[str, Any]:
        """A batch in the form."""
        batches = {part: self.forms[part].batch(block) for part, block in blocks.items()}
        if len(self.forms) == 1:
            return placed(batches[0], self._device)
        batches = {part: self._renumbered(part, batch) for part, batch in batches.items()}
        joined: Batch = {"task": parts.astype(np.int32)}
        for name in self._shapes:
            arrays = {part: _array(batch, name) for part, batch in batches.items()}
            joined[name] = self._joined(name, arrays, parts)
        return placed(joined, self._device)

    @functools.cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays of a batch, and the shape of a row in the widest task.

        Batches without rows of a task have its width, too. For tasks without `position_ids`
        positions are counted, if another task has them.
        """
        rows = [form.batch(form.read(_candidates(form.task, self._split))) for form in self.forms]
        names = [name for name in _FILLS if any(name in batch for batch in rows)]
        return {
            name: max(batch[name].shape[1:] for batch in rows if name in batch) for name in names
        }

    @functools.cached_property
    def _numbers(self) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """For each task, the shared number of each of its ids and of each of its labels."""
        return [
            (
                _numbers_of(form.input_tokens, self.input_tokens),
                _numbers_of(form.output_tokens, self.output_tokens),
            )
            for form in self.forms
        ]

    @property
    def padding(self) -> int:
        """The id that fills rows up: 0, or the tokenizer's."""
        return self.forms[0].padding

    def _renumbered(self, part: int, batch: Batch) -> Batch:
        """A batch of one task with the numbers of the shared vocabulary."""
        inputs, outputs = self._numbers[part]
        labelled = batch["labels"] != NOT_ASKED
        labels = np.where(labelled, outputs.take(np.where(labelled, batch["labels"], 0)), NOT_ASKED)
        return {
            **batch,
            "input_ids": inputs.take(batch["input_ids"]),
            "labels": labels.astype(np.int32),
        }

    def _joined(
        self, name: str, arrays: Mapping[int, NDArray[np.int32]], parts: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """The rows of all tasks in their turns, filled up to the width of the widest."""
        # Rows of other packages' tasks may be wider in another batch.
        width = max(self._shapes[name], *(array.shape[1:] for array in arrays.values()))
        fill = self.padding if name == "input_ids" else _FILLS[name]
        joined = np.full((len(parts), *width), fill, np.int32)
        for part, array in arrays.items():
            columns = (slice(array.shape[1]),) if array.ndim > 1 else ()
            joined[(np.flatnonzero(parts == part), *columns)] = array
        return joined


class TokenBatches(Batches[dict[str, Any]]):
    """Batches of `tokens`, and the sizes and names that a model for them needs."""

    _view: TokenView

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks in the order of `task`, as `synthbench.tasks.spec.task_of` reads them."""
        return tuple(map(task_spec, self.stream.tasks.parts))

    @property
    def form(self) -> str:
        """The form's name."""
        return self._view.forms[0].name

    @property
    def vocabulary_size(self) -> int:
        """The number of ids that `input_ids` can have, padding included."""
        return len(self.input_tokens)

    @property
    def padding(self) -> int:
        """The id that fills rows up."""
        return self._view.padding

    @property
    def outputs(self) -> int:
        """The number of classes or tokens that a model scores."""
        return len(self.output_tokens)

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """The token of each id: padding, the tokens of the tasks, then special tokens."""
        return self._view.input_tokens

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """The class or token of each number in `labels`."""
        return self._view.output_tokens


def chosen_form(
    task: Task, form: str | None, tokenizer: Any | None, start: bool = False
) -> TokenForm:
    """The form that is asked for. Arguments as in `tokens`.

    Raises:
        UsageError: the task or the tokenizer lacks the form.
    """
    if tokenizer is None:
        return form_of(task, form, start)
    if form not in (None, "causal-lm"):
        raise UsageError(f"Form {form!r}: with a tokenizer, allowed is 'causal-lm'.")
    return TokenizerForm(check_text(task), tokenizer, start)


def placed(batch: Batch, device: str | None) -> dict[str, Any]:
    """A batch as tensors of int64 on a device. As it is if the device is None."""
    if device is None:
        return dict(batch)
    import torch  # late, as NumPy arrays do not need it

    tensors = {name: torch.from_numpy(array.astype(np.int64)) for name, array in batch.items()}
    return {name: tensor.to(device) for name, tensor in tensors.items()}


def checked_device(device: Any) -> str | None:
    """A device of PyTorch as text, None by default.

    Raises:
        UsageError: PyTorch knows no such device.
        SynthbenchError: PyTorch is not installed.
    """
    if device is None:
        return None
    with needs("device=", "PyTorch", "train"):
        import torch
    try:
        return str(torch.empty(0, device=device).device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise UsageError(f"Device {device!r}: {str(error).splitlines()[0]}") from None


def _candidates(task: Task, name: str) -> Block:
    """A few candidates of a split, which are as wide as its rows."""
    split: Split = task.split(name)
    return proposed(task, Draws({**task.stream, "widths": name}), 64, split, split.buckets[-1])


def _array(batch: Batch, name: str) -> NDArray[np.int32]:
    """An array of a batch. Positions 0, 1, 2 and so on for tasks without any."""
    if name in batch:
        return batch[name]
    mask = batch["attention_mask"]
    positions: NDArray[np.int32] = np.arange(mask.shape[1], dtype=np.int32) * mask
    return positions


def _union(names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All names, each once: those of the tasks in their order, and special names last."""
    if all(task_names == names[0] for task_names in names):
        return names[0]
    every = dict.fromkeys(name for task_names in names for name in task_names)
    special = [name for name in every if name in (MASK, SEPARATOR, END, START)]
    return (*(name for name in every if name not in special), *special)


def _numbers_of(names: Sequence[str], union: tuple[str, ...]) -> NDArray[np.int32]:
    """The number of each name among all names, int32 `(names,)`."""
    if names == union:
        return np.arange(len(union), dtype=np.int32)
    places = {name: place for place, name in enumerate(union)}
    return np.array([places[name] for name in names], np.int32)
