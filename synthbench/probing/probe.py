"""The checks of this package's rows, for rows of any origin."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from synthbench.arguments import checked
from synthbench.checks import check_name, check_whole_number
from synthbench.errors import UsageError
from synthbench.probing.columns import Chosen, Row, choose_columns
from synthbench.probing.draws import DrawnSource, draw_source, same_rows, seeds
from synthbench.probing.functions import MOST_ROWS, check_reference, is_generator
from synthbench.probing.peers import PEERS
from synthbench.probing.report import WRONG, Probe, Verdict, counted
from synthbench.probing.rows import (
    ScannedSource,
    balance,
    contradicting,
    contradictions,
    leaks,
    repeats,
)
from synthbench.probing.scan import scan
from synthbench.probing.scorer import MOST_SCORED, ScorerJob, excused, scorer_verdicts
from synthbench.probing.shortcuts import shortcuts
from synthbench.probing.sources import open_source
from synthbench.text.progress import progress_bar

#: The questions about generators, and about rows, by the words that `only` takes.
OF_DRAWS: dict[str, Callable[[DrawnSource, Chosen], Iterator[Verdict]]] = {
    "same rows": same_rows,
    "seeds": seeds,
}
OF_ROWS: dict[str, Callable[[ScannedSource], Iterator[Verdict]]] = {
    "repeats": repeats,
    "leaks": leaks,
    "contradictions": contradictions,
    "balance": balance,
    "shortcuts": shortcuts,
}
#: The most questions with several answers whose answers a scorer is given.
_PAIRS = 20
READS = ("reply", "answer")
GROUPS = (*OF_DRAWS, *OF_ROWS, "scorer")


@checked
def probe(
    source: Any,
    *,
    question: str | Sequence[str] | None = None,
    answer: str | None = None,
    evaluation: str | None = None,
    scorer: str | None = None,
    scorer_reads: str = "reply",
    only: str | None = None,
    rows: int | None = None,
    progress: bool = True,
) -> Probe:
    """Ask rows of any origin the questions that this package asks of its own.

    Args:
        source: a file or folder of Parquet, JSON Lines or CSV, a dataset directory,
            `reasoning-gym:NAME`, `reasoning-core:NAME`, `verifiers:ENV` or `FILE.py:FUNCTION`,
            where `FUNCTION(seed, split)` gives rows as dicts, without end or not, a
            `datasets.Dataset` or `DatasetDict`, or rows as dicts.
        question: the columns of the question, by default those with usual names.
        answer: the column of the right answer, by default that with a usual name.
        evaluation: the split to evaluate on, or a file of more rows. Default: all splits but train.
        scorer: a reward for a reply to a row, as `FILE.py:FUNCTION` (see `probing.scorer`). By
            default the scorer of the generator.
        scorer_reads: "reply" if the scorer reads whole replies, "answer" if it reads an answer that
            was extracted from a reply.
        only: ask a single group of questions.
        rows: draw so many rows of a generator. By default 10,000, or as many as it makes in six
            seconds.
        progress: show a bar on standard error, if that is a terminal.

    Returns:
        A verdict on each question, with its evidence.

    Raises:
        UsageError: an unknown form of source, column, split or question.
        DatasetError: a file cannot be read.
        SynthbenchError: a generator raises an error.

    Example:
        >>> import synthbench
        >>> rows = [{"question": f"{n} + 1", "answer": n + 1} for n in range(100)]
        >>> synthbench.probe(rows).raise_if_wrong()
    """
    if only is not None:
        check_name("question", only, GROUPS)
    check_name("scorer_reads", scorer_reads, READS)
    if scorer is not None:
        check_reference(scorer)
    if isinstance(source, str) and is_generator(source) and source.partition(":")[0] not in PEERS:
        check_reference(source)
    if rows is not None:
        check_whole_number("rows", rows, 1, MOST_ROWS)
        if not (isinstance(source, str) and is_generator(source)):
            raise UsageError("rows= counts the rows of a generator. All rows of files are read.")
    named = [question] if isinstance(question, str) else list(question or ())
    options: dict[str, Any] = {"question": named, "answer": answer, "evaluation": evaluation}
    options |= {"scorer": scorer, "scorer_reads": scorer_reads if scorer else None, "rows": rows}
    verdicts: list[Verdict] = []

    def add(group: str, group_verdicts: Iterator[Verdict]) -> None:
        again = _again(source, {**options, "only": group})
        verdicts.extend(dataclasses.replace(verdict, again=again) for verdict in group_verdicts)

    with progress_bar(progress, "probe", "steps", len(OF_ROWS) + 1) as bar:
        if isinstance(source, str) and is_generator(source):
            drawn = draw_source(source, evaluation, bar, rows)
            opened = drawn.source
        else:
            drawn, opened = None, open_source(source, evaluation)
        first = next(iter(opened.splits.values()))
        columns = choose_columns(
            first.names, first.first(), named or opened.question, answer or opened.answer
        )
        if drawn is not None:
            for group, of_draws in OF_DRAWS.items():
                if only in (None, group):
                    add(group, of_draws(drawn, columns))
        bar.total += len(opened.splits)
        scans = {}
        for name, split in opened.splits.items():
            scans[name] = scan(split.read(columns.names), columns, bar, name)
            bar.update()
        if not any(split.answered for split in scans.values()):
            columns = dataclasses.replace(columns, answer=None)
        scanned = ScannedSource(opened, columns, scans)
        job = _scorer_job(source if drawn else None, drawn, scanned, scorer, scorer_reads)
        for group, of_rows in OF_ROWS.items():
            if only in (None, group):
                bar.update(0, now=group)
                add(group, _excused(of_rows(scanned), scanned, job))
            bar.update()
        if only in (None, "scorer"):
            bar.update(0, now="scorer")
            shown = [] if job.origin else [*islice(first.read(first.names), MOST_SCORED)]
            add("scorer", scorer_verdicts(dataclasses.replace(job, rows=shown)))
    sizes = ", ".join(f"{counted(len(split), 'row')} of {name}" for name, split in scans.items())
    return Probe(opened.name, f"{columns}; {sizes}", verdicts)


def _scorer_job(
    origin: str | None,
    drawn: DrawnSource | None,
    scanned: ScannedSource,
    scorer: str | None,
    scorer_reads: str,
) -> ScorerJob:
    """The scorer that is asked, without rows. A peer brings its own."""
    own = drawn is not None and (scorer or drawn.traits.has_scorer)
    replies = scorer_reads == "reply" if scorer else drawn and drawn.traits.reads_replies
    return ScorerJob(scorer, origin if own else None, scanned.chosen, [], bool(replies))


def _excused(
    verdicts: Iterator[Verdict], scanned: ScannedSource, job: ScorerJob
) -> Iterator[Verdict]:
    """Verdicts on rows, where a scorer may say that a question has several right answers."""
    for verdict in verdicts:
        if verdict.question == "contradictions" and verdict.result == WRONG:
            name, split = next(iter(scanned.scans.items()))
            near = [pair for pair in contradicting(scanned) if pair[1] < min(len(split), MOST_ROWS)]
            if near[:_PAIRS] and (job.scorer or job.origin):
                rows = [] if job.origin else _first_rows(scanned, name, near[:_PAIRS])
                job = dataclasses.replace(job, rows=rows, pairs=near[:_PAIRS])
                verdict = excused(verdict, job)
        yield verdict


def _first_rows(
    scanned: ScannedSource, split: str, pairs: Sequence[tuple[int, int]]
) -> Sequence[Row]:
    rows = scanned.source.splits[split]
    return [*islice(rows.read(rows.names), max(map(max, pairs)) + 1)]


def _again(source: Any, options: Mapping[str, Any]) -> str:
    """The command that asks one question again, in Python for rows in memory."""
    if not isinstance(source, str | os.PathLike):
        arguments = "".join(f", {name}={value!r}" for name, value in options.items() if value)
        return f"synthbench.probe(source{arguments})"
    words = ["synthbench", "probe", os.fspath(source)]
    for name, value in options.items():
        for word in [str(value)] if isinstance(value, str | int) else value or ():
            words += [f"--{name.replace('_', '-')}", word]
    return shlex.join(words)
