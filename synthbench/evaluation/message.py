r"""The message of a reply: its text without thoughts, special tokens and made-up further turns.

    <think>Is it 3?</think>Answer: 7<|im_end|>                          Answer: 7
    <|channel|>analysis<|message|>Is it 3?<|channel|>final<|message|>7  7
    <think>It gives 7                                                   no message

Sources: the reasoning parsers of vLLM, SGLang and llama.cpp, and the chat templates of the models.
"""

from __future__ import annotations

import itertools
import re

#: Words that open or close thoughts, and the tags that they become.
_PHRASES = (
    (r"\bhere(?:'s| is) my thought process:", "<thought>"),  # Granite 3
    (r"\bhere(?:'s| is) my response:", "</thought>"),
    (r"\bhere are my reasoning steps:", "<reasoning>"),  # Apriel
    (r"^thinking\.\.\.$", "<think>"),  # Ollama
    (r"^\.{3}done thinking\.$", "</think>"),
    (r"\Aanalysis(?=we|the|i|let|so|user|need|to|first|it|this)", "<analysis>"),  # gpt-oss
    (r"assistantfinal", "</analysis>"),
    (r"to=self\s?<\|message\|>", "<inner>"),  # Muse
    (r"to=user\s?<\|message\|>", "</inner>"),
)
_PHRASE = re.compile("|".join(f"({phrase})" for phrase, _ in _PHRASES), re.I | re.MULTILINE)
#: Such words at the beginning of a line or text.
_AT_LINE = r"here(?:'s| is| are) my |thinking\.\.\.|\.{3}done thinking"
_CUES = re.compile(rf"\n[ \t>*_#]{{0,9}}(?:{_AT_LINE})")
_AT_START = re.compile(rf"analysis|\s*(?:{_AT_LINE})")
#: Special tokens with a role behind them, which open or close thoughts: gpt-oss, Gemma, Kimi, s1.
_OPEN = (
    r"\|(?:channel\|?|open\||im_start\|)>\s?(?:analysis|commentary|think(?:ing)?|thought)\b"
    r"(?:\s?<\|sep\|>)?"
)
_CLOSE = (
    r"\|channel\|>\s?final.{0,60}?<\|message\|>|channel\|>|\|close\|>\s?think\s?<\|sep\|>"
    r"|\|im_start\|>\s?answer\b|\|begin\|>\s?assistant\s?<\|content\|>|begin final response>"
)
#: Names of tags around thoughts. An opening and a closing belong together if they share the stem.
_STEMS = (
    r"think|thought|reason|reflect|scratch_?pad|analy[sz]|monologue|rationale|deliberat|brainstorm"
    r"|ponder|inner|internal|critique|(?<![^\W_])(?:cot|plan(?:ning)?|work(?:ing)?|steps?)(?![^\W_])"
    r"|draft|hidden|思考|details(?=\s+type=.reason|(?<=/details)>)"  # Open WebUI
    r"|unused(?:1(?=[67])|9(?=[45]))"  # Pangu, MedGemma
)
#: Such a tag: `<think>`, `</seed:think>`, `[THINK]`, `◁think▷`, `<|begin_of_thought|>`.
_TAG = (
    rf"\s?\|?/?\|?[\w:.▁|-]{{0,40}}?(?P<stem>{_STEMS})[\w:.▁|-]{{0,30}}(?:\s[^<>\n]{{0,99}})?\|?>"
)
_ENDS = re.compile(
    r"(?<![^\W_])(?:end(?:of\w+)?|stop|close|suffix|unused17|unused95)(?![^\W_])|^.\|?/"
)
#: Tags around a whole answer or its lines, which say nothing.
_WRAPPER = (
    r"/?(?:response|output|solution|final|conclusion|message|reply|result|[uo]l|li|p|div|br\s?/?)>"
)
#: Special tokens, also cut at the end of the text, which end the turn outside of thoughts.
_SPECIAL = (
    r"\|[^<>\n]{1,60}\|>|\|[\w▁|]{0,40}\Z|/s?\Z|[/\\]?s>|/?(?:\w{1,9}:)?(?:bos|eo[admopst]|pad|unk|sep"
    r"|cls|endoftext|(?:start|end)_of_(?:turn|text|sentence|message|utterance)|_(?:user|bot|end)"
    r"|role|end|stop|(?:extra_id|special|reserved|tokens_unused)_\d+)(?:_token)?>|\|?turn\|?>|<?/?sys>>?|[be]~<|/?inst>|/?system_prompt>"
    r"|end final response>"
)
#: All of these in angle brackets.
_EVENTS = re.compile(
    rf"<(?!/?answer>|\d)(?:(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<tag>{_TAG})"
    rf"|(?P<wrapper>{_WRAPPER})|(?P<special>{_SPECIAL}))"
)
_ANGLES = tuple(zip("◁《【▷》】｜", "<<<>>>|", strict=True))
#: Those of them that are written in square brackets.
_SQUARE = re.compile(
    r"\[(?:/?(?:think|thought|reason)[^\s\]]*|unused\d\d|/?inst|/?system_prompt|end|eos|bos|pad|sep|cls"
    r"|/s|(?:begin|end) final response)\]|\[(?:[be]~|\|)"
)
#: The model's role, behind a special token that begins its turn.
_ROLE = re.compile(r"\s*(?:assistant|model|bot|gpt|final|response\b(?=<))\b[ \t]*:?")
#: The token that begins a turn of the user.
_USER = re.compile(r"<[^<>\n]{0,60}?(?:>\s*)?(?:user|human|inst)\b")
#: Around an opening that is only mentioned.
_MENTION = re.compile(r"(?:[\w,] |[`'\"(])\Z"), re.compile(r"[`'\").,]| \w")
#: A line that begins another turn or question, or thoughts in words.
_TURN = re.compile(
    r"\n[ \t>*_#<\[]{0,9}(?=[.nasuhqpiec]|t[ae]|thinki)"
    r"(?:(?:(?:next|new|another|second) (?:list|row)|(?:(?:next|new|another|second) )?(?:user|human"
    r"|question|query|prompt|problem|instructions?|assistant|system|input|expression|exercise|example|task|puzzle|test|case|q|ai))(?![a-z])"
    r"(?: (?:message|query|input|prompt))?[ \t]{0,2}(?:#?\d{1,4})?[\]>*_ \t]{0,6}"
    rf"(?:[:：]|(?<=[\]>])|(?<=\d)\.|(?=\n))|{_AT_LINE})"
)


def lowered(text: str) -> str:
    """A text in small letters, each at its position."""
    return text.replace("İ", "I").lower()


def read_message(text: str) -> list[str] | None:
    """Find the message in the text of a language model.

    Returns:
        The message, split before each line that begins another turn or question. The first part
        that states an answer has the reply's answer: a model may restate the question before, and
        make up others afterwards. None if the reply ends within its thoughts.

    Example:
        >>> from synthbench.evaluation.message import read_message
        >>> read_message("[THINK]Is it 3?[/THINK]Answer: 7</s>")
        ['Answer: 7']
        >>> read_message("<reasoning>It gives 7") is None
        True
    """
    parts = read_parts(text)
    return None if parts is None else [part for part, _ in parts]


def read_parts(text: str) -> list[tuple[str, str]] | None:
    """The parts of `read_message`, each with its text in small letters."""
    small = lowered(text)
    turn = _TURN.search(small)
    has_role = "=" in small and "to=" in small
    if has_role or (turn and _CUES.search(small)) or "antfinal" in small or _AT_START.match(small):
        text = _PHRASE.sub(lambda phrase: _PHRASES[(phrase.lastindex or 0) - 1][1], text)
        small = lowered(text)
    if "<" in small or "[" in small or not small.isascii():
        if (spans := _spans(small)) is None:
            return None
        if spans != [(0, len(text))]:
            text = "\n".join(text[start:end] for start, end in spans)
            small = lowered(text)
            turn = _TURN.search(small)
    if turn is None:
        return [(text, small)]
    starts = [0, *(turn.start() for turn in _TURN.finditer(small)), len(text)]
    return [(text[start:end], small[start:end]) for start, end in itertools.pairwise(starts)]


def _spans(small: str) -> list[tuple[int, int]] | None:
    """Spans of a text outside of thoughts, up to the end of the turn. None if they never close."""
    angled = small.replace("[", "<").replace("]", ">")
    for sign, angle in () if small.isascii() else _ANGLES:
        angled = angled.replace(sign, angle)
    spans: list[tuple[int, int]] = []
    opened, start, thought, ended = 0, 0, "", False
    for event in _EVENTS.finditer(angled):
        begin, end = event.span()
        if small[begin] == "[" and not _SQUARE.match(small, begin):
            continue
        kind, stem = event.lastgroup, event["stem"] or "role"
        if event["stem"]:
            if event[0].endswith("/>"):
                continue
            kind = "close" if _ENDS.search(event[0]) else "open"
        if thought:
            if kind == "close" and stem in (thought, "role"):
                start, thought = end, ""
        elif kind == "close":
            if stem != "details":  # the prompt has the opening
                spans.clear()
                start, ended = end, False
        elif kind == "open" and ended:
            break
        elif not angled[start:begin].strip() and not spans and kind == "special":
            role = _ROLE.match(angled, end)
            start = role.end() if role else end
        else:
            if not ended and angled[start:begin].strip():
                spans.append((start, begin))
            start = end
            if kind == "open":
                opened, thought = begin, stem
            elif kind == "special":
                ended = True
                if _USER.match(angled, begin):
                    break
    if thought:
        before, behind = _MENTION
        is_mentioned = before.search(angled, max(0, opened - 2), opened) and behind.match(
            angled, start
        )
        return spans if is_mentioned else None
    return spans if ended else [*spans, (start, len(small))]
