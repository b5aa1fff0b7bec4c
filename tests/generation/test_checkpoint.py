"""Runs that are interrupted, killed or repeated: the same command goes on to the same bytes."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from synthbench.dataset import staging
from synthbench.errors import SynthbenchError, UsageError
from synthbench.generation import generate, shards
from tests.making import CTL, GROUPS, SHARDS, Interrupted, files, interrupting, make, names, stamps
from tests.support import environment


def interrupt(out, owner, name, at, after=False, **options):
    """A run that is interrupted at call `at` of a function."""
    with pytest.MonkeyPatch.context() as patched:
        interrupting(patched, owner, name, at, after)
        with pytest.raises(Interrupted):
            make(out, **options)


# Interruptions.


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        (staging.Staging, "note", SHARDS),
        (pq.ParquetWriter, "write_table", GROUPS),
        (pq.ParquetWriter, "close", SHARDS),
        (shards, "make_shard", SHARDS),
        (generate, "write_card", 1),
    ],
)
def test_a_run_that_is_interrupted_anywhere_is_continued_to_the_same_bytes(
    tmp_path, whole, owner, name, calls, after
):
    for at in range(calls):
        out = tmp_path / f"{at}" / "data"
        interrupt(out, owner, name, at, after)
        assert names(out.parent) == [".data.partial"]
        make(out)
        assert files(out) == whole
        assert names(out.parent) == ["data"]


def test_a_run_has_exactly_as_many_places_to_be_interrupted(tmp_path, numbers, monkeypatch):
    saves = interrupting(monkeypatch, staging.Staging, "note", -1)
    tables = interrupting(monkeypatch, pq.ParquetWriter, "write_table", -1)
    made = interrupting(monkeypatch, shards, "make_shard", -1)
    make(tmp_path)
    assert (len(saves), len(tables), len(made)) == (SHARDS, GROUPS, SHARDS)


def test_what_is_finished_is_not_made_again_however_often_a_run_is_interrupted(
    tmp_path, whole, monkeypatch
):
    for number in range(SHARDS):
        interrupt(tmp_path / "data", staging.Staging, "note", 0, after=True)
        there = (tmp_path / ".data.partial" / "dataset").rglob("*.parquet")
        assert len(list(there)) == number + 1
    made = interrupting(monkeypatch, shards, "make_shard", -1)
    make(tmp_path / "data")
    assert made == []
    assert files(tmp_path / "data") == whole


def test_a_damaged_shard_of_an_interrupted_run_is_made_anew_alone(tmp_path, whole):
    out = tmp_path / "data"
    for number, damage in zip(range(7), 2 * ["flip", "cut", "remove", "empty"], strict=False):
        interrupt(out, staging.Staging, "note", 8, after=True)
        file = sorted((tmp_path / ".data.partial").rglob("*.parquet"))[number]
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        if damage == "remove":
            file.unlink()
        else:
            file.write_bytes(bytes({"flip": content, "cut": content[:-9], "empty": b""}[damage]))
        with pytest.MonkeyPatch.context() as patched:
            made = interrupting(patched, shards, "make_shard", -1)
            make(out)
        assert len(made) == SHARDS - 9 + 1
        assert files(out) == whole
        shutil.rmtree(out)


def test_a_damaged_note_costs_its_own_shard_alone(tmp_path, whole):
    out = tmp_path / "data"
    interrupt(out, staging.Staging, "note", 8, after=True)
    notes = tmp_path / ".data.partial" / "finished.jsonl"
    lines = notes.read_text().splitlines()
    noted = [number for number, line in enumerate(lines) if line]
    assert len(noted) == 9
    lines[noted[2]] = lines[noted[2]].replace('"rows": ', '"rows": 1')
    lines[noted[5]] = lines[noted[5]][:40]
    # A power cut in the middle of the last line, and the line that the next run appends.
    notes.write_text("\n".join(lines)[:-20])
    with pytest.MonkeyPatch.context() as patched:
        made = interrupting(patched, shards, "make_shard", -1)
        make(out)
    assert len(made) == SHARDS - 9 + 3
    assert files(out) == whole


def test_the_note_of_a_shard_is_one_line_however_many_there_are(tmp_path, whole):
    interrupt(tmp_path / "data", staging.Staging, "note", 8, after=True)
    notes = tmp_path / ".data.partial" / "finished.jsonl"
    lines = [line for line in notes.read_text().splitlines() if line]
    assert len(lines) == 9 and max(map(len, lines)) < 500


# What is there already.


def test_the_same_command_again_changes_nothing(tmp_path):
    made = make(tmp_path / "ctl", "ctl", **CTL)
    before, content = stamps(tmp_path), files(tmp_path)
    assert make(tmp_path / "ctl", "ctl", **CTL, workers=2) == made
    assert stamps(tmp_path) == before
    assert files(tmp_path) == content


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"seed": 1}, "seed: 0 there, 1 asked for"),
        ({"rows": {"train": 400}}, "rows default train: 500 there, 400 asked for"),
        ({"parameters": {"sizes": (1000, 1000, 500)}}, r"parameters sizes: \[1000, 1000, 1000"),
        ({"shard_rows": 81}, "shard_rows: 60 there, 100 asked for"),
        ({"preset": "small"}, "rows default train: 500 there, 100 asked for"),
    ],
)
@pytest.mark.parametrize("partial", [False, True], ids=["finished", "interrupted"])
def test_another_command_is_refused_by_its_difference_and_harms_nothing(
    tmp_path, whole, other, difference, partial
):
    out = tmp_path / "data"
    if partial:
        interrupt(out, staging.Staging, "note", 6)
    else:
        make(out)
    before = files(tmp_path)
    with pytest.raises(UsageError, match=f"{difference}.*--overwrite"):
        make(out, **other)
    assert files(tmp_path) == before
    make(out)
    assert files(out) == whole


def test_overwriting_replaces_a_dataset_or_an_interrupted_run_of_another_command(tmp_path, whole):
    out = tmp_path / "new" / "data"
    make(out, seed=1)
    make(out, overwrite=True)
    assert files(out) == whole
    shutil.rmtree(out)
    interrupt(out, staging.Staging, "note", 6, seed=1)
    make(out, overwrite=True)
    assert files(out) == whole
    assert names(out.parent) == ["data"]


@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        (staging.Staging, "note", 0),
        (pq.ParquetWriter, "write_table", 11),
        (generate, "write_card", 0),
        (staging.Staging, "publish", 0),
    ],
)
def test_overwriting_that_fails_leaves_the_old_dataset_whole(tmp_path, whole, owner, name, at):
    out = tmp_path / "new" / "data"
    make(out, seed=1)
    old = files(out)
    interrupt(out, owner, name, at, overwrite=True)
    assert files(out) == old
    make(out, overwrite=True)
    assert files(out) == whole
    assert names(out.parent) == ["data"]


def test_shards_that_go_at_the_very_end_are_made_again_and_never_missed(
    tmp_path, whole, monkeypatch
):
    flush = staging.flush

    def flush_slowly(directory):
        flush(directory)
        shutil.rmtree(directory / "data" / "default")

    with monkeypatch.context() as patched:
        patched.setattr(staging, "flush", flush_slowly)
        with pytest.raises(SynthbenchError, match=r"is missing .*; run the same command again"):
            make(tmp_path / "data")
    assert names(tmp_path) == [".data.partial"]
    make(tmp_path / "data")
    assert files(tmp_path / "data") == whole
    assert names(tmp_path) == ["data"]


@pytest.mark.parametrize("lost", [True, False], ids=["lost", "longer"])
def test_a_shard_of_a_finished_dataset_that_is_lost_or_longer_is_noticed(tmp_path, whole, lost):
    make(tmp_path / "data")
    shard = next((tmp_path / "data").rglob("test-00001*"))
    if lost:
        shard.unlink()
    else:
        shard.write_bytes(shard.read_bytes() + b"x")
    with pytest.raises(SynthbenchError, match=r"test-00001.* is missing or has .*--overwrite"):
        make(tmp_path / "data")
    make(tmp_path / "data", overwrite=True)
    assert files(tmp_path / "data") == whole


def test_of_two_runs_at_once_the_second_is_refused_and_the_first_not_disturbed(tmp_path, ctl):
    code = f"""
from synthbench.dataset import staging
from synthbench.generation.generate import generate
note, noted = staging.Staging.note, []
def wait(self, record):
    note(self, record)
    noted.append(record["shard"]["file"])
    if noted[-1].startswith("data/forward/iid"):
        print("at work", flush=True)
        input()
staging.Staging.note = wait
generate("ctl", out={str(tmp_path / "ctl")!r}, workers=2, progress=False, **{CTL!r})
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
            with pytest.raises(UsageError, match="Another run is writing"):
                make(tmp_path / "ctl", "ctl", **options)
        assert files(tmp_path) == before
        first.communicate("\n" * 9, timeout=300)
        assert first.returncode == 0
    assert files(tmp_path / "ctl") == ctl
    assert names(tmp_path) == ["ctl"]
