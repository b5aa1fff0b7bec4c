"""Positions at which a label asks for nothing: whatever an answer has there is not read."""

import functools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import synthbench
from synthbench import llm
from synthbench.answers import find_answer
from synthbench.llm.mixtures import carried
from synthbench.llm.verl import compute_score

TASKS = {
    name: synthbench.task(*name.split("/"))
    for name in ("mqar", "chomsky/stack-manipulation", "chomsky/binary-multiplication")
}
#: Entries of a list, and words of a text, that are no tokens of a label, or tokens of another.
WORDS = st.sampled_from(["blank", "k5", "v1", "v9", "_", "0", "1", "end", "<pad>"]) | st.text(
    st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4
)
ENTRIES = WORDS | st.sampled_from(["", " ", None, True, 3, -1, 2.5, float("nan"), 10**5000, [1]])
#: What ends a sentence or stands around an answer is not a word of it.
PLAIN = st.sampled_from(["blank", "k5", "v1", "v9", "0", "1", "pad", "token", "x", "_"])


@functools.cache
def rows(name):
    return llm.prompts(TASKS[name], split="test", limit=60)


@st.composite
def cases(draw, filler):
    """A task, a row, and its label with other entries where it asks for nothing, right or wrong."""
    name = draw(st.sampled_from([*TASKS]))
    row = draw(st.sampled_from([row for row in rows(name) if "_" in row["label"].split()[:60]]))
    label = row["label"].split()
    given = [draw(filler) if token == "_" else token for token in label]
    wrong = draw(st.booleans())
    if wrong:
        place = draw(st.sampled_from([at for at, token in enumerate(label) if token != "_"]))
        others = [token for token in TASKS[name].answer.tokens if token != label[place]]
        given[place] = draw(st.sampled_from(others[:50]))
    return TASKS[name], row, given, float(not wrong)


@settings(deadline=None, max_examples=150)
@given(cases(ENTRIES))
def test_lists_and_arrays_are_read_where_something_is_asked(case):
    task, row, answer, right = case
    array = np.array([*answer, None], object)[:-1]
    for form in (answer, tuple(answer), array):
        assert synthbench.score(task, row, form) == right
        report = synthbench.evaluate([row], {row["id"]: form}, task)
        assert (report.accuracy, report.unparsed, report.too_long) == (right, (), ())


@settings(deadline=None, max_examples=150)
@given(cases(WORDS))
def test_texts_are_read_where_something_is_asked(case):
    task, row, answer, right = case
    for form in (" ".join(answer), "  ".join(answer), np.array(answer)):
        assert synthbench.score(task, row, form) == right
        assert synthbench.evaluate([row], [form], task).accuracy == right


@settings(deadline=None, max_examples=150)
@given(cases(PLAIN))
def test_running_text_is_read_where_something_is_asked(case):
    task, row, answer, right = case
    said = "Answer: " + " ".join(answer)
    assert llm.score(task, row, said) == right
    assert llm.evaluate([row], [said], task).accuracy == right
    assert compute_score("", said, "", carried(task, row)) == right
    assert llm.trl_reward(task)([said], label=[row["label"]]) == [right]
    assert llm.score(task, row, f"I look them up.\n\n{' '.join(answer)}") == right
    assert find_answer(task, said, row) is not None


def test_a_text_that_reaches_no_asked_position_is_not_read():
    task, row = TASKS["mqar"], {"label": "_ _ _ _ v7 _ v9 _"}
    for text in ("", "blank", "I cannot say", "_ _ _ _ x _ v9 _", "a b c d"):
        assert task.read_answer(row, text) is None
    assert task.read_answer(row, "a b c d v7 e v9 f") == row["label"]
    assert task.read_answer({}, "a b c d v7 e v9 f") is None


def test_two_answers_in_one_mark_are_none():
    task, row = TASKS["mqar"], {"label": "_ _ _ v7 _ v9"}
    for text in ("a b c v7 d v9 or a b c v9 d v7", "_ _ _ v7 _ v9, or _ _ _ v9 _ v7"):
        assert llm.score(task, row, f"Answer: {text}") == 0.0
