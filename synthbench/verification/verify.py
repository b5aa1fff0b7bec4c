"""Check that a dataset matches its manifest.

Manifest and card come first, then the files: sums, schema and digests (`files`). Then every split
is made again from the manifest and compared, and the reference solver solves every row (`rows`).
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synthbench import __version__
from synthbench.arguments import checked
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.digest import CHUNK_ROWS
from synthbench.engine.engine import check_workers
from synthbench.engine.open import open_engine
from synthbench.tasks.base import Task
from synthbench.tasks.images.task import ImageTask
from synthbench.text.lines import one_line, printable
from synthbench.text.progress import progress_bar
from synthbench.text.tables import render, stack, styled
from synthbench.verification.card import check_card
from synthbench.verification.files import (
    SplitFiles,
    check_tables,
    make_tasks,
    read_split,
    release,
    unknown_files,
)
from synthbench.verification.ids import check_ids
from synthbench.verification.rows import derived_columns, make_again, solve_rows

if TYPE_CHECKING:
    from rich.console import Group

#: The first version that generates the same rows as this version.
ROWS_SINCE = "0.2.0"
#: The counts of a report.
_COUNTED = "variants", "splits", "shards", "rows", "derived values", "rows made again"
#: Claims that only a second making proves.
_BY_MAKING_AGAIN = "seed, parameters, balance and order of rows"


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """The result of `verify`.

    Attributes:
        path: the dataset directory.
        task: name of the task.
        failures: everything that is wrong, with the file and, for a single row, its number,
            counted from 0 in its file.
        checked: how many variants, splits, shards, rows, derived values and so on were checked.
        not_proved: what could not be checked, and why.
    """

    path: Path
    task: str
    failures: list[str]
    checked: dict[str, int]
    not_proved: list[str]

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return not self.failures

    @property
    def made_again(self) -> bool:
        """True if every split was made again, entirely or up to the first row that differs."""
        return not self.not_proved

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values."""
        values = dataclasses.asdict(self)
        return {**values, "path": str(self.path), "ok": self.ok, "made_again": self.made_again}

    def __str__(self) -> str:
        return render(self)

    def __rich__(self) -> Group:
        """The report in colours, as `rich.print` and the command line show it."""
        path = str(self.path)
        if not self.path.is_absolute() and not path.startswith("."):
            path = f".{os.sep}{path}"
        dataset = f"{self.task} ({printable(path)})"
        verdict, color = f"{dataset} matches its manifest.", "green"
        if self.failures:
            counted = "Rows are counted from 0 in their file"
            verdict, color = f"{dataset} does not match its manifest. {counted}:", "red"
        elif not self.made_again:
            verdict, color = (
                f"Nothing wrong was found in {dataset}, but not everything is proved.",
                "yellow",
            )
        counts = [f"{name} {count:,}" for name, count in self.checked.items() if count]
        return stack(
            styled(verdict, color, whole=True),
            *(f"- {failure}" for failure in self.failures),
            f"Checked: {', '.join(counts) or 'nothing'}.",
            *(f"Not proved: {reason}" for reason in self.not_proved),
        )


@checked
def verify(
    dataset: str | PathLike[str],
    *,
    fast: bool = False,
    workers: int | None = None,
    progress: bool = True,
) -> VerificationReport:
    """Check every row of a dataset directory, then make the dataset again and compare.

    It checks the checksums, sizes and schemas of the shards; the digest of every split; every
    derived column, by the reference solver; every id, from the row's inputs; that no row occurs
    twice, and that each is in its split and bucket; the task's tables; what the card says about
    content, rows, features and the command; and that `data` has no other shard. Every split is
    generated again from the manifest. The first row of each split that differs is named.

    Args:
        dataset: the dataset directory.
        fast: do not make the dataset again. The report lists the claims that are then not proved.
        workers: how many processes check rows, at most 256. Default: the usable cores, or 1 in a
            daemonic process. No more are started than there are files and row groups.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        The checks, every failure with its file and row, and claims that were not proved: a dataset
        cannot be made again without its source images, or by a version that makes other rows.

    Raises:
        DatasetError: the dataset is missing, or its manifest cannot be read or is newer.
        UsageError: a number of workers that is not allowed, or class folders of the dataset that
            no source directory has.
        SynthbenchError: source images are broken.

    Example:
        >>> import synthbench
        >>> manifest = synthbench.generate("parity", preset="small")
        >>> report = synthbench.verify("parity")
        >>> report.ok, report.made_again, report.checked["rows"]
        (True, True, 200)
    """
    check_workers(workers)
    opened = DatasetDirectory.open(dataset)
    manifest, findings, unproved = opened.manifest, list[str](), list[str]()
    tasks = make_tasks(opened, findings)
    with_sources = bool(opened.source_dirs)
    if len(tasks) == len(manifest.variants):
        findings += check_tables(manifest, tasks, with_sources)
        findings += check_card(opened, tasks)
    findings += unknown_files(opened)
    splits = [
        (opened.path, task, split, records[split.name], manifest.shard_rows)
        for variant, task in tasks.items()
        for records in [manifest.variants[variant]]
        for split in task.splits
        if split.name in records
    ]
    other = _why_other_rows(manifest.synthbench)
    reason = other or _why_not_again(tasks.values(), fast, with_sources)
    look = functools.partial(solve_rows, ours=other is None)
    prove = look if reason else make_again
    checked = dict.fromkeys(_COUNTED, 0) | {"variants": len(tasks), "splits": len(splits)}
    rows = sum(record.rows for *_, record, _ in splits)
    with (
        open_engine(workers=workers, calls=len(splits) + rows // CHUNK_ROWS) as engine,
        progress_bar(progress, f"verify {manifest.task}", "rows", rows) as bar,
    ):

        def advance(rows: int) -> None:
            checked["rows made again"] += 0 if reason else rows
            bar.update(rows)

        sound = collections.defaultdict[str, list[SplitFiles]](list)
        for _, files in engine.in_order(read_split, splits):
            bar.update(0, now=files.name)
            faults = files.faults
            checked["shards"] += files.shards
            checked["rows"] += files.rows
            checked["derived values"] += files.rows * len(derived_columns(files.task))
            if files.chunks is None:
                unproved.append(files.name)
            else:
                faults = [*faults, *prove(files, engine, advance)]
            findings += faults
            if not faults:
                sound[files.task.variant].append(files)
        if other is None:
            for alike in sound.values():
                findings += check_ids(alike, engine)
    unproved += [name for name in manifest.variants if name not in tasks]
    not_proved = [reason] if reason else []
    not_proved += [f"{name}: its rows, because of the faults." for name in unproved]
    failures = [one_line(finding) for finding in findings]
    return VerificationReport(opened.path, manifest.task, failures, checked, not_proved)


def _why_other_rows(made_by: str) -> str | None:
    """The limit of the proof if another version may have made other rows. None if ours did."""
    theirs, since, ours = release(made_by), release(ROWS_SINCE), release(__version__)
    trusted = f"ids, {_BY_MAKING_AGAIN}: made by synthbench {made_by}"
    if theirs and since and theirs < since:
        return (
            f"{trusted}, whose rows differed. It cannot be made again by this version, "
            f"{__version__}."
        )
    if theirs and ours and theirs > ours:
        return f"{trusted}, which is newer than this version, {__version__}, and may differ."
    return None


def _why_not_again(tasks: Iterable[Task], fast: bool, with_sources: bool) -> str | None:
    """The limit of the proof if the dataset is not made again, and why. None if it is."""
    if fast:
        return f"{_BY_MAKING_AGAIN}: not made again (--fast)."
    sourced = [task for task in tasks if isinstance(task, ImageTask)]
    if not with_sources and not all(task.has_sources() for task in sourced):
        return (
            f"pixels, tables, {_BY_MAKING_AGAIN}: not made again, because the source images are "
            "missing (--source-dir says where they are)."
        )
    return None
