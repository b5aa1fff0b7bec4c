r"""The message of a reply: its text without thoughts, special tokens and made-up further turns.

    <think>Is it 3?</think>Answer: 7<|im_end|>                          Answer: 7
    Is it 3? So it gives 7.</think>Answer: 7                            Answer: 7
    <|channel|>analysis<|message|>Is it 3?<|channel|>final<|message|>7  7
    <think>It gives 7                                                   no message

Sources: the reasoning parsers of vLLM, SGLang and llama.cpp, and the chat templates of the models.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Iterator

#: Openings and closings of thoughts that begin with a bracket, and the models that write them.
_BRACKETED = (
    (r"<\|channel\|>\s?(?:analysis|commentary)", r"<\|channel\|>\s?final.{0,60}?<\|message\|>"),
    (r"<\|channel>\s?thought", r"<channel\|>"),  # Gemma 4
    (r"<\|open\|>\s?think\s?<\|sep\|>", r"<\|close\|>\s?think\s?<\|sep\|>"),  # Kimi K3
    (r"<\|im_start\|>\s?think\b", r"<\|im_start\|>\s?answer\b"),  # s1
    (r"\[unused16\]", r"\[unused17\]"),  # Pangu
    (r"<details\s+type=.reasoning[^>]{0,99}>", r"</details>"),  # Open WebUI
)
#: Those that begin with a letter or a dot.
_WORDED = (
    (r"to=self\s?<\|message\|>", r"to=user\s?<\|message\|>"),  # Muse
    (r"\bHere(?:'s| is) my thought process:", r"\bHere(?:'s| is) my response:"),  # Granite 3
    (r"\bHere are my reasoning steps:", r"(?!)"),  # Apriel
    (r"^Thinking\.\.\.$", r"^\.{3}done thinking\.$"),  # Ollama
    (r"\A\s*analysis(?=[A-Z])", r"assistantfinal"),  # gpt-oss without its special tokens
)
#: A text without all of these has neither of the latter.
_CUES = ("to=self", "to=user", "my thought process:", "my response:", "my reasoning steps:",
         "done thinking.", "\nThinking...", "assistantfinal")  # fmt: skip
#: What closes the thoughts of any model.
_FINAL = r"<\|begin\|>\s?assistant\s?<\|content\|>|\[BEGIN FINAL RESPONSE\]"
#: A tag around thoughts, by its name: `<think>`, `</seed:think>`, `[THINK]`, `◁think▷`,
#: `<|begin_of_thought|>`. An opening and a closing belong together if they share the stem.
_TAG = (
    r"(?P<tag>[<\[◁]\s?[|｜]?(?P<slash>/?)[|｜]?[\w:.▁|-]{0,40}?(?P<stem>think|thought|reason"
    r"|reflect|scratch_?pad|analy[sz]|monologue|rationale|deliberat|brainstorm|ponder|inner"
    r"|internal|critique|(?<![^\W_])(?:cot|plan(?:ning)?)(?![^\W_]))"
    r"[\w:.▁|-]{0,30}(?:\s[^<>\[\]\n]{0,99})?[|｜]?[>\]▷])"
)
_ENDS = re.compile(r"(?<![^\W_])(?:end|stop|close|suffix)(?![^\W_])|^.[|｜]?/", re.IGNORECASE)


@functools.cache
def _events(worded: bool) -> re.Pattern[str]:
    """Openings and closings of thoughts, with `worded` also those that begin with a letter."""
    pairs = (*_BRACKETED, *_WORDED) if worded else _BRACKETED
    opened = (rf"(?P<open{number}>{opening})" for number, (opening, _) in enumerate(pairs))
    closed = (rf"(?P<close{number}>{closing})" for number, (_, closing) in enumerate(pairs))
    first = r"" if worded else r"(?=[<\[◁])"
    patterns = [*opened, *closed, f"(?P<final>{_FINAL})", _TAG]
    return re.compile(f"{first}(?:{'|'.join(patterns)})", re.I | re.M)


#: Special tokens, which end the turn outside of thoughts.
_SPECIAL = re.compile(
    r"<[|｜][^<>\n]{1,60}[|｜]>|</?s>|</?(?:\w{1,9}:)?(?:bos|eos|pad|eod|eot|eom|unk|sep|cls|endoftext"
    r"|(?:start|end)_of_(?:turn|text|sentence|message|utterance)|_(?:user|bot|end)|role)>"
    r"|<\|?(?:turn|channel)\|?>|<<?/?SYS>>?"
    r"|\[(?:/?INST|/?SYSTEM_PROMPT|EOS|BOS|PAD|SEP|CLS|END FINAL RESPONSE|[be]~\[)\]?",
    re.IGNORECASE,
)
#: The name of the model's role, behind a special token that begins its turn.
_ROLE = re.compile(r"\s*(?:assistant|model|bot|gpt|final|response\b(?=<))\b[ \t]*:?", re.IGNORECASE)
#: The token that begins a turn of the user.
_USER = re.compile(
    r"<[|｜][^<>\n]{0,30}(?:user|human)|[|｜]>\s*(?:user|human)\b|(?:_of_turn|\|turn)>\s*user\b"
    r"|\[INST\]",
    re.IGNORECASE,
)
#: A special token that is cut at the end of the text.
_CUT = re.compile(r"<[|｜][\w▁|｜]{0,40}\Z")
#: Tags around a whole answer say nothing.
_WRAPPER = re.compile(
    r"</?(?:response|output|solution|final|conclusion|message|reply|result)>", re.IGNORECASE
)
#: A line that begins another turn or question.
_TURN = re.compile(
    r"\n[ \t>*_#]{0,9}(?:(?:(?:next|new|another|second)\s)?(?:user|human|question|q|problem"
    r"|instructions?|assistant|ai|system)\b[ \t]{0,2}(?:\#?\d{1,4})?"
    r"|(?:(?:next|new|another|second)\s)(?:exercise|example|task|puzzle|test|expression|list|row)"
    r"|(?:exercise|example|task|puzzle|test|input|case)[ \t]{1,2}\#?\d{1,4})"
    r"[ \t]{0,2}[*_]{0,3}[ \t]{0,2}[:：]"
    r"|\n[ \t]{0,9}\#{1,6}[ \t*]{0,9}(?:user|human|question|problem|instructions?|input|assistant"
    r"|system|example|exercise)\b[^\n]{0,30}(?=\n)",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True)
class Message:
    """The message of a reply.

    Attributes:
        parts: the text, split before each line that begins another turn or question. A model may
            restate the question before it answers, and make up further questions afterwards, so
            the first part that states an answer has the reply's answer.
        thoughts_unclosed: whether the reply ends within its thoughts, which leaves no message.
    """

    parts: tuple[str, ...]
    thoughts_unclosed: bool = False

    @property
    def text(self) -> str:
        """The whole message."""
        return "".join(self.parts)


def read_message(text: str) -> Message:
    """Find the message in the text of a language model.

    Args:
        text: the reply, with or without thoughts and special tokens.

    Example:
        >>> from synthbench.evaluation.message import read_message
        >>> read_message("[THINK]Is it 3?[/THINK]Answer: 7</s>").text
        'Answer: 7'
        >>> read_message("<reasoning>It gives 7").thoughts_unclosed
        True
    """
    worded = text.lstrip()[:11].startswith(("analysis", "Thinking..")) or any(
        cue in text for cue in _CUES
    )
    if worded or "<" in text or "[" in text or "◁" in text:
        said = _without_thoughts(text, _events(worded))
        if said is None:
            return Message((), thoughts_unclosed=True)
        text = _WRAPPER.sub("\n", said) if "<" in said else said
    starts = [0, *(turn.start() for turn in _TURN.finditer(text)), len(text)]
    parts = (text[start:end] for start, end in itertools.pairwise(starts))
    return Message(tuple(filter(str.strip, parts)))


def _without_thoughts(text: str, events: re.Pattern[str]) -> str | None:
    """The text outside of thoughts, up to the end of the turn; None if they never close."""
    pieces: list[str] = []
    start, thought = 0, ""
    for event, key, closes in _marks(text, events):
        if thought:
            if closes and key in (thought, "final"):
                start, thought = event.end(), ""
            continue
        piece = text[start : event.start()]
        if event[0] == "</details>":  # of other details
            continue
        if closes:  # the chat template has put the opening into the prompt
            if _USER.search(piece):
                break
            pieces.clear()
        elif _add(pieces, piece):
            return "\n".join(pieces)
        start, thought = event.end(), "" if closes else key
    if thought:
        return None
    _add(pieces, text[start:])
    return "\n".join(pieces)


def _marks(text: str, events: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str, bool]]:
    """Each opening or closing of thoughts, the key that a pair shares, and whether it closes."""
    for event in events.finditer(text):
        group = event.lastgroup or ""
        if group == "final":
            yield event, group, True
        elif group not in ("tag", "stem"):
            yield event, group[-2:].strip("en"), group.startswith("close")
        else:
            tag, stem = event[0], event["stem"].lower()
            is_text = tag[0] == "[" and (stem not in ("think", "thought") or " " in tag)
            if not is_text and not tag.endswith("/>"):
                yield event, stem, _ENDS.search(tag) is not None


def _add(pieces: list[str], piece: str) -> bool:
    """Add a piece of the message up to the end of the turn, and return whether it ends there."""
    start = 0
    for special in _SPECIAL.finditer(piece) if "<" in piece or "[" in piece else ():
        if pieces or piece[start : special.start()].strip():
            pieces.append(piece[start : special.start()])
            return True
        role = _ROLE.match(piece, special.end())
        start = role.end() if role else special.end()
    if piece := _CUT.sub("", piece[start:]) if piece.strip() else "":
        pieces.append(piece)
    return False
