r"""Find the one answer that a language model's text settles on, and score it.

`score` and `evaluate` read a prediction strictly: `7`, but not "the answer is 7". `find_answer`
searches running text. Thoughts (`<think>...</think>`) are ignored; a text that never closes them
has no answer. In the rest of the text, the first of these rules that applies decides:

1. The last place marked as the answer: `\boxed{7}`, `<answer>7</answer>`, `#### 7`,
   "the answer is 7", "Answer: 7".
2. Whichever comes last: "the result is 7", or the first line, the last line or a part in bold
   (`**7**`), if it holds only the answer.
3. The last number or class name.

So a number mentioned after a marked answer changes nothing: "**7**, tell me if you want 3 more".
Numbers up to twelve may be written out, and classes may be called by a part of their name
("T-shirt" for `T-shirt/top`). What is found is then read strictly. The search never looks for a
value that would fit the label: a text that ends in 18 does not answer 8, and "7 or 8", "7.5", "-7"
and "3 + 4" give no answer at all. Neither does a number that is said of something else, as in
"a list of 5 digits", nor the question once more.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from synthbench.evaluation.answer_words import Word, answer_words_of
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.registry import as_task

_THOUGHTS = "(?:think|thinking|thought|thoughts|reasoning)>"
_THOUGHTS_BEGIN = re.compile(f"<{_THOUGHTS}", re.IGNORECASE)
_THOUGHTS_END = re.compile(f"</{_THOUGHTS}", re.IGNORECASE)
#: A TeX command for a font other than bold; the text in its braces stays.
_FONT = re.compile(r"\\(?:text|math|mbox)(?!bf)[a-z]*\s*(?=\{)")


def find_answer(task: Task, text: str) -> Any:
    """The answer that a text gives.

    Args:
        task: the task, which determines what an answer looks like.
        text: what a language model wrote.

    Returns:
        The answer in a form that `score` and `evaluate` read: a number or a name as text, several
        numbers as nested lists. None if the text gives no answer, or more than one.

    Example:
        >>> from synthbench.evaluation.final_answer import find_answer
        >>> from synthbench.tasks.registry import as_task
        >>> task = make_task("arithmetic")
        >>> find_answer(task, "First I get 3, then 8. **The answer is 7.** Ask me 2 more!")
        '7'
        >>> find_answer(task, "It is 7 or 8.") is None
        True
    """
    text = _THOUGHTS_END.split(text)[-1]
    if _THOUGHTS_BEGIN.search(text):
        return None
    text = _FONT.sub("", text)
    match task.answer.answers:
        case "numbers":
            return _find_numbers(text)
        case "text":
            return _find_text(text)
    return _find_word(text, task.labels or ())


def score_answer(answer: str | None, entry: Mapping[str, Any], task: str | Task) -> float:
    r"""Score an answer in running text; usable as a reward for reinforcement learning.

    Args:
        answer: what a language model wrote; None for nothing.
        entry: the row as plain values, with the columns that its answer is judged by.
        task: the task's name, or the task itself if variant, parameters or seed matter.

    Returns:
        The task's first metric: for tasks with classes 1.0 or 0.0. If labels are text, exactly
        the label always scores as right.

    Raises:
        UsageError: an unknown task.
        KeyError: a row without one of these columns.

    Example:
        >>> from synthbench.evaluation.final_answer import score_answer
        >>> row = {"text": "((4*7)+2)", "label": 0}
        >>> score_answer(r"So it is $\boxed{0}$.", row, "arithmetic")
        1.0
        >>> score_answer("So it is 10.", row, "arithmetic")
        0.0
    """
    task = as_task(task)
    if answer is not None and task.answer.answers == "text" and answer.strip() == entry[LABEL]:
        return task.score(entry, entry[LABEL])
    return task.score(entry, None if answer is None else find_answer(task, answer))


# Marks of answers.

_CLOSING = r"[\"'*_`)\]]*"
_IS = r"(?:[:=]|\b(?:is|was|equals|(?:must|should|would|will)\ be)\b)"
_MARK = re.compile(
    rf"""(?P<brace> \\boxed\s*\{{)
    |   (?P<tag> <answer>)
    |   \#{{4}} (?=[^\w\n]{{0,9}}\d)
    |   \banswer\b {_CLOSING} (?:\s+(?:to|for|of)\ [^.\n]{{1,200}}?)?? \s* {_IS}
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: Not a mark: a "result" may be intermediate.
_RESULT = re.compile(rf"\bresult{_CLOSING}\s*{_IS}(?P<line>[\W_]*[^\n]*)", re.IGNORECASE)
_BOLD = re.compile(
    r"\*\*(?P<stars>[^*\n]{1,200})\*\*|<(?:b|strong)>(?P<tag>[^<\n]{1,200})</"
    r"|\\(?:text|math)bf\{(?P<tex>[^{}\n]{1,200})\}",
    re.IGNORECASE,
)
_LINE = re.compile(r"[\W_]*[^\n]*")


def _from_last(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The last ten matches of a pattern, the last one first."""
    return [*pattern.finditer(text)][:-11:-1]


def _place(text: str, mark: re.Match[str]) -> str:
    """The text that a mark applies to."""
    rest = text[mark.end() :]
    if mark["tag"]:
        return rest.partition("</")[0]
    if mark["brace"]:
        return _enclosed("{" + rest, "{}")[0]
    return _LINE.match(rest)[0]  # type: ignore[index]  # always matches


def _has_alnum(text: str) -> bool:
    """Whether a text has a letter or digit."""
    return any(map(str.isalnum, text))


def _enclosed(text: str, brackets: str) -> list[str]:
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


# Numbers, and names of classes.

_MARKUP = r"[\s*_`$\"'()\[\]{}\\]*"
#: Between two alternatives: "7 or 8", "a = 7 or b = 8", "7 ... maybe 8".
_ALTERNATIVES = re.compile(
    rf"{_MARKUP}(?:(?:or|and)(?:\s+[a-z]\s*=)?|[,;/|&]|(?:or\b)?[\s.…,;]*\b(?:maybe|perhaps),?)"
    rf"{_MARKUP}|[ \t]+",
    re.IGNORECASE,
)
#: Between the ends of a range, in a place that is marked as the answer: "7 to 8".
_TO = re.compile(rf"{_MARKUP}to{_MARKUP}", re.IGNORECASE)
#: Before a word that is part of a calculation, or negated.
_BEFORE = re.compile(
    r"(?:[+×·÷^/≠]|!=|\}\{|[\d)\]]\s*[-−*]|(?:\b(?:not|neither|nor|than)|n['’]t)\b\W*"
    r"(?:(?:a|an|the)\b\W*)?)\s*\Z",
    re.IGNORECASE,
)
#: After a word that begins a calculation, is doubted or negated, or begins the question again, as
#: in "101 a b c".
_AFTER = re.compile(
    r"\s*(?:[+×·÷^/=?]|[-−*]\s*[\d(])"
    rf"|{_MARKUP}is(?:n['’]t|\s+(?:not|wrong))\b|(?:[ \t]+[a-z]\b){{2}}",
    re.IGNORECASE,
)
#: Around a number that is said of something else: "modulo 10", "a multiple of 2", "5 digits".
_OF_SOMETHING = re.compile(
    r"\b(?:modulo|divi(?:ded|sible)\ by|from\ \d+\ to|(?:multiples?|denominator|length|limit)\ of)"
    r"[\s-]+\Z",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s+(?:digit|number|value)s?\b", re.IGNORECASE)
#: Before the result of a calculation, which alone counts.
_WHICH_IS = re.compile(r"=|\bwhich\ is\W+(?=\d)", re.IGNORECASE)
#: Words in brackets: "7 (in 3 steps)".
_REMARK = re.compile(r"\([^()\n]{0,200}?[a-zA-Z]{2}[^()\n]{0,200}\)")
#: Before an unmarked number in letters: "It is seven."
_SAID = re.compile(r"\b(?:is|get|gives|equals|makes)\b\W*\Z", re.IGNORECASE)
#: What a model offers after its answer, in its last sentence.
_OFFER = re.compile(
    r"\b(?:let me know|tell me|feel free|would you like)\b[^.!?\n]{0,200}\W{0,9}\Z", re.IGNORECASE
)


def _find_word(text: str, labels: Sequence[str]) -> str | None:
    """The number or class name that a text answers with; None if there is none or more than one."""
    words = answer_words_of(tuple(labels))
    for mark in _from_last(_MARK, text):
        place = _place(text, mark)
        if found := words.find(place):
            return _from_mark(place, found)
    text = _OFFER.sub("", text)
    if not (found := words.find(text)):
        return None
    lines = [line.span() for line in re.finditer(r"[^\n]+", text) if _has_alnum(line[0])]
    bold = [match.span(match.lastgroup or 0) for match in _from_last(_BOLD, text)]
    alone = [span for span in [lines[0], *bold, lines[-1]] if _is_alone(text, span, found)]
    # In "**7**, not **3**" only 7 counts.
    alone = [span for span in alone if not _BEFORE.search(text, max(0, span[0] - 20), span[0])]
    begin = max(alone, default=(-1,))[0]
    for match in _from_last(_RESULT, text):
        inner = words.find(match["line"])
        if match.start() > begin and inner and _comes_first(match["line"], inner):
            return _unambiguous(match["line"], inner, 0)
    if not alone:
        return _last(text, found)
    index = next(index for index, word in enumerate(found) if word.start >= begin)
    return _unambiguous(text, found, index)


def _comes_first(place: str, words: Sequence[Word]) -> bool:
    """Whether only markup comes before the first word."""
    return not _has_alnum(place[: words[0].start])


def _from_mark(place: str, words: Sequence[Word]) -> str | None:
    """The answer in a marked place: the first word, or else the only one."""
    if len(words) > 1 and _TO.fullmatch(place, words[0].end, words[1].start):
        return None
    at_once = _comes_first(place, words)
    if at_once and (answer := _unambiguous(place, words, 0)):
        return answer
    *_, result = [0, *(match.end() for match in _WHICH_IS.finditer(place))]
    chosen = [word for word in words if word.start >= result]
    chosen = [word for word in chosen if not _is_said_of_something(place, word)]
    if not at_once:
        chosen = [word for word in chosen if not word.written_out] or chosen
    if len({word.key for word in chosen}) != 1:
        return None
    return _unambiguous(place, words, words.index(chosen[0]))


def _is_said_of_something(text: str, word: Word) -> bool:
    """Whether a number counts or describes something else, such as 5 in "5 digits"."""
    before = _OF_SOMETHING.search(text, max(0, word.start - 40), word.start)
    return bool(before or _COUNTED.match(text, word.end))


def _is_alone(text: str, span: tuple[int, int], words: Sequence[Word]) -> bool:
    """Whether a part of a text is one answer and nothing else; not the number of a list item."""
    inner = [word for word in words if span[0] <= word.start and word.end <= span[1]]
    if len({word.key for word in inner}) != 1:
        return False
    ends = [span[0], *(end for word in inner for end in (word.start, word.end)), span[1]]
    around = "".join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    if _has_alnum(around):
        return False
    goes_on = text[span[1] :].partition("\n")[0].strip(" *_")
    return not (goes_on and around.rstrip().endswith((".", ")", ":")))


def _last(text: str, words: Sequence[Word]) -> str | None:
    """The last word of a text outside of remarks in brackets, unless it is said of something."""
    outside = _REMARK.sub(lambda remark: " " * len(remark[0]), text)
    words = [word for word in words if outside[word.start] != " "]
    if not words or _is_said_of_something(text, word := words[-1]):
        return None
    if word.written_out and not _SAID.search(text, max(0, word.start - 20), word.start):
        return None
    return _unambiguous(text, words, len(words) - 1)


def _unambiguous(text: str, words: Sequence[Word], index: int) -> str | None:
    """One of a text's words; None if it is part of a calculation, negated, or an alternative."""
    word = words[index]
    if _BEFORE.search(text, max(0, word.start - 20), word.start) or _AFTER.match(text, word.end):
        return None
    for one, other in itertools.pairwise(words[max(0, index - 1) : index + 2]):
        if one.key != other.key and _ALTERNATIVES.fullmatch(text, one.end, other.start):
            return None
    return word.value


# Labels that are free text.

_EDGES = " \t*_`$\"'“”‘’"


def _find_text(text: str) -> str | None:
    """The text that is marked as the answer, or the last line."""
    for mark in _from_last(_MARK, text):
        if place := _trimmed(_place(text, mark)):
            return place
    lines = [line for line in text.splitlines() if line.strip(_EDGES)]
    if len(lines) == 1 and (bold := _from_last(_BOLD, text)):
        return _trimmed(bold[0][bold[0].lastgroup or 0])
    return _trimmed(lines[-1]) if lines else None


def _trimmed(text: str) -> str | None:
    """The first line of a text, without markup, quotes and full stop around it."""
    line = text.strip().partition("\n")[0].strip(_EDGES)
    return line.removesuffix(".").strip(_EDGES + "{}") or None


# Several numbers.


def _find_numbers(text: str) -> Any:
    """The numbers that are marked as the answer, or the last list, or the last lines of numbers."""
    for mark in _from_last(_MARK, text):
        before, opening, _ = text[mark.end() :].partition("[")
        if opening and not _has_alnum(before):
            return _read_list(_enclosed(text[mark.end() :], "[]")[0])
        if numbers := _line_of_numbers(_place(text, mark).strip(_EDGES + "{}:.\n")):
            return numbers
    if "[" in text:
        return _read_list(_enclosed(text, "[]")[-1])
    lines = [line for line in text.splitlines() if _has_alnum(line)]
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
