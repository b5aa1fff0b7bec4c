r"""Answers in running text, as language models give them, and what they are worth.

`score` and `evaluate` read a prediction strictly: `7`, but not "the answer is 7". Here the one
answer that a text settles on is looked for, in this order:

1. Thoughts (`<think>...</think>`) do not count; a text that never ends them has no answer.
2. The last place that calls itself the answer decides: `\boxed{7}`, `<answer>7</answer>`,
   `#### 7`, "the answer is 7", "Answer: 7".
3. Where there is none, the last number (or name of a class) of the text decides.

What decides is then read strictly. Nothing is searched for that would fit: a text that ends in 18
does not answer 8, and one that offers "7 or 8", "7.5", "-7" or "3 + 4" gives no answer at all.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from synthbench.features import label_names
from synthbench.registry import make_task
from synthbench.tasks.base import Task

LABEL = "label"


def answer_writer(task: Task) -> Callable[[Any], str]:
    """A function that writes a label as an answer: a class by its name, numbers as JSON.

    What it writes is found again by `find_answer`.

    Example:
        >>> from synthbench.answers import answer_writer
        >>> from synthbench.registry import make_task
        >>> answer_writer(make_task("ctl"))(5)
        '101'
    """
    names = label_names(task.columns.get(LABEL, {}))
    return json.dumps if names is None else names.__getitem__


def find_answer(task: Task, text: str) -> Any:
    """The answer that a text gives.

    Args:
        task: the task, which says what answers look like.
        text: what a language model wrote.

    Returns:
        The answer in a form that `score` and `evaluate` read: a number or a name as text, several
        numbers as nested lists. None if the text gives no answer, or more than one.

    Example:
        >>> from synthbench.answers import find_answer
        >>> from synthbench.registry import make_task
        >>> task = make_task("arithmetic")
        >>> find_answer(task, "First I get 3, then 8. **The answer is 7.**")
        '7'
        >>> find_answer(task, "It is 7 or 8.") is None
        True
    """
    text = _THOUGHTS_END.split(text)[-1]
    if _THOUGHTS_BEGIN.search(text):
        return None
    feature = task.columns.get(LABEL)
    if feature is None or isinstance(feature, list):
        return _find_numbers(text)
    return _find_word(text, tuple(label_names(feature) or ()))


def score_answer(answer: str | None, entry: Mapping[str, Any], task: str | Task) -> float:
    r"""What an answer in running text is worth: a reward for reinforcement learning.

    Args:
        answer: what a language model wrote; None for nothing.
        entry: the row as plain values, with the columns that its answer is judged by.
        task: the task's name, or the task itself where variant, parameters or seed matter.

    Returns:
        The task's first metric: for tasks with classes 1.0 or 0.0, with nothing in between.

    Raises:
        UsageError: an unknown task.
        KeyError: a row without one of these columns.

    Example:
        >>> from synthbench.answers import score_answer
        >>> row = {"text": "((4*7)+2)", "label": 0}
        >>> score_answer(r"So it is $\boxed{0}$.", row, "arithmetic")
        1.0
        >>> score_answer("So it is 10.", row, "arithmetic")
        0.0
    """
    if isinstance(task, str):
        task = make_task(task)
    return task.score(entry, None if answer is None else find_answer(task, answer))


# Where an answer stands.

_THOUGHTS = "think|thinking|thought|thoughts|reasoning"
_THOUGHTS_BEGIN = re.compile(rf"<(?:{_THOUGHTS})>", re.IGNORECASE)
_THOUGHTS_END = re.compile(rf"</(?:{_THOUGHTS})>", re.IGNORECASE)
_MARK = re.compile(
    r"""(?P<brace> \\(?:boxed|fbox)\s*\{)
    |   (?P<tag> <answer>)
    |   \#{4}(?=\W{0,20}\d)
    |   \banswer\b ["'*_`)\]]* \s* (?:[:=→]|->|(?:is|was|(?:must|should|would|will)\ be)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TAG_END = re.compile(r"</answer>", re.IGNORECASE)
_LINE = re.compile(r"[\W_]*[^\n]*")
#: How far an answer may be from the words that announce it, in characters.
_REACH = 1_000
#: So many announcements are looked at, from the last one back.
_MOST_PLACES = 10


def _places(text: str) -> Iterator[str]:
    """What stands where a text says that its answer stands, the last such place first."""
    for mark in [*_MARK.finditer(text)][: -_MOST_PLACES - 1 : -1]:
        rest = text[mark.end() : mark.end() + _REACH]
        if len(rest) == _REACH:
            rest = rest.rpartition(" ")[0]  # what is cut in two is left out
        if mark["brace"]:
            yield _closed(rest)
        elif mark["tag"]:
            yield _TAG_END.split(rest)[0]
        else:
            yield _LINE.match(rest)[0]  # type: ignore[index]  # it always matches


def _closed(rest: str) -> str:
    """The text up to the brace that closes one opened before it."""
    depth = 1
    for at, character in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if not depth:
            return rest[:at]
    return rest


# Numbers, and names of classes.

# A number with all that hangs on it: 7, -7, 1,000; also 7.5, 7/8, 7th and 1e3, which are no whole
# numbers and are not read as their parts.
_NUMBER = r"(?<![^\W_])(?<![^\W_]\.)[-−]?(?:(?<!\.)\.)?\d[^\W_]*(?:[-−.,:/%^]+[^\W_]+)*%?"
_WHOLE = re.compile(r"(\d+|\d{1,3}(?:,\d{3})+)(?:\.0+)?", re.ASCII)
_MARKUP = r"[\s*_`$\"'()\[\]{}\\]*"
#: Between two words of which only one can be the answer.
_OR = re.compile(rf"{_MARKUP}(?:or|and|[,;/|&]){_MARKUP}|[ \t]+", re.IGNORECASE)
#: Before a word that is part of a calculation, or ruled out.
_BEFORE = re.compile(
    r"(?:[+×·÷^/≠]|!=|\}\{|[\d)\]]\s*[-−*]|\b(?:not|nor|than)\b\W*|n['’]t\b\W*)\s*\Z", re.IGNORECASE
)
#: Behind a word with which a calculation only begins, or that is doubted or ruled out.
_BEHIND = re.compile(
    r"\s*(?:[+×·÷^/=?]|[-−*]\s*[\d(]|mod\b)"
    rf"|{_MARKUP}(?:is|was)(?:n['’]t|\s+(?:not|wrong|incorrect))\b",
    re.IGNORECASE,
)


def _find_word(text: str, names: tuple[str, ...]) -> str | None:
    """The number or the name that decides, None if there is none, or not just one."""
    pattern = word_pattern(names)
    for place in _places(text):
        if words := list(pattern.finditer(place)):
            return _read_word(_announced(place, words), names)
    words = list(pattern.finditer(text))
    return _read_word(_alone(text, words, len(words) - 1), names) if words else None


@functools.lru_cache(maxsize=64)
def word_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """What an answer looks like: one of the names that are no numbers, or a number as a whole."""
    named = sorted((name for name in names if not name.isdigit()), key=len, reverse=True)
    words = [rf"(?<![^\W_]){re.escape(name)}(?![^\W_])" for name in named]
    return re.compile("|".join([*words, _NUMBER]), re.IGNORECASE)


def _announced(place: str, words: Sequence[re.Match[str]]) -> str | None:
    """The answer where a text says that it stands: the first word, or else the only one."""
    at_once = not any(one.isalnum() for one in place[: words[0].start()])
    if at_once and (answer := _alone(place, words, 0)):
        return answer
    # Of a calculation, what it comes to.
    words = [word for word in words if word.start() > place.rfind("=")]
    several = len({word[0] for word in words}) != 1
    return None if several else _alone(place, words, 0)


def _alone(text: str, words: Sequence[re.Match[str]], index: int) -> str | None:
    """One of a text's words, None where it is part of a calculation, ruled out, or one of two."""
    word = words[index]
    if _BEFORE.search(text[max(0, word.start() - 20) : word.start()]):
        return None
    if _BEHIND.match(text, word.end()):
        return None
    for one, other in itertools.pairwise(words[max(0, index - 1) : index + 2]):
        if one[0] != other[0] and _OR.fullmatch(text, one.end(), other.start()):
            return None
    return word[0]


def _read_word(word: str | None, names: Sequence[str]) -> str | None:
    """A number without signs of its grouping, or the name of a class as the class has it."""
    if word is None:
        return None
    if whole := _WHOLE.fullmatch(word):
        return whole[1].replace(",", "")
    return next((name for name in names if name.casefold() == word.casefold()), None)


# Several numbers.

_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)


def _find_numbers(text: str) -> Any:
    """The last list of numbers in brackets, or else the last lines with nothing but numbers."""
    if "[" in text:
        try:
            return json.loads(_last_list(text))
        except (ValueError, RecursionError):
            return None
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("```")]
    table = itertools.takewhile(bool, map(_line_of_numbers, reversed(lines)))
    return list(table)[::-1] or None


def _line_of_numbers(line: str) -> list[float]:
    """The numbers of a line; none if there is anything else in it."""
    words = re.sub(r"[|,;]", " ", line).split()
    return [float(word) for word in words] if all(map(_PLAIN_NUMBER.fullmatch, words)) else []


def _last_list(text: str) -> str:
    """The last list in brackets, with all that is in it; empty if one is not closed."""
    depth, start = 0, 0
    found = ""
    for bracket in re.finditer(r"[\[\]]", text):
        if bracket[0] == "[":
            start = start if depth else bracket.start()
            depth += 1
        elif depth:
            depth -= 1
            found = "" if depth else text[start : bracket.end()]
    return "" if depth else found
