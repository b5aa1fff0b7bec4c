"""Whether a dataset is what its manifest says: every row checked by itself, then made again.

What manifest, card and footers tell is looked at first (`files`, `card`). Workers then check rows
and bytes (`rows`): sums, labels by the reference solver, ids. At last every split is generated
again from the manifest and compared (`again`), so that nothing the manifest says can be false.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator
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
    RowGroupReport,
    SplitHashes,
    check_row_group,
    hash_split,
)

if TYPE_CHECKING:
    from rich.console import Group

#: The first version that made the rows that this one makes.
ROWS_SINCE = "0.2.0"
#: What only making a dataset again proves.
_BY_MAKING_AGAIN = "seed, parameters, balance and order of rows"


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
        not_proved: what was not proved, and why; nothing of it is known to be wrong.
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
            verdict, color = (
                (
                    f"{self.task} at {place} is not what its manifest says "
                    "(rows are counted from 0 in their file):"
                ),
                "red",
            )
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
    features and the command; and that no unknown file lies under `data`. Then every split is
    generated again from the manifest. The first row that differs is named.

    Args:
        dataset: the dataset directory.
        fast: leave out making it again; what that leaves unproved is said.
        workers: how many processes check rows, at most 256; default: the usable cores, or 1 in a
            daemonic process. No more are started than there are files and row groups to check.
        source_dir: where source images lie, as in `generate`; if given, they must be there.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        What was checked, every failure with its file and row, and what was not proved: where
        source images are missing, or where a version made the dataset whose rows differed, it
        cannot be made again.

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
        >>> report.ok, report.made_again, report.checked["rows"]
        (True, True, 200)
    """
    check_workers(workers)
    opened = DatasetDirectory.open(dataset)
    manifest, findings, not_proved = opened.manifest, Findings(), []
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
        if reason is not None:
            not_proved.append(reason)
        else:
            untold = [name for name in manifest.variants if name not in tasks]
            not_proved += [_not_made(name) for name in untold]
        total = rows if reason else 2 * rows
        with (
            open_engine(workers=workers, calls=calls) as engine,
            progress_bar(progress, f"verify {manifest.task}", "rows", total) as bar,
        ):
            checking = _Checking(opened.path, engine, findings, bar, check_ids=other is None)
            for name, task in tasks.items():
                chunks = checking.rows(task, variants[name])
                if reason is None:
                    not_proved += map(_not_made, checking.again(task, variants[name], chunks))
    checked = {
        "variants": len(variants),
        "splits": len(splits),
        "shards": sum(len(split.shards) for split in splits),
        "rows": rows,
        "derived values": checking.values,
        "rows made again": checking.made_again,
    }
    return VerificationReport(opened.path, manifest.task, findings.texts(), checked, not_proved)


def _other_version(made_by: str) -> str | None:
    """What is not proved because another version made the dataset, whose rows may be others."""
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
            "not here (--source-dir says where they are)."
        )
    return None


def _not_made(what: str) -> str:
    return f"{what}: not made again, because of what was found wrong."


@dataclasses.dataclass
class _Checking:
    """The check of all rows and bytes.

    Attributes:
        directory: the dataset directory.
        engine: where row groups are checked and blocks are made.
        findings: what is wrong.
        bar: shows the rows that are done.
        check_ids: whether ids are this version's.
        values, made_again: what was looked at so far, see `VerificationReport.checked`.
    """

    directory: Path
    engine: Engine
    findings: Findings
    bar: Bar
    check_ids: bool
    values: int = 0
    made_again: int = 0

    def rows(self, task: Task, splits: list[SplitFiles]) -> dict[str, list[bytes]]:
        """Check the rows and bytes of a variant.

        Returns:
            For each split whose files hold what its record says, the digests of its chunks.
        """
        features = columns_of(task)
        asked = [
            self.engine.submit(
                hash_split,
                [self.directory / shard.file for shard in files.shards],
                files.footers,
                features if files.whole else None,
            )
            for files in splits
        ]
        for files in splits:
            self._check_row_groups(task, files)
        chunks = {}
        for files, hashes in zip(splits, asked, strict=True):
            found = hashes.result()
            self._compare_hashes(files, found)
            if found.chunks is not None and files.rows == files.record.rows:
                chunks[files.split.name] = found.chunks
        return chunks

    def _check_row_groups(self, task: Task, files: SplitFiles) -> None:
        """Have all row groups of a split checked, a few ahead of the one that is waited for."""
        pending: collections.deque[tuple[RowGroup, Asked[RowGroupReport]]] = collections.deque()
        self.bar.update(0, now=files.name)
        waiting = collections.deque(files.row_groups)
        while waiting or pending:
            while waiting and len(pending) <= self.engine.ahead:
                row_group = waiting.popleft()
                path = self.directory / row_group.file
                future = self.engine.submit(check_row_group, path, task, row_group, self.check_ids)
                pending.append((row_group, future))
            row_group, future = pending.popleft()
            report = future.result()
            self.findings.merge(report.findings)
            self.values += report.values
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

    def again(
        self, task: Task, splits: list[SplitFiles], chunks: dict[str, list[bytes]]
    ) -> Iterator[str]:
        """Make a variant again and compare it with its files.

        Args:
            task: the task.
            splits: the files of its splits.
            chunks: what `rows` returned.

        Yields:
            Names of the splits that could not be made again, because faults were found in them.
        """
        for files in splits:
            if files.split.name not in chunks:
                yield files.name
                continue
            self.bar.update(0, now=f"{files.name} again")
            made = chunks[files.split.name]
            for rows in compare_with_files(
                task, files, self.directory, made, self.engine, self.findings
            ):
                self.made_again += rows
                self.bar.update(rows)
