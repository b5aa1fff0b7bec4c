r"""Find the one answer that a language model's text settles on, and score it.

`score` and `evaluate` read a prediction strictly: `7`, but not "the answer is 7". `find_answer`
searches running text, by these rules:

- Thoughts (`<think>...</think>`) and what is struck out are not read; a text that never closes its
  thoughts has no answer. Digits of every script and TeX's signs are read.
- The first of these that the text has is its answer:
  1. the last place marked as the answer: `\boxed{7}`, `<answer>7</answer>`, `#### 7`, "the answer
     is 7", "Answer: 7", also in other languages (答案是7);
  2. whichever comes last: "the result is 7", or the first line, the last line or a part in bold
     (`**7**`), if it holds only the answer;
  3. the last number or class name.
- What is corrected counts: "7" in "6. Wait, 7." An answer that is taken back ("that is wrong") is
  none.
- Of a calculation, what stands alone after the last `=`, `≡` or `→` counts: 6 in `36 mod 10 = 6`.
  A calculation without a result (`3 + 4`) is no answer.
- A number that counts, names or describes something else ("6 steps", "step 6", "modulo 6", "half of
  6"), that is denied ("not 6", "I don't think it is 6") or stands in a refusal is no answer.
- Two answers are none: "7 or 8", "7. Maybe 8.".
- A label that is one number, digit by digit, is looked for as a number is. A longer sequence counts
  only where it is marked, alone in a line or in bold, or behind "is" or a sign in the last line.
- Only names of classes count, the index of a class never does. Classes may be called by a part of
  their name ("T-shirt" for `T-shirt/top`), and numbers up to twelve may be written out.

What is found is then read strictly. The search never looks for a value that would fit the label: a
text that ends in 18 does not answer 8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from synthbench.evaluation.answer_lists import find_numbers, find_sequence, find_text
from synthbench.evaluation.answer_terms import (
    Term,
    find_terms,
    has_alternative,
    is_denied,
    is_hedged,
    is_range,
    is_refused,
    is_set_aside,
    no_answer,
    settled_at,
)
from synthbench.evaluation.answer_words import AnswerWords, answer_words_of, words_of_numbers
from synthbench.evaluation.corrections import CORRECTION, corrected, is_stated
from synthbench.evaluation.marked_places import (
    Span,
    has_emphasis,
    last_bold,
    last_marked,
    last_results,
    line_at,
    may_mark,
)
from synthbench.evaluation.message import read_message
from synthbench.evaluation.plain_text import plain, split_end, without_fonts, without_thoughts
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.registry import as_task


def find_answer(
    task: Task, text: str, row: Mapping[str, Any] | None = None, *, truncated: bool = False
) -> Any:
    """The answer that a text gives.

    Args:
        task: the task, which determines what an answer looks like.
        text: the reply of a language model.
        row: the row that was asked. Its label says at which positions a sequence is not asked, and
            not read. The rest of the row is not used.
        truncated: whether the reply stopped at the limit of tokens. It then has an answer only
            where it is marked.

    Returns:
        The answer in a form that `score` and `evaluate` read: a number, a name or a sequence as
        text, several numbers as nested lists. None if the text gives no answer, or more than one.

    Example:
        >>> from synthbench.answers import find_answer
        >>> import synthbench
        >>> task = synthbench.task("arithmetic")
        >>> find_answer(task, "First I get 3, then 8. **The answer is 7.** Ask me 2 more!")
        '7'
        >>> find_answer(task, "It is 7 or 8.") is None
        True
    """
    said = without_thoughts(text)
    if truncated and not may_mark(read_message(text).text):
        return None
    if said is None:
        return None
    match task.answer.answers:
        case "numbers":
            kind = task.answer.arrow
            rows = pa.types.is_list(kind) and pa.types.is_list(kind.value_type)
            return find_numbers(plain(said), rows)
        case "text" if task.answer.vocabulary is None:
            return find_text(without_fonts(said))
        case "text" if task.answer.is_number:
            return _find_word(words_of_numbers(), said)
        case "text":
            return find_sequence(task.answer, said, None if row is None else row.get(LABEL))
    return _find_word(answer_words_of(task.labels or ()), said)


def score_answer(
    task: str | Task, row: Mapping[str, Any], answer: str | None, *, truncated: bool = False
) -> float:
    r"""Score an answer in running text; usable as a reward for reinforcement learning.

    Args:
        task: the task, or its name for the task with its defaults.
        row: the row as plain values, with the columns that its answer is judged by.
        answer: what a language model wrote; None for nothing.
        truncated: as in `find_answer`.

    Returns:
        The task's first metric: for tasks with classes 1.0 or 0.0. If labels are text, exactly
        the label always scores as right.

    Raises:
        UsageError: an unknown task.
        KeyError: a row without one of these columns.

    Example:
        >>> from synthbench.answers import score_answer
        >>> row = {"text": "((4*7)+2)", "label": 0}
        >>> score_answer("arithmetic", row, r"So it is $\boxed{0}$.")
        1.0
        >>> score_answer("arithmetic", row, "So it is 10.")
        0.0
    """
    task = as_task(task)
    is_label = answer is not None and not truncated and answer.strip() == row.get(LABEL)
    if is_label and task.answer.answers == "text":
        return task.score(row, row[LABEL])
    found = None if answer is None else find_answer(task, answer, row, truncated=truncated)
    return task.score(row, found)


#: How many characters beside a term may change what it says.
_NEAR = 100
#: Words, or a calculation without its result, in brackets: "7 (in 3 steps)", "7 (3 + 4)".
_REMARK = re.compile(
    r"\([^()\n]{0,200}?[a-zA-Z]{2}[^()\n]{0,200}\)"
    r"|(?<=\d )\(\d[^()\n=≡→]{0,200}[-+×*÷/^][^()\n=≡→]{1,200}\)"
)
#: Before an unmarked number in letters: "It is seven."
_SAID = re.compile(r"\b(?:is|get|gives|equals|makes)\b\W*\Z", re.IGNORECASE)
#: What a model offers after its answer, in its last sentence.
_OFFER = re.compile(
    r"\b(?:let me know|tell me|feel free|would you like)\b[^.!?\n]{0,200}\W{0,9}\Z", re.IGNORECASE
)


def _find_word(words: AnswerWords, said: str) -> str | None:
    """The number or class name that a text answers with; None if there is none or more than one."""
    found = _find_at_end(words, said) or _find_in(words, plain(said))
    return found.value if found else None


def _find_at_end(words: AnswerWords, said: str) -> Term | None:
    """What the end of a long text settles, if the text before can change nothing; else None."""
    head, end = split_end(said)
    if not head:
        return None
    end = plain(end)
    if found := _marked(words, end):
        return found
    if may_mark(said[: len(head) + 300]):
        return None
    end = _OFFER.sub("", end)
    if found := _alone(words, end, [_last_line(end)]):
        return corrected(words, end, found)
    if has_emphasis(head) or _alone(words, head, [line_at(head, 0)]):
        return None
    return _last(words, end)


def _find_in(words: AnswerWords, text: str) -> Term | None:
    """The term that a whole text settles on; None if it has none."""
    if found := _marked(words, text):
        return found
    text = _OFFER.sub("", text)
    if found := _alone(words, text, [line_at(text, 0), _last_line(text)]):
        return corrected(words, text, found)
    return _last(words, text)


def _last_line(text: str) -> Span:
    """The last line of a text that has a letter or digit."""
    end = len(text)
    while end > 0 and not _has_alnum(text[text.rfind("\n", 0, end) + 1 : end]):
        end = text.rfind("\n", 0, end)
    return text.rfind("\n", 0, max(end, 0)) + 1, max(end, 0)


def _has_alnum(text: str) -> bool:
    return any(map(str.isalnum, text))


# Rule 1.


def _marked(words: AnswerWords, text: str) -> Term | None:
    """The term in the last marked place that has one, or what corrects it."""
    for start, end in last_marked(text):
        terms = find_terms(words, text, start, end)
        if terms and not is_denied(text, terms[0].start):
            found = corrected(words, text, _from_mark(text, start, terms))
            return no_answer(found) if is_hedged(words, text, found) else found
    return None


def _from_mark(text: str, start: int, terms: list[Term]) -> Term:
    """The answer in a marked place: the first term, or else the only one."""
    first = terms[0]
    if is_range(text, terms):
        return no_answer(first)
    at_once = not _has_alnum(text[start : first.start])
    if at_once and not first.open and not has_alternative(text, terms, 0):
        return first
    result = max(text.rfind(sign, start, terms[-1].end) for sign in "=≡→")
    chosen = [term for term in terms if term.end > result and not is_set_aside(text, term, start)]
    if not at_once:
        chosen = [term for term in chosen if not term.word.written_out] or chosen
    if len({term.key for term in chosen}) != 1:
        return no_answer(first)
    return settled_at(text, terms, terms.index(chosen[0]))


# Rule 2.


def _alone(words: AnswerWords, text: str, lines: list[Span]) -> Term | None:
    """The term of the last line or part in bold with nothing else, or of a later result."""
    found, terms = None, []
    for span in [*lines, *last_bold(text)]:
        if span[1] - span[0] > 2 * _NEAR or (found is not None and span[0] <= found.start):
            continue
        near = find_terms(words, text, *_around(text, span))
        inner = [term for term in near if span[0] <= term.start and term.end <= span[1]]
        # In "**7**, not **3**" only 7 counts.
        if _is_alone(text, span, inner) and not is_set_aside(text, inner[0]):
            found, terms = inner[0], near
    for start, end in last_results(text):
        inner = find_terms(words, text, start, end)
        if inner and not _has_alnum(text[start : inner[0].start]):
            if found is None or start > found.start:
                return settled_at(text, inner, 0)
            break
    return found and settled_at(text, terms, terms.index(found))


def _around(text: str, span: Span) -> Span:
    """A part of a text with the words around it."""
    start, end = max(0, span[0] - _NEAR), min(len(text), span[1] + _NEAR)
    if start > 0:
        space = text.find(" ", start, span[0])
        start = span[0] if space < 0 else space
    if end < len(text):
        space = text.rfind(" ", span[1], end)
        end = span[1] if space < 0 else space
    return start, end


def _is_alone(text: str, span: Span, terms: list[Term]) -> bool:
    """Whether a part of a text is one answer and nothing else; not the number of a list item."""
    if len({term.key for term in terms}) != 1:
        return False
    ends = [span[0], *(end for term in terms for end in (term.start, term.end)), span[1]]
    around = "".join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    if _has_alnum(around):
        return False
    goes_on = text[span[1] : line_at(text, span[1])[1]].partition("\n")[0].strip(" *_")
    return not (goes_on and around.rstrip().endswith((".", ")", ":")))


# Rule 3.


def _last(words: AnswerWords, text: str) -> Term | None:
    """The last term of a text, or what corrects another in the last paragraph."""
    end = len(split_end(text)[0])
    paragraph = max(end, text.rstrip().rfind("\n\n"))
    if CORRECTION.search(text, paragraph):
        terms = find_terms(words, text, paragraph)
        first = next((term for term in terms if is_stated(text, paragraph, term)), None)
        if first and (found := corrected(words, text, first)) is not first:
            return found
    near = text.rfind(" ", 0, max(0, len(text) - 3 * _NEAR)) + 1
    for begin in (near, end, 0):
        if last := _last_of(text, find_terms(words, text, begin)):
            return last
    return None


def _last_of(text: str, terms: list[Term]) -> Term | None:
    """The last term outside of remarks in brackets that is said of nothing else."""
    begin = max(0, terms[0].start - 2 * _NEAR) if terms else len(text)
    outside = _REMARK.sub(lambda remark: " " * len(remark[0]), text[begin:])
    for index in reversed(range(len(terms))):
        term = terms[index]
        if outside[term.start - begin] == " ":
            continue
        if is_set_aside(text, term) or is_refused(text, term):
            continue
        if term.word.written_out and not _SAID.search(text, max(0, term.start - 20), term.start):
            continue
        return settled_at(text, terms, index)
    return None
