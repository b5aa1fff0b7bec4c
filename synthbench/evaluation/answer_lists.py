"""Find answers that are any text, a sequence of tokens, or lists of numbers."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from synthbench.evaluation.corrections import corrections
from synthbench.evaluation.marked_places import enclosed, last_bold, last_marked, may_mark
from synthbench.evaluation.plain_text import plain, split_end
from synthbench.tasks.column import Column
from synthbench.tasks.tokens import Vocabulary

_EDGES = " \t*_`$\"'“”‘’"
#: What may stand around and between the tokens of a sequence.
_BETWEEN = ",;|[](){}\"'`*$\\"
#: Behind an answer, before what is said about it.
_REASON = re.compile(
    r"\s*\(|[.;]\s|,\s+(?=[a-z])|\s[—–-]\s|\s+(?:because|since|as|which)\b", re.IGNORECASE
)
#: What a sentence says before its answer.
_SAID = re.compile(r"(?:[:=≡→]|\b(?:is|are|get|gives?|equals|makes)\b)", re.IGNORECASE)


def find_text(text: str) -> str | None:
    """The text that is marked as the answer, or the last line."""
    if (marked := _marked(text)) is not None:
        return marked
    lines = _lines(text)
    if len(lines) == 1 and (bold := _bold(text)):
        return bold[0]
    return _trimmed(lines[-1]) if lines else None


def _marked(text: str, edges: str = _EDGES) -> str | None:
    """The text in the last marked place that has some."""
    places = (_trimmed(text[start:end], edges) for start, end in last_marked(text))
    return next(filter(None, places), None)


def _bold(text: str) -> list[str]:
    """The parts of a text in bold, the last one first."""
    return [*filter(None, (_trimmed(text[start:end]) for start, end in last_bold(text)))]


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip(_EDGES)]


def _trimmed(text: str, edges: str = _EDGES) -> str | None:
    """The first line of a text, without markup, quotes and full stop around it."""
    line = text.strip().partition("\n")[0].strip(edges)
    return line.removesuffix(".").strip(edges + "{}") or None


def find_sequence(label: Column, said: str) -> str | None:
    """The sequence of tokens that is marked as the answer, or alone in a line or in bold.

    Its tokens may stand in a list, or be separated otherwise than in the label. Digits may be
    grouped: `57,263,454`. What is corrected counts.
    """
    head, end = split_end(said)
    if head and (_marked(plain(end)) or not may_mark(said[: len(head) + 300])):
        found = _sequence_in(label, end)
        if found is not None:
            return found
    return _sequence_in(label, said)


def _sequence_in(label: Column, said: str) -> str | None:
    text, tokens = plain(said), label.vocabulary.tokens if label.vocabulary else ()
    edges = "".join(one for one in _EDGES if one not in tokens)  # `_` may be a token
    for correction in corrections(text):
        if (found := _as_sequence(label, _after_is(correction))) is not None:
            return found
    if (marked := _marked(text)) is not None:
        exact, short = _marked(said, edges) or "", _REASON.split(marked)[0]
        return _first_sequence(label, [exact, marked, short, _after_is(short)])
    lines = _lines(text)
    if not lines:
        return None
    ends = [_trimmed(_lines(said)[-1], edges) or "", _trimmed(lines[-1]) or ""]
    said_last = _after_is(_REASON.split(ends[-1])[0])
    return _first_sequence(label, [*ends, *_bold(text), said_last, lines[0]])


def _after_is(text: str) -> str:
    """What a sentence says to be something: "7" of "so it is 7."."""
    return _SAID.split(text)[-1]


def _first_sequence(label: Column, pieces: list[str]) -> str | None:
    found = (_as_sequence(label, piece) for piece in pieces)
    return next((one for one in found if one is not None), None)


def _as_sequence(label: Column, piece: str) -> str | None:
    """A piece of text as a sequence of a label's tokens, None if it is something else."""
    vocabulary = label.vocabulary
    if vocabulary is None or not piece.strip():
        return None
    return label.read(piece, None) or _joined(vocabulary, piece)


def _joined(vocabulary: Vocabulary, piece: str) -> str | None:
    tokens = set(vocabulary.tokens)
    between = "".join(one for one in _BETWEEN if one not in tokens)
    words = re.sub(f"[{re.escape(between)}]", " ", piece.strip(" .")).split()
    for parts in (words, "".join(words)):
        if parts and set(parts) <= tokens:
            return vocabulary.separator.join(parts)
    return None


def find_numbers(text: str) -> Any:
    """The numbers that are marked as the answer, or the last list, or the last lines of numbers."""
    for start, end in last_marked(text):
        before, opening, _ = text[start:].partition("[")
        if opening and not any(map(str.isalnum, before)):
            return _read_list(enclosed(text[start:], "[]")[0])
        if numbers := _line_of_numbers(text[start:end].strip(_EDGES + "{}:.\n")):
            return numbers
    if "[" in text:
        return _read_list(enclosed(text, "[]")[-1])
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    table = itertools.dropwhile(lambda line: not line, map(_line_of_numbers, reversed(lines)))
    return list(itertools.takewhile(bool, table))[::-1] or None


def _line_of_numbers(line: str) -> list[float]:
    """The numbers of a line; none if it contains anything else."""
    words = re.sub(r"[|,;()]", " ", line).split()
    if not all(re.fullmatch(r"[-−]?\d+(?:\.\d*)?", word, re.ASCII) for word in words):
        return []
    return [float(word.replace("−", "-")) for word in words]


def _read_list(text: str) -> Any:
    """A list in JSON or as NumPy prints it; None if it is neither."""
    text = re.sub(r"(?<=[\d.\]])\s+(?=[-.\d\[])", ", ", text)
    text = re.sub(r"(?<=\d)\.(?!\d)", "", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
