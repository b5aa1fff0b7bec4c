"""Replay of steps that replace a part of a text by its value."""

from __future__ import annotations


class Rewriting:
    """A text that becomes shorter step by step.

    Attributes:
        text: the rest.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def replace(self, part: str, value: object) -> None:
        """Replace a part at its first place.

        Raises:
            ValueError: the part is not in the text.
        """
        if part not in self.text:
            raise ValueError(f"{part!r} does not stand in what is left, {self.text[:80]!r}")
        self.text = self.text.replace(part, str(value), 1)
