"""The interface of forms."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
from torch import Tensor
from torch.nn import functional

from synthbench.training.forms.rows import Batch, Rows

if TYPE_CHECKING:
    from synthbench.training.models.output import Output


class Form(abc.ABC):
    """A form turns a task's rows into tensors, and a model's scores into answers.

    Attributes:
        reads: the input that a model must read: `tokens`, `images`, `grids`, `vectors` or `points`.
        metric: the task's metric that the best checkpoint is chosen by.
        larger_is_better: whether a larger metric is better.
        chooses: whether scores are of classes or tokens to choose from.
        causal: whether no place of a model may see what follows it.
    """

    reads: ClassVar[str]
    metric: str
    larger_is_better: ClassVar[bool] = True
    chooses: ClassVar[bool] = False
    causal: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def columns(self) -> list[str]:
        """The columns that `encode` needs."""

    @abc.abstractmethod
    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Rows as tensors, from their columns by name. Any other column is ignored.

        Raises:
            ValueError: a row that is not one of the task's.
        """

    def encode_table(self, table: pa.Table) -> Rows:
        """`encode` for a table."""
        (batch,) = table.select(self.columns).combine_chunks().to_batches()
        return self.encode(batch)

    def sizes(self, rows: Rows) -> dict[str, int]:
        """The sizes that a model is built for, by the name of its argument."""
        return {}

    @abc.abstractmethod
    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean loss of a batch, a scalar; `smoothing` is the share spread over all classes."""

    @abc.abstractmethod
    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The metric of each row, float `(rows,)`, as the task's `measure` would give it."""

    def learned(self, metric: float, targets: Tensor | None) -> float:
        """The share of `targets` that a mean `metric` says is learned; 1 is all."""
        return metric

    @abc.abstractmethod
    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The model's answer to each row, as `evaluate` reads it."""

    def predict(self, run: Callable[[Batch], Output], batch: Batch) -> list[Any]:
        """The answers of the model `run` to the rows of a batch. By default from its scores."""
        return self.answers(run(batch).scores, batch)


class Classes(Form):
    """One of several classes: scores `(rows, classes)`, cross-entropy.

    Labels are smoothed as by Szegedy et al. (2016).
    """

    metric = "accuracy"
    chooses = True

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """Cross-entropy."""
        return functional.cross_entropy(scores.float(), batch.targets, label_smoothing=smoothing)

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """1 if the right class has the highest score."""
        return (scores.argmax(dim=-1) == batch.targets).float()

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The class with the highest score."""
        answers: list[Any] = scores.argmax(dim=-1).tolist()
        return answers
