"""Beside reasoning-gym, the nearest peer: `python -m benchmarks peers [--rows N]`.

Its nested arithmetic against ours, each in this process alone: rows a second (its rows in memory,
ours written to Parquet, with all splits, and read again), how many of the rows are distinct, and
how many of them come again with the next seed. Its other tasks are
made in two processes that hash texts differently. Needs `pip install reasoning-gym`; without it
only our line comes. Both have their defaults, so the formulas are not the same.
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


def main(words):
    """Measure both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    chosen = parser.parse_args(words)
    lines = [_line("synthbench arithmetic", chosen.rows, _ours)]
    with contextlib.suppress(ModuleNotFoundError):
        lines.append(_line("reasoning-gym basic_arithmetic", chosen.rows, _theirs))
    head = ("task", "rows/s", "distinct", "again with the next seed")
    print(render(Table(head, lines, right=(1, 2, 3))))
    if len(lines) > 1:
        first, second = (_every_task(seed) for seed in ("1", "2"))
        differ = sum(first[name] != second[name] for name in first)
        print(f"reasoning-gym: {differ} of {len(first)} tasks differ from process to process")


def _line(name, rows, make):
    make(1_000, 0)
    started = time.perf_counter()
    texts = make(rows, 42)
    seconds = time.perf_counter() - started
    distinct = set(texts)
    again = distinct & set(make(rows, 43))
    shares = (f"{len(some) / rows:.1%}" for some in (distinct, again))
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

    made = reasoning_gym.create_dataset("basic_arithmetic", size=rows, seed=seed)
    return [made[number]["question"] for number in range(rows)]


def _every_task(hash_seed):
    """Its tasks with a checksum each, made in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", _EVERY_TASK],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())
