r"""The message of a reply: its text without thoughts, special tokens and made-up further turns.

    <think>Is it 3?</think>Answer: 7<|im_end|>                          Answer: 7
    <|channel|>analysis<|message|>Is it 3?<|channel|>final<|message|>7  7
    <think>It gives 7                                                   no message

Sources: the reasoning parsers of vLLM, SGLang and llama.cpp, and the chat templates of the models.
"""

from __future__ import annotations

import itertools
import re

#: Words of Granite, Apriel, Ollama and gpt-oss around thoughts, and the tags that they become.
_PHRASES = {
    r"^[ \t>*_#]{0,9}here(?:'s| is| are) my (?:thought process|reasoning steps):": "<thought>",
    r"(?<![,:] )\bhere(?:'s| is) my response:": "</thought>",
    r"^[*_]{0,2}thinking\.\.\.[*_]{0,2}$": "<think>",
    r"^[*_]{0,2}\.{3}done thinking\.[*_]{0,2}$": "</think>",
    r"\Aanalysis(?=we|the|i|let|so|user|need|to|first|it|this)": "<analysis>",
    r"assistantfinal": "</analysis>",
}
_PHRASE = re.compile("|".join(f"({phrase})" for phrase in _PHRASES), re.I | re.MULTILINE)
_AT_START = re.compile(r"analysis|[\s>*_#]*(?:here|thinking)")
_EVENTS = re.compile(
    r"<(?!/?answer>|\d)(?:"
    # Special tokens with a role behind them that open or close thoughts: gpt-oss, Gemma, Kimi, s1.
    r"(?P<open>\|(?:channel\|?|open\||im_start\|)>\s?(?:analysis|commentary|think(?:ing)?|thought)\b"
    r"(?:\s?<\|sep\|>)?)"
    r"|(?P<close>\|channel\|>\s?final.{0,60}?<\|message\|>|channel\|>|\|close\|>\s?think\s?<\|sep\|>"
    r"|\|im_start\|>\s?answer\b|\|begin\|>\s?assistant\s?<\|content\|>|begin final response>)"
    # Tags around thoughts: `<think>`, `</seed:think>`, `[THINK]`, `<|begin_of_thought|>`. A closing
    # ends an opening of the same stem. `details` is Open WebUI's, `unused16` Pangu's.
    r"|\s?\|?/?\|?[\w:.▁|-]{0,40}?(?P<stem>think|thought|reason|reflect|scratch_?pad|analy[sz]"
    r"|monologue|rationale|deliberat|brainstorm|ponder|inner|internal|critique|draft|hidden|思考"
    r"|(?<![^\W_])(?:cot|plan(?:ning)?|work(?:ing)?|steps?)(?![^\W_])|unused(?:1(?=[67])|9(?=[45]))"
    r"|details(?=\s+type=.reason|(?<=/details)>))[\w:.▁|-]{0,30}(?:\s[^<>\n]{0,99})?\|?(?<!/)>"
    # Tags around a whole answer or its lines, which say nothing.
    r"|/?(?:response|output|solution|final|conclusion|message|reply|result|[uo]l|li|p|div|br\s?/?)>"
    r"|\|(?:begin|end)_of_box\|>"
    # Special tokens, also cut at the end of the text, which end the turn outside of thoughts.
    r"|(?P<special>\|[^<>\n]{1,60}\|>|\|[\w▁|]{0,40}\Z|/s?\Z|[/\\]?s>|/?(?:\w{1,9}:)?(?:bos|pad|unk|sep|cls"
    r"|eo[admopst]|endoftext|(?:start|end)_of_(?:turn|text|sentence|message|utterance)|role|end|stop"
    r"|_(?:user|bot|end)|(?:extra_id|special|reserved|tokens_unused)_\d+)(?:_token)?>|\|?turn\|?>"
    r"|<?/?sys>>?|[be]~<|/?inst>|/?system_prompt>|end final response>))"
)
_ENDS = re.compile(r"(?<![^\W_])(?:end|stop|close|suffix|unused(?:17|95))|^.\s?\|?/")
_ANGLES = tuple(zip("[]◁《【▷》】｜", "<><<<>>>|", strict=True))
#: Those of them that are written in square brackets.
_BRACKETS = re.compile(
    r"\[(?:/?(?:think|thought|reason)[^\s\]]*|unused\d\d|/?inst|/?system_prompt|end|eos|bos|pad"
    r"|sep|cls|/s|(?:begin|end) final response|\|[^][\n]{1,60})\]|\[[be]~\[|\[\|[\w▁|]{0,40}\Z"
)
#: The model's role, behind a special token that begins its turn.
_ROLE = re.compile(r"(?:\s*(?:assistant|model|bot|gpt|final|response\b(?=<))\b[ \t]*:?)?")
_USER = re.compile(r"<[^<>\n]{0,60}?(?:>\s*)?(?:user|human|inst)\b")  # begins a turn
#: A line that begins another turn or question, or thoughts in words.
_TURN = re.compile(
    r"\n[ \t>*_#<\[]{0,9}(?!the|[^.nasuhqpiecft])(?:\.{0,3}(?:done )?thinking\."
    r"|here(?:'s| is| are) my |(?:(?:next|new|another|second) (?:list|row)"
    r"|(?:(?:next|new|another|second|follow-up|test) )?(?:user|human|question|query|prompt|problem"
    r"|instructions?|assistant|system|input|expression|exercise|example|task|puzzle|test|case|ai"
    r"|q(?!\d{0,4}[ \t]*\n)))(?![a-z])(?: (?:message|query|input|prompt))?[ \t]{0,2}(?:#?\d{1,4})?"
    r"[\]>*_ \t]{0,6}(?:[:：]|(?<=[\]>])|(?<=\d)[.)]|(?=\n)))"
)


def lowered(text: str) -> str:
    """A text in small letters, each at its position."""
    return text.replace("İ", "I").lower()


def read_message(text: str) -> list[tuple[str, str]] | None:
    """The message of a reply, split before lines that begin another turn or question.

    The first part that states an answer has the reply's: a model may restate the question before,
    and make up others afterwards. Each is there as it is and in small letters. None if the reply
    ends within its thoughts.
    """
    small = lowered(text)
    turn = _TURN.search(small)
    if turn or _AT_START.match(small) or "antfinal" in small:
        text = _PHRASE.sub(lambda phrase: [*_PHRASES.values()][(phrase.lastindex or 0) - 1], text)
        small = lowered(text)
    if "<" in small or "[" in small or not small.isascii():
        if (spans := _spans(small)) is None:
            return None
        text = "\n".join(text[start:end] for start, end in spans)
        small = lowered(text)
        turn = turn if len(spans) < 2 else _TURN.search(small)  # behind a tag that is gone
    if turn is None:
        return [(text, small)]
    starts = [0, *(turn.start() for turn in _TURN.finditer(small)), len(text)]
    return [(text[start:end], small[start:end]) for start, end in itertools.pairwise(starts)]


def _spans(small: str) -> list[tuple[int, int]] | None:
    """Spans of a text outside of thoughts, up to the end of the turn. None if they never close."""
    text = small
    for sign, angle in _ANGLES:
        text = text.replace(sign, angle)
    spans: list[tuple[int, int]] = []
    start, thought, ended = 0, "", False
    for event in _EVENTS.finditer(text):
        begin, end = event.span()
        if small[begin] == "[" and not _BRACKETS.match(small, begin):
            continue
        kind, stem = event.lastgroup, event["stem"] or "role"
        if event["stem"]:
            kind = "close" if _ENDS.search(event[0]) else "open"
        if thought:
            if kind == "close" and stem in (thought, "role"):
                start, thought = end, ""
        elif kind == "close" and stem != "details":  # the prompt has the opening
            spans, start, ended = [], end, False
        elif kind == "special" and not spans and not text[start:begin].strip():
            start = _ROLE.match(text, end).end()  # type: ignore[union-attr]  # always matches
        else:
            if not ended and text[start:begin].strip():
                spans.append((start, begin))
            start = end
            if kind == "open":
                thought = stem
            elif kind == "special":
                ended = True
                if _USER.match(text, begin):
                    break
    return spans if ended else None if thought else [*spans, (start, len(small))]
