"""A toy task for tests of the core: buckets of any size, counted or not, in small rounds.

    2:17        number 17 of bucket 2

Train and iid share all buckets but the last, which is test's alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Parameters, Split, Task, parameter
from synthbench.tasks.features import Feature, value


@dataclasses.dataclass(frozen=True)
class NumbersParameters(Parameters):
    """What can be set."""

    sizes: tuple[int, ...] = parameter((1000, 1000, 1000, 1000), "distinct rows of each bucket")
    counted: bool = parameter(True, "whether the task tells how many rows a bucket has")


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
    def columns(self) -> dict[str, Feature]:
        return {"text": value("string"), "label": value("int32"), "bucket": value("int8")}

    @property
    def splits(self) -> tuple[Split, ...]:
        *shared, last = range(len(self.parameters.sizes))
        return (
            Split("train", 500, tuple(shared), evaluation=False),
            Split("iid", 90, tuple(shared)),
            Split("test", 70, (last,)),
        )

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        return _block(bucket, draws.integers(self.parameters.sizes[bucket], n))

    def capacity(self, split: Split, bucket: int) -> int | None:
        return self.parameters.sizes[bucket] if self.parameters.counted else None

    def enumerate_rows(self, split: Split, bucket: int) -> Block:
        return _block(bucket, np.arange(self.parameters.sizes[bucket]))

    def content(self, block: Block) -> NDArray[np.uint8]:
        # Odd codes, their lowest byte last: no row ends in a zero byte.
        code = np.column_stack([block["bucket"], 2 * block["number"] + 1])
        return code.astype(">u4").view(np.uint8)

    def render(self, block: Block) -> dict[str, pa.Array]:
        bucket, number = (pa.array(block[name]) for name in ("bucket", "number"))
        return {
            "text": pc.binary_join_element_wise(bucket.cast("string"), number.cast("string"), ":"),
            "label": number.cast("int32"),
            "bucket": bucket.cast("int8"),
        }

    def parse(self, columns: Mapping[str, pa.Array]) -> Block:
        parts = pc.split_pattern(columns["text"], ":").flatten().cast("int64").to_numpy()
        return Block({"bucket": parts[0::2], "number": parts[1::2]})

    def recompute_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        bucket, number = map(int, row["text"].split(":"))
        return {"label": number, "bucket": bucket}

    def solve(self, question: str) -> int:
        return int(question.split(":")[1])

    def read_answer(self, row: Mapping[str, Any], prediction: Any) -> Any:
        return prediction


def _block(bucket: int, number: NDArray[np.int64]) -> Block:
    return Block({"bucket": np.full(len(number), bucket, np.int64), "number": number})
