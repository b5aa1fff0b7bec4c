"""Check that a dataset is what its manifest says.

Manifest, card and footers come first (`files`, `card`), then checksums and digests. Every split is
generated again from the manifest and compared by its digests (`again`), and the reference solver
solves every row. Where that is not possible, or something differs, every row in the files is
checked by itself (`rows`): missing values, labels by the reference solver, ids.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench import __version__
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.engine.engine import Asked, Engine, check_workers
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

#: The first version that made the rows that this one makes.
ROWS_SINCE = "0.2.0"
#: What only making a dataset again proves.
_BY_MAKING_AGAIN = "seed, parameters, balance and order of rows"
_NOT_MADE = "not made again, because of what was found wrong"


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """What `verify` found.

    Attributes:
        path: the dataset directory.
        task: name of the task.
        failures: everything that is wrong, with the file and, for a single row, its number,
            counted from 0 in its file.
        checked: how many variants, splits, shards, rows, derived values and so on were checked.
        not_proved: what was not proved, and why; none of it is known to be wrong.
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
        """Whether the whole dataset was made again, or each split up to a row that differs."""
        return not self.not_proved

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        values = dataclasses.asdict(self)
        return {**values, "path": str(self.path), "ok": self.ok, "made_again": self.made_again}

    def __str__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The report in colours, as `rich.print` and the command line show it."""
        place, color = printable(str(self.path)), "green"
        verdict = f"{self.task} at {place} is what its manifest says."
        if self.failures:
            verdict = (
                f"{self.task} at {place} is not what its manifest says "
                "(rows are counted from 0 in their file):"
            )
            color = "red"
        elif not self.made_again:
            verdict = f"Nothing wrong was found in {self.task} at {place}, but not all is proved."
            color = "yellow"
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

    Checked are: checksums, sizes and schemas of the shards; the digest of every split; every
    derived column and the id of every row; the task's tables; what the card says of content, rows,
    features and the command; and that no unknown file lies under `data`. Every split is generated
    again from the manifest, and the first row that differs is named.

    Args:
        dataset: the dataset directory.
        fast: do not make it again; the report says what is not proved then.
        workers: how many processes check rows, at most 256; default: the usable cores, or 1 in a
            daemonic process. No more are started than there are files and row groups.
        source_dir: where source images lie, as in `generate`; if given, they must be there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        What was checked, every failure with its file and row, and what was not proved: a dataset
        whose source images are missing, or whose version made other rows, cannot be made again.

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
        variants = {name: open_variant(opened, task, findings) for name, task in tasks.items()}
        splits = [split for variant in variants.values() for split in variant]
        rows = sum(split.rows for split in splits)
        calls = len(splits) + sum(len(split.row_groups) for split in splits)
        other = _other_version(manifest.synthbench)
        reason = other or _why_not_again(tasks.values(), fast, bool(source_dir))
        not_made = [name for name in manifest.variants if name not in tasks]
        with (
            open_engine(workers=workers, calls=calls) as engine,
            progress_bar(progress, f"verify {manifest.task}", "rows", rows) as bar,
        ):
            checking = _Checking(
                opened.path, engine, findings, bar, not reason, other is None, not_made
            )
            for name, task in tasks.items():
                checking.check_variant(task, variants[name])
    checked = {
        "variants": len(variants),
        "splits": len(splits),
        "shards": sum(len(split.shards) for split in splits),
        "rows": rows,
        "derived values": sum(
            len(derived_columns(tasks[name])) * split.rows
            for name, variant in variants.items()
            for split in variant
        ),
        "rows made again": checking.made_again,
    }
    not_proved = [reason] if reason else [f"{one}: {_NOT_MADE}." for one in checking.not_made]
    return VerificationReport(opened.path, manifest.task, findings.texts(), checked, not_proved)


def _other_version(made_by: str) -> str | None:
    """What is not proved because another version made the dataset, with other rows perhaps."""
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
    """The checks of all rows and bytes.

    Attributes:
        directory: the dataset directory.
        engine: where rows are checked and made.
        findings: what is wrong.
        bar: shows the rows that are done.
        again: whether splits are made again.
        check_ids: whether ids are this version's.
        not_made: variants and splits that could not be made again, because faults were found.
        made_again: rows that were made again so far.
    """

    directory: Path
    engine: Engine
    findings: Findings
    bar: Bar
    again: bool
    check_ids: bool
    not_made: list[str]
    made_again: int = 0

    def check_variant(self, task: Task, splits: list[SplitFiles]) -> None:
        """Check the rows and bytes of a variant."""
        asked = [
            self.engine.submit(
                hash_split,
                [self.directory / shard.file for shard in files.shards],
                files.footers,
                columns_of(task) if files.whole else None,
            )
            for files in splits
        ]
        for files, hashes in zip(splits, asked, strict=True):
            differences = Findings()
            proved = self.again and self._make_again(task, files, hashes.result(), differences)
            if not proved:
                self._check_rows(task, files)
            self._compare_hashes(files, hashes.result())
            self.findings.merge(differences)

    def _make_again(
        self, task: Task, files: SplitFiles, found: SplitHashes, differences: Findings
    ) -> bool:
        """Make a split again; whether that proves every row in its files."""
        if found.chunks is None or files.rows != files.record.rows:
            self.not_made.append(files.name)
            return False
        self.bar.update(0, now=f"{files.name} again")

        def advance(rows: int) -> None:
            self.made_again += rows
            self.bar.update(rows)

        return compare_with_files(
            task, files, self.directory, found.chunks, self.engine, differences, advance
        )

    def _check_rows(self, task: Task, files: SplitFiles) -> None:
        """Check all row groups of a split, a few ahead of the one that is waited for."""
        if self.again:
            self.bar.total += files.rows
        self.bar.update(0, now=files.name)
        pending: collections.deque[tuple[RowGroup, Asked[Findings]]] = collections.deque()
        waiting = collections.deque(files.row_groups)
        while waiting or pending:
            while waiting and len(pending) <= self.engine.ahead:
                row_group = waiting.popleft()
                path = self.directory / row_group.file
                future = self.engine.submit(check_row_group, path, task, row_group, self.check_ids)
                pending.append((row_group, future))
            row_group, future = pending.popleft()
            self.findings.merge(future.result())
            self.bar.update(row_group.rows)

    def _compare_hashes(self, files: SplitFiles, found: SplitHashes) -> None:
        for shard, checksum in zip(files.shards, found.checksums, strict=True):
            size = (self.directory / shard.file).stat().st_size
            if size != shard.bytes:
                text = f"has {size} bytes, the manifest says {shard.bytes}"
                self.findings.add(shard.file, "bytes", text)
            if checksum != shard.sha256:
                text = f"its sha256 is {checksum}, the manifest says {shard.sha256}"
                self.findings.add(shard.file, "sha256", text)
        stated = files.record.digest
        if files.whole and found.digest != stated:
            text = f"the digest of the rows is {found.digest}, the manifest says {stated}"
            if found.digest is None:
                text = "the rows cannot be read for their digest"
            self.findings.add(f"data/{files.name}-*.parquet", "digest", text)
