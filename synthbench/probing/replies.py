"""Answers as people write them, and wrong answers, for scorers.

| form | reads | example |
| --- | --- | --- |
| bare | reply, answer | 1234 |
| blanks | reply, answer | a space before it and a line break behind it |
| sign | reply, answer | +1234, and a true minus sign before a negative number |
| digit groups | reply, answer | 1,234 |
| capitals | reply, answer | YES |
| full stop | reply, answer | 1234. |
| answer tag, box, bold, four hashes, sentence, code block | reply | `<answer>1234</answer>` |
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

from synthbench.probing.columns import answer_key

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?")
#: The last digits of a long whole number, in which its near miss differs.
_DIGITS = 9
#: The most answers that are given all at once.
_AT_ONCE = 20


@dataclasses.dataclass(frozen=True)
class ReplyForm:
    """A form of the right answer.

    Attributes:
        name: its name, for people.
        write: the form of an answer; None if this answer does not have it.
        in_reply: whether only a reply has this form, not an answer that was taken out of a reply.
    """

    name: str
    write: Callable[[str], str | None]
    in_reply: bool = False


def _sign(answer: str) -> str | None:
    if not _NUMBER.fullmatch(answer) or answer.startswith("+"):
        return None
    return f"\N{MINUS SIGN}{answer[1:]}" if answer.startswith("-") else f"+{answer}"


def _groups(answer: str) -> str | None:
    whole = re.fullmatch(r"[+-]?[0-9]{4,}", answer)
    return f"{int(answer):,}" if whole and str(int(answer)) == answer else None


def _capitals(answer: str) -> str | None:
    return answer.upper() if answer.upper() != answer else None


BARE, BLANKS = "bare", "blanks"
#: The forms in which people write a right answer, first the answer itself.
FORMS = (
    ReplyForm(BARE, lambda answer: answer),
    ReplyForm(BLANKS, lambda answer: f" {answer}\n"),
    ReplyForm("sign", _sign),
    ReplyForm("digit groups", _groups),
    ReplyForm("capitals", _capitals),
    ReplyForm("full stop", lambda answer: f"{answer}." if answer[-1:].isalnum() else None),
    ReplyForm("answer tag", lambda answer: f"<answer>{answer}</answer>", True),
    ReplyForm("box", lambda answer: f"So it is \\boxed{{{answer}}}.", True),
    ReplyForm("bold", lambda answer: f"It is **{answer}**.", True),
    ReplyForm("four hashes", lambda answer: f"I have checked it.\n#### {answer}", True),
    ReplyForm("sentence", lambda answer: f"The answer is {answer}.", True),
    ReplyForm("code block", lambda answer: f"```\n{answer}\n```", True),
)

#: Wrong answers by their names, in the order of the report.
WRONG_ANSWERS = ("another row's", "empty", "question", "all at once", "near miss")


def wrong_answers(question: str, answer: str, answers: list[str]) -> dict[str, str]:
    """The wrong answers to a question, by name.

    Args:
        question: the question.
        answer: its right answer.
        answers: the right answers of several rows.
    """
    others = [other for other in answers if answer_key(other) != answer_key(answer)]
    wrong = {"empty": "", "near miss": near_miss(answer)}
    if answer_key(question) != answer_key(answer):
        wrong["question"] = question
    if others:
        wrong["another row's"] = others[0]
        # The right answer in the middle, because a scorer may read the first or the last answer.
        different = [*{answer_key(other): other for other in others}.values()][:_AT_ONCE]
        half = (len(different) + 1) // 2
        after = different[half:] or different[:1]
        wrong["all at once"] = ", ".join([*different[:half], answer, *after])
    return {name: wrong[name] for name in WRONG_ANSWERS if name in wrong}


def near_miss(answer: str) -> str:
    """An answer that no tolerance makes right: another last number, or another last letter.

    A whole number becomes the next, and a negative number loses its sign. The first digit of a
    decimal changes, because a scorer may compare all but the last digits.
    """
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", answer):
        return str(int(answer) + 1 if int(answer) >= 0 else -int(answer))
    numbers = [*_DECIMAL.finditer(answer)]
    if numbers:
        last = numbers[-1]
        return f"{answer[: last.start()]}{_other_number(last[0])}{answer[last.end() :]}"
    for place in range(len(answer) - 1, -1, -1):
        if answer[place].isalnum():
            following = {"z": "y", "Z": "Y"}.get(answer[place])
            other = following or chr(ord(answer[place]) + 1)
            return f"{answer[:place]}{other}{answer[place + 1 :]}"
    return f"{answer}x"


def _other_number(number: str) -> str:
    """The next whole number, or a decimal with another first digit."""
    if number.isdigit():
        digits = str(int(number[-_DIGITS:]) + 1).zfill(len(number[-_DIGITS:]))
        return f"{number[:-_DIGITS]}{digits}"
    first = re.search("[1-9]", number) or re.search("[0-9]", number)
    assert first is not None
    other = "8" if first[0] == "9" else str(int(first[0]) + 1)
    return f"{number[: first.start()]}{other}{number[first.end() :]}"
