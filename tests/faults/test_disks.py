"""Disks that are full, limited, read-only, broken or switched off, each tried for real."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess

import pytest

from tests.faults.mounts import Mounts, can_loop, needs_mounts
from tests.faults.program import Program, finished_shards, run, run_here, whole
from tests.faults.step_kills import WORDS
from tests.making import files, names, stamp

pytestmark = pytest.mark.slow

needs_loops = pytest.mark.skipif(
    not can_loop(), reason="only root may mount an ext4 from a file, where loop devices are"
)


@pytest.fixture
def mounts():
    with Mounts() as mine:
        yield mine


def check_made(directory):
    assert names(directory) == ["ctl"]
    assert files(directory / "ctl") == whole(tuple(WORDS))


def check_failed(ended, message):
    status, printed, errors = ended
    assert (status, printed) == (1, ""), errors
    assert errors.startswith("Error: ")
    assert message in errors
    assert "un the same command to continue" in errors
    assert len(errors.splitlines()) <= 2


@needs_mounts
def test_on_a_full_disk_a_run_goes_on_whenever_there_is_more_room(tmp_path, mounts):
    """A small tmpfs that grows."""
    kept: dict[str, tuple[int, int]] = {}
    for kilobytes in (4, 250, 450):
        mounts.tmpfs(tmp_path, f"size={kilobytes}k")
        ended = run(*WORDS, cwd=tmp_path, enter=mounts.enter)
        check_failed(ended, "No space left on the device while writing ")
        assert names(mounts.see(tmp_path)) == [".ctl.partial"]
        left = finished_shards(mounts.see(tmp_path) / "ctl")
        assert kept.items() <= left.items()
        kept = left
    assert kept
    mounts.tmpfs(tmp_path, "size=64m")
    assert run(*WORDS, cwd=tmp_path, enter=mounts.enter) == (0, "", "")
    there = mounts.see(tmp_path)
    assert {name: stamp(there / "ctl" / name) for name in kept} == kept
    check_made(there)


@needs_mounts
def test_a_full_disk_does_not_harm_the_dataset_that_was_to_be_replaced(tmp_path, mounts):
    """A tmpfs that has room for little more than one dataset."""
    mounts.tmpfs(tmp_path, "size=64m")
    there = mounts.see(tmp_path)
    assert run(*WORDS, "--seed=5", cwd=tmp_path, enter=mounts.enter) == (0, "", "")
    old = files(there / "ctl")
    used = sum(-(-file.stat().st_size // 4096) for file in there.rglob("*") if file.is_file())
    mounts.tmpfs(tmp_path, f"size={4 * used + 60}k")
    ended = run(*WORDS, "--overwrite", cwd=tmp_path, enter=mounts.enter)
    check_failed(ended, "No space left on the device while writing ")
    assert files(there / "ctl") == old
    mounts.tmpfs(tmp_path, "size=64m")
    assert run(*WORDS, "--overwrite", cwd=tmp_path, enter=mounts.enter) == (0, "", "")
    check_made(there)


@needs_mounts
def test_a_disk_without_inodes_is_full_too(tmp_path, mounts):
    for inodes in (3, 9):
        mounts.tmpfs(tmp_path, f"size=64m,nr_inodes={inodes}")
        ended = run(*WORDS, cwd=tmp_path, enter=mounts.enter)
        check_failed(ended, "No space left on the device while writing ")
    mounts.tmpfs(tmp_path, "size=64m,nr_inodes=0")
    assert run(*WORDS, cwd=tmp_path, enter=mounts.enter) == (0, "", "")
    check_made(mounts.see(tmp_path))


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="no prlimit to set a limit with")
def test_a_limit_of_files_is_named_and_gone_on_from_when_it_is_lifted(tmp_path):
    """`RLIMIT_FSIZE`, the nearest to a quota that needs no administrator."""
    for limit in (1500, 9000):
        ended = run(*WORDS, cwd=tmp_path, enter=["prlimit", f"--fsize={limit}"])
        check_failed(ended, "Largest size of a file exceeded (ulimit -f) while writing ")
    assert run_here(*WORDS, cwd=tmp_path) == (0, "", "")
    check_made(tmp_path)


@needs_mounts
def test_a_read_only_disk_is_refused_but_a_dataset_on_it_is_read(tmp_path, mounts):
    mounts.tmpfs(tmp_path, "size=64m")
    assert run(*WORDS, cwd=tmp_path, enter=mounts.enter) == (0, "", "")
    mounts.tmpfs(tmp_path, "ro")
    assert run(*WORDS, cwd=tmp_path, enter=mounts.enter) == (0, "", "")
    status, printed, errors = run("verify", "ctl", "--workers=1", cwd=tmp_path, enter=mounts.enter)
    assert (status, errors) == (0, ""), printed
    for words in ([*WORDS, "--overwrite"], [*WORDS, "--out=other"]):
        status, printed, errors = run(*words, cwd=tmp_path, enter=mounts.enter)
        assert (status, printed) == (2, "")
        assert errors.startswith("Error: Output ")
        assert errors.endswith(" cannot be written: Read-only file system.\n")
    check_made(mounts.see(tmp_path))


# An ext4 in a file, that can be cut off as a loss of power does it.

#: `EXT4_IOC_SHUTDOWN`, and the way that forgets all that is not on the disk.
SHUTDOWN, NOLOGFLUSH = 0x8004587D, b"\x02\x00\x00\x00"


class Disk:
    """An ext4 on a loop device that can lose its power."""

    def __init__(self, mounts, image, place):
        self._mounts, self._image, self._place = mounts, image, place
        with image.open("wb") as file:
            file.truncate(64 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        place.mkdir()
        self.switch_on()

    def switch_on(self):
        assert self._mounts.mount("-o", "loop", self._image, self._place)

    def switch_off(self):
        """What the kernel has not yet written is lost, and nothing can be read or written."""
        descriptor = os.open(self._mounts.see(self._place), os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, NOLOGFLUSH)
        finally:
            os.close(descriptor)

    def abort(self):
        """What the kernel does after an error of the disk: nothing can be written any more."""
        assert self._mounts.mount("-o", "remount,abort", self._place)

    def restart(self):
        assert self._mounts.unmount(self._place)
        self.switch_on()


@pytest.fixture
def disk(tmp_path):
    with Mounts(root=True) as mounts:
        yield mounts, Disk(mounts, tmp_path / "image", tmp_path / "disk")


@needs_loops
def test_what_was_published_is_still_there_after_a_loss_of_power(tmp_path, disk):
    mounts, ext4 = disk
    there = mounts.see(tmp_path / "disk")
    for seed in ("--seed=5", "--seed=0"):
        words = [*WORDS, seed]
        assert run(*words, "--overwrite", cwd=tmp_path / "disk", enter=mounts.enter) == (0, "", "")
        ext4.switch_off()
        ext4.restart()
        assert files(there / "ctl") == whole(tuple(words))
        assert run(*words, cwd=tmp_path / "disk", enter=mounts.enter) == (0, "", "")
        assert set(names(there)) == {"ctl", "lost+found"}


@needs_loops
@pytest.mark.parametrize(
    ("fails", "message"),
    [("switch_off", "Input/output error."), ("abort", "Read-only file system.")],
)
def test_a_disk_that_fails_in_the_middle_ends_the_run_which_goes_on_when_it_is_back(
    tmp_path, disk, fails, message
):
    mounts, ext4 = disk
    there = mounts.see(tmp_path / "disk")
    program = Program(WORDS, tmp_path / "disk", enter=mounts.enter)
    program.wait_for(there / ".ctl.partial" / "finished.jsonl")
    getattr(ext4, fails)()
    check_failed(program.end(), f" cannot be written: {message}")
    ext4.restart()
    assert run(*WORDS, cwd=tmp_path / "disk", enter=mounts.enter) == (0, "", "")
    assert files(there / "ctl") == whole(tuple(WORDS))
