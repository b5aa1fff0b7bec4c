"""Logistic regression on one thread."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.audit_spec import Columns, Predictor, labels_of

#: The maximum number of optimiser steps. More would change hardly any answer.
_STEPS = 100


def fit_linear(features: Callable[[Columns], Any], train: Columns) -> Predictor:
    """Fit a logistic regression to features, float32 `(rows, features)`.

    An array is scaled to unit variance. A sparse matrix is not, as features that are rare would
    weigh the most.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    inputs, label = features(train), labels_of(train)
    if len(np.unique(label)) == 1:  # scikit-learn refuses a single class
        return lambda columns: np.full(len(columns["label"]), label[0])
    scale: Any = 1.0
    if isinstance(inputs, np.ndarray):
        scale = inputs.std(axis=0)
        scale[scale == 0] = 1.0
    model = LogisticRegression(max_iter=_STEPS, random_state=0)
    # On one thread sums have the same order on every machine, and busy cores cause no delay.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # of tiny splits
        model.fit(inputs / scale, label)

    def predict(columns: Columns) -> NDArray[Any]:
        answers: NDArray[Any] = model.predict(features(columns) / scale)
        return answers

    return predict
