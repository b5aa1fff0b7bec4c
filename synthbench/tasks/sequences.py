"""A column of sequences: text made of known tokens, as a label a target for each position."""

from __future__ import annotations

import dataclasses
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.arrow import arrow_array
from synthbench.tasks.column import Encoded
from synthbench.tasks.numeric import is_number, plain_value, read_array, read_whole_number
from synthbench.tasks.scalar import Text, some, span
from synthbench.tasks.tokens import Vocabulary, packed
from synthbench.text.lines import short

if TYPE_CHECKING:
    import pyarrow as pa

#: Longer whole numbers are not read as digits; `str` refuses more than 4,300 digits.
_MOST_BITS = 14_000
#: The token that ends an answer whose length is a part of the answer.
_END = "end"


@dataclasses.dataclass(frozen=True)
class Sequence(Text):
    """Text that is a sequence of known tokens: as a label, a target for each position.

    Attributes:
        tokens: all tokens that it can have, in a fixed order. The first has id 1.
        separator: the text between two tokens. If it is empty, each character is a token.
        ignored: a further token, the last, at places that are not asked. None if all are asked.
    """

    tokens: tuple[str, ...]
    separator: str = " "
    ignored: str | None = None

    metrics = ("exact_match", "position_accuracy")
    binary_metrics = ("exact_match",)

    @property
    def vocabulary(self) -> Vocabulary:
        ignored = () if self.ignored is None else (self.ignored,)
        return Vocabulary((*self.tokens, *ignored), self.separator)

    @property
    def chance(self) -> float:
        """The share of right places of a uniform guess among the tokens, `end` left out."""
        return 1 / len([token for token in self.tokens if token != _END])

    def __str__(self) -> str:
        return f"Sequence({span(self.tokens)})"

    @property
    def expected(self) -> str:
        shown = ", ".join(some(self.tokens))
        return f"a list of tokens ({shown}), or a text of them separated by {self.separator!r}"

    @property
    def wanted(self) -> str:
        return "its tokens, separated by spaces,"

    def _from_plain(self, values: Any) -> pa.Array:
        """Texts, lists of tokens, or ids `(rows, width)` from 1, where zeros are left out."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return self.vocabulary.join(self._check_ids(values).astype(self.vocabulary.dtype))
        lists = [
            self._split(value) if isinstance(value, str) else [*map(str, value)] for value in values
        ]
        known = self.vocabulary.tokens
        for unknown in (token for tokens in lists for token in tokens if token not in known):
            raise ValueError(f"{unknown!r} is not a token of {self}")
        return arrow_array([self.separator.join(tokens) for tokens in lists])

    def _check_ids(self, values: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        self.vocabulary.check_ids(values)
        return values

    def _split(self, text: str) -> list[str]:
        return text.split(self.separator) if self.separator else list(text)

    def read(self, prediction: Any, label: Any) -> str | None:
        """The text of a sequence, from its text or from a list or array of its tokens.

        Positions where the label has `ignored` are not read: the result has `ignored` there. Nor
        are positions behind a label that ends in `ignored` or `end`; `ignored` behind any other
        label is left out. Any further token counts, and is wrong.

        Without a separator between tokens, a whole number is read as its digits, as JSON and tables
        have them.
        """
        prediction = plain_value(prediction)
        if is_number(prediction):
            prediction = _digits(prediction)
        if isinstance(prediction, np.ndarray) and prediction.dtype == object:
            prediction = prediction.tolist()
        if isinstance(prediction, str):
            words = self._words(prediction.strip())
        elif isinstance(prediction, list | tuple):
            words = [self._word(token) for token in prediction]
        elif (array := read_array(prediction)) is not None and array.ndim == 1:
            words = [self._word(token) for token in array.tolist()]
        else:
            return None
        if self.ignored is not None and label is not None:
            words = self._without_unasked(words, label)
        known = set(self.vocabulary.tokens)
        return self.separator.join(words) if words and set(words) <= known else None

    def _without_unasked(self, words: list[str], label: Any) -> list[str]:
        """The words of an answer, with `ignored` where a label has it, and cut at the label's end.

        They stay as they are if they are too few to reach a position that is asked.
        """
        right = self._split(label if isinstance(label, str) else self.read(label, None) or "")
        is_asked = [token != self.ignored for token in right]
        if not any(is_asked[: len(words)]):
            return words
        behind = words[len(right) :]
        if right[-1] in (self.ignored, _END):
            behind = []
        while behind and behind[-1] == self.ignored:
            behind.pop()
        read = (word if here else self.ignored for word, here in zip(words, is_asked, strict=False))
        return [*read, *behind]  # type: ignore[list-item]

    def _word(self, token: Any) -> str:
        """An entry of a list as a word, whether or not it is a token."""
        token = plain_value(token)
        if is_number(token) and not (isinstance(token, float) and str(token) in self.tokens):
            return _digits(token) or ""
        return str(token)

    def _words(self, text: str) -> list[str]:
        """The words of an answer, whether or not they are tokens."""
        return text.split() if self.separator.isspace() else self._split(text)

    def format_answer(self, value: Any) -> str:
        """The tokens up to `end`, where an answer has it."""
        words = self._split(str(value))
        last = words.index(_END) + 1 if _END in words else None
        return self.separator.join(words[:last])

    def solutions(self, value: Any) -> tuple[Any, ...]:
        """The text, or the list of its tokens."""
        return value, self._split(value)

    def from_solver(self, answer: Any) -> str | None:
        return self.read(answer, None)

    def from_row(self, value: Any) -> str | None:
        """The text, from a text or from a list or array of tokens; ValueError if it is neither."""
        if value is not None and (text := self.read(value, None)) is None:
            raise ValueError(f"{short(value)} is not {self.expected}")
        return None if value is None else text

    def measure(self, label: Any, answer: Any) -> dict[str, float]:
        """Metrics: all asked tokens are right, and the share of them that are.

        A position that only one of the two has counts as wrong.
        """
        if answer is None:
            return dict.fromkeys(self.metrics, 0.0)
        verdicts = self.right_places(label, answer)
        same = sum(verdicts.values())
        share = same / max(len(verdicts), 1)
        return {"exact_match": float(same == len(verdicts)), "position_accuracy": share}

    def right_places(self, label: Any, answer: Any) -> dict[int, bool]:
        right, words = self._split(label), [] if answer is None else self._split(answer)
        pairs = enumerate(zip_longest(right, words, fillvalue=""), 1)
        return {place: token == other for place, (token, other) in pairs if token != self.ignored}

    def is_plausible(self, prediction: Any) -> bool:
        array = read_array(prediction)
        return is_number(prediction) or (array is not None and array.ndim == 1)

    def encodes_items(self, vocabulary: Vocabulary | None) -> bool:
        return False

    def encodes(self, vocabulary: Vocabulary | None) -> bool:
        return True

    def encode(self, array: pa.Array, name: str, vocabulary: Vocabulary | None = None) -> Encoded:
        return super().encode(array, name, self.vocabulary)

    def ids(self, values: Any) -> NDArray[np.int64]:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            return packed(self._check_ids(values)).astype(np.int64)
        return self.vocabulary.encode(self.cast(values)).astype(np.int64)


@dataclasses.dataclass(frozen=True)
class Digit(Sequence):
    """A sequence that has one token in every row, a digit."""

    is_number = True

    @property
    def wanted(self) -> str:
        if len(self.tokens) == 2:
            return " or ".join(self.tokens)
        return f"a number from {self.tokens[0]} to {self.tokens[-1]}"


def _digits(number: Any) -> str | None:
    """A whole number as text; None if it is not whole, or if `str` refuses its length."""
    if isinstance(number, int):
        return str(number) if number.bit_length() < _MOST_BITS else None
    whole = read_whole_number(number)
    return None if whole is None else str(whole)
