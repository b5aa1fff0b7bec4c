"""What several test files need: the tasks, rows of them, the program as a process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from synthbench.dataset.manifest import Manifest
from synthbench.engine.engine import Engine
from synthbench.sampling.blocks import Rows
from synthbench.sampling.plan import make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.base import Block, Task
from synthbench.tasks.features import is_image
from synthbench.tasks.registry import list_tasks, make_task, task_class

ROOT = Path(__file__).parents[1]


def has_images(task: Task) -> bool:
    return any(is_image(feature) for feature in task.columns.values())


#: Every task that needs no source images, with each of its variants.
IMAGELESS = [
    (name, variant)
    for name in list_tasks()
    if not has_images(make_task(name))
    for variant in task_class(name).variants
]


def draw_splits(task: Task, rows: int | None) -> dict[str, Rows]:
    """All splits of a dataset: `rows` rows each or as many as exist, or the paper's numbers."""
    plan = make_plan(task, {split.name: rows or split.rows for split in task.splits}, at_most=True)
    drawn = {}
    for split in task.splits:
        sampler = SplitSampler(task, split, plan, Engine(None, 1))
        rounds = [one.rows() for one in sampler.rounds()]
        drawn[split.name] = Rows(
            Block.concatenate([one.block for one in rounds]),
            np.concatenate([one.fingerprints for one in rounds]),
            np.concatenate([one.buckets for one in rounds]),
        )
    return drawn


def plain_rows(columns: Mapping[str, pa.Array]) -> list[dict[str, Any]]:
    """Columns as rows of plain Python values."""
    cells = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in cells]


def shards(directory: Path, variant: str, split: str) -> list[Path]:
    return sorted((directory / "data" / variant).glob(f"{split}-*.parquet"))


def stored_rows(directory: Path, variant: str, split: str) -> pa.Table:
    """A split as plain pyarrow reads it."""
    return pa.concat_tables([pq.read_table(file) for file in shards(directory, variant, split)])


def digests(manifest: Manifest) -> dict[str, dict[str, str]]:
    return {
        variant: {name: split.digest for name, split in splits.items()}
        for variant, splits in manifest.variants.items()
    }


def environment(**changes: str) -> dict[str, str]:
    """This process's environment for another one that imports synthbench from here."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **changes}


def run_program(*words: str, cwd: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """The command line as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "synthbench", *words],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_python(code: str, **changes: str) -> str:
    """What a piece of Python prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def id_texts(fingerprints: NDArray[np.uint64]) -> list[str]:
    return [f"{one:016x}" for one in fingerprints.tolist()]


def card_sections(card: str) -> dict[str, str]:
    """The sections of a dataset card by their titles, open and folded ones."""
    parts = re.split(r"^(?:## |<details>\n<summary>)(.+?)(?:</summary>)?$", card, flags=re.M)
    titles, texts = parts[1::2], [text.strip().removesuffix("</details>") for text in parts[2::2]]
    assert len(set(titles)) == len(titles)
    return dict(zip(titles, texts, strict=True))
