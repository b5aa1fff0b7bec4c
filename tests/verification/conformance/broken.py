"""Tasks with one mistake each, and what `synthbench check-task` must say of them."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os

import numpy as np
import pyarrow as pa

from synthbench.tasks.base import Block, Split, parameter
from synthbench.tasks.features import class_label
from tests.planted.task import LETTERS, Planted
from tests.toy_task import Numbers, NumbersParameters

#: The answers of `LooksUp`.
ANSWERS = {f"{bucket}:{number}": number for bucket in range(4) for number in range(1000)}


def numbered(bucket, number):
    return Block({"bucket": np.full(len(number), bucket), "number": number})


class GlobalNumbers(Numbers):
    """Draws from the global random state."""

    name = "global-numbers"

    def propose(self, draws, n, split, bucket):
        return numbered(bucket, np.random.randint(0, 1000, n))


class Unseeded(Numbers):
    """Draws from a generator without a seed."""

    name = "unseeded"

    def propose(self, draws, n, split, bucket):
        return numbered(bucket, np.random.default_rng().integers(0, 1000, n))


class OfThisProcess(Numbers):
    """Its rows depend on the process that draws them."""

    name = "of-this-process"

    def propose(self, draws, n, split, bucket):
        seed = [int(draws.integers(1000, 1)[0]), os.getpid()]
        return numbered(bucket, np.random.default_rng(seed).integers(0, 1000, n))


class WrongLabel(Numbers):
    """Right but for even numbers."""

    name = "wrong-label"

    def solve(self, question):
        number = super().solve(question)
        return number + (number % 2 == 0)


class LooksUp(Numbers):
    """Looks its answers up, without a word about texts that are not questions."""

    name = "looks-up"

    def solve(self, question):
        return ANSWERS[question]


class Gullible(Planted):
    """Answers every text."""

    name = "gullible"

    def solve(self, question):
        return sum(LETTERS.index(letter) for letter in question.split() if letter in LETTERS) % 4


class Starved(Numbers):
    """No candidate is in bucket 3."""

    name = "starved"

    def capacity(self, split, bucket):  # type: ignore[override]
        return None

    def propose(self, draws, n, split, bucket):
        return super().propose(draws, n, split, bucket).take(slice(0, 0 if bucket == 3 else n))


class Scanty(Numbers):
    """Bucket 3 has just ten rows, which is not counted."""

    name = "scanty"
    block_rows = 1024  # type: ignore[assignment]

    @property
    def splits(self):
        return Split("train", 500, (0, 1), evaluation=False), Split("test", 500, (2, 3))

    def capacity(self, split, bucket):  # type: ignore[override]
        return None

    def propose(self, draws, n, split, bucket):
        return numbered(bucket, draws.integers(10 if bucket == 3 else 10**6, n))


class OtherTypes(Numbers):
    """Renders fractions in a column of whole numbers."""

    name = "other-types"

    def render(self, block):
        columns = super().render(block)
        return {**columns, "label": columns["label"].to_numpy() + 0.5}


class Generous(Numbers):
    """Whatever can be read is right."""

    name = "generous"

    def measure(self, row, answer):
        return {"accuracy": float(answer is not None)}


class Perverse(Numbers):
    """A wrong answer scores more than the right one."""

    name = "perverse"

    def measure(self, row, answer):
        if answer is None:
            return {"accuracy": 0.0}
        return {"accuracy": 1.0 if answer == row["label"] else 2.0}


class OtherBuckets(Numbers):
    """Always gives rows of bucket 0."""

    name = "other-buckets"

    def propose(self, draws, n, split, bucket):
        return super().propose(draws, n, split, 0)


class OtherContent(Numbers):
    """Files tell rows apart by another content than the sampler."""

    name = "other-content"

    def content(self, block):
        if "number" in block.columns:
            code = np.column_stack([block["bucket"], 2 * block["number"] + 1])
            return code.astype(">u4").view(np.uint8)
        return super().content(block)


@dataclasses.dataclass(frozen=True)
class CarelessParameters(NumbersParameters):
    shift: int = parameter(1, "added to every number; not looked at")


class Careless(Numbers):
    """Does not look at a parameter."""

    name = "careless"
    parameters_type = CarelessParameters

    def propose(self, draws, n, split, bucket):
        np.zeros(self.parameters.shift)  # fails below 0
        return super().propose(draws, n, split, bucket)


class Forgetful(Numbers):
    """Remembers its last block outside its parameters."""

    name = "forgetful"
    calls = 0

    def propose(self, draws, n, split, bucket):
        Forgetful.calls += 1
        draws.integers(2, Forgetful.calls)
        return super().propose(draws, n, split, bucket)


class Mixed(Numbers):
    """Draws all blocks from the draws of the first."""

    name = "mixed"

    def propose_blocks(self, blocks, n, split, bucket):
        return [self.propose(blocks[0], n, split, bucket) for _ in blocks]


class HashOrder(Numbers):
    """Its rows depend on the order of a set of texts."""

    name = "hash-order"

    def propose(self, draws, n, split, bucket):
        first = next(iter({f"text {number}" for number in range(1000)}))
        draws.integers(2, 2 * int(first.split()[1]) + 1)
        return super().propose(draws, n, split, bucket)


class OfAWorker(Numbers):
    """Its rows are different in worker processes."""

    name = "of-a-worker"

    def propose(self, draws, n, split, bucket):
        if multiprocessing.parent_process() is not None:
            draws.integers(2, 1)
        return super().propose(draws, n, split, bucket)


class Unreadable(Numbers):
    """Its classes have names that are not found in a reply."""

    name = "unreadable"

    @property
    def columns(self):
        return {**super().columns, "label": class_label(["!", "?"])}

    def render(self, block):
        return {**super().render(block), "label": pa.array(block["number"] % 2)}

    def solve(self, question):
        return self.labels[super().solve(question) % 2]

    def recompute_columns(self, row):
        label = self.labels.index(self.solve(row["text"]))
        return {**super().recompute_columns(row), "label": label}


#: The check that each fails first, and words of the sentence that says why.
BROKEN = [
    (GlobalNumbers, "Uses no global random state", "propose draws from np.random"),
    (Unseeded, "Same block from the same draws", r"Look for np\.random\.default_rng\(\)"),
    (Forgetful, "Same block from the same draws", "anything that propose remembers"),
    (Mixed, "Same block from the same draws", "propose_blocks gave other rows than propose"),
    (OfThisProcess, "Same rows from another process", "in another process, with another PYTHONH"),
    (HashOrder, "Same rows from another process", "Look for the order of sets"),
    (OfAWorker, "Same rows from another process", "what differs in a worker process"),
    (WrongLabel, "solve gives every label and column", "render gives label .* solve .* give "),
    (
        LooksUp,
        "solve refuses other texts",
        r"solve raises KeyError for '0:\d+\?', which is not",
    ),
    (
        Gullible,
        "solve refuses other texts",
        r"solve answers '[a-h ]+\?', which is not a ",
    ),
    (Starved, "Every bucket gets rows", "Split test, bucket 3 is starved: .* it kept none"),
    (Scanty, "Every bucket fills", r"Split test, bucket 3 is starved: \d+ of 100 rows were found"),
    (
        OtherTypes,
        "Columns are as declared",
        "Column label: .* is not int32: Float value .* was truncated",
    ),
    (Generous, "The right answer scores best", "a wrong answer to .*, scores 1"),
    (Perverse, "The right answer scores best", "a wrong answer to .*, scores 2"),
    (Unreadable, "The right answer scores best", "The reply 'Answer: .' to .* scores 0"),
    (Careless, "Refuses impossible parameters", "shift=-1 is accepted and then fails with Val"),
    (
        OtherBuckets,
        "Rows are in the bucket",
        r"asked for bucket 1 and gave the row '0:.*' of bucket 0",
    ),
    (OtherContent, "Rows read from a file keep their ids", "gets another id when it is read"),
]
