"""Blocks of rows as the tests of single tasks look at them."""

import json

import pyarrow as pa
import pytest

from synthbench.seeding import Draws
from synthbench.tasks.base import Block
from synthbench.tasks.row_ids import fingerprints
from synthbench.tasks.worked import worked_functions, worked_steps
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


def parsed(task, *texts):
    """The rows of texts, as the task parses them in one block."""
    return rows_of(task, task.parse({"text": pa.array(texts)}))


def assert_solver_and_parse_agree(task, text):
    """Both refuse a text, or both read it alike, and then its worked steps hold."""
    try:
        solved = " ".join(task.solve(text))
    except ValueError:
        with pytest.raises(ValueError, match=f"{task.name}: not every row"):
            parsed(task, text)
    else:
        (row,) = parsed(task, text)
        assert row["label"] == solved
        assert worked_functions(type(task)) is None or worked_steps(task, row)


def assert_both_refuse(task, text, match):
    """The solver refuses a text with a message, and so does `parse`."""
    with pytest.raises(ValueError, match=match):
        task.solve(text)
    with pytest.raises(ValueError, match=r"."):
        parsed(task, text)


def assert_lengths_share_a_block(task, buckets):
    """Rows of train and of two longer buckets of test are read in one block."""
    rows = [rows_of(task, propose(task, "test", 5, bucket))[3] for bucket in buckets]
    rows.append(rows_of(task, propose(task, n=4))[2])
    assert parsed(task, *[row["text"] for row in rows]) == rows
