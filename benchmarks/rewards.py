"""Completions a second that rewards score: `python -m benchmarks rewards [--other PATH]`.

Each completion reasons in lines of listops up to a length, then states its answer. Measured are
`llm.score` with the task's name and `llm.trl_reward`, of another checkout too, and beside them the
readers `math-verify` and `extract_answer` of reasoning-gym, where they are installed. Figures are
completions a second of processor time, the best of `--repeat` runs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

from synthbench.text.tables import Table, render

_LINE = "The innermost list has the arguments 3, 9 and 1, and its value is {}.\n"
_ENDINGS = ("The answer is {}.", "Answer: {}", "\\boxed{{{}}}", "<answer>{}</answer>")
#: Scores the completions of standard input with the checkout that is the current directory.
_PROGRAM = """
import json, sys, time
from synthbench import llm
labels, completions = json.load(sys.stdin)
reward = llm.trl_reward("listops")
def score():
    rows = ({"text": "", "label": label} for label in labels)
    return [llm.score("listops", *pair) for pair in zip(rows, completions)]
def judge():
    return reward(completions, label=labels)
rates = {}
for name, function in (("llm.score", score), ("llm.trl_reward", judge)):
    seconds = []
    for _ in range(int(sys.argv[1])):
        begin = time.process_time()
        assert sum(function()) == len(labels), "a right answer was not read"
        seconds.append(time.process_time() - begin)
    rates[name] = len(labels) / min(seconds)
json.dump(rates, sys.stdout)
"""


def main(words):
    """Print the rate of every reward and reader."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks rewards", description=__doc__)
    parser.add_argument("--other", type=Path, help="another checkout")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--length", type=int, default=1_000, help="characters of a completion")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args(words)
    labels = [number % 10 for number in range(arguments.rows)]
    completions = [_completion(number, arguments.length) for number in range(arguments.rows)]
    rates = _scored(Path.cwd(), labels, completions, arguments.repeat)
    if arguments.other:
        other = _scored(arguments.other, labels, completions, arguments.repeat)
        rates |= {f"{name}, other": rate for name, rate in other.items()}
    for name, read in _peers().items():
        some = completions[: 500 if name == "math-verify" else None]
        begin = time.process_time()
        for completion in some:
            read(completion)
        rates[name] = len(some) / (time.process_time() - begin)
    lines = [(name, f"{rate:,.0f}") for name, rate in rates.items()]
    print(render(Table(("reward or reader", "completions/s"), lines, right=(1,))))


def _completion(number, length):
    """A completion of about `length` characters, each with other numbers."""
    ending = _ENDINGS[number % len(_ENDINGS)].format(number % 10)
    text = f"Row {number}.\n"
    while len(text) + len(_LINE) + len(ending) <= length:
        text += _LINE.format((number + len(text)) % 10)
    return text + ending


def _scored(checkout, labels, completions, repeat):
    command = [sys.executable, "-c", _PROGRAM, str(repeat)]
    payload = json.dumps([labels, completions])
    done = subprocess.run(
        command, cwd=checkout, input=payload, capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


def _peers():
    """The readers of other packages that are installed."""
    peers = {}
    if importlib.util.find_spec("math_verify"):
        from benchmarks.replies import math_verify_reader

        peers["math-verify"] = math_verify_reader()
    if importlib.util.find_spec("reasoning_gym"):
        from reasoning_gym.utils import extract_answer

        peers["reasoning-gym"] = extract_answer
    return peers
