"""Shortcuts for labels that are sequences of tokens: labels that are made token by token.

Such a label is as long as rows of train suggest: always the same length, a number of tokens more or
fewer than the text, or a multiple of it, whichever is right most often.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.auditing.tokens import Codes, Tokenizer, lengths_of
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, by_key, fixed, numbers
from synthbench.tasks.tokens import Vocabulary, pad

#: What decides a token, int64 `(tokens,)`: from the ids of texts, `(rows, width)` padded with 0,
#: and of each token of all labels its row, its place, and its place from the end.
_Key = Callable[..., NDArray[np.int64]]


def sequence_shortcuts(labels: Vocabulary, tokens: Tokenizer | None) -> list[Shortcut]:
    """The shortcuts that make sequences of the tokens `labels` from rows that `tokens` splits."""

    def by_place(name: str, text: str, key: _Key) -> Shortcut:
        return Shortcut(name, text, functools.partial(_fit_places, labels, tokens, key))

    shortcuts = [
        by_place(
            "frequent token at each place",
            "The most frequent token at each place of the label.",
            lambda texts, row, place, from_end: place,
        ),
        by_place(
            "frequent token from the end",
            "The most frequent token at each place of the label, counted from its end.",
            lambda texts, row, place, from_end: from_end,
        ),
    ]
    if tokens is None:
        return shortcuts
    return [
        *shortcuts,
        by_place(
            "token at the same place",
            "The most frequent token for the token at the same place of the text.",
            _same_place,
        ),
        fixed(
            "copy of the text",
            "The tokens of the text that a label can have, in their order.",
            functools.partial(_copy, labels, tokens),
        ),
    ]


def _same_place(
    texts: NDArray[np.int64],
    row: NDArray[np.int64],
    place: NDArray[np.int64],
    from_end: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The token of the text; 0 behind its end."""
    last = texts.shape[1] - 1
    return np.where(place <= last, texts[row, np.minimum(place, last)], 0)


def _copy(labels: Vocabulary, tokens: Tokenizer, columns: Columns) -> list[str]:
    rows = tokens(columns)
    ids = pad(labels.number(rows.flatten()), lengths_of(rows))
    copied: list[str] = labels.join(ids).to_pylist()
    return copied


def _fit_places(
    labels: Vocabulary, tokens: Tokenizer | None, key: _Key, train: Columns
) -> Predictor:
    """Answer at each place of a label with the most frequent token for its key."""
    codes = None if tokens is None else Codes(tokens, train)

    def read(columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ids of texts, `(rows, width)`, and their lengths."""
        if codes is None:
            lengths = np.zeros(len(columns["label"]), np.int64)
            return lengths[:, None], lengths
        ids, lengths = codes.of(columns)
        return pad(ids + 1, lengths, least=1), lengths

    def keyed(texts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Columns:
        """The key of each token of labels that are as long as this."""
        row = np.repeat(np.arange(len(lengths)), lengths)
        place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return {"key": pa.array(key(texts, row, place, lengths[row] - 1 - place))}

    texts, text_lengths = read(train)
    ids, lengths = labels.read(train["label"])
    length_of = _fit_length(text_lengths, lengths)
    lookup = by_key("", "", lambda columns: numbers(columns["key"]))
    predict = lookup.fit({**keyed(texts, lengths), "label": pa.array(ids)})

    def answers(columns: Columns) -> list[str]:
        texts, text_lengths = read(columns)
        lengths = length_of(text_lengths)
        token_ids = np.asarray(predict(keyed(texts, lengths))).astype(labels.dtype)
        sequences: list[str] = labels.join(pad(token_ids, lengths)).to_pylist()
        return sequences

    return answers


def _fit_length(
    texts: NDArray[np.int64], labels: NDArray[np.int64]
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """The rule from the number of a text's tokens to that of its label's that is right most often.

    Of equally good rules, a constant length comes before a difference, and that before a multiple.
    """
    rules: list[tuple[NDArray[np.float64], Callable[..., NDArray[np.float64]]]] = [
        (labels.astype(float), lambda lengths, value: np.full(len(lengths), value)),
        (labels - texts.astype(float), lambda lengths, value: lengths + value),
        (labels / np.maximum(texts, 1), lambda lengths, value: lengths * value),
    ]
    best = -1
    for values, rule in rules:
        distinct, counts = np.unique(values, return_counts=True)
        if counts.max() > best:
            best, best_rule = counts.max(), functools.partial(rule, value=distinct[counts.argmax()])
    return lambda lengths: np.maximum(np.rint(best_rule(lengths)), 1).astype(np.int64)
