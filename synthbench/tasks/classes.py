"""Answers that name a class, as models give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def read_class(prediction: Any, names: Sequence[str]) -> int | None:
    """A class index from an index or a name: `3`, `"3"`, `" 3 "`, `3.0`; None if unreadable.

    Args:
        prediction: an integer, an integral float, text, or one of these as a NumPy or torch
            scalar. Booleans, other floats, NaN and infinity are not read.
        names: the class names; text is looked up here first, then read as an index.

    Example:
        >>> from synthbench.tasks.classes import read_class
        >>> [read_class(one, ["no", "yes"]) for one in ("yes", " 1 ", 1.0, 1.5, True, 2)]
        [1, 1, 1, None, None, None]
    """
    if getattr(prediction, "shape", None) == ():
        prediction = prediction.item()
    if isinstance(prediction, bytes):
        prediction = prediction.decode("utf-8", "replace")
    if isinstance(prediction, str):
        text = prediction.strip()
        if text in names:
            return list(names).index(text)
        if not text.isascii() or not text.isdigit():
            return None
        digits = text.lstrip("0") or "0"
        if len(digits) > len(str(len(names))):  # `int` refuses thousands of digits
            return None
        prediction = int(digits)
    if isinstance(prediction, bool):
        return None
    if isinstance(prediction, (float, np.floating)):
        if not float(prediction).is_integer():
            return None
        prediction = int(prediction)
    if isinstance(prediction, int) and 0 <= prediction < len(names):
        return int(prediction)
    return None
