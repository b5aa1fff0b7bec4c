"""What a model answers to the rows of a split, and after how many steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from synthbench.training.batches import Batch, evaluation_batches
from synthbench.training.encoding import Rows
from synthbench.training.models.output import Output, Record
from synthbench.training.objectives import Objective
from synthbench.training.setting import Setting


def predict(model: nn.Module, rows: Rows, objective: Objective, setting: Setting) -> list[Any]:
    """The model's answer to each row, in order, as `evaluate` reads it."""
    answers: list[Any] = [None] * len(rows)
    for indices, batch, output in forward(model, rows, setting):
        for index, answer in zip(indices, objective.answers(output.scores, batch), strict=True):
            answers[index] = answer
    return answers


def halting_steps(model: nn.Module, rows: Rows, setting: Setting) -> float | None:
    """After how many steps a column halts, on average over rows; None without ACT."""
    total = 0.0
    record = Record()
    for _ in forward(model, rows, setting, record):
        if not record["halting"]:
            return None
        steps = record["halting"].pop().float()  # 0 where there is no column
        total += (steps.sum(dim=1) / (steps > 0).sum(dim=1)).sum().item()
    return total / len(rows)


@torch.inference_mode()
def forward(
    model: nn.Module, rows: Rows, setting: Setting, record: Record | None = None
) -> Iterator[tuple[list[int], Batch, Output]]:
    """All rows once: their indices, the batch, and what the model says to it."""
    model.eval()
    for indices, batch in evaluation_batches(rows):
        placed = batch.to(setting.device)
        with setting.autocast():
            output = model(placed.inputs, placed.lengths, record)
        yield indices.tolist(), placed, output
