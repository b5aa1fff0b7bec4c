"""Batches of tokens from several tasks, which take turns row by row."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from synthbench.checks import check_whole_number
from synthbench.streaming.token_batches import TokenBatches, placed
from synthbench.tasks.form import END, MASK, NOT_ASKED, SEPARATOR
from synthbench.tasks.mixture import Mixture

#: What fills a row up to the width of its batch.
_FILLS = {"input_ids": 0, "attention_mask": 0, "labels": NOT_ASKED, "position_ids": 0}


class MixedTokenBatches(Iterator[dict[str, Any]]):
    """Batches of `tokens` from several tasks; as `TokenBatches`, with `task` in every batch.

    Ids are 0 for padding, then the tokens of all tasks, each token once, and last the special
    tokens; so are the numbers in `labels`. With a tokenizer, all tasks have its ids.

    Attributes:
        start: number of the next batch.
        tasks: the tasks, as `synthbench.tasks.spec.task_of` reads them, by their numbers in
            `task`.
        form: the form's name.
        input_tokens: the token of each id of `input_ids`.
        output_tokens: the class or token of each number in `labels`.
    """

    def __init__(
        self,
        parts: Mixture[TokenBatches],
        tasks: Sequence[str],
        batch_size: int,
        start: int,
        device: str | None,
    ) -> None:
        self._batch_size = check_whole_number("Batch size", batch_size, least=1)
        self.start = check_whole_number("Start", start, least=0)
        self.tasks = tuple(tasks)
        self._parts, self._device = parts, device
        self._lock = threading.Lock()
        self.form = parts.parts[0].form
        self.input_tokens = _union([one.input_tokens for one in parts.parts])
        self.output_tokens = _union([one.output_tokens for one in parts.parts])
        self._inputs = [_renumbering(one.input_tokens, self.input_tokens) for one in parts.parts]
        self._outputs = [_renumbering(one.output_tokens, self.output_tokens) for one in parts.parts]

    def __reduce__(self) -> tuple[Any, ...]:
        made = (self._parts, self.tasks, self._batch_size, self.start, self._device)
        return type(self), made

    @property
    def vocabulary_size(self) -> int:
        """The number of ids that `input_ids` can have, padding included."""
        return len(self.input_tokens)

    @property
    def outputs(self) -> int:
        """The number of classes or tokens that a model scores."""
        return len(self.output_tokens)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        with self._lock:
            batch = self._batch(self.start)
            self.start += 1
        return batch

    def __getitem__(self, number: int) -> dict[str, Any]:
        number = check_whole_number("Batch number", number, least=0)
        with self._lock:
            return self._batch(number)

    def _batch(self, number: int) -> dict[str, Any]:
        first = number * self._batch_size
        turns = [self._parts.place(row)[0] for row in range(first, first + self._batch_size)]
        task = np.array(turns, np.int32)
        before, after = (self._parts.counts(row) for row in (first, first + self._batch_size))
        batches = {
            part: self._renumbered(part, one.rows(before[part], after[part] - before[part]))
            for part, one in enumerate(self._parts.parts)
            if after[part] > before[part]
        }
        batch = {"task": task}
        for name in self._shapes:
            arrays = {
                part: one[name] if name in one else _places(one) for part, one in batches.items()
            }
            batch[name] = self._joined(name, arrays, task)
        return placed(batch, self._device)

    @functools.cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays of a batch, and the shape of a row in the widest task.

        They come from the first row of each task, so that batches without rows of a task have them,
        too. For tasks without `position_ids` places are counted, if another task has them.
        """
        rows = [one.rows(0, 1) for one in self._parts.parts]
        names = [name for name in _FILLS if any(name in one for one in rows)]
        return {name: max(one[name].shape[1:] for one in rows if name in one) for name in names}

    def _renumbered(self, part: int, batch: dict[str, Any]) -> dict[str, NDArray[np.int32]]:
        """A batch of one task, in the numbers of all."""
        asked = batch["labels"] != NOT_ASKED
        numbers = self._outputs[part].take(np.where(asked, batch["labels"], 0))
        labels = np.where(asked, numbers, NOT_ASKED)
        inputs = self._inputs[part].take(batch["input_ids"])
        return {**batch, "input_ids": inputs, "labels": labels.astype(np.int32)}

    def _joined(
        self, name: str, arrays: dict[int, NDArray[np.int32]], task: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """The rows of all tasks in their turns, filled up to the width of the widest."""
        # Rows of other packages' tasks may be wider in another batch.
        width = max(self._shapes[name], *(one.shape[1:] for one in arrays.values()))
        fill = self._padding if name == "input_ids" else _FILLS[name]
        joined = np.full((len(task), *width), fill, np.int32)
        for part, array in arrays.items():
            mine = np.flatnonzero(task == part)
            if array.ndim == 1:
                joined[mine] = array
            else:
                joined[mine, : array.shape[1]] = array
        return joined

    @property
    def _padding(self) -> int:
        """The id of padding: 0, or what the tokenizer has."""
        return int(self._inputs[0][self._parts.parts[0].padding])

    def close(self) -> None:
        """End the worker processes; the next batch starts them again."""
        for part in self._parts.parts:
            part.close()


def _places(batch: dict[str, Any]) -> NDArray[np.int32]:
    """The positions 0, 1, 2 and so on of the tokens of each row."""
    mask = batch["attention_mask"]
    places: NDArray[np.int32] = np.arange(mask.shape[1], dtype=np.int32) * mask
    return places


def _union(names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All names, each once: those of the tasks in their order, and special ones last."""
    if all(one == names[0] for one in names):
        return names[0]
    every = dict.fromkeys(name for one in names for name in one)
    special = [name for name in every if name in (MASK, SEPARATOR, END)]
    return (*(name for name in every if name not in special), *special)


def _renumbering(names: Sequence[str], union: tuple[str, ...]) -> NDArray[np.int32]:
    """The number of each name among all names, int32 `(names,)`."""
    places = {name: place for place, name in enumerate(union)}
    if names == union:
        return np.arange(len(union), dtype=np.int32)
    return np.array([places[name] for name in names], np.int32)
