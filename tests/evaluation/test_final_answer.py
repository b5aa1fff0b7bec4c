"""Answers in running text: many forms are read, a wrong number never scores."""

from __future__ import annotations

import inspect
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthbench.errors import UsageError
from synthbench.evaluation.final_answer import find_answer, score_answer
from synthbench.tasks.features import class_label, value
from synthbench.tasks.registry import task as make_task
from tests.evaluation import answers_as_written as written
from tests.evaluation import answers_by_name as by_name
from tests.evaluation import answers_in_prose as prose
from tests.planted.task import Reversal
from tests.toy_task import Numbers

LISTOPS = make_task("listops")
CTL = make_task("ctl")
GRID = make_task("grid-count")
CLOTHES = make_task("composites")

#: Texts that answer with what stands for {}.
FORMS = [
    "{}", "{}\n", " {}. ", "= {}", "_{}_", "*{}*", "**{}**", "`{}`", "${}$", "[{}]", "- {}",
    "the answer is {}", "The answer is {}.", "The answer is **{}**!", "The answer is ${}$.",
    "The answer is: {}", "The answer is therefore {}", "The answer is the number {}, of course",
    "The answer is {} because 3+4 = {}", "The answer is {}. In step 3 there were 4 of them.",
    "The answer is 2 + 5 = {}", "The answer is\n\n$$\n{}\n$$", "The correct answer would be {}",
    "Answer: {}", "ANSWER: {}.", "**Answer:** {}", "**Answer**: {}", "Final answer = {}",
    "answer -> {}", '{{"answer": {}}}', '{{"answer": "{}"}}', "#### {}",
    "4 and 3 are left.\n#### {}", r"\boxed{{{}}}", r"$\boxed{{\text{{{}}}}}$", r"\boxed{{x = {}}}",
    r"\boxed{{{}}}, as 1 + 2 = 3", "<answer>{}</answer>",
    "<answer>\n{}\n</answer> Anything else? 3", "<think>First 3, then 4.</think>{}",
    "<think>The answer is 9.</think>\nThe answer is {}.", "no opening tag, 3</think>{}",
    "[MAX 8 4 9 ] is 9. Not done yet! The median of 4, 5, 8, 9 is\n{}",
    "The answer is {}, not 3.", "Empty: \\boxed{{}}. So it is\n\n{}",
    "The answer is 1. No, wait: the answer is {}.",
    "I put 9 aside, so \\boxed{{{}}}.\n\nThe answer is given above.",
]  # fmt: skip

#: Texts that answer nothing, or not with one digit.
SILENCE = [
    "none", ".7", "−7", "8/7", "7-8", "7:30", "7e0", "0x7", "f7", "7²", "7 8", "8, 7",
    "(7 or 8)", "either 8 / 7", "3 + 7", "3*7", "3 - 7", "7 + ", "7 =", r"\frac{8}{7}", "not 7",
    "less than 7", "it isn't 7", "!= 7", "**7** isn't right", "The answer is 7? No, 3.",
    "The answer is not 7", "The answer is 7, 8", "The answer is 7 + 8",
    "The answer is among 7 and 8", "Answer: 7.5, about 7", r"\boxed{7, 8}", r"\boxed{7 8}",
    "<answer>7 or 8</answer> 7", "[MED 4 8 5 [MAX 8 4 7 ] ]", "((4*7)+7)",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_is_found_in_many_forms(form):
    digits = [(LISTOPS, word, int(float(word))) for word in ("7", "0", "7.0", "07")]
    # Symbols keep their leading zeros.
    symbols = [(CTL, word, int(word, 2)) for word in ("000", "010", "101")]
    for task, word, label in [*digits, *symbols]:
        text = form.format(*[word] * form.count("{}"))
        assert score_answer(task, {"label": label}, text) == 1.0
        assert score_answer(task, {"label": label + 1}, text) == 0.0


def test_what_gives_no_single_answer_scores_for_no_label():
    labels = [{"label": label} for label in range(10)]
    assert [
        text for text in SILENCE if any(score_answer(LISTOPS, row, text) for row in labels)
    ] == []


@given(st.sampled_from([*FORMS]), st.integers(0, 10**6), st.integers(0, 9))
def test_a_number_scores_if_it_is_the_label_and_never_else(form, number, label):
    text = form.format(*[number] * form.count("{}"))
    assert score_answer(LISTOPS, {"label": label}, text) == float(number == label)


@given(
    st.lists(st.sampled_from([*"0123456789 .,-+*/=[](){}\n$_", "answer: ", "the answer is ",
                              "\\boxed{", "}", "<think>", "</think>", "<answer>", "or", "#### "]))
    .map("".join) | st.text(),
    st.integers(0, 9),
)  # fmt: skip
def test_what_scores_has_the_label_standing_by_itself_in_its_text(text, label):
    score = score_answer(LISTOPS, {"label": label}, text)
    assert score in (0.0, 1.0)
    if score:
        assert str(label) in [word.lstrip("0") or "0" for word in re.findall(r"\d+", text)]


@given(st.text())
def test_text_of_any_kind_is_read_without_an_error(text):
    for task in (LISTOPS, CTL, GRID, make_task("clusters"), make_task("composites")):
        find_answer(task, text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "#", "1.", "[", "\\boxed{", "answer: ", "7 ", "<think>", "-", "1", "*", "**", "**7", "_",
        "__", "answer to ", "result ", "result: ", "one ", "seven-", "the one ", "\n", "7\n", "T-",
        "(", "<b>", "let me know ", "**7** 8 ", "(ab 7) ", "(aa", "tell me. ", "answer: 7 or ",
        "7 or maybe ", "\\text", "\\textbf{", "[({", "7-", "1,", "Answer: 3 or 7\n", "7 a b ",
        "6. wait, ", "no 7 or ", "7 = ", "7 mod ", "I cannot 7 ", "答案是", "~~7 ",
        "\\times ", "1 0 ", "100 ", "0 or ", "or ", "0 if ", "not but ", "I doubt it is 0 ",
        "≠ ", "7 (3 + ", "–", "answer", "</answer>", "\\boxed{}", "####", "\nQuestion: ",
    ],
)  # fmt: skip
def test_a_text_that_runs_away_is_read_in_no_time_worth_mentioning(piece):
    # Each of these would take hours if reading took more than about linear time.
    for task in (
        *(LISTOPS, GRID, make_task("composites"), Reversal(), make_task("addition")),
        make_task("chomsky", "reverse-string"),
    ):
        find_answer(task, piece * 10_000)


def test_no_answer_scores_as_nothing():
    assert score_answer("listops", {"label": 0}, None) == 0.0
    with pytest.raises(UsageError, match="Did you mean 'listops'"):
        score_answer("listop", {"label": 7}, "7")
    with pytest.raises(KeyError):
        score_answer(LISTOPS, {"text": "[MAX 7 0 ]"}, "7")


# The table.

WRITTEN: dict[Any, list[tuple[str, Any]]] = {
    LISTOPS: written.DIGITS,
    CTL: by_name.SYMBOLS,
    CLOTHES: by_name.CLOTHES,
    GRID: by_name.GRIDS,
    make_task("identity"): by_name.VECTORS,
    Reversal(): by_name.TEXTS,
}
IN_PROSE = dict(
    zip(("DIGITS", "SYMBOLS", "CLOTHES", "GRIDS", "VECTORS", "TEXTS"), WRITTEN, strict=True)
)


@pytest.mark.parametrize("task", WRITTEN, ids=lambda task: task.name)
def test_an_answer_is_read_as_models_write_it(task):
    expected = dict(WRITTEN[task])
    assert {text: find_answer(task, text) for text in expected} == expected


def test_an_answer_in_prose_is_not_read_and_the_mark_counts_whatever_follows():
    for name, texts in prose.NOT_READ.items():
        assert {text for text in texts if find_answer(IN_PROSE[name], text) is not None} == set()
    for name, pairs in prose.AS_MARKED.items():
        expected = dict(pairs)
        assert {text: find_answer(IN_PROSE[name], text) for text in expected} == expected


@pytest.mark.parametrize("task", [LISTOPS, CTL, CLOTHES], ids=lambda task: task.name)
def test_no_text_wins_more_than_one_answer(task):
    for text, expected in WRITTEN[task]:
        won = [
            label
            for label in range(len(task.labels))
            if score_answer(task, {"label": label, "steps": [], "text": ""}, text)
        ]
        assert [task.labels[label] for label in won] in ([], [expected]), text


def test_only_names_count_and_an_index_never():
    cifar = make_task("composites", "cifar")  # "T-shirt/top or 0", ...
    assert find_answer(cifar, "The answer is 3.") == "Dress or 3"
    assert find_answer(cifar, "Answer: bag") == "Bag or 8"
    for index in range(10):
        for text in ("{}", "Answer: {}", "0{}", "**{}**", "It is class {}.", r"\boxed{{{}}}"):
            for task in (CTL, CLOTHES):
                found = find_answer(task, text.format(index))
                assert task.read_answer({"label": 0}, found) is None, text


def test_a_long_text_before_it_does_not_change_a_marked_answer():
    before = "We take 3 and go on to the 4th one. Is it larger? "
    for text, expected in WRITTEN[LISTOPS]:
        is_marked = any(mark in text for mark in ("boxed", "nswer", "####"))
        if expected is not None and is_marked and "think" not in text:
            assert find_answer(LISTOPS, f"{before * 200}\n\n{text}") == expected, text


# Text as labels.


def test_the_exact_label_scores_where_labels_are_text():
    task = Reversal()
    for label in ("dcba", "dc ba", "d.", "**d**", "The answer is 3.", "7", "a\nb", "`"):
        row = {"text": label[::-1], "label": label}
        assert score_answer(task, row, label) == 1.0
        assert score_answer(task, row, f"{label}x") == 0.0
        assert score_answer(task, row, None) == 0.0
        if label.isalpha():
            assert task.answer.format_answer(label) == label
            assert score_answer(task, row, f"The answer is **{label}**.") == 1.0
            assert score_answer(task, row, f"So it is {label[::-1]}.") == 0.0


# Labels of other packages' tasks.


@pytest.mark.parametrize(
    "names",
    [("<", "=", ">"), ("+", "-"), ("+1", "-1"), ("-1", "-2"), ("0.5", "1.5"), ("1/2", "3/4"),
     ("10%", "20%"), ("()", "(())"), ("_", "__"), ("T-1", "T-2")],
)  # fmt: skip
def test_names_of_signs_are_read_to_the_sign(names):
    task = SimpleNamespace(answer=class_label(names), labels=names)
    for name in names:
        assert find_answer(task, f"Answer: {name}") == name
        assert find_answer(task, f"It is not so easy.\n\n**Answer:** {name}") == name
    assert find_answer(task, "Answer: 1") is None


def test_negative_numbers_are_read():
    task = SimpleNamespace(answer=value("int8"), labels=None)
    for text in ("Answer: -7", "Answer: \u22127", "5 - 12 = -7", "So it is\n**-7**."):
        assert find_answer(task, text) == "-7", text
    assert find_answer(task, "Answer: 7") == "7"
    assert find_answer(task, "It is 5-7.") is None


# Classes by a part of their name.


def test_a_part_that_two_classes_have_in_common_names_neither():
    names = ("red/rose", "white/rose", "tulips", "tulip", "Lily", "lily", "3/4", "oak s", "N/A")
    task = SimpleNamespace(answer=class_label(names), labels=names)
    read = {text: find_answer(task, f"Answer: {text}") for text in (
        *("red", "rose", "Red / Rose", "tulips", "Tulip", "Lily", "lily", "oak-s", "oaks", "one"),
        "a white",
    )}  # fmt: skip
    assert read == {
        "red": "red/rose", "rose": None, "Red / Rose": "red/rose", "tulips": "tulips",
        "Tulip": "tulip", "Lily": "Lily", "lily": "lily", "oak-s": "oak s", "oaks": "oak s",
        "one": None, "a white": "white/rose",
    }  # fmt: skip


# Every task.


def test_a_label_that_is_a_plain_number_is_found_too():
    row: dict[str, Any] = {"text": "0:1212", "label": 1212}
    assert Numbers().answer.format_answer(row["label"]) == "1212"
    assert score_answer(Numbers(), row, "Answer: 1,212.") == 1.0
    assert score_answer(Numbers(), row, "Answer: 1,2,12.") == 0.0


def test_the_answer_as_text_is_a_class_by_name_or_json():
    assert CTL.answer.format_answer(2) == "010"
    assert GRID.answer.format_answer([[1]]) == "[[1]]"
    numbers = np.array([0.1, -0.5], np.float32).tolist()
    assert json.loads(make_task("identity").answer.format_answer(numbers)) == numbers


# The reward, as libraries for reinforcement learning call it.


def test_the_reward_takes_task_row_and_answer_as_score_does():
    assert list(inspect.signature(score_answer).parameters) == [
        *("task", "row", "answer", "truncated")
    ]
    row = {"text": "", "label": 3, "steps": ["011"]}
    assert score_answer("ctl", row, "Answer: 011.") == 1.0


# What a model is told.


@pytest.mark.parametrize("variant", ["forward", "backward"])
def test_the_instruction_of_ctl_has_the_tables_which_its_rows_lack(variant):
    task = make_task("ctl", variant)
    for function, symbols in task.tables.items():
        for start, reached in zip(task.symbols, symbols, strict=True):  # type: ignore[attr-defined]
            assert f"{start} to {reached}" in task.instruction.split(f" {function}: ")[1]


def test_the_instruction_follows_the_parameters():
    assert "modulo 7" in make_task("arithmetic", modulus=7).instruction
    assert "from left to right" in CTL.instruction
    assert "from right to left" in make_task("ctl", "backward").instruction
