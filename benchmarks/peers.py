"""Beside reasoning-gym, the nearest peer: `python -m benchmarks peers [--rows N]`.

Its nested arithmetic against ours, each in this process alone: rows a second (its rows in memory,
ours written to Parquet, with all splits, and read again), how many of the rows are distinct, how
many of them come again with the next seed, and with one that is far away: it makes row i of seed s
from s + i, so neighbouring seeds have the same rows, moved by one. Then the validation rows that
are among the training rows: of its arithmetic with the seeds of its training scripts (1 and 2), of
ours in a dataset. All of its tasks are made with these two seeds, and in two processes that hash
texts differently. Needs `pip install reasoning-gym`; without it only our line comes. Both have
their defaults, so the formulas are not the same.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

import synthbench
from synthbench.text.tables import Table, render

#: Makes three rows of each of its tasks and prints a checksum for each; some need more packages.
_EVERY_TASK = """
import contextlib, hashlib, reasoning_gym
from reasoning_gym.factory import DATASETS
for name in sorted(DATASETS):
    with contextlib.suppress(Exception):
        rows = reasoning_gym.create_dataset(name, size=3, seed=42)
        texts = repr([(rows[i]["question"], rows[i]["answer"]) for i in range(3)])
        print(name, hashlib.sha256(texts.encode()).hexdigest())
"""
#: Prints for each of its tasks the share of rows with seed 2 that are also there with seed 1; tasks
#: that take longer than the limit in seconds, or need more packages, are left out.
_TWO_SEEDS = """
import contextlib, signal, reasoning_gym
from reasoning_gym.factory import DATASETS
def give_up(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, give_up)
for name in sorted(DATASETS):
    signal.alarm(20)
    with contextlib.suppress(Exception):
        one, other = (reasoning_gym.create_dataset(name, size=100, seed=seed) for seed in (1, 2))
        known = {str(one[i]["question"]) for i in range(100)}
        print(name, sum(str(other[i]["question"]) in known for i in range(100)) / 100)
    signal.alarm(0)
"""
#: Rows of training and of validation in its training scripts.
_THEIR_ROWS = 2_000
#: A seed that shares no s + i with 42.
_FAR = 1_000_000


def main(words):
    """Measure both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args(words)
    lines = [_line("synthbench arithmetic", arguments.rows, _ours)]
    with contextlib.suppress(ModuleNotFoundError):
        lines.append(_line("reasoning-gym basic_arithmetic", arguments.rows, _theirs))
    head = ("task", "rows/s", "distinct", "again with the next seed", "with a distant seed")
    print(render(Table(head, lines, right=(1, 2, 3, 4))))
    if len(lines) > 1:
        train = set(_theirs(_THEIR_ROWS, 1))
        known = sum(text in train for text in _theirs(_THEIR_ROWS, 2))
        print(f"reasoning-gym: {known:,} of {_THEIR_ROWS:,} rows with seed 2 are those of seed 1")
        shares = {name: float(share) for name, share in _every_task(_TWO_SEEDS, "1").items()}
        same = sum(share >= 0.9 for share in shares.values())
        print(f"reasoning-gym: {same} of {len(shares)} tasks share at least 90% of them")
        first, second = (_every_task(_EVERY_TASK, seed) for seed in ("1", "2"))
        differ = sum(first[name] != second[name] for name in first)
        print(f"reasoning-gym: {differ} of {len(first)} tasks differ from process to process")


def _line(name, rows, make):
    make(1_000, 0)
    started = time.perf_counter()
    texts = make(rows, 42)
    seconds = time.perf_counter() - started
    distinct = set(texts)
    again, far = (distinct & set(make(rows, seed)) for seed in (43, _FAR))
    shares = (f"{len(some) / rows:.1%}" for some in (distinct, again, far))
    return (name, f"{rows / seconds:,.0f}", *shares)


def _ours(rows, seed):
    with tempfile.TemporaryDirectory() as place:
        out = Path(place, "arithmetic")
        options = {"rows": {"train": rows}, "workers": 1, "progress": False}
        synthbench.generate(synthbench.task("arithmetic", seed=seed), out=out, **options)
        train = sorted((out / "data" / "default").glob("train-*.parquet"))
        texts: Sequence[str] = pq.read_table(train, columns=["text"])["text"].to_pylist()
    return texts


def _theirs(rows, seed):
    import reasoning_gym

    dataset = reasoning_gym.create_dataset("basic_arithmetic", size=rows, seed=seed)
    return [dataset[number]["question"] for number in range(rows)]


def _every_task(program, hash_seed):
    """Its tasks with what a program prints of each, in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())
