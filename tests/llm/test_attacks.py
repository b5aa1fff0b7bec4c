r"""Rewards without knowing the answer: texts that settle on nothing, or on several answers.

What an answer is follows from its text alone, never from the label. So a text can win at most one
label, and hedging is never worth more than a guess.
"""

import synthbench
from synthbench import llm

LABELS = range(10)

#: Texts that win nothing, whatever the label is.
WORTHLESS = [
    # Several answers.
    "0 1 2 3 4 5 6 7 8 9", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9", "The answer is 3 or 7.",
    "Answer: either 3 or 7", "Answer: 3/7", "Answer: 3 and 7", "Answer: 3 | 7", "Answer: 3, 7",
    "Answer: 3; 7", "Answer: 3-7", "Answer: from 0 to 9", "Answer: between 3 and 7",
    "Answer: {3, 7}", "Answer: [3, 7]", "Answer: 0 1 2 3 4 5 6 7 8 9", "Answer: 3 7",
    "Answer: 3 (or 7)", "Answer: 3:7", "Answer: 3...7", "Answer: 3 * 7", "Answer: 3·7",
    "Answer: 3 or 7, depending on the parity", "3 with 50%, 7 with 50%", "It is one of 3, 7.",
    "neither 3 nor 7", "The answer is not 3, not 7", "Answer: three or seven", "Answer: three 7",
    "Answer: 3 … maybe 7", "Answer: 3, perhaps 7", "c = 3 or d = 7", "Answer: 3 to 7",
    "Answer: a = 3 and b = 7", "The answer has 7 digits", "The answer is a multiple of 7",
    "| 3 | 7 |", '{"answer": [3, 7]}',
    "Answer: 3. Alternatively, 7.", "Answer: 3 - or 7",
    "Answer: 3 if odd, 7 if even", "Answer: 3 if odd, else 7",
    # Boxes, tags and bold.
    r"\boxed{3, 7}", r"\boxed{3} \boxed{7}", r"\boxed{3} or \boxed{7}", "#### 3 #### 7",
    r"\boxed{3\text{ or }7}", r"\boxed{\begin{cases}3\\7\end{cases}}",
    "<answer>3 7</answer>", "**3** or **7**", "#### 3 or 7",
    # Digits that are part of something else, and other digits.
    "Answer: 37", "Answer: 0123456789", "Answer: -7", "Answer: 7e0", "Answer: 14/2", "Answer: 3+4",
    "Answer: 17 mod 10", "Answer: 0x7", "Answer: ３ or ７", "Answer: ⑦",
    "Answer: ⁷", "Answer: Ⅶ",
    # No answer: doubts, thoughts, the prompt again.
    "Answer: ?", "Perhaps 7?", "Not sure, 7?", "Answer: x", "<think>Answer: 7</think>",
    "Answer: 7 <think>", "Answer: ...", "Answer: label", "Answer: {{ label }}", "Answer: answer",
    "Answer: the correct answer", "Answer: c if odd else d",
    "Write your answer on the last line, in the form 'Answer: ...'.",
]  # fmt: skip

#: Texts with several numbers, of which one is the guess.
GUESSES = {
    "Answer: 3\nAnswer: 7": 7,
    "Answer: 3 Answer: 7": 7,
    "<answer>3</answer> or <answer>7</answer>": 7,
    # The mark counts, and without one the last line if it is a value alone.
    "Answer: 3\n(or 7)": 3,
    "Answer: 3\n\nOr 7": 3,
    "Answer: 3\n\nActually it may be 7": 3,
    "- 3\n- 7": 7,
    "3\n\nor\n\n7": 7,
    "3 or\n7": 7,
    "The answer is 3. The answer is 7.": 7,
    # Digits of other scripts are digits.
    "3, so to say. Answer: ７": 7,
    "3? Answer: ٧": 7,
    "I had 3. Answer: 𝟕": 7,
    '{"answer": 3, "answer": 7}': 7,
    "<think>3</think> 7 </think> 3": 3,
}


def won(text):
    return [label for label in LABELS if llm.score("arithmetic", {"label": label}, text)]


def test_texts_that_settle_on_nothing_win_nothing():
    assert {text: won(text) for text in WORTHLESS if won(text)} == {}


def test_of_several_answers_one_counts_whatever_the_label_is():
    assert {text: won(text) for text in GUESSES} == {text: [one] for text, one in GUESSES.items()}


def test_a_text_that_is_pieced_together_wins_at_most_one_label():
    pieces = [*WORTHLESS, *GUESSES]
    for first, second in zip(pieces, pieces[7:] + pieces[:7], strict=True):
        for text in (f"{first} {second}", f"{first}\n{second}", f"{second}, {first}"):
            assert len(won(text)) <= 1, text


def test_the_question_again_wins_nothing():
    ctl = synthbench.task("ctl", level="easy")
    rows = llm.prompts(ctl, preset="small")
    assert {row["text"][:2] for row in rows if row["text"][:2] == row["answer"]}
    for form in ("{}", "Answer: {}", "The answer is {}.", "{}\n\nThe answer is {}."):
        texts = [form.format(*[row["text"]] * 2) for row in rows]
        assert llm.evaluate(rows, texts, ctl).accuracy == 0.0
