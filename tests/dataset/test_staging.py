"""A directory that is whole or not there, and one run at a time at work on it."""

import errno
import json
import shutil
from pathlib import Path

import pytest

from synthbench.dataset import staging
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.files import write_json
from synthbench.dataset.staging import describe_difference, finished, open_staging
from synthbench.errors import SynthbenchError, UsageError
from tests.dataset.by_hand import MANIFEST
from tests.making import names

COMMAND = {"task": "numbers", "seed": 0, "rows": {"default": {"train": 10}}, "tables": {}}


def put_dataset(path, **changes):
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
    return path


def publish(target, overwrite=False, **changes):
    with open_staging(target, COMMAND, overwrite) as workplace:
        (workplace.path / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
        workplace.publish(overwrite)


# What is at a place.


def test_nothing_or_an_empty_directory_is_no_dataset_yet(tmp_path):
    assert finished(tmp_path / "none") is None
    assert finished(tmp_path / "none" / "below") is None
    assert finished(tmp_path) is None


# The staging directory.


def test_differences_are_told_entry_by_entry():
    begun = {"task": "ctl", "rows": {"main": 1, "other": 2}, "shard_rows": 5, "tables": {"a": 1}}
    asked = {"task": "ctl", "rows": {"main": 3, "other": 2}, "shard_rows": 6, "tables": {"a": 2}}
    assert describe_difference(begun, asked) == (
        "rows main: 1 there, 3 asked for; shard_rows: 5 there, 6 asked for"
    )
    assert describe_difference(begun, {**begun, "tables": {}}) == "made from other source images"


def test_a_run_that_fails_lets_the_next_one_in(tmp_path):
    with (
        pytest.raises(ZeroDivisionError),
        open_staging(tmp_path / "data", COMMAND, overwrite=False),
    ):
        raise ZeroDivisionError
    with open_staging(tmp_path / "data", COMMAND, overwrite=False):
        pass


def test_a_mount_point_is_refused_for_it_could_never_be_renamed_into():
    with (
        pytest.raises(UsageError, match=r"'/' is a mount point.*name a directory inside it"),
        open_staging(Path("/"), COMMAND, overwrite=False),
    ):
        pass


# Publishing.


def test_a_dataset_that_appeared_meanwhile_is_left_alone_and_so_is_the_work(tmp_path):
    target = tmp_path / "data"
    with (
        pytest.raises(UsageError, match=r"while this run was working. It was not changed"),
        open_staging(target, COMMAND, overwrite=False) as workplace,
    ):
        workplace.note({})
        (workplace.path / "manifest.json").write_text(json.dumps(MANIFEST))
        put_dataset(target, seed=5)
        workplace.publish(overwrite=False)
    assert DatasetDirectory.open(target).manifest.seed == 5
    assert names(workplace.path.parent) == ["command.json", "dataset", "finished.jsonl", "lock"]
    assert names(workplace.path) == ["manifest.json"]


def test_a_staging_directory_that_is_removed_while_it_is_flushed_to_disk_is_no_wrong_usage(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(staging, "flush", lambda path: shutil.rmtree(path.parent))
    with pytest.raises(SynthbenchError, match="was removed during the run; run the same") as raised:
        publish(tmp_path / "data")
    assert raised.value.exit_status == 1
    assert not (tmp_path / "data").exists()


def test_if_the_new_dataset_cannot_be_put_in_place_the_old_one_comes_back(tmp_path, monkeypatch):
    put_dataset(tmp_path / "data", seed=5)
    rename = Path.rename

    def fail(self, target):
        if self.name == "dataset":
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(SynthbenchError, match=r"cannot be created: .*busy\. The complete"):
        publish(tmp_path / "data", overwrite=True, seed=6)
    assert DatasetDirectory.open(tmp_path / "data").manifest.seed == 5
    assert "old" not in names(tmp_path / ".data.partial")


# Files.


def test_json_files_are_whole_at_every_moment(tmp_path, monkeypatch):
    path = tmp_path / "values.json"
    write_json(path, {"name": "größer", "rows": [1]})
    assert path.read_text(encoding="utf-8") == (
        '{\n  "name": "größer",\n  "rows": [\n    1\n  ]\n}\n'
    )
    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(SynthbenchError, match=f"No space left on the device while writing {path}"):
        write_json(path, {})
    monkeypatch.undo()
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == [1]
    assert names(tmp_path) == ["values.json"]
    with pytest.raises(SynthbenchError, match=r"none/values.json cannot be written: No such file"):
        write_json(tmp_path / "none" / "values.json", {})


def full_disk(self, *arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")
