r"""Marks of the answer in a message. The last mark counts.

\boxed{7}   \fbox{7}   <answer>7</answer>   answer>7</answer>   7</answer>
Answer: 7   **Final answer**\n\n7   The answer is 7.   {"answer": 7}   #### 7
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

#: Text with braces in braces.
_BRACED = r"(?:\\.|[^\\{}])*+"
for _ in range(6):
    _BRACED = rf"(?:\\.|[^\\{{}}]|\{{{_BRACED}\}})*+"
_BOX = re.compile(
    r"(?<!phantom\{)\\(?:[bB]oxed|(?:f|frame|b|oval|double|shadow)box)(?![a-z])(?:\[[^\[\]]{0,40}\])?"
    rf"\s{{0,9}}(?:\{{(?P<held>{_BRACED})(?P<end>\}}?)"
    r"|(?P<bare>-?[\w.,]{1,99}))?",
    re.DOTALL,
)
#: Between two boxes of which each has a part of the answer, or another answer.
_BETWEEN_BOXES = re.compile(r"(?:[\s,;$&|→>.{}():\d-]|\\[,;:!]|\\[a-z]{2,10}\b|and|or){0,40}")
#: A tag around an answer, perhaps without its first sign.
_TAG = re.compile(
    r"[<\[]\s?(?P<close>/\s?)?(?:final|my|correct)?[ _-]?answer(?:(?:\s[^<>\[\]\n]{0,60})?>|\s?\])"
    r"|answer>"
)
_CLOSING = re.compile(r"[<\[]\s?/?\s?(?:final|my|correct)?[ _-]?answer|</|\Z")
_IS = re.compile(
    r"(?P<hashes>(?<!#)####(?!#))|answers?[\"'*_`)\]]{0,5}(?:\s{1,9}(?:to|for|of)\b[^.:=\n]{1,200}?)??\s{0,9}"
    r"(?:[:=：＝](?:\*\*|__|</\w{1,6}>)?|-{1,2}>|=>|→|⇒|➡|\b(?P<verb>(?:is|was|equals"
    r"|(?:would|should|must|will|can only|has to) be|comes?(?: out)? to|turns out to be)\b\s?:?)"
    r"|(?<!\n)(?=[(\[]\s?-?\d)|(?P<title>(?=[*_:# \t]{0,9}\n)))"
)
_QUOTED = re.compile(r'\s?"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"(?=\s*}|,\s*"[^"]+":)')
_HEADING = re.compile(r"(?:[#*_>\s]|(?:the|my|final|correct|short)\s){0,20}\Z")  # before "answer"


class Mark(NamedTuple):
    """A text that is marked as the answer."""

    text: str
    encloses: bool  # as a box does, and "Answer:" does not
    is_closed: bool = True
    settles: bool = True  # earlier marks do not count, even if it cannot be read


def last_marks(text: str, small: str) -> Iterator[Mark]:
    """The marks of a part of a message that are not empty, the last mark first."""
    end = len(text)
    for _ in range(100):  # with those that state nothing, as in "the answer is simple"
        place, read = -1, _answer
        for cue, reader in _READERS:
            if (later := small.rfind(cue, place + 1, end)) >= 0:
                place, read = later, reader
        if place < 0:
            return
        mark, end = read(text, small, place)
        if mark is not None and mark.text.strip("\"'*`${}.… \n\t"):
            yield mark


def _box(text: str, small: str, place: int) -> tuple[Mark | None, int]:
    """A box, with those directly before it, and where the first of them begins."""
    contents: list[str] = []
    start, closed = place, True
    while place >= 0:
        begin = text.rfind("\\", max(0, place - 7), place)
        box = _BOX.match(text, begin) if begin >= 0 else None
        if box is None or (contents and not _BETWEEN_BOXES.fullmatch(text, box.end(), start)):
            break
        contents.append(box["held"] or box["bare"] or "")
        closed = closed and box["end"] != ""
        start, place = begin, small.rfind("box", max(0, begin - 200), begin)
    mark = Mark(", ".join(reversed(contents)), encloses=True, is_closed=closed)
    return mark if contents else None, start


def _answer(text: str, small: str, place: int) -> tuple[Mark | None, int]:
    """The mark that the word "answer" or `####` makes, and where it begins."""
    before = max(0, place - 12)
    begin = max(small.rfind("<", before, place), small.rfind("[", before, place))
    tag = (_TAG.match(small, begin) if begin >= 0 else None) or _TAG.match(small, place)
    if tag is None or tag.end() <= place:
        return _line(text, small, place), place
    start = tag.start()
    if not tag["close"]:
        end = _CLOSING.search(small, tag.end()).start()  # type: ignore[union-attr]  # matches the end
        return Mark(text[tag.end() : end], True, is_closed=end < len(text)), start
    tags = [*_TAG.finditer(small, max(0, small.rfind("answer", 0, start) - 12), start)]
    if tags and not tags[-1]["close"]:
        inside = None if _CUE.search(small, tags[-1].end(), start) else text[tags[-1].end() : start]
        return (None, start) if inside is None else (Mark(inside, True), tags[-1].start())
    line = text[:start].rstrip().rpartition("\n")[2].rpartition(">")[2]
    return None if _CUE.search(line.lower()) else Mark(line, encloses=True), start


def _line(text: str, small: str, place: int) -> Mark | None:
    """An answer behind "Answer:", "the answer is" or, at the beginning of a line, `####`."""
    said = _IS.match(small, place)
    if said is None or small[place - 1 : place].isalpha():
        return None
    start, line = said.end(), text.rfind("\n", 0, place) + 1
    if (said["hashes"] or said["title"] is not None) and not _HEADING.match(small, line, place):
        return None
    if quoted := _QUOTED.match(text, start):
        return Mark(json.loads(quoted[0]), encloses=True)
    marked = text[start : start + 10_000].partition("</")[0]  # so much is read
    return Mark(marked, encloses=False, settles=not (said["hashes"] or said["verb"]))


_READERS = (("answer", _answer), ("box", _box), ("####", _answer))
_CUE = re.compile("|".join(cue for cue, _ in _READERS))
