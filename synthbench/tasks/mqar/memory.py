"""Rows of pairs with noise, rewritten keys and two-step look-ups, for many rows at once.

    k5 k3 k9 v1 k3 v9 blank blank k3 v2 k5 blank      hops=2, noise=0.3, rewrites=1: k5 has v2

A row is slots of two places: a pair that is stored, a key and a blank, which ask for the key, or
two blanks. Ids are as in the task: 1 is `blank`, keys follow up to `half`, values are larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.seeding import Draws
from synthbench.tasks.mqar.draws import distinct

Ids = NDArray[np.int64]
#: Entries of the memories that are held at a time.
_ENTRIES = 1 << 23


def draw_pairs(
    draws: Draws, n: int, half: int, pairs: int, noise: int, hops: int
) -> tuple[Ids, Ids, Ids]:
    """The pairs in front, in random order.

    Args:
        draws: the draws of the block.
        n: rows.
        half: the largest id of a key.
        pairs: keys that are asked.
        noise: pairs whose key is not asked.
        hops: 2 if the pair of an asked key has another key, whose pair has the value.

    Returns:
        Tokens `(n, 2 * (hops * pairs + noise))`, asked keys `(n, pairs)`, and the keys whose pairs
        have the values of these, `(n, pairs)`.
    """
    count = hops * pairs + noise
    keys = 2 + distinct(draws, n, count, half - 1)
    values = 1 + half + distinct(draws, n, pairs + noise, half)
    asked_keys, last = keys[:, :pairs], keys[:, (hops - 1) * pairs : hops * pairs]
    seconds = np.hstack([keys[:, pairs : hops * pairs], values])
    order = draws.permutations(n, count)
    tokens = np.empty((n, 2 * count), np.int64)
    tokens[:, ::2] = np.take_along_axis(keys, order, axis=1)
    tokens[:, 1::2] = np.take_along_axis(seconds, order, axis=1)
    return tokens, asked_keys, last


def add_questions(tokens: Ids, slots: Ids, asked_keys: Ids, last: Ids, values: Ids) -> None:
    """Ask for keys, and before that give some of them new values, in place.

    Args:
        tokens: rows whose further places are blank.
        slots: different slots for each question and each new value, `(rows, keys + rewrites)`.
        asked_keys: the keys that are asked, `(rows, keys)`.
        last: the keys whose pairs have the values, `(rows, keys)`.
        values: the new values, for the first keys, `(rows, rewrites)`.
    """
    keys, rewrites = asked_keys.shape[1], values.shape[1]
    question, write = slots[:, :keys].copy(), slots[:, keys:]
    before = np.minimum(question[:, :rewrites], write)
    question[:, :rewrites] = np.maximum(question[:, :rewrites], write)
    np.put_along_axis(tokens, 2 * question, asked_keys, axis=1)
    np.put_along_axis(tokens, 2 * before, last[:, :rewrites], axis=1)
    np.put_along_axis(tokens, 2 * before + 1, values, axis=1)


def answers(tokens: NDArray[np.integer[Any]], half: int, hops: int) -> Ids:
    """The id of the value that is asked at each place, 0 where nothing is, `(rows, width)`.

    Raises:
        ValueError: a row has other slots, or asks for a key without a value.
    """
    recalled = np.zeros(tokens.shape, np.int64)
    parts = 1 + len(tokens) * (half + 1) // _ENTRIES
    for some in np.array_split(np.arange(len(tokens)), parts):
        if len(some):
            recalled[some] = _answers(tokens[some].astype(np.int64), half, hops)
    return recalled


def _answers(tokens: Ids, half: int, hops: int) -> Ids:
    if tokens.shape[1] % 2:
        tokens = np.pad(tokens, ((0, 0), (0, 1)))
    first, second = tokens[:, ::2], tokens[:, 1::2]
    is_key, is_blank = (first > 1) & (first <= half), first == 1
    right = (is_key & (second > 0)) | (is_blank & (second == 1)) | ((first == 0) & (second == 0))
    rows = np.arange(len(tokens))
    memory = np.zeros((len(tokens), half + 1), np.int64)
    recalled = np.zeros_like(tokens)
    for slot in range(first.shape[1]):
        key, other = first[:, slot], second[:, slot]
        stores = is_key[:, slot] & (other > 1)
        memory[rows[stores], key[stores]] = other[stores]
        asks = rows[is_key[:, slot] & (other == 1)]
        value = key[asks]
        for _ in range(hops):
            value = np.where(value <= half, memory[asks, np.minimum(value, half)], value)
        right[asks, slot] &= value > half
        recalled[asks, 2 * slot] = value
    if not right.all() or not recalled.any(axis=1).all():
        raise ValueError("mqar: not every row has pairs and questions that they answer")
    return recalled


def stored_pairs(tokens: NDArray[np.integer[Any]]) -> tuple[Ids, Ids]:
    """Keys and second tokens of all pairs that a row stores, 0 in other slots, `(rows, slots)`."""
    first, second = tokens[:, ::2].astype(np.int64), tokens[:, 1::2].astype(np.int64)
    first = first[:, : second.shape[1]]
    stored = second > 1
    return np.where(stored, first, 0), np.where(stored, second, 0)
