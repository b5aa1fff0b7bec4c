"""Questions about the rows of splits: repeats, leaks, contradictions, balance."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthbench.auditing.leaks import are_in, distinct
from synthbench.evaluation.scores import wilson
from synthbench.probing.columns import Chosen, Row
from synthbench.probing.lags import LEVEL, within
from synthbench.probing.report import (
    FOUND,
    HOLDS,
    NOT_ASKED,
    STATED,
    WRONG,
    Verdict,
    counted,
    quoted,
    share,
)
from synthbench.probing.scan import Scan, joined, pick
from synthbench.probing.sources import ProbeSource

#: The smallest share of near duplicates with the answer of their twin, below which what they differ
#: in has a meaning in these rows.
_SAME_ANSWER = 0.9
#: The names of near duplicates, and what their questions differ in.
_NEAR = {
    "spaces": "but for case and spaces",
    "signs": "but for case, spaces and punctuation",
    "order": "with its tokens in another order",
}


@dataclasses.dataclass(frozen=True)
class ScannedSource:
    """A source whose splits have been read once."""

    source: ProbeSource
    chosen: Chosen
    scans: Mapping[str, Scan]

    def together(self, splits: Sequence[str], form: str = "exact") -> NDArray[np.uint64]:
        """The hashes of the questions of several splits, uint64 `(rows,)`."""
        return _concatenated([self.scans[name].forms[form] for name in splits])

    def answers(self, splits: Sequence[str]) -> NDArray[np.uint64]:
        """The hashes of the answers of several splits, uint64 `(rows,)`."""
        return _concatenated([self.scans[name].answers for name in splits])

    def rows(self, places: Sequence[tuple[str, int]]) -> list[str]:
        """Rows as examples, each by its split and number."""
        shown: dict[tuple[str, int], Row] = {}
        for split in dict.fromkeys(split for split, _ in places):
            numbers = [number for name, number in places if name == split]
            picked = pick(self.source.splits[split].read(self.chosen.names), numbers)
            shown |= {(split, number): row for number, row in picked.items()}
        return [self.shown(*place, shown[place]) for place in places]

    def shown(self, split: str, number: int, row: Row) -> str:
        """A row as an example."""
        text = f"{split} row {number:,}: {quoted(self.chosen.question_of(row))}"
        return f"{text} -> {quoted(self.chosen.answer_of(row))}" if self.chosen.answer else text

    def place(self, splits: Sequence[str], number: int) -> tuple[str, int]:
        """The split and the number in it of a row of `together`."""
        ends = np.cumsum([len(self.scans[name]) for name in splits])
        split = int(np.searchsorted(ends, number, side="right"))
        return splits[split], number - int(ends[split]) + len(self.scans[splits[split]])


def _concatenated(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def repeats(scanned: ScannedSource) -> Iterator[Verdict]:
    """Rows whose question occurs earlier in their split."""
    for split, scan in scanned.scans.items():
        name = f"repeats in {split}" if len(scanned.scans) > 1 else "repeats"
        repeated = len(scan) - len(distinct(scan.exact))
        if not repeated:
            yield Verdict(name, HOLDS, f"{counted(len(scan), 'row')} have different questions.")
            continue
        lag = within(scan.exact)
        text = f"{repeated:,} of {counted(len(scan), 'row')} repeat an earlier question"
        if lag.is_surprising:
            pairs = [place for pair in lag.pairs for place in ((split, pair[0]), (split, pair[1]))]
            yield Verdict(
                name,
                FOUND,
                f"{text}; {lag.rows:,} of {lag.compared:,} are equal to the row "
                f"{lag.distance:,} before.",
                f"{lag.chance:,.1f} rows",
                _paired(scanned.rows(pairs)),
            )
            continue
        pool = len(scan) * (len(scan) - 1) / max(1.0, _equal_pairs(scan.exact))
        again = [(split, row) for row in _repeated(scan.exact)[:2]]
        single = int(_alone(scan.exact).sum())
        expected = len(scan) * (1 - 1 / max(pool, 1.0)) ** (len(scan) - 1)
        if _is_too_few(single, expected):
            yield Verdict(
                name,
                FOUND,
                f"{text}, and {single:,} questions occur once.",
                f"{expected:,.1f} questions once, if drawn with replacement",
                tuple(scanned.rows(again)),
            )
            continue
        yield Verdict(
            name,
            STATED,
            f"{text}, at all distances: as if drawn with replacement from about {pool:,.0f} "
            "questions.",
            examples=tuple(scanned.rows(again)),
        )


def _is_too_few(seen: int, expected: float) -> bool:
    """True if so few are not a coincidence (Chernoff's bound of a Poisson law).

    Rows that are drawn with replacement never are: if some questions are likelier than others, more
    questions occur once than in a draw from a pool with as many repeats.
    """
    if seen >= expected:
        return False
    surprise = expected - seen + (seen * math.log(seen / expected) if seen else 0.0)
    return math.exp(-surprise) < LEVEL


def _equal_pairs(hashes: NDArray[np.uint64]) -> float:
    _, counts = np.unique(hashes, return_counts=True)
    return float((counts.astype(float) * (counts - 1)).sum())


def _repeated(hashes: NDArray[np.uint64]) -> list[int]:
    """The numbers of the rows that repeat an earlier row."""
    _, first = np.unique(hashes, return_index=True)
    later = np.ones(len(hashes), np.bool_)
    later[first] = False
    return [int(row) for row in np.flatnonzero(later)]


def _paired(rows: Sequence[str]) -> tuple[str, ...]:
    """Rows two by two, as one example each."""
    return tuple(f"{row} | {other}" for row, other in zip(rows[::2], rows[1::2], strict=True))


def leaks(scanned: ScannedSource) -> Iterator[Verdict]:
    """Evaluation rows that are in train: exactly, and nearly."""
    train, evaluation = scanned.source.train, scanned.source.evaluation
    if not train or not evaluation:
        lacking = "a split to train on" if evaluation else "evaluation rows"
        yield Verdict("leaks", NOT_ASKED, f"no {lacking}; --evaluation FILE|SPLIT names them.")
        return
    there, questions = scanned.together(train), scanned.together(evaluation)
    exact = are_in(questions, distinct(there))
    text = f"{int(exact.sum()):,} of {len(questions):,} evaluation rows have a question of train."
    chance = share(len(there) - int(_alone(there).sum()), len(there))
    examples = _twins(scanned, there, questions, np.flatnonzero(exact))
    chances = f"{chance} if drawn like train" if exact.any() else ""
    yield Verdict("leaks", WRONG if exact.any() else HOLDS, text, chances, examples)
    before = exact
    for form, words in _NEAR.items():
        yield _near_leaks(scanned, form, words, before)
        before = before | are_in(
            scanned.together(evaluation, form), distinct(scanned.together(train, form))
        )


def _alone(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """The rows that differ from every other row, bool `(rows,)`."""
    _, index, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    alone: NDArray[np.bool_] = counts[index] == 1
    return alone


def _twins(
    scanned: ScannedSource,
    train: NDArray[np.uint64],
    evaluation: NDArray[np.uint64],
    rows: NDArray[np.int64],
) -> tuple[str, ...]:
    """Two evaluation rows with their twins in train, compared by these hashes."""
    places = []
    for row in rows[:2].tolist():
        twin = int(np.flatnonzero(train == evaluation[row])[0])
        places.append(scanned.place(scanned.source.evaluation, row))
        places.append(scanned.place(scanned.source.train, twin))
    return _paired(scanned.rows(places))


def _near_leaks(
    scanned: ScannedSource, form: str, words: str, before: NDArray[np.bool_]
) -> Verdict:
    """Evaluation rows that are in train in another form, which leaves the answer the same."""
    train, evaluation = scanned.source.train, scanned.source.evaluation
    there, questions = scanned.together(train, form), scanned.together(evaluation, form)
    near = are_in(questions, distinct(there)) & ~before
    count, name = int(near.sum()), f"leaks ({form})"
    text = f"{count:,} of {len(questions):,} evaluation rows have a question of train {words}"
    if not count:
        return Verdict(name, HOLDS, f"{text}.")
    answers = scanned.answers(train)
    pairs = distinct(joined(there, answers))
    # A form that several answers share in train has lost what decides the answer.
    several = distinct(there)[_answers_per_form(there, answers) > 1]
    same = near & are_in(joined(questions, scanned.answers(evaluation)), pairs)
    same &= ~are_in(questions, several)
    agreed = int(same.sum())
    if scanned.chosen.answer and agreed < _SAME_ANSWER * count:
        return Verdict(
            name,
            STATED,
            f"{text}; {count - agreed:,} of these have another answer, so the difference has a "
            "meaning.",
            examples=_twins(scanned, there, questions, np.flatnonzero(near)),
        )
    examples = _twins(scanned, there, questions, np.flatnonzero(near))
    if form != "order":
        return Verdict(name, FOUND, f"{text}.", "0 rows", examples)
    # In a small space of questions, many rows of train have such a twin in train, too.
    _, first = np.unique(scanned.together(train), return_index=True)
    usual = int((~_alone(there[first])).sum())
    low, high = wilson(count, len(questions))[0], wilson(usual, len(first))[1]
    result = FOUND if low > high else STATED
    return Verdict(
        name, result, f"{text}.", f"{share(usual, len(first))}, as in train itself", examples
    )


def _answers_per_form(forms: NDArray[np.uint64], answers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of different answers of each form, in ascending order of the forms."""
    order = np.lexsort((answers, forms))
    ordered, ordered_answers = forms[order], answers[order]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]) | (ordered_answers[1:] != ordered_answers[:-1])
    _, counts = np.unique(ordered[new], return_counts=True)
    return counts


def contradictions(scanned: ScannedSource) -> Iterator[Verdict]:
    """Rows with the same question and another answer."""
    splits = [*scanned.scans]
    if scanned.chosen.answer is None:
        yield Verdict("contradictions", NOT_ASKED, "no answers; --answer COL names their column.")
        return
    pairs = contradicting(scanned)
    different = len(distinct(scanned.together(splits)))
    text = f"{len(pairs):,} of {different:,} different questions have several answers."
    if not pairs:
        yield Verdict("contradictions", HOLDS, text)
        return
    places = [scanned.place(splits, row) for pair in pairs[:2] for row in pair]
    yield Verdict("contradictions", WRONG, text, "", _paired(scanned.rows(places)))


def contradicting(scanned: ScannedSource) -> list[tuple[int, int]]:
    """The numbers, in all splits together, of two rows of each question with several answers."""
    splits = [*scanned.scans]
    questions, answers = scanned.together(splits), scanned.answers(splits)
    order = np.lexsort((answers, questions))
    ordered, ordered_answers = questions[order], answers[order]
    differ = (ordered[1:] == ordered[:-1]) & (ordered_answers[1:] != ordered_answers[:-1])
    _, once = np.unique(ordered[1:][differ], return_index=True)
    first = np.flatnonzero(differ)[np.sort(once)]
    pairs = np.sort(np.stack([order[first], order[first + 1]], axis=1), axis=1)
    return [(row, other) for row, other in pairs.tolist()]


def balance(scanned: ScannedSource) -> Iterator[Verdict]:
    """The most frequent answers: a choice, unless every row has the same answer."""
    if scanned.chosen.answer is None:
        yield Verdict("balance", NOT_ASKED, "no answers; --answer COL names their column.")
        return
    for split, scan in scanned.scans.items():
        name = f"balance in {split}" if len(scanned.scans) > 1 else "balance"
        counts = collections.Counter(answer for _, answer in scan.sample)
        different = len(distinct(scan.answers))
        (most, rows), *others = counts.most_common(2)
        text = (
            f"{counted(different, 'different answer')} in {counted(len(scan), 'row')}. The most "
            f"frequent of {len(scan.sample):,} has {share(rows, len(scan.sample))}"
        )
        again = len(distinct(scan.exact)) > 1
        same = different == 1 and again
        examples = [
            f"{quoted(answer)}: {count:,} rows" for answer, count in [(most, rows), *others]
        ]
        yield Verdict(
            name,
            FOUND if same else STATED,
            f"{text}: every question has the same answer." if same else f"{text}.",
            f"{1 / different:.2%} if all were as frequent",
            tuple(examples),
        )
