"""The words of a text that can be an answer: numbers, in digits or spelled out, and class names."""

from __future__ import annotations

import dataclasses
import functools
import re

#: Numbers that are read when spelled out.
_WRITTEN_OUT = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
# A number with everything attached to it: 7, -7, 1,000; also 7.5, 7/8, 7th and 1e3, which are not
# whole numbers: their parts must not be read instead.
_NUMBER = (
    r"(?=[-−.\d])(?<![^\W_])(?<![^\W_]\.)[-−]?(?:(?<!\.)\.)?\d[^\W_]*(?:[-−.,:/%^]+[^\W_]+)*%?"
)
_WHOLE = re.compile(r"([-−]?)(\d+|\d{1,3}(?:,\d{3})+)(?:\.0+)?", re.ASCII)
#: What follows a spelled-out number that counts something or is part of a larger number.
_COUNTING = (
    r"\s+(?:of|more|less|fewer|times|steps?|hundred|thousand|million|billion|dozen|point|and\s+a|"
    r"hal(?:f|ves)|thirds?|quarters?|fifths?|tenths?)\b"
)
#: `one` is a number only at the end of a phrase, and not in "the last one". Larger numbers are
#: matched, but have no value.
_WRITTEN = "|".join(
    [
        *(word for word in _WRITTEN_OUT if word != "one"),
        r"one(?!\s*[^\W\d_])",
        r"(?:thir|four|fif|six|seven|eigh|nine)teen",
        r"(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:[- ]?(?:one|two|three|four|five|six|seven|"
        r"eight|nine))?",
    ]
)
_IS_PRONOUN = re.compile(
    r"\b(?:no|the|this|that|which|each|every|any|another|other|first|last|next|only|same|right|"
    r"wrong|correct|final|good|new|old|(?!number)\w{2,}e(?:r|st))\s+one\Z",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"[-_\s]+")
_INNER = re.compile(r"(?<!\A)[-_\s]+")
#: Single digits with the same separator between them: `1 0 1`.
_SPACED = re.compile(r"\d(?:[ ,-] ?\d)+", re.ASCII)
#: A number as its digits with the same separator between them, `1 1 3 3`, or in groups of three.
_IN_PARTS = (
    r"(?<![\w.,-])(?<!\d )(?<!\d, )(?:\d{1,3}(?P<group>[ _'’\u00a0\u202f])\d{3}(?:(?P=group)\d{3})*"
    r"(?!(?P=group)\d)|\d(?P<gap>[\"'`]?[ ,;|]{1,3}[\"'`]?)\d(?:(?P=gap)\d)*(?!(?P=gap)\d))"
    r"(?![^\W_]|[.,:/^%]\d)"
)
_WHOLE_IN_PARTS = re.compile(_IN_PARTS, re.ASCII)
#: Words that say where something is, even if they are parts of names: "at the top", "top-right".
_PLACES = ("top", "bottom", "left", "right", "upper", "lower", "middle", "center", "centre")
_PLACE = "(?:" + "|".join(_PLACES) + r")\b"
_WHERE = (
    rf"\b(?:(?:at|in|on|from|to)\s+(?:the\s+)?(?:very\s+)?{_PLACE}(?:[-\s]*{_PLACE})?"
    rf"|{_PLACE}[-\s]*(?:{_PLACE}|(?:half|row|line|corner|quadrant|picture|image|panel|cell|part)))"
)


@dataclasses.dataclass(frozen=True)
class Word:
    """A word of a text that can be an answer.

    Attributes:
        start, end: its place in the text.
        text: the word as written.
        value: the answer that it stands for; None for a number that is no answer, such as 7.5.
        written_out: whether it is a spelled-out number.
    """

    start: int
    end: int
    text: str
    value: str | None
    written_out: bool

    @property
    def key(self) -> str:
        """A key that is equal for words that stand for the same answer."""
        return self.value or self.text


class AnswerWords:
    """The words that answers may have: those of class `names`; without names, whole numbers.

    Only names count, the index of a class never does.

    Args:
        names: the names of the classes.
        in_parts: whether the digits of a number may stand apart, as in the labels of `addition`.
    """

    def __init__(self, names: tuple[str, ...], in_parts: bool = False) -> None:
        self._in_parts = in_parts
        counted = all(name == str(index) for index, name in enumerate(names))
        self._indices = 0 if counted else len(names)
        self._names = {name.casefold(): name for name in reversed(names)}
        self._names.update((name, name) for name in names)
        self._forms = _forms(names)
        self._numbers = {}
        if not names or any(str(number) in names for number in range(len(_WRITTEN_OUT))):
            self._numbers = {word: str(number) for number, word in enumerate(_WRITTEN_OUT)}
        pattern = rf"(?P<written>(?=[zotfsen])(?<![\w-])(?:{_WRITTEN})(?![\w-])(?!{_COUNTING}))"
        alternatives = [*_spellings(names), *([pattern] if self._numbers else [])]
        if names and not self._names.keys() & set(_PLACES):
            alternatives.insert(0, _WHERE)
        if not names or any(map(str.isdigit, self._names | self._forms)):
            alternatives += [*_spaced(names), *([_IN_PARTS] if in_parts else []), _NUMBER]
        self._pattern = re.compile("|".join(alternatives), re.IGNORECASE)

    def find(self, text: str, start: int = 0, end: int | None = None) -> list[Word]:
        """The words of a text, or of the part from `start` to `end`, in order."""
        found = []
        for match in self._pattern.finditer(text, start, len(text) if end is None else end):
            start, end = match.span()
            written_out = bool(match.groupdict().get("written"))
            if written_out and _IS_PRONOUN.search(text[max(0, start - 20) : end]):
                continue
            value = self._value(match[0])
            if value is not None or written_out or any(map(str.isdigit, match[0])):
                found.append(Word(start, end, match[0], value, written_out))
        return found

    def _value(self, word: str) -> str | None:
        """The number without commas, or the name of the class, that a word stands for."""
        if word in self._names:
            return self._names[word]
        folded = word.casefold()
        if self._in_parts and _WHOLE_IN_PARTS.fullmatch(word):
            return re.sub(r"\D", "", word)
        if whole := _WHOLE.fullmatch(word):
            number = whole[2].replace(",", "")
            if whole[1]:
                return None if self._names else f"-{number}"
            if number in self._names or number in self._forms:
                return self._names.get(number) or self._forms[number]
            is_index = int(number[-9:]) < self._indices and not number[:-9].strip("0")
            return None if is_index else number
        if word[0].isdigit() and (joined := re.sub(r"\D", "", word)) in self._names:
            return joined if _SPACED.fullmatch(word) else None
        return self._names.get(folded) or self._forms.get(_plain(word)) or self._numbers.get(folded)


#: The `AnswerWords` of some class names, made once.
answer_words_of = functools.lru_cache(maxsize=64)(AnswerWords)


@functools.cache
def words_of_numbers() -> AnswerWords:
    """The words of answers that are one number, written as such or digit by digit."""
    return AnswerWords((), in_parts=True)


def _plain(form: str) -> str:
    """A form without hyphens, spaces and capitals; a sign before a number stays."""
    return _INNER.sub("", form).casefold()


def _forms(names: tuple[str, ...]) -> dict[str, str]:
    """The class that each form stands for: names, their parts and plurals, unless two share it."""
    named = [name for name in names if not name.isdigit()]
    owners: dict[str, set[str]] = {}
    for name in named:
        for part in _parts(name):
            for ending in ("", "s", "es"):
                owners.setdefault(_plain(part) + ending, set()).add(name)
    parts = {form: owner for form, (owner, *others) in owners.items() if not others}
    # A name always stands for itself, even if it is a part of another.
    return {**parts, **{_plain(name): name for name in reversed(named)}}


def _parts(name: str) -> set[str]:
    """A class's name, its parts between slashes or "or", and their last words."""
    either = re.split(r"\sor\s", name)
    between = [part for one in either for part in one.split("/") if part.strip()]
    parts = {part.strip() for part in [*either, *between, *(part.split()[-1] for part in between)]}
    return {name, *(part for part in parts if len(part) > 2 or (part.isdigit() and part in either))}


def _spaced(names: tuple[str, ...]) -> list[str]:
    """A pattern for names of several digits with spaces between them, if all are as long."""
    lengths = {len(name) for name in names if name.isdigit()}
    if len(lengths) != 1 or (length := lengths.pop()) < 2:
        return []
    more = rf"\d(?P<gap>[ ,-] ?)\d(?:(?P=gap)\d){{{length - 2}}}"
    return [rf"(?<![\w.,-])(?<!\d )(?<!\d, ){more}(?!\w|[ ,-] ?\d)"]


def _spellings(names: tuple[str, ...]) -> list[str]:
    """Patterns for the names and parts of names that are not numbers, the longest first."""
    parts = {part.strip() for name in names if not name.isdigit() for part in _parts(name)}
    ordered = sorted(parts, key=lambda part: (-len(part), part))
    lettered = [part for part in ordered if re.search(r"[^\W\d_]", part)]
    # The words of a part may be joined by a hyphen, a space or nothing.
    words = [r"[-_\s]?".join(map(re.escape, _SEPARATOR.split(part))) for part in lettered]
    spaced = [word.replace("/", r"\s*/\s*") for word in words]
    # Of signs, as in `<` and `-1`, none may be left out.
    exact = [re.escape(name) for name in ordered if name in names and name not in lettered]
    return [
        *(rf"(?<![^\W_]){word}(?:e?s)?(?![^\W_]|-[^\W_])" for word in spaced),
        *(rf"(?<![^\W_]){name}(?![^\W_])" for name in exact),
    ]


@functools.lru_cache(maxsize=64)
def word_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern without groups for a class name or a whole number."""
    named = sorted((name for name in names if not name.isdigit()), key=len, reverse=True)
    words = [rf"(?<![^\W_]){re.escape(name)}(?![^\W_])" for name in named]
    return re.compile("|".join([*words, _NUMBER]), re.IGNORECASE)
