"""Answers of several tokens, and answers that are one number digit by digit, in running text."""

import pytest

import synthbench
from synthbench import llm
from synthbench.evaluation.final_answer import find_answer
from synthbench.tasks.chomsky.task import FUNCTIONS
from synthbench.tasks.registry import task as make_task
from tests.support import draw_splits

SUM = synthbench.task("addition"), {"text": "3 8 + 9 5 =", "label": "1 3 3"}
PARITY = synthbench.task("chomsky", "parity-check"), {"text": "0 1 1", "label": "0"}
WALK = synthbench.task("chomsky", "cycle-navigation"), {"text": "+ + -", "label": "1"}
VALUE = (
    synthbench.task("chomsky", "modular-arithmetic-brackets"),
    {"text": "( 1 + 2 )", "label": "3"},
)
REVERSED = synthbench.task("chomsky", "reverse-string"), {"text": "0 1 1", "label": "1 1 0"}
STACK = synthbench.task("chomsky", "stack-manipulation"), {"text": "0", "label": "1 0 end _"}
STATES = synthbench.task("state-tracking", "S3"), {"text": "213 132", "label": "213 312"}
RECALL = synthbench.task("mqar"), {"text": "", "label": "_ _ _ v7 _ v9"}
LISTOPS = synthbench.task("listops"), {"text": "", "label": 7}
CTL = synthbench.task("ctl"), {"text": "", "label": 5}

#: A row, its answer, and another.
ROWS = [
    (SUM, "133", "123"),
    (SUM, "1 3 3", "1 2 3"),
    (PARITY, "0", "1"),
    (WALK, "1", "4"),
    (VALUE, "3", "2"),
    (REVERSED, "1 1 0", "0 1 1"),
    (REVERSED, "110", "011"),
    (STACK, "1 0 end", "0 1 end"),
    (STATES, "213 312", "213 132"),
    (RECALL, "_ _ _ v7 _ v9", "_ _ _ v9 _ v7"),
    (LISTOPS, "7", "5"),
    (CTL, "101", "100"),
]

#: Two answers {a} and {b} in one mark.
TWO = [
    "{a} or {b}", "{a} (or {b})", "{a}, possibly {b}", "{a} - or {b}", "{a}, or {b}",
    "{a}, else {b}", "{a}, maybe {b}",
]  # fmt: skip

#: Texts that mark {a} as the answer, or have it alone in the last line.
SETTLED = [
    "{a}", "**{a}**", "[{a}]", "\\boxed{{{a}}}", "Answer: {a}", "The answer is {a}.",
    "Answer: {a}\n\nOr, written again: {a}",
    "Answer: {a}\n\nIt may be checked in 3 steps.",
    "Answer: {a}. Actually, yes, {a}.", "So I get\n\n{a}", "First {b}.\n{a}",
    "Answer: {a}\nLet me know if you need more, or maybe another form.", "Answer: {a} - the end",
    "The answer is {a}, not {b}.", "The wrong result would be {b}. The answer is {a}.",
    "No doubt the answer is {a}.", "```\n{a}\n```", "<answer>{b}</answer> <answer>{a}</answer>",
    "I don't think it is hard. The answer is {a}.", "I doubt it is {b}. The answer is {a}.",
    "I do believe that the answer is {a}.", "There is no doubt that the answer is {a}.",
    "It is not hard to see that the answer is {a}.", "If I am not wrong, the answer is {a}.",
    "If it is even, it is {b}; here the answer is {a}.",
]  # fmt: skip

#: Texts that do not say that {a} is the answer.
DENIALS = [
    "I don't think it is {a}.", "I doubt it's {a}", "The answer is not {a}.",
    "The answer is ≠ {a}", "\\boxed{{\\neq {a}}}", "So it gives {a}.", "Is it {a}?",
    "<answer>Not {a}</answer>", "Answer: unknown, but not {a}",
]  # fmt: skip


def scored(rows, forms):
    return {
        text: llm.score(*row, text)
        for row, answer, other in rows
        for text in (form.format(a=answer, b=other) for form in forms)
    }


def test_two_answers_count_as_none_in_every_task_of_text():
    marks = ("Answer: {}", "{}", "\\boxed{{{{{}}}}}", "<answer>{}</answer>", "The answer is {}.")
    forms = [mark.format(two) for two in TWO for mark in marks]
    assert [text for text, score in scored(ROWS, forms).items() if score] == []
    swapped = [(row, other, answer) for row, answer, other in ROWS]
    assert [text for text, score in scored(swapped, forms).items() if score] == []


def test_an_answer_counts_if_nothing_else_is_said_to_be_one():
    assert [text for text, score in scored(ROWS, SETTLED).items() if not score] == []


def test_what_is_denied_is_no_answer_in_any_task_of_text():
    assert [text for text, score in scored(ROWS, DENIALS).items() if score] == []


# One number.


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        (SUM, [
            "The answer is 133!", "Answer: +133", "38+90=128, 128+5=133.", "Answer: 1, 3, 3.",
            '["1", "3", "3"]', "1|3|3", "1,3,3", "38 + 95 = 133", "Answer: 133 (38 + 95)",
            "Answer: 133, as 133 - 95 = 38", "3 8 + 9 5 = 1 3 3",
        ]),
        (WALK, [
            "Answer: place 1", "The answer is place 1.", "\\boxed{\\text{place } 1}",
            "0 → 1 → 2 → 1",
        ]),
        (VALUE, ["( 1 + 2 ) = 3", "8 mod 5 = 3", "-2 ≡ 3 (mod 5)"]),
        (PARITY, ["even: the answer is zero"]),
    ],
)  # fmt: skip
def test_an_answer_that_is_one_number_is_read_as_a_number(row, texts):
    assert [text for text in texts if not llm.score(*row, text)] == []


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        (SUM, [
            "133 - 1", "Answer: 133 - 1", "133/2", "half of 133", "1.33", "133,000", "100 + 33",
            "133?", "13 3 3", "1 33 3", "1 3 3 3", "-133", "3 3 1", "133.5", "1.33e2", "not 133",
        ]),
        (VALUE, ["3 - 1", "3 + 0", "-3", "2, 3", "modulo 3", "step 3"]),
        (PARITY, ["0 - 1", "0 1", "00", "10", "0.5", "not 0"]),
    ],
)  # fmt: skip
def test_a_part_of_a_number_or_of_a_calculation_is_no_answer(row, texts):
    assert [text for text in texts if llm.score(*row, text)] == []


@pytest.mark.parametrize("written", ["141394", "141,394", "141 394", "141'394", "141_394",
                                     "1 4 1 3 9 4", "1, 4, 1, 3, 9, 4"])  # fmt: skip
def test_a_long_number_may_be_written_in_groups(written):
    row = {"text": "7 0 0 0 0 + 7 1 3 9 4 =", "label": "1 4 1 3 9 4"}
    for form in (
        "{}",
        "So:\n{}.",
        "The answer is {}.",
        "\\boxed{{{}}}",
        "Answer: {}, not 141,395.",
    ):
        assert llm.score("addition", row, form.format(written)) == 1.0, form
    reversed_ = synthbench.task("addition", order="reversed", zero_padding=True)
    assert llm.score(reversed_, {"text": "", "label": "2 0 1 0"}, "So:\n2010.") == 1.0
    assert llm.score(reversed_, {"text": "", "label": "2 0 1 0"}, "So:\n201.") == 0.0


@pytest.mark.parametrize("form", ["{}", "Answer: {}", "\\boxed{{{}}}"])
def test_hyphens_join_single_symbols_alone(form):
    for dash in ("-", "\u2011", "\u2013"):
        assert llm.score(*REVERSED, form.format(dash.join("110"))) == 1.0
    assert llm.score(*STATES, form.format("213-312")) == 0.0
    assert llm.score(*SUM, form.format("1-3-3")) == 0.0


def test_functions_whose_answers_are_digits_are_those_that_say_so():
    for variant, function in FUNCTIONS.items():
        task = make_task("chomsky", variant)
        labels = task.rendered(draw_splits(task, 40, "test")["test"].block)["label"].to_pylist()
        assert function.is_digit == all(len(label.split()) == 1 for label in labels), variant


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("The running products are:\n3, 13, 0, and 59.", "3 13 0 59"),
        ("Answer: 1. 3\n2. 13\n3. 0", "3 13 0"),
        ("Answer:\n1. 3\n2. 13\n3. 0", "3 13 0"),
        ("Answer:\n- 3\n- 13", "3 13"),
        ("Answer: 3 → 13 -> 0 => 59", "3 13 0 59"),
        ("\\boxed{3}, \\boxed{13}", "3 13"),
        ("Answer: 3, 13, 0 and 59", "3 13 0 59"),
        ("Answer:\n3\n13\n0\n59", "3 13 0 59"),
        ("**Answer:**\n3\n13\n\nDone.", "3 13"),
        ("0 1 and 1 0", None),
        ("Answer: 1\n1", "1 1"),
        ("Answer:\n1) 3\n2) 13", "3 13"),
        ("Answer:\n**1.** 3\n**2.** 13", "3 13"),
        ("Answer:\nStep 1: 3\nStep 2: 13", "3 13"),
        ("Answer: 3 · 13 · 0", "3 13 0"),
        ("Answer: 3-13", None),
    ],
)
def test_a_sequence_may_be_a_list_with_and_or_have_a_line_for_each_token(reply, found):
    assert find_answer(make_task("state-tracking", "Z60"), reply) == found
