"""Where a dataset is made: who is at work there, and the way back after a kill."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path

import pytest

from synthbench.dataset import staging_directory
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import finished
from synthbench.errors import DatasetError, UsageError
from tests.dataset.by_hand import MANIFEST
from tests.making import make, names

ROWS = {"train": 20, "test": 10}


@pytest.fixture
def target(tmp_path):
    """The place of a dataset with an empty staging beside it."""
    (tmp_path / ".data.partial").mkdir()
    return tmp_path / "data"


def put_old(target):
    """Leave the dataset where a run does that is killed between two renames."""
    old = staging_directory.staging_of(target) / "old"
    old.mkdir()
    (old / "manifest.json").write_text(json.dumps(MANIFEST))
    return old


def take(target):
    lock = staging_directory.hold(staging_directory.staging_of(target))
    assert lock is not None
    return lock


def test_a_staging_is_held_by_one_at_a_time(target):
    staging = staging_directory.staging_of(target)
    with take(target) as lock:
        assert staging_directory.is_held(staging, lock)
        assert staging_directory.hold(staging) is None
    take(target).close()


def test_a_staging_that_is_removed_or_made_anew_is_held_no_more(target):
    staging = staging_directory.staging_of(target)
    with take(target) as lock:
        (staging / "lock").unlink()
        assert not staging_directory.is_held(staging, lock)
        with take(target) as other:
            assert not staging_directory.is_held(staging, lock)
            assert staging_directory.is_held(staging, other)


def test_a_staging_that_is_gone_cannot_be_held(target):
    assert staging_directory.hold(target / "none") is None


def test_a_reader_says_what_puts_a_dataset_back_that_a_killed_run_moved_aside(target, tmp_path):
    old = put_old(target)
    (tmp_path / "link").symlink_to(target)
    for path, read in itertools.product(
        (target, tmp_path / "link"), (DatasetDirectory.open, finished)
    ):
        with pytest.raises(DatasetError, match=f"The old dataset is in '{old}'") as caught:
            read(path)
        assert f"`synthbench generate TASK --out {path}` puts it back" in str(caught.value)
    assert names(tmp_path) == [".data.partial", "link"]
    assert names(staging_directory.staging_of(target)) == ["old"]


@pytest.mark.parametrize("name", ["loop", "loop/data"])
def test_behind_links_in_a_loop_there_is_no_dataset(name, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    assert not staging_directory.is_being_replaced(tmp_path / name)
    with pytest.raises(UsageError, match="cannot be used: its links lead in a circle"):
        DatasetDirectory.open(tmp_path / name)


def test_generate_puts_back_a_dataset_that_a_killed_run_moved_aside(tmp_path):
    target = tmp_path / "data"
    manifest = make(target, "parity", rows=ROWS)
    staging_directory.staging_of(target).mkdir()
    target.rename(staging_directory.staging_of(target) / "old")
    assert make(target, "parity", rows=ROWS) == manifest
    assert names(tmp_path) == ["data"]


def test_generate_is_refused_while_another_run_replaces_the_dataset(tmp_path):
    target = tmp_path / "data"
    make(target, "parity", rows=ROWS)
    staging_directory.staging_of(target).mkdir()
    with take(target):
        target.rename(staging_directory.staging_of(target) / "old")
        for overwrite in (False, True):
            with pytest.raises(UsageError, match="Another run is writing"):
                make(target, "parity", rows=ROWS, overwrite=overwrite)
    assert names(staging_directory.staging_of(target)) == ["lock", "old"]


def test_nothing_is_put_back_over_what_is_there_or_while_a_run_is_at_work(target):
    put_old(target)
    with take(target):
        assert not staging_directory.repair(target)
        assert not target.exists()
    target.mkdir()
    assert staging_directory.repair(target)
    assert names(target) == []


def test_a_dataset_that_cannot_be_put_back_is_named_with_its_hidden_place(target, monkeypatch):
    old = put_old(target)

    def fail(self, target):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(DatasetError, match=f"in {old}, .* be put back: Read-only file system"):
        staging_directory.repair(target)


def test_what_is_left_beside_a_finished_dataset_is_removed_unless_it_is_in_use(target, tmp_path):
    put_old(target)
    (target.parent / ".data.partial" / "finished.jsonl").write_text("{}")
    shutil.copytree(staging_directory.staging_of(target) / "old", target)
    with take(target):
        staging_directory.repair(target)
        assert "old" in names(staging_directory.staging_of(target))
    (
        staging_directory.staging_of(target) / "dataset"
    ).mkdir()  # an interrupted run that is to replace it
    staging_directory.repair(target)
    assert "old" in names(staging_directory.staging_of(target))
    (staging_directory.staging_of(target) / "dataset").rmdir()
    staging_directory.repair(target)
    assert names(tmp_path) == ["data"]


def test_a_half_removed_dataset_is_never_put_back(target, monkeypatch):
    old = put_old(target)

    def killed(path, ignore_errors=False):
        if path.exists():
            assert not old.exists()
            raise KeyboardInterrupt

    with take(target), monkeypatch.context() as patched:
        patched.setattr(staging_directory.shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            staging_directory.clear(staging_directory.staging_of(target))
    staging_directory.repair(target)
    assert not target.exists()
    with take(target):
        staging_directory.clear(staging_directory.staging_of(target))
        assert names(staging_directory.staging_of(target)) == ["lock"]
