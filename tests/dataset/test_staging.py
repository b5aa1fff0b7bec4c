"""A directory that is whole or not there, and one run at a time at work on it."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from synthbench.dataset import staging
from synthbench.dataset.dataset import DatasetDirectory
from synthbench.dataset.staging import (
    check_whole,
    describe_difference,
    finished,
    open_staging,
    write_json,
)
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.generation.generate import generate
from tests.toy_task import Numbers

COMMAND = {"task": "numbers", "seed": 0, "rows": {"default": {"train": 10}}, "tables": {}}
SPLIT = {"rows": 1, "buckets": {}, "candidates": 0, "digest": "0" * 64, "shards": []}
MANIFEST = {
    "format": 1,
    "synthbench": "0",
    "task": "numbers",
    "seed": 0,
    "parameters": {},
    "shard_rows": 1,
    "tables": {},
    "variants": {"main": {"splits": {"train": SPLIT}}},
}


def put_dataset(path: Path, **changes: Any) -> Path:
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
    return path


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


def publish(target: Path, overwrite: bool = False, **changes: Any) -> None:
    with open_staging(target, COMMAND, overwrite) as workplace:
        (workplace.path / "manifest.json").write_text(json.dumps({**MANIFEST, **changes}))
        workplace.publish(overwrite)


# What is at a place.


def test_nothing_or_an_empty_directory_is_no_dataset_yet(tmp_path: Path) -> None:
    assert finished(tmp_path / "none") is None
    assert finished(tmp_path / "none" / "below") is None
    assert finished(tmp_path) is None


def test_a_finished_dataset_is_opened(tmp_path: Path) -> None:
    there = finished(put_dataset(tmp_path / "data", seed=7))
    assert there is not None
    assert there.manifest.seed == 7


def test_a_place_that_is_taken_by_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file; name a directory that is not there yet"):
        finished(tmp_path / "file")
    with pytest.raises(UsageError, match=r"holds something else \(no manifest.json\)"):
        finished(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="name a directory"):
        finished(tmp_path / "link")


def test_a_dataset_whose_manifest_is_broken_or_newer_is_named(tmp_path: Path) -> None:
    path = put_dataset(tmp_path / "data")
    (path / "manifest.json").write_text('{"format": 1')
    with pytest.raises(DatasetError, match=r"manifest.json is no manifest"):
        finished(path)
    (path / "manifest.json").write_text(json.dumps({**MANIFEST, "format": 2}))
    with pytest.raises(DatasetError, match=r"has format 2; .* Upgrade synthbench"):
        finished(path)


# The workplace.


def test_a_dataset_is_made_in_a_hidden_directory_beside_its_place(tmp_path: Path) -> None:
    target = tmp_path / "new" / "data"
    with open_staging(target, COMMAND, overwrite=False) as workplace:
        assert workplace.path == tmp_path / "new" / ".data.partial" / "dataset"
        assert workplace.progress == {}
        assert not target.exists()
    assert json.loads((workplace.path.parent / "command.json").read_text()) == COMMAND


def test_what_is_saved_is_there_for_the_next_run_of_the_same_command(tmp_path: Path) -> None:
    with open_staging(tmp_path / "data", COMMAND, overwrite=False) as workplace:
        workplace.save("main", "train", {"shards": [1]})
        workplace.save("main", "test", {"shards": []})
        workplace.save("main", "train", {"shards": [1, 2]})
    expected = {"main": {"train": {"shards": [1, 2]}, "test": {"shards": []}}}
    for overwrite in (False, True):
        with open_staging(tmp_path / "data", COMMAND, overwrite) as workplace:
            assert workplace.progress == expected


def test_an_interrupted_run_of_another_command_is_refused_by_its_difference(
    tmp_path: Path,
) -> None:
    with open_staging(tmp_path / "data", COMMAND, overwrite=False) as workplace:
        workplace.save("main", "train", {"shards": [1]})
        (workplace.path / "data").mkdir()
    before = names(workplace.path.parent)
    other = {**COMMAND, "seed": 3}
    with (
        pytest.raises(UsageError, match=r"\(seed: 0 there, 3 asked for\).*--overwrite"),
        open_staging(tmp_path / "data", other, overwrite=False),
    ):
        pass
    assert names(workplace.path.parent) == before
    with open_staging(tmp_path / "data", other, overwrite=True) as workplace:
        assert workplace.progress == {}
        assert names(workplace.path.parent) == ["command.json", "dataset", "lock"]
        assert names(workplace.path) == []


def test_differences_are_told_entry_by_entry() -> None:
    begun = {"task": "ctl", "rows": {"main": 1, "other": 2}, "shard_rows": 5, "tables": {"a": 1}}
    asked = {"task": "ctl", "rows": {"main": 3, "other": 2}, "shard_rows": 6, "tables": {"a": 2}}
    assert describe_difference(begun, asked) == (
        "rows: {'main': 1} there, {'main': 3} asked for; shard_rows: 5 there, 6 asked for"
    )
    assert describe_difference(begun, {**begun, "tables": {}}) == "made from other source images"


def test_a_second_run_at_the_same_place_is_refused_while_the_first_is_at_work(
    tmp_path: Path,
) -> None:
    with open_staging(tmp_path / "data", COMMAND, overwrite=False) as workplace:
        before = names(workplace.path.parent)
        for command in (COMMAND, {**COMMAND, "seed": 1}):
            for overwrite in (False, True):
                with (
                    pytest.raises(UsageError, match=r"Another run is at work on .*wait until"),
                    open_staging(tmp_path / "data", command, overwrite),
                ):
                    pass
        assert names(workplace.path.parent) == before
        with open_staging(tmp_path / "other", COMMAND, overwrite=False):
            pass  # another place is free
    with open_staging(tmp_path / "data", COMMAND, overwrite=False):
        pass  # the first has ended


def test_a_run_that_fails_lets_the_next_one_in(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        open_staging(tmp_path / "data", COMMAND, overwrite=False),
    ):
        raise ZeroDivisionError
    with open_staging(tmp_path / "data", COMMAND, overwrite=False):
        pass


def test_a_place_that_cannot_be_written_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "data", Path("/proc/nothing/data"), tmp_path / ("x" * 250)):
        with (
            pytest.raises(UsageError, match=r"Output .* cannot be written: \w+"),
            open_staging(place, COMMAND, overwrite=False),
        ):
            pass


def test_a_mount_point_is_refused_for_it_could_never_be_renamed_into() -> None:
    with (
        pytest.raises(UsageError, match=r"'/' is a mount point.*name a directory inside it"),
        open_staging(Path("/"), COMMAND, overwrite=False),
    ):
        pass


# Publishing.


@pytest.mark.parametrize("empty", [False, True])
def test_publishing_gives_the_final_name_and_leaves_nothing_beside(
    tmp_path: Path, empty: bool
) -> None:
    if empty:
        (tmp_path / "data").mkdir()
    publish(tmp_path / "data")
    assert names(tmp_path) == ["data"]
    assert names(tmp_path / "data") == ["manifest.json"]


def test_a_dataset_that_appeared_meanwhile_is_left_alone_and_so_is_the_work(
    tmp_path: Path,
) -> None:
    target = tmp_path / "data"
    with (
        pytest.raises(UsageError, match="has appeared meanwhile; left alone"),
        open_staging(target, COMMAND, overwrite=False) as workplace,
    ):
        workplace.save("main", "train", {})
        (workplace.path / "manifest.json").write_text(json.dumps(MANIFEST))
        put_dataset(target, seed=5)
        workplace.publish(overwrite=False)
    assert DatasetDirectory.open(target).manifest.seed == 5
    assert names(workplace.path.parent) == ["command.json", "dataset", "lock", "progress.json"]
    assert names(workplace.path) == ["manifest.json"]


def test_a_workplace_that_is_removed_while_it_is_flushed_to_disk_is_no_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "_flush", lambda path: shutil.rmtree(path.parent))
    with pytest.raises(SynthbenchError, match="was removed meanwhile; run the same") as raised:
        publish(tmp_path / "data")
    assert raised.value.exit_status == 1
    assert not (tmp_path / "data").exists()


def test_overwriting_replaces_the_dataset_that_was_there(tmp_path: Path) -> None:
    put_dataset(tmp_path / "data", seed=5)
    (tmp_path / "data" / "extra").write_text("")
    # Left by a run that was killed while it published.
    put_dataset(tmp_path / ".data.partial" / "old")
    publish(tmp_path / "data", overwrite=True, seed=6)
    assert names(tmp_path) == ["data"]
    assert names(tmp_path / "data") == ["manifest.json"]
    assert DatasetDirectory.open(tmp_path / "data").manifest.seed == 6


def test_if_the_new_dataset_cannot_be_put_in_place_the_old_one_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_dataset(tmp_path / "data", seed=5)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name == "dataset":
            raise OSError(errno.EBUSY, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(SynthbenchError, match=r"cannot be put in place: .*busy\. The whole"):
        publish(tmp_path / "data", overwrite=True, seed=6)
    assert DatasetDirectory.open(tmp_path / "data").manifest.seed == 5
    assert "old" not in names(tmp_path / ".data.partial")


# Files.


def test_json_files_are_whole_at_every_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "values.json"
    write_json(path, {"name": "größer", "rows": [1]})
    assert path.read_text(encoding="utf-8") == (
        '{\n  "name": "größer",\n  "rows": [\n    1\n  ]\n}\n'
    )
    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(SynthbenchError, match=f"No space left on the device while writing {path};"):
        write_json(path, {})
    monkeypatch.undo()
    assert json.loads(path.read_text(encoding="utf-8"))["rows"] == [1]
    assert names(tmp_path) == ["values.json"]
    with pytest.raises(SynthbenchError, match=r"none/values.json cannot be written: No such file"):
        write_json(tmp_path / "none" / "values.json", {})


def full_disk(self: Path, *arguments: Any, **options: Any) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_dataset_with_a_shard_that_is_gone_or_has_another_size_is_not_whole(
    tmp_path: Path, numbers: type[Numbers]
) -> None:
    generate("numbers", out=tmp_path / "data", workers=1, progress=False)
    there = DatasetDirectory.open(tmp_path / "data")
    check_whole(there)
    file = next(tmp_path.rglob("iid-00001*.parquet"))
    content = file.read_bytes()
    file.write_bytes(content + b"x")
    with pytest.raises(DatasetError, match=f"{file} is missing or has another size.*--overwrite"):
        check_whole(there)
    file.unlink()
    with pytest.raises(DatasetError, match=f"{file} is missing or has another size"):
        check_whole(there)
    file.write_bytes(content)
    check_whole(there)
