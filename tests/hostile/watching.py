"""Whether anything outside of what was given is touched while a piece of code runs."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support import ROOT

#: Audit events whose first argument is a path that is opened, listed or changed.
_EVENTS = {
    "open", "os.chmod", "os.link", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.scandir", "os.symlink", "os.truncate",
}  # fmt: skip
_touched: list[str] | None = None
#: What Python itself opens: modules, time zones, devices, the processor's description.
_SYSTEM = tuple(
    {sys.prefix, sys.base_prefix, str(ROOT / "synthbench"), "/dev/", "/proc/", "/sys/", "/usr/"}
)


def _note(event, arguments):
    if _touched is not None and event in _EVENTS and isinstance(arguments[0], str | bytes):
        _touched.append(os.fsdecode(arguments[0]))


def install():
    """Begin to listen, which cannot be ended; pyarrow, which no hook sees, is wrapped."""
    sys.addaudithook(_note)
    opened = pa.OSFile

    def noting(path, *arguments):
        _note("open", (path,))
        return opened(path, *arguments)

    pa.OSFile = noting
    read = pq.ParquetFile.__init__

    def reading(self, source, *arguments, **options):
        if not isinstance(source, opened):  # which was noted
            _note("open", (str(source),))
        read(self, source, *arguments, **options)

    pq.ParquetFile.__init__ = reading


@contextlib.contextmanager
def nothing_else_is_touched(root, given):
    """Fail if the block opens, lists or changes anything in or out of `root` but what was given.

    Args:
        root: a directory whose other files must stay as they are.
        given: files and directories that may be read.
    """
    global _touched  # an audit hook has no other way to know
    before = _listing(root, given)
    _touched = []
    try:
        yield
        touched = _touched
    finally:
        _touched = None
    allowed = tuple(map(str, given)) + _SYSTEM
    places = [os.path.normpath(Path.cwd() / place) for place in touched]
    strange = [place for place in places if not place.startswith(allowed)]
    assert not strange, strange
    assert _listing(root, given) == before


def _listing(root, given):
    """All files below a directory, but what was given, with sizes and times of change."""
    listed = []
    for place, directories, names in os.walk(root):
        directories[:] = [one for one in directories if Path(place, one) not in given]
        for name in [*directories, *names]:
            path = Path(place, name)
            if path not in given:
                there = path.lstat()
                listed.append((str(path), there.st_size, there.st_mtime_ns))
    return sorted(listed)


@contextlib.contextmanager
def scratch():
    """A directory for one case, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as made:
        yield Path(made)
