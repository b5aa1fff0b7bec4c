"""How well answers are read in real replies: `python -m benchmarks replies FILE [--other PATH]`.

FILE is Parquet with the columns `model`, `task`, `expected` (a whole number as text) and `reply`.
For each reader it prints how many replies it reads as the expected number, as another number and
not at all, and how many it reads a second: our reader; that of another checkout; the last number of
the text; `math-verify`, if installed; and the filters `strict-match` and `flexible-extract` of
lm-evaluation-harness. Where `--other` is given, it also counts the replies that the two read
differently, and `--show N` prints the ends of N of them.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq

from synthbench.answers import find_answer
from synthbench.tasks.features import value
from synthbench.text.tables import Table, render

#: Reads the replies of a file with the checkout that is the current directory.
_OTHER = """
import json, sys, time
import pyarrow.parquet as pq
from types import SimpleNamespace
from synthbench.answers import find_answer
from synthbench.tasks.features import value
task = SimpleNamespace(answer=value("int64"), labels=None)
replies = pq.read_table(sys.argv[1], columns=["reply"])["reply"].to_pylist()
seconds = []
for _ in range(int(sys.argv[2])):
    begin = time.process_time()
    found = [find_answer(task, reply) for reply in replies]
    seconds.append(time.process_time() - begin)
json.dump([found, min(seconds)], sys.stdout)
"""
#: The filters of the harness's task gsm8k.
_STRICT = re.compile(r"#### (\-?[0-9\.\,]+)")
_FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


def main(words):
    """Count and time what each reader reads."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks replies", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--other", type=Path, help="another checkout")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args(words)
    rows = pq.read_table(arguments.file).to_pylist()
    replies = [row["reply"] for row in rows]
    readers = {"synthbench": _ours, "last number": _last, "strict-match": _strict,
               "flexible-extract": _flexible}  # fmt: skip
    if importlib.util.find_spec("math_verify"):
        readers["math-verify"] = math_verify_reader()
    readings, rates = {}, {}
    for name, read in readers.items():
        readings[name], seconds = _timed(
            read, replies, 1 if name == "math-verify" else arguments.repeat
        )
        rates[name] = len(replies) / seconds
    if arguments.other:
        file, repeat = str(arguments.file.resolve()), str(arguments.repeat)
        command = [sys.executable, "-c", _OTHER, file, repeat]
        done = subprocess.run(command, cwd=arguments.other, capture_output=True, check=True)
        readings["other"], seconds = json.loads(done.stdout)
        rates["other"] = len(replies) / seconds
    lines = [
        (name, *map(str, counts(rows, read).values()), f"{rates[name]:,.0f}")
        for name, read in readings.items()
    ]
    print(render(Table(("reader", *KINDS, "replies/s"), lines, right=range(1, 5))))
    print(render(_by_model(rows, readings)))
    if arguments.other:
        _compare(rows, readings["synthbench"], readings["other"], arguments.show)


KINDS = ("right", "another number", "not read")


def kind(expected, read):
    """How a reply was read: `right`, `another number` or `not read`."""
    if read in (None, ""):
        return "not read"
    try:
        return "right" if int(read) == int(expected) else "another number"
    except ValueError:
        return "another number"


def counts(rows, readings):
    """How many replies were read in each way."""
    kinds = collections.Counter(
        kind(row["expected"], read) for row, read in zip(rows, readings, strict=True)
    )
    return {name: kinds[name] for name in KINDS}


def _by_model(rows, readings):
    """Right replies by model and reader."""
    models = sorted({row["model"] for row in rows})
    lines = []
    for model in models:
        places = [place for place, row in enumerate(rows) if row["model"] == model]
        own = [rows[place] for place in places]
        right = [
            counts(own, [read[place] for place in places])["right"] for read in readings.values()
        ]
        lines.append((model, str(len(own)), *map(str, right)))
    return Table(("right by model", "replies", *readings), lines, right=range(1, 2 + len(readings)))


def _compare(rows, ours, other, shown):
    """Replies that two readers read differently, by what became of them."""
    pairs = collections.Counter()
    for row, mine, theirs in zip(rows, ours, other, strict=True):
        before, after = kind(row["expected"], theirs), kind(row["expected"], mine)
        if before != after or (before == "another number" and mine != theirs):
            pairs[before, after] += 1
            if pairs.total() <= shown:
                change = f"{theirs!r} -> {mine!r}"
                print(f"{row['model']}, {row['task']}: {change}: {row['reply'][-120:]!r}")
    lines = [(*pair, str(count)) for pair, count in pairs.most_common()]
    print(render(Table(("other", "synthbench", "replies"), lines, right=[2])))


def _timed(read, replies, repeat):
    best = float("inf")
    for _ in range(repeat):
        begin = time.process_time()
        readings = [read(reply) for reply in replies]
        best = min(best, time.process_time() - begin)
    return readings, best


_TASK = SimpleNamespace(answer=value("int64"), labels=None)


def _ours(reply):
    return find_answer(_TASK, reply)


def _last(reply):
    numbers = re.findall(r"-?\d[\d,]*(?:\.\d+)?", reply)
    return numbers[-1].replace(",", "") if numbers else None


def _strict(reply):
    match = _STRICT.search(reply)
    return match and match[1].replace(",", "").rstrip(".")


def _flexible(reply):
    numbers = [first or second for first, second in _FLEXIBLE.findall(reply)]
    return numbers[-1].strip("$").replace(",", "").rstrip(".") if numbers else None


def math_verify_reader():
    """The first value that `math_verify.parse` gives, if it is whole."""
    from math_verify import parse

    def read(reply):
        values = parse(reply, parsing_timeout=None)
        first = values[0] if values else None
        if first is None:
            return None
        return str(int(first)) if getattr(first, "is_integer", False) is True else str(first)

    return read
