"""Search running text for the answer it gives: a word, any text, or several numbers.

`final_answer` states the rules.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

from synthbench.evaluation.answer_words import AnswerWords, Word

# Marks of answers.

_CLOSING = r"[\"'*_`)\]]*"
_IS = (
    r"(?:[:=→]|->|\b(?:is|was|equals|(?:must|should|would|will)\ be|comes\ (?:out\ )?(?:to|as))\b)"
)
_MARK = re.compile(
    rf"""(?P<brace> \\(?:boxed|fbox)\s*\{{)
    |   (?P<tag> <(?:final_?)?answer>)
    |   (?P<hashes> \#{{4}})
    |   \b(?:answer|final\ (?:result|value|output|solution))\b {_CLOSING}
        (?:\s+(?:to|for|of)\ [^.\n]{{1,200}}?)?? \s* {_IS}
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: Not a mark, since a "result" may be an intermediate one.
_RESULT = re.compile(
    rf"\b(?:result|value|output|solution|total|outcome|label|class|symbol|prediction){_CLOSING}"
    rf"\s*{_IS}(?P<line>[\W_]*[^\n]*)",
    re.IGNORECASE,
)
_BOLD = re.compile(
    r"\*\*(?P<stars>[^*\n]{1,200})\*\*|__(?P<lines>[^_\n]{1,200})__"
    r"|<(?:b|strong)>(?P<tag>[^<\n]{1,200})</|\\(?:text|math)bf\{(?P<tex>[^{}\n]{1,200})\}",
    re.IGNORECASE,
)
_TAG_END = re.compile(r"</(?:final_?)?answer>", re.IGNORECASE)
_LINE = re.compile(r"[\W_]*[^\n]*")
#: What a model offers after its answer.
_OFFER = re.compile(
    r"\b(?:let me know|tell me|ask me|feel free|would you like|do you want|want me to|happy to|"
    r"glad to|hope (?:this|that) helps)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]*[.!?]*\W*")
#: How far an answer may be from its mark, in characters; and how many matches are tried.
_REACH = 1_000
_MOST_PLACES = 10


def _from_last(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The last matches of a pattern, the last one first."""
    return [*pattern.finditer(text)][: -_MOST_PLACES - 1 : -1]


def _place(text: str, mark: re.Match[str]) -> str:
    """The text that a mark applies to."""
    rest = text[mark.end() : mark.end() + _REACH]
    if len(rest) == _REACH:
        rest = rest.rpartition(" ")[0]  # drop a word that was cut in two
    if mark["tag"]:
        return _TAG_END.split(rest)[0]
    if not mark["brace"]:
        return _LINE.match(rest)[0]  # type: ignore[index]  # always matches
    depth = 1
    for at, character in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if not depth:
            return rest[:at]
    return rest


# Numbers, and names of classes.

_MARKUP = r"[\s*_`$\"'()\[\]{}\\]*"
#: Between two alternatives: "7 or 8", "a = 7 or b = 8", "7 ... maybe 8".
_PERHAPS = r"(?:maybe|perhaps|possibly)"
_ALTERNATIVES = re.compile(
    rf"{_MARKUP}(?:(?:or|and)(?:\s+(?:{_PERHAPS}|even|else|[a-z]\s*=))?|[,;/|&]|[\s.…,;]*\b{_PERHAPS},?)"
    rf"{_MARKUP}|[ \t]+",
    re.IGNORECASE,
)
#: Between the ends of a range, in a place that is marked as the answer: "7 to 8".
_TO = re.compile(rf"{_MARKUP}to{_MARKUP}", re.IGNORECASE)
#: Before a word that is part of a calculation, or negated.
_BEFORE = re.compile(
    r"(?:[+×·÷^/≠]|!=|\}\{|[\d)\]]\s*[-−*]|(?:\b(?:not|nor|than|plus|minus)|n['’]t)\b\W*"
    r"(?:(?:a|an|the)\b\W*)?)\s*\Z",
    re.IGNORECASE,
)
#: After a word that begins a calculation, or is doubted or negated.
_AFTER = re.compile(
    r"\s*(?:[+×·÷^/=?]|[-−*]\s*[\d(]|(?:mod|plus|minus)\b)"
    rf"|{_MARKUP}(?:is|was)(?:n['’]t|\s+(?:not|wrong|incorrect))\b"
    # The question again, as in "101 a b c".
    r"|(?:[ \t]+[a-z]\b){2}",
    re.IGNORECASE,
)
#: Around a number that is said of something else: "modulo 10", "a multiple of 2", "5 digits".
_OF_SOMETHING = re.compile(
    r"\b(?:modul(?:o|us)|base|(?:divided|divisible|multiplied)\ by|"
    r"(?:from|between)\ \d+\ (?:to|and)|(?:multiples?|denominators?|lengths?|limit|power)\ of)"
    r"[\s-]+\Z",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s+(?:(?:odd|even|different|possible)\s+)?"
    r"(?:arguments?|digits?|elements?|lines?|numbers?|operations?|solutions?|terms?|values?)\b",
    re.IGNORECASE,
)
_WHICH_IS = re.compile(r"\bwhich\s+(?:is|equals|gives|makes)\b", re.IGNORECASE)
_NOT = re.compile(r"(?:\b(?:not|nor)|n['’]t)\b\W*\Z", re.IGNORECASE)
#: Words in brackets: "7 (in 3 steps)".
_REMARK = re.compile(r"\([^()\n]{0,200}?[a-zA-Z]{2}[^()\n]{0,200}\)")
#: Around an unmarked number in letters: "It is seven."
_SAID = re.compile(r"\b(?:is|be|get|gives?|equals|yields|returns|makes)\b\W*\Z", re.IGNORECASE)
_SAID_END = re.compile(r"[^\w\n]*(?:\Z|\n|[.!](?:\s|\Z))")
_TEX_TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox)\b\s*(?=\{)")
_COMMAND = re.compile(r"\\[a-zA-Z]+")


def find_word(text: str, words: AnswerWords) -> str | None:
    """The number or class name that a text answers with; None if there is none or more than one."""
    text = _TEX_TEXT.sub("", text)
    for mark in _from_last(_MARK, text):
        place = _place(text, mark)
        found = words.find(place)
        if found and (not mark["hashes"] or _comes_first(place, found)):
            return _from_mark(place, found)
    text = _without_offers(text)
    found = words.find(text)
    return _find_unmarked(text, words, found) if found else None


def _find_unmarked(text: str, words: AnswerWords, found: Sequence[Word]) -> str | None:
    """The word that a text without a mark answers with."""
    lines = [line.span() for line in re.finditer(r"[^\n]+", text) if _has_alnum(line[0])]
    if _is_alone(text, lines[-1], found):
        return _word_in(text, lines[-1], found)
    bold = [match.span(match.lastgroup or 0) for match in _from_last(_BOLD, text)]
    alone = [span for span in [lines[0], *bold] if _is_alone(text, span, found)]
    # In "**7**, not **3**" only 7 counts.
    alone = [span for span in alone if not _NOT.search(_before(text, span[0]))] or alone
    for match in _from_last(_RESULT, text):
        place = match["line"][:_REACH]
        inner = words.find(place)
        if inner and _comes_first(place, inner):
            if not alone or match.start() > max(alone)[0]:
                return _unambiguous(place, inner, 0)
            break
    return _word_in(text, max(alone), found) if alone else _last(text, found)


def _has_alnum(text: str) -> bool:
    """Whether a text has a letter or digit."""
    return any(map(str.isalnum, text))


def _before(text: str, place: int) -> str:
    """The text just before a place."""
    return text[max(0, place - 20) : place]


def _without_offers(text: str) -> str:
    """A text without the offers in its last sentences, such as "tell me if you want 3 more"."""
    begin, end = len(text) - len(text.lstrip()), len(text)
    for offer in reversed([*_OFFER.finditer(text)]):
        if offer.start() == begin or not _SENTENCE.fullmatch(text, offer.end(), end):
            break
        end = offer.start()
    return text[:end]


def _comes_first(place: str, words: Sequence[Word]) -> bool:
    """Whether only markup comes before the first word."""
    return not _has_alnum(_COMMAND.sub("", place[: words[0].start]))


def _from_mark(place: str, words: Sequence[Word]) -> str | None:
    """The answer in a marked place: the first word, or else the only one."""
    if len(words) > 1 and _TO.fullmatch(place, words[0].end, words[1].start):
        return None
    at_once = _comes_first(place, words)
    if at_once and (answer := _unambiguous(place, words, 0)):
        return answer
    # Of a calculation only the result counts.
    chosen = [word for word in words if word.start > place.rfind("=")]
    if not at_once:
        chosen = [word for word in chosen if not _is_said_of_something(place, word)]
        chosen = [word for word in chosen if not word.written_out] or chosen
        *_, result = [0, *(mark.end() for mark in _WHICH_IS.finditer(place))]
        chosen = [word for word in chosen if word.start >= result] or chosen
    if len({word.key for word in chosen}) != 1:
        return None
    return _unambiguous(place, words, words.index(chosen[0]))


def _is_said_of_something(text: str, word: Word) -> bool:
    """Whether a number counts or describes something else, such as 5 in "5 digits"."""
    before = _OF_SOMETHING.search(text[max(0, word.start - 40) : word.start])
    return bool(before or _COUNTED.match(text, word.end))


def _is_alone(text: str, span: tuple[int, int], words: Sequence[Word]) -> bool:
    """Whether a part of a text is one answer and nothing else; not the number of a list item."""
    inner = [word for word in words if span[0] <= word.start and word.end <= span[1]]
    if len({word.key for word in inner}) != 1:
        return False
    ends = [span[0], *(end for word in inner for end in (word.start, word.end)), span[1]]
    around = "".join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    if _has_alnum(_COMMAND.sub("", around)):
        return False
    line_begins = not text[text.rfind("\n", 0, span[0]) + 1 : span[0]].strip(" *_#")
    goes_on = text[span[1] :].partition("\n")[0].strip(" *_")
    return not (line_begins and goes_on and around.rstrip().endswith((".", ")", ":")))


def _word_in(text: str, span: tuple[int, int], words: Sequence[Word]) -> str | None:
    index = next(index for index, word in enumerate(words) if word.start >= span[0])
    return _unambiguous(text, words, index)


def _last(text: str, words: Sequence[Word]) -> str | None:
    """The last word of a text outside of remarks in brackets, unless it is said of something."""
    outside = _REMARK.sub(lambda remark: " " * len(remark[0]), text)
    words = [word for word in words if outside[word.start] != " "]
    words = [word for word in words if not word.written_out] or words
    if not words or _is_said_of_something(text, words[-1]):
        return None
    if words[-1].written_out and not (
        _SAID.search(_before(text, words[-1].start)) and _SAID_END.match(text, words[-1].end)
    ):
        return None
    return _unambiguous(text, words, len(words) - 1)


def _unambiguous(text: str, words: Sequence[Word], index: int) -> str | None:
    """One of a text's words; None if it is part of a calculation, negated, or an alternative."""
    word = words[index]
    if _BEFORE.search(_before(text, word.start)) or _AFTER.match(text, word.end):
        return None
    for one, other in itertools.pairwise(words[max(0, index - 1) : index + 2]):
        if one.key != other.key and _ALTERNATIVES.fullmatch(text, one.end, other.start):
            return None
    return word.value


# Labels that are free text.

_FENCE = "```"
_EDGES = " \t*_`$\"'“”‘’"


def find_text(text: str) -> str | None:
    """The text that is marked as the answer, or the last line."""
    for mark in _from_last(_MARK, text):
        if not mark["hashes"] and (place := _trimmed(_COMMAND.sub("", _place(text, mark)))):
            return place
    bold = [match[match.lastgroup or 0] for match in _BOLD.finditer(text)]
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(_FENCE)]
    if bold and len(lines) == 1:
        return _trimmed(bold[-1])
    return _trimmed(lines[-1]) if lines else None


def _trimmed(text: str) -> str | None:
    """The first line of a text, without markup, quotes and full stop around it."""
    line = text.strip().partition("\n")[0].strip(_EDGES)
    return line.removesuffix(".").strip(_EDGES + "{}") or None


# Several numbers.

_PLAIN_NUMBER = re.compile(r"[-−]?\d+(?:\.\d*)?", re.ASCII)
_BEFORE_LIST = re.compile(r"[^\w\[]*(?:json|python|text)?[^\w\[]*(?=\[)", re.IGNORECASE)


def find_numbers(text: str) -> Any:
    """The numbers that are marked as the answer, or the last list, or the last lines of numbers."""
    for mark in _from_last(_MARK, text):
        rest = text[mark.end() :]
        if before := _BEFORE_LIST.match(rest):
            return _read_list(_lists(rest[before.end() :])[0])
        if numbers := _line_of_numbers(_place(text, mark).strip(f"{_EDGES}:.\n")):
            return numbers
    if "[" in text:
        return _read_list(_lists(text)[-1])
    lines = [line for line in text.splitlines() if _has_alnum(line)]
    table = itertools.dropwhile(lambda line: not line, map(_line_of_numbers, reversed(lines)))
    return list(itertools.takewhile(bool, table))[::-1] or None


def _line_of_numbers(line: str) -> list[float]:
    """The numbers of a line; none if it contains anything else."""
    words = re.sub(r"[|,;()]", " ", line).split()
    if not all(map(_PLAIN_NUMBER.fullmatch, words)):
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


def _lists(text: str) -> list[str]:
    """The outermost lists in brackets; empty text for one that is never closed."""
    found: list[str] = []
    depth = start = 0
    for bracket in re.finditer(r"[\[\]]", text):
        if bracket[0] == "[":
            if not depth:
                start = bracket.start()
                found.append("")
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found[-1] = text[start : bracket.end()]
    return found
