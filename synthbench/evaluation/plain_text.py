r"""The text that a model settled on, in plain characters: no thoughts, no markup of formulas.

<think>Is it 5?</think> \boxed{36 \equiv ６ \pmod{10}}    becomes    \boxed{36 ≡ 6  mod {10}}
"""

from __future__ import annotations

import re
import unicodedata

#: TeX's commands for signs that are read.
_SIGNS = {
    **dict.fromkeys(("times", "cdot", "ast"), "×"),
    **dict.fromkeys(("equiv", "cong"), "≡"),
    **dict.fromkeys(("to", "rightarrow", "Rightarrow", "longrightarrow", "implies", "mapsto"), "→"),
    **dict.fromkeys(("ne", "neq"), "≠"),
    **dict.fromkeys(("not", "neg", "lnot"), "¬"),
    **dict.fromkeys(("mod", "bmod", "pmod"), " mod "),
    **dict.fromkeys(("quad", "qquad", "left", "right", "big", "Big", "displaystyle"), " "),
    **dict.fromkeys((",", ";", ":", "!", " "), " "),
    **{"div": "÷", "approx": "≈", "pm": "±", "%": "%", "$": "$", "#": "#"},
}
#: A command, or one for a font other than bold; the text in its braces stays.
_COMMAND = re.compile(
    r"\\(?:(?P<font>(?:text|math|mbox|operatorname|underline)(?!bf)[a-z]*\s*(?=\{))"
    r"|(?P<sign>[a-zA-Z]+|[,;:! %$#]))"
)
_STRUCK_OUT = re.compile(
    r"~~[^~\n]{1,200}~~|<(s|del|strike)>[^<\n]{1,200}</\1>|\\(?:cancel|sout)\{[^{}\n]{1,200}\}"
)
#: Between a digit or Latin letter and a script that writes no spaces between words.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SCRIPT_CHANGES = re.compile(
    rf"(?<=[{_UNSPACED}])(?=[\da-zA-Z])|(?<=[\da-zA-Z,.:])(?=[{_UNSPACED}])"
)
#: How many characters at the end of a text are looked at first.
_END = 1500
_SPACE = re.compile(r"\s")
_THOUGHTS = "(?:think|thinking|thought|thoughts|reasoning)>"
_THOUGHTS_BEGIN = re.compile(f"<{_THOUGHTS}", re.IGNORECASE)
_THOUGHTS_END = re.compile(f"</{_THOUGHTS}", re.IGNORECASE)


def without_thoughts(text: str) -> str | None:
    """The text behind the last thoughts, `<think>...</think>`; None if they are never closed."""
    if "<" not in text:
        return text
    text = _THOUGHTS_END.split(text)[-1]
    return None if _THOUGHTS_BEGIN.search(text) else text


def split_end(text: str) -> tuple[str, str]:
    """A long text up to its end, and its end; nothing and the text if it is short."""
    space = _SPACE.search(text, len(text) - _END) if len(text) > 2 * _END else None
    return (text[: space.end()], text[space.end() :]) if space else ("", text)


def without_fonts(text: str) -> str:
    r"""The text without TeX's commands for fonts, such as `\text`."""
    return _COMMAND.sub(lambda one: "" if one["font"] else one[0], text) if "\\" in text else text


def plain(text: str) -> str:
    """The text without what is struck out, with ASCII digits, and with signs for TeX's commands."""
    if "~~" in text or "<" in text or "\\" in text:
        text = _STRUCK_OUT.sub(" ", text)
    if "\\" in text:
        text = _COMMAND.sub(_sign, text.replace("{,}", ","))
    if not text.isascii():
        text = _SCRIPT_CHANGES.sub(" ", text.translate(_PLAIN))
    return text


def _sign(command: re.Match[str]) -> str:
    return "" if command["font"] else _SIGNS.get(command["sign"], command[0])


class _Plain(dict[int, str]):
    """What each character is read as: digits of every script, and full-width forms, as ASCII."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            character = str(digit)
        elif 0xFF01 <= code <= 0xFF5E:
            character = chr(code - 0xFEE0)
        self[code] = character
        return character


_PLAIN = _Plain(
    {ord(one): other for one, other in zip("。、،؟٫٬İ", ".,,?.,I", strict=True)}
    # A key's cap around a digit, and characters without width.
    | dict.fromkeys([0x20E3, 0xFE0F, 0xFE0E, *range(0x200B, 0x2010), *range(0x202A, 0x202F)], "")
)
