"""A shortcut of sequence tasks: the answer at each place from the last few symbols."""

from __future__ import annotations

import functools

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, by_key, numbers
from synthbench.tasks.base import LABEL, TextTask

Ids = NDArray[np.int64]


def last_symbols(task: TextTask, count: int, name: str, text: str) -> Shortcut:
    """The most frequent answer of train for the last symbols, at each place.

    Args:
        task: a task whose label has a token for each token of the text.
        count: the number of symbols.
        name: see `Shortcut`.
        text: see `Shortcut`.
    """
    return Shortcut(name, text, functools.partial(_fit, task, count))


def _fit(task: TextTask, count: int, train: Columns) -> Predictor:
    def last(columns: Columns) -> Ids:
        """A number for the last symbols at each place, `(rows, width)`."""
        symbols = task.parse(columns)["tokens"].astype(np.int64)
        codes = np.zeros_like(symbols)
        for back in range(min(count, symbols.shape[1])):
            codes[:, back:] *= 1 + len(task.tokens)
            codes[:, back:] += symbols[:, : symbols.shape[1] - back]
        return codes

    keys = last(train)
    vocabulary = task.columns[LABEL].vocabulary
    assert vocabulary is not None, "the label is a sequence"
    answers = vocabulary.encode(train[LABEL], keys.shape[1]).astype(np.int64)
    used = answers > 0
    lookup = by_key("", "", lambda columns: numbers(columns["key"]))
    predict = lookup.fit({"key": pa.array(keys[used]), LABEL: pa.array(answers[used])})

    def predicted(columns: Columns) -> list[str]:
        keys = last(columns)
        predictions = np.asarray(predict({"key": pa.array(keys.ravel())})).reshape(keys.shape)
        ids = np.where(task.parse(columns)["tokens"] > 0, predictions, 0)
        texts: list[str] = vocabulary.join(ids.astype(vocabulary.dtype)).to_pylist()
        return texts

    return predicted
