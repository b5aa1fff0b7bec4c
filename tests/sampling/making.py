"""Splits of the toy task: numbers of rows, what is drawn, and what there is to draw."""

from __future__ import annotations

import collections

import numpy as np

from synthbench.engine.engine import Engine
from synthbench.sampling.blocks import list_candidates
from synthbench.sampling.plan import Plan, make_plan
from synthbench.sampling.splits import SplitSampler
from synthbench.tasks.row_ids import PROBLEM_BITS
from tests.toy_task import Numbers

HERE = Engine(None, 1)


class Open(Numbers):
    """No row is held out, so train may have all of them."""

    def problem(self, block):
        return np.full(len(block), PROBLEM_BITS)


def toy(*sizes, counted=True, seed=0):
    return Numbers(None, {"sizes": sizes, "counted": counted}, seed)


def small(train=30, iid=3, test=1):
    return {"train": train, "iid": iid, "test": test}


def rounds_of(task, rows, engine=HERE):
    """All rounds of all splits."""
    plan = make_plan(task, rows)
    return {split.name: rows_of(SplitSampler(task, split, plan, engine)) for split in task.splits}


def train(task, quotas, engine=HERE):
    """The sampler of a train split that has so many rows of each bucket."""
    return SplitSampler(task, task.split("train"), Plan({"train": quotas}), engine)


def rows_of(sampler):
    return [one.rows() for one in sampler.rounds()]


def prints_of(rounds):
    return [one for drawn in rounds for one in drawn.fingerprints.tolist()]


def counts_of(rounds):
    counts = collections.Counter(b for drawn in rounds for b in drawn.block["bucket"].tolist())
    return dict(sorted(counts.items()))


def numbers_of(task, split, bucket):
    """All numbers of a bucket that a split may have."""
    (listed,) = list_candidates(task, {}, task.split(split), bucket)
    return sorted(listed.block["number"].tolist())
