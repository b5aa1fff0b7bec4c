"""What is evaluated: a small dataset, its rows, predictions right and wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from synthbench.evaluation.evaluate import evaluate

SIZES = {"train": 60, "iid": 50, "validation": 40, "test": 40}
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Made:
    """A small listops dataset and its rows by split."""

    path: Path
    rows: dict[str, Rows]

    def right(self, *splits):
        return {row["id"]: row["label"] for split in splits for row in self.rows[split]}


def wrong(label):
    return (label + 1) % 10


def refusal(kind, *arguments, **named):
    with pytest.raises(kind) as caught:
        evaluate(*arguments, **named)
    return str(caught.value)
