"""Numbers as people write them, in prompts and in answers."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from synthbench.tasks.scalar import Text
from synthbench.tasks.sequences import Sequence

#: A whole number, perhaps with its digits in groups of three: 1133, 1,133, 1 133, 1_133, 1'133.
_NUMBER = re.compile(r"[0-9]+|[0-9]{1,3}(?:([,_'’ \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*")
#: The space between two digits.
_BETWEEN = re.compile(r"(?<=[0-9]) (?=[0-9])")


@dataclasses.dataclass(frozen=True)
class WrittenRow(Text):
    """The text of a row, `3 8 + 9 5 =`. People are shown `38 + 95 =`."""

    def show(self, value: Any) -> str:
        return _BETWEEN.sub("", str(value))


@dataclasses.dataclass(frozen=True)
class WrittenNumber(Sequence):
    """A number as the sequence of its digits, `1 1 3 3`. As an answer also `1133` or `1,133`."""

    tokens: tuple[str, ...] = tuple("0123456789")

    is_number = True

    @property
    def expected(self) -> str:
        return "a whole number such as 1133 or 1,133, or its digits separated by spaces"

    @property
    def wanted(self) -> str:
        return "the number"

    def _words(self, text: str) -> list[str]:
        digits = [character for character in text if character.isdigit()]
        return digits if _NUMBER.fullmatch(text) else super()._words(text)

    def format_answer(self, value: Any) -> str:
        return _BETWEEN.sub("", str(value))
