"""Directories that are lost, shared, elsewhere or from the future, each tried for real."""

import os
import random
import shutil
import time

import pytest

from tests.faults.mounts import Mounts, needs_mounts
from tests.faults.program import Program, finished_shards, run, run_here, whole
from tests.faults.step_kills import WORDS
from tests.making import files, names, stamp
from tests.support import terminal

pytestmark = pytest.mark.slow


def check_made(directory, name="ctl"):
    assert files(directory / name) == whole(tuple(WORDS))
    assert not (directory / f".{name}.partial").exists()


# Lost.


def test_a_directory_that_is_removed_with_all_around_it_ends_the_run_in_a_line(tmp_path):
    draws = random.Random(0)
    for _ in range(2):
        room = tmp_path / "room"
        room.mkdir()
        program = Program(WORDS, room)
        program.wait_for(room / ".ctl.partial" / "finished.jsonl")
        program.wait(draws.uniform(0, 0.3))
        while room.exists():
            shutil.rmtree(room, ignore_errors=True)
        status, printed, errors = program.end()
        assert printed == ""
        if status:
            assert status == 1
            assert errors.startswith("Error: ")
            assert len(errors.splitlines()) <= 2
        shutil.rmtree(room, ignore_errors=True)
    assert run_here(*WORDS, cwd=tmp_path) == (0, "", "")
    check_made(tmp_path)


# The clock.


@pytest.mark.parametrize("year", [1980, 2100])
def test_shards_of_another_time_are_gone_on_from(tmp_path, year):
    program = Program(WORDS, tmp_path)
    program.wait_for(tmp_path / ".ctl.partial" / "finished.jsonl")
    program.send(9)
    program.end()
    when = (year - 1970) * 365.25 * 86400
    for file in (tmp_path / ".ctl.partial").rglob("*"):
        os.utime(file, (when, when))
    kept = finished_shards(tmp_path / "ctl")
    assert kept
    assert run_here(*WORDS, cwd=tmp_path) == (0, "", "")
    assert {name: stamp(tmp_path / "ctl" / name) for name in kept} == kept
    check_made(tmp_path)


def test_a_clock_that_runs_backwards_changes_nothing_not_even_for_the_bar(tmp_path):
    """`time.time` of the process; the bar is shown, for it alone looks at the clock."""
    words = [word for word in WORDS if word != "--quiet"]
    with terminal() as (its, shown):
        enter = ["sh", "-c", f'exec "$@" 2>/proc/{os.getpid()}/fd/{its}', "sh"]
        program = Program(words, tmp_path, module=("tests.faults.backwards",), enter=enter)
        status, printed, _ = program.end()
        bar = shown()
    assert (status, "rows in" in printed, b"ctl" in bar) == (0, True, True), bar
    check_made(tmp_path)


# Two runs at once.


@pytest.mark.parametrize("overwriting", [False, True], ids=["new", "overwriting"])
def test_of_runs_that_start_together_one_makes_the_dataset_and_the_others_leave_it_alone(
    tmp_path, overwriting
):
    draws = random.Random(0)
    words = [*WORDS, "--overwrite"] if overwriting else WORDS
    programs = []
    for _ in range(4):
        programs.append(Program(words, tmp_path))
        time.sleep(draws.uniform(0, 0.3))
    ended = [program.end() for program in programs]
    assert (0, "", "") in ended
    for status, printed, errors in ended:
        assert (status, printed) in {(0, ""), (2, "")}
        refused = "Another run is writing" in errors or "Another program created" in errors
        assert refused == (status == 2)
        assert len(errors.splitlines()) <= 1
    check_made(tmp_path)


def test_whoever_reads_while_a_dataset_is_replaced_gets_one_or_an_error_in_a_line(tmp_path):
    assert run_here(*WORDS, cwd=tmp_path) == (0, "", "")
    for seed in (1, 0):
        writer = Program([*WORDS, "--overwrite", f"--seed={seed}"], tmp_path)
        while writer.running:
            status, printed, errors = run_here("verify", "ctl", "--workers=1", cwd=tmp_path)
            assert status in (0, 1)
            assert (status == 0) == ("ctl (./ctl) matches its manifest." in printed)
            assert len(errors.splitlines()) <= 2
        assert writer.end() == (0, "", "")
    check_made(tmp_path)


# Elsewhere.


@needs_mounts
def test_a_dataset_on_another_file_system_is_made_there(tmp_path):
    """A tmpfs; the working directory and the directory for temporary files are on others."""
    with Mounts() as mounts:
        (tmp_path / "disk").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "disk" / "data")
        mounts.tmpfs(tmp_path / "disk", "size=64m")
        there = mounts.see(tmp_path / "disk")
        outs = {"plain": "disk/plain", "below": "disk/new/below", "data": "link"}
        for name, out in outs.items():
            words = [*WORDS, f"--out={out}"]
            ended = run(*words, cwd=tmp_path, enter=mounts.enter, TMPDIR="/dev/shm")
            assert ended == (0, "", ""), name
        assert names(there) == ["data", "new", "plain"]
        assert names(there / "new") == ["below"]
        for made in (there / "plain", there / "new" / "below", there / "data"):
            assert files(made) == whole(tuple(WORDS))
        assert (tmp_path / "link").is_symlink()
        other = [*WORDS, "--out=link", "--seed=1", "--overwrite"]
        assert run(*other, cwd=tmp_path, enter=mounts.enter) == (0, "", "")
        assert files(there / "data") == whole((*WORDS, "--seed=1"))
        (tmp_path / "empty").mkdir()
        mounts.tmpfs(tmp_path / "empty", "size=1m")
        status, _, errors = run(*WORDS, "--out=empty", cwd=tmp_path, enter=mounts.enter)
        assert status == 2
        assert "is a mount point" in errors


def test_a_directory_for_temporary_files_is_not_needed(tmp_path):
    assert run(*WORDS, cwd=tmp_path, TMPDIR=str(tmp_path / "none")) == (0, "", "")
    check_made(tmp_path)


@needs_mounts
def test_a_dataset_that_cannot_be_moved_aside_stays_and_the_new_one_is_kept(tmp_path):
    """In the lower layer of an overlay, as a container has its image, nothing can be renamed."""
    for name in ("lower", "layers", "merged"):
        (tmp_path / name).mkdir()
    old = [*WORDS, "--seed=5"]
    assert run_here(*old, cwd=tmp_path / "lower") == (0, "", "")
    with Mounts() as mounts:
        mounts.tmpfs(tmp_path / "layers", "size=64m")
        for name in ("upper", "work"):
            (mounts.see(tmp_path / "layers") / name).mkdir()
        layers = f"lowerdir={tmp_path}/lower,upperdir={tmp_path}/layers/upper"
        layers += f",workdir={tmp_path}/layers/work,userxattr"
        merged = tmp_path / "merged"
        if not mounts.mount("-t", "overlay", "-o", layers, "none", merged):
            pytest.skip("mounting an overlay is not permitted here")
        words = [*WORDS, "--overwrite"]
        status, printed, errors = run(*words, cwd=merged, enter=mounts.enter)
        assert (status, printed, len(errors.splitlines())) == (1, "", 1)
        assert "cannot be created: Invalid cross-device link. The complete dataset" in errors
        there = mounts.see(merged)
        assert files(there / "ctl") == whole(tuple(old))
        kept = finished_shards(there / "ctl")
        assert mounts.do("rm", "-r", merged / "ctl")
        assert run(*words, cwd=merged, enter=mounts.enter) == (0, "", "")
        assert {name: stamp(there / "ctl" / name) for name in kept} == kept
        check_made(there)
