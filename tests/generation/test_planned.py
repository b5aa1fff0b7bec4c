"""What is known of a dataset before it is made, and that it is so when it is there."""

import pytest

import synthbench
from synthbench.errors import ParameterError, UsageError
from synthbench.generation.planned import PlannedDataset

ROWS = {"train": 100, "iid": 60, "validation": 60, "test": 60}
CTL = synthbench.task("ctl", symbols=4)


def test_the_rows_planned_are_the_rows_made(tmp_path):
    planned = PlannedDataset(tmp_path / "data", [CTL], ROWS)
    few = planned.few_rows(CTL)
    assert few.num_rows > 0
    assert {len(text.split()) - 1 for text in few["text"].to_pylist()} == {9, 10}  # the hardest
    assert list(tmp_path.iterdir()) == []
    made = planned.make(workers=1, progress=False)
    there = PlannedDataset(tmp_path / "data", [CTL])
    for plan in (planned, there):
        assert {split: plan.count(CTL, split) for split in ROWS} == ROWS
        assert plan.count(CTL, "exam") == 0
        assert plan.tasks == (CTL,)
    assert there.few_rows(CTL)["id"].to_pylist() == [
        row["id"] for _, row in zip(range(60), made.rows("forward", "test"), strict=False)
    ]
    assert there.make(workers=1).manifest == made.manifest


def test_a_dataset_that_is_there_has_its_own_parameters_only_if_any_will_do(tmp_path):
    PlannedDataset(tmp_path / "data", [CTL], ROWS).make(workers=1, progress=False)
    usual = synthbench.task("ctl")
    with pytest.raises(UsageError, match=r"has symbols=4; symbols=8 was asked for"):
        PlannedDataset(tmp_path / "data", [usual])
    assert PlannedDataset(tmp_path / "data", [usual], any_parameters=True).tasks == (CTL,)
    with pytest.raises(UsageError, match=r"is of task 'ctl'. Expected 'parity'"):
        PlannedDataset(tmp_path / "data", [synthbench.task("parity")], any_parameters=True)


def test_rows_that_cannot_be_are_refused_before_anything_is_made(tmp_path):
    with pytest.raises(UsageError, match="Did you mean 'train'"):
        PlannedDataset(tmp_path / "data", [CTL], {"trian": 3})
    with pytest.raises(ParameterError, match="rows asked for"):
        PlannedDataset(tmp_path / "data", [synthbench.task("parity")], {"test": 10**9})
    assert list(tmp_path.iterdir()) == []
