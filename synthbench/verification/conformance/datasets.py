"""Checks of a task's small datasets: made twice, in another process and by two workers. Verified.

Each check returns the problems it found, as sentences.
"""

from __future__ import annotations

import collections
import dataclasses
from pathlib import Path

import pyarrow as pa

from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.manifest import Manifest
from synthbench.errors import SynthbenchError
from synthbench.generation.generate import generate
from synthbench.sampling.plan import Plan, make_plan
from synthbench.tasks import registry
from synthbench.tasks.base import Split, Task
from synthbench.tasks.returned import buckets_of
from synthbench.verification.conformance.rows import Problems
from synthbench.verification.elsewhere import Elsewhere
from synthbench.verification.verify import verify

#: The minimum number of rows of a split, and of each of its buckets.
_ROWS, _BUCKET_ROWS = 200, 8
_HASH_SEED = "12345"
_SECONDS = 600


@dataclasses.dataclass(frozen=True)
class SmallDataset:
    """A small dataset of a task, made by one process.

    Attributes:
        task: the task.
        plan: how many rows each split and bucket should have.
        directory: the directory that holds this dataset as `first`, and the other datasets.
        manifest: the dataset's manifest.
    """

    task: Task
    plan: Plan
    directory: Path
    manifest: Manifest

    @classmethod
    def make(cls, task: Task, directory: Path) -> SmallDataset:
        """Make the dataset in `directory`."""
        plan = make_plan(task, {split.name: _rows(task, split) for split in task.splits}, True)
        return cls(task, plan, directory, _make(task, plan, directory / "first"))

    @property
    def first(self) -> DatasetDirectory:
        """The dataset, opened."""
        return DatasetDirectory(self.directory / "first", self.manifest)


def _rows(task: Task, split: Split) -> int:
    # A split with one bucket needs about this many rows to occupy two workers with blocks.
    least = task.block_rows // 8 if len(split.buckets) == 1 else _ROWS
    return min(split.rows, max(least, _ROWS, _BUCKET_ROWS * len(split.buckets)))


def check_again(dataset: SmallDataset) -> Problems:
    """The same command gives the same rows again in the same process."""
    again = _make(dataset.task, dataset.plan, dataset.directory / "again")
    return _compare(
        dataset,
        _digests(again),
        "when the dataset was made again. Look for time, unseeded generators and anything that "
        "the task or its module remembers between calls.",
    )


def check_elsewhere(dataset: SmallDataset) -> Problems:
    """Another process with another `PYTHONHASHSEED` gives the same rows."""
    request = (dataset.task, dataset.plan, dataset.directory / "elsewhere")
    try:
        with Elsewhere(make_elsewhere, request, _HASH_SEED) as elsewhere:
            digests = elsewhere.result(_SECONDS)
    except SynthbenchError as error:
        return [f"Another process could not make the dataset: {error}"]
    return _compare(
        dataset,
        digests,
        "in another process, with another PYTHONHASHSEED. Look for the order of sets and for "
        "hash() (sort sets, take fingerprints from hashlib), and for what differs in a worker "
        "process.",
    )


def make_elsewhere(request: tuple[Task, Plan, Path]) -> dict[str, str]:
    """The digests of the dataset that `check_elsewhere` asks for."""
    task, plan, out = request
    if task.name not in registry.list_tasks():
        registry.register(type(task))
    return _digests(_make(task, plan, out))


def check_two_workers(dataset: SmallDataset) -> Problems:
    """Two worker processes give the same rows as one process."""
    other = _make(dataset.task, dataset.plan, dataset.directory / "workers", workers=2)
    return _compare(
        dataset,
        _digests(other),
        "with two workers. Look for anything that propose remembers between blocks.",
    )


def check_full(dataset: SmallDataset) -> Problems:
    """Every bucket has the rows that were planned for it."""
    problems, task = [], dataset.task
    for split in task.splits:
        counts: collections.Counter[int] = collections.Counter()
        for batch in dataset.first.batches(task.variant, split.name):
            counts.update(buckets_of(task, pa.Table.from_batches([batch])).tolist())
        for bucket, planned in dataset.plan.quotas[split.name].items():
            if counts[bucket] < planned:
                problems.append(
                    f"Split {split.name}, {task.bucket_name} {task.bucket_label(bucket)} is "
                    f"starved: {counts[bucket]:,} of {planned:,} rows were found, then only "
                    "repeated ones. If it has no more, count them in capacity and list them in "
                    "enumerate_rows. Otherwise make them more likely in propose."
                )
    return problems


def check_distinct(dataset: SmallDataset) -> Problems:
    """No row comes twice."""
    ids = collections.Counter(
        row["id"]
        for split in dataset.task.splits
        for row in dataset.first.rows(dataset.task.variant, split.name, ["id"])
    )
    ((row_id, count),) = ids.most_common(1)
    return [f"The id {row_id} comes twice: compare content and parse."] if count > 1 else []


def check_verified(dataset: SmallDataset) -> Problems:
    """`synthbench verify` finds nothing wrong with the files."""
    return verify(dataset.first.path, workers=1, progress=False).failures


def _make(task: Task, plan: Plan, out: Path, workers: int = 1) -> Manifest:
    rows = {name: sum(quotas.values()) for name, quotas in plan.quotas.items()}
    return generate(task, out=out, rows=rows, workers=workers, progress=False)


def _digests(manifest: Manifest) -> dict[str, str]:
    (splits,) = manifest.variants.values()
    return {name: split.digest for name, split in splits.items()}


def _compare(dataset: SmallDataset, digests: dict[str, str], where: str) -> Problems:
    first = _digests(dataset.manifest)
    other = [name for name, digest in digests.items() if first[name] != digest]
    return [f"Split {', '.join(other)} got other rows {where}"] if other else []
