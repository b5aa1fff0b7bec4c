"""From a command to a published directory: the same bytes always, whatever comes between."""

from __future__ import annotations

import errno
import importlib.util
import shutil
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from synthbench import cli, generation, publishing, registry, writing
from synthbench.dataset import Dataset, Manifest
from synthbench.digest import RowDigest, file_sha256
from synthbench.errors import ParameterError, SynthbenchError, UsageError
from synthbench.features import Feature, value
from synthbench.generation import generate
from synthbench.sampling import BucketStream
from synthbench.seeding import Draws
from synthbench.tasks.base import Block, Split
from tests.numbers_task import Numbers
from tests.support import ROOT, digests, environment, run_program, stored_rows

#: The toy dataset: 2 shards of iid and of test, 9 of train, most of two row groups; 7 rounds.
SHARDS, GROUPS, ROUNDS = 13, 23, 7
#: A small one of a real task, as options and as words.
CTL: dict[str, Any] = {"rows": {"train": 3000, "iid": 90, "validation": 60, "test": 40}}
CTL_WORDS = ["ctl", *(f"--rows={name}={rows}" for name, rows in CTL["rows"].items())]


def make(out: Path, task: str = "numbers", **options: Any) -> Manifest:
    return generate(task, out=out, **{"workers": 1, "progress": False, **options})


def files(directory: Path) -> dict[str, str]:
    """Every file below a directory with its checksum."""
    return {
        str(file.relative_to(directory)): file_sha256(file)
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }


def names(directory: Path) -> list[str]:
    return sorted(one.name for one in directory.iterdir())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the toy dataset, made without an interruption."""
    out = tmp_path_factory.mktemp("toy") / "data"
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(registry._registered, Numbers.name, Numbers)
        make(out)
    made = files(out)
    assert sum(name.endswith(".parquet") for name in made) == SHARDS
    return made


@pytest.fixture
def whole(uninterrupted: dict[str, str], numbers: type[Numbers]) -> dict[str, str]:
    """The same, for a test that knows the toy task."""
    return uninterrupted


@pytest.fixture(scope="module")
def ctl(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the small dataset of ctl, made here with one worker."""
    out = tmp_path_factory.mktemp("ctl") / "ctl"
    make(out, "ctl", **CTL)
    return files(out)


# What is made.


def test_a_directory_holds_its_shards_a_manifest_and_a_card_and_nothing_else(
    tmp_path: Path, numbers: type[Numbers]
) -> None:
    manifest = make(tmp_path / "data")
    assert names(tmp_path) == ["data"]
    assert names(tmp_path / "data") == ["README.md", "data", "manifest.json"]
    assert Dataset.open(tmp_path / "data").manifest == manifest
    listed = [
        shard.file
        for splits in manifest.variants.values()
        for split in splits.values()
        for shard in split.shards
    ]
    found = [name for name in files(tmp_path / "data") if name.endswith(".parquet")]
    assert sorted(listed) == found


def test_the_manifest_says_what_is_in_the_files(tmp_path: Path, numbers: type[Numbers]) -> None:
    manifest = make(tmp_path, seed=3, rows={"train": 301})
    (splits,) = manifest.variants.values()
    assert list(splits) == ["train", "iid", "test"]  # as readers see them
    assert {name: split.rows for name, split in splits.items()} == {
        "train": 301,
        "iid": 90,
        "test": 70,
    }
    for name, split in splits.items():
        rows = stored_rows(tmp_path, "default", name)
        assert rows.num_rows == split.rows == sum(split.buckets.values())
        counted = dict.fromkeys(split.buckets, 0)
        for bucket in rows["bucket"].to_pylist():
            counted[str(bucket)] += 1
        assert split.buckets == counted
        assert split.candidates >= split.rows
        for shard in split.shards:
            file = tmp_path / shard.file
            assert shard.sha256 == file_sha256(file)
            assert shard.bytes == file.stat().st_size
            assert shard.rows == pq.read_metadata(file).num_rows
        digest = RowDigest({"id": value("string"), **Numbers().columns})
        digest.update(rows)
        assert split.digest == digest.hexdigest()


def test_no_row_is_in_two_splits_or_twice_in_one(tmp_path: Path) -> None:
    make(tmp_path, "ctl", **CTL)
    ids = [
        one
        for split in CTL["rows"]
        for one in stored_rows(tmp_path, "forward", split)["id"].to_pylist()
    ]
    assert len(set(ids)) == len(ids) == sum(CTL["rows"].values())


def test_variants_are_made_as_each_alone_would_be(tmp_path: Path) -> None:
    both = make(tmp_path / "both", "ctl", variant="all", **CTL)
    assert list(both.variants) == ["forward", "backward"]
    for variant in both.variants:
        alone = make(tmp_path / variant, "ctl", variant=variant, **CTL)
        assert digests(alone) == {variant: digests(both)[variant]}
    turned = make(tmp_path / "turned", "ctl", variant=["backward", "forward"], **CTL)
    assert list(turned.variants) == ["backward", "forward"]


def test_without_a_name_the_directory_is_called_as_the_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    generate("parity", workers=1, progress=False)
    assert names(tmp_path) == ["parity"]


def test_the_small_preset_has_a_hundredth_and_at_least_a_hundred_rows_where_they_exist(
    tmp_path: Path, numbers: type[Numbers]
) -> None:
    def sizes(task: str, **options: Any) -> dict[str, int]:
        made = make(tmp_path / f"{len(names(tmp_path))}", task, preset="small", **options)
        (splits,) = made.variants.values()
        return {name: split.rows for name, split in splits.items()}

    assert sizes("ctl") == {"train": 537, "iid": 100, "validation": 100, "test": 100}
    assert sizes("parity") == {"train": 100, "test": 102}
    assert sizes("numbers") == {"train": 100, "iid": 90, "test": 70}
    # Of 20 rows a bucket iid gets 2, train the rest; of the last bucket 5 exist.
    few = {"sizes": (20, 20, 5)}
    assert sizes("numbers", parameters=few) == {"train": 36, "iid": 4, "test": 5}


# The same bytes, whoever makes them.


@pytest.mark.parametrize("workers", [2, 5])
def test_the_number_of_workers_changes_no_byte(
    tmp_path: Path, ctl: dict[str, str], workers: int
) -> None:
    make(tmp_path / "ctl", "ctl", workers=workers, **CTL)
    assert files(tmp_path / "ctl") == ctl


def test_many_small_blocks_from_many_workers_change_no_byte(
    tmp_path: Path, whole: dict[str, str]
) -> None:
    for workers in (2, 5):
        make(tmp_path / f"{workers}", workers=workers)
        assert files(tmp_path / f"{workers}") == whole


@pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="distributed is not installed (pip install 'synthbench[dask]')",
)
def test_a_dask_cluster_changes_no_byte(tmp_path: Path, ctl: dict[str, str]) -> None:
    done = run_program(
        *["generate", *CTL_WORDS, "--engine=dask", "--workers=2"],
        cwd=tmp_path,
        PYTHONWARNINGS="default",
    )
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "ctl") == ctl


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Chatham", "LC_ALL": "tr_TR.UTF-8"},
        {"PYTHONHASHSEED": "random", "TZ": "America/St_Johns", "PYTHONOPTIMIZE": "2"},
    ],
    ids=["plain C locale", "Turkish", "optimised"],
)
def test_hash_seed_locale_time_zone_and_optimising_change_no_byte(
    tmp_path: Path, ctl: dict[str, str], changes: dict[str, str]
) -> None:
    """A locale that is not installed leaves the C locale, and proves no more than that."""
    done = run_program("generate", *CTL_WORDS, "--workers=2", cwd=tmp_path, **changes)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "ctl") == ctl


def test_the_rows_of_a_shard_change_files_but_no_digest(
    tmp_path: Path, numbers: type[Numbers]
) -> None:
    expected = digests(make(tmp_path / "default"))
    read = {name: stored_rows(tmp_path / "default", "default", name) for name in ("train", "iid")}
    for shard_rows in (7, 40, 100, 499, 500, 10_000):
        out = tmp_path / f"{shard_rows}"
        manifest = make(out, shard_rows=shard_rows)
        assert digests(manifest) == expected
        assert [shard.rows for shard in manifest.variants["default"]["train"].shards] == [
            min(shard_rows, 500 - first) for first in range(0, 500, shard_rows)
        ]
        for name, rows in read.items():
            assert stored_rows(out, "default", name).to_pylist() == rows.to_pylist()


def test_what_lies_around_or_was_made_before_changes_no_byte(
    tmp_path: Path, ctl: dict[str, str], numbers: type[Numbers]
) -> None:
    make(tmp_path / "other")
    make(tmp_path / "ctl", "ctl", seed=1, **CTL)
    make(tmp_path / "ctl", "ctl", overwrite=True, **CTL)
    assert files(tmp_path / "ctl") == ctl


def test_another_seed_makes_another_dataset(tmp_path: Path, numbers: type[Numbers]) -> None:
    made = [digests(make(tmp_path / f"{seed}", seed=seed))["default"] for seed in range(3)]
    for split in ("train", "iid", "test"):
        assert len({one[split] for one in made}) == 3


# Interruptions: the same command goes on to the same bytes.


class Interrupted(BaseException):
    """Comes from nowhere, as Control-C does."""


def interrupting(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, at: int, after: bool = False
) -> list[int]:
    """Let call number `at` of a function end everything, before or after its work."""
    calls: list[int] = []
    function = getattr(owner, name)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        calls.append(len(calls))
        result = function(*arguments, **options) if calls[-1] != at or after else None
        if calls[-1] == at:
            raise Interrupted
        return result

    monkeypatch.setattr(owner, name, interrupted)
    return calls


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        (publishing.Workplace, "save", SHARDS + 3),
        (pq.ParquetWriter, "write_table", GROUPS),
        (pq.ParquetWriter, "close", SHARDS),
        (writing.SplitWriter, "write", ROUNDS),
        (generation, "write_card", 1),
    ],
)
def test_a_run_that_is_interrupted_anywhere_is_continued_to_the_same_bytes(
    tmp_path: Path, whole: dict[str, str], owner: Any, name: str, calls: int, after: bool
) -> None:
    for at in range(calls):
        out = tmp_path / f"{at}" / "data"
        with pytest.MonkeyPatch.context() as patched:
            interrupting(patched, owner, name, at, after)
            with pytest.raises(Interrupted):
                make(out)
        assert names(out.parent) == [".data.partial"]
        make(out)
        assert files(out) == whole
        assert names(out.parent) == ["data"]


def test_that_many_calls_are_all_there_are(
    tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch
) -> None:
    saves = interrupting(monkeypatch, publishing.Workplace, "save", -1)
    tables = interrupting(monkeypatch, pq.ParquetWriter, "write_table", -1)
    rounds = interrupting(monkeypatch, writing.SplitWriter, "write", -1)
    make(tmp_path)
    assert (len(saves), len(tables), len(rounds)) == (SHARDS + 3, GROUPS, ROUNDS)


def test_a_run_that_is_interrupted_after_every_shard_comes_to_its_end_all_the_same(
    tmp_path: Path, whole: dict[str, str]
) -> None:
    runs = 0
    while not (tmp_path / "data").exists():
        runs += 1
        with pytest.MonkeyPatch.context() as patched:
            interrupting(patched, publishing.Workplace, "save", 0, after=True)
            try:
                make(tmp_path / "data")
            except Interrupted:
                assert not (tmp_path / "data").exists()
    assert runs >= SHARDS
    assert files(tmp_path / "data") == whole


def test_buckets_that_stall_are_continued_to_the_same_bytes_too(
    tmp_path: Path, numbers: type[Numbers]
) -> None:
    options: dict[str, Any] = {"parameters": {"sizes": (40, 7, 2000, 500), "counted": False}}
    make(tmp_path / "whole", **options)
    expected = files(tmp_path / "whole")
    for at in range(0, SHARDS + 3, 3):
        with pytest.MonkeyPatch.context() as patched:
            interrupting(patched, publishing.Workplace, "save", at, after=True)
            with pytest.raises(Interrupted):
                make(tmp_path / f"{at}", **options)
        make(tmp_path / f"{at}", **options)
        assert files(tmp_path / f"{at}") == expected


def test_what_is_finished_is_not_made_again(
    tmp_path: Path, whole: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        interrupting(patched, publishing.Workplace, "save", 9, after=True)
        with pytest.raises(Interrupted):
            make(tmp_path / "data")
    there = names(tmp_path / ".data.partial" / "data" / "default")
    assert len(there) == 4 + 4  # iid, test, and four shards of train
    tables = interrupting(monkeypatch, pq.ParquetWriter, "write_table", -1)
    drawn = interrupting(monkeypatch, Numbers, "propose", -1)
    make(tmp_path / "data")
    assert len(tables) == 9  # of five shards, the last of 20 rows
    assert len(drawn) < 3 * (500 // 3 // 32 + 1)
    assert files(tmp_path / "data") == whole


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "empty"])
def test_a_damaged_shard_of_an_interrupted_run_is_made_anew(
    tmp_path: Path, whole: dict[str, str], damage: str
) -> None:
    out = tmp_path / "data"
    for number in range(7):
        with pytest.MonkeyPatch.context() as patched:
            interrupting(patched, publishing.Workplace, "save", 8, after=True)
            with pytest.raises(Interrupted):
                make(out)
        file = sorted((tmp_path / ".data.partial").rglob("*.parquet"))[number]
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        if damage == "remove":
            file.unlink()
        else:
            file.write_bytes(bytes({"flip": content, "cut": content[:-9], "empty": b""}[damage]))
        make(out)
        assert files(out) == whole
        shutil.rmtree(out)


def kill_at(place: str, number: int, words: str) -> None:
    """Run a command in a process that kills itself before call `number` of a function."""
    code = f"""
import os, pkgutil, signal
from synthbench import generation
owner, _, name = {place!r}.rpartition(".")
owner = pkgutil.resolve_name(owner)
function, calls = getattr(owner, name), []
def killed(*arguments, **options):
    calls.append(1)
    if len(calls) > {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments, **options)
setattr(owner, name, killed)
generation.generate({words}, workers=2, progress=False)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, timeout=60
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("synthbench.publishing.Workplace.save", 1),
        ("synthbench.publishing.Workplace.save", 7),
        ("pyarrow.parquet.ParquetWriter.write_table", 6),
        ("pathlib.Path.replace", 9),
        ("pathlib.Path.rename", 0),
    ],
)
def test_a_run_that_is_killed_is_continued_to_the_same_bytes(
    tmp_path: Path, place: str, number: int
) -> None:
    """With workers, who must not go on holding the lock when the main process is gone."""
    make(tmp_path / "whole", "ctl", shard_rows=500, **CTL)
    out = tmp_path / "killed" / "ctl"
    kill_at(place, number, f"'ctl', out={str(out)!r}, shard_rows=500, rows={CTL['rows']!r}")
    assert names(out.parent) == [".ctl.partial"]
    make(out, "ctl", shard_rows=500, **CTL)
    assert files(out) == files(tmp_path / "whole")
    assert names(out.parent) == ["ctl"]


# What is there already.


def stamps(directory: Path) -> dict[str, tuple[int, int]]:
    """Every file and directory with its inode and time of change."""
    return {
        str(one): (one.stat().st_ino, one.stat().st_mtime_ns)
        for one in (directory, *sorted(directory.rglob("*")))
    }


def test_the_same_command_again_changes_nothing_and_says_so(tmp_path: Path) -> None:
    first = run_program("generate", *CTL_WORDS, "--workers=1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    before, content = stamps(tmp_path), files(tmp_path)
    again = run_program("generate", *CTL_WORDS, "--workers=2", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    assert "is already there, made by the same command; nothing was changed." in again.stdout
    assert stamps(tmp_path) == before
    assert files(tmp_path) == content
    assert Dataset.open(tmp_path / "ctl").manifest == make(tmp_path / "ctl", "ctl", **CTL)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"seed": 1}, "seed: 0 there, 1 asked for"),
        ({"rows": {"train": 400}}, "rows: {'default': .*500.* there, {'default': .*400.* asked"),
        ({"parameters": {"sizes": (1000, 1000, 500)}}, r"parameters: {'sizes': \[1000, 1000, 1000"),
        ({"shard_rows": 100}, "shard_rows: 60 there, 100 asked for"),
        ({"preset": "small"}, "rows: .*500.* there, .*100.* asked for"),
    ],
)
@pytest.mark.parametrize("partial", [False, True], ids=["finished", "interrupted"])
def test_another_command_is_refused_by_its_difference_and_harms_nothing(
    tmp_path: Path,
    whole: dict[str, str],
    other: dict[str, Any],
    difference: str,
    partial: bool,
) -> None:
    out = tmp_path / "data"
    with pytest.MonkeyPatch.context() as patched:
        if partial:
            interrupting(patched, publishing.Workplace, "save", 6)
            with pytest.raises(Interrupted):
                make(out)
        else:
            make(out)
    before = files(tmp_path)
    with pytest.raises(UsageError, match=f"{difference}.*--overwrite"):
        make(out, **other)
    assert files(tmp_path) == before
    make(out)
    assert files(out) == whole


def test_overwriting_replaces_a_dataset_or_an_interrupted_run_of_another_command(
    tmp_path: Path, whole: dict[str, str]
) -> None:
    out = tmp_path / "new" / "data"
    make(out, seed=1)
    make(out, overwrite=True)
    assert files(out) == whole
    shutil.rmtree(out)
    with pytest.MonkeyPatch.context() as patched:
        interrupting(patched, publishing.Workplace, "save", 6)
        with pytest.raises(Interrupted):
            make(out, seed=1)
    make(out, overwrite=True)
    assert files(out) == whole
    assert names(out.parent) == ["data"]


@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        (publishing.Workplace, "save", 0),
        (pq.ParquetWriter, "write_table", 11),
        (generation, "write_card", 0),
        (publishing.Workplace, "publish", 0),
    ],
)
def test_overwriting_that_fails_leaves_the_old_dataset_whole(
    tmp_path: Path, whole: dict[str, str], owner: Any, name: str, at: int
) -> None:
    out = tmp_path / "new" / "data"
    make(out, seed=1)
    old = files(out)
    with pytest.MonkeyPatch.context() as patched:
        interrupting(patched, owner, name, at)
        with pytest.raises(Interrupted):
            make(out, overwrite=True)
    assert files(out) == old
    make(out, overwrite=True)
    assert files(out) == whole
    assert names(out.parent) == ["data"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_overwriting_that_is_killed_leaves_the_old_dataset_or_none_and_can_be_repeated(
    tmp_path: Path,
) -> None:
    out = tmp_path / "data"
    make(tmp_path / "new" / "data", "parity")
    words = f"'parity', out={str(out)!r}, overwrite=True"
    make(out, "parity", seed=1)
    old = files(out)
    kill_at("pathlib.Path.rename", 0, words)
    assert files(out) == old
    kill_at("pathlib.Path.rename", 1, words)  # between the two renames
    assert not out.exists()
    make(out, "parity", overwrite=True)
    assert files(out) == files(tmp_path / "new" / "data")
    assert names(tmp_path) == ["data", "new"]


def test_a_shard_that_is_lost_from_a_finished_dataset_is_noticed(
    tmp_path: Path, whole: dict[str, str]
) -> None:
    make(tmp_path / "data")
    next((tmp_path / "data").rglob("test-00001*")).unlink()
    with pytest.raises(SynthbenchError, match=r"test-00001.* is missing.*--overwrite"):
        make(tmp_path / "data")
    make(tmp_path / "data", overwrite=True)
    assert files(tmp_path / "data") == whole


def test_of_two_runs_at_once_the_second_is_refused_and_the_first_not_disturbed(
    tmp_path: Path, ctl: dict[str, str]
) -> None:
    code = f"""
from synthbench import generation, publishing
save = publishing.Workplace.save
def wait(self, *arguments):
    save(self, *arguments)
    if len(self.progress["forward"]) == 2:
        print("at work", flush=True)
        input()
publishing.Workplace.save = wait
generation.generate("ctl", out={str(tmp_path / "ctl")!r}, workers=2, progress=False, **{CTL!r})
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "at work\n"
        before = files(tmp_path)
        for options in (CTL, {**CTL, "seed": 1}, {**CTL, "overwrite": True}):
            with pytest.raises(UsageError, match="Another run is at work"):
                make(tmp_path / "ctl", "ctl", **options)
        assert files(tmp_path) == before
        first.communicate("\n" * 9, timeout=60)
        assert first.returncode == 0
    assert files(tmp_path / "ctl") == ctl
    assert names(tmp_path) == ["ctl"]


# Places that cannot be used.


def test_a_place_that_cannot_be_used_is_refused_before_any_work(
    tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = interrupting(monkeypatch, Numbers, "propose", -1)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    before = files(tmp_path)
    for place, text in [
        ("file", "is a file"),
        ("file/below", "cannot be written: Not a directory"),
        ("full", r"holds something else \(no manifest.json\)"),
        ("/proc/nothing/here", "cannot be written"),
        ("/", "holds something else"),
    ]:
        for overwrite in (False, True):
            with pytest.raises(UsageError, match=text):
                make(tmp_path / place, overwrite=overwrite)
    assert not drawn
    assert files(tmp_path) == before


def test_an_empty_directory_or_a_link_to_one_will_do(tmp_path: Path, whole: dict[str, str]) -> None:
    (tmp_path / "empty").mkdir()
    make(tmp_path / "empty")
    assert files(tmp_path / "empty") == whole
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    make(tmp_path / "link", seed=1)
    make(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert files(tmp_path / "target") == whole
    (tmp_path / "later").symlink_to("not-yet")
    make(tmp_path / "later")
    assert files(tmp_path / "not-yet") == whole
    assert names(tmp_path) == ["empty", "later", "link", "not-yet", "target"]


# Names and numbers that are refused.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"task": "listop"}, "Unknown task 'listop'; .*Did you mean 'listops'?"),
        ({"variant": "backwards"}, "Unknown variant of ctl 'backwards'; .*'backward'?"),
        ({"variant": ["forward", "forward"]}, "name each wanted one once"),
        ({"variant": []}, "name each wanted one once"),
        ({"rows": {"tests": 5}}, "Unknown split of ctl 'tests'; .*Did you mean 'test'?"),
        ({"parameters": {"symbol": 5}}, "Unknown parameter 'symbol'; .*Did you mean 'symbols'?"),
        ({"preset": "smal"}, "Unknown preset 'smal'; allowed: paper, small. Did you mean 'small'?"),
        ({"engine": "locale"}, "Unknown engine 'locale'; .*Did you mean 'local'?"),
        ({"seed": -1}, "Seed -1: allowed are whole numbers from 0"),
        ({"seed": 1.5}, "Seed 1.5: allowed are whole numbers from 0"),
        ({"rows": {"train": 0}}, "Rows train=0: allowed are whole numbers from 1"),
        ({"rows": {"train": -5}}, "Rows train=-5: allowed are whole numbers from 1"),
        ({"rows": {"train": 2.5}}, "Rows train=2.5: allowed are whole numbers from 1"),
        ({"rows": {"train": True}}, "Rows train=True: allowed are whole numbers from 1"),
        ({"shard_rows": 0}, "Shard rows 0: allowed are whole numbers from 1"),
        ({"shard_rows": 2.5}, "Shard rows 2.5: allowed are whole numbers from 1"),
        ({"shard_rows": True}, "Shard rows True: allowed are whole numbers from 1"),
        ({"workers": 1.5}, "Workers 1.5: allowed are whole numbers from 1"),
        ({"workers": True}, "Workers True: allowed are whole numbers from 1"),
        ({"workers": 0}, "Workers 0: allowed are whole numbers from 1"),
        ({"scheduler": "tcp://host:1"}, "A scheduler address goes with engine 'dask' only"),
        ({"task": "parity", "rows": {"test": 14_642}}, "14,642 rows asked for, but only 14,641"),
        ({"task": "parity", "rows": {"test": 14_641}}, "no rows are left for it; 4,392 asked for"),
    ],
)
def test_what_is_impossible_is_refused_in_one_line_before_any_file_is_made(
    tmp_path: Path, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError, match=text.replace("?", r"\?")) as refused:
        make(tmp_path / "data", **{"task": "ctl", **options})
    assert refused.value.exit_status == 2
    assert "\n" not in str(refused.value)
    assert names(tmp_path) == []


def test_all_tasks_at_once_take_no_options_of_one_task() -> None:
    for option, given in (("variant", ["x"]), ("rows", {"train": 5}), ("parameters", {"n": 1})):
        options = {"variant": None, "rows": {}, "parameters": {}, option: given}
        with pytest.raises(UsageError, match=f"{option} goes with one task"):
            list(generation.run_all("all", out=None, **options))


@pytest.mark.parametrize(
    "words",
    [
        ["listop"],
        ["ctl", "--rows", "train=0"],
        ["ctl", "--rows", "train=many"],
        ["ctl", "--rows", "train"],
        ["ctl", "--engine", "spark"],
        ["ctl", "--set", "symbols=1"],
        ["parity", "--rows", "train=20000"],
    ],
)
def test_the_command_line_ends_with_status_2_and_one_line_on_standard_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(["generate", *words])
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert printed.out == ""
    assert printed.err.startswith("Error: ")
    assert printed.err.count("\n") == 1
    assert names(tmp_path) == []


def test_a_bucket_that_cannot_be_filled_ends_the_run_by_name_and_publishes_nothing(
    tmp_path: Path, numbers: type[Numbers]
) -> None:
    parameters = {"sizes": (7, 20, 500), "counted": False}
    with pytest.raises(SynthbenchError, match=r"200 rows asked for.*bucket 0: \d found, bucket 1:"):
        make(tmp_path / "data", parameters=parameters, rows={"train": 200, "iid": 2})
    assert names(tmp_path) == [".data.partial"]
    with pytest.raises(ParameterError, match=r"200 rows asked for, but only 25 exist.*bucket 0: 7"):
        make(
            tmp_path / "counted",
            parameters={**parameters, "counted": True},
            rows={"train": 200, "iid": 2},
        )
    assert names(tmp_path) == [".data.partial"]


# When the disk is full.


@pytest.mark.parametrize("at", [0, 5, 11, GROUPS - 1])
def test_a_full_disk_names_the_file_keeps_what_is_finished_and_can_be_gone_on_from(
    tmp_path: Path, whole: dict[str, str], at: int
) -> None:
    out = tmp_path / "new" / "data"
    write_table = pq.ParquetWriter.write_table
    calls: list[int] = []

    def write(self: pq.ParquetWriter, *arguments: Any, **options: Any) -> None:
        calls.append(0)
        if len(calls) == at + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_table(self, *arguments, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pq.ParquetWriter, "write_table", write)
        with pytest.raises(SynthbenchError, match=r"No space .* while writing .*\.parquet") as full:
            make(out)
    assert full.value.exit_status == 1
    assert names(out.parent) == [".data.partial"]
    make(out)
    assert files(out) == whole


@pytest.mark.parametrize("name", ["manifest.json", "README.md", "progress.json"])
def test_a_full_disk_is_named_for_every_other_file_too(
    tmp_path: Path, whole: dict[str, str], name: str
) -> None:
    write_text = Path.write_text

    def write(self: Path, *arguments: Any, **options: Any) -> int:
        if self.name.startswith(name):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(self, *arguments, **options)

    out = tmp_path / "new" / "data"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "write_text", write)
        with pytest.raises(SynthbenchError, match=rf"No space .* while writing .*/{name};"):
            make(out)
    assert names(out.parent) == [".data.partial"]
    make(out)
    assert files(out) == whole


def can_mount() -> bool:
    """Whether a small file system of our own can be had, in a name space of our own."""
    if shutil.which("unshare") is None:
        return False
    words = ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="mounting a small tmpfs is not permitted here")
@pytest.mark.parametrize("kilobytes", [20, 60])
def test_a_disk_that_is_really_full_is_gone_on_from_when_it_has_grown(
    tmp_path: Path, ctl: dict[str, str], kilobytes: int
) -> None:
    command = f"{sys.executable} -m synthbench.cli generate {' '.join(CTL_WORDS)} --workers=2"
    script = f"""
mkdir disk && mount -t tmpfs -o size={kilobytes}k none disk && cd disk || exit 99
{command}; echo "status $?"
ls -A
mount -o remount,size=64m "$PWD"
{command} --quiet; echo "status $?"
ls -A
cp -r ctl ../copy
"""
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split("\n") == ["status 1", ".ctl.partial", "status 0", "ctl", ""]
    assert done.stderr.startswith("Error: No space left on the device while writing ")
    assert done.stderr.count("\n") == 1
    assert files(tmp_path / "copy") == ctl


# Memory.


class Wide(Numbers):
    """Numbers with 500 bytes beside each."""

    name = "wide"
    block_rows = 2048
    round_rows = 4096
    group_rows = 4096
    shard_rows = 8192

    @property
    def columns(self) -> dict[str, Feature]:
        return {**super().columns, "payload": [value("int8")]}

    def propose(self, draws: Draws, n: int, split: Split, bucket: int) -> Block:
        block = super().propose(draws, n, split, bucket)
        return Block({**block.columns, "payload": draws.halves((n, 125)).view(np.int8)})

    def render(self, block: Block) -> dict[str, pa.Array]:
        payload: NDArray[np.int8] = block["payload"]
        lists = pa.FixedSizeListArray.from_arrays(pa.array(payload.ravel()), 500)
        return {**super().render(block), "payload": lists.cast(pa.list_(pa.int8()))}


def test_memory_grows_by_a_few_bytes_a_row_not_by_the_rows_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._registered, "wide", Wide)
    write = writing.SplitWriter.write
    arrow: list[int] = []

    def watched(*arguments: Any) -> None:
        write(*arguments)
        arrow.append(pa.total_allocated_bytes())

    monkeypatch.setattr(writing.SplitWriter, "write", watched)

    def peaks(rows: int) -> tuple[int, int]:
        arrow.clear()
        sizes = {"train": rows, "iid": 1, "test": 1}
        tracemalloc.start()
        make(tmp_path / f"{rows}", "wide", rows=sizes, parameters={"sizes": (10**9, 10**9)})
        numpy = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return numpy, max(arrow)

    peaks(10)  # loads what is loaded when it is first needed
    few, many = peaks(20_000), peaks(100_000)
    # A row has over 500 bytes. Arrow's part moves a little with the writing thread.
    assert (many[0] - few[0]) / 80_000 < 40
    assert (many[1] - few[1]) / 80_000 < 250


def test_blocks_in_flight_are_few_however_many_will_be_needed(
    tmp_path: Path, numbers: type[Numbers], monkeypatch: pytest.MonkeyPatch
) -> None:
    pending: list[int] = []
    prepare = BucketStream.prepare

    def watched(self: BucketStream, rows: int) -> None:
        prepare(self, rows)
        pending.append(len(self._pending))

    monkeypatch.setattr(BucketStream, "prepare", watched)
    rows = {"train": 2000, "iid": 9, "test": 9}
    make(tmp_path, workers=2, rows=rows, parameters={"sizes": (10**9, 10**9, 10**9)})
    assert len(pending) > 2000 // 32
    assert max(pending) == 3
