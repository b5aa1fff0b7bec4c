"""Check that a dataset is what its manifest says.

Manifest, card and footers come first (`files`, `card`), then checksums and digests. Every split is
generated again from the manifest and compared by its digests (`again`), and the reference solver
solves every row. Where that is not possible, or something differs, every row in the files is
checked on its own (`rows`): missing values, labels by the reference solver, ids.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from concurrent.futures import Future
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.engine.engine import Engine, check_workers
from synthbench.engine.open import open_engine
from synthbench.tasks.base import Task
from synthbench.tasks.images.source_dirs import SourceDir, use_source_dir
from synthbench.tasks.images.task import ImageTask
from synthbench.tasks.row_ids import columns_of
from synthbench.text.lines import printable
from synthbench.text.progress import Bar, progress_bar
from synthbench.text.tables import render, stack, styled
from synthbench.verification.again import compare_with_files
from synthbench.verification.card import check_card
from synthbench.verification.files import (
    SplitFiles,
    check_tables,
    check_unknown_files,
    make_tasks,
    open_variant,
    release,
)
from synthbench.verification.findings import Findings
from synthbench.verification.rows import (
    RowGroup,
    SplitHashes,
    check_row_group,
    derived_columns,
    hash_split,
)

if TYPE_CHECKING:
    from rich.console import Group

#: The first version that generates the same rows as this one.
ROWS_SINCE = "0.2.0"
#: What is proved only by making a dataset again.
_BY_MAKING_AGAIN = "seed, parameters, balance and order of rows"


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """What `verify` found.

    Attributes:
        path: the dataset directory.
        task: name of the task.
        failures: everything that is wrong, with the file and, for a single row, its number,
            counted from 0 in its file.
        checked: how many variants, splits, shards, rows, derived values and so on were checked.
        not_proved: what could not be checked, and why; nothing wrong was found in it.
    """

    path: Path
    task: str
    failures: list[str]
    checked: dict[str, int]
    not_proved: list[str]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.failures

    @property
    def made_again(self) -> bool:
        """Whether every split was made again, entirely or up to the first row that differs."""
        return not self.not_proved

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        values = dataclasses.asdict(self)
        return {**values, "path": str(self.path), "ok": self.ok, "made_again": self.made_again}

    def __str__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The report in colours, as `rich.print` and the command line show it."""
        place = f"{self.task} at {printable(str(self.path))}"
        verdict, color = f"{place} is what its manifest says.", "green"
        if self.failures:
            counted = "(rows are counted from 0 in their file)"
            verdict, color = f"{place} is not what its manifest says {counted}:", "red"
        elif not self.made_again:
            verdict, color = f"Nothing wrong was found in {place}, but not all is proved.", "yellow"
        counts = [f"{name} {count:,}" for name, count in self.checked.items() if count]
        return stack(
            styled(verdict, color, whole=True),
            *(f"- {failure}" for failure in self.failures),
            f"Checked: {', '.join(counts) or 'nothing'}.",
            *(f"Not proved: {reason}" for reason in self.not_proved),
        )


def verify(
    dataset: str | PathLike[str],
    *,
    fast: bool = False,
    workers: int | None = None,
    source_dir: SourceDir | None = None,
    progress: bool = True,
) -> VerificationReport:
    """Check every row of a dataset directory, then make the dataset again and compare.

    It checks the checksums, sizes and schemas of the shards; the digest of every split; every
    derived column and the id of every row; the task's tables; what the card says about content,
    rows, features and the command; and that `data` has no unknown file. Every split is generated
    again from the manifest, and the first row that differs is named.

    Args:
        dataset: the dataset directory.
        fast: do not make the dataset again; the report says what is not proved without.
        workers: how many processes check rows, at most 256; default: the usable cores, or 1 in a
            daemonic process. No more are started than there are files and row groups.
        source_dir: where source images are, as in `generate`; if given, they must be there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        What was checked, every failure with its file and row, and what was not proved: a dataset
        cannot be made again without its source images, or by a version that makes other rows.

    Raises:
        DatasetError: there is no dataset, its manifest cannot be read or is newer, or the dataset
            was replaced while it was read.
        UsageError: a number of workers that is not allowed, or class folders of the dataset that
            no source directory has.
        SynthbenchError: source images are missing in `source_dir`, or broken.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> report = synthbench.verify("parity")
        >>> report.ok, report.made_again, report.checked["rows"]
        (True, True, 200)
    """
    check_workers(workers)
    opened = DatasetDirectory.open(dataset)
    manifest, findings = opened.manifest, Findings()
    with use_source_dir(source_dir), opened.unreplaced():
        tasks = make_tasks(opened, findings)
        if len(tasks) == len(manifest.variants):
            check_tables(manifest, tasks, findings, bool(source_dir))
        check_card(opened, tasks, findings)
        check_unknown_files(opened, findings)
        splits = [one for task in tasks.values() for one in open_variant(opened, task, findings)]
        rows = sum(split.rows for split in splits)
        calls = len(splits) + sum(len(split.row_groups) for split in splits)
        other = _other_version(manifest.synthbench)
        reason = other or _why_not_again(tasks.values(), fast, bool(source_dir))
        not_made = [name for name in manifest.variants if name not in tasks]
        with (
            open_engine(workers=workers, calls=calls) as engine,
            progress_bar(progress, f"verify {manifest.task}", "rows", rows) as bar,
        ):
            checking = _Checking(engine, findings, bar, not reason, other is None, not_made)
            checking.check(splits)
    checked = {
        "variants": len(tasks),
        "splits": len(splits),
        "shards": sum(len(split.shards) for split in splits),
        "rows": rows,
        "derived values": sum(len(derived_columns(split.task)) * split.rows for split in splits),
        "rows made again": checking.made_again,
    }
    wrong = "not made again, because of what was found wrong"
    not_proved = [reason] if reason else [f"{name}: {wrong}." for name in checking.not_made]
    return VerificationReport(opened.path, manifest.task, findings.texts(), checked, not_proved)


def _other_version(made_by: str) -> str | None:
    """What is not proved because another version, perhaps with other rows, made the dataset."""
    made, since, ours = release(made_by), release(ROWS_SINCE), release(__version__)
    trusted = f"ids, {_BY_MAKING_AGAIN}: made by synthbench {made_by}"
    if made and since and made < since:
        return (
            f"{trusted}, whose rows differed; it cannot be made again by this version, "
            f"{__version__}."
        )
    if made and ours and made > ours:
        return f"{trusted}, which is newer than this version, {__version__}, and may differ."
    return None


def _why_not_again(tasks: Iterable[Task], fast: bool, with_sources: bool) -> str | None:
    """What is not proved because the dataset is not made again, and why; None if it is."""
    if fast:
        return f"{_BY_MAKING_AGAIN}: not made again (--fast)."
    sourced = [task for task in tasks if isinstance(task, ImageTask)]
    if not with_sources and not all(task.has_sources() for task in sourced):
        return (
            f"pixels, tables, {_BY_MAKING_AGAIN}: not made again, because the source images are "
            "missing (--source-dir says where they are)."
        )
    return None


@dataclasses.dataclass
class _Checking:
    """The checks of all rows and bytes."""

    engine: Engine
    findings: Findings
    bar: Bar
    again: bool  # whether splits are made again
    check_ids: bool  # whether this version computes the same ids
    not_made: list[str]  # variants and splits that could not be made again, as faults were found
    made_again: int = 0  # rows made again so far

    def check(self, splits: list[SplitFiles]) -> None:
        """Check the bytes and rows of splits."""
        asked = [
            self.engine.submit(
                hash_split,
                [split.directory / shard.file for shard in split.shards],
                split.footers,
                columns_of(split.task) if split.whole else None,
            )
            for split in splits
        ]
        for split, hashes in zip(splits, asked, strict=True):
            differences = Findings()
            proved = self.again and self._make_again(split, hashes.result(), differences)
            if not proved:
                self._check_rows(split)
            self._compare_hashes(split, hashes.result())
            self.findings.merge(differences)

    def _make_again(self, files: SplitFiles, found: SplitHashes, differences: Findings) -> bool:
        """Make a split again; whether that proves every row in its files."""
        if found.chunks is None or files.rows != files.record.rows:
            self.not_made.append(files.name)
            return False
        self.bar.update(0, now=f"{files.name} again")

        def advance(rows: int) -> None:
            self.made_again += rows
            self.bar.update(rows)

        return compare_with_files(files, found.chunks, self.engine, differences, advance)

    def _check_rows(self, files: SplitFiles) -> None:
        """Check all row groups of a split, submitting a few ahead."""
        if self.again:
            self.bar.total += files.rows
        self.bar.update(0, now=files.name)
        pending: collections.deque[tuple[RowGroup, Future[Findings]]] = collections.deque()
        waiting = collections.deque(files.row_groups)
        while waiting or pending:
            while waiting and len(pending) <= self.engine.ahead:
                group = waiting.popleft()
                path = files.directory / group.file
                future = self.engine.submit(
                    check_row_group, path, files.task, group, self.check_ids
                )
                pending.append((group, future))
            group, future = pending.popleft()
            self.findings.merge(future.result())
            self.bar.update(group.rows)

    def _compare_hashes(self, files: SplitFiles, found: SplitHashes) -> None:
        says = "the manifest says"
        for shard, checksum in zip(files.shards, found.checksums, strict=True):
            size = (files.directory / shard.file).stat().st_size
            if size != shard.bytes:
                text = f"has {size} bytes, {says} {shard.bytes}"
                self.findings.add(shard.file, "bytes", text)
            if checksum != shard.sha256:
                text = f"its sha256 is {checksum}, {says} {shard.sha256}"
                self.findings.add(shard.file, "sha256", text)
        if files.whole and found.digest != files.record.digest:
            text = f"the digest of the rows is {found.digest}, {says} {files.record.digest}"
            if found.digest is None:
                text = "the rows cannot be read to compute their digest"
            self.findings.add(f"data/{files.name}-*.parquet", "digest", text)
