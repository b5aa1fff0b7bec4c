r"""Text without TeX, with digits, dashes and blanks of every script as ASCII.

\textcolor{red}{36} \equiv ６ \pmod{10}    becomes    36 ≡ 6  mod 10
"""

from __future__ import annotations

import re
import unicodedata

#: Commands of which an argument, or all that they have, is not shown.
_HIDDEN = re.compile(
    r"\\fcolorbox\s?\{[^{}]{0,99}\}\s?\{[^{}]{0,99}\}"
    r"|\\(?:textcolor|color|colorbox)\s?(?:\[[^\[\]{}]{0,40}\]\s?)?\{[^{}]{0,99}\}"
    r"|\\(?:[hv]?phantom|[hv]space|label|tag)\*?\s?\{[^{}]{0,999}\}"
    r"|\\(?:begin|end)\s?\{\w{1,20}\*?\}(?:\{[lcr| ]*\})?"
    r"|\\(?:[hc]line|(?:top|mid|bottom)rule)(?![a-z])(?:\{[\d-]{1,9}\})?"
)
#: Commands as signs. Any other is a word, which no value has.
_SIGNS = {
    **{
        "times": "*",
        "cdot": "*",
        "ast": "*",
        "div": "/",
        "frac": "÷",
        "dfrac": "÷",
        "tfrac": "÷",
        "sqrt": "√",
    },
    **dict.fromkeys(("to", "implies", "mapsto", "longmapsto"), "→"),
    **{"equiv": "≡", "cong": "≡", "approx": "≈", "pm": "±", "therefore": "∴", "circ": "°"},
    **dict.fromkeys(("mod", "bmod", "pmod"), " mod "),
    **dict.fromkeys((*",;:! \n\\[]()", "quad", "qquad", "thinspace"), " "),
    **dict.fromkeys(("lbrack", "lparen", "langle", "{"), "("),
    **dict.fromkeys(("rbrack", "rparen", "rangle", "}"), ")"),
    **{sign: sign for sign in "%$#_&"},
    **{"lt": "<", "gt": ">", "dots": "…", "ldots": "…", "cdots": "…", "degree": "°"},
}
#: Commands that show what is in their braces.
_SHOWN = re.compile(
    r"(?:text|math)[a-z]*|[mhf]?box|(?:make|frame|b|oval|double|shadow)box|[bB]oxed|operatorname|bm|num"
    r"|(?:under|over)line|boldsymbol|bold|pmb|emph|bf(?:series)?|it|rm|left|right|[bB]igg?[lr]?"
    r"|strut|smash|(?:display|script)style|ensuremath|small|[lL]arge|[hH]uge|color(?:box)?|hfill"
)
_COMMAND = re.compile(r"\\([a-zA-Z]+|.)\s?", re.DOTALL)
#: A sign between groups of digits.
_GROUP = re.compile(r"\{([,' ])\}")
#: A blank of TeX. Elsewhere the sign is around what is struck out.
_TIE = re.compile(r"(?<=\w)~(?=\w|\Z)")


def plain(text: str) -> str:
    """A text without TeX's markup, with ASCII digits, dashes, blanks and quotes."""
    if "{" in text or "\\" in text:
        text = _GROUP.sub(r"\1", text).replace(",\\!", ",")
    if "\\" in text or "^{" in text:
        text = _COMMAND.sub(_sign, _HIDDEN.sub("", text)).replace("{", "").replace("}", "")
    if "~" in text:
        text = _TIE.sub(" ", text)
    return text if text.isascii() else text.translate(_PLAIN)


def _sign(command: re.Match[str]) -> str:
    name = command[1]
    if _SHOWN.fullmatch(name):
        return ""
    if name.lower().endswith("rightarrow"):
        return "→"
    return _SIGNS.get(name, f" {name} " if name.isalpha() else name)


class _Plain(dict[int, str]):
    """The reading of each character."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind, digit = unicodedata.category(character), unicodedata.decimal(character, None)
        if digit is not None:
            character = str(digit)
        elif kind in ("Pd", "Zs"):
            character = "-" if kind == "Pd" else " "
        elif kind in ("Cf", "Mn", "Me"):  # without width: joiners, marks, a key's cap
            character = ""
        elif 0x2190 <= code <= 0x21FF or 0x2794 <= code <= 0x27BE or 0x27F0 <= code <= 0x297F:
            character = "→"
        elif 0xFF01 <= code <= 0xFF5E:
            character = chr(code - 0xFEE0)
        self[code] = character
        return character


_PLAIN = _Plain()
for _signs, _one in (("−➖⁻₋˗⁃─⎯\u00ad", "-"), ("’‘ʼ´′‛", "'"), ("“”„«»「」『』", '"'),
                     ("、،٬，‚", ","), ("。．٫", "."), ("⮕▶", "→"), ("⇐", "←"), ("⇑", "↑"),
                     ("⇓", "↓"), ("⟨〈", "("), ("⟩〉", ")"), ("➕", "+"), ("➗", "/"),
                     ("\u2028\u2029\u0085", "\n")):  # fmt: skip
    _PLAIN.update(dict.fromkeys(map(ord, _signs), _one))
