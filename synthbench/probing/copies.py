"""Shortcuts that copy the answer out of the question, from a place or from between marks."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import Columns, Predictor

#: The places of tokens that are tried, counted from the start or the end.
_PLACES = (*range(8), *range(-8, 0))
#: The characters before and after an answer that are tried as its marks.
_BEFORE, _AFTER = (3, 6, 12), (1, 4)
#: The most questions that marks are looked for in, occurrences of an answer, and marks that are
#: tried.
_ROWS, _OCCURRENCES, _MARKS = 2_000, 8, 12


def fit_copy(
    tokens: Callable[[Columns], pa.ListArray], codes: Mapping[str, int], train: Columns
) -> Predictor:
    """Answer with the token at the place where it is the answer most often."""
    label = np.asarray(train["label"])
    rows = tokens(train).to_pylist()
    best = max(_PLACES, key=lambda place: int((_at(rows, place, codes) == label).sum()))
    return lambda columns: _at(tokens(columns).to_pylist(), best, codes)


def _at(rows: list[list[str]], place: int, codes: Mapping[str, int]) -> NDArray[np.int64]:
    least = place + 1 if place >= 0 else -place
    return np.array([codes.get(row[place], -1) if len(row) >= least else -1 for row in rows])


def fit_marked(codes: Mapping[str, int], train: Columns) -> Predictor:
    """Answer with the text between the marks that surround the answer most often."""
    label = np.asarray(train["label"][:_ROWS])
    texts = train["text"][:_ROWS].to_pylist()
    names = {code: text for text, code in codes.items()}
    counts = collections.Counter(
        marks
        for text, code in zip(texts, label.tolist(), strict=True)
        for marks in dict.fromkeys(_marks(text, names[code]))
    )

    def between(texts: list[str], marks: tuple[str, str], last: bool) -> NDArray[np.int64]:
        return np.array([codes.get(_between(text, *marks, last), -1) for text in texts])

    # Equally frequent marks are in alphabetical order.
    usual = sorted(counts, key=lambda marks: (-counts[marks], marks))[:_MARKS]
    tried = [(marks, last) for marks in usual or [("", "")] for last in (False, True)]
    best = max(tried, key=lambda candidate: int((between(texts, *candidate) == label).sum()))
    return lambda columns: between(columns["text"].to_pylist(), *best)


def _marks(text: str, answer: str) -> Iterator[tuple[str, str]]:
    """The characters before and after each place where a question has its answer."""
    start = text.find(answer) if answer else -1
    for _ in range(_OCCURRENCES):
        if start < 0:
            return
        end = start + len(answer)
        for before in _BEFORE:
            for after in _AFTER:
                yield text[max(0, start - before) : start], text[end : end + after]
        start = text.find(answer, start + 1)


def _between(text: str, before: str, after: str, last: bool) -> str:
    start = text.rfind(before) if last else text.find(before)
    if start < 0:
        return ""
    start += len(before)
    end = text.find(after, start) if after else len(text)
    return text[start:end] if end >= 0 else ""
