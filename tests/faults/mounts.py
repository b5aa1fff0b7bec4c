"""File systems of our own, small, read-only or on a loop device, in a name space of our own."""

import functools
import shutil
import subprocess
from pathlib import Path

import pytest


class Mounts:
    """A mount name space: what is mounted in it, nobody else sees, and it goes with it.

    Args:
        root: with the rights of the real root, whom alone the kernel lets mount block devices;
            otherwise nobody needs to be root.

    Attributes:
        enter: words before a command that let it run in here, in the directory named by `cwd`.
    """

    def __init__(self, root=False):
        self._root = root

    def __enter__(self):
        user = [] if self._root else ["--map-root-user"]
        self._holder = subprocess.Popen(
            ["unshare", "--mount", *user, "sh", "-c", "echo ready; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "ready\n"
        user = [] if self._root else ["--user", "--preserve-credentials"]
        self.enter = ["nsenter", f"--target={self._holder.pid}", "--mount", *user]
        return self

    def __exit__(self, kind, error, trace):
        self._holder.communicate()

    def mount(self, *words):
        """Mount something; whether that was possible."""
        return self.do("mount", *words)

    def unmount(self, place):
        """Unmount what is mounted at a place; whether that was possible."""
        return self.do("umount", place)

    def tmpfs(self, place, options):
        """Mount a file system in memory, or change the options of the one that is there."""
        there = "remount," if self.do("mountpoint", place) else ""
        assert self.mount("-t", "tmpfs", "-o", there + options, "none", place)

    def see(self, place):
        """A place in here as the path by which this process sees it."""
        return Path(f"/proc/{self._holder.pid}/root", *place.parts[1:])

    def do(self, *words):
        """Run a command in here; whether it succeeded."""
        done = subprocess.run([*self.enter, *map(str, words)], capture_output=True, check=False)
        return done.returncode == 0


@functools.cache
def can_mount():
    """Whether a file system in memory can be mounted in a name space of our own."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    words = ["unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(
    not can_mount(), reason="mounting a file system in memory is not permitted here"
)


@functools.cache
def can_loop():
    """Whether we are root enough to mount an ext4 from a file."""
    if not can_mount() or shutil.which("mkfs.ext4") is None:
        return False
    script = "f=$(mktemp) && truncate -s 4M $f && mkfs.ext4 -q $f; mount -o loop $f /mnt; s=$?; "
    script += "rm -f $f; exit $s"
    words = ["unshare", "--mount", "sh", "-c", script]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0
