"""Commands for rows of other origins: decontaminate, probe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import click

from synthbench.cli.options import (
    WithExamples,
    choice_option,
    json_option,
    quiet_option,
    show,
    show_json,
    workers_option,
)
from synthbench.text.lines import one_line


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
    corpus: str, tasks: Sequence[str], as_json: bool, quiet: bool, **keywords: Any
) -> None:
    """Copy CORPUS without documents that hold a held-out row.

    CORPUS is a file of JSON Lines or a directory of such files, also
    compressed. A document is a line. All strings in it are searched for rows
    of all tasks of text, in any spacing. Short rows that look like ordinary
    text do not count. See --min-bits.
    """
    from synthbench.decontamination.decontaminate import decontaminate as clean
    from synthbench.decontamination.search import text_tasks

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = tasks or text_tasks()
    for warning in caught:
        click.echo(f"Warning: {one_line(str(warning.message))}", err=True)
    report = clean(corpus, tasks=names, progress=not quiet, **keywords)
    if as_json:
        show_json(report.to_dict())
    elif not quiet:
        show(report)


@click.command(
    cls=WithExamples,
    epilog="""
    synthbench probe rows.jsonl --evaluation held_out.jsonl
    synthbench probe my_rows.py:rows --scorer my_rows.py:score
    synthbench probe reasoning-gym:leg_counting
    synthbench probe listops --only leaks --json
    """,
)
@click.argument("source")
@click.option(
    "--question",
    multiple=True,
    metavar="COL",
    help="Default: the usual names. Repeatable: several columns make one question.",
)
@click.option("--answer", metavar="COL", help="The right answer. Default: the usual names.")
@click.option(
    "--evaluation",
    metavar="FILE|SPLIT",
    help="Rows to evaluate on. Default: every split but train.",
)
@click.option("--scorer", metavar="FILE.py:FUNCTION", help="FUNCTION(reply, row) gives a reward.")
@choice_option("--scorer-reads", "reply", "answer")
@click.option("--only", metavar="QUESTION", help="Ask a single group of questions, such as leaks.")
@click.option(
    "--rows",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Rows of a generator. Default: 10,000, or as many as six seconds make.",
)
@json_option
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
def probe(source: str, as_json: bool, quiet: bool, **keywords: Any) -> int:
    """Report leaks, repeats and contradictions in any rows.

    SOURCE is a file or folder of Parquet, JSON Lines or CSV, a dataset
    directory, reasoning-gym:NAME, reasoning-core:NAME, verifiers:ENV, or
    FILE.py:FUNCTION, where FUNCTION(seed, split) gives rows as dicts.

    The exit status is 1 if something is wrong whatever the task: other rows
    for the same seed, evaluation rows in train, a question with two answers, a
    right answer that is not paid.
    """
    from synthbench.probing.probe import probe as ask

    report = ask(source, progress=not quiet, **keywords)
    show_json(report.to_dict()) if as_json else show(report)
    return 1 if report.wrong else 0
