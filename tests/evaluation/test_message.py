"""The message of a reply: thoughts of all families, ends of turns, made-up questions."""

from __future__ import annotations

import pytest

from synthbench.answers import find_answer
from synthbench.evaluation.message import read_message
from synthbench.tasks.registry import task as make_task

#: Thoughts {t} and the message {m}, as models write them.
THOUGHTS = [
    *(f"<{name}>{{t}}</{name}>{{m}}" for name in (
        "think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad",
        "analysis", "THINK", "Thought", "seed:think", "mm:think", "ifm|think", "longcat_think",
        "think_fast", "think:opensource", "antThinking", "inner_monologue", "reason", "cot",
        "internal_thoughts", "plan", "rationale",
        "work", "step_by_step", "draft", "hidden", "思考",
    )),
    "[REASONING]{t}[/REASONING]{m}",
    "《think》{t}《/think》{m}", "<unused94>thought\n{t}<unused95>{m}",
    "<|beginofthink|>{t}<|endofthink|>{m}",
    "[THINK]{t}[/THINK]{m}", "[think]{t}[/think]{m}", "◁think▷{t}◁/think▷{m}",
    "<|begin_of_thought|>{t}<|end_of_thought|><|begin_of_solution|>{m}<|end_of_solution|>",
    "<|channel|>analysis<|message|>{t}<|end|><|start|>assistant<|channel|>final<|message|>{m}",
    "<|channel|>analysis<|message|>{t}<|channel|>final <|constrain|>json<|message|>{m}<|return|>",
    "<|START_THINKING|>{t}<|END_THINKING|><|START_RESPONSE|>{m}<|END_RESPONSE|>",
    "<|inner_prefix|>{t}<|inner_suffix|>{m}", "[unused16]{t}[unused17]{m}",
    "<|plamo:begin_think:plamo|>{t}<|plamo:end_think:plamo|>{m}",
    "<|think|>{t}<|/think|>{m}", "<|think_start|>{t}<|think_end|>{m}",
    "<|think|>{t}<|end|><|begin|>assistant<|content|>{m}<|end|>",
    "<|channel>thought\n{t}<channel|>{m}<turn|>", "<｜think｜>{t}<｜/think｜>{m}",
    "<|open|>think<|sep|>{t}<|close|>think<|sep|><|open|>response<|sep|>{m}<|close|>response",
    "<|im_start|>think\n{t}<|im_start|>answer\n{m}",
    "Here is my thought process: {t}\nHere is my response: {m}",
    "Here's my thought process: {t}\nHere's my response: {m}",
    "Here are my reasoning steps:\n{t}\n[BEGIN FINAL RESPONSE]\n{m}\n[END FINAL RESPONSE]",
    "Thinking...\n{t}\n...done thinking.\n\n{m}", "analysisWe see. {t}assistantfinal{m}",
    '<details type="reasoning" done="true">\n<summary>Thought</summary>\n{t}\n</details>\n{m}',
]  # fmt: skip

#: Behind a message: the end of its turn, and perhaps another turn.
ENDS = [
    "", "\n", "<|im_end|>", "<|eot_id|>", "</s>", "<s>", "<|endoftext|>", "<end_of_turn>", "<eos>",
    "<|end|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "<|return|>",
    "<eop>", "<eoa>", "<end>", "<stop>", "[END]", "<SPECIAL_12>", "<TOKENS_UNUSED_1>", "</s", "</",
    "[|endofturn|]\n[|user|]And?\n[|assistant|]Answer: 4", "<SPECIAL_11>User\nx\n<SPECIAL_11>4",
    "[EOS]", "[/s]", "<\\s>", "<EOS_TOKEN>", "<extra_id_0>",
    "<|im_e", "<seed:eos>", "<pad><pad>", " [INST] And 5? [/INST] 4",
    "<|im_end|>\n<|im_start|>user\nAnd 5?<|im_end|>\n<|im_start|>assistant\nAnswer: 4",
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd?<|eot_id|>\nAnswer: 4",
    "<end_of_turn>\n<start_of_turn>user\nAnd?<end_of_turn>\n<start_of_turn>model\nAnswer: 4",
    "<|user|>\nAnd?<|assistant|>\nAnswer: 4", "<|im_end|><|im_start|>assistant\n<think>And 4",
]  # fmt: skip


#: The beginnings of made-up questions and turns, in words.
QUESTIONS = [
    "Question: ", "Q: ", "Q2. ", "Q2: ", "User: ", "Human: ", "### Instruction:\n",
    "**Question 2**\n", "**Problem 2:** ", "Exercise 2.\n", "Example 2:\n", "Next question: ",
    "Another list: ", "Input: ", "Prompt: ", "Expression: ", "Task: ", "Task 2: ", "User\n",
    "<user>", "[User]: ", "[Question]\n", "<question>", "User message: ", "USER: ", "System: ",
    "## Question 2\n",
]  # fmt: skip


@pytest.mark.parametrize(
    "form", ["Answer: 7", "The answer is 7.", "\\boxed{7}", "7", "So it is\n7"]
)
def test_a_made_up_question_ends_the_answer_and_a_restated_one_does_not(form):
    task = make_task("listops")
    for question in QUESTIONS:
        made_up = f"{form}\n\n{question}[MAX 3 4 ]\nAnswer: 4"
        assert find_answer(task, made_up) == "7", question
        assert find_answer(task, f"Sure.\n{question}[MAX 3 7 ]\n\n{form}") == "7", question


def unwrapped(text):
    return "".join(part for part, _ in read_message(text)).strip()


@pytest.mark.parametrize("form", THOUGHTS)
def test_thoughts_are_left_out_whoever_wrote_them(form):
    for thought in ("Answer: 3?", "Is it 3?\n\nQuestion: again\nUser: so 3.", "\\boxed{3}", ""):
        for end in ENDS:
            assert unwrapped(form.format(t=thought, m="Answer: 7") + end) == "Answer: 7", end


@pytest.mark.parametrize("form", THOUGHTS)
def test_thoughts_that_never_close_leave_no_message(form):
    assert read_message(form.partition("{t}")[0] + "So far it gives\n\nAnswer: 7") is None


@pytest.mark.parametrize("opening", ["<think>", "[THINK]", "◁think▷", "<|begin_of_thought|>"])
def test_an_opening_that_never_closes_leaves_no_message(opening):
    for text in ("{}It gives 7", "Answer: 7\n{}\nOr 3?", "Answer: 7.{}", "Okay. {} Answer: 7"):
        assert read_message(text.format(opening)) is None


@pytest.mark.parametrize("form", THOUGHTS[:-1])
def test_a_closing_without_an_opening_leaves_what_follows(form):
    # A chat template has put the opening into the prompt.
    assert unwrapped("So Answer: 3?" + form.partition("{t}")[2].format(m="7")) == "7"


@pytest.mark.parametrize("end", ENDS)
def test_a_message_ends_with_its_turn(end):
    for text in ("Answer: 7", "0 1 2", "It is so. 7"):
        for begin in ("", "<s>", "<|im_start|>assistant\n", "<|assistant|>"):
            assert unwrapped(begin + text + end) == text


def test_a_truncated_reply_has_an_answer_only_where_it_is_marked():
    task = make_task("listops")
    assert find_answer(task, "7", truncated=True) is None
    assert find_answer(task, "First the inner list gives 7", truncated=True) is None
    assert find_answer(task, "Answer: 7. As to why", truncated=True) == "7"
    assert find_answer(task, "<think>Answer: 7", truncated=True) is None
    assert find_answer(task, "<think>Is it 3? Answer: 3</think>It is 7", truncated=True) is None
