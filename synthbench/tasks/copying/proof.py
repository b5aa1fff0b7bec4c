"""The reference solver over whole columns: symbols are compared in order with those asked.

Each variant marks the tokens that are copied and the places where they are asked. A row is right if
it has as many of both, and the label has at its places the tokens in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.arrow import numpy_array
from synthbench.tasks.base import Block
from synthbench.tasks.copying.task import Copying
from synthbench.tasks.tokens import Vocabulary

Ids = NDArray[np.integer[Any]]
#: Flags of tokens, bool `(rows, length)`, or of rows. NumPy's comparisons are untyped.
Flags = Any

_BLANK, _COPY = 1, 2  # the ids behind are symbols


def prove_rows(task: Copying, block: Block, rows: Mapping[str, pa.Array]) -> Flags:
    """Compute True for every right row, bool `(rows,)`."""
    answers: Vocabulary = task.answer.vocabulary  # type: ignore[assignment]
    ids, label, not_asked = block["tokens"], answers.encode(rows["label"]), len(answers.tokens)
    lengths, right = np.count_nonzero(ids, axis=1), np.zeros(len(ids), np.bool_)
    fits = lengths == np.count_nonzero(label, axis=1)
    fits &= lengths == numpy_array(rows["length"])
    mark = {"selective": _selective, "induction": _induction, "ngram": _ngram}[task.variant]
    for length in np.unique(lengths[fits]).tolist():
        alike = np.flatnonzero(fits & (lengths == length))
        tokens, answer = ids[alike, :length], label[alike, :length]
        is_row, copied, asked = mark(tokens)
        count = np.count_nonzero(copied, axis=1)
        is_row &= (count > 0) & (count == np.count_nonzero(asked, axis=1))
        is_row &= (asked == (answer != not_asked)).all(axis=1)
        copied &= is_row[:, None]
        asked &= is_row[:, None]
        differs = tokens[copied].astype(np.int64) - _COPY != answer[asked]
        is_row[np.nonzero(asked)[0][differs]] = False
        right[alike] = is_row
    return right


def _selective(tokens: Ids) -> tuple[Flags, Flags, Flags]:
    """All symbols are copied, and all marks ask. Behind a mark there are marks alone."""
    asked = tokens == _COPY
    return (asked[:, 1:] >= asked[:, :-1]).all(axis=1), tokens > _COPY, asked


def _induction(tokens: Ids) -> tuple[Flags, Flags, Flags]:
    """Symbols behind the first mark are copied. The second mark and all blanks behind it ask."""
    is_mark, is_blank = tokens == _COPY, tokens == _BLANK
    phase = np.cumsum(is_mark, axis=1, dtype=np.int32)
    asked, between = phase >= 2, (phase == 1) & ~is_mark
    is_row = (phase[:, -1] == 2) & ((is_mark | is_blank) >= asked).all(axis=1)
    is_row &= (is_blank <= asked).all(axis=1)
    count = np.count_nonzero(asked, axis=1)[:, None]
    return is_row, between & (np.cumsum(between, axis=1, dtype=np.int32) <= count), asked


def _ngram(tokens: Ids) -> tuple[Flags, Flags, Flags]:
    """Symbols behind the match are copied. The last symbol of the query and all blanks ask."""
    is_mark, is_blank, places = tokens == _COPY, tokens == _BLANK, np.arange(tokens.shape[1])
    mark, end = is_mark.argmax(axis=1), np.count_nonzero(~is_blank, axis=1)
    is_row = (np.count_nonzero(is_mark, axis=1) == 1) & (end > mark + 1)
    is_row &= (is_blank[:, 1:] >= is_blank[:, :-1]).all(axis=1)
    copied, asked = np.zeros(tokens.shape, np.bool_), places >= end[:, None] - 1
    # Rows with the same mark and the same end have windows of the same size.
    for place, stop in np.unique(np.stack([mark[is_row], end[is_row]]), axis=1).T.tolist():
        alike = np.flatnonzero(is_row & (mark == place) & (end == stop))
        context, query = tokens[alike, :place], tokens[alike, place + 1 : stop]
        size = query.shape[1]
        starts = max(0, place - size + 1)
        matches = np.ones((len(alike), 1 + starts), np.bool_)
        matches[:, starts] = False
        for step in range(size):
            matches[:, :starts] &= context[:, step : step + starts] == query[:, step, None]
        is_row[alike] = np.count_nonzero(matches, axis=1) == 1
        behind = places[:place] - size - matches.argmax(axis=1)[:, None]
        copied[alike, :place] = (behind >= 0) & (behind <= len(places) - stop)
    return is_row, copied, asked
