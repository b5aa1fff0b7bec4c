"""Shortcuts that use the tokens of a row, without knowing what the tokens mean.

They look at a single token, at the number of tokens, or at the row's bag: the counts of the tokens
and pairs of neighbouring tokens that are most frequent in train.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.auditing.linear import fit_linear
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, by_key, numbers
from synthbench.tasks.tokens import Vocabulary

#: The maximum number of tokens and pairs that a bag counts.
MOST_FEATURES = 500
#: The number of rows whose distances to all fitted rows are computed at once.
_CHUNK = 256

Tokenizer = Callable[[Columns], pa.ListArray]


def token_shortcuts(tokens: Tokenizer) -> list[Shortcut]:
    """The shortcuts for rows that `tokens` splits into their tokens."""
    return [
        Shortcut(
            "first token",
            "The most frequent label for the first token at which rows of train differ.",
            functools.partial(_fit_place, tokens, from_end=False),
        ),
        Shortcut(
            "last token",
            "The most frequent label for the last token at which rows of train differ.",
            functools.partial(_fit_place, tokens, from_end=True),
        ),
        Shortcut(
            "rarest token",
            "The most frequent label for that token of the row which is rarest in train.",
            functools.partial(_fit_rarest, tokens),
        ),
        by_key(
            "number of tokens",
            "The most frequent label among rows of the same length.",
            lambda columns: _lengths(tokens(columns)),
        ),
        Shortcut(
            "bag of tokens and pairs",
            "Logistic regression on counts of tokens and of neighbouring pairs.",
            lambda train: fit_linear(_Bags(tokens, train).of, train),
            learned=True,
        ),
        Shortcut(
            "nearest row",
            "The label of the row of train with the most similar counts of tokens and pairs.",
            functools.partial(_fit_nearest, tokens),
        ),
    ]


def _lengths(rows: pa.ListArray) -> NDArray[np.int64]:
    return numbers(pc.list_value_length(rows))


class _Codes:
    """Tokens as numbers: train's tokens in alphabetical order; all other tokens are 0."""

    def __init__(self, tokens: Tokenizer, train: Columns) -> None:
        self._tokens = tokens
        words = pc.unique(tokens(train).flatten())
        self.vocabulary = Vocabulary(tuple(words.take(pc.sort_indices(words)).to_pylist()))

    def of(self, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of all rows' tokens, concatenated, and the number of tokens in each row."""
        rows = self._tokens(columns)
        return self.vocabulary.number(rows.flatten()).astype(np.int64), _lengths(rows)


def _fit_place(tokens: Tokenizer, train: Columns, from_end: bool) -> Predictor:
    codes = _Codes(tokens, train)

    def at(columns: Columns, place: int) -> NDArray[np.int64]:
        """Each row's token at an index, -1 in shorter rows."""
        values, lengths = codes.of(columns)
        starts = np.cumsum(lengths) - lengths
        index = starts + (lengths - 1 - place if from_end else place)
        there = lengths > place
        found = np.full(len(lengths), -1)
        found[there] = values[index[there]]
        return found

    longest = int(codes.of(train)[1].max(initial=1))
    place = next((index for index in range(longest) if np.ptp(at(train, index)) > 0), 0)
    return by_key("", "", lambda columns: at(columns, place)).fit(train)


def _fit_rarest(tokens: Tokenizer, train: Columns) -> Predictor:
    codes = _Codes(tokens, train)
    counts = np.bincount(codes.of(train)[0], minlength=codes.vocabulary.size)

    def rarest(columns: Columns) -> NDArray[np.int64]:
        """The token of each row that is rarest in train; ties go to the smallest number."""
        values, lengths = codes.of(columns)
        row = np.repeat(np.arange(len(lengths)), lengths)
        order = np.lexsort((values, counts[values], row))
        starts = np.cumsum(lengths) - lengths
        found = np.full(len(lengths), -1)
        found[lengths > 0] = values[order[starts[lengths > 0]]]
        return found

    return by_key("", "", rarest).fit(train)


class _Bags:
    """Counts of the tokens and pairs of neighbouring tokens that are most frequent in train."""

    def __init__(self, tokens: Tokenizer, train: Columns) -> None:
        self._codes = _Codes(tokens, train)
        _, features = self._features(train)
        found, counts = np.unique(features, return_counts=True)
        kept = np.lexsort((found, -counts))[:MOST_FEATURES]
        self._kept = np.sort(found[kept])

    def _features(self, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row and the code of every token and pair."""
        values, lengths = self._codes.of(columns)
        row = np.repeat(np.arange(len(lengths)), lengths)
        inside = row[1:] == row[:-1]
        pairs = (1 + values[:-1]) * self._codes.vocabulary.size + values[1:]
        return np.concatenate([row, row[1:][inside]]), np.concatenate([values, pairs[inside]])

    def of(self, columns: Columns) -> NDArray[np.float32]:
        """The bags of rows, float32 `(rows, features)`."""
        rows, features = self._features(columns)
        place = np.minimum(np.searchsorted(self._kept, features), len(self._kept) - 1)
        known = self._kept[place] == features
        count = len(self._codes.of(columns)[1])
        cells = rows[known] * len(self._kept) + place[known]
        bags = np.bincount(cells, minlength=count * len(self._kept))
        return bags.reshape(count, -1).astype(np.float32)


def _fit_nearest(tokens: Tokenizer, train: Columns) -> Predictor:
    bags = _Bags(tokens, train)
    there, label = bags.of(train), numbers(train["label"])
    squares = (there**2).sum(axis=1)

    def predict(columns: Columns) -> NDArray[np.int64]:
        asked = bags.of(columns)
        nearest = [
            # Counts are small integers, so the distances and the nearest row are exact.
            (squares - 2.0 * asked[first : first + _CHUNK] @ there.T).argmin(axis=1)
            for first in range(0, len(asked), _CHUNK)
        ]
        answers: NDArray[np.int64] = label[np.concatenate(nearest)]
        return answers

    return predict
