"""Logistic regression by scikit-learn, as a shortcut's predictor."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from synthbench.errors import SynthbenchError
from synthbench.tasks.scrutiny import Columns, Predictor, numbers

#: Steps of the optimiser, at most: what is left after so many hardly moves an answer.
_STEPS = 100


def need_sklearn() -> None:
    """Make sure that scikit-learn is there.

    Raises:
        SynthbenchError: it is not.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise SynthbenchError("An audit needs scikit-learn: pip install 'synthbench[audit]'.")


def fit_linear(features: Callable[[Columns], NDArray[np.float32]], train: Columns) -> Predictor:
    """Fit a logistic regression on features of rows, each scaled to unit variance.

    Args:
        features: from rows to float32 `(rows, features)`.
        train: the rows to fit.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    given, label = features(train), numbers(train["label"])
    if len(np.unique(label)) == 1:  # nothing to tell apart
        return lambda columns: np.full(len(columns["label"]), label[0])
    scale = given.std(axis=0)
    scale[scale == 0] = 1.0
    model = LogisticRegression(max_iter=_STEPS, random_state=0)
    # One thread: sums in one order, whatever the machine, and no waiting for busy cores.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(given / scale, label)

    def predict(columns: Columns) -> NDArray[np.int64]:
        answers: NDArray[np.int64] = model.predict(features(columns) / scale)
        return answers

    return predict
