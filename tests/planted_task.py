"""A toy task whose rows give their answer away in a way that is known.

    e h f h        3        letters count a = 0, b = 1, ... h = 7; they add up to 23, modulo 4 to 3

Without a plant nothing simple tells the label. With one only those rows are kept in which
something does: the first letter, the last letter, or the one letter of a to d that a row has.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.errors import unknown_name
from synthbench.features import Feature, class_label, value
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, Task, parameter, read_class
from synthbench.tasks.scrutiny import Claim, Columns, Levels, Scrutiny, by_key, codes, numbers

LETTERS = "abcdefgh"
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

    def __post_init__(self) -> None:
        if self.plant not in PLANTS:
            raise unknown_name("plant", self.plant, PLANTS)


class Planted(Task):
    """Sums of letters."""

    name = "planted"
    title = "Planted"
    summary = "What do the letters add up to, modulo 4?"
    source = "No paper: a toy"
    parameters_type = PlantedParameters
    bucket_name = "length"
    judged_by = ("label",)

    @property
    def columns(self) -> dict[str, Feature]:
        return {"text": value("string"), "label": class_label(LABELS), "length": value("int8")}

    @property
    def splits(self) -> tuple[Split, ...]:
        return (
            Split("train", 3_000, (8, 9), evaluation=False),
            Split("test", 400, (8, 9)),
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        letters = draws.integers(8, (n, bucket))
        if self.parameters.plant == "marker":
            letters = 4 + letters % 4
            letters[np.arange(n), draws.integers(bucket, n)] = draws.integers(4, n)
        tell = PLANTS[self.parameters.plant]
        if tell is not None and bucket in self.parameters.planted_lengths:
            letters = letters[(tell(letters) - letters.sum(axis=1)) % 4 == 0]
        padded = np.zeros((len(letters), 9), np.int64)
        padded[:, :bucket] = letters + 1
        return Block({"letters": padded})

    def content(self, block: Block) -> NDArray[np.uint8]:
        return block["letters"].astype(np.uint8)

    def render(self, block: Block) -> dict[str, pa.Array]:
        texts = [" ".join(LETTERS[one - 1] for one in row if one) for row in block["letters"]]
        return {
            "text": pa.array(texts, pa.string()),
            "label": pa.array([LABELS.index(self.solve(text)) for text in texts], pa.int64()),
            "length": pa.array([len(text.split()) for text in texts], pa.int8()),
        }

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        letters = np.zeros((len(columns["text"]), 9), np.int64)
        for row, text in zip(letters, columns["text"].to_pylist(), strict=True):
            found = [1 + LETTERS.index(letter) for letter in text.split()]
            row[: len(found)] = found
        return Block({"letters": letters})

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        text = row["text"]
        return {"label": LABELS.index(self.solve(text)), "length": len(text.split())}

    def solve(self, question: str) -> str:
        return LABELS[sum(LETTERS.index(letter) for letter in question.split()) % 4]

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> int | None:
        return read_class(prediction, LABELS)

    def draw(self, row: Mapping[str, Any]) -> str:
        return str(row["text"])

    def scrutiny(self) -> Scrutiny:
        return Scrutiny(
            shortcuts=(
                by_key("half of it", "The sum modulo 2.", lambda rows: self._sums(rows) % 2),
                by_key(
                    "sum of long rows",
                    "The sum.",
                    self._sums,
                    applies=lambda rows: numbers(rows["length"]) > 8,
                ),
            ),
            kinships={"the same letters in another order": self._sorted},
            traits={"first letter": lambda rows: [text[0] for text in rows["text"].to_pylist()]},
            claims=(
                Claim(
                    "length",
                    "Letters that are not a, which adds nothing.",
                    lambda rows: (
                        numbers(rows["length"]),
                        (self.parse(rows)["letters"] > 1).sum(axis=1),
                    ),
                ),
            ),
            levels=Levels(
                "length", lambda rows: numbers(rows["length"]), hard=self.parameters.hard
            ),
        )

    def _sums(self, columns: Columns) -> NDArray[np.int64]:
        letters = self.parse(columns)["letters"]
        return (letters - (letters > 0)).sum(axis=1)

    def _sorted(self, columns: Columns) -> NDArray[np.uint64]:
        return codes(np.sort(self.parse(columns)["letters"], axis=1)[:, ::-1])
