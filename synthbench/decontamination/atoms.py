"""A text as atoms: words, numbers, signs and ends of lines.

    Solve [MAX 0, 10] now      ->      Solve  [MAX  0  ,  10  ]  now

Atoms are the same for all vocabularies, so that a text is divided once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from synthbench.tasks.tokens import Vocabulary

LINE, PARAGRAPH = "\n", "\n\n"
#: A word that is not a token of any vocabulary, a bracket of a call, as in `print(`, before a sign
#: that begins a line, as in a list. No text has these characters by custom.
WORD, CALL, BULLET = "\ue000", "\ue001(", "\ue002"
_BULLETS = "-*+>#"


class AtomReader:
    """Divides texts into atoms.

    A token such as `[MAX` or `^2` is an atom. So is a decimal number, which is never a token, and a
    sign of several characters, such as `==`.

    Args:
        vocabularies: all whose tokens are searched for.
    """

    def __init__(self, vocabularies: Iterable[Vocabulary]) -> None:
        self._tokens = frozenset(token for each in vocabularies for token in each.tokens)
        compound = sorted(
            (
                token
                for token in self._tokens
                if len(token) > 1 and not re.fullmatch(r"[^\W_]+", token)
            ),
            key=lambda token: (-len(token), token),
        )
        parts = [re.escape(token) + r"(?![^\W\d_])" * token[-1].isalpha() for token in compound]
        parts += [
            r"\d+(?:\.\d+)+[^\W_]*|(?<![.\w])\.\d+",
            r"[^\W_]+(?:_+[^\W_]+)*",
            r"\n(?:[^\S\n]*\n)+|\n",
            r"\*\*+|!=+|:=(?=[ \w(\[{\"'])|==+",
            r"[^\w\s]|_",
        ]
        # Tokens such as push0 may touch others.
        mixed = [re.match("([A-Za-z]+)[0-9]+$", token) for token in self._tokens]
        before = sorted({rf"{match[1]}(?=[0-9])" for match in mixed if match})
        self._touching = re.compile(f"(?:{'|'.join(['[0-9]', *before])})+")
        self._atom = re.compile(rf"([^\S\n]*)({'|'.join(parts)})")

    def read(self, text: str) -> Atoms:
        """The atoms of plain text."""
        # Without white space at the end, every match of the pattern begins where another has ended.
        pairs = self._atom.findall(text.rstrip())
        index: dict[str, int] = {}
        ids = [index.setdefault(name, len(index)) for _, name in pairs]
        names = {self._named(name): None for name in index}
        place = {name: number for number, name in enumerate(names)}
        renamed = np.array([place[self._named(name)] for name in index], np.int64)
        widths = np.array([len(space) + len(name) for space, name in pairs], np.int64)
        return Atoms(
            [*names], renamed[np.array(ids, np.int64)], [space for space, _ in pairs], widths
        )

    def _named(self, name: str) -> str:
        if name in self._tokens:
            return name
        if name[0] == LINE:
            return LINE if len(name) == 1 else PARAGRAPH
        is_word = name[-1].isalnum() or name[0].isalnum()
        return WORD if is_word and not self._touching.fullmatch(name) else name


class Atoms:
    """The atoms of a text.

    Args:
        names: the different atoms.
        ids: the index of each atom in `names`, `(atoms,)`.
        spaces: the white space before each.
        widths: how many characters each has, white space included, `(atoms,)`.

    Attributes:
        names, ids, spaces: as given. The bracket of a call and signs that begin a line have names
            of their own.
        ends: where in the text each atom ends, `(atoms,)`.
        lines: which atoms end a line or a paragraph, in order.
    """

    def __init__(
        self, names: list[str], ids: NDArray[np.int64], spaces: list[str], widths: NDArray[np.int64]
    ) -> None:
        self.names, self.ids, self.spaces = names, ids, spaces
        self.ends = widths.cumsum()
        is_end = np.array([name[0] == LINE for name in names] + [False])[:-1]
        self.lines = np.flatnonzero(is_end[ids])
        if "(" in names:
            is_word = np.array([name == WORD or name[-1].isalnum() for name in names])
            brackets = np.flatnonzero(ids == names.index("("))
            behind_words = brackets[(brackets > 0) & is_word[ids[brackets - 1]]]
            self._rename([place for place in behind_words.tolist() if not spaces[place]], CALL)
        begins = np.concatenate([[0], self.lines + 1])
        begins = begins[begins < len(ids) - 1]
        for sign in _BULLETS:
            if sign in names:
                of_sign = begins[ids[begins] == names.index(sign)].tolist()
                self._rename([place for place in of_sign if spaces[place + 1]], BULLET + sign)

    def _rename(self, places: list[int], name: str) -> None:
        if places:
            self.ids[places] = len(self.names)
            self.names.append(name)

    def line_width(self, atom: int) -> int:
        """The number of characters of the line that an atom is in."""
        number = int(np.searchsorted(self.lines, atom))
        first = self.ends[self.lines[number - 1]] if number else 0
        last = self.lines[number] - 1 if number < len(self.lines) else len(self.ids) - 1
        return int(self.ends[last] - first) if last >= 0 else 0

    def word_width(self, atom: int) -> int:
        """The number of characters between the white space on both sides of an atom."""
        first, last = atom, atom + 1
        while first and not self.spaces[first] and self._is_inside(first - 1):
            first -= 1
        while last < len(self.ids) and not self.spaces[last] and self._is_inside(last):
            last += 1
        begin = self.ends[first] - len(self.names[self.ids[first]])
        return int(self.ends[last - 1] - begin)

    def _is_inside(self, atom: int) -> bool:
        return self.names[int(self.ids[atom])][0] != LINE
