"""Rows for the trainers verl and SkyRL: a Parquet file for each split.

verl reads `VARIANT/SPLIT.parquet` with `data.train_files=...`, and scores responses with
`synthbench.llm.verl`; SkyRL reads the same columns, of which some have other names, and asks the
environment `synthbench.llm.skyrl`.

    {"data_source": "synthbench/listops/dependency_depth7",
     "prompt": [{"role": "user", "content": "Evaluate the nested list..."}],
     "ability": "listops",
     "reward_model": {"style": "rule", "ground_truth": "6"},
     "extra_info": {"split": "test", "index": 0, "id": "d4f0...", "task": "listops", "row": "{}"}}

`task` and `row` are all that is needed to judge an answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synthbench.llm.mixtures import carried
from synthbench.sharing.parts import BATCH_ROWS, ExportPart, ExportRow, MixedPart
from synthbench.tasks.base import Task

_PROMPT = pa.list_(pa.struct({"role": pa.string(), "content": pa.string()}))
_EXTRA = pa.struct(
    {"split": pa.string(), "index": pa.int64(), "id": pa.string(), "task": pa.string(),
     "row": pa.string()}
)  # fmt: skip
_VERL = pa.schema(
    {"data_source": pa.string(), "prompt": _PROMPT, "ability": pa.string(),
     "reward_model": pa.struct({"style": pa.string(), "ground_truth": pa.string()}),
     "extra_info": _EXTRA}
)  # fmt: skip
_SKYRL = pa.schema(
    {"data_source": pa.string(), "prompt": _PROMPT, "env_class": pa.string(),
     "reward_spec": pa.struct({"method": pa.string(), "ground_truth": pa.string()}),
     "extra_info": _EXTRA}
)  # fmt: skip
#: The name under which SkyRL knows the environment of `synthbench.llm.skyrl`.
ENVIRONMENT = "synthbench"


def write_verl(parts: Sequence[ExportPart | MixedPart], directory: Path) -> None:
    """Write each part as verl's `RLHFDataset` reads it."""

    def record(row: ExportRow, index: int) -> dict[str, Any]:
        truth = {"style": "rule", "ground_truth": row.answer}
        return {**_asked(row, index), "ability": row.task.name, "reward_model": truth}

    _write(parts, directory, _VERL, record)


def write_skyrl(parts: Sequence[ExportPart | MixedPart], directory: Path) -> None:
    """Write each part as SkyRL's `PromptDataset` reads it."""

    def record(row: ExportRow, index: int) -> dict[str, Any]:
        truth = {"method": "rule", "ground_truth": row.answer}
        return {**_asked(row, index), "env_class": ENVIRONMENT, "reward_spec": truth}

    _write(parts, directory, _SKYRL, record)


def data_source(task: Task, bucket: int) -> str:
    """The origin of a row, down to its bucket: `synthbench/listops/dependency_depth7`."""
    names = ["synthbench", task.name]
    if len(task.variants) > 1:
        names.append(task.variant)
    if (label := task.bucket_label(bucket)) != "all":
        names.append(f"{task.bucket_name}{label.replace(' ', '-')}")
    return "/".join(names)


def _asked(row: ExportRow, index: int) -> dict[str, Any]:
    """Fields that both trainers read: the source, the prompt, and data for the judge."""
    extra = {"split": row.split, "index": index, "id": row.values["id"]}
    return {
        "data_source": data_source(row.task, row.bucket),
        "prompt": row.prompt,
        "extra_info": {**extra, **carried(row.task, row.values)},
    }


def _write(
    parts: Sequence[ExportPart | MixedPart],
    directory: Path,
    schema: pa.Schema,
    record: Callable[[ExportRow, int], dict[str, Any]],
) -> None:
    for part in parts:
        file = directory / part.path.with_name(f"{part.path.name}.parquet")
        file.parent.mkdir(exist_ok=True)
        rows = (record(row, index) for index, row in enumerate(part.export_rows()))
        with pq.ParquetWriter(file, schema) as writer:
            for some in _batches(rows):
                writer.write_table(pa.Table.from_pylist(some, schema))


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while some := list(itertools.islice(rows, BATCH_ROWS)):
        yield some
