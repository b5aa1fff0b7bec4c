"""The failures that checks find, with their places."""

from __future__ import annotations

import collections

from synthbench.text.lines import one_line

#: How many failures of a kind in a file are named; the others are counted.
SHOWN = 5


class Findings:
    """Failures in the order in which they were found; of many of one kind most are only counted."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], list[str]] = {}
        self._counts: collections.Counter[tuple[str, str]] = collections.Counter()

    def add(self, file: str, kind: str, text: str, row: int | None = None) -> None:
        """Add a failure in a file, in the row of this number, if any.

        Failures of the same kind in a file are counted together.
        """
        place = file if row is None else f"{file} row {row}"
        self._add((file, kind), [one_line(f"{place}: {text}")], 1)

    def merge(self, other: Findings) -> None:
        """Add the failures of another check."""
        for key, texts in other._texts.items():
            self._add(key, texts, other._counts[key])

    def _add(self, key: tuple[str, str], texts: list[str], count: int) -> None:
        kept = self._texts.setdefault(key, [])
        kept += texts[: SHOWN - len(kept)]
        self._counts[key] += count

    def texts(self) -> list[str]:
        """A text for each failure; of many of one kind the first few, and how many there are."""
        texts = []
        for (file, kind), kept in self._texts.items():
            texts += kept
            if (count := self._counts[file, kind]) > len(kept):
                above = f"{count:,} in all, of which {len(kept)} are listed above"
                texts.append(one_line(f"{file}: {kind}: {above}"))
        return texts
