r"""Answers with unusual marks around them, which must be read, or must not."""

import pytest

from synthbench.evaluation.value import read_answer, reader

NUMBER, TEXT, LISTS, NUMBERS = map(reader, ("number", "text", "lists", "numbers"))
CLASS = reader("name", ("T-shirt/top", "Bag", "Coat"))
STATES = reader("sequence", ("q0", "q1", "q3"))
PATH = reader("checked sequence", tuple("#.SGUDLR*"))
THREE = [[3, 1], [1, 3]]

CASES = {
    "number": (NUMBER, [
        ("Answer: != 7", None), ("\\boxed{!= 7}", None), ("x !== 7", None),
        ("\\boxed{x >= 7}", None), ("Answer: x <= 7", None), ("Answer: 3! + 1 = 7", "7"),
        ("\\boxed{2x = 14; x = 7}", "7"), ("2x = 14, x = 7", "7"),
        ("$x + 3 = 10 \\Leftrightarrow x = 7$", "7"), ("14/2 \\xrightarrow{} 7", "7"),
        ("Answer: 7 milliseconds", "7"), ("7 million", None), ("7 🎉", "7"), ("Answer: 7 🙂", "7"),
        ("<answer><b>7</b></answer>", "7"), ("<b>Answer:</b> 7", "7"), ("<answer>7<answer>", "7"),
        ("Answer: <code>7</code>", "7"),
        ("So <|begin_of_box|>7<|end_of_box|>", "7"), ("< think >Answer: 3< /think >7", "7"),
        ("<|think_start|>3<|think_stop|>Answer: 7", "7"),
        ("**Here is my thought process:** So it gives\n\n7", None),
        ("*Thinking...*\nAnswer: 3\n*...done thinking.*\n7", "7"),
        ("Answer: 7\n\nTest case 2: [MAX 3 4]\nAnswer: 4", "7"),
        ("Answer: 7\n\nQuestion 2) [MAX 3 4]\nAnswer: 4", "7"),
        ("<response>Answer: 7</response>Question: 3?\nAnswer: 3", "7"),
        ("Answer: 7 dozen", None), ('The answer is "7", "or 8"', None),
        ("The answer is 7.\n\nUser: And?\nAssistant: Here is my response: 4", "7"),
    ]),
    "lists": (LISTS, [
        ("Answer:\n3 1\n1 3\nExplanation: as counted", THREE), ("Answer:\n3 1\n\n1 3", THREE),
        ("**Answer: **\n\n[[3, 1], [1, 3]]", THREE), ("3 | 1\n:-:|:-:\n1 | 3", THREE),
        ("Answer:\n```\n\n[[3, 1],\n [1, 3]]\n```", THREE),
    ]),
    "numbers": (NUMBERS, [
        ("Answer: 0.5, -1.25, 3\nEvery number is kept.", [0.5, -1.25, 3]),
        ("\\boxed{[1, 2] or [3, 4]}", None), ("Answer: [1, 2] or [3, 4]", None),
        ("\\boxed{1, 2, x}", None), ("<answer>[1, 2] (as listed)</answer>", [1, 2]),
    ]),
    "states": (STATES, [
        ("Answer:\nq0\nq3\nq1", "q0 q3 q1"), ("\\boxed{q_0, q_3, q_1}", "q0 q3 q1"),
        ("$q_0 \\to q_3 \\to q_1$", "q0 q3 q1"), ("Step by step:\nq0\nq0 q3\nq0 q3 q1", "q0 q3 q1"),
    ]),
    "class": (CLASS, [
        ("The answer is a **bag**.", "Bag"), ('Answer: the "Coat"', "Coat"),
        ("The answer is the **T-shirt/top**.", "T-shirt/top"), ('Answer: "Bag", "Coat"', None),
        ('{"answer": "Bag", "final class": "Coat"}', "Bag"),
    ]),
    "text": (TEXT, [
        ("\\textbf{Answer:} ```\ndcba\n```", "dcba"),
        ('{"answer": "d\\u2192c"}', "d→c"), ('{"answer": "\\u٢١٩٢"}', "\\u٢١٩٢"),
    ]),
    "path": (PATH, [
        ("**Final Answer: \\leftarrow \\downarrow \\uparrow**", "←↓↑"), ("*Answer:* ⇐⇐⇓", "←←↓"),
        ("**Final Answer: ← ↓ ↑**", "← ↓ ↑"), ("The path is:\nL L D", "L L D"),
        ("The path is:\nleft left down", "left left down"),
        ('{"answer": "left", "moves": 1}', "left"), ('{"answer": left, "moves": 1}', "left"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_an_answer_of_unusual_form_is_read_or_refused(kind):
    read, cases = CASES[kind]
    found = {text: read_answer(text, read) for text, _ in cases}
    assert found == dict(cases)


@pytest.mark.parametrize("read", [NUMBER, LISTS, STATES, CLASS])
def test_a_mark_before_a_text_that_runs_away_is_read_in_no_time_worth_mentioning(read):
    # Each would take more than half an hour if reading took the square of the length.
    blank = " " * 10**6
    assert read_answer(f"Answer: |{blank}x", read) is None
    assert read_answer(f"\\boxed{{|{blank}x}}", read) is None
    assert read_answer(f"\\boxed{{7{blank}x {{}} y}}", read) is None
    assert read_answer(f"\\boxed{{x{blank}x}}", PATH) == f"x{blank}x"


def test_a_long_checked_answer_is_read_to_its_end():
    assert read_answer(f"\\boxed{{{'1 because ' * 10**5}\n1}}", PATH).startswith("1 because")
