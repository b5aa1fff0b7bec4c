"""A task of one's own in one short file: how many ones does a string of bits have?

    0110        2     length 4

Printed are the verdict on the dataset that is made of it, and the score of a model that cannot
count beyond 12. `synthbench/tasks/base.py` describes every method; CONTRIBUTING says how a package
makes a task known to the command line.
"""

import dataclasses
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import synthbench
from synthbench.errors import ParameterError
from synthbench.features import Feature, value
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Breakdown, Parameters, Split, parameter

WIDTH = 60  # characters, at most


@dataclasses.dataclass(frozen=True)
class OnesParameters(Parameters):
    """What can be set."""

    train_lengths: tuple[int, ...] = parameter((11, 12, 13), "buckets of train and iid")
    test_lengths: tuple[int, ...] = parameter((20, 30), "buckets of test")

    def __post_init__(self) -> None:
        if not all(1 <= length <= WIDTH for length in self.train_lengths + self.test_lengths):
            raise ParameterError(f"Lengths: allowed are 1 to {WIDTH}.")


@synthbench.register
class Ones(synthbench.Task):
    """Strings of bits, balanced over their length."""

    name = "ones"
    title = "Counting ones"
    summary = "How many ones does the string have?"
    source = "No paper: an example"
    parameters_type = OnesParameters
    bucket_name = "length"
    breakdowns = (Breakdown("length"),)

    @property
    def columns(self) -> dict[str, Feature]:
        return {"text": value("string"), "label": value("int8"), "length": value("int8")}

    @property
    def splits(self) -> tuple[Split, ...]:
        return (
            Split("train", 3_000, self.parameters.train_lengths, evaluation=False),
            Split("iid", 300, self.parameters.train_lengths),
            Split("test", 300, self.parameters.test_lengths),
        )

    # A block holds characters, uint8 (rows, WIDTH), with zeros behind the end.

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        characters = np.zeros((n, WIDTH), np.uint8)
        characters[:, :bucket] = ord("0") + draws.integers(2, (n, bucket))
        return Block({"characters": characters})

    def content(self, block: Block) -> np.ndarray:
        return block["characters"]

    def render(self, block: Block) -> dict[str, pa.Array]:
        characters = block["characters"]
        texts = [row.tobytes().rstrip(b"\0").decode() for row in characters]
        ones, lengths = (characters == ord("1")).sum(axis=1), (characters > 0).sum(axis=1)
        return {
            "text": pa.array(texts),
            "label": pa.array(ones, pa.int8()),
            "length": pa.array(lengths, pa.int8()),
        }

    # What checks the rows shares no code with what makes them.

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        texts = np.array(columns["text"].to_pylist(), dtype=f"S{WIDTH}")
        return Block({"characters": texts[:, None].view(np.uint8)})

    def derive(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"label": self.solve(row["text"]), "length": len(row["text"])}

    def solve(self, question: str) -> int:
        return question.count("1")

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> int | None:
        text = str(prediction).strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else None

    def draw(self, row: Mapping[str, Any]) -> str:
        return f"{row['text']} has {row['label']}"


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/ones"
        synthbench.generate("ones", out=directory, workers=1)
        print(synthbench.verify(directory, workers=1), end="\n\n")
        rows = synthbench.Dataset.open(directory).rows("default", "test")
        answers = {row["id"]: min(row["text"].count("1"), 12) for row in rows}
        print(synthbench.evaluate(directory, answers, split="test"))


if __name__ == "__main__":
    main()
