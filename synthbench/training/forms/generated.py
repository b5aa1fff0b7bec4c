"""The form of texts that are generated: question, separator, answer, end.

A model learns each token of the answer from those before it, all at once: the scores at place i are
of the token at place i + 1. To answer, it generates: its best token goes to the end of the row,
token by token, until it gives the end or is one token longer than the right answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from synthbench.tasks.base import Task
from synthbench.tasks.form import NOT_ASKED
from synthbench.training.forms.rows import Batch
from synthbench.training.forms.texts import PlaceTokens
from synthbench.training.models.output import Output


class GeneratedTokens(PlaceTokens):
    """An answer that is generated token by token, `causal-lm`: scores `(rows, width, outputs)`.

    Only models in which no place sees what follows it can learn this form. A row is right if all of
    its answer is, the end included. It is so whether a model reads its own answer or the right one
    while it goes on, so training measures the latter, which takes one pass.
    """

    causal = True

    def __init__(self, task: Task, name: str, start: bool = False) -> None:
        super().__init__(task, name, start)
        self.metric = task.metrics[0]

    def loss(self, scores: Tensor, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """The mean cross-entropy of answers and ends."""
        return super().loss(scores[:, :-1], _following(batch), smoothing)

    def measured(self, scores: Tensor, batch: Batch) -> Tensor:
        """1 if each token follows from the right tokens before it."""
        targets = _following(batch).targets
        wrong = (self.chosen(scores[:, :-1]) != targets) & (targets != NOT_ASKED)
        return (~wrong.any(dim=-1)).float()

    def _starts(self, batch: Batch) -> Tensor:
        """The beginnings of answers, int64 `(rows,)`."""
        is_separator = batch.inputs.eq(self.tokens.separator_id or 0)
        return is_separator.int().argmax(dim=-1) + 1

    def answers(self, scores: Tensor, batch: Batch) -> list[Any]:
        """The tokens that follow from the right answer's tokens, each from those before it."""
        following = self.chosen(scores).roll(1, dims=-1)
        return self._read(torch.where(batch.targets != NOT_ASKED, following, batch.inputs), batch)

    def predict(self, run: Callable[[Batch], Output], batch: Batch) -> list[Any]:
        """The answers that a model generates, the best token at a time."""
        return self._read(self.generated(run, batch), batch)

    def generated(self, run: Callable[[Batch], Output], batch: Batch) -> Tensor:
        """Rows with a model's answers in place of the right answers, int64 `(rows, width)`.

        Args:
            run: the model.
            batch: the rows. Only the length and unasked positions of their answers are used.
        """
        assert batch.lengths is not None
        mask, starts = batch.targets != NOT_ASKED, self._starts(batch)
        inputs = batch.inputs.masked_fill(mask, 0)
        rows = torch.arange(len(inputs), device=inputs.device)
        for step in range(int((batch.lengths - starts).max())):
            # A row whose answer is full writes its last token again.
            place = torch.minimum(starts + step, batch.lengths - 1)
            width = int(place.max())
            positions = batch.positions if batch.positions is None else batch.positions[:, :width]
            read = Batch(inputs[:, :width], place, batch.targets[:, :width], positions)
            best = self.chosen(run(read).scores[rows, place - 1])
            inputs[rows, place] = torch.where(mask[rows, place], best, inputs[rows, place])
        return inputs

    def _read(self, ids: Tensor, batch: Batch) -> list[Any]:
        """The answers in rows of tokens, each from behind the separator to the end."""
        assert batch.lengths is not None
        width = ids.shape[1]
        places = self._starts(batch)[:, None] + torch.arange(width, device=ids.device)
        written = ids.gather(1, places.clamp_max(width - 1))
        is_behind = places >= batch.lengths[:, None]
        return self.read_ids(written.masked_fill(is_behind, self.tokens.end_id or 0), batch)


def _following(batch: Batch) -> Batch:
    """The batch with each place's target that of the place behind it."""
    return batch._replace(targets=batch.targets[:, 1:])
