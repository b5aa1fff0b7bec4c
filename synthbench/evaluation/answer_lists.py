"""Find answers that are any text, a sequence of tokens, or lists of numbers."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection
from typing import Any

from synthbench.evaluation.answer_terms import hedge_end, is_denied
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
    r"\s*\(|[.;]\s|,\s+(?=[a-z])|\s[—–-]\s(?!\s*\d)|\s+(?:because|since|as|which)\b", re.IGNORECASE
)
#: Between two numbers of which the second ends what is said: "3, 13, and 59".
_AND = re.compile(r"(?<=\d),?\s+and\s+(?=\d+\b(?!\s*,?\s*\d))")
#: Lists of numbers, each in a line of its own.
_ROWS = re.compile(r"(?:\[[-−\d., \t]*\],?[ \t]*\r?\n[ \t]*)+\[[-−\d., \t]*\]")
#: What a sentence says before its answer.
_SAID = re.compile(r"(?:[:=≡→]|\b(?:is|are|get|gives?|equals|makes)\b)", re.IGNORECASE)
_NOT, _BUT = (re.compile(rf"\b{word}\b", re.IGNORECASE) for word in ("not", r"but(?:\s+rather)?"))


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
    line = text.strip().strip(edges + "\r\n").partition("\n")[0].strip().strip(edges)
    return line.removesuffix(".").strip(edges + "{}") or None


def find_sequence(column: Column, said: str, label: Any = None) -> str | None:
    """The sequence of tokens that is marked as the answer, or alone in a line or in bold.

    Its tokens may stand in a list, or be separated otherwise than in the label. Digits may be
    grouped: `57,263,454`. What is corrected counts.

    Args:
        column: the column of labels.
        said: the text.
        label: the row's label: where it asks for nothing, any word may be.
    """
    said = _without_and(said)
    head, end = split_end(said)
    if head and (_marked(plain(end)) or not may_mark(said[: len(head) + 300])):
        found = _sequence_in(column, end)
        if found is not None:
            return found
    found = _sequence_in(column, said)
    return found if found is not None else _where_asked(column, said, label)


def _where_asked(column: Column, said: str, label: Any) -> str | None:
    """The marked sequence, or last line, that has as many words as a label, read where it asks."""
    if column.ignored is None or label is None or column.vocabulary is None:
        return None
    text = plain(said)
    edges = "".join(sign for sign in _EDGES if sign != column.ignored)
    if (piece := _marked(text, edges)) is None and (lines := _lines(text)):
        piece = _trimmed(lines[-1], edges)
    tokens = label if isinstance(label, str) else column.read(label, None) or ""
    separator = column.vocabulary.separator
    right = tokens.split(separator) if separator else [*tokens]
    words = _words(column.vocabulary, piece or "")
    asked = [place for place, token in enumerate(right) if token != column.ignored]
    is_settled = set(words) <= set(column.vocabulary.tokens)  # it was read, or refused
    if not asked or is_settled or len(words) != len(right) or corrections(text):
        return None
    at = text.rfind(piece or "")
    if (found := column.read(words, tokens)) is None or is_denied(text, at):
        return None
    behind = " ".join(["", *words[asked[-1] + 1 :]]) + text[at + len(piece or "") :]
    return _if_sure(column, behind, 0, found)


def _sequence_in(label: Column, said: str) -> str | None:
    text, tokens = plain(said), label.vocabulary.tokens if label.vocabulary else ()
    edges = "".join(sign for sign in _EDGES if sign not in tokens)  # `_` may be a token
    for correction in corrections(text):
        if (found := _as_sequence(label, _after_is(correction))) is not None:
            return found
    if (marked := _marked(text)) is not None:
        exact = _marked(said, edges) or ""
        place = next(start for start, end in last_marked(text) if _trimmed(text[start:end]))
        below = [_one_a_line(text[place:], tokens)]
        there = [*below, exact, marked, *_beginnings(exact), *_beginnings(marked)]
        return _first_sequence(label, text, [(place, piece) for piece in there])
    lines = _lines(text)
    if not lines:
        return None
    ends = [_trimmed(_lines(said)[-1], edges) or "", _trimmed(lines[-1]) or ""]
    last = text.rfind(lines[-1])
    pieces = [(last, end) for end in ends] + [(0, bold) for bold in _bold(text)]
    pieces += [(last, begin) for end in ends for begin in _beginnings(end)]
    return _first_sequence(label, text, [*pieces, (0, lines[0])])


def _without_and(said: str) -> str:
    """A text with a comma in place of "and" before the last number of a list with commas."""

    def comma(found: re.Match[str]) -> str:
        before = said[max(0, found.start() - 200) : found.start()]
        return ", " if "," in before.rpartition("\n")[2] else found[0]

    return _AND.sub(comma, said)


def _one_a_line(text: str, tokens: Collection[str]) -> str:
    """The lines below a mark that are a token each; empty if there is more in the mark's own."""
    first, _, below = text.partition("\n")
    if first.strip(_EDGES):
        return ""
    lines = below.lstrip().splitlines(keepends=True)
    return "".join(itertools.takewhile(lambda line: line.strip(_EDGES + ",\n") in tokens, lines))


def _beginnings(line: str) -> list[str]:
    """What a line says before its reasons, and what it says to be so: also behind "not ... but"."""
    parts = [line]
    if (denied := _NOT.search(line)) and (but := _BUT.search(line, denied.end())):
        parts.append(line[but.end() :])
    shorts = [_REASON.split(part)[0] for part in parts]
    return [piece for short in shorts for piece in (short, _after_is(short))]


def _after_is(text: str) -> str:
    """What a sentence says to be something: "7" of "so it is 7."."""
    return _SAID.split(text)[-1]


def _first_sequence(label: Column, text: str, pieces: list[tuple[int, str]]) -> str | None:
    """The first of some pieces of a text that is a sequence, if the text settles on it.

    Args:
        label: the column of labels.
        text: the text.
        pieces: each with the place from which on it stands in the text.
    """
    for start, piece in pieces:
        if (found := _as_sequence(label, piece)) is not None:
            at = max(start, text.find(piece, start))
            return None if is_denied(text, at) else _if_sure(label, text, at + len(piece), found)
    return None


def _if_sure(label: Column, text: str, end: int, found: str) -> str | None:
    """A sequence; None if behind its end another one may be right as well: "0 1, or 1 0"."""
    begin = hedge_end(text, end)
    vocabulary = label.vocabulary
    if begin is None or vocabulary is None:
        return found
    words = text[begin:].partition("\n")[0].split()
    other = itertools.takewhile(lambda word: _joined(vocabulary, word) is not None, words)
    joined = _joined(vocabulary, " ".join(other))
    return found if joined in (None, found) else None


def _as_sequence(label: Column, piece: str) -> str | None:
    """A piece of text as a sequence of a label's tokens, None if it is something else."""
    vocabulary = label.vocabulary
    if vocabulary is None or not piece.strip():
        return None
    return label.read(piece, None) or _joined(vocabulary, piece)


def _words(vocabulary: Vocabulary, piece: str) -> list[str]:
    """The words of a piece of text, without brackets, commas and quotes around them."""
    between = "".join(one for one in _BETWEEN if one not in vocabulary.tokens)
    return re.sub(f"[{re.escape(between)}]", " ", piece.strip(" .")).split()


def _joined(vocabulary: Vocabulary, piece: str) -> str | None:
    words, tokens = _words(vocabulary, piece), set(vocabulary.tokens)
    for parts in (words, "".join(words)):
        if parts and set(parts) <= tokens:
            return vocabulary.separator.join(parts)
    return None


def find_numbers(text: str, rows: bool = False) -> Any:
    """The numbers that are marked as the answer, or the last list, or the last lines of numbers.

    With `rows`, the answer is a list of lists, which may stand below each other.
    """
    text = _rows_in_lists(text) if rows else text
    for start, end in last_marked(text):
        before, opening, _ = text[start:].partition("[")
        if opening and not any(map(str.isalnum, before)):
            return _read_list(enclosed(text[start:], "[]")[0])
        if numbers := _line_of_numbers(text[start:end].strip(_EDGES + "{}:.\n")):
            lines = text[end:].removeprefix("\n").splitlines() if rows else []
            below = [*itertools.takewhile(bool, map(_line_of_numbers, lines))]
            return [numbers, *below] if below else numbers
    if "[" in text:
        return _read_list(enclosed(text, "[]")[-1])
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    table = itertools.dropwhile(lambda line: not line, map(_line_of_numbers, reversed(lines)))
    return list(itertools.takewhile(bool, table))[::-1] or None


def _rows_in_lists(text: str) -> str:
    """A text in which lists below each other are in a list, if they stand in none already."""
    parts, last, depth = [], 0, 0
    for found in _ROWS.finditer(text):
        between = text[last : found.start()]
        depth += between.count("[") - between.count("]")
        parts += [between, found[0] if depth > 0 else f"[{found[0]}]"]
        last = found.end()
    return "".join([*parts, text[last:]])


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
