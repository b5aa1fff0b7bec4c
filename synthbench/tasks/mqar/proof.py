"""The reference solver over whole columns: a row's dictionary is a row of an array."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.mqar.task import AssociativeRecall
from synthbench.tasks.tokens import Vocabulary

#: Entries of the dictionaries that are held at a time.
_ENTRIES = 1 << 22
Ids = NDArray[np.int64]


def prove_rows(
    task: AssociativeRecall, block: Block, rows: Mapping[str, pa.Array]
) -> NDArray[np.bool_]:
    """Compute True for every right row, bool `(rows,)`.

    Raises:
        ValueError: rows have noise, rewritten keys or second hops, which the solver looks at.
    """
    if not task.parameters.is_plain:
        raise ValueError("rows with noise, rewrites or hops are read by the solver")
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    tokens, label = (x.astype(np.int64) for x in (block["tokens"], answers.encode(rows["label"])))
    lengths, pairs = (numpy_array(rows[name]).astype(np.int64) for name in ("length", "pairs"))
    fits = (lengths == (tokens > 0).sum(axis=1)) & (lengths == (label > 0).sum(axis=1))
    fits &= (pairs > 0) & (2 * pairs < lengths) & (lengths % 2 == 0)
    right = np.zeros(len(tokens), np.bool_)
    keys = task.parameters.vocabulary // 2  # the ids 2 to `keys` are keys, larger ids are values
    for length, count in np.unique(np.stack([lengths[fits], pairs[fits]]), axis=1).T.tolist():
        alike = np.flatnonzero(fits & (lengths == length) & (pairs == count))
        for some in np.array_split(alike, 1 + len(alike) * keys // _ENTRIES):
            right[some] = _are_right(tokens[some, :length], label[some, :length], count, keys)
    return right


def _are_right(tokens: Ids, label: Ids, pairs: int, keys: int) -> NDArray[np.bool_]:
    """The right rows, by ids `(rows, length)`. All have the same number of pairs."""
    row = np.arange(len(tokens))[:, None]
    head, rest = tokens[:, : 2 * pairs], tokens[:, 2 * pairs :]
    key, value, place = head[:, ::2], head[:, 1::2], np.arange(rest.shape[1])
    rest_key = np.where(rest <= keys, rest, 0)
    places = np.full((len(tokens), keys + 1), -1, np.int16)  # of each key in the rest
    places[row, rest_key] = place
    once = (places[row, rest_key] == place) | (rest_key < 2)
    stored = places[row, np.minimum(key, keys)].astype(np.int64)
    not_asked = np.int64(keys + 1)  # the id of `_` in labels, behind those of all values
    answer = np.full_like(tokens, not_asked)
    answer[row, 2 * pairs + np.maximum(stored, 0)] = value - keys
    right: NDArray[np.bool_] = (
        ((key > 1) & (key <= keys) & (value > keys)).all(axis=1)
        & ((stored >= 0) & (stored % 2 == 0)).all(axis=1)
        & once.all(axis=1)
        & ((answer < not_asked).sum(axis=1) == pairs)  # no key has two pairs
        & (answer == label).all(axis=1)
    )
    return right
