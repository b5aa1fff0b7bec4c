"""Rows are drawn from all of a split, a bounded number, always the same."""

import numpy as np
import pytest

from synthbench.auditing import variant
from synthbench.auditing.variant import AuditedVariant, draw_rows, draw_samples
from synthbench.dataset.dataset import DatasetDirectory
from tests.auditing.planting import make, planted_task


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    out = make(tmp_path_factory.mktemp("sample") / "planted", shard_rows=700)
    with planted_task():
        yield AuditedVariant.open(DatasetDirectory.open(out), "default")


def ids(subject, split):
    return [row["id"] for row in subject.dataset.rows("default", split, ["id"])]


@pytest.mark.parametrize("most", [1, 2, 7, 100, 2_999, 3_000, 9_000])
def test_one_row_comes_from_each_of_equal_parts(subject, most):
    every = ids(subject, "train")
    drawn = draw_rows(subject, "train", most)
    assert drawn.split_rows == 3_000
    assert len(drawn) == min(most, 3_000)
    place = np.array([every.index(one) for one in drawn.columns["id"].to_pylist()])
    ends = np.arange(len(drawn) + 1) * 3_000 // len(drawn)
    assert ((ends[:-1] <= place) & (place < ends[1:])).all()


def test_the_same_rows_are_drawn_whatever_the_shards(subject, tmp_path):
    with planted_task():
        other = AuditedVariant.open(DatasetDirectory.open(make(tmp_path / "planted")), "default")
    one, two = (draw_rows(each, "train", 50).columns["id"] for each in (subject, other))
    assert one.equals(two)


def test_rows_to_fit_and_rows_to_score_are_different_rows_of_train(subject, monkeypatch):
    monkeypatch.setattr(variant, "FIT_ROWS", 400)
    monkeypatch.setattr(variant, "SCORE_ROWS", 120)
    fitted, scored = draw_samples(subject)
    assert fitted is not None
    fit, score = fitted.columns["id"], scored["train"].columns["id"]
    assert (len(fit), len(score), len(scored["test"])) == (400, 100, 120)
    assert not set(fit.to_pylist()) & set(score.to_pylist())


def test_a_single_row_is_fitted_and_scored(tmp_path):
    out = make(tmp_path / "planted", rows={"train": 1, "test": 1})
    with planted_task():
        fit, scored = draw_samples(AuditedVariant.open(DatasetDirectory.open(out), "default"))
    assert fit is not None
    assert len(fit) == len(scored["train"]) == 1


def test_of_large_rows_fewer_are_drawn(subject, monkeypatch):
    monkeypatch.setattr(variant, "MOST_BYTES", 4_000)
    assert 10 < len(draw_rows(subject, "train", 3_000)) < 150


def test_batches_are_all_rows_in_order(subject):
    drawn = draw_rows(subject, "test", 100)
    parts = [one["id"].to_pylist() for one in drawn.batches(rows=33)]
    assert [len(part) for part in parts] == [33, 33, 33, 1]
    assert [one for part in parts for one in part] == drawn.columns["id"].to_pylist()
