"""Predictions as values of a label: a class or a whole number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from synthbench.tasks.numeric import is_number, plain_value

#: The most digits of a whole number that is read.
_MOST_DIGITS = 18
#: A whole number as text; tables with missing values write 3 as `3.0`.
_WHOLE = re.compile(r"(-?)0*(\d+?)(?:\.0+)?", re.ASCII)


def read_class(prediction: Any, names: Sequence[str]) -> int | None:
    """A class index from an index or a name: `3`, `"3"`, `" 3 "`, `3.0`; None if unreadable.

    Args:
        prediction: an integer, an integral float, Fraction or Decimal, text, or one of these as
            a NumPy, torch or Arrow scalar. Booleans, other numbers, NaN and infinity are not read.
        names: the class names; text is looked up here first, then read as an index.

    Example:
        >>> from synthbench.tasks.base import read_class
        >>> [read_class(one, ["no", "yes"]) for one in ("yes", " 1 ", "1.0", 1.5, True, 2)]
        [1, 1, 1, None, None, None]
    """
    prediction = _plain(prediction)
    if isinstance(prediction, str) and prediction.strip() in names:
        return list(names).index(prediction.strip())
    if isinstance(prediction, str) and "-" in prediction:
        return None
    index = read_whole_number(prediction)
    return index if index is not None and 0 <= index < len(names) else None


def read_whole_number(prediction: Any) -> int | None:
    """A whole number from an integral number, a scalar, or text in ASCII digits.

    Example:
        >>> from synthbench.tasks.reading import read_whole_number
        >>> [read_whole_number(one) for one in (7, "-7", "7.0", 7.5, True, "seven")]
        [7, -7, 7, None, None, None]
    """
    prediction = _plain(prediction)
    if isinstance(prediction, str):
        whole = _WHOLE.fullmatch(prediction.strip())
        if whole is None or len(whole[2]) > _MOST_DIGITS:  # `int` refuses long texts
            return None
        return int(whole[1] + whole[2])
    if not is_number(prediction) or (isinstance(prediction, Decimal) and prediction.is_nan()):
        return None
    if not abs(prediction) < 10**_MOST_DIGITS or prediction != int(prediction):
        return None
    return int(prediction)


def _plain(prediction: Any) -> Any:
    """A scalar as a plain Python value, bytes as text."""
    prediction = plain_value(prediction)
    return prediction.decode("utf-8", "replace") if isinstance(prediction, bytes) else prediction
