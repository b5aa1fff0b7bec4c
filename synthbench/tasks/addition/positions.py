"""The positions that digits of one weight have in common, in a, in b and in the answer."""

from __future__ import annotations

import numpy as np

from synthbench.tasks.addition.digits import Digits
from synthbench.tasks.addition.ids import Ids, signs


def question_positions(tokens: Ids, first: Digits, abacus: bool) -> Digits:
    """The positions of the tokens of questions, padded with 0.

    Coupled (Cho et al., NeurIPS 2024): the signs are at `first`, a digit of weight 10^w is at
    `first` + 1 + w. Abacus (McLeish et al., NeurIPS 2024): a digit is at `first` + w, the signs are
    at 0.

    Args:
        tokens: ids `(rows, width)`.
        first: the first position of each row, `(rows,)`.
        abacus: whether positions are those of abacus.
    """
    places, is_sign, start = np.arange(tokens.shape[1]), tokens > 10, first[:, None]
    sign, equals = (place[:, None] for place in signs(tokens))
    weight = np.where(places < sign, sign, equals) - 1 - places
    if abacus:
        return np.where((tokens == 0) | is_sign, 0, start + weight)
    return np.where(tokens == 0, 0, start + np.where(is_sign, 0, 1 + weight))
