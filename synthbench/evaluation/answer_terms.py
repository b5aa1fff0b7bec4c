r"""Join the numbers and names of a text to terms, and tell which of them cannot be its answer.

A calculation is one term, and its result is what stands alone on one side of its signs `=`, `≡` or
`→` (or "is", "equals", "which is"), the last side counts: 6 in `36 mod 10 = 6` and `6 → 7 = 3 + 4`
gives 7. `6 mod 10` is 6; `3 + 4` and `36 mod 10` have no result.
"""

from __future__ import annotations

import dataclasses
import itertools
import re

from synthbench.evaluation.answer_words import AnswerWords, Word

MARKUP = r"[\s*_`$\"'()\[\]{}\\]*"
_OPEN, _CLOSE = r"[ \t$(\[{]*", r"[ \t$)\]}]*"
#: Between two numbers of a calculation.
_OPERATION = re.compile(
    rf"{_CLOSE}(?:\+/-|[+×·÷/^±−-]|(?<=\s)\*(?=\s)|(?<![\s*])\*(?![\s*])|\}}\{{"
    rf"|(?P<modulo>%|[({{\s]*\bmod(?:ulo)?\b\}}?)|\b(?:plus|minus|times|over|point|less|more\ than"
    rf"|short\ of|to\ the\ power\ of|(?:divided|multiplied)\ by)\b){_OPEN}",
    re.IGNORECASE,
)
#: Between the sides of a calculation.
_EQUALS = re.compile(
    rf"{MARKUP}(?:=+>?|≡|→|⇒|≈|-+>|,?\s*\b(?:(?:which|that)\s+)?(?:is|equals|makes|gives|becomes|leaves"
    rf"|i\.e\.|(?:reduces|simplifies|comes)\s+to)(?:\s+(?:congruent|equivalent|equal)\s+to)?"
    rf"[ \t,]"
    rf"|,?\s*(?:也就是|就是|即|等于|つまり|すなわち|즉)){MARKUP}",
    re.IGNORECASE,
)
#: Before a number that is part of a calculation, or another number if it is read with this.
_CALCULATED = re.compile(
    r"(?:[×·÷^/±√]\s*|(?:[\d)\]}]|\b[a-z])\s*(?:[-−+]|(?<!\*)\*(?!\*))\s*|(?<!\S)\+\s+|\}\{"
    r"|\b(?:[a-z]_|(?:[a-z]|sqrt|max|min|med|sm)[({])"
    r"|\b(?:minus|negative|plus|times|twice|double|triple|half|(?:half|thirds?|quarters?|tenths?"
    r"|root|square|cube|digits?|percent|%)\s+of)\s+)[\s(\[{$]*\Z",
    re.IGNORECASE,
)
#: After a number that begins a calculation or a larger number, is doubted, or begins the question
#: again, as in "101 a b c".
_UNSETTLED = re.compile(
    r"\s*(?:[+×·÷^/=?≠±]|!=|[-−*]\s*[\d(]|\b(?:plus|minus|times|squared|cubed|factorial|per\s?cent"
    r"|hundred|thousand|million|billion|point|doubled|halved|and\s+a\s+half|(?:divided|multiplied)\s+by"
    r"|or\s+(?:more|less|fewer|so|higher|lower))\b)"
    rf"|{MARKUP}(?:(?:is|was|would\s+be)(?:n['’]t|\s+(?:not|wrong|incorrect|impossible|excluded|out))"
    r"|(?:cannot|ca\s?n['’]t)\s+be)\b|(?:[ \t]+[a-z]\b){2}"
    r"|\s*(?:では[なあ]|じゃな|[이가]\s*아[니닙])",
    re.IGNORECASE,
)
#: Before a number that is denied, or said of something else: "not 7", "modulo 10", "step 7".
_SET_ASIDE_BEFORE = re.compile(
    r"(?:≠|!=|[\w)][ \t]+[<>≤≥]=?|不[^\d\s]{0,3}是|[^\W\d_][-–]"
    r"|(?:\b(?:not|neither|nor|never|without|except|than|nicht|kein|pas|no\s+es|non\s+è|não\s+é|не|ليس)"
    r"|n['’]t)\b\W*(?:(?:be|even|exactly|quite|really|(?:equal|identical)\s+to)\b\W*)?"
    r"|\b(?:(?<!wait\s)no|(?:anything|everything|all|any\s+\w+|every\s+\w+)\s+but"
    r"|(?:different|apart)\s+from|as\s+opposed\s+to|unequal\s+to|whether\b[^.,!?\n]{0,30})"
    r"|\b(?:nearly|almost|(?:close|next)\s+to|after|before|besides|excluding|rule\s+out"
    r"|at\s+(?:least|most)|up\s+to|under|over|above|below|mod|modulo|base|from|from\s+\d+\s+to|divi(?:ded|sible)\s+by"
    r"|(?:multiples?|denominator|length|limit|instead|out|because|short|as)\s+of)"
    r"|\b(?:error|fault|exception|http|exit|status)(?:\s+(?:code|status))?\s*:?\s*\#?"
    r"|\b(?:step|code|rule|line|row|column|part|case|question|problem|example|exercise|page"
    r"|length|figure|table|position|index|section|chapter|version|level|depth|attempt|try|round"
    r"|iteration|schritt|paso|étape)s?\s*\#?|第|错误\s*"
    r")[\s*_`$\"'(\[{-]*(?:\b(?:a|an|the)\s+[\s*_`$\"'(\[{]*)?\Z",
    re.IGNORECASE,
)
#: Words that may follow an answer; any other word in the plural is what a number counts.
_GOES_ON = (
    r"(?:is|was|as|has|does|its|this|thus|always|perhaps|besides|unless|remains|follows|results|works"
    r"|fits|stays|wins|comes|seems|makes|looks|appears|means|equals|gives|an?|the|and|or|but|so|if|in"
    r"|at|by|on|to|for|of|from|with|after|because|since|when|which|that|where|it|we|i|you|they|not"
    r"|then|again|too|here|indeed|therefore|modulo|mod|let|would|had)\b"
)
_COUNTED = re.compile(
    r"[ \t*_]+(?:(?:digit|number|value|step)s?\b|(?:m?s|sec|min)\b|of\s+(?:them|these|those)\b"
    rf"|(?:(?!{_GOES_ON})[a-zà-ÿ]+\s+){{0,2}}?(?!{_GOES_ON})[a-zà-ÿ]{{2,}}(?<!ss|us|is)(?<=s)\b)"
    r"|\s*[个個步次张張回枚番개번단]",
    re.IGNORECASE,
)
#: A refusal, up to the number: "I give up, number 7".
_REFUSAL = re.compile(
    r"\b(?:give\ up|cannot|(?:ca|could|do|did|wo)n['’]t|(?:could|do|did)\ not|unable"
    r"|refuse|no\ idea|impossible|not\ possible)\b"
    r"(?:(?!\b(?:but|so|maybe|perhaps|guess|probably|i(?:['’]d)?\ say|think|is)\b)[^.!?\n=:])*\Z",
    re.IGNORECASE,
)
_OR = r"(?:and/or|or|and|vs\.?|versus|oder|ou|o|или|または|か|或者?|还是|또는|أو)"
#: Between two alternatives: "7 or 8", "a = 7 or b = 8", "7 ... maybe it is 8".
_ALTERNATIVES = re.compile(
    rf"{MARKUP}(?:{_OR}(?:\s+(?:[a-z]\s*=|an?|the|even)(?!\w))*|[,;/|&~–]|,?\s*if\s+not"
    r"|[\s.…,;]*(?:\b(?:or|and|but|if|not|it"
    rf"|could|might|may|also|even|be|wait|no|hmm|actually)\b[\s,]*)*\b(?:maybe|perhaps|possibly|else|or"
    rf"|alternatively|otherwise|be)\b,?(?:\s+(?:it|is|be|could|might|may|an?|the)\b)*){MARKUP}"
    r"|[ \t]+",
    re.IGNORECASE,
)
#: Between an answer and another that may be right as well, also in a further sentence or line.
_HEDGE = re.compile(
    r"[\s*_`$\"'()\[\]{}\\.,;:…—–-]*(?:\b(?:and/or|oder|ou|или)\b|或者?|还是|または|또는|أو"
    r"|(?:\b(?:or|but|if|not|it|this|that|could|might|may|also|even|be|no|hmm|actually)\b[\s,]*)*"
    r"\b(?:or|maybe|perhaps|possibly|else|alternatively|otherwise|(?:could|might|may)\s+be)\b)"
    rf"[\s,:]*(?:\b(?:it|is|be|could|might|may|an?|the)\b\s*)*{MARKUP}",
    re.IGNORECASE,
)
#: Between the answers to two cases, "7 if odd, 5 if even", and behind the second.
_CASE = re.compile(
    rf"{MARKUP},?\s*\b(?:if|when)\b[^.!?\n\d]{{1,40}}(?:[,;]|\b(?:and|but|or|else|otherwise)\b)"
    rf"(?:\s*\b(?:and|but|or|else|otherwise|it|is)\b,?)*{MARKUP}",
    re.IGNORECASE,
)
_OTHER_CASE = re.compile(rf"{MARKUP},?\s*\b(?:if|when|else|otherwise)\b", re.IGNORECASE)
_ELSE = re.compile(r"\b(?:else|otherwise)\b", re.IGNORECASE)
#: How far behind an answer such another is looked for.
_NEAR = 100
#: "It is", "the correct answer is".
_SUBJECT = (
    r"(?:it|this|that"
    r"|(?:the|my|an?)\s+(?:(?:final|correct|right)\s+)?(?:answer|result|value|number))"
)
_IS = r"(?:['’]s\b|\s*(?:[:=]|\b(?:is|was|equals|(?:can|could|should|would|must|to)\s+be)\b))"
#: Before what is denied, perhaps with the words that mark it as the answer: "I don't think the
#: answer is 7", "a wrong answer is 7", "≠ 7".
_DENIED_BEFORE = re.compile(
    rf"(?:≠|¬\s*=?|!=|\b(?:wrong|incorrect|false)\s+(?:answer|result|value){_IS}"
    rf"|\bI\s+(?:really\s+)?doubt(?:\s+that)?\s+{_SUBJECT}{_IS}|(?:\b(?:not|never|cannot)|n['’]t)\s+(?:really\s+)?"
    rf"(?:think|believe|suppose|guess|expect|say|claim|agree)(?:\s+that)?(?:\s+{_SUBJECT}{_IS})?)"
    r"[\s*_`$\"'(\[{]*\Z",
    re.IGNORECASE,
)
#: Between the ends of a range: "7 to 8".
_TO = re.compile(rf"{MARKUP}(?:to|through|[-–—]){MARKUP}", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Term:
    """A number, a name, or a calculation.

    Attributes:
        start, end: its place in the text.
        word: the word that it comes to; of a calculation without result, its first.
        value: the answer that it stands for; None for a number or a calculation that is no answer.
        words: how many words it has.
        open: whether it is a part of a calculation that is not carried out, or doubted.
    """

    start: int
    end: int
    word: Word
    value: str | None
    words: int
    open: bool

    @property
    def key(self) -> str:
        """A key that is equal for terms that stand for the same answer."""
        return self.value or self.word.text


def find_terms(words: AnswerWords, text: str, start: int = 0, end: int | None = None) -> list[Term]:
    """The terms of a text, or of the part from `start` to `end`, in order."""
    end = len(text) if end is None else end
    terms = []
    joined: list[Word] = []
    for word in words.find(text, start, end):
        if joined and not _joins(text, joined[-1].end, word.start):
            terms.append(_term(text, joined, start, end))
            joined = []
        joined.append(word)
    return [*terms, _term(text, joined, start, end)] if joined else []


def _joins(text: str, start: int, end: int) -> bool:
    return any(pattern.fullmatch(text, start, end) for pattern in (_OPERATION, _EQUALS))


def _term(text: str, words: list[Word], start: int, end: int) -> Term:
    """One term of words that belong together, in the part of a text from `start` to `end`."""
    first, last = words[0], words[-1]
    begins = _CALCULATED.search(text, max(start, first.start - 30), first.start) is not None
    stops = _UNSETTLED.match(text, last.end, end)
    sides = [[first]]
    for one, other in itertools.pairwise(words):
        if _EQUALS.fullmatch(text, one.end, other.start):
            sides.append([])
        sides[-1].append(other)
    results = [_result(text, side) for side in sides]
    if begins:
        results[0] = None
    if stops:
        results[-1] = None
    settled = [word for word in results if word is not None]
    trailing = stops is not None and stops[0].strip() in ("=", "≠", "!=")
    if not settled or trailing:
        return Term(first.start, last.end, first, None, len(words), open=True)
    return Term(first.start, last.end, settled[-1], settled[-1].value, len(words), open=False)


def _result(text: str, side: list[Word]) -> Word | None:
    """The number that stands alone on a side of a calculation, or reduced before its modulus."""
    if len(side) == 1:
        return side[0]
    number, modulus, *more = side
    between = _OPERATION.fullmatch(text, number.end, modulus.start)
    if more or not between or not between["modulo"]:
        return None
    values = [one.value or "" for one in side]
    if not all(value.isdecimal() and len(value) < 18 for value in values):
        return None
    return number if int(values[0]) < int(values[1]) else None


def is_set_aside(text: str, term: Term, start: int = 0) -> bool:
    """Whether a term is denied, or counts, names or describes something else: 5 in "5 digits"."""
    at = term.word.start
    if is_denied(text, at):
        return True
    if term.word.text.endswith("%") or _SET_ASIDE_BEFORE.search(text, max(start, at - 40), at):
        return True
    # Behind a sign, a noun is the unit of a result: "= 7 points".
    is_result = text[max(start, at - 9) : at].rstrip(" $*").endswith(("=", "≡", "→"))
    return not is_result and _COUNTED.match(text, term.end) is not None


def is_denied(text: str, at: int) -> bool:
    """Whether what stands at a place is denied by what marks it: "I don't think the answer is"."""
    return _DENIED_BEFORE.search(text, max(0, at - _NEAR), at) is not None


def is_refused(text: str, term: Term) -> bool:
    """Whether a term stands in a refusal to answer."""
    return _REFUSAL.search(text, max(0, term.start - 120), term.start) is not None


def has_alternative(text: str, terms: list[Term], index: int) -> bool:
    """Whether another answer stands beside a term: "7 or 8"."""
    for one, other in itertools.pairwise(terms[max(0, index - 1) : index + 2]):
        between = text[one.end : other.start]
        if one.key == other.key:
            continue
        if _HEDGE.fullmatch(between) or _is_case(text, one.end, other):
            return True
        if not _ALTERNATIVES.fullmatch(between):
            continue
        said = re.findall(r"[^\W\d_]+", between)
        if "\n\n" in between and not said:
            continue
        # Calculations may stand one behind another, and "9 and 8 is 17" is a sum.
        if one.words == other.words == 1 or said not in ([], ["and"]):
            return True
    return False


def _is_case(text: str, start: int, other: Term) -> bool:
    """Whether from `start` on another answer is given for another case: "if odd, 5 if even"."""
    between = text[start : other.start]
    if not _CASE.fullmatch(between):
        return False
    return bool(_ELSE.search(between) or _OTHER_CASE.match(text, other.end))


def hedge_end(text: str, start: int) -> int | None:
    """Where another answer may begin if the one before `start` is hedged; None if it is not."""
    hedge = _HEDGE.match(text, start)
    return hedge and hedge.end()


def is_hedged(words: AnswerWords, text: str, term: Term) -> bool:
    """Whether behind a term another answer may be right as well, perhaps in another line."""
    others = find_terms(words, text, term.end, min(len(text), term.end + 2 * _NEAR))
    if not others or others[0].value is None or others[0].key == term.key:
        return False
    other = others[0]
    between = hedge_end(text, term.end) == other.start or _is_case(text, term.end, other)
    return between and not is_set_aside(text, other)


def is_range(text: str, terms: list[Term]) -> bool:
    """Whether the first two terms are the ends of a range: "7 to 8"."""
    return len(terms) > 1 and bool(_TO.fullmatch(text, terms[0].end, terms[1].start))


def settled_at(text: str, terms: list[Term], index: int) -> Term:
    """A term; without value if it is open, or if another answer stands beside it."""
    term = terms[index]
    return no_answer(term) if term.open or has_alternative(text, terms, index) else term


def no_answer(term: Term) -> Term:
    """The term without its value."""
    return dataclasses.replace(term, value=None)
