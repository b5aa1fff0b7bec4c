"""The command line in a process that kills itself just before a step in the file system.

    python -m tests.faults.doomed STEP ROOT WORDS...

A step is what Python's audit hooks tell of: a file opened for writing, a rename, a removal, a
directory made, below ROOT. It has a name such as `open .ctl.partial/finished.jsonl 2`:
what, which file, and how many times before. With the step `-`, nobody dies, and all steps are
printed on standard error, one a line.
"""

from __future__ import annotations

import collections
import os
import signal
import sys
import threading
from pathlib import Path

from synthbench.cli.main import main

#: What changes a file system, by the names of its audit events.
_CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree", "open"}


class Steps:
    """Names every step in the file system below a directory, and dies before one of them."""

    def __init__(self, root, last):
        self._root, self._last = root, last
        self._met: collections.Counter[str] = collections.Counter()
        self._counting = threading.Lock()
        self._main = os.getpid()

    def __call__(self, event, arguments):
        """An audit hook: called before the step."""
        if event not in _CHANGES or os.getpid() != self._main:
            return
        place = Path(os.fsdecode(arguments[0])) if isinstance(arguments[0], str | Path) else None
        if place is None or not place.is_relative_to(self._root):
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        with self._counting:
            step = f"{event} {place.relative_to(self._root)}"
            name = f"{step} {self._met[step]}"
            self._met[step] += 1
        if self._last == "-":
            os.write(2, f"{name}\n".encode())  # at once, for shards have threads of their own
        elif name == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    _step, _root, *_words = sys.argv[1:]
    sys.addaudithook(Steps(Path(_root).resolve(), _step))
    main(_words)
