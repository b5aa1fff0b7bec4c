r"""Where a text marks its answer: `\boxed{7}`, `<answer>7</answer>`, `#### 7`, "Answer: 7"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

_CLOSING = r"[\"'*_`)\]]*"
_IS = (
    r"(?:[:=：＝]|\b(?:is|was|equals|(?:must|should|would|will)\ be|ist|lautet|es|est|é|è|هو|هي)\b)"
)
#: The word for "answer" in other languages; in the last, "is" follows at once.
_ANSWER = r"answer|antwort|respuesta|réponse|resposta|risposta|ответ|उत्तर|الجواب|الإجابة"
_ANSWER_UNSPACED = r"答案|答え|正解|解答|答|정답|답"
_MARK = re.compile(
    rf"""(?P<brace> \\boxed\s*\{{)
    |   (?P<tag> <answer>)
    |   \#{{4}} (?=[^\w\n]{{0,9}}\d)
    |   \b(?:{_ANSWER})\b {_CLOSING} (?:\s+(?:to|for|of)\ [^.\n]{{1,200}}?)?? \s* {_IS}
    |   (?:{_ANSWER_UNSPACED}) {_CLOSING} [^\d\s不非:.。：]{{0,4}}? \s* (?:[是为為は은는이]|[:：])
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: What marks begin with, in small letters.
_MARK_CUES = (r"\boxed", "<answer>", "####", *_ANSWER.split("|"), *_ANSWER_UNSPACED.split("|"))
_LINE = re.compile(r"[\W_]*[^\n]*")
#: Not a mark: a "result" may be intermediate.
_RESULT = re.compile(rf"\bresult{_CLOSING}\s*{_IS}", re.IGNORECASE)
_BOLD = re.compile(
    r"\*\*(?P<stars>[^*\n]{1,200})\*\*|<(?:b|strong)>(?P<tag>[^<\n]{1,200})</"
    r"|\\(?:text|math)bf\{(?P<tex>[^{}\n]{1,200})\}",
    re.IGNORECASE,
)

_BOLD_CUES = ("**", "</b>", "</strong>", r"\textbf{", r"\mathbf{")
#: How many places of a kind are looked at.
_MOST = 10

#: A part of a text, from its start to its end.
Span = tuple[int, int]


def _cued(text: str, cues: Iterable[str]) -> list[int]:
    """Where a text has one of these, the last place first."""
    lowered = text.lower()
    places = []
    for cue in filter(str.isascii, cues) if text.isascii() else cues:
        place = lowered.find(cue)
        while place >= 0:
            places.append(place)
            place = lowered.find(cue, place + 1)
    return sorted(places, reverse=True)


def _from_last(pattern: re.Pattern[str], cues: Iterable[str], text: str) -> Iterator[re.Match[str]]:
    """The last matches of a pattern that begins with one of these cues, the last one first."""
    matches = (pattern.match(text, place) for place in _cued(text, cues))
    return itertools.islice(filter(None, matches), _MOST)


def last_marked(text: str) -> Iterator[Span]:
    """The last ten places that are marked as the answer, the last one first."""
    for mark in _from_last(_MARK, _MARK_CUES, text):
        start = mark.end()
        if mark["tag"]:
            end = text.find("</", start)
            yield start, len(text) if end < 0 else end
        elif mark["brace"]:
            yield start, start - 1 + len(enclosed(text[start - 1 :], "{}")[0])
        else:
            yield line_at(text, start)


def last_results(text: str) -> Iterator[Span]:
    """The places behind the last ten times that a text says "the result is"."""
    found = _from_last(_RESULT, ["result"], text)
    return (line_at(text, one.end()) for one in found)


def last_bold(text: str) -> Iterator[Span]:
    """The last ten parts of a text in bold, the last one first."""
    return itertools.islice(_bold(text), _MOST)


def _bold(text: str) -> Iterator[Span]:
    begin = len(text) + 1
    for place in _cued(text, _BOLD_CUES):
        if place < begin:
            begin = text.rfind("\n", 0, place) + 1
            end = text.find("\n", place)
            found = _BOLD.finditer(text, begin, len(text) if end < 0 else end)
            yield from reversed([one.span(one.lastgroup or 0) for one in found])


def may_mark(text: str) -> bool:
    """Whether a text has a place that is marked as the answer."""
    return next(_from_last(_MARK, _MARK_CUES, text), None) is not None


def has_emphasis(text: str) -> bool:
    """Whether a text may have a part in bold, or say "the result is"."""
    return bool(_cued(text, (*_BOLD_CUES, "result")))


def line_at(text: str, start: int) -> Span:
    """From `start` to the end of the first line from there on that has a letter or digit."""
    return start, _LINE.match(text, start).end()  # type: ignore[union-attr]  # always matches


def enclosed(text: str, brackets: str) -> list[str]:
    """The outermost parts of a text in brackets; empty text for one that is never closed."""
    found: list[str] = []
    depth = start = 0
    for bracket in re.finditer(f"[{re.escape(brackets)}]", text):
        if bracket[0] == brackets[0]:
            if not depth:
                start = bracket.start()
                found.append("")
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found[-1] = text[start : bracket.end()]
    return found
