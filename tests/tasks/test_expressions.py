"""`balance=label`: every label equally often under every root operator, at every depth."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from synthbench.sampling.plan import make_plan
from synthbench.seeding import Draws
from synthbench.tasks.arithmetic.task import Arithmetic
from synthbench.tasks.base import Block
from synthbench.tasks.listops.task import ListOps
from synthbench.tasks.registry import task as make_task
from synthbench.tasks.trees.task import ExpressionTask
from synthbench.verification.verify import verify
from tests.making import make
from tests.support import plain_rows

BALANCED = {"balance": "label"}
#: Depths that are soon drawn.
SHALLOW = {"train_depths": "3", "validation_depths": "3", "test_depths": "2"}


def balanced(name, **parameters):
    task = make_task(name, **{**BALANCED, **parameters})
    assert isinstance(task, ExpressionTask)
    return task


def root(task, text):
    return task.read(text).symbol


def buckets(task, split):
    """Depth, root operator and label of each bucket of a split."""
    goals = [task.goal(bucket) for bucket in task.split(split).buckets]
    operators = task.parameters.operators
    return [(depth, operators[kind], label) for depth, kind, label in goals]  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "each_depth"), [("listops", 38), ("arithmetic", 20)], ids=["listops", "arithmetic"]
)
def test_buckets_are_every_depth_with_every_operator_and_label(name, each_depth):
    task = balanced(name)
    found = buckets(task, "train")
    assert len(set(found)) == len(found) == 5 * each_depth
    assert len(task.split("test").buckets) == 2 * each_depth
    assert ("MIN", 9) not in {(kind, label) for _, kind, label in found}
    assert ("MAX", 0) not in {(kind, label) for _, kind, label in found}


def test_what_does_not_divide_evenly_goes_to_all_depths_operators_and_labels():
    first = buckets(balanced("listops"), "train")[:50]
    for part in zip(*first, strict=True):
        counts = Counter(part).values()
        assert max(counts) - min(counts) <= 5


@pytest.mark.parametrize("name", ["listops", "arithmetic"])
def test_a_bucket_is_what_its_rows_are_and_is_read_from_them_again(name):
    task = balanced(name)
    split = task.split("train")
    for bucket in split.buckets[::11]:
        depth, kind, label = task.goal(bucket)
        block = task.propose(Draws({"bucket": bucket}), 300, split, bucket)
        assert len(block)
        columns = task.rendered(block)
        assert set(task.buckets(columns).tolist()) == {bucket}
        for row in plain_rows(columns)[:5]:
            derived = task.recompute_columns({"text": row["text"]})
            assert (derived[task.bucket_name], derived["label"]) == (depth, label)
            assert root(task, row["text"]) == task.parameters.operators[kind]
        assert task.bucket_label(bucket) == f"{depth} {task.parameters.operators[kind]} {label}"


def given(task, block, kind, label):
    """The rows with a root operator and a label, from rows of any."""
    kinds = task.root_operators({"text": task.rendered(block)["text"]})
    return block.take((kinds == kind) & (block["label"] == label))


@pytest.mark.parametrize(
    ("name", "depth", "kind", "label"),
    [("listops", 2, 0, 3), ("listops", 2, 2, 9), ("arithmetic", 3, 1, 0)],
)
def test_rows_of_a_bucket_are_those_of_the_proposal_that_fit(name, depth, kind, label):
    """Lengths and depths, against the proposal of the depth alone from which others are dropped."""
    task, plain = balanced(name), make_task(name)
    bucket = next(b for b in task.split("train").buckets if task.goal(b) == (depth, kind, label))
    split = plain.split("train")
    every = [plain.propose(Draws({"plain": block}), 16_384, split, depth) for block in range(6)]
    expected = given(task, Block.concatenate(every), kind, label)
    drawn = [
        task.propose(Draws({"drawn": block}), 2_048, task.split("train"), bucket)
        for block in range(6)
    ]
    found = Block.concatenate(drawn)
    assert len(expected) > 100 and len(found) > 100
    for column in ("length", "depth"):
        one, two = (block[column].astype(float) for block in (expected, found))
        error = np.hypot(one.std() / len(one) ** 0.5, two.std() / len(two) ** 0.5)
        assert abs(one.mean() - two.mean()) <= 4.5 * error + 1e-9


def test_root_operators_are_read_from_text():
    listops, arithmetic = balanced("listops"), balanced("arithmetic")
    lists = ["[MED 1 [MAX 2 3 ] ]", "[SM 1 1 ]", "[MIN 0 0 ]", "[NOR 1 2 ]", "7"]
    assert listops.root_operators({"text": pa.array(lists)}).tolist() == [2, 3, 0, -1, -1]
    sums = ["((1*2)+3)", "(1*(2+3))", "((1+1)*(2+2))", "7"]
    assert arithmetic.root_operators({"text": pa.array(sums)}).tolist() == [0, 1, 1, -1]
    fewer = make_task("listops", **{**BALANCED, "operators": "SM,MED"})
    assert isinstance(fewer, ListOps)
    assert fewer.root_operators({"text": pa.array(lists)}).tolist() == [1, 0, -1, -1, -1]
    strange = {"text": pa.array(lists[3:]), "label": pa.array([1, 2])}
    strange["dependency_depth"] = pa.array([1, 1])
    assert set(listops.buckets(strange).tolist()) == {-1}


def test_of_arithmetic_the_few_rows_of_depth_1_are_counted_and_listed():
    task = balanced("arithmetic", train_depths="1,3,5")
    assert isinstance(task, Arithmetic)
    split = task.split("train")
    shallow = [bucket for bucket in split.buckets if task.goal(bucket).depth == 1]
    counts = {bucket: task.capacity(split, bucket) for bucket in shallow}
    assert sum(count or 0 for count in counts.values()) == 200
    for bucket in shallow[:4]:
        listed = task.enumerate_rows(split, bucket)
        assert len(listed) == counts[bucket]
        assert set(task.buckets(task.rendered(listed)).tolist()) == {bucket}
    deep = next(bucket for bucket in split.buckets if task.goal(bucket).depth == 3)
    assert task.capacity(split, deep) is None
    plan = make_plan(task, {split.name: split.rows for split in task.splits})
    shares = {task.goal(bucket): count for bucket, count in plan.quotas["train"].items()}
    assert shares[1, 0, 0] <= 10
    assert shares[5, 1, 3] == shares[3, 0, 6]


def test_with_another_modulus_buckets_that_cannot_be_stay_empty():
    task = balanced("arithmetic", modulus=30, train_depths="1", validation_depths="2")
    split = task.split("train")
    counts = {task.bucket_label(b): task.capacity(split, b) for b in split.buckets}
    assert counts["1 + 29"] == 0  # nine and nine are eighteen
    assert counts["1 * 27"] == 2  # 3*9 and 9*3; 57 is no product of digits


def test_a_balanced_dataset_verifies(tmp_path):
    rows = {"train": 380, "iid": 76, "validation": 76, "test": 76}
    out = tmp_path / "listops"
    made = make(out, "listops", rows=rows, parameters={**BALANCED, **SHALLOW})
    assert verify(out, workers=1, progress=False).ok
    counts = made.variants["default"]["validation"].buckets.values()
    assert max(counts) - min(counts) <= 1
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "--set balance=label" in card
    assert "buckets such as" in card  # they are too many to be listed one by one


def test_the_default_is_the_papers_balance():
    for name in ("listops", "arithmetic"):
        task = make_task(name)
        assert task.split("train").buckets == (1, 2, 3, 4, 5)
        assert task.stream == make_task(name, balance="depth").stream
        assert "balance" not in str(task.stream)
