"""The smallest task with text as labels: a word from its end to its beginning.

abcd        dcba        length 4
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.features import Feature, value
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, Task


@dataclasses.dataclass(frozen=True)
class NoParameters(Parameters):
    """Nothing can be set."""


class Reversal(Task):
    """Words that are to be written from their end."""

    name = "reversal"
    title = "Reversal"
    summary = "Write the word from its end to its beginning."
    source = "No paper: a toy"
    parameters_type = NoParameters
    bucket_name = "length"
    judged_by = ("label",)

    @property
    def columns(self) -> dict[str, Feature]:
        return {"text": value("string"), "label": value("string"), "length": value("int8")}

    @property
    def splits(self) -> tuple[Split, ...]:
        return (Split("train", 200, (4, 5), evaluation=False), Split("test", 40, (5,)))

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        letters = np.zeros((n, 5), np.int64)
        letters[:, :bucket] = 1 + draws.integers(26, (n, bucket))
        return Block({"letters": letters})

    def content(self, block: Block) -> NDArray[np.uint8]:
        return block["letters"].astype(np.uint8)

    def render(self, block: Block) -> dict[str, pa.Array]:
        texts = ["".join(chr(96 + one) for one in row if one) for row in block["letters"]]
        return {
            "text": pa.array(texts, pa.string()),
            "label": pa.array([text[::-1] for text in texts], pa.string()),
            "length": pa.array(map(len, texts), pa.int8()),
        }

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        letters = np.zeros((len(columns["text"]), 5), np.int64)
        for row, text in zip(letters, columns["text"].to_pylist(), strict=True):
            row[: len(text)] = [ord(one) - 96 for one in text]
        return Block({"letters": letters})

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"label": self.solve(row["text"]), "length": len(row["text"])}

    def solve(self, question: str) -> str:
        return question[::-1]

    def buckets(self, columns: Mapping[str, pa.Array]) -> NDArray[np.int64]:
        return np.asarray(pc.utf8_length(columns["text"]), np.int64)

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> str | None:
        return prediction if isinstance(prediction, str) else None

    def draw(self, row: Mapping[str, Any]) -> str:
        return f"{row['text']} -> {row['label']}"
