"""The command line as a process group of its own, to be ended in the middle of its work."""

import contextlib
import functools
import io
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from synthbench.cli.main import main
from synthbench.dataset.staging import _read_notes
from tests.making import files, stamp
from tests.support import environment

#: Nothing here takes half as long; what does is taken for a run that hangs.
PATIENCE = 120.0


_CD = ["sh", "-c", 'cd "$0" && exec "$@"']


class Program:
    """A run of `synthbench` that has started, and its workers.

    Args:
        words: the command's words.
        cwd: where it runs.
        module: what runs instead of `synthbench.cli.main`; it is given the words.
        enter: a command that runs it, such as `prlimit` with a limit.
        changes: variables of its environment.
    """

    def __init__(self, words, cwd, module=("synthbench",), enter=(), **changes):
        self.words = words
        self._process = subprocess.Popen(
            # What is entered may be another file system, where `cwd` is another directory.
            [*enter, *_CD, str(cwd), sys.executable, "-m", *module, *words],
            env=environment(**changes),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.pid = self._process.pid

    def wait_for(self, path):
        """Wait until a file is there and has something in it, or the run has ended."""

        def is_empty():
            try:
                return path.stat().st_size == 0
            except FileNotFoundError:
                return True

        until = time.monotonic() + PATIENCE
        while is_empty() and self.running:
            assert time.monotonic() < until, f"{path} does not come"
            time.sleep(0.001)

    def wait_for_workers(self):
        """Wait until the run is at work, or has ended."""
        until = time.monotonic() + PATIENCE
        while not self.workers() and self.running:
            assert time.monotonic() < until, "no workers come"
            time.sleep(0.001)

    def wait(self, seconds):
        """Wait some time, or until the run has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    @property
    def running(self):
        return self._process.poll() is None

    def workers(self):
        """Process ids of its children."""
        try:
            listed = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [int(one) for one in listed.split()]

    def send(self, number, to="main"):
        """Send a signal to `main`, or to the whole `group`, as a terminal does."""
        if to == "group":
            os.killpg(self.pid, number)
        else:
            self._process.send_signal(number)

    def end(self):
        """Wait until it has ended with all its workers: status, output, errors.

        Raises:
            AssertionError: it hangs, or leaves workers behind; they are ended then.
        """
        try:
            printed, errors = self._process.communicate(timeout=PATIENCE)
            until = time.monotonic() + PATIENCE
            while left := group(self.pid):
                assert time.monotonic() < until, f"left behind: {left}"
                time.sleep(0.001)
        except (subprocess.TimeoutExpired, AssertionError):
            os.killpg(self.pid, signal.SIGKILL)
            raise AssertionError(f"{' '.join(self.words)} hangs") from None
        return self._process.returncode, printed, errors


def group(leader):
    """The processes of a group that run; those that have ended and are not waited for do not."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_group) == leader and state not in "ZX":
            members.append(int(stat.parent.name))
    return members


def run(*words, cwd, enter=(), **changes):
    """A run from beginning to end: status, output, errors."""
    return Program(words, cwd, enter=enter, **changes).end()


def run_here(*words, cwd):
    """The same in this process, which has imported everything already."""
    printed, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(errors),
        pytest.raises(SystemExit) as ended,
    ):
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code, printed.getvalue(), errors.getvalue()


@functools.cache
def whole(words):
    """The files that a command makes as `ctl`, undisturbed, in one process."""
    with tempfile.TemporaryDirectory() as directory:
        assert run_here(*words, "--workers=1", cwd=Path(directory)) == (0, "", "")
        return files(Path(directory, "ctl"))


def finished_shards(out):
    """The shards that an interrupted run has noted as finished, each with its stamp."""
    staging = out.with_name(f".{out.name}.partial")
    if not (staging / "dataset").exists():
        return {}
    notes = _read_notes(staging / "finished.jsonl")
    shards = [one["shard"]["file"] for one in notes]
    return {name: stamp(staging / "dataset" / name) for name in shards}
