"""The value that a text states, by the kind of label: a number, a name, a sequence, lists, a text.

Nothing is searched for. The text in a mark, or a line alone, is the value with markup, a sign or
a unit around it, or not a value. Behind a mark such as "Answer:" the line's first clause counts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from synthbench.evaluation.mark import last_marks
from synthbench.evaluation.message import read_parts
from synthbench.evaluation.plain import plain

#: How a text is marked: a mark encloses it, it is behind a mark, or it is unmarked.
ENCLOSED, BEHIND, ALONE = "enclosed", "behind", "alone"
#: Reads a text that is marked in one of these ways: its value, or None.
Reader = Callable[[str, str], Any]

_EDGES = " \t\r\n*_`$\"'“”,:;!{}∴✅✔✓👉👍"
#: A fraction of TeX in an answer that a task checks, and the most that are nested.
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{0,99})\}\s?\{([^{}]{0,99})\}")
_DEEPEST = 5
#: Arrows of TeX that may be moves of a path.
_MOVES = {"up": "↑", "down": "↓", "left": "←", "Up": "↑", "Down": "↓", "Left": "←"}
_ARROW = re.compile(rf"\\({'|'.join(_MOVES)})arrow(?![a-z])")
#: A whole number, with its digits in groups or, as in the labels of `addition`, apart.
_WHOLE = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<digits>\d{1,3}(?P<group>[ ,'_])\d{3}(?:(?P=group)\d{3})*+|\d++)"
    r"(?P<zeros>\.0++)?|(?P<apart>\d(?P<gap>[\"'`]?[ ,;|]{1,3}+[\"'`]?)\d(?:(?P=gap)\d)*+))"
    r"(?![\d.,'_ ;|\"]*\d)"
)
_LEAD = re.compile(
    r"(?:(?:(?:therefore|thus|then|so|hence|simply|just|indeed|exactly|approximately|about|now|the"
    r"|an?|number|value|integer|digit|place|equal to|equals|is|answer|result|final)\b"
    r"|[$€£¥₹#=≈>→])[,:\s]*)+",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s?(?:\^?(?:%|‰|°|(?:st|nd|rd|th)\b)|[€£¥₹$])?"
    r"(?P<words>(?:\s?\(?(?:(?<=[\s/])[a-z]|[a-z]{2,})\b(?:[²³]|\^-?[1-4](?!\d))?[/.·*]?){0,6})",
    re.IGNORECASE,
)
#: Words that make another number of the text before them, or doubt it.
_NO_UNIT = re.compile(
    r"\b(?:or|to|plus|minus|times|point|hundred|thousand|million|billion|trillion|dozen|squared"
    r"|cubed|factorial|half|halves|divided|multiplied|mod(?:ulo)?|over|if|[ekmbx])\b",
    re.IGNORECASE,
)
_MODULUS = re.compile(r"\s*\(?\s*mod(?:ulo)?\s+(\d{1,18})\s*\)?", re.IGNORECASE)
_EQUALS = re.compile(r"=+>?|≡|→|≈|-{1,9}>")
#: Two unknowns: "a = 7 or b = 8".
_TWO = re.compile(r"\W*[a-z]\s?=[^=]{1,40}(?:,|;|\band\b|\bor\b)\s?[a-z]\s?=", re.IGNORECASE)
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve")  # fmt: skip
#: Where a clause ends, unless another answer follows.
_OTHER = r"(?!\s*(?:or|and|maybe|perhaps|possibly|alternatively|otherwise|else)\b)"
_CLAUSE = re.compile(
    rf"(?:[.!]|;(?!\s*[-+]?\d))(?=[\s*_`\"'$)\]}}]|\Z){_OTHER}|\s\({_OTHER}|,{_OTHER}(?=\s+[a-z])"
    rf"|\s-+\s(?!\d){_OTHER}|\s\|(?!\s*[-+]?\d)|<(?=[/a-z|])"
    r"|\s(?:because|since|as|which|after|when|where|not)\b|\\[\])]",
    re.IGNORECASE,
)
#: A line without anything but markup.
_MARKUP = re.compile(r"[\s*`$]*|\s*(?:\\[\[(\])]|```.*|-{3,}|\{)\s*")
_BULLET = re.compile(
    r"\A[ \t*_`$]*(?:[-*•>#]+|(?:step\s)?\(?\d{1,4}[.):][*_]{0,3}|\(\d{1,4}\)"
    r"|(?:a|ans|answer|assistant)\s?:)\s+",
    re.I,
)
#: The number of a line in a list.
_ITEM = re.compile(
    r"[\s*_`#>•$-]{0,8}(?:[a-z]{1,12}\s?)?[#(]?(\d{1,4})[*_]{0,3}(?:[.):]|(?<=#\d))[*_]{0,3}\s+",
    re.I,
)
#: Single symbols that hyphens join.
_HYPHENS = re.compile(r"\s*\w(?:-\w)+")
#: A line between the rows of a grid or table, with corners.
_BORDER = re.compile(r"(?=.*[|+\u250c-\u257f])[\s|+:]*[-=\u2500-\u257f][\s|+:=\u2500-\u257f-]+")
_NUMERIC = re.compile(r"[\s\d.,;|()\[\]eE+:*`$-]*")


def read_answer(text: str, read: Reader, truncated: bool = False) -> Any:
    """The answer of a reply: of the first part of its message that states any.

    Args:
        text: the reply.
        read: reads a value.
        truncated: whether the reply stopped at the limit of tokens, so that only marks count.
    """
    for part, small in read_parts(text) or ():
        for mark in last_marks(part, small):
            if mark.closed or not truncated:
                value = read(mark.text, ENCLOSED if mark.enclosed else BEHIND)
                if value is not None or mark.settles:
                    return value
        if not truncated and (value := read(part, ALONE)) is not None:
            return value
    return None


def reader(
    kind: str, names: Iterable[str] = (), separator: str = " ", label: str = "", ignored: str = ""
) -> Reader:
    """The reader for a kind of label.

    Args:
        kind: `number`, `digits` (a number whose digits may be apart), `name` (of a class);
            `sequence` (of tokens); `numbers` (in a list) or `lists` (of numbers in lists); `text`;
            or `checked` (any text as it is) and `checked sequence`, for a check that parses it.
        names: the names of the classes, or the tokens.
        separator: the text between two tokens of a sequence.
        label: a sequence, of which only the positions of ignored tokens are used: any word counts
            there.
        ignored: this token.
    """
    names = tuple(names)
    match kind:
        case "number" | "digits":
            return functools.partial(_numeral, functools.partial(_number, kind == "digits"))
        case "name":
            apart = len({*map(len, names)}) == 1
            return functools.partial(_single, functools.partial(_name, _forms(names), apart))
        case "numbers" | "lists":
            return functools.partial(_numbers, kind == "lists")
        case "text" | "checked":
            return _text if kind == "text" else _checked
    signs = dict.fromkeys(
        (ord(sign) for sign in ",;|│┃║[](){}\"'`*$→<>&·•" if sign not in names), " "
    )
    words = (label.split(separator) if separator else [*label]) if ignored else []
    unasked = {place for place, word in enumerate(words) if word == ignored}
    tokens = functools.partial(_tokens, frozenset(names), signs, (len(words), unasked, ignored))
    read = functools.partial(_sequence, tokens, len(names), signs, separator)
    if kind == "sequence":
        return read
    # An arrow may be a move of a path, which the check reads.
    others = {code: blank for code, blank in signs.items() if code != ord("→")}
    return lambda text, mode: read(text, mode) or _checked(text, mode, others)


def _single(read: Callable[[str, str], str | None], text: str, mode: str) -> str | None:
    """One value: of the first line behind a mark, of the last line, or of all that is enclosed."""
    lines = [line for line in text.splitlines() if not _MARKUP.fullmatch(line)]
    lines = lines if mode == ENCLOSED else lines[:1] if mode == BEHIND else lines[-1:]
    values = set()
    for line in map(plain, lines):
        if mode == BEHIND:
            line = _CLAUSE.split(line.lstrip(" \t*`:"), maxsplit=1)[0]
        value = read(line, mode) or read(_BULLET.sub("", line), mode)
        if value or any(map(str.isalpha, line)) or len(lines) == 1:
            values.add(value)
    return values.pop() if len(values) == 1 else None


def _numeral(read: Callable[[str, str], str | None], text: str, mode: str) -> str | None:
    """A number, without a look at its lines if there is nothing else."""
    bare = text.strip(_EDGES).rstrip(_EDGES + ".")
    return bare if bare.isdecimal() and bare.isascii() else _single(read, text, mode)


def _number(apart: bool, text: str, mode: str) -> str | None:
    """A whole number, in an equation behind its last sign."""
    if _TWO.match(text) or "!=" in text:
        return None
    *sides, text = _EQUALS.split(text)
    left = "=".join(sides).replace("mod", "").strip(_EDGES)
    if mode == ALONE and re.search(r"[^\W\d_]{2}", left) and not left.isalpha():
        return None
    text = text.strip(_EDGES).rstrip(_EDGES + ".")
    while text[:1] in ("(", "[") and text[-1:] in (")", "]"):
        text = text[1:-1].strip(_EDGES)
    if text.casefold() in _WORDS:
        return str(_WORDS.index(text.casefold()))
    if mode != ALONE:
        if lead := _LEAD.match(text):
            text = text[lead.end() :].strip(_EDGES)
        text = re.sub(r"\A([-+])\s(?=\d)", r"\1", text)
    text = text.lstrip("$€£¥₹")
    match = _WHOLE.match(text)
    if match is None or (match["apart"] and (match["sign"] or not apart)):
        return None
    value = match["sign"].strip("+") + re.sub(r"\D", "", match["digits"] or match["apart"])
    if match["zeros"] == ".000" and len(value) < 4:  # 1.000 may be a thousand
        return None
    rest = text[match.end() :].rstrip(_EDGES + ".")
    if modulus := _MODULUS.fullmatch(rest):
        return value if len(value) < 19 and -1 < int(value) < int(modulus[1]) else None
    unit = _UNIT.match(rest)
    if unit is None or (unit["words"] and (mode == ALONE or _NO_UNIT.search(rest))):
        return None
    return None if rest[unit.end() :].strip(_EDGES + ".)]") else value


def _name(forms: dict[str, str], apart: bool, text: str, mode: str) -> str | None:
    """The name of a class, or a part of it that no other class has."""
    last = _EQUALS.split(text)[-1].strip(_EDGES + ".()[]")
    if mode != ALONE and (lead := _LEAD.match(last)):
        last = last[lead.end() :]
    last = re.sub(r"\A(?:an?|the)\s", "", last, flags=re.IGNORECASE)
    if apart and re.fullmatch(r"\d(?:[ ,|-]{1,2}\d)+", last):
        last = re.sub(r"\D", "", last)
    edges = ("\"'`* \t", _EDGES + ".", _EDGES + ".()[]")
    endings = (_folded(last).removesuffix(ending) for ending in ("", "s", "es"))
    return next(filter(None, map(forms.get, (*map(text.strip, edges), last, *endings))), None)


def _folded(form: str) -> str:
    return re.sub(r"(?<!\A)[-_\s]+", "", form).casefold()


def _forms(names: tuple[str, ...]) -> dict[str, str]:
    """The class that each form stands for: names and their parts, unless two classes share it."""
    owners: dict[str, list[str]] = {}
    for name in (name for name in names if not name.isdigit()):
        parts = [part for part in re.split(r"\sor\s|/", name) if len(part) > 2]
        for part in {name, *re.split(r"\sor\s", name), *parts}:
            owners.setdefault(_folded(part.strip()), []).append(name)
    named = {_folded(name): name for name in reversed(names)}
    single = {form: owner[0] for form, owner in owners.items() if len(owner) == 1}
    return single | named | dict(zip(names, names, strict=True))


def _sequence(
    tokens: Callable[[str], list[str]], width: int, signs: dict[int, str], separator: str,
    text: str, mode: str,
) -> str | None:  # fmt: skip
    """The tokens of all lines, of the first lines behind a mark, or of the last lines."""
    text = re.sub(r"\A\s*\*\*(.*)\*\*[\s.]*\Z", r"\1", text, flags=re.DOTALL)
    lines = _unnumbered([line for line in text.splitlines() if not _BORDER.fullmatch(line)])
    rows: list[list[str]] = []
    blank = stopped = False
    for line in lines[:: -1 if mode == ALONE else 1]:
        if _MARKUP.fullmatch(line) or not plain(line).translate(signs).strip(" ."):
            blank = bool(rows)
            continue
        words = tokens(line)
        if not words and mode == BEHIND and not rows:
            return separator.join(tokens(_CLAUSE.split(line, maxsplit=1)[0])) or None
        is_apart = blank and mode != ENCLOSED and len(words) + len(rows[-1]) > 2
        # Bands of a Sudoku, whose rows have as many cells as there are digits, are not apart.
        if stopped := not words or (is_apart and not len(words) == len(rows[-1]) == width):
            break
        rows.append(words)
        blank = False
    if mode == ENCLOSED and stopped:
        return None
    if mode == ALONE:
        # Below other text the last line counts, unless the lines are a column or a grid.
        rows = rows[:1] if stopped and len({*map(len, rows)}) > 1 else rows[::-1]
    return separator.join(itertools.chain.from_iterable(rows)) or None


def _unnumbered(lines: list[str]) -> list[str]:
    """Lines without their numbers, if they are in a list."""
    items = [(line, _ITEM.match(line)) for line in lines]
    numbers = {int(item[1]) for _, item in items if item}
    return [
        line[item.end() :] if item and numbers & {int(item[1]) - 1, int(item[1]) + 1} else line
        for line, item in items
    ]


def _tokens(
    known: frozenset[str], signs: dict[int, str], label: tuple[int, set[int], str], line: str
) -> list[str]:
    """The tokens of a line. None if it has anything else at a position that is asked."""
    length, unasked, ignored = label
    is_short = {*map(len, known)} == {1}
    for text in dict.fromkeys((line, _BULLET.sub("", line))):
        piece = re.sub(r"[-=]{1,9}>", " ", plain(text)).strip(" .!:\t")
        piece = piece if "=" in known else piece.rpartition("=")[2]
        if is_short and "-" not in known and _HYPHENS.fullmatch(piece):
            piece = piece.replace("-", " ")
        if "," in piece:
            piece = re.sub(r",?\s(?:and|then)\s", " ", piece)
        words = piece.translate(signs).split()
        for parts in (text.split(), words, [*"".join(words)] if is_short else words):
            if len(parts) == length:
                parts = [ignored if at in unasked else part for at, part in enumerate(parts)]
            if parts and {*parts} <= known:
                return parts
    return []


def _numbers(nested: bool, text: str, mode: str) -> Any:
    """Numbers in lists as JSON or NumPy writes them, or in lines. With `nested` lists of them."""
    text = text.rstrip().rpartition("\n\n")[2] if mode == ALONE else text
    lines = [line for line in plain(text).splitlines() if line.strip(" \t|:-*_`$")]
    lines = [line for line in lines if not _MARKUP.fullmatch(line)]
    if mode == ALONE:
        lines = [*itertools.takewhile(_NUMERIC.fullmatch, lines[::-1])][::-1]
    text = "\n".join(lines).strip(_EDGES)
    run = _NUMERIC.match(text)[0].strip(_EDGES + ".").rstrip("[(" + _EDGES)  # type: ignore[index]  # always matches
    if not run or (mode == ENCLOSED and run != text.strip(".")):
        return None
    parsed = [*map(_row, re.findall(r"\[([^\[\]]*)\]", run))]
    parsed = parsed or [
        *itertools.takewhile(lambda row: row is not None, map(_row, run.splitlines()))
    ]
    rows = [row for row in parsed if row is not None]
    if run.count("[") != run.count("]") or not rows or len(rows) < len(parsed):
        return None
    if re.match(r"\[\s*\[", run) or (nested and (len(rows) > 1 or "[" in run)):
        return rows
    is_column = all(len(row) == 1 for row in rows)
    return [*itertools.chain.from_iterable(rows if is_column else rows[:1])] or None


def _row(line: str) -> list[float] | None:
    """The numbers of a line. None if it contains anything else."""
    words = re.sub(r"[|,;()]", " ", line.strip(_EDGES + ".")).split()
    try:
        return [int(word) if word.isdecimal() else float(word) for word in words]
    except ValueError:
        return None


def _text(text: str, mode: str) -> str | None:
    """Any text: the first line of the marked text, or the last line, without markup around it."""
    edges = " \t\r\n*_`$\"'“”‘’"
    lines = [line for line in text.splitlines() if line.strip(edges + "{}")]
    line = lines[-1 if mode == ALONE else 0] if lines else ""
    line = re.sub(r"\\(?:(?:text|math)\w{0,9}\{|[\[\]()])|\}", "", line)
    return line.strip(edges).removesuffix(".").strip(edges) or None


def _checked(text: str, mode: str, signs: Mapping[int, str] = {}) -> str | None:
    """A text for a check: the enclosed text, or the first or the last lines up to an empty line."""
    lines = [line.strip("`$* \t") for line in text.strip("`$* \t\r\n").splitlines()]
    if mode != ENCLOSED:
        lines = [*itertools.takewhile(bool, lines[:: -1 if mode == ALONE else 1])]
        lines = lines[:: -1 if mode == ALONE else 1]
    lines = _unnumbered(lines) if signs else lines
    text, depth = "\n".join(lines), 0
    while depth < _DEEPEST and (replaced := _FRACTION.subn(r"((\1)/(\2))", text))[1]:
        text, depth = replaced[0], depth + 1
    parts = re.split("([←↑↓])", _ARROW.sub(lambda it: _MOVES[it[1]], text)) if signs else [text]
    text = (
        "".join(part if part in "←↑↓" else plain(part) for part in parts)
        .translate(signs)
        .replace("==", "=")
        .strip()
    )
    # The rest of a sentence, or its full stop.
    return re.sub(r",?\s(?:which|because|since)\s.*\Z|(?<=[\w)\]])\.\Z", "", text) or None
