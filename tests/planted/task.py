"""A toy task whose rows give their answer away in a way that is known.

    e h f h        3        letters count a = 0, b = 1, ... h = 7; they add up to 23, modulo 4 to 3

Without a plant nothing simple tells the label. With one only those rows are kept in which
something does: the first letter, the last letter, or the one letter of a to d that a row has.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synthbench.errors import unknown_name
from synthbench.tasks.base import Block, Parameters, Split, TextTask, parameter
from synthbench.tasks.features import class_label, value

LETTERS = tuple("abcdefgh")
LABELS = ("0", "1", "2", "3")
#: What gives the label away: its number modulo 4 does.
PLANTS = {
    "nothing": None,
    "first": lambda letters: letters[:, 0],
    "last": lambda letters: letters[:, -1],
    "marker": lambda letters: letters.min(axis=1),
}


@dataclasses.dataclass(frozen=True)
class PlantedParameters(Parameters):
    """What can be set."""

    plant: str = parameter("nothing", "what gives the label away")
    planted_lengths: tuple[int, ...] = parameter((8, 9), "in rows of which length")
    hard: bool = parameter(True, "whether each length should withstand shortcuts by itself")

    def __post_init__(self):
        if self.plant not in PLANTS:
            raise unknown_name("plant", self.plant, PLANTS)


class Planted(TextTask):
    """Sums of letters."""

    name = "planted"
    title = "Planted"
    summary = "What do the letters add up to, modulo 4?"
    source = "No paper: a toy"
    parameters_type = PlantedParameters
    bucket_name = "length"
    scored_columns = ("label",)
    tokens = LETTERS

    def solve(self, question):
        return sum(LETTERS.index(letter) for letter in question.split()) % 4

    @property
    def columns(self):
        return {"text": value("string"), "label": class_label(LABELS), "length": value("int8")}

    @property
    def splits(self):
        return (
            Split("train", 3_000, (8, 9), evaluation=False),
            Split("test", 400, (8, 9)),
        )

    def propose(self, draws, n, split, bucket):
        letters = draws.integers(8, (n, bucket))
        if self.parameters.plant == "marker":
            letters = 4 + letters % 4
            letters[np.arange(n), draws.integers(bucket, n)] = draws.integers(4, n)
        tell = PLANTS[self.parameters.plant]
        if tell is not None and bucket in self.parameters.planted_lengths:
            letters = letters[(tell(letters) - letters.sum(axis=1)) % 4 == 0]
        tokens = np.zeros((len(letters), 9), np.uint8)
        tokens[:, :bucket] = letters + 1
        return Block({"tokens": tokens})

    def render(self, block):
        length = (block["tokens"] > 0).sum(axis=1)
        sums = block["tokens"].sum(axis=1, dtype=np.int64) - length
        return {
            "text": self.join(block),
            "label": pa.array(sums % 4),
            "length": pa.array(length.astype(np.int8)),
        }


class Reversal(Planted):
    """Letters to be written from their end: labels that are texts."""

    name = "reversal"

    def solve(self, question):  # type: ignore[override]
        return question[::-1]

    @property
    def columns(self):
        return {**super().columns, "label": value("string")}

    @property
    def splits(self):
        return (Split("train", 200, (8, 9), evaluation=False), Split("test", 40, (9,)))

    def render(self, block):
        columns = super().render(block)
        return {**columns, "label": pc.utf8_reverse(columns["text"])}
