"""Blocks of rows as the tests of single tasks look at them."""

import json

from synthbench.seeding import Draws
from synthbench.tasks.base import Block
from synthbench.tasks.row_ids import fingerprints
from synthbench.verification.conformance.check import (
    CheckResult,
    _ask_each,
    _of_rows,
    _of_the_task,
)
from synthbench.verification.conformance.levels import check_levels
from synthbench.verification.conformance.rows import check_columns, check_ids, check_solver
from synthbench.verification.conformance.rows import plain_rows as rows_of


def propose(task, split=None, n=20, bucket=None, block=0):
    """Candidates of a split, of its first one by default, and of one of its buckets, likewise."""
    split = task.splits[0] if split is None else task.split(split)
    bucket = split.buckets[0] if bucket is None else bucket
    return task.propose(Draws({"test": bucket}, block), n, split, bucket)


def propose_all(task, split="train", n=20):
    """Candidates of all the split's buckets, in one block as the sampler joins them."""
    return Block.concatenate(
        [propose(task, split, n, bucket) for bucket in task.split(split).buckets]
    )


def all_candidates(task, draws, n, bucket):
    """Candidates of a bucket, held out or not: from the same draws train and iid get their own."""
    parts = [task.propose(Draws(draws), n, task.split(name), bucket) for name in ("train", "iid")]
    return Block.concatenate(parts)


def assert_sound(task, block):
    """A block keeps what conformance demands, and equal rows and only these have equal ids.

    For blocks of other parameters than the default ones, with which conformance is tested.

    Returns:
        The rows of the block.
    """
    for check in (check_columns, check_solver, check_ids):
        assert check(task, block) == []
    rows = rows_of(task, block)
    inputs = [json.dumps([row[name] for name in task.inputs]) for row in rows]
    named = ids(task, block)
    assert len(set(zip(inputs, named, strict=True))) == len(set(inputs)) == len(set(named))
    return rows


def assert_rows_and_levels(task, directory):
    """A variant keeps the promises of rows and levels; the others' code knows no variants."""
    questions = [*_of_the_task(task), *_of_rows(task)]
    results = [step for step in _ask_each(task, questions) if isinstance(step, CheckResult)]
    assert [result for result in results if result.problems] == []
    assert len(results) == len(questions)
    assert check_levels(task, directory) == []


def ids(task, block):
    return fingerprints(task, block).tolist()
