"""Tasks with one mistake each, and what `synthbench check` must say of them."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split, parameter
from tests.toy_task import Addition, AdditionParameters


class GlobalNumbers(Addition):
    """Draws from the global random state."""

    name = "global-numbers"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return Block({"numbers": 10 ** (bucket - 1) + np.random.randint(0, 9, (n, 2))})


class Unseeded(Addition):
    """Draws from a generator without a seed."""

    name = "unseeded"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        drawn = np.random.default_rng().integers(0, 9, (n, 2))
        return Block({"numbers": 10 ** (bucket - 1) + drawn})


class OfThisProcess(Addition):
    """Its rows depend on the process that draws them."""

    name = "of-this-process"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        draws.integers(2, os.getpid() % 1000 + 1)
        return super().propose(draws, n, split, bucket)


class WrongLabel(Addition):
    """Right but for rows that begin with an even number."""

    name = "wrong-label"

    def solve(self, question: str) -> int:
        return super().solve(question) + (int(question.split()[0]) % 2 == 0)


class Starved(Addition):
    """No candidate has three digits."""

    name = "starved"

    def capacity(self, split: Split, bucket: int) -> None:  # type: ignore[override]
        return None

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return super().propose(draws, n, split, bucket).take(slice(0, 0 if bucket > 2 else n))


class Scanty(Addition):
    """Of three digits there are just ten rows, which is not counted."""

    name = "scanty"
    block_rows = 1024  # type: ignore[assignment]

    @property
    def splits(self) -> tuple[Split, ...]:
        return Split("train", 500, (4, 5), evaluation=False), Split("test", 500, (3, 4))

    def capacity(self, split: Split, bucket: int) -> None:  # type: ignore[override]
        return None

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        if bucket > 3:
            return super().propose(draws, n, split, bucket)
        return Block({"numbers": np.stack([100 + draws.integers(10, n), np.full(n, 100)], axis=1)})


class OtherTypes(Addition):
    """Renders a wider type than it declares."""

    name = "other-types"

    def render(self, block: Block) -> dict[str, pa.Array]:
        columns = super().render(block)
        return {**columns, "label": columns["label"].cast("int64")}


class Generous(Addition):
    """Whatever can be read is right."""

    name = "generous"

    def measure(self, row: Mapping[str, Any], answer: Any) -> dict[str, float]:
        return {"accuracy": float(answer is not None)}


class OtherBuckets(Addition):
    """Always gives rows of one digit."""

    name = "other-buckets"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return super().propose(draws, n, split, 1)


class OtherContent(Addition):
    """Files tell rows apart by another content than the sampler."""

    name = "other-content"

    def content(self, block: Block) -> Any:
        if "numbers" in block.columns:
            return block["numbers"].astype(np.uint16).view(np.uint8) + np.uint8(1)
        return super().content(block)


@dataclasses.dataclass(frozen=True)
class CarelessParameters(AdditionParameters):
    shift: int = parameter(1, "added to every first number; not looked at")


class Careless(Addition):
    """Does not look at a parameter."""

    name = "careless"
    parameters_type = CarelessParameters

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        np.zeros(self.parameters.shift)  # fails below 0
        return super().propose(draws, n, split, bucket)


class Forgetful(Addition):
    """Remembers its last block outside its parameters."""

    name = "forgetful"
    calls = 0

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        Forgetful.calls += 1
        draws.integers(2, Forgetful.calls)
        return super().propose(draws, n, split, bucket)


class HashOrder(Addition):
    """Its rows depend on the order of a set of texts."""

    name = "hash-order"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        first = next(iter({f"text {number}" for number in range(1000)}))
        draws.integers(2, 2 * int(first.split()[1]) + 1)
        return super().propose(draws, n, split, bucket)


class OfAWorker(Addition):
    """Its rows are different in worker processes."""

    name = "of-a-worker"

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        if multiprocessing.parent_process() is not None:
            draws.integers(2, 1)
        return super().propose(draws, n, split, bucket)


#: The check that each fails first, and words of the sentence that says why.
BROKEN = [
    (GlobalNumbers, "Uses no global random state", "propose draws from np.random"),
    (Unseeded, "Same block from the same draws", r"Look for np\.random\.default_rng\(\)"),
    (Forgetful, "Same block from the same draws", "anything that propose remembers"),
    (OfThisProcess, "Same rows from another process", "in another process, with another PYTHONH"),
    (HashOrder, "Same rows from another process", "Look for the order of sets"),
    (OfAWorker, "Same rows with two workers", "got other rows with two workers"),
    (WrongLabel, "solve gives every label and column", "render gives label .* solve .* give "),
    (Starved, "Every bucket gets rows", "Split test, digits 3 is starved: .* it kept none"),
    (Scanty, "Every bucket fills", r"Split test, digits 3 is starved: \d+ of 100 rows were found"),
    (OtherTypes, "Columns are as declared", "label is declared int32; render gives int64"),
    (Generous, "The right answer scores best", "a wrong answer to .*, scores 1"),
    (Careless, "Refuses impossible parameters", "shift=-1 is accepted and then fails with Val"),
    (OtherBuckets, "Rows are in the bucket", "asked for digits 2 and gave a row of digits 1"),
    (OtherContent, "Rows read from a file keep their ids", "gets another id when it is read"),
]
