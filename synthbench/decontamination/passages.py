"""Runs of a task's tokens in running text, whatever white space stands between them.

    Solve [MAX 0 [MIN 4 6]] now.      ->      [MAX 0 [MIN 4 6 ] ]
    in binary: 0110 1001              ->      0 1 1 0 1 0 0 1
    10 2 3 4=                         ->      10 2 3 4 =

White space may be missing where two tokens can still be told apart: always beside a bracket or a
sign, and between digits if no token begins with another one (`1001` is `1 0 0 1` unless 10 is a
token, too). Letters that touch are another word: `100 bed` is not `100 b e d`. A run never begins
or ends within a word or a decimal number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from synthbench.tasks.tokens import Vocabulary

#: White space, as both Python and RE2 read it.
_SPACE = r"[\s\x{a0}\x{2000}-\x{200b}\x{202f}\x{3000}]*"
#: With more tokens than this, patterns accept any digits in place of the tokens' own.
_MOST_LISTED = 64
#: Where no word or decimal number continues; where one does; the rest of a word.
_ENDS, _WITHIN = r"(?!\w)(?![.,]\d)", re.compile(r"(?<=\w)(?=\w)|(?<=\d[.,])(?=\d)")
_REST = re.compile(r"\w*")


#: As `TextTask.core`.
Core = Sequence[Sequence[str]]


class TokenRun(NamedTuple):
    """Consecutive tokens in a text.

    Attributes:
        words: the tokens.
        passages: parts that stand apart, as (first, end): the run itself, and if it has several,
            its paragraphs and lines. A tab ends a line, too.
    """

    words: Sequence[str]
    passages: Sequence[tuple[int, int]]


class Finder:
    """Finds the runs of a vocabulary.

    Args:
        vocabulary: the tokens.
        least: the number of tokens of the shortest run, at least 3.
        core: what every run with a row has somewhere, see `TextTask.core`.
        touching: whether digits of two tokens may touch, see `can_touch`.

    Attributes:
        prefilter: a pattern for RE2, which has no look-around, that every text with a row matches,
            and few others.
    """

    def __init__(
        self, vocabulary: Vocabulary, least: int, core: Core = (), touching: bool = True
    ) -> None:
        self._tokens = frozenset(vocabulary.tokens)
        tokens, shaped = vocabulary.tokens, len(vocabulary.tokens) > _MOST_LISTED

        def any_of(tokens: Iterable[str], left: str, right: str) -> str:
            """A pattern of these tokens, between `left` and `right` where they must stand apart."""
            ordered = sorted(tokens, key=lambda token: (-len(token), token))
            patterns = {_pattern(one, touching, shaped, left, right): None for one in ordered}
            return f"(?:{'|'.join(patterns)})"

        # It begins with a token, for which the search is several times as fast.
        word, space = any_of(tokens, "", _ENDS), re.sub(r"x\{(\w+)\}", _as_python, _SPACE)
        end = rf"(?:{_ENDS}|(?<!\w))"
        self._run = re.compile(f"{word}(?:{space}{word}){{{least - 1},}}{end}")
        self._word = re.compile(word)
        places = [any_of(place, r"\b", r"\b") for place in core or [tokens] * least]
        self.prefilter = _SPACE.join(places)

    def runs(self, text: str) -> Iterator[TokenRun]:
        """The runs in a text, in order."""
        place = 0
        while (found := self._run.search(text, place)) is not None:
            if _WITHIN.match(text, found.start()):
                place = max(found.start() + 1, _REST.match(text, found.start()).end())  # type: ignore[union-attr]
            else:
                yield from self._parts(found[0])
                place = found.end()

    def _parts(self, text: str) -> Iterator[TokenRun]:
        """What a stretch of text holds: several runs if not all that look like tokens are some."""
        words: list[str] = []
        lines, paragraphs, end = [0], [0], 0
        for found in self._word.finditer(text):
            word, gap = found[0], text[end : found.start()]
            end = found.end()
            if word not in self._tokens:
                if words:
                    yield _run(words, lines, paragraphs)
                words, lines, paragraphs = [], [0], [0]
                continue
            if words and ("\n" in gap or "\t" in gap):
                lines.append(len(words))
                if gap.count("\n") > 1:
                    paragraphs.append(len(words))
            words.append(word)
        if words:
            yield _run(words, lines, paragraphs)


def _run(words: Sequence[str], lines: Sequence[int], paragraphs: Sequence[int]) -> TokenRun:
    parts = (itertools.pairwise([*starts, len(words)]) for starts in ([0], paragraphs, lines))
    return TokenRun(words, list(dict.fromkeys(itertools.chain.from_iterable(parts))))


def _pattern(token: str, touching: bool, shaped: bool, left: str, right: str) -> str:
    """The pattern of a token, or of its shape, guarded where another token may not touch it."""
    pattern = re.escape(token)
    if shaped:
        pattern = re.sub(r"[0-9]", "[0-9]", pattern)
    apart = token.isalpha() or not touching
    before = left if apart and re.match(r"\w", token) else ""
    behind = right if apart and re.search(r"\w$", token) else ""
    return f"{before}{pattern}{behind}"


def _as_python(code: re.Match[str]) -> str:
    """RE2's code of a character as Python's."""
    return f"u{int(code[1], 16):04x}"


def can_touch(tokens: frozenset[str]) -> bool:
    """Whether tokens can be told apart without white space, each taken as long as it can be."""
    starts = {token[0] for token in tokens}
    return not any(
        token[:cut] in tokens and token[cut] in starts
        for token in tokens
        for cut in range(1, len(token))
    )
