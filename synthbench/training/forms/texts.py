"""Forms of texts: a class for each row, a class for each token, tokens at masks.

The ids and labels are those of `synthbench.tokens` (`synthbench.tasks.forms`). A model is a
backbone, which turns tokens into states, and the form's head, which turns states into scores.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

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
    """A form of a task of texts, the one of `synthbench.tokens` with the same name."""

    name: ClassVar[str]
    reads = "tokens"
    chooses = True

    def __init__(self, task: Task) -> None:
        self.task, self.tokens = task, form_of(task, self.name)
        self.input_tokens, self.output_tokens = self.tokens.input_tokens, self.tokens.output_tokens

    @property
    def columns(self) -> list[str]:
        """The text and the label."""
        return list(self.tokens.columns)

    def encode(self, columns: Mapping[str, pa.Array] | pa.RecordBatch) -> Rows:
        """Tokens from 1, padded with 0, and labels; raises as `Form.encode`."""
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
        """The numbers of ids that a model reads and scores."""
        return {"vocabulary": len(self.input_tokens), "outputs": len(self.output_tokens)}

    @abc.abstractmethod
    def head(self, d_model: int) -> nn.Module:
        """A head for states of this size, with fresh parameters; see `backbones.heads`."""

    def answer_head(self, d_model: int) -> nn.Module:
        """A head with parameters for the tokens of answers alone."""
        return self.head(d_model)

    @abc.abstractmethod
    def score_shape(self, rows: int, width: int) -> tuple[int, ...]:
        """The shape of the scores of a batch."""


class SequenceClass(Classes, TextForm):
    """A class for each row."""

    name = "sequence-classification"

    def head(self, d_model: int) -> nn.Module:
        """Reads the backbone's summary of a row, or the state of its last token."""
        return RowHead(d_model, len(self.output_tokens))

    def score_shape(self, rows: int, width: int) -> tuple[int, ...]:
        """`(rows, classes)`."""
        return rows, len(self.output_tokens)


class PlaceForm(TextForm):
    """A token for each asked place: scores `(rows, width, outputs)`, cross-entropy over these."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        is_class = self.task.answer.vocabulary is None
        self.metric = "accuracy" if is_class else "position_accuracy"

    def head(self, d_model: int) -> nn.Module:
        """Reads the state of each place."""
        return PlaceHead(d_model, len(self.output_tokens))

    def score_shape(self, rows: int, width: int) -> tuple[int, ...]:
        """`(rows, width, outputs)`."""
        return rows, width, len(self.output_tokens)

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean cross-entropy of all asked places of the batch."""
        return functional.cross_entropy(
            scores.float().flatten(0, 1),
            batch.targets.flatten(),
            ignore_index=NOT_ASKED,
            label_smoothing=smoothing,
        )

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """The share of asked places that are right."""
        asked = batch.targets != NOT_ASKED
        right = (self.chosen(scores) == batch.targets) & asked
        return right.sum(dim=-1) / asked.sum(dim=-1).clamp_min(1)

    def chosen(self, scores: Tensor) -> Tensor:
        """The output with the highest score at each place, int64 `(rows, width)`."""
        return scores.argmax(dim=-1)

    @abc.abstractmethod
    def answer_places(self, batch: Batch) -> Tensor:
        """Where the answer is read, bool `(rows, width)`."""

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The class's name, or the tokens of a sequence; the ignored token where none is asked."""
        vocabulary, ignored = self.task.answer.vocabulary, self.task.answer.ignored or ""
        names = (*self.output_tokens, ignored)
        asked = batch.targets != NOT_ASKED
        ids = torch.where(asked, self.chosen(scores), len(names) - 1).cpu().numpy()
        rows = zip(ids, self.answer_places(batch).cpu().numpy(), strict=True)
        given = [[names[one] for one in row[there].tolist()] for row, there in rows]
        if vocabulary is None:
            return [row[0] for row in given]
        return [vocabulary.separator.join(row) for row in given]


class TokenClasses(PlaceForm):
    """A class for each token of the text."""

    name = "token-classification"

    def answer_places(self, batch: Batch) -> Tensor:
        """All tokens of a row."""
        assert batch.lengths is not None
        return (
            torch.arange(batch.inputs.shape[1], device=batch.inputs.device) < batch.lengths[:, None]
        )


class AnswerTokens(PlaceForm):
    """Only tokens that an answer can have are chosen; in some forms its end is one of them."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._allowed = {torch.device("cpu"): torch.tensor(self.tokens.answer_ids)}

    def answer_head(self, d_model: int) -> nn.Module:
        """Scores of the tokens of answers from the state of each place."""
        return AnswerHead(d_model, len(self.output_tokens), self.tokens.answer_ids)

    def chosen(self, scores: Tensor) -> Tensor:
        """The token with the highest score among those of answers."""
        if scores.device not in self._allowed:
            self._allowed[scores.device] = self._allowed[torch.device("cpu")].to(scores.device)
        allowed = self._allowed[scores.device]
        return allowed[scores[..., allowed].argmax(dim=-1)]


class MaskedTokens(AnswerTokens):
    """The question, then as many masks as the answer has tokens; read at these, all at once."""

    name = "masked-lm"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        assert self.tokens.mask_id is not None
        self._mask = self.tokens.mask_id

    def sizes(self, rows: Rows) -> dict[str, int]:
        """Also the mask's id, for models that need to know where answers are read."""
        return {**super().sizes(rows), "mask_id": self._mask}

    def answer_places(self, batch: Batch) -> Tensor:
        """The masks."""
        return batch.inputs == self._mask


#: The forms of texts that models here learn, by their names in `Task.forms`.
TEXT_FORMS: dict[str, type[TextForm]] = {
    one.name: one for one in (SequenceClass, TokenClasses, MaskedTokens)
}


def _small(ids: NDArray[np.int32], count: int, least: type[np.integer[Any]]) -> Tensor:
    """Ids of so many tokens in the smallest type, but no smaller than `least`."""
    fits = np.uint8 if count <= 256 else np.int16 if count < 1 << 15 else np.int32
    return torch.from_numpy(ids.astype(np.promote_types(fits, least)))
