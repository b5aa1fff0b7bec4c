"""Shortcuts through tokens, which know nothing of what tokens mean.

They look at a single token, at the number of tokens, or at the row's bag: the counts of the tokens
and runs of neighbouring tokens that are most frequent in train.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.auditing.linear import fit_linear
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, by_key, labels_of, numbers
from synthbench.tasks.tokens import Vocabulary

#: The maximum number of tokens and pairs that a bag counts, and of runs for a regression on them.
MOST_FEATURES, MOST_RUNS = 500, 10_000
#: The tokens of the longest run.
_LONGEST_RUN = 3
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
            "The most frequent label for the token of the row that is rarest in train.",
            functools.partial(_fit_rarest, tokens),
        ),
        by_key(
            "number of tokens",
            "The most frequent label among rows of the same length.",
            lambda columns: lengths_of(tokens(columns)),
        ),
        Shortcut(
            "bag of tokens and pairs",
            "Logistic regression on counts of tokens and of neighbouring pairs.",
            lambda train: fit_linear(Bags(tokens, train).of, train),
            learned=True,
        ),
        Shortcut(
            "1- to 3-grams",
            "Logistic regression on counts of tokens and of neighbouring pairs and triples.",
            lambda train: fit_linear(Bags(tokens, train, _LONGEST_RUN, MOST_RUNS).sparse, train),
            learned=True,
        ),
        Shortcut(
            "nearest row",
            "The label of the row of train with the most similar counts of tokens and pairs.",
            functools.partial(_fit_nearest, tokens),
        ),
    ]


def lengths_of(rows: pa.ListArray) -> NDArray[np.int64]:
    """The number of tokens of each row, int64 `(rows,)`."""
    return numbers(pc.list_value_length(rows))


class Codes:
    """Tokens as numbers: train's tokens in alphabetical order. All other tokens are 0."""

    def __init__(self, tokens: Tokenizer, train: Columns) -> None:
        self._tokens = tokens
        words = pc.unique(tokens(train).flatten())
        self.vocabulary = Vocabulary(tuple(words.take(pc.sort_indices(words)).to_pylist()))

    def of(self, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of all rows' tokens, concatenated, and the number of tokens in each row."""
        rows = self._tokens(columns)
        return self.vocabulary.number(rows.flatten()).astype(np.int64), lengths_of(rows)


def _fit_place(tokens: Tokenizer, train: Columns, from_end: bool) -> Predictor:
    codes = Codes(tokens, train)

    def at(columns: Columns, place: int) -> NDArray[np.int64]:
        """Each row's token at an index, -1 in shorter rows."""
        values, lengths = codes.of(columns)
        starts = np.cumsum(lengths) - lengths
        index = starts + (lengths - 1 - place if from_end else place)
        there = lengths > place
        row_tokens = np.full(len(lengths), -1)
        row_tokens[there] = values[index[there]]
        return row_tokens

    longest = int(codes.of(train)[1].max(initial=1))
    place = next((index for index in range(longest) if np.ptp(at(train, index)) > 0), 0)
    return by_key("", "", lambda columns: at(columns, place)).fit(train)


def _fit_rarest(tokens: Tokenizer, train: Columns) -> Predictor:
    codes = Codes(tokens, train)
    counts = np.bincount(codes.of(train)[0], minlength=codes.vocabulary.size)

    def rarest(columns: Columns) -> NDArray[np.int64]:
        """The token of each row that is rarest in train. Ties go to the smallest number."""
        values, lengths = codes.of(columns)
        row = np.repeat(np.arange(len(lengths)), lengths)
        order = np.lexsort((values, counts[values], row))
        starts = np.cumsum(lengths) - lengths
        row_tokens = np.full(len(lengths), -1)
        row_tokens[lengths > 0] = values[order[starts[lengths > 0]]]
        return row_tokens

    return by_key("", "", rarest).fit(train)


class Bags:
    """Counts of the tokens and runs of neighbouring tokens that are most frequent in train.

    Args:
        tokens: splits rows.
        train: the rows that decide what is counted.
        longest: how many tokens a run has at most.
        most: how many tokens and runs are counted at most. Default: `MOST_FEATURES`.
    """

    def __init__(
        self, tokens: Tokenizer, train: Columns, longest: int = 2, most: int | None = None
    ) -> None:
        self._codes, self._longest = Codes(tokens, train), longest
        _, features, _ = self._features(train)
        distinct, counts = np.unique(features, return_counts=True)
        kept = np.lexsort((distinct, -counts))[: most or MOST_FEATURES]
        self._kept = np.sort(distinct[kept])

    def _features(self, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """The row and the code of every token and run, and the number of rows."""
        values, lengths = self._codes.of(columns)
        row = np.repeat(np.arange(len(lengths)), lengths)
        rows, features, runs = [row], [values], values
        for more in range(1, self._longest):
            runs = (1 + runs[:-1]) * self._codes.vocabulary.size + values[more:]
            inside = row[more:] == row[: len(runs)]
            rows.append(row[more:][inside])
            features.append(runs[inside])
        return np.concatenate(rows), np.concatenate(features), len(lengths)

    def sparse(self, columns: Columns) -> Any:
        """The bags of rows, a `scipy.sparse.csr_matrix` of float32, `(rows, features)`."""
        from scipy.sparse import csr_matrix

        rows, features, count = self._features(columns)
        place = np.minimum(np.searchsorted(self._kept, features), len(self._kept) - 1)
        known = self._kept[place] == features
        ones = np.ones(int(known.sum()), np.float32)
        return csr_matrix((ones, (rows[known], place[known])), (count, len(self._kept)))

    def of(self, columns: Columns) -> NDArray[np.float32]:
        """The bags of rows, float32 `(rows, features)`."""
        bags: NDArray[np.float32] = self.sparse(columns).toarray()
        return bags


def _fit_nearest(tokens: Tokenizer, train: Columns) -> Predictor:
    bags = Bags(tokens, train)
    there, label = bags.of(train), labels_of(train)
    squares = (there**2).sum(axis=1)

    def predict(columns: Columns) -> NDArray[Any]:
        rows = bags.of(columns)
        nearest = [
            # Counts are small integers, so the distances and the nearest row are exact.
            (squares - 2.0 * rows[first : first + _CHUNK] @ there.T).argmin(axis=1)
            for first in range(0, len(rows), _CHUNK)
        ]
        answers: NDArray[Any] = label[np.concatenate(nearest)]
        return answers

    return predict
