r"""Where a message marks its answer: the last of these.

\boxed{7}   \fbox{7}   <answer>7</answer>   answer>7</answer>   7</answer>
Answer: 7   **Final answer**\n\n7   The answer is 7.   {"answer": 7}   #### 7
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

#: What marks have in them.
_CUES = ("answer", "box", "####")
_BOX = re.compile(r"\\(?:boxed|f(?:rame)?box)(?![a-z])\s{0,9}(?P<brace>\{)?")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
#: What a box holds without braces: `\boxed7`.
_UNBRACED = re.compile(r"-?[\w.,]{1,99}")
#: Between two boxes of which each has a part of the answer, or another answer.
_BETWEEN_BOXES = re.compile(
    r"(?:[\s,;$&|→>.-]|\\[,;:!]|\\(?:quad|qquad|to|rightarrow|text|ldots|cdots)\b|[{}]|and|or){0,40}"
)
_TAG = re.compile(r"answer(?:(?P<more>\s[^<>\[\]\n]{0,60})?>|\s?\])")
_OPENS = re.compile(r"(?P<open>[<\[]\s?(?P<close>/\s?)?)?(?:final|my|correct)?[ _-]?\Z")
_IS = re.compile(
    r"""answers?["'*_`)\]]{0,5}
    (?:\s{1,9}(?:to|for|of)\b[^.:=\n]{1,200}?)??
    \s{0,9}(?:[:=：＝]|-{1,2}>|=>|→|⇒|➡
    |\b(?P<verb>(?:is|was|equals|(?:would|should|must|will|can\ only|has\ to)\ be
        |comes?\ (?:out\ )?to|turns\ out\ to\ be)\b\s?:?)
    |[(\[](?=\s?-?\d)
    |(?P<title>(?=[*_:\#\ \t]{0,9}\n)))""",
    re.VERBOSE,
)
#: What a line may have before "answer" if it is a heading.
_HEADING = re.compile(r"(?:[#*_>\s]|the\s|my\s|final\s|correct\s|short\s){0,20}\Z")
#: How many marks are looked at that are empty or state nothing, as in "the answer is simple".
_MOST = 50


class Mark(NamedTuple):
    """A place that is marked as the answer.

    Attributes:
        text: what is marked: all that is enclosed, or the message from the mark on.
        enclosed: whether the mark encloses the answer.
        settles: whether the reply has no answer if `text` states none. Otherwise an earlier mark
            may have it.
        closed: whether the mark ends where it should.
    """

    text: str
    enclosed: bool
    settles: bool = True
    closed: bool = True


def last_marks(text: str, small: str) -> Iterator[Mark]:
    """The marks of a message that are not empty, the last mark first.

    Args:
        text: the message.
        small: the message in small letters.
    """
    before, left = len(text), _MOST
    places = [small.rfind(cue) for cue in _CUES]
    while left and (place := max(places)) >= 0:
        cue = places.index(place)
        mark: Mark | None = None
        if place < before:
            if cue == 0:
                mark, before = _answer(text, small, place)
            elif cue == 1:
                mark, before = _box(text, small, place)
            else:
                mark = _hashes(text, place)
        places[cue] = small.rfind(_CUES[cue], 0, min(place + len(_CUES[cue]) - 1, before + 5))
        if mark is not None:
            left -= 1
            if mark.text.strip("\"'*`${}.… \n\t"):
                yield mark


def _box(text: str, small: str, place: int) -> tuple[Mark | None, int]:
    """A box, with those directly before it, and where the first of them begins."""
    contents: list[str] = []
    start, closed, end = place, True, len(text)
    while place >= 0:
        begin = text.rfind("\\", max(0, place - 6), place)
        box = _BOX.match(text, begin) if begin >= 0 else None
        if box is None:
            break
        held, stop, ends = _held(text, box, end)
        if contents and not (ends and _BETWEEN_BOXES.fullmatch(text, stop, start)):
            break
        closed = closed and ends
        contents.append(held)
        start = end = begin
        place = small.rfind("box", 0, begin)
    if not contents:
        return None, place + 1
    return Mark(", ".join(reversed(contents)), enclosed=True, closed=closed), start


def _held(text: str, box: re.Match[str], end: int) -> tuple[str, int, bool]:
    """What a box holds, where it ends, and whether it is closed before `end`."""
    if not box["brace"]:
        held = _UNBRACED.match(text, box.end(), end)
        return (held[0], held.end(), True) if held else ("", box.end(), True)
    depth = 1
    for brace in _BRACES.finditer(text, box.end(), end):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if not depth:
            return text[box.end() : brace.start()], brace.end(), True
    return text[box.end() : end], end, False


def _hashes(text: str, place: int) -> Mark | None:
    """`#### 7`, at the beginning of a line; a heading if no answer follows."""
    before = text[max(0, place - 20) : place].rpartition("\n")[2]
    if before.strip(" \t>*") or text[place + 4 : place + 5] == "#":
        return None
    end = text.find("\n", place)
    return Mark(text[place + 4 : len(text) if end < 0 else end], enclosed=False, settles=False)


def _answer(text: str, small: str, place: int) -> tuple[Mark | None, int]:
    """What is marked by the word "answer", and where the mark begins."""
    is_closing = small[place - 2 : place + 7] == "</answer>"
    if is_closing and (opening := small.rfind("<answer>", 0, place)) >= 0:  # as most are
        inside = small[opening + 8 : place - 2]
        if not any(map(inside.__contains__, _CUES)):
            return Mark(text[opening + 8 : place - 2], enclosed=True), opening
    tag, prefix = _TAG.match(small, place), _OPENS.search(small, max(0, place - 12), place)
    if tag is None or prefix is None or not (prefix["open"] or tag[0] == "answer>"):
        return _line(text, small, place), place
    if not prefix["close"]:
        end = text.find("</", tag.end())
        inner = text[tag.end() : len(text) if end < 0 else end]
        return Mark(inner, enclosed=end >= 0, closed=end >= 0), prefix.start()
    other = place
    while (other := small.rfind("answer", 0, other)) >= 0:
        if (tag := _TAG.match(small, other, prefix.start())) is None:
            continue
        begins = _OPENS.search(small, max(0, other - 12), other)
        if begins is None or begins["close"]:
            break
        if any(map(small[tag.end() : prefix.start()].__contains__, _CUES)):
            return None, prefix.start()  # what is marked inside comes first
        return Mark(text[tag.end() : prefix.start()], enclosed=True), begins.start()
    line = text[: prefix.start()].rstrip().rpartition("\n")[2]
    return Mark(line.rpartition(">")[2], enclosed=True), prefix.start()


def _line(text: str, small: str, place: int) -> Mark | None:
    """An answer behind "Answer:" or "the answer is", also in JSON."""
    said = _IS.match(small, place)
    if said is None or small[place - 1 : place].isalpha():
        return None
    if said["title"] is not None:
        start = text.rfind("\n", 0, place) + 1
        if not _HEADING.match(small, start, place):
            return None
    elif text[place + 6 : place + 7] in ("'", '"') and (value := _json(text, said.end())):
        return Mark(value, enclosed=True)
    end = text.find("</", said.end())
    rest = text[said.end() : len(text) if end < 0 else end]
    return Mark(rest, enclosed=False, settles=said["verb"] is None)


def _json(text: str, start: int) -> str | None:
    """The JSON value that begins at a place; None if there is none."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start + (text[start : start + 1] == " "))
    except (ValueError, RecursionError):
        return None
    if text[end : end + 1].isalnum():
        return None
    return value if isinstance(value, str) else text[start:end]
