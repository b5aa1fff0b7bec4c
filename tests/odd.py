"""Values of types that an argument does not have, for hypothesis."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

from synthbench.errors import SynthbenchError
from synthbench.text.lines import short

MANY = settings(max_examples=200, deadline=None)
words = str.split
HUGE = 10**5000


class Unprintable:
    """An object that cannot even be written into a message."""

    def __repr__(self):
        raise RuntimeError("no repr")


#: Made anew for each draw, as some of them can be used up.
_MAKERS = [
    *(lambda value=value: value for value in (None, True, False, 0, 7, -1, 2**70, HUGE, -HUGE)),
    *(lambda value=value: value for value in (0.5, 7.0, math.nan, math.inf, 3 + 0j)),
    *(lambda value=value: value for value in ("", "7", "six", "test", "\0", "x" * 5_000, "\ud800")),
    *(lambda value=value: value for value in (b"7", b"\xff", Fraction(7), Decimal("sNaN"))),
    *(lambda value=value: value for value in (np.int64(7), np.float32("nan"), np.str_("7"))),
    *(lambda value=value: value for value in (np.bool_(True), datetime.date(2020, 1, 1), object)),
    lambda: np.array([[1.0, 2.0]]),
    lambda: np.array(["7", None], object),
    lambda: pa.scalar(7),
    lambda: pa.array([7]),
    lambda: Path("/nowhere/at/all"),
    lambda: {7},
    lambda: (one for one in "ab"),
    lambda: range(3),
    lambda: bytearray(b"7"),
    Unprintable,
    lambda: {"role": "assistant", "content": "Answer: 7"},
    lambda: [{"role": "user"}, {"role": "assistant", "content": "Answer: 7"}],
    lambda: {"content": [{"type": "text", "text": 7}]},
    lambda: {"text": "3 4 7 2 =", "label": 7},
]

# By number, as hypothesis prints what it samples from.
_leaves = st.sampled_from(range(len(_MAKERS))).map(lambda number: _MAKERS[number]())
_keys = st.sampled_from(["id", "label", "text", "prediction", "content", "train", 7, None])


class Odd:
    """A value that hypothesis can print, whatever it is."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return short(self.value)


#: Any of these, alone or in lists, tuples and dicts, as `Odd`.
odd = st.recursive(
    _leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_keys, inner, max_size=3)
    ),
    max_leaves=4,
).map(Odd)


def refused(call, *arguments, **named):
    """The error of ours that a call raises; what it returns if it raises none."""
    try:
        return call(*arguments, **named)
    except SynthbenchError as error:
        text = str(error)
        assert text and len(text.splitlines()) <= 2
        return error
