r"""Find the one answer that a language model's text settles on, and score it.

`score` and `evaluate` read a prediction strictly: `7`, but not "the answer is 7". `find_answer`
searches running text. Thoughts (`<think>...</think>`) are ignored; a text that never closes them
has no answer. In the rest of the text, the first of these rules that applies decides:

1. The last place marked as the answer: `\boxed{7}`, `<answer>7</answer>`, `#### 7`,
   "the answer is 7", "Answer: 7".
2. The last line, if it holds only the answer.
3. Whichever comes last: an answer alone in bold (`**7**`), "the result is 7", or the first line,
   if it holds only the answer.
4. The last number or class name.

So a number mentioned after a marked answer changes nothing: "**7**, tell me if you want 3 more".
Numbers up to twelve may be written out, and classes may be called by a part of their name
("T-shirt" for `T-shirt/top`). What is found is then read strictly. The search never looks for a
value that would fit the label: a text that ends in 18 does not answer 8, and "7 or 8", "7.5", "-7"
and "3 + 4" give no answer at all. Neither does a number that is said of something else, as in
"a list of 5 digits", nor the question once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from synthbench.evaluation.answer_search import find_numbers, find_text, find_word
from synthbench.evaluation.answer_words import answer_words_of
from synthbench.tasks.base import LABEL, Task
from synthbench.tasks.registry import make_task

_THOUGHTS = "(?:think|thinking|thought|thoughts|reasoning)>"
_THOUGHTS_BEGIN = re.compile(f"<{_THOUGHTS}", re.IGNORECASE)
_THOUGHTS_END = re.compile(f"</{_THOUGHTS}", re.IGNORECASE)


def answer_writer(task: Task) -> Callable[[Any], str]:
    """A function that writes a label as text: a class by its name, numbers as JSON.

    `find_answer` finds what it writes.

    Example:
        >>> from synthbench.evaluation.final_answer import answer_writer
        >>> from synthbench.tasks.registry import make_task
        >>> answer_writer(make_task("ctl"))(5)
        '101'
    """
    return task.answer.write


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
        >>> from synthbench.tasks.registry import make_task
        >>> task = make_task("arithmetic")
        >>> find_answer(task, "First I get 3, then 8. **The answer is 7.** Ask me 2 more!")
        '7'
        >>> find_answer(task, "It is 7 or 8.") is None
        True
    """
    text = _THOUGHTS_END.split(text)[-1]
    if _THOUGHTS_BEGIN.search(text):
        return None
    match task.answer.answers:
        case "numbers":
            return find_numbers(text)
        case "text":
            return find_text(text)
    return find_word(text, answer_words_of(task.labels or ()))


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
    if isinstance(task, str):
        task = make_task(task)
    if answer is not None and task.answer.answers == "text" and answer.strip() == entry[LABEL]:
        return task.score(entry, entry[LABEL])
    return task.score(entry, None if answer is None else find_answer(task, answer))
