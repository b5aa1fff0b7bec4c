"""Whether a dataset is what its manifest says: everything derived again, from the files alone.

What manifest, card and footers tell is looked at first (`filechecks`); workers then look at rows
(`rowchecks`) and bytes (`bytechecks`); what concerns more than one row (repeated rows, source
images of two splits, balance) is put together here. What merely shaped the chances of rows (the
seed, some of the parameters) and the number of candidates tried do not show in the rows; the
command in the card is compared with the former.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
from pathlib import Path

import numpy as np

from synthbench.dataset.dataset import MANIFEST, Dataset, columns_of
from synthbench.dataset.parquet import read_batches
from synthbench.engine.engine import Asked, Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.progress import Bar, progress_bar
from synthbench.tasks.base import Task
from synthbench.tasks.images.source_dirs import SourceDir, use_source_dir
from synthbench.tasks.images.task import ImageTask
from synthbench.text import printable
from synthbench.verification.card import check_card
from synthbench.verification.files import (
    SplitFiles,
    check_tables,
    check_unknown_files,
    make_tasks,
    open_variant,
)
from synthbench.verification.findings import SHOWN, Findings
from synthbench.verification.rows import RowGroup, RowGroupReport, check_row_group, hash_split

#: Names of two of the counts in a report.
IMAGES, PIXELS = "source images", "rows compared with source images"


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """What `verify` found.

    Attributes:
        path: the dataset directory.
        task: name of the task.
        failures: all that is wrong, each text with the file and, where one row is meant, its
            number, counted from 0 in its file.
        checked: how many variants, splits, shards, rows, derived values and so on were looked
            at, by name.
    """

    path: Path
    task: str
    failures: list[str]
    checked: dict[str, int]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.failures

    def __str__(self) -> str:
        place = printable(str(self.path))
        lines = [f"{self.task} at {place} is what its manifest says."]
        if self.failures:
            lines = [
                f"{self.task} at {place} is not what its manifest says "
                "(rows are counted from 0 in their file):",
                *(f"- {failure}" for failure in self.failures),
            ]
        counts = [f"{name} {count:,}" for name, count in self.checked.items() if count]
        lines.append(f"Checked: {', '.join(counts) or 'nothing'}.")
        if self.checked[IMAGES] and not self.checked[PIXELS]:
            lines.append(
                "The source images are not here (--source-dir says where they are), so the pixels "
                "and what the manifest says of the sources were not compared with them."
            )
        return "\n".join(lines)


def verify(
    path: str | Path,
    *,
    workers: int | None = None,
    source_dir: SourceDir | None = None,
    progress: bool = True,
) -> VerificationReport:
    """Derive everything in a dataset directory again, and compare.

    Compared are: checksums, sizes and schemas of the shards; the digest of every split; every
    derived column and the id of every row; the rows of every split and bucket; the task's tables;
    and what the card says of content, rows, features and the command. No row may be twice in a
    variant, no source image in two of its splits, no unknown file under `data`. Pixels are
    compared with their source images where these are at hand.

    Args:
        path: the dataset directory.
        workers: how many processes check rows, at most 256; default: the usable cores, or 1 in a
            daemonic process. No more are started than there are files and row groups to check.
        source_dir: where source images lie, as in `generate`; if given, they must be there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        What was checked, and every failure with its file and row.

    Raises:
        DatasetError: there is no dataset, its manifest cannot be read or is newer, or the dataset
            was replaced meanwhile.
        UsageError: a number of workers that is not allowed, or class folders that the dataset
            names and that are in no directory of the sources.
        SynthbenchError: source images are missing in `source_dir`, or broken.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> report = synthbench.verify("parity")
        >>> report.ok, report.checked["rows"]
        (True, 202)
    """
    check_workers(workers)
    dataset = Dataset.open(path)
    findings = Findings()
    with use_source_dir(source_dir), dataset.unreplaced():
        tasks = make_tasks(dataset, findings)
        check_tables(dataset, tasks, findings, bool(source_dir))
        check_card(dataset, tasks, findings)
        check_unknown_files(dataset, findings)
        variants = {name: open_variant(dataset, task, findings) for name, task in tasks.items()}
        splits = [split for variant in variants.values() for split in variant]
        rows = sum(row_group.rows for split in splits for row_group in split.row_groups)
        calls = len(splits) + sum(len(split.row_groups) for split in splits)
        with (
            open_engine(workers=workers, calls=calls) as engine,
            progress_bar(progress, f"verify {dataset.manifest.task}", "rows", rows) as bar,
        ):
            checking = _Checking(dataset.path, engine, findings, bar, bool(source_dir))
            for name, task in tasks.items():
                checking.variant(task, variants[name])
    checked = {
        "variants": len(variants),
        "splits": len(splits),
        "shards": sum(len(split.shards) for split in splits),
        "rows": rows,
        "derived values": checking.values,
        IMAGES: checking.images,
        PIXELS: checking.pixels,
    }
    return VerificationReport(dataset.path, dataset.manifest.task, findings.texts(), checked)


# What the rows say.

_Reports = list[tuple[RowGroup, RowGroupReport]]


@dataclasses.dataclass
class _Checking:
    """The check of all rows and bytes.

    Attributes:
        directory: the dataset directory.
        engine: where row groups are checked.
        findings: what is wrong.
        bar: shows the rows that are done.
        with_sources: whether source images are said to be here.
        values, images, pixels: what was looked at so far, see `VerificationReport.checked`.
    """

    directory: Path
    engine: Engine
    findings: Findings
    bar: Bar
    with_sources: bool
    values: int = 0
    images: int = 0
    pixels: int = 0

    def variant(self, task: Task, splits: list[SplitFiles]) -> None:
        """Check one variant."""
        features = columns_of(task)
        hashes = [
            self.engine.submit(
                hash_split,
                [self.directory / shard.file for shard in files.shards],
                files.footers,
                features if files.whole else None,
            )
            for files in splits
        ]
        reports = {files.name: self._reports(task, files) for files in splits}
        for files, hashed in zip(splits, hashes, strict=True):
            self._compare_hashes(files, *hashed.result())
            self._compare_buckets(task, files, reports[files.name])
        self._find_repeated_rows([pair for pairs in reports.values() for pair in pairs])
        self._find_shared_images(task, reports)

    def _reports(self, task: Task, files: SplitFiles) -> _Reports:
        """Have all row groups of a split checked, a few ahead of the one that is waited for."""
        with_sources = self.with_sources or (isinstance(task, ImageTask) and task.has_sources())
        pending: collections.deque[tuple[RowGroup, Asked[RowGroupReport]]] = collections.deque()
        reports: _Reports = []
        self.bar.update(0, now=files.name)
        waiting = collections.deque(files.row_groups)
        while waiting or pending:
            while waiting and len(pending) <= self.engine.ahead:
                row_group = waiting.popleft()
                path = self.directory / row_group.file
                future = self.engine.submit(check_row_group, path, task, row_group, with_sources)
                pending.append((row_group, future))
            row_group, future = pending.popleft()
            report = future.result()
            self.findings.merge(report.findings)
            self.values += report.values
            self.pixels += report.pixels
            self.bar.update(row_group.rows)
            reports.append((row_group, report))
        return reports

    def _compare_hashes(
        self, files: SplitFiles, checksums: list[str | None], digest: str | None
    ) -> None:
        for shard, checksum in zip(files.shards, checksums, strict=True):
            size = (self.directory / shard.file).stat().st_size
            if size != shard.bytes:
                text = f"has {size} bytes, the manifest says {shard.bytes}"
                self.findings.add(shard.file, "bytes", text)
            if checksum != shard.sha256:
                text = f"its sha256 is {checksum}, the manifest says {shard.sha256}"
                self.findings.add(shard.file, "sha256", text)
        if files.whole and digest != files.record.digest:
            text = f"the digest of the rows is {digest}, the manifest says {files.record.digest}"
            if digest is None:
                text = "the rows cannot be read for their digest"
            self.findings.add(f"data/{files.name}-*.parquet", "digest", text)

    def _compare_buckets(self, task: Task, files: SplitFiles, reports: _Reports) -> None:
        counts: collections.Counter[int] = sum(
            (report.buckets for _, report in reports), collections.Counter()
        )
        there = {task.bucket_label(bucket): counts[bucket] for bucket in files.split.buckets}
        stated = files.record.buckets
        # A bucket of the split that has no rows need not be named.
        if files.whole and {**dict.fromkeys(there, 0), **stated} != there:
            there = {label: rows for label, rows in there.items() if rows}
            text = f"rows by {task.bucket_name} of {files.name} are {stated}, in its files {there}"
            self.findings.add(MANIFEST, f"buckets of {files.name}", text)

    def _find_repeated_rows(self, reports: _Reports) -> None:
        """Name every row that is in the variant a second time, with its first place."""
        none = np.zeros(0, np.uint64)
        prints = np.sort(np.concatenate([none, *(report.fingerprints for _, report in reports)]))
        repeated = np.unique(prints[1:][prints[1:] == prints[:-1]])
        first: dict[int, str] = {}
        for row_group, report in reports if len(repeated) else []:
            others = np.array(report.others, np.int64) - row_group.first
            numbers = np.delete(
                np.arange(row_group.first, row_group.first + row_group.rows), others
            )
            for index in np.flatnonzero(np.isin(report.fingerprints, repeated)):
                fingerprint, row = int(report.fingerprints[index]), int(numbers[index])
                if fingerprint in first:
                    text = f"the same row as {first[fingerprint]}"
                    self.findings.add(row_group.file, "rows that are there already", text, row)
                else:
                    first[fingerprint] = f"{row_group.file} row {row}"

    def _find_shared_images(self, task: Task, reports: dict[str, _Reports]) -> None:
        """Name the source images that two splits use, with a row of each."""
        used = {
            name: np.unique(np.concatenate([report.sources for _, report in pairs]))
            for name, pairs in reports.items()
            if pairs
        }
        self.images += len(set().union(*used.values()))
        for one, other in itertools.combinations(used, 2):
            shared = np.intersect1d(used[one], used[other])
            for code in shared[:SHOWN]:
                (there, there_row), (here, row) = (
                    self._find_image(task, reports[name], code) for name in (one, other)
                )
                text = f"source image {code} is used by {there} row {there_row}, too"
                self.findings.add(here, "source images of another split", text, row)
            if len(shared) > SHOWN:
                text = f"in all {len(shared):,} source images of {other} are used by {one}, too"
                self.findings.add(f"data/{other}-*.parquet", f"images of {one}", text)

    def _find_image(self, task: Task, reports: _Reports, code: np.uint64) -> tuple[str, int]:
        """File and row of the first use of a source image."""
        row_group = next(row_group for row_group, report in reports if code in report.sources)
        row = row_group.first
        path = self.directory / row_group.file
        for batch in read_batches(path, groups=[row_group.group], footer=row_group.footer):
            for index in range(batch.num_rows):
                one = batch.slice(index, 1)
                columns = {name: one.column(name) for name in one.schema.names}
                # Rows that are none of the task's have been named before and were not asked.
                with contextlib.suppress(ValueError):
                    if isinstance(task, ImageTask) and code in task.source_images(columns):
                        return row_group.file, row + index
            row += batch.num_rows
        return row_group.file, row_group.first
