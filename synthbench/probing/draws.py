"""Questions about generators: does the seed, and nothing else, decide the rows?"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import SynthbenchError, UsageError
from synthbench.evaluation.scores import wilson
from synthbench.probing.columns import Chosen
from synthbench.probing.functions import (
    COMPARED_ROWS,
    MOST_ROWS,
    Draw,
    DrawnRows,
    Job,
    make_draws,
)
from synthbench.probing.lags import between
from synthbench.probing.peers import PEERS, Traits
from synthbench.probing.report import FOUND, HOLDS, NOT_ASKED, STATED, WRONG, Verdict, quoted
from synthbench.probing.scan import hashed
from synthbench.probing.sources import ProbeSource, SourceRows, rows_of_file
from synthbench.text.progress import Bar
from synthbench.verification.elsewhere import Elsewhere, ElsewhereError

#: The most seconds that a process may take for its draws.
_SECONDS = 300.0
#: Splits to evaluate on that are tried, unless the user names a split.
_EVALUATION = ("test", "validation", "eval")
TRAIN = "train"
_FUNCTION = Traits(lambda name: make_draws, has_splits=True)  # type: ignore[arg-type,return-value]


@dataclasses.dataclass(frozen=True)
class DrawnSource:
    """The rows of a generator, and the same draws in other circumstances.

    Attributes:
        source: the rows of seed 0 as a source.
        first: the rows of seed 0.
        again: the draws that should give the same rows, by the question that they answer.
        other_seed: the rows of seed 1; None if the generator takes no seed.
        traits: the kind of generator.
    """

    source: ProbeSource
    first: DrawnRows
    again: Mapping[str, DrawnRows]
    other_seed: DrawnRows | None
    traits: Traits


#: The questions that compare draws, and what each changes from the first draw to the second.
CIRCUMSTANCES = {
    "repeatable": "asked twice in one process",
    "process": "asked in two processes",
    "hash seed": "asked in two processes with other hash seeds",
    "global state": "asked after other seeds of random, NumPy and PyTorch",
    "clock": "asked in two processes, the second with a later date and time",
}
#: Asked of functions only. Libraries may fail if the classes of `datetime` are replaced.
_CLOCK = "clock"


def draw_source(
    origin: str, evaluation: str | None, bar: Bar, rows: int | None = None
) -> DrawnSource:
    """Draw rows of a generator, several times and in several processes.

    Raises:
        UsageError: an unknown generator, or rows that are not dicts.
        SynthbenchError: it raises an error or takes too long.
    """
    traits = PEERS.get(origin.partition(":")[0], _FUNCTION)
    held_out = Path(evaluation) if evaluation and Path(evaluation).is_file() else None
    if evaluation and held_out is None and not traits.has_splits:
        raise UsageError(
            f"{origin} has a single split: --evaluation {evaluation!r} must be a file of rows."
        )
    candidates: Sequence[str] = _EVALUATION if traits.has_splits else ()
    if evaluation:
        candidates = () if held_out else (evaluation,)
    first = Draw(0, TRAIN, rows=rows or MOST_ROWS, timed=rows is None)
    again = dataclasses.replace(first, rows=min(first.rows, COMPARED_ROWS))
    here = {
        "first": first,
        "repeatable": again,
        "global state": dataclasses.replace(again, state=1),
    }
    there = {"process": again}
    if candidates:
        there["evaluation"] = dataclasses.replace(
            first, split=candidates[0], instead=tuple(candidates[1:])
        )
    if traits.has_seeds:
        there["seed 1"] = dataclasses.replace(first, seed=1)
    jobs = [(here, "0"), (there, "0"), ({"hash seed": again}, "1")]
    if traits is _FUNCTION:
        jobs.append(({_CLOCK: again}, "0"))
    drawn: dict[str, DrawnRows] = {}
    bar.total += len(jobs)
    with contextlib.ExitStack() as stack:
        started = [
            (
                draws,
                Elsewhere(
                    make_draws, Job(origin, tuple(draws.values()), _CLOCK in draws), hash_seed
                ),
            )
            for draws, hash_seed in jobs
        ]
        for _, process in started:
            stack.enter_context(process)
        for draws, process in started:
            try:
                drawn |= zip(draws, _result(origin, process), strict=True)
            except SynthbenchError:
                if _CLOCK not in draws:
                    raise
            bar.update()
    if _CLOCK in drawn and drawn[_CLOCK].error:
        del drawn[_CLOCK]
    for name in drawn:
        if drawn[name].error and name != "evaluation":
            kind = UsageError if drawn[name].error.startswith("gave ") else SynthbenchError
            raise kind(f"{origin} {drawn[name].error}")
    if not drawn["first"].rows:
        raise SynthbenchError(f"{origin} gave no rows for seed 0 and split {TRAIN!r}.")
    splits = {TRAIN: _rows(drawn["first"])}
    evaluated = drawn.get("evaluation")
    if evaluation and evaluated and not evaluated.rows:
        reason = evaluated.error or "gave no rows"
        raise UsageError(f"{origin}, split {evaluation!r}: {reason}")
    held = []
    if held_out is not None:
        held = ["evaluation"]
        splits["evaluation"] = rows_of_file(held_out)
    elif evaluated and evaluated.rows:
        held = [evaluated.split]
        splits[evaluated.split] = _rows(evaluated)
    source = ProbeSource(origin, splits, [TRAIN], held, traits.question, None)
    compared = {question: drawn[question] for question in CIRCUMSTANCES if question in drawn}
    return DrawnSource(source, drawn["first"], compared, drawn.get("seed 1"), traits)


def _result(origin: str, elsewhere: Elsewhere) -> list[DrawnRows]:
    try:
        drawn: list[DrawnRows] = elsewhere.result(_SECONDS)
    except ElsewhereError as error:
        raise SynthbenchError(f"{origin}: {error}.") from None
    return drawn


def _rows(drawn: DrawnRows) -> SourceRows:
    names = list(dict.fromkeys(name for row in drawn.rows[:100] for name in row))
    return SourceRows(names, lambda _: iter(drawn.rows))


def same_rows(drawn: DrawnSource, columns: Chosen) -> Iterator[Verdict]:
    """The same rows for the same seed, in all circumstances."""
    for question, words in CIRCUMSTANCES.items():
        if question in drawn.again:
            yield _compared(question, words, drawn, drawn.again[question], columns)
        else:
            yield Verdict(question, NOT_ASKED, "asked of functions that run with a later clock.")
    moved = drawn.again["repeatable"].moved
    if drawn.traits.own_state:
        yield Verdict(
            "global state is moved",
            STATED,
            "it draws from the global states, which are seeded for it here.",
        )
    elif moved:
        yield Verdict(
            "global state is moved",
            FOUND,
            f"a draw moves the global state of {' and '.join(moved)}, on which other code in the "
            "process may depend.",
        )
    else:
        yield Verdict(
            "global state is moved", HOLDS, "a draw leaves random, NumPy and PyTorch alone."
        )


def _compared(
    question: str, words: str, drawn: DrawnSource, other: DrawnRows, columns: Chosen
) -> Verdict:
    first = drawn.first
    count = min(len(first.rows), len(other.rows))
    read = [_read(columns, row) for row in first.rows[:count]]
    again = [_read(columns, row) for row in other.rows[:count]]
    differ = [number for number in range(count) if read[number] != again[number]]
    if not count:
        return Verdict(question, NOT_ASKED, "no row in time.")
    longer = first.ended and other.ended and len(first.rows) != len(other.rows)
    if differ or longer:
        lengths = f" ({len(first.rows):,} and {len(other.rows):,} rows)" if longer else ""
        return Verdict(
            question,
            WRONG,
            f"{len(differ):,} of {count:,} rows of seed 0 differ{lengths}, {words}.",
            "0 rows",
            tuple(
                f"row {number:,}: {quoted(' -> '.join(read[number]))} | "
                f"{quoted(' -> '.join(again[number]))}"
                for number in differ[:2]
            ),
        )
    others = sorted(
        {
            name
            for here, there in zip(first.rows[:count], other.rows[:count], strict=True)
            for name in here
            if here[name] != there.get(name)
        }
    )
    text = f"{count:,} rows of seed 0 are the same, {words}"
    if others:
        return Verdict(question, STATED, f"{text}, but for their columns {', '.join(others)}.")
    return Verdict(question, HOLDS, f"{text}.")


def _read(columns: Chosen, row: Mapping[str, Any]) -> tuple[str, str]:
    return columns.question_of(row), columns.answer_of(row)


def seeds(drawn: DrawnSource, columns: Chosen) -> Iterator[Verdict]:
    """Rows of seed 0 that come again with seed 1."""
    if drawn.other_seed is None or not drawn.other_seed.rows:
        yield Verdict("seeds", NOT_ASKED, "it takes no seed.")
        return
    zero, following = (_hashes(columns, part.rows) for part in (drawn.first, drawn.other_seed))
    lag = between(zero, following)
    text = f"{lag.repeated:,} of {len(zero):,} rows of seed 0 are rows of seed 1"
    yield from _own_repeats(drawn, columns, zero, following)
    if not lag.repeated:
        yield Verdict("seeds", HOLDS, f"{text}.")
        return
    if not lag.is_surprising:
        yield Verdict("seeds", STATED, f"{text}, at no fixed distance.")
        return
    where = "in the same places" if not lag.distance else f"moved by {abs(lag.distance):,}"
    yield Verdict(
        "seeds",
        FOUND,
        f"{text}; {lag.rows:,} of {lag.compared:,} are {where}.",
        f"{min(lag.chance, lag.compared):,.1f} rows",
        _pairs(drawn, columns, lag.pairs),
    )


def _own_repeats(
    drawn: DrawnSource,
    columns: Chosen,
    zero: NDArray[np.uint64],
    following: NDArray[np.uint64],
) -> Iterator[Verdict]:
    """Rows that a seed repeats, though another seed does not have them.

    A row that is drawn with replacement has a twin in its own seed as often as in another seed.
    """
    count = min(len(zero), len(following))
    zero, following = zero[:count], following[:count]
    _, index, counts = np.unique(zero, return_inverse=True, return_counts=True)
    twins = counts[index] > 1
    own, other = int(twins.sum()), int(np.isin(zero, following).sum())
    if not own:
        return
    surprising = wilson(own, count)[0] > wilson(other, count)[1]
    yield Verdict(
        "repeats of a seed",
        FOUND if surprising else STATED,
        f"{own:,} of {count:,} rows of seed 0 have a twin in seed 0, {other:,} have a twin in "
        "seed 1.",
        f"{other:,} rows, if drawn with replacement",
        tuple(
            f"row {row:,}: {quoted(columns.question_of(drawn.first.rows[row]))}"
            for row in np.flatnonzero(twins)[:2].tolist()
        ),
    )


def _hashes(columns: Chosen, rows: Sequence[Mapping[str, Any]]) -> Any:
    return np.array([hashed(columns.question_of(row)) for row in rows], np.uint64)


def _pairs(
    drawn: DrawnSource, columns: Chosen, pairs: Sequence[tuple[int, int]]
) -> tuple[str, ...]:
    return tuple(
        f"seed 0 row {row:,}, seed 1 row {other:,}: "
        f"{quoted(columns.question_of(drawn.first.rows[row]))}"
        for row, other in pairs
    )
