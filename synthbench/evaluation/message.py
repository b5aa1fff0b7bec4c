r"""The message of a reply: its text without thoughts, special tokens and made-up further turns.

    <think>Is it 3?</think>Answer: 7<|im_end|>                          Answer: 7
    <|channel|>analysis<|message|>Is it 3?<|channel|>final<|message|>7  7
    <think>It gives 7                                                   no message

Sources: the reasoning parsers of vLLM, SGLang and llama.cpp, and the chat templates of the models.
"""

from __future__ import annotations

import itertools
import re

#: Openings and closings of thoughts, and the models that write them.
_THOUGHTS = (
    (r"<\|channel\|>\s?(?:analysis|commentary)", r"<\|channel\|>\s?final.{0,60}?<\|message\|>"),
    (r"<\|channel>\s?thought", r"<channel\|>"),  # Gemma 4
    (r"<\|open\|>\s?think\s?<\|sep\|>", r"<\|close\|>\s?think\s?<\|sep\|>"),  # Kimi K3
    (r"<\|im_start\|>\s?think\b", r"<\|im_start\|>\s?answer\b"),  # s1
    (r"\[unused16\]", r"\[unused17\]"),  # Pangu
    (r"<details\s+type=.reasoning[^>]{0,99}>", r"</details>"),  # Open WebUI
    (r"to=self\s?<\|message\|>", r"to=user\s?<\|message\|>"),  # Muse
    (r"\bhere(?:'s| is) my thought process:", r"\bhere(?:'s| is) my response:"),  # Granite 3
    (r"\bhere are my reasoning steps:", r"(?!)"),  # Apriel
    (r"^thinking\.\.\.$", r"^\.{3}done thinking\.$"),  # Ollama
    (r"\Aanalysis(?=we|the|i|let|so|user|need|to|first|it|this)", r"assistantfinal"),  # gpt-oss
)
#: What closes the thoughts of any model.
_FINAL = r"<\|begin\|>\s?assistant\s?<\|content\|>|\[begin final response\]"
#: Names of tags around thoughts. An opening and a closing belong together if they share the stem.
_STEMS = (
    r"think|thought|reason|reflect|scratch_?pad|analy[sz]|monologue|rationale|deliberat|brainstorm"
    r"|ponder|inner|internal|critique|(?<![^\W_])(?:cot|plan(?:ning)?|work(?:ing)?|steps?)(?![^\W_])"
)
#: Such a tag: `<think>`, `</seed:think>`, `[THINK]`, `◁think▷`, `<|begin_of_thought|>`.
_TAG = (
    rf"[<\[◁]\s?[|｜]?/?[|｜]?[\w:.▁|-]{{0,40}}?(?P<stem>{_STEMS})"
    r"[\w:.▁|-]{0,30}(?:\s[^<>\[\]\n]{0,99})?[|｜]?[>\]▷]"
)
_ENDS = re.compile(r"(?<![^\W_])(?:end|stop|close|suffix)(?![^\W_])|^.[|｜]?/")
#: Special tokens, which end the turn outside of thoughts.
_SPECIAL = (
    r"[<\[](?:[|｜][^<>\n]{1,60}[|｜]>|[/\\]?s>|/?(?:\w{1,9}:)?(?:bos|eos|pad|eod|eot|eom|unk|sep|cls"
    r"|endoftext|(?:start|end)_of_(?:turn|text|sentence|message|utterance)|_(?:user|bot|end)|role|extra_id_\d+)(?:_token)?>"
    r"|\|?(?:turn|channel)\|?>|<?/?sys>>?|[be]~\["
    r"|(?:/?inst|/?system_prompt|eos|bos|pad|sep|cls|/s|end final response)\])"
)
#: The model's role, behind a special token that begins its turn.
_ROLE = re.compile(r"\s*(?:assistant|model|bot|gpt|final|response\b(?=<))\b[ \t]*:?")
#: The token that begins a turn of the user.
_USER = re.compile(r"[<\[][^<>\n]{0,60}?(?:[>\]]\s*)?(?:user|human|inst)\b")
#: Special tokens, openings and closings of thoughts, by groups `open0`, `close0` and so on.
_EVENTS = re.compile(
    r"(?=[<[◁]|to=|here|think|\.{3}d|analysis|assist)(?:"
    + "".join(
        rf"(?P<open{i}>{pair[0]})|(?P<close{i}>{pair[1]})|" for i, pair in enumerate(_THOUGHTS)
    )
    + rf"(?P<close>{_FINAL})|(?P<tag>{_TAG})|(?P<special>{_SPECIAL}))",
    re.MULTILINE,
)
#: Around an opening that is only mentioned.
_MENTION = re.compile(r"(?:[\w,] |[`'\"(])\Z"), re.compile(r"[`'\").,]| \w")
#: A special token that is cut at the end of the text.
_CUT = re.compile(r"<[|｜][\w▁|｜]{0,40}\Z")
#: Tags around a whole answer, which say nothing.
_WRAPPER = re.compile(r"(?i)</?(?:response|output|solution|final|conclusion|message|reply|result)>")
#: Signs of thoughts, special tokens and wrappers: anything like a tag, and these words.
_ANY = re.compile(
    r"[<\[◁](?!/?answer>|\d)(?:[|｜]|[/\\]?s[>\]]|[^\s<>\[\],]{2,60}[>\]▷]|[\w:]{2,40}\s[^<>\[\]]{0,99}>"
    r"|[be]~|(?:begin|end) final)"
)
#: A line that begins another turn or question.
_TURN = re.compile(
    r"\n[ \t>*_#]{0,9}(?:(?:next |new |another |second )?(?:user|human|question|q|problem"
    r"|instructions?|assistant|ai|system)\b[ \t]{0,2}(?:#?\d{1,4})?"
    r"|(?:next |new |another |second )(?:exercise|example|task|puzzle|test|expression|list|row)"
    r"|(?:exercise|example|task|puzzle|test|input|case)[ \t]{1,2}#?\d{1,4})"
    r"[ \t]{0,2}[*_]{0,3}[ \t]{0,2}(?:[:：]|(?<=\d)(?=\n))"
    r"|\n[ \t]{0,9}#{1,6}[ \t*]{0,9}(?:user|human|question|problem|instructions?|input|assistant"
    r"|system|example|exercise)\b[^\n]{0,30}(?=\n)"
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
    small = lowered(text)
    has_words = "thinking." in small or "antfinal" in small or small.startswith("analysis")
    has_words = has_words or "my thought" in small or "my re" in small or "to=self" in small
    is_tagged = small.count("<") > small.count("<answer>") + small.count("</answer>")
    if has_words or ((is_tagged or "[" in small or "◁" in small) and _ANY.search(small)):
        if (spans := _spans(small)) is None:
            return None
        text = _WRAPPER.sub("\n", "\n".join(text[start:end] for start, end in spans))
        small = lowered(text)
    starts = [turn.start() for turn in _TURN.finditer(small)]
    if not starts:
        return [text]
    return [text[start:end] for start, end in itertools.pairwise([0, *starts, len(text)])]


def _kind(event: re.Match[str]) -> tuple[str, str]:
    """`open`, `close`, `special` or "", and the name that an opening shares with its closing."""
    group = event.lastgroup or ""
    if group not in ("tag", "stem"):
        kind = group.rstrip("0123456789")
        return kind, group.removeprefix(kind)
    tag, stem = event[0], event["stem"]
    is_text = tag[0] == "[" and (stem not in ("think", "thought", "reason") or " " in tag)
    return "" if is_text or tag.endswith("/>") else "close" if _ENDS.search(tag) else "open", stem


def _spans(small: str) -> list[tuple[int, int]] | None:
    """Spans of a text outside of thoughts, up to the end of the turn. None if they never close."""
    spans: list[tuple[int, int]] = []
    opened, start, thought, ended = 0, 0, "", False
    for event in _EVENTS.finditer(small):
        kind, key = _kind(event)
        begin, end = event.span()
        if thought:
            if kind == "close" and key in (thought, ""):
                start, thought = end, ""
        elif kind == "special":
            if spans or small[start:begin].strip():
                if not ended:
                    spans.append((start, begin))
                ended = True
                if _USER.match(small, begin):
                    break
            else:
                role = _ROLE.match(small, end)
                start = role.end() if role else end
        elif kind == "close" and event[0] != "</details>":  # the prompt has the opening
            spans.clear()
            start, ended = end, False
        elif kind == "open":
            if ended:
                break
            if small[start:begin].strip():
                spans.append((start, begin))
            opened, start, thought = begin, end, key
    if thought:
        before, behind = _MENTION
        is_mentioned = before.search(small, max(0, opened - 2), opened) and behind.match(
            small, start
        )
        return spans if is_mentioned else None
    if not ended and small[start:].strip():
        cut = _CUT.search(small, max(start, len(small) - 50))
        spans.append((start, cut.start() if cut else len(small)))
    return spans
