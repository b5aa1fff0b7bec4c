r"""Plain text from text that was written for a program: escapes, entities, tags, wide characters.

    {\"text\": \"3 4 7 2 =\\n\"}      ->      {"text": "3 4 7 2 =
    3&nbsp;4&#32;7&amp;nbsp;2 =       ->      3 4 7 2 =
    <td>3</td><td>4</td>              ->      |3||4|
    \[MAX 3 \\times 4\]               ->      [MAX 3 * 4 ]

The result is read for rows and never written, so a backslash that escapes nothing may go, too.
"""

from __future__ import annotations

import html
import re
import sys
import unicodedata

#: A backslash, or several where a text was quoted more than once, and the character behind it.
_ESCAPE = re.compile(
    r"\\+(?:(?P<sign>(?:times|cdot|ast)(?![A-Za-z]))"
    r"|(?:q?quad|text(?:tt|bf|it|rm|sf)?|math(?:tt|bf|it|rm|sf)|left|right)(?![A-Za-z])"
    r"|(?P<line>[nr])|(?P<tab>t)|u(?P<wide>[0-9A-Fa-f]{4})|x(?P<byte>[0-9A-Fa-f]{2})"
    r"|U(?P<long>[0-9A-Fa-f]{8})|u\{(?P<braces>[0-9A-Fa-f]{1,6})\}|(?<!\\\\)(?P<octal>[01][0-7]{2})"
    r"|(?P<arrow>-\\*>)|(?P<end>\n(?!\n)))?"
)
_ENTITY = re.compile(r"&#?\w{1,31};")
#: Tags that begin an item of a list, that end a line, that separate words, and all others, such as
#: those of cells and of XML, which separate the cells of a line.
_TAG = re.compile(
    r"<(?:/li>\s*|(?P<item>li(?:\s[^<>]*)?>)|br\s*/?>(?P<break>[^\S\n]*\n?)"
    r"|/?(?:(?P<line>p|div|tr|[uod]l|h[1-6]|table|tbody|thead|pre)"
    r"|(?P<word>a|b|i|u|s|em|strong|code|kbd|samp|tt|span|font|mark|small|su[bp]|math|m[nio]|mrow)"
    r"|(?P<cell>[a-z][\w:.-]*))(?:\s[^<>]*)?/?>(?(cell)\s*))",
    re.IGNORECASE,
)
#: A number or string of NumPy, as Python shows it in a list.
_NUMPY = re.compile(r"np\.(?:u?int\d+|str_)\(([^()]*|'[()]')\)")
#: Signs that are written in several ways, and characters without width, as spaces.
_SIGNS = {
    **dict.fromkeys("\u00d7\u00b7\u22c5\u2219\u2217", "*"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe63", "-"),
    **dict.fromkeys("\u00f7\u2044\u2215", "/"),
    **dict.fromkeys("\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", " "),
    **dict.fromkeys("\u0085\u2028\u2029", "\n"),
    "\u00b2": "^2",
}
_SIGN = re.compile(f"[{''.join(_SIGNS)}]")


def plain(text: str) -> str:
    """A text without escapes, entities, tags and wide characters."""
    if "\\" in text:
        text = _ESCAPE.sub(_escaped, text)
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(html.unescape(text))  # `&amp;nbsp;` was escaped twice
    if "</" in text or "<br" in text:
        text = _TAG.sub(_tag, text.replace("\n<li", "<li"))
    if "np." in text:
        text = _NUMPY.sub(r"\1", text)
    if ", b'" in text:  # a list of bytes
        text = text.replace(", b'", ", '").replace("[b'", "['").replace("(b'", "('")
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _SIGN.sub(lambda match: _SIGNS[match[0]], text))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _escaped(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind is None:
        return " "
    if kind == "line":
        return "\n"
    if kind == "tab":
        return "\t"
    if kind == "sign":
        return "*"
    if kind == "end":  # of a line that goes on, unless the backslash is escaped itself
        return " " if (len(match[0]) - 1) % 2 else "\n"
    if kind == "arrow":
        return "->"
    code = int(match[kind], 8 if kind == "octal" else 16)
    return " " if 0xD800 <= code <= 0xDFFF or code > sys.maxunicode else chr(code)


def _tag(match: re.Match[str]) -> str:
    kinds = {"item": "\n> ", "break": "\n", "line": "\n", "cell": "|"}
    return kinds.get(match.lastgroup or "", " ")
