"""The value that a text states, by the kind of label: a number, a name, a sequence, lists, a text.

Nothing is searched for. The text in a mark, or a line alone, is the value with markup, a sign or
a unit around it, or not a value. Behind a mark such as "Answer:" the line's first clause counts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from synthbench.evaluation.mark import last_marks
from synthbench.evaluation.message import read_message
from synthbench.evaluation.plain import plain

#: How a text is marked: a mark encloses it, it is behind a mark, or it is unmarked.
ENCLOSED, BEHIND, ALONE = "enclosed", "behind", "alone"
Reader = Callable[[str, str], Any]  # of a text that is marked so

_BEGINS = " \t\r\n*_`$\"'“”,:;!{}∴"
_ENDS = _BEGINS + "."
#: A fraction of TeX in an answer that a task checks.
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{0,99})\}\s?\{([^{}]{0,99})\}")
#: A whole number, with its digits in groups or, as in the labels of `addition`, apart.
_WHOLE = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<digits>\d{1,3}(?P<group>[ ,'_])\d{3}(?:(?P=group)\d{3})*+|\d++)"
    r"(?:\.00?)?|(?P<apart>\d(?P<gap>[\"'`]?[ ,;|]{1,3}+[\"'`]?)\d(?:(?P=gap)\d)*+))"
    r"(?![\d.,'_ ;|\"]*\d)"
)
_LEAD = re.compile(
    r"(?i)\A(?:(?:(?:therefore|thus|then|so|simply|just|indeed|exactly|about|now|the|an?|place|number"
    r"|value|digit|symbol|string|class|label|equals?|to|is|answer|result)\b|[$€£¥₹#=≈>→])[,:\s]*)+"
)
#: A unit behind a number, but no words that make another number of it.
_UNIT = re.compile(
    r"(?i)\s?(?:\^?(?:%|‰|°|(?:st|nd|rd|th)\b)|[€£¥₹$])?(?:[\s(]*+mod(?:ulo)?\s+(?P<mod>\d+)[\s)]*)?(?P<words>"
    r"(?:\s?\(?(?!(?:or|to|plus|minus|times|point|half|hundreds?|thousands?|[mb]illions?|mod|over|if"
    r"|squared|cubed|dozen|trillions?|[ekmbx])\b)(?:(?<=[\s/])[a-z]|[a-z]{2,})\b[²³]?[/.·*]?){0,6})"
)
_EQUALS = re.compile(r"(?<![!=<>])=+>?|[≡→←≈]|-{1,9}>")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve")  # fmt: skip
#: Where a clause ends, unless another answer follows.
_OTHER = r"(?!\s*(?:or|and|maybe|perhaps|possibly|alternatively|otherwise|else)\b)"
_CLAUSE = re.compile(
    rf"(?i)(?:\.|!(?!\s?(?:[-+/=^]|\*(?!\*)))|;(?!\s*[-+]?\d))(?=[\s*_`\"'$)\]}}]|\Z){_OTHER}"
    rf"|\s\({_OTHER}|,{_OTHER}(?=\s+[a-z]|\s*[\"'][\w ]+[\"']:)|\s-+\s(?!\d){_OTHER}"
    r"|\s\|(?!\s*[-+]?\d)|<(?=[/a-z|])|\s(?:because|since|as|which|after|when|where|not)\b|\\[\])]"
)
#: A line without anything but markup, or between the rows of a table.
_MARKUP = re.compile(r"[\s*`$}]*|\s*(?:\\[\[(\])]|```.*|(?:--|\|)[\s|:-]*+|\{)\s*")
_BORDER = re.compile(r"(?=.*[|+\u250c-\u257f])[\s|+:]*[-=\u2500-\u257f][\s|+:=\u2500-\u257f-]+")
#: The beginning of a line in a list.
_ITEM = re.compile(
    r"(?i)\A[\s*_`#>•$-]{0,8}(?:(?:step\s)?(?P<word>[a-z]{1,12}\s?)?[#(]?(?P<number>\d{1,4})[*_]{0,3}"
    r"(?(word)[.:]|(?:[.):]|(?<=#\d)))[*_]{0,3}|(?:a|ans|answer|assistant)\s?:|(?<=[-*•>#]))\s+"
)
_NUMERIC = re.compile(r"(?:[\s\d.,;|()\[\]+:*`$-]|(?<=\d)[eE](?=[-+\d]))*")


def read_answer(text: str, read: Reader, truncated: bool = False) -> Any:
    """The answer of a reply: of the first part of its message that states any.

    If it is `truncated`, at the limit of tokens, only a mark that is closed has an answer.
    """
    for part, small in read_message(text) or ():
        for mark in last_marks(part, small):
            if mark.is_closed or not truncated:
                value = read(mark.text, ENCLOSED if mark.encloses else BEHIND)
                if value is not None or mark.settles:
                    return value
        if not truncated and (value := read(part, ALONE)) is not None:
            return value
    return None


def reader(
    kind: str, names: Sequence[str] = (), separator: str = " ", label: str = "", ignored: str = ""
) -> Reader:
    """The reader for a kind of label.

    Kinds are `number`, `digits` (that may be apart), `name` (of a class), `sequence` (of tokens),
    `numbers` (in a list), `lists` (of these), `text`, and, for a check that parses it, `checked`
    and `checked sequence`. Any word counts where the sequence `label` has the token `ignored`.
    """
    match kind:
        case "number" | "digits":
            return functools.partial(_single, functools.partial(_number, kind == "digits"))
        case "name":
            return functools.partial(_single, functools.partial(_name, _forms(names)))
        case "numbers" | "lists":
            return functools.partial(_numbers, kind == "lists")
        case "text" | "checked":
            return _text if kind == "text" else _checked
    words = (label.split(separator) if separator else [*label]) if ignored else []
    return _Sequence(names, separator, words, ignored, kind == "checked sequence")


def _lines(text: str, mode: str) -> list[str]:
    """The lines with more than markup: all that are enclosed, the first behind a mark, the last."""
    lines = [line for line in text.splitlines() if not _MARKUP.fullmatch(line)]
    return lines if mode == ENCLOSED else lines[:1] if mode == BEHIND else lines[-1:]


def _single(read: Callable[[str, str], str | None], text: str, mode: str) -> str | None:
    """One value: of the first line behind a mark, of the last line, or of all that is enclosed."""
    bare = text.strip(_BEGINS).rstrip(_ENDS)
    if bare.isdecimal() and bare.isascii():
        return read(bare, mode)
    lines, values = _lines(text, mode), set()
    for line in map(plain, lines):
        if mode == BEHIND:
            line = _CLAUSE.split(line.lstrip(" \t*`:"), maxsplit=1)[0]
        values.add(read(line, mode) or read(_ITEM.sub(r"\g<word>", line), mode))
    return values.pop() if len(values) == 1 else None


def _number(apart: bool, text: str, mode: str) -> str | None:
    """A whole number, in an equation behind its last sign, unless that has two unknowns."""
    if text.isdecimal() and text.isascii():
        return text
    *sides, last = _EQUALS.split(text)
    left = "=".join(sides).replace("mod", "").strip(_BEGINS)
    is_prose = mode == ALONE and re.search(r"[^\W\d_]{2}", left) and not left.isalpha()
    if is_prose or re.search(r"(?i)!=|\A\W*[a-z]\s?=.*(?:[,;]|\band|\bor)\s?[a-z]\s?=", text):
        return None
    text = last.strip(_BEGINS + "([").rstrip(_ENDS + ")]")
    if mode != ALONE:
        text = re.sub(r"\A([-+])\s(?=\d)", r"\1", _LEAD.sub("", text).strip(_BEGINS))
    if text.casefold() in _WORDS:
        return str(_WORDS.index(text.casefold()))
    match = _WHOLE.match(text)
    if match is None or (match["apart"] and (match["sign"] or not apart)):
        return None
    value = match["sign"].strip("+") + re.sub(r"\D", "", match["digits"] or match["apart"])
    unit = _UNIT.fullmatch(text[match.end() :].rstrip(_ENDS + ")]"))
    if unit is None or (unit["words"] and mode == ALONE):
        return None
    above = unit["mod"] or f"1{value}"  # the modulus, or any larger number
    return value if (len(value), value) < (len(above), above) else None


def _name(forms: dict[str, str | None], text: str, mode: str) -> str | None:
    """The name of a class, in small or capital letters, perhaps in the plural."""
    edges = _ENDS + "()[]"
    last = _EQUALS.split(text)[-1].strip(edges)
    last = re.sub(r"(?i)\A(?:an?|the)\s", "", last if mode == ALONE else _LEAD.sub("", last))
    last = last.strip(edges)
    said = (text.strip("\"'`* \t"), last, *map(_folded(last).removesuffix, ("", "s", "es")))
    return next(filter(None, map(forms.get, said)), None)


def _folded(form: str) -> str:
    return re.sub(r"(?<!\A)[-_,|\s]+", "", form).casefold()


def _forms(names: Sequence[str]) -> dict[str, str | None]:
    """The class of each form: a name, or a part of it that no other class has."""
    forms: dict[str, str | None] = {}
    for name in names:
        for part in {*re.split(r"\sor\s", name), *re.split(r"\sor\s|/(?=...)", name)}:
            forms[_folded(part)] = None if _folded(part) in forms else name
    return forms | {_folded(name): name for name in names[::-1]} | {name: name for name in names}


class _Sequence:
    """Reads a sequence of tokens or, for a check, any text."""

    def __init__(
        self, names: Sequence[str], separator: str, label: list[str], ignored: str, checked: bool
    ) -> None:
        self._known, self._width, self._separator = frozenset(names), len(names), separator
        self._label, self._ignored, self._is_checked = label, ignored, checked
        self._subscript, self._is_short = "_" * ("_" in "".join(names)), {*map(len, names)} == {1}
        dash = r"|(?<=\b\w)-(?=\w\b)" if self._is_short and "-" not in names else ""
        self._between = re.compile(
            rf"[-=]{{1,9}}>|[→←↑↓]|,\s(?:and|then)\s|\s(?:and|then)\s(?=\S+\s*\Z){dash}"
        )
        self._signs = {ord(sign): " " for sign in {*",;|│┃║[](){}\"'`*$<>&·•"}.difference(names)}

    def __call__(self, text: str, mode: str) -> str | None:
        """The tokens of all lines, of the first lines behind a mark, or of the last lines."""
        is_path = self._is_checked and re.search("[←↑↓]", plain(text))
        rows = [] if is_path else self._rows(text, mode)
        tokens = self._separator.join(itertools.chain.from_iterable(rows))
        return tokens or (_checked(text, mode, self._signs) if self._is_checked else None)

    def _rows(self, text: str, mode: str) -> list[list[str]]:
        lines = _unnumbered([line for line in text.splitlines() if not _BORDER.fullmatch(line)])
        step = -1 if mode == ALONE else 1
        rows: list[list[str]] = []
        blank = False
        for line in lines[::step]:
            if _MARKUP.fullmatch(line) or not plain(line).translate(self._signs).strip(" .→←↑↓"):
                blank = bool(rows)
                continue
            words = self._tokens(line)
            if not words and mode == BEHIND and not rows:
                return [self._tokens(_CLAUSE.split(line, maxsplit=1)[0])]
            # Blank lines divide answers, but neither lines of one token nor bands of a Sudoku.
            is_apart = blank and not len(words) == len(rows[-1]) in (1, self._width)
            if not words or (is_apart and mode != ENCLOSED):
                is_last = mode == ALONE and len({*map(len, rows)}) > 1  # the end of a calculation
                return [] if mode == ENCLOSED else rows[:1] if is_last else rows[::step]
            rows.append(words)
            blank = False
        return rows[::step]

    def _tokens(self, line: str) -> list[str]:
        """The tokens of a line, which has nothing else at a position that is asked."""
        known, is_short = self._known, self._is_short
        for text in dict.fromkeys((line, _ITEM.sub(r"\g<word>", line))):
            piece = self._between.sub(" ", plain(text)).strip(" .!:\t")
            piece = piece if "=" in known else piece.rpartition("=")[2]
            piece = re.sub(r"(?<=[a-zA-Z])_(?=\d)", self._subscript, piece)
            words = piece.translate(self._signs).split()
            for parts in (text.split(), words, [*"".join(words)] if is_short else words):
                if len(parts) == len(self._label):
                    asked = zip(parts, self._label, strict=True)
                    parts = [self._ignored if it == self._ignored else part for part, it in asked]
                if parts and known.issuperset(parts):
                    return parts
        return []


def _unnumbered(lines: list[str]) -> list[str]:
    """Lines without their numbers, if they are in a list."""
    numbers = {int(item["number"] or -1) for item in map(_ITEM.match, lines) if item}
    is_list = any(number + 1 in numbers for number in numbers - {-1})
    return [_ITEM.sub("", line) for line in lines] if is_list else lines


def _numbers(nested: bool, text: str, mode: str) -> Any:
    """Numbers in lists as JSON or NumPy writes them, or in lines. With `nested` lists of them."""
    lines = plain(text).splitlines()
    lines = [line for line in lines if line.strip(" \t|:-*_`$") and not _MARKUP.fullmatch(line)]
    if mode == ALONE:
        lines = [*itertools.takewhile(_NUMERIC.fullmatch, lines[::-1])][::-1]
    text = "\n".join(lines).strip(_BEGINS)
    run = _NUMERIC.match(text)[0].strip(_ENDS).rstrip("[(-" + _BEGINS)  # type: ignore[index]  # always matches
    try:
        rows = [*filter(None, map(_row, re.findall(r"\[([^\[\]]*)\]", run) or run.splitlines()))]
    except ValueError:
        return None
    rest = rf"\s*[\n(]{_OTHER}|\W*\Z" if mode == ENCLOSED else rf",?{_OTHER}"
    if not re.match(rest, text[len(run) :]) or not rows or run.count("[") != run.count("]"):
        return None
    rows = rows if nested or all(len(row) == 1 for row in rows) else rows[-(mode == ALONE) :][:1]
    return rows if nested else [*itertools.chain.from_iterable(rows)]


def _row(line: str) -> list[float]:
    words = re.sub(r"[|,;()]", " ", line.strip(_ENDS)).split()
    return [int(word) if word.isdecimal() else float(word) for word in words]


def _text(text: str, mode: str) -> str | None:
    """Any text on a line, without markup around it."""
    line, edges = next(iter(_lines(text, mode)), ""), " \t\r\n*_`$\"'“”‘’"
    line = re.sub(r"\\(?:(?:text|math)\w{0,9}\{|[\[\]()])|\}", "", line)
    return line.strip(edges).removesuffix(".").strip(edges) or None


def _checked(text: str, mode: str, signs: Mapping[int, str] = {}) -> str | None:
    """A text for a check, without the rest of a sentence or its full stop."""
    text = re.sub(r"(?m)^[`$* \t]+|(?<![`$* \t])[`$* \t]+$", "", text).strip()
    if mode != ENCLOSED:
        text = re.split(r'\n\s*\n|:\n|,\s*"[\w ]+":', text)[-(mode == ALONE)]
    text = "\n".join(_unnumbered(text.splitlines())) if signs else text
    for _ in range(5):  # one in another
        text = _FRACTION.sub(r"((\1)/(\2))", text)
    text = plain(text).translate(signs).replace("==", "=").strip()
    lines, end, last = text.rpartition("\n")
    last = re.sub(r",?\s(?:which|because|since)\s.*|(?<=[\w)\]])\.\Z", "", last)
    return lines + end + last or None
