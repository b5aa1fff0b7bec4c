"""The toy task of the tests, smallest that works: buckets of any size, counted or not.

    2:17        number 17 of bucket 2

Train and iid share all buckets but the last, which is test's alone. Blocks, rounds, groups and
shards are so small that a few hundred rows have many of each.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synthbench.errors import ParameterError
from synthbench.tasks.base import Block, Parameters, Split, Task, parameter
from synthbench.tasks.features import value


@dataclasses.dataclass(frozen=True)
class NumbersParameters(Parameters):
    """What can be set."""

    sizes: tuple[int, ...] = parameter((1000, 1000, 1000, 1000), "distinct rows of each bucket")
    counted: bool = parameter(True, "whether the task tells how many rows a bucket has")

    def __post_init__(self):
        if len(self.sizes) < 2 or not all(1 <= size <= 10**9 for size in self.sizes):
            text = ",".join(map(str, self.sizes))
            raise ParameterError(f"Parameter sizes={text}: allowed are two or more of 1 to 10**9.")


class Numbers(Task):
    """Numbered rows."""

    name = "numbers"
    title = "Numbers"
    summary = "Which number is it?"
    source = "No paper: a toy"
    parameters_type = NumbersParameters
    bucket_name = "bucket"
    block_rows = 32
    round_rows = 100
    group_rows = 40
    shard_rows = 60

    @property
    def columns(self):
        return {"text": value("string"), "label": value("int32"), "bucket": value("int8")}

    @property
    def splits(self):
        *shared, last = range(len(self.parameters.sizes))
        return (
            Split("train", 500, tuple(shared), evaluation=False),
            Split("iid", 90, tuple(shared)),
            Split("test", 70, (last,)),
        )

    def propose(self, draws, n, split, bucket):
        return _block(bucket, draws.integers(self.parameters.sizes[bucket], n))

    def capacity(self, split, bucket):
        return self.parameters.sizes[bucket] if self.parameters.counted else None

    def enumerate_rows(self, split, bucket):
        return _block(bucket, np.arange(self.parameters.sizes[bucket]))

    def render(self, block):
        bucket, number = (pa.array(block[name]) for name in ("bucket", "number"))
        return {
            "text": pc.binary_join_element_wise(bucket.cast("string"), number.cast("string"), ":"),
            "label": number.cast("int32"),
            "bucket": bucket.cast("int8"),
        }

    def recompute_columns(self, row):
        return {"label": self.solve(row["text"]), "bucket": int(row["text"].split(":")[0])}

    def solve(self, question):
        bucket, colon, number = question.partition(":")
        if not colon or not bucket.isdecimal():
            raise ValueError(f"{question!r} is not a row of numbers: expected 'bucket:number'")
        return int(number)


def _block(bucket, number):
    return Block({"bucket": np.full(len(number), bucket, np.int64), "number": number})
