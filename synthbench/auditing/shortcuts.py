"""The shortcuts that an audit tries: those that suit the rows' columns, and the task's own.

Shortcuts through tokens know nothing of what tokens mean. They look at a single token, at the
number of tokens, or at the row's bag: the counts of the tokens and pairs of neighbouring tokens
that are most frequent in train. Shortcuts through pixels are a linear probe and a small network.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from synthbench.auditing.variant import AuditedVariant, Sample
from synthbench.tasks.audit_spec import Columns, Predictor, Shortcut, by_key, numbers
from synthbench.tasks.images import png
from synthbench.tasks.tokens import Vocabulary

if TYPE_CHECKING:
    import torch
    from torch import nn

#: The maximum number of classes that a logistic regression or a network is fitted to.
MOST_LABELS = 100
#: The maximum number of optimiser steps of a regression; more would change hardly any answer.
_STEPS = 100
#: The maximum number of tokens and pairs that a bag counts.
MOST_FEATURES = 500
#: The number of rows whose distances to all fitted rows are computed at once.
_CHUNK = 256
#: The side of the squares that the linear probe averages over, in pixels.
_SQUARE = 2
#: Channels of the network's layers, each followed by pooling.
_CHANNELS = (16, 32, 64)
_EPOCHS, _BATCH, _RATE = 4, 64, 2e-3
#: The maximum number of rows that the network is trained on.
_ROWS = 10_000

Tokenizer = Callable[[Columns], pa.ListArray]


def choose_shortcuts(
    subject: AuditedVariant, fit: Sample | None
) -> tuple[list[Shortcut], dict[str, str]]:
    """The shortcuts to try, and the reason for each shortcut that is left out, by its name.

    Without rows to fit them on (`fit` is None), only the task's own shortcuts are tried.
    """
    own = list(subject.spec.shortcuts)
    label = None if fit is None else fit.columns.get("label")
    if label is None or not pa.types.is_integer(label.type):
        return own, {}
    found = [
        by_key(
            "majority label",
            "Always train's most frequent label.",
            lambda columns: np.zeros(len(columns["label"]), np.int64),
        )
    ]
    if subject.tokens is not None:
        found += token_shortcuts(subject.tokens)
    left_out = {}
    if (column := subject.task.image_column) is not None:
        linear, network = pixel_shortcuts(column)
        found.append(linear)
        if importlib.util.find_spec("torch") is not None:
            found.append(network)
        else:
            left_out[network.name] = "PyTorch is not installed (pip install 'synthbench[train]')"
    labels = pc.count_distinct(label).as_py()
    if labels > MOST_LABELS:
        reason = f"{labels:,} labels; it is fitted to at most {MOST_LABELS}"
        left_out |= {shortcut.name: reason for shortcut in found if shortcut.learned}
        found = [shortcut for shortcut in found if not shortcut.learned]
    return [*found, *own], left_out


def fit_linear(features: Callable[[Columns], NDArray[np.float32]], train: Columns) -> Predictor:
    """Scale features, float32 `(rows, features)`, to unit variance; fit a logistic regression."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    given, label = features(train), numbers(train["label"])
    if len(np.unique(label)) == 1:  # scikit-learn refuses a single class
        return lambda columns: np.full(len(columns["label"]), label[0])
    scale = given.std(axis=0)
    scale[scale == 0] = 1.0
    model = LogisticRegression(max_iter=_STEPS, random_state=0)
    # On one thread sums have the same order on every machine, and busy cores cause no delay.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(given / scale, label)

    def predict(columns: Columns) -> NDArray[np.int64]:
        answers: NDArray[np.int64] = model.predict(features(columns) / scale)
        return answers

    return predict


# Tokens.


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


# Images of equal size. The network is small and trained on few rows: it shows what is learned
# easily, not all that can be learned.


def pixel_shortcuts(column: str) -> tuple[Shortcut, Shortcut]:
    """The linear probe and the network for rows with images in a column."""
    return (
        Shortcut(
            "linear probe of the pixels",
            f"Logistic regression on the means of {_SQUARE}x{_SQUARE} pixels.",
            lambda train: fit_linear(functools.partial(_coarse, column), train),
            learned=True,
        ),
        Shortcut(
            "small network on the pixels",
            f"{len(_CHANNELS)} convolutional layers, trained for {_EPOCHS} epochs on at most "
            f"{_ROWS:,} rows.",
            functools.partial(_fit_network, column),
            learned=True,
        ),
    )


def decode_pixels(column: str, columns: Columns) -> NDArray[np.uint8]:
    """The images, uint8 `(rows, height, width, 3)`."""
    return np.stack([png.decode(image.as_py()) for image in columns[column].field("bytes")])


def _coarse(column: str, columns: Columns) -> NDArray[np.float32]:
    """The means of squares of pixels, from 0 to 1, float32 `(rows, values)`."""
    pixels = decode_pixels(column, columns)
    rows, height, width, channels = pixels.shape
    tall, wide = height // _SQUARE, width // _SQUARE
    squares = pixels[:, : tall * _SQUARE, : wide * _SQUARE].reshape(
        rows, tall, _SQUARE, wide, _SQUARE, channels
    )
    means: NDArray[np.float32] = squares.mean(axis=(2, 4), dtype=np.float32) / np.float32(255)
    return means.reshape(rows, -1)


def _fit_network(column: str, train: Columns) -> Predictor:
    import torch
    from torch import nn

    pixels = torch.from_numpy(decode_pixels(column, {column: train[column].slice(0, _ROWS)}))
    labels, label = np.unique(numbers(train["label"])[:_ROWS], return_inverse=True)
    target = torch.from_numpy(label)

    def scaled(pixels: torch.Tensor) -> torch.Tensor:
        """Pixels scaled to [-1, 1], float32 `(rows, 3, height, width)`."""
        return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1.0

    with _repeatable():
        layers: list[nn.Module] = []
        for inputs, outputs in zip((3, *_CHANNELS), _CHANNELS, strict=False):
            layers += [
                nn.Conv2d(inputs, outputs, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2, ceil_mode=True),
            ]
        layers += [nn.Flatten(), nn.LazyLinear(len(labels))]
        network = nn.Sequential(*layers)
        network(scaled(pixels[:1]))  # sets the size of the last layer
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        for _ in range(_EPOCHS):
            order = torch.randperm(len(pixels))
            for first in range(0, len(order), _BATCH):
                rows = order[first : first + _BATCH]
                loss = nn.functional.cross_entropy(network(scaled(pixels[rows])), target[rows])
                optimizer.zero_grad()
                torch.autograd.backward(loss)
                optimizer.step()

    @torch.no_grad()
    def predict(columns: Columns) -> NDArray[np.int64]:
        given = torch.from_numpy(decode_pixels(column, columns))
        chosen = [
            network(scaled(given[first : first + _BATCH])).argmax(dim=1)
            for first in range(0, len(given), _BATCH)
        ]
        answers: NDArray[np.int64] = labels[torch.cat(chosen).numpy()]
        return answers

    return predict


@contextlib.contextmanager
def _repeatable() -> Iterator[None]:
    """Run PyTorch with seed 0 on one thread; afterwards restore its random state and threads."""
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
