"""Forms of texts: a class for each row, or tokens at the asked positions.

The ids and labels are those of `synthbench.tokens` (`synthbench.tasks.forms`). A model is a
backbone, which turns tokens into states, and the form's head, which turns states into scores.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from synthbench.tasks.base import Task
from synthbench.tasks.form import NOT_ASKED
from synthbench.tasks.forms import form_of
from synthbench.training.backbones.heads import AnswerHead, PlaceHead, RowHead
from synthbench.training.forms.form import Classes, Form
from synthbench.training.forms.rows import Batch, Rows


class TextForm(Form):
    """A form of a task of texts: the form of `synthbench.tokens` with the same name, and its loss.

    Args:
        task: the task.
        name: the form's name.
        start: whether rows begin with a start symbol.
    """

    reads = "tokens"
    chooses = True

    def __init__(self, task: Task, name: str, start: bool = False) -> None:
        self.task, self.tokens = task, form_of(task, name, start)
        self.input_tokens, self.output_tokens = self.tokens.input_tokens, self.tokens.output_tokens

    @property
    def columns(self) -> list[str]:
        """The text and the label."""
        return list(self.tokens.columns)

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Tokens from 1, padded with 0, and labels. Raises as `Form.encode`."""
        batch = self.tokens.batch(self.tokens.read_columns(columns))
        positions = batch.get("position_ids")
        labels = batch["labels"]
        if labels.ndim == 1:
            targets = torch.from_numpy(labels.astype(np.int64))
        else:
            targets = _small(labels, len(self.output_tokens), np.int16)  # -100 has a sign
        return Rows(
            _small(batch["input_ids"], len(self.input_tokens), np.uint8),
            torch.from_numpy(batch["attention_mask"].sum(axis=1, dtype=np.int64)),
            targets,
            None if positions is None else torch.from_numpy(positions),
        )

    def sizes(self, rows: Rows) -> dict[str, int]:
        """The numbers of ids that a model reads and scores, and the mask's id."""
        sizes = {"vocabulary": len(self.input_tokens), "outputs": len(self.output_tokens)}
        mask = self.tokens.mask_id
        return sizes if mask is None else {**sizes, "mask_id": mask}

    @abc.abstractmethod
    def head(self, d_model: int) -> nn.Module:
        """A head for states of this size, with fresh parameters. See `backbones.heads`."""

    def answer_head(self, d_model: int) -> nn.Module:
        """A head with parameters for the tokens of answers alone."""
        return self.head(d_model)

    @abc.abstractmethod
    def score_shape(self, rows: int, width: int) -> tuple[int, ...]:
        """The shape of the scores of a batch."""


class RowClasses(Classes, TextForm):
    """A class for each row: `sequence-classification`."""

    def head(self, d_model: int) -> nn.Module:
        """Reads the backbone's summary of a row, or the state of its last token."""
        return RowHead(d_model, len(self.output_tokens))

    def score_shape(self, rows: int, width: int) -> tuple[int, ...]:
        """`(rows, classes)`."""
        return rows, len(self.output_tokens)


class PlaceTokens(TextForm):
    """A token for each asked position: `token-classification` and `masked-lm`.

    Scores are `(rows, width, outputs)`. Only tokens that an answer can have are chosen.
    """

    def __init__(self, task: Task, name: str, start: bool = False) -> None:
        super().__init__(task, name, start)
        is_class = self.task.answer.vocabulary is None
        self.metric = "accuracy" if is_class else "position_accuracy"
        self._allowed = torch.tensor(self.tokens.answer_ids)
        blank = self.tokens.task.blank
        self._blank = None if blank is None else self.input_tokens.index(blank)

    def head(self, d_model: int) -> nn.Module:
        """Reads the state at each position."""
        return PlaceHead(d_model, len(self.output_tokens))

    def answer_head(self, d_model: int) -> nn.Module:
        """Scores of the tokens of answers from the state at each position."""
        return AnswerHead(d_model, len(self.output_tokens), self.tokens.answer_ids)

    def score_shape(self, rows: int, width: int) -> tuple[int, ...]:
        """`(rows, width, outputs)`."""
        return rows, width, len(self.output_tokens)

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean cross-entropy over all asked positions of the batch."""
        return functional.cross_entropy(
            scores.float().flatten(0, 1),
            batch.targets.flatten(),
            ignore_index=NOT_ASKED,
            label_smoothing=smoothing,
        )

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The share of asked positions that are right, of a grid's blank cells if it has any."""
        mask = batch.targets != NOT_ASKED
        if self._blank is not None:
            blank = mask & (self._questions(batch) == self._blank)
            mask = torch.where(blank.any(dim=-1, keepdim=True), blank, mask)
        right = (self.chosen(scores) == batch.targets) & mask
        return right.sum(dim=-1) / mask.sum(dim=-1).clamp_min(1)

    def _questions(self, batch: Batch) -> Tensor:
        """The tokens of the question that the labels of a grid belong to, `(rows, width)`."""
        if self.tokens.mask_id is None:
            return batch.inputs
        assert batch.lengths is not None
        # Masks follow the question, as many as it has tokens.
        places = torch.arange(batch.inputs.shape[1], device=batch.inputs.device)
        return batch.inputs.gather(1, (places - batch.lengths[:, None] // 2).clamp_min(0))

    def chosen(self, scores: Tensor) -> Tensor:
        """The answer token with the highest score at each position, int64 `(rows, width)`."""
        if len(self._allowed) == scores.shape[-1]:
            return scores.argmax(dim=-1)
        if self._allowed.device != scores.device:
            self._allowed = torch.tensor(self.tokens.answer_ids, device=scores.device)
        return self._allowed[scores[..., self._allowed].argmax(dim=-1)]

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The class's name, or the tokens of a sequence."""
        return self.read_ids(self.chosen(scores), batch)

    def read_ids(self, ids: Tensor, batch: Batch) -> list[Any]:
        """Predicted ids as the form of `synthbench.tokens` reads them."""
        arrays = {"input_ids": batch.inputs.cpu().numpy(), "labels": batch.targets.cpu().numpy()}
        return self.tokens.answers(arrays, ids.cpu().numpy())


def _small(ids: NDArray[np.int32], count: int, least: type[np.integer[Any]]) -> Tensor:
    """Ids of so many tokens in the smallest type, but no smaller than `least`."""
    fits = np.uint8 if count <= 256 else np.int16 if count < 1 << 15 else np.int32
    return torch.from_numpy(ids.astype(np.promote_types(fits, least)))
