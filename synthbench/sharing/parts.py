"""The parts of an export: splits of a dataset's variants, or of several datasets in turns."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.manifest import SplitRecord
from synthbench.errors import UsageError
from synthbench.llm.conversations import Conversation
from synthbench.llm.prompts import AskedRows
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.mixture import Mixture

#: Rows in memory at a time.
BATCH_ROWS = 4_096


@dataclasses.dataclass(frozen=True)
class PromptOptions:
    """Options for prompts in a format, as in `synthbench.llm.prompts`.

    Attributes:
        shots: worked examples before each question; None for the format's default.
        system: a system message.
        limit: the most rows of each split; None for all.
        offset: rows of each split that are left out before the first.
        model: the model that requests name.
        request: further fields of every request, such as `max_tokens`.
        solutions: whether answers come with the steps that lead to them.
    """

    shots: int | None = None
    system: str | None = None
    limit: int | None = None
    offset: int = 0
    model: str | None = None
    request: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    solutions: bool = False


_DEFAULTS = PromptOptions()


@dataclasses.dataclass(frozen=True)
class ExportRow:
    """A row on its way out.

    Attributes:
        task: its task.
        split: its split.
        bucket: its bucket.
        values: its columns as plain Python values.
        conversation: how it is asked.
        is_mixed: whether rows of other tasks are in the same file.
    """

    task: Task
    split: str
    bucket: int
    values: dict[str, Any]
    conversation: Conversation
    is_mixed: bool = False

    @property
    def prompt(self) -> list[dict[str, Any]]:
        """The messages that ask it."""
        return self.conversation.messages(self.values)

    @property
    def answer(self) -> str:
        """Its right answer as text."""
        return self.task.answer.format_answer(self.values[LABEL])


@dataclasses.dataclass(frozen=True)
class ExportPart:
    """One split of one variant.

    Attributes:
        dataset: the dataset.
        task: the task that made the variant.
        split: the split's name.
        prompts: how rows are asked.
        advance: called after each batch with its number of rows.
    """

    dataset: DatasetDirectory
    task: Task
    split: str
    prompts: PromptOptions = _DEFAULTS
    advance: Callable[[int], object] = lambda rows: None

    def counted(self, advance: Callable[[int], object]) -> ExportPart:
        """The same part, which reports how many rows are done."""
        return dataclasses.replace(self, advance=advance)

    @property
    def path(self) -> PurePosixPath:
        """The place of its rows, without an ending: `forward/test`."""
        return PurePosixPath(self.task.variant, self.split)

    @property
    def parts(self) -> tuple[ExportPart, ...]:
        """Itself, as `MixedPart` has its parts."""
        return (self,)

    @property
    def _asked(self) -> AskedRows:
        limit, offset = self.prompts.limit, self.prompts.offset
        return AskedRows(self.task, self.split, limit, offset, self.dataset, plan=None)

    @property
    def record(self) -> SplitRecord:
        """The manifest's record of the split."""
        return self.dataset.split(self.task.variant, self.split)

    @property
    def size(self) -> int:
        """Number of exported rows."""
        return self._asked.count

    def conversation(self) -> Conversation:
        """The conversation in which the rows are asked.

        Raises:
            UsageError: worked examples for images or for rows of train, or more than there are.
        """
        options = self.prompts
        return self._asked.conversation(options.shots or 0, options.system, options.solutions)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in order, a few thousand at a time. Raises as `DatasetDirectory.batches`."""
        first, end, number = self.prompts.offset, self.prompts.offset + self.size, 0
        for batch in self.dataset.batches(self.task.variant, self.split, columns, BATCH_ROWS):
            start, stop = max(first - number, 0), min(end - number, len(batch))
            number += len(batch)
            if start < stop:
                yield batch.slice(start, stop - start)
                self.advance(stop - start)
            if number >= end:
                return

    def rows(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows in order, as plain Python values. Raises as `batches`."""
        for batch in self.batches(columns):
            yield from batch.to_pylist()

    def export_rows(self) -> Iterator[ExportRow]:
        """The rows in order, with their buckets. Raises as `batches`."""
        conversation = self.conversation()
        for batch in self.batches():
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            buckets = np.asarray(self.task.buckets(columns)).tolist()
            for bucket, values in zip(buckets, batch.to_pylist(), strict=True):
                yield ExportRow(self.task, self.split, bucket, values, conversation)


@dataclasses.dataclass(frozen=True)
class MixedPart:
    """One split of several datasets, which take turns.

    Attributes:
        mixture: the split in each dataset, whole.
        prompts: how rows of the mixture are asked.
    """

    mixture: Mixture[ExportPart]
    prompts: PromptOptions

    @classmethod
    def of(cls, mixture: Mixture[ExportPart], prompts: PromptOptions) -> MixedPart:
        """The split as it is asked. A UsageError if it lacks rows for the weights."""
        unlimited = dataclasses.replace(prompts, limit=None, offset=0)
        parts = mixture.map(lambda part: dataclasses.replace(part, prompts=unlimited))
        mixed = cls(parts, prompts)
        if mixed.size <= 0:
            rows = " and ".join(f"{part.size:,}" for part in mixture.parts)
            behind = f" behind the offset {prompts.offset:,}" if prompts.offset else ""
            raise UsageError(
                f"Split {mixture.parts[0].split}: {rows} rows are too few for the weights "
                f"{', '.join(map(str, mixture.weights))}{behind}."
            )
        return mixed

    def counted(self, advance: Callable[[int], object]) -> MixedPart:
        """The same part, which reports how many rows are done."""
        parts = self.mixture.map(lambda part: part.counted(advance))
        return dataclasses.replace(self, mixture=parts)

    @property
    def path(self) -> PurePosixPath:
        """The place of its rows, without an ending: `mixture/test`."""
        return PurePosixPath("mixture", self.mixture.parts[0].split)

    @property
    def parts(self) -> tuple[ExportPart, ...]:
        """The split in each dataset."""
        return self.mixture.parts

    @property
    def size(self) -> int:
        """Number of its rows. Without a limit as many as give the weights exactly."""
        whole = self.mixture.whole_rows([part.size for part in self.parts])
        left = whole - self.prompts.offset
        return left if self.prompts.limit is None else min(self.prompts.limit, left)

    def conversation(self) -> None:
        """Raise a UsageError if a part cannot be asked so."""
        for part in self.parts:
            part.conversation()

    def export_rows(self) -> Iterator[ExportRow]:
        """The rows in turn, with their buckets. Raises as `ExportPart.batches`."""
        rows = self.mixture.interleave([part.export_rows() for part in self.parts])
        for row in itertools.islice(rows, self.prompts.offset, self.prompts.offset + self.size):
            yield dataclasses.replace(row, is_mixed=True)
