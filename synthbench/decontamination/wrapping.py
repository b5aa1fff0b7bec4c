"""Lines of a text, and which of them were one line that was wrapped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synthbench.decontamination.atoms import Atoms

_NARROWEST = 24  # a shorter line was not wrapped
_AROUND = 2  # characters around a wrapped text, such as quotes


class Lines:
    """The lines of a run of atoms.

    Args:
        atoms: the atoms of the text.
        counts: the number of tokens of each atom.
        total: how many tokens the atoms before each have.
        first, end: the run.

    Attributes:
        spans: each line as (first, end) of atoms.
    """

    def __init__(
        self,
        atoms: Atoms,
        counts: NDArray[np.int64],
        total: NDArray[np.int64],
        first: int,
        end: int,
    ) -> None:
        self._atoms, self._counts, self._total = atoms, counts, total
        among = slice(*np.searchsorted(atoms.lines, [first, end]).tolist())
        ends = [*atoms.lines[among].tolist(), end]
        self.spans = list(zip([first, *(stop + 1 for stop in ends[:-1])], ends, strict=True))

    def name(self, atom: int) -> str:
        """An atom, without the mark of a sign that begins a line."""
        return self._atoms.names[int(self._atoms.ids[atom])]

    def tokens(self, number: int) -> list[int]:
        """The atoms of a line that are tokens."""
        first, end = self.spans[number]
        return [atom for atom in range(first, end) if self._counts[atom] > 0]

    def wrapped(self, least: int) -> list[bool]:
        """True for each line that ends because it was too full for the next word.

        Nearly all lines of a wrapped text are full. A table was not wrapped: its lines have all the
        same number of short words or numbers, and fewer than a row.

        Args:
            least: the number of tokens of the shortest row.
        """
        starts, ends = np.array(self.spans).T
        sizes = self._total[ends] - self._total[starts]
        used = np.flatnonzero(sizes).tolist()
        widths = [self._atoms.line_width(self.spans[number][0]) for number in used]
        wrapped = [False] * len(self.spans)
        names = [self.name(atom) for atom in self.tokens(used[0])]
        is_small = all(name.isalnum() and len(name) <= 2 for name in names)
        is_table = is_small and (sizes[used] == min(sizes[used[0]], least - 1)).all()
        if max(widths) < _NARROWEST or is_table:
            return wrapped
        widest = max(widths) - _AROUND
        full = [
            there == here + 1 and width + 1 + self._atoms.word_width(self.tokens(there)[0]) > widest
            for here, there, width in zip(used, used[1:], widths, strict=False)
        ]
        if 2 * sum(full) >= len(full):
            for number, is_full in zip(used, full, strict=False):
                wrapped[number] = is_full
        return wrapped
