"""Answers that a text corrects or takes back: "6. Wait, 7." and "6. No, that is wrong."."""

from __future__ import annotations

import re

from synthbench.evaluation.answer_terms import (
    Term,
    find_terms,
    is_set_aside,
    no_answer,
    settled_at,
)
from synthbench.evaluation.answer_words import AnswerWords

#: Announces that an answer is corrected.
CORRECTION = re.compile(
    r"\b(?=[wacorhimsneuf])(?:wait|actually|correct(?:ion|ed)|oops|sorry|apologi\w+|hmm+|rather|instead"
    r"|nope|(?:wrong|incorrect)(?!\ (?:answer|result|value)\s*(?:[:=]|is|was|would))|mis\w+"
    r"|updated?|revised|re-?(?:check|evaluate)|never\ mind|forget\ that"
    r"|i\ mean|make\ (?:that|it)|(?:scratch|strike)\ that|second\ thought"
    r"|no(?=\s*[,:;.!–—-]|\ wait)|edit|hold\ on|correct\ (?:that|it|this|myself))\b"
    r"|更正|不对|不(?=\s*,)|いや|아니",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:that|this|it|which)(?:['’]s|\ is|\ was)\ (?:wrong|incorrect|not\ (?:right|correct)|false"
    r"|a\ mistake)\b|\b(?:scratch|strike|forget)\ that\b|\btake\ (?:that|it)\ back\b",
    re.IGNORECASE,
)
#: A sentence up to its answer, if it says no more than what the answer is: "Then it should be".
_STATES = re.compile(
    r"(?:\A|[.!?:;…\n–—-]|(?<!\d),)(?:[\W_]*\b(?:so|then|thus|hence|therefore|it|that|this|the|final|correct"
    r"|right|actual|answer|result|value|number|is|s|was|be|should|must|would|will|have|been|i|we|my"
    r"|mean|meant|get|got|makes?|said|say|to|now|no|not|wait|sorry|oops|hmm+|ah|oh|actually|in|fact"
    r"|rather|think|instead|equals|comes|gives|correction|yes|and|but|a|mistake|made|是|应该是)\b)*[\W_]*\Z",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"[\s*_`$)\]}\"']*(?:です|입니다)?(?:\Z|\n|[.!;…(]|,?\s*(?:not|instead|because|since|as|now|then"
    r"|of\ course|after\ all)\b)",
    re.IGNORECASE,
)

_REST_OF_LINE = re.compile(r"[^\n]*")


def corrected(words: AnswerWords, text: str, settled: Term) -> Term:
    """The last term that is stated behind a correction; without one, what was settled before."""
    correction = CORRECTION.search(text, settled.end)
    if settled.value is None or correction is None:
        return settled
    terms = find_terms(words, text, correction.start())
    stated = [one for one in range(len(terms)) if is_stated(text, correction.end(), terms[one])]
    if stated:
        return settled_at(text, terms, stated[-1])
    return no_answer(settled) if not terms and _TAKEN_BACK.search(text, settled.end) else settled


def is_stated(text: str, start: int, term: Term) -> bool:
    """Whether a sentence behind `start` says no more than that a term is the answer."""
    before = text[max(start, term.start - 100) : term.start]
    if term.open or term.start < start or is_set_aside(text, term, start):
        return False
    return bool(_STATED.match(text, term.end) and _STATES.search(before))


def corrections(text: str) -> list[str]:
    """What stands behind the last ten corrections, to the end of the line, the last one first."""
    ends = [one.end() for one in CORRECTION.finditer(text)][:-11:-1]
    return [_REST_OF_LINE.match(text, end)[0] for end in ends]  # type: ignore[index]
