"""The command that reads a corpus of one's own: decontaminate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from synthbench.cli.options import (
    WithExamples,
    json_option,
    quiet_option,
    show,
    show_json,
    workers_option,
)


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench decontaminate corpus.jsonl --out clean.jsonl
    synthbench decontaminate corpus --out clean --report found.jsonl
    """,
)
@click.argument("corpus")
@click.option("--out", required=True, metavar="CLEAN", help="A path that does not exist yet.")
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="TASK",
    help="Default: all whose rows are texts. Repeatable.",
)
@click.option(
    "--min-bits",
    type=float,
    metavar="N",
    help="Ignore matches with fewer bits than this; 0 keeps every match. "
    "Default: as each task says.",
)
@click.option("--report", metavar="FILE", help="Where to write each row found, as JSON Lines.")
@workers_option
@json_option
@quiet_option
def decontaminate(
    corpus: str, tasks: Sequence[str], as_json: bool, quiet: bool, **chosen: Any
) -> None:
    """Copy CORPUS without documents that hold a held-out row.

    CORPUS is a file of JSON Lines or a directory of such files, also
    compressed. A document is a line; all strings in it are searched for rows
    of all tasks of text, in any spacing. Short rows that look like ordinary
    text do not count; see --min-bits.
    """
    from synthbench.decontamination.decontaminate import decontaminate as clean

    report = clean(corpus, tasks=tasks or None, progress=not quiet, **chosen)
    if as_json:
        show_json(report.to_dict())
    elif not quiet:
        show(report)
