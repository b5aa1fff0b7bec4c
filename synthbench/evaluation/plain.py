r"""Text without TeX, with digits, dashes and blanks of every script as ASCII.

\textcolor{red}{36} \equiv ６ \pmod{10}    becomes    36 ≡ 6  mod 10
"""

from __future__ import annotations

import functools
import re
import unicodedata

#: Commands of which an argument, or all that they have, is not shown.
_HIDDEN = re.compile(
    r"\\(?:fcolorbox\s?\{[^{}]*\}|textcolor|color(?:box)?)\s?(?:\[[^][{}]*\]\s?)?\{[^{}]*\}"
    r"|\\(?:[hv]?phantom|[hv]space|label|tag)\*?\s?\{[^{}]{0,999}\}"
    r"|\\(?:begin|end)\s?\{\w{1,20}\*?\}(?:\{[lcr| ]*\})?|\\[hc]line\b(?:\{[\d-]*\})?"
)
#: Commands of TeX for each sign. Any other is a word, which no value has.
_NAMES = {
    "*": "times cdot ast", "/": "div", "÷": "frac dfrac tfrac", "√": "sqrt", "±": "pm",
    "→": "to implies mapsto longmapsto", "←": "leftarrow Leftarrow longleftarrow",
    "↑": "uparrow Uparrow", "↓": "downarrow Downarrow", "≈": "approx", "≡": "equiv cong",
    "∴": "therefore", "°": "circ degree", " mod ": "mod bmod pmod", "<": "lt", ">": "gt",
    "(": "lbrack lparen langle {", ")": "rbrack rparen rangle }", "…": "dots ldots cdots",
    " ": ", ; : ! \\ [ ] ( ) quad qquad thinspace",
}  # fmt: skip
_SIGNS = {name: sign for sign, names in _NAMES.items() for name in names.split()}
#: Commands that show what is in their braces.
_SHOWN = re.compile(
    r"(?:text|math)[a-z]*|[mhf]?box|(?:make|frame|b|oval|double|shadow)box|[bB]oxed|operatorname|bm|num"
    r"|(?:under|over)line|boldsymbol|bold|pmb|emph|bf(?:series)?|it|rm|left|right|[bB]igg?[lr]?"
    r"|strut|smash|(?:display|script)style|ensuremath|small|[lL]arge|[hH]uge|color(?:box)?|hfill"
)
#: Characters that look like another, behind that.
_LOOKS = (
    "--−➖⁻₋˗⁃─⎯\u00ad", "'’‘ʼ´′‛", '"“”„«»「」『』', ",、،٬，‚", ".。．٫", "→⮕▶", "←←⇐", "↑↑⇑",
    "↓↓⇓", "(⟨〈", ")⟩〉", "+➕", "/➗", "\n\u2028\u2029\u0085",
)  # fmt: skip
_ALIKE = {sign: looks[0] for looks in _LOOKS for sign in looks}
_KINDS = {"Pd": "-", "Zs": " ", "Cf": "", "Mn": "", "Me": ""}  # dashes, blanks, without width
_OTHER = re.compile(r"[^\x00-\x7f]")
_TAG = re.compile("(?i)</?(?:b|i|em|strong|code|span)>")
_COMMAND = re.compile(r"\\([a-zA-Z]+|.)\s?", re.DOTALL)
#: A sign between groups of digits. A blank of TeX, which else is around words struck out.
_GROUP, _TIE = re.compile(r"\{([,' ~])\}"), re.compile(r"(?<=\w)~(?=\w|\Z)")


def plain(text: str) -> str:
    """A text without TeX's and inline markup, with ASCII digits, dashes, blanks and quotes."""
    text = _GROUP.sub(r"\1", _TAG.sub("", text)).replace(",\\!", ",")
    if "\\" in text or "^{" in text:
        text = _COMMAND.sub(_sign, _HIDDEN.sub("", text)).replace("{", "").replace("}", "")
    text = _TIE.sub(" ", text)
    return text if text.isascii() else _OTHER.sub(lambda sign: _ascii(sign[0]), text)


def _sign(command: re.Match[str]) -> str:
    name = command[1]
    if _SHOWN.fullmatch(name):
        return ""
    if name.lower().endswith("rightarrow"):
        return "→"
    return _SIGNS.get(name, f" {name} " if name.isalpha() else name.strip() or " ")


@functools.lru_cache(maxsize=4096)
def _ascii(sign: str) -> str:
    kind, digit, code = unicodedata.category(sign), unicodedata.decimal(sign, None), ord(sign)
    if sign in _ALIKE or digit is not None:
        return _ALIKE[sign] if digit is None else str(digit)
    if kind in _KINDS:
        return _KINDS[kind]
    if 0x2190 <= code <= 0x21FF or 0x2794 <= code <= 0x27BE or 0x27F0 <= code <= 0x297F:
        return "→"
    if kind == "So" and (0x2600 <= code <= 0x27BF or code >= 0x1F300):  # emoji
        return ""
    return chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else sign
