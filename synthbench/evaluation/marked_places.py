r"""Where a text marks its answer: `\boxed{7}`, `<answer>7</answer>`, `#### 7`, "Answer: 7"."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
#: What a mark has in small letters, one character from its beginning at most.
_CUES = ("answer", "boxed", "####", *_ANSWER.split("|"), *_ANSWER_UNSPACED.split("|"))
_ASCII_CUES = tuple(dict.fromkeys(filter(str.isascii, _CUES)))
_LINE = re.compile(r"[\W_]*[^\n]*")
#: Not a mark: a "result" may be intermediate.
_RESULT = re.compile(rf"\bresult{_CLOSING}\s*{_IS}", re.IGNORECASE)
_BOLD = re.compile(
    r"\*\*(?P<stars>[^*\n]{1,200})\*\*|<(?:b|strong)>(?P<tag>[^<\n]{1,200})</"
    r"|\\(?:text|math)bf\{(?P<tex>[^{}\n]{1,200})\}",
    re.IGNORECASE,
)

#: A part of a text, from its start to its end.
Span = tuple[int, int]


def _from_last(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The last ten matches of a pattern, the last one first."""
    return [*pattern.finditer(text)][:-11:-1]


def last_marked(text: str) -> Iterator[Span]:
    """The last ten places that are marked as the answer, the last one first."""
    for mark in _from_last(_MARK, text):
        start = mark.end()
        if mark["tag"]:
            end = text.find("</", start)
            yield start, len(text) if end < 0 else end
        elif mark["brace"]:
            yield start, start - 1 + len(enclosed(text[start - 1 :], "{}")[0])
        else:
            yield start, _line_end(text, start)


def last_results(text: str) -> Iterator[Span]:
    """The places behind the last ten times that a text says "the result is"."""
    return ((one.end(), _line_end(text, one.end())) for one in _from_last(_RESULT, text))


def last_bold(text: str) -> Iterator[Span]:
    """The last ten parts of a text in bold."""
    return (one.span(one.lastgroup or 0) for one in _from_last(_BOLD, text))


def may_mark(text: str) -> bool:
    """Whether a text has a mark, told in little time."""
    lowered = text.lower()
    if len(lowered) != len(text):
        return _MARK.search(text) is not None
    for cue in _ASCII_CUES if text.isascii() else _CUES:
        place = lowered.find(cue)
        while place >= 0:
            if _MARK.match(text, place) or _MARK.match(text, max(0, place - 1)):
                return True
            place = lowered.find(cue, place + 1)
    return False


def has_emphasis(text: str) -> bool:
    """Whether a text may have a part in bold, or say "the result is"."""
    lowered = text.lower()
    return any(cue in lowered for cue in ("**", "<b>", "<strong>", "bf{", "result"))


def _line_end(text: str, start: int) -> int:
    """The end of the first line from `start` on that has a letter or digit."""
    return _LINE.match(text, start).end()  # type: ignore[union-attr]  # always matches


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
