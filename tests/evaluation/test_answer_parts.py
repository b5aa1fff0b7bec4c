r"""Every mark with every way of writing a value and every ending is read as its parts say."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthbench.answers import find_answer
from synthbench.tasks.features import value
from synthbench.tasks.registry import task as make_task
from tests.evaluation.test_message import ENDS
from tests.planted.task import Reversal

NUMBER = SimpleNamespace(answer=value("int64"), labels=None)

#: Around a value `{}`: all forms of `find_answer`'s marks, and none.
MARKS = [
    "{}", "**{}**", "```\n{}\n```", "```text\n{}\n```", "First I look at it.\n\n{}",
    "First I look at it.\n\n**{}**", "Step one is done.\n```\n{}\n```",
    "Answer: {}", "**Answer:** {}", "**Answer: {}**", "**Answer**: **{}**", "Answer:\n{}",
    "Answer:\n```\n{}\n```", "Final answer: {}", "FINAL ANSWER: {}", "## Answer\n\n{}",
    "**Final Answer**\n\n{}", "The answer is {}", "The answer is **{}**",
    "So the final answer is: {}", "Answer: ${}$", "It is so.\n#### {}",
    "\\boxed{{{}}}", "So it is $\\boxed{{{}}}$", "\\fbox{{{}}}", "Answer: \\boxed{{{}}}",
    "<answer>{}</answer>", "<answer>\n{}\n</answer>", "<answer>{}", "answer>{}</answer>",
    "First step. <answer>{}</answer> Done.", "<answer>\\boxed{{{}}}</answer>",
    "<answer>**{}**</answer>", "<answer>Answer: {}</answer>", "<final_answer>{}</final_answer>",
    "<answer>\n```\n{}\n```\n</answer>", "json",
]  # fmt: skip
#: The endings of a value, besides special tokens.
TURNS = [
    ".", "\n\nQuestion: And?\nAnswer: 4", "\n\nUser: And then?\n\nAssistant: 4",
    "\n\n### Question 2\n4", "\nHuman: what?\nAnswer: 4", "\n\nQ: x\nA: 4",
    "\n\n**Question:** x\n4",
]  # fmt: skip

SEQUENCE = "213 312 123"
#: By kind of label: the task, the label, the answer, and ways of writing it.
KINDS: dict[str, tuple[Any, str | None, Any, list[str]]] = {
    "digit": (make_task("listops"), None, "7", [
        "7", "+7", "7.0", "seven", "3 + 4 = 7", "47 mod 10 = 7", "$7$", "\\(7\\)", "\\[7\\]",
        "**7**", "`7`", '"7"', "(7)", "[7]", "7 (mod 10)", "\\text{7}", "\\textcolor{red}{7}",
        "\\color{blue}7", "\\colorbox{yellow}{7}", "７", "7\\%", "7%", "7th", "7°",
        "\\bbox[red]{7}", "\\Boxed{7}", "\\ovalbox{7}", "\\framebox[2cm]{7}", "\\small{7}", "7 ✓",
        "\\begin{aligned}7\\end{aligned}", "\\boxed{7}\\phantom{\\boxed{3}}",
        "47 \\equiv 7 \\pmod{10}", "$47 \\bmod 10 = 7$", "x = 7", "\\frac{14}{2} = 7",
        "\\phantom{0}7",
    ]),
    "groups": (NUMBER, None, "9876544", [
        f"9{sign}876{sign}544"
        for sign in (
            "", ",", " ", "\u2009", "\u00a0", "\u202f", "'", "\u2019", "_", "{,}", "\\,", "\\!",
            "{,}\\!", "{'}", "~", ",\\!", "\\text{,}", "\\ ", "\\;", "\\:",
        )
    ]),
    "signs": (NUMBER, None, "-5", [
        *(f"{dash}5" for dash in "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"),
        "(-5)", "3 - 8 = -5", "x = \u20135", "{-5}",
    ]),
    "digits": (make_task("addition"), "1 3 3", "133", [
        "133", "1 3 3", "1, 3, 3", "1,3,3", "[1, 3, 3]", "38 + 95 = 133", '["1", "3", "3"]',
        "\\text{1 3 3}", "1\\ 3\\ 3",
    ]),
    "symbol": (make_task("ctl"), None, "101", [
        "101", "1 0 1", "1, 0, 1", "[1, 0, 1]", "'101'", "011 -> 101", "f(011) = 101",
        "\\text{101}", "\\texttt{101}",
    ]),
    "name": (make_task("composites"), None, "T-shirt/top", [
        "T-shirt/top", "T-shirt / top", "a T-shirt", "top", "TShirt", "\\text{T-shirt}",
        "t\u2011shirt",
    ]),
    "sequence": (make_task("state-tracking", "S3"), SEQUENCE, SEQUENCE, [
        *(SEQUENCE.replace(" ", sign) for sign in (
            " ", ", ", ",", " → ", " -> ", "\n", "; ", " | ", "~", "\\ ", "\\,", " \\to ",
            "\\quad ", " ⇒ ", ",\n", " ⟼ ", "\n↓\n", " \\longrightarrow ", " • ",
            "<br>", ", then ", "\t", " & ", " > ",
        )),
        "[213, 312, 123]", "(213, 312, 123)", "<213 312 123>", "{213, 312, 123}",
        "1. 213\n2. 312\n3. 123", "1) 213\n2) 312\n3) 123", "1: 213\n2: 312\n3: 123",
        "- 213\n- 312\n- 123", "* 213\n* 312\n* 123", "• 213\n• 312\n• 123",
        "(1) 213\n(2) 312\n(3) 123", "#1: 213\n#2: 312\n#3: 123", "R1: 213\nR2: 312\nR3: 123",
        "Position 1: 213\nPosition 2: 312\nPosition 3: 123", "⟨213, 312, 123⟩",
        "<ul><li>213</li><li>312</li><li>123</li></ul>", '[\n  "213",\n  "312",\n  "123"\n]',
        '["213", "312", "123"]', "'213', '312', '123'", "`213` `312` `123`", "213, 312, and 123",
        "213, 312 and 123", "\\text{213 312 123}", "\\{213, 312, 123\\}",
        "\\begin{bmatrix} 213 & 312 & 123 \\end{bmatrix}",
        "\\boxed{213}, \\boxed{312}, \\boxed{123}",
    ]),
    "unasked": (make_task("mqar"), "_ _ v7 _ v9", "_ _ v7 _ v9", [
        "_ _ v7 _ v9", "_, _, v7, _, v9", "x _ v7 k5 v9", "[blank, blank, v7, blank, v9]",
    ]),
    "lists": (make_task("grid-count"), None, [[3, 1], [1, 3]], [
        "[[3, 1], [1, 3]]", "[[3 1]\n [1 3]]", "3 1\n1 3", "[3, 1]\n[1, 3]",
        "[\n[3, 1],\n[1, 3]\n]", "| 3 | 1 |\n|---|---|\n| 1 | 3 |", "3, 1\n1, 3",
    ]),
    "numbers": (make_task("identity"), None, [0.5, -0.25], [
        "[0.5, -0.25]", "0.5, -0.25", "(0.5, -0.25)", "[ 0.5 -0.25]", "[0.5, \u22120.25]",
    ]),
    "text": (Reversal(), None, "dcba", ["dcba", "`dcba`", '"dcba"', "**dcba**", "\\text{dcba}"]),
}  # fmt: skip


def written(mark, text):
    if mark == "json":
        return "```json\n" + json.dumps({"reason": "none", "answer": text}) + "\n```"
    return mark.format(text)


def is_plain(mark, text):
    """False where TeX's brackets are in a formula, or a box in a box or in JSON."""
    in_formula = "$" in mark and text.startswith(("\\(", "\\["))
    return not in_formula and not ("\\boxed" in text and ("box" in mark or mark == "json"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_read_in_every_mark(kind):
    task, label, answer, texts = KINDS[kind]
    row = None if label is None else {"label": label}
    misread = {
        (mark, text): found
        for text in texts
        for mark in MARKS
        if is_plain(mark, text) and (found := find_answer(task, written(mark, text), row)) != answer
    }
    assert misread == {}


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from([*KINDS]), st.sampled_from(MARKS), st.sampled_from(ENDS + TURNS))
def test_a_value_is_read_whatever_ends_its_turn(data, kind, mark, end):
    task, label, answer, texts = KINDS[kind]
    text = data.draw(st.sampled_from(texts))
    if is_plain(mark, text) and not (end == "." and "```" in mark):
        row = None if label is None else {"label": label}
        assert find_answer(task, written(mark, text) + end, row) == answer


@settings(max_examples=200, deadline=None)
@given(
    st.integers(10**3, 10**12),
    st.sampled_from([",", " ", "'", "_", "~", "\\,", "\u202f", "{,}", "··", ";", "/"]),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.sampled_from(MARKS),
)
def test_digits_in_groups_are_their_number_or_unreadable(number, sign, sizes, mark):
    digits, parts = str(number), []
    for size in sizes:
        parts.append(digits[-size:])
        digits = digits[:-size]
    grouped = sign.join([digits, *parts[::-1]] if digits else parts[::-1])
    assert find_answer(NUMBER, written(mark, grouped)) in (None, grouped.replace(sign, ""))


@pytest.mark.parametrize("mark", MARKS)
def test_a_number_whose_digits_may_be_a_fraction_or_wrongly_grouped_is_unreadable(mark):
    for text in (
        "9.876.544",
        "98,76,544",
        "1.000",
        "9,87",
        "9 8765",
        "1,000,00",
        "9'87",
        "9\\.876\\.544",
    ):
        assert find_answer(NUMBER, written(mark, text)) is None, text
