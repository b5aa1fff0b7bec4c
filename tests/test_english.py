"""Ten patterns of translated English are counted; each count may only fall.

When a count has fallen, lower its ceiling. `python -m tests.test_english PATTERN` lists the hits.
"""

import functools
import io
import re
import sys
import tokenize

from tests.support import ROOT

#: For each pattern: the most hits allowed, and its regular expression.
PATTERNS = {
    "one as a pronoun": (
        71,
        r"\bones\b|\bone(?=[.,;:)]| (?:that|which|who|whose|is|was|has|does|without|below|above"
        r"|beside)\b)(?<!or one)(?<!than one)(?<!by one)",
    ),
    "what as a noun": (
        49,
        r"(?:^|[.;:,(] |\b(?:of|to|for|by|in|on|with|from|and|is|are|says?) )[Ww]hat (?:is|was|are"
        r"|were|a|an|the|it|they|no|has|does|this|stands|differs|follows|matters)\b",
    ),
    "is no": (119, r"\b(?:is|are|was|were|has|have) no\b|\bnone\b"),
    "stand for text": (6, r"\bstands?\b(?! for\b)"),
    "told": (5, r"\b(?:told|tells?)\b(?! apart)"),
    "nobody": (2, r"\b(?:nobody|whoever|anybody|everybody)\b"),
    "sentence begins with Of": (
        2,
        r"(?:^|[.!?:] |\n)Of (?:the|these|its|all|our|a|\d|those|test|which|two|three|each)\b",
    ),
    "has 0.37 for a score": (1, r"\b(?:has|have|had) 0\.\d"),
    "semicolon between clauses": (69, r";(?= [a-z])"),
    "docstring is a clause": (0, r"\A(?:What|How|Where|Whether|Which|Why|That|Who)\b"),
}
#: Code, tables, literals, targets of links, placeholders and tags are not prose.
MARKUP = re.compile(r"(?m)^\|.*\|$|`[^`\n]*`|\]\([^)\n]*\)|\{\{[^}\n]*\}\}|<[^>\n]{1,200}>")


def prose():
    """The text of the documentation, the cards and the pages at the root."""
    pages = [*ROOT.glob("docs/pages/**/*.md"), *ROOT.glob("cards/*.md"), *ROOT.glob("*.md")]
    for page in sorted(pages):
        text = re.sub(r"(?ms)^```.*?^```", " ", page.read_text(encoding="utf-8"))
        yield re.sub(r"(?<=[a-z,;)]) *\n(?=[A-Za-z(`*])", " ", MARKUP.sub(" ", text))


def code():
    """The comments and strings of the package; docstrings begin without a line break."""
    for path in sorted((ROOT / "synthbench").rglob("*.py")):
        before = tokenize.NEWLINE
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            body = re.sub(r"`[^`\n]*`", " ", token.string.strip("rbfRBF").strip("\"'"))
            if token.type == tokenize.COMMENT:
                yield token.string
            elif token.type == tokenize.STRING and " " in body:
                yield body if before != tokenize.OP and '"""' in token.string else f"\n{body}"
            before = token.type


@functools.cache
def _texts(of_code_alone):
    return [*code()] if of_code_alone else [*prose(), *_texts(True)]


def hits(name):
    """Each hit of a pattern, with some text around it."""
    for text in _texts(name.startswith("docstring")):
        for match in re.finditer(PATTERNS[name][1], text, re.MULTILINE):
            yield " ".join(text[max(0, match.start() - 40) : match.end() + 40].split())


def test_no_pattern_becomes_more_frequent():
    counts = {name: len([*hits(name)]) for name in PATTERNS}
    assert {name: n for name, n in counts.items() if n > PATTERNS[name][0]} == {}


if __name__ == "__main__":
    print(*hits(sys.argv[1]), sep="\n")
