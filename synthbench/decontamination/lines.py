"""Tokens that are separated alike, on a line of a text or on a line that was wrapped.

    7,0 1 1 0,even              ->   0 1 1 0      (and 7 0 and nothing else: other separators)
    ["[MAX", "0", "1", "]"]     ->   [MAX 0 1 ]
    6+11=                       ->   6 + 1 1 =
    46 56 + 78 =                ->   4 6, and 5 6 + 7 8 =

White space may be missing where two tokens can still be told apart: always beside a bracket or a
sign, and between digits if no token begins with another one (`1001` is `1 0 0 1` unless 10 is a
token, too). Digits that touch are a number, which ends where they do. Letters that touch are a
word, and no row goes across a word, a decimal number or an empty line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthbench.decontamination.atoms import BULLET, CALL, LINE, PARAGRAPH, WORD, Atoms
from synthbench.decontamination.wrapping import Lines
from synthbench.tasks.tokens import Vocabulary

#: As `TextTask.core`.
Core = Sequence[Sequence[str]]

#: With more tokens than this, the prefilter accepts any digits in place of the tokens' own.
_MOST_LISTED = 64
#: A character that may separate two tokens. A sign that is a token is such a character, too.
_SIGN = "[^0-9A-Za-z]"
#: Operators. A number behind one of the first two belongs to the number before it.
_JOINING, _OPERATORS = frozenset("+*"), frozenset("+-*/%^=")
#: Tokens after which an expression goes on, and tokens before which it has begun.
_INFIX = frozenset(["+", "-", "*", "/", "plus", "times"])
_LATER = _INFIX | {"="}
#: Quotes and the like, which may be around some tokens of a row and not around others.
_QUOTES = str.maketrans("", "", "\"'`_~$\u2018\u2019\u201c\u201d")
#: Signs that a wrapped line may begin or end with.
_MARKS = "\"'`,;|/>#+\u2018\u2019\u201c\u201d\u2022"
#: The shortest row with signs between its tokens: `f(a, b, 100)` is ordinary code.
_LEAST_SEPARATED = 5
_LEAST_LONG = 13  # tokens of a row that is never a calculation by chance
_MOST_COUNTED = 100_000  # atoms whose tokens are remembered
_REPEATS = 31  # tokens of a row in a pattern
#: A gap at which nothing is decided: digits touch, or a line was wrapped.
_ANY = None


class Stretch(NamedTuple):
    """Consecutive tokens that are separated alike.

    Attributes:
        words: the tokens.
        operand: how many of the first belong to a number or sum before them, as `6 9` in
            `12 + 6 9`, so that no row begins there.
        least: the number of tokens of the shortest row that is not ordinary code.
    """

    words: Sequence[str]
    operand: int
    least: int


class Finder:
    """Finds the tokens of a vocabulary.

    Args:
        vocabulary: the tokens.
        least: the number of tokens of the shortest row.
        core: what every row has somewhere, see `TextTask.core`.
        touching: whether digits of two tokens may touch, see `can_touch`.
        square: whether a row may be a square grid, with each of its rows on a line.

    Attributes:
        prefilter: a pattern for RE2, which lacks look-around, that every plain text with a row
            matches, and few others.
        gate: a pattern that all these texts match, too. Many vocabularies have the same.
        is_short: whether the prefilter is the core and nothing else.
        has_core: whether rows have a core.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        least: int,
        core: Core = (),
        touching: bool = True,
        square: bool = False,
    ) -> None:
        self._tokens, self._least, self.has_core = frozenset(vocabulary.tokens), least, bool(core)
        self._square = square
        shaped = len(vocabulary.tokens) > _MOST_LISTED
        places = core or [vocabulary.tokens] * 2
        self.prefilter = "".join(
            _pattern(tokens, behind, touching, shaped)
            for tokens, behind in itertools.pairwise([*places, ()])
        )
        self.is_short = bool(core)
        any_token = f"(?:{_pattern(vocabulary.tokens, vocabulary.tokens, touching, shaped)})"
        if not core:
            self.prefilter = f"{any_token}{{{min(least - 1, _REPEATS)}}}"
        elif (beside := min((least - len(core) + 1) // 2, _REPEATS)) > 1:
            # Half of the other tokens are before the core, or half of them behind it.
            self.is_short = False
            around = f"{any_token}{{{beside}}}"
            self.prefilter = f"{around}{self.prefilter}|{self.prefilter}{around}"
        self.gate = self.prefilter
        parts = {
            re.sub("[0-9]", "[0-9]", token) if shaped else token
            for token in self._tokens
            if token.isalnum() and not token.isalpha() and touching
        }
        self._counted: dict[str, int] = {}
        # Longer tokens first.
        ordered = sorted(parts, key=lambda part: (-len(part), part))
        self._parts = re.compile("|".join(ordered) or "$.")
        # Signs are operators where there are numbers for them.
        self._calculates = sum(token.isdigit() for token in self._tokens) > 1
        brackets = filter(_bracket, self._tokens)
        self._opens = {token: 1 if token[0] in "[(" else -1 for token in brackets}

    def stretches(self, atoms: Atoms) -> Iterator[Stretch]:
        """Places of possible rows: tokens that are separated alike, if they are enough."""
        if len(self._counted) > _MOST_COUNTED:
            self._counted.clear()
        for name in atoms.names:
            if name not in self._counted:
                self._counted[name] = self._count(name)
        counts = np.array([self._counted[name] for name in atoms.names], np.int64)[atoms.ids]
        total = np.concatenate([[0], np.maximum(counts, 0).cumsum()])
        breaks = np.flatnonzero(counts < 0)
        starts, ends = np.append(0, breaks + 1), np.append(breaks, len(counts))
        for run in np.flatnonzero(total[ends] - total[starts] >= self._least).tolist():
            lines = Lines(atoms, counts, total, int(starts[run]), int(ends[run]))
            for first, end in self._logical(lines):
                if total[end] - total[first] >= self._least:
                    for with_signs in self._first_signs(atoms, first, end):
                        yield from self._alike(atoms, counts, (first, end), with_signs)
            if self._square:
                yield from self._grids(lines)

    def _count(self, name: str) -> int:
        """The number of tokens of an atom, or -1 if no row goes across it."""
        if name in self._tokens:
            return 1
        if name in (WORD, PARAGRAPH):
            return -1
        if name[0].isalnum():
            return len(self._words(name)) or -1
        return -1 if name != CALL and name[-1].isalnum() else 0

    def _words(self, name: str) -> list[str]:
        """The tokens of an atom."""
        if name in self._tokens:
            return [name]
        if name[0] == BULLET:
            return [name[1]]
        words = self._parts.findall(name)
        whole = sum(map(len, words)) == len(name) and self._tokens.issuperset(words)
        return words if whole else []

    def _grids(self, lines: Lines) -> Iterator[Stretch]:
        """Lines that are the rows of a square, whatever is between cells and between rows."""
        cells = (self._cells(lines, number) for number in range(len(lines.spans)))
        for size, alike in itertools.groupby(filter(None, cells), len):
            rows = list(alike) if size * size >= self._least else []
            for last in range(size, len(rows) + 1, size):
                yield Stretch([*itertools.chain(*rows[last - size : last])], 0, 0)

    def _cells(self, lines: Lines, number: int) -> list[str]:
        """The tokens of a line, with a sign that begins it."""
        first, _ = lines.spans[number]
        sign = lines.name(first)
        begins = [sign[1]] if sign[0] == BULLET and sign[1] in self._tokens else []
        words = (self._words(lines.name(atom)) for atom in lines.tokens(number))
        return [*begins, *itertools.chain.from_iterable(words)]

    def _logical(self, lines: Lines) -> Iterator[tuple[int, int]]:
        """Each line, and lines that are one line which was wrapped, as (first, end) of atoms."""
        yield from lines.spans
        if len(lines.spans) == 1:
            return
        wrapped = lines.wrapped(self._least)
        first, unclosed = 0, 0
        for number, (_, end) in enumerate(lines.spans):
            if self._opens:
                for atom in lines.tokens(number):
                    unclosed = max(0, unclosed + self._opens.get(lines.name(atom), 0))
            last = number == len(lines.spans) - 1
            goes_on = not last and (wrapped[number] or unclosed or self._continues(lines, number))
            if not goes_on:
                if first < number:
                    yield lines.spans[first][0], end
                first, unclosed = number + 1, 0

    def _continues(self, lines: Lines, number: int) -> bool:
        """True if the next line continues an expression or list of this line."""
        here, there = lines.tokens(number), lines.tokens(number + 1)
        if not len(here) or not len(there):
            return False
        around = lines.name(here[-1]) in _INFIX or lines.name(there[0]) in _LATER
        if around and self._calculates:
            return True
        # A list with a token on each line.
        return len(here) == len(there) == 1 and any(
            lines.name(atom)[0] in (",", BULLET) for atom in range(here[0], there[0])
        )

    def _first_signs(self, atoms: Atoms, first: int, end: int) -> Sequence[bool]:
        """Tokens of signs that begin lines. If they begin all of several lines, both."""
        names = [atoms.names[atom_id] for atom_id in atoms.ids[first:end].tolist()]
        lines = 1 + names.count(LINE)
        signs = sum(name[0] == BULLET and name[1] in self._tokens for name in names)
        return (False, True) if signs == lines > 1 else (signs > 0,)

    def _alike(
        self, atoms: Atoms, counts: NDArray[np.int64], span: tuple[int, int], with_signs: bool
    ) -> Iterator[Stretch]:
        """Tokens of a line that are separated alike, by each of two measures of alike.

        Args:
            atoms: the atoms of a text.
            counts: the number of tokens of each.
            span: the line, as (first, end) of atoms.
            with_signs: whether signs that begin lines are tokens.
        """
        first, end = span
        words: list[str] = []
        strict: list[str | None] = []
        loose: list[str | None] = []
        joins: list[bool] = []
        bounds, signs, space, number, wrapped = [0], "", "", False, False
        before = atoms.names[atoms.ids[first - 1]] if first else LINE
        for atom in range(first, end):
            name = atoms.names[atoms.ids[atom]]
            space += atoms.spaces[atom]
            is_first_sign = with_signs and name[0] == BULLET and name[1] in self._tokens
            if not counts[atom] and not is_first_sign:
                wrapped |= name == LINE
                signs += "\u2022" if name[0] == BULLET else name
                continue
            parts = self._words(name)
            if words:
                digits = words[-1][-1].isdigit() and parts[0][0].isdigit()
                if digits and (number or len(parts) > 1):
                    bounds.append(len(words))
                beside_sign = not (words[-1][-1].isalnum() and parts[0][0].isalnum())
                quoted = signs.translate(_QUOTES).replace("**", "")
                white = "\t" if "\t" in space else "  " if len(space) > 1 else ""
                if wrapped:
                    signs = signs.replace(LINE, "")
                    strict.append(signs if signs.strip(_MARKS) else _ANY)
                    loose.append(strict[-1])
                else:
                    strict.append(signs or white)
                    loose.append(_ANY if beside_sign and not quoted else quoted)
                before = words[-1]
            else:
                strict.append(_ANY)
                loose.append(_ANY)
            # Not the star of *emphasis*, which has white space on one side.
            even = bool(space.strip("\n")) == bool(atoms.spaces[atom])
            joins += [signs in _JOINING and even and before[-1].isdigit()] + [False] * (
                len(parts) - 1
            )
            words += parts
            strict += [_ANY] * (len(parts) - 1)
            loose += [_ANY] * (len(parts) - 1)
            signs, space, number, wrapped = "", "", len(parts) > 1, False
        bounds.append(len(words))
        runs: dict[tuple[int, int], int] = {}
        for start, stop in itertools.pairwise(bounds):
            for kinds in (strict, loose):
                for here, there, kind in self._of_one_kind(kinds, start, stop):
                    least = _LEAST_SEPARATED if kind and kind.translate(_QUOTES).strip() else 0
                    runs.setdefault((here, there), least)
        for (start, stop), least in runs.items():
            if stop - start >= self._least:
                operand = start
                if joins[start]:
                    while operand < stop and words[operand].isalnum():
                        operand += 1
                yield Stretch(words[start:stop], operand - start, least)
                if words[stop - 1] == "-" and stop == len(words) and signs[:1] == ">":  # an arrow
                    yield Stretch(words[start : stop - 1], operand - start, least)

    def _of_one_kind(
        self, kinds: Sequence[str | None], first: int, end: int
    ) -> Iterator[tuple[int, int, str | None]]:
        """Longest spans with the same signs between all words, and the signs."""
        start, kind = first, _ANY
        for place in range(first + 1, end):
            here = kinds[place]
            if here is _ANY or here == kind:
                continue
            if kind is not _ANY:
                if not self._is_code(kind):
                    yield start, place, kind
                start = place - 1
                while start > first and kinds[start] is _ANY:
                    start -= 1
            kind = here
        if not self._is_code(kind):
            yield start, end, kind

    def _is_code(self, kind: str | None) -> bool:
        """True between parts of a calculation or a call: 1 + 2 + 3 + 4 = is not 1 2 3 4 =."""
        if kind is _ANY:
            return False
        is_sum = not _OPERATORS.isdisjoint(kind) and ">" not in kind  # as -> has
        return CALL in kind or (is_sum and ("=" in self._tokens or self._least < _LEAST_LONG))


def common_gate(finders: Sequence[Finder]) -> str:
    """A pattern of digits, signs and words that all texts with rows without a core match."""
    tokens = sorted({token for finder in finders for token in finder._tokens})
    pieces = {piece for token in tokens for piece in re.findall("[A-Za-z]+|[0-9]|.", token)}
    patterns = sorted({"[0-9]" if piece.isdigit() else re.escape(piece) for piece in pieces})
    least = min(finder._least for finder in finders)
    return f"(?:(?:{'|'.join(patterns)}){_SIGN}*){{{min(least - 1, _REPEATS)}}}"


def can_touch(tokens: frozenset[str]) -> bool:
    """True if tokens can be told apart without white space, each taken as long as it can be."""
    starts = {token[0] for token in tokens}
    return not any(
        token[:cut] in tokens and token[cut] in starts
        for token in tokens
        for cut in range(1, len(token))
    )


def _bracket(token: str) -> bool:
    return token[0] in "[(" or token in ("]", ")")


def _pattern(tokens: Sequence[str], behind: Sequence[str], touching: bool, shaped: bool) -> str:
    """A pattern of one of some tokens, or of their shapes, and of the signs behind it."""
    patterns: dict[str, None] = {}
    for token in sorted(tokens, key=lambda token: (-len(token), token)):
        pattern = re.escape(token)
        patterns[re.sub(r"[0-9]", "[0-9]", pattern) if shaped else pattern] = None
    are_words = all(token.isalpha() or (token.isalnum() and not touching) for token in tokens)
    apart = are_words and all(token[0].isalnum() for token in behind)
    between = f"(?:{_SIGN}+|$)" if apart else f"{_SIGN}*"
    return f"(?:{'|'.join(patterns)}){between}"
