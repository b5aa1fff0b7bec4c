"""Faults that come from outside at random moments, and what must be there afterwards.

Every fault strikes runs of one command until it has struck often enough; what one run leaves, the
next goes on with. What was finished is kept as it is, and every dataset that comes to be has the
bytes that it has undisturbed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import re
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from synthbench.dataset.manifest import MANIFEST
from tests.faults.program import Program, finished_shards, run_here, whole
from tests.making import files, names, stamp

WORKERS = 3
#: Two variants with seven shards each.
WORDS = [
    *["generate", "ctl", "--variant=all", "--out=ctl", "--quiet", f"--workers={WORKERS}"],
    *["--set=train_lengths=7,8", "--rows=train=32000", "--shard-rows=8192"],
    *["--rows=iid=90", "--rows=validation=60", "--rows=test=40"],
]

#: Strikes a run; False if there was nothing to strike.
Strike = Callable[[Program, Path, random.Random], bool]


@dataclasses.dataclass(frozen=True)
class Fault:
    """What befalls a run, and how it must end.

    Attributes:
        strike: does it.
        status: exit status.
        says: a regular expression for all that it may print on standard error.
        keeps: whether the finished shards must be there afterwards.
    """

    strike: Strike
    status: int
    says: str = ""
    keeps: bool = True


def send(number, to):
    """Send a signal to the `main` process or to the `group`, as a terminal does."""

    def strike(program, staging, draws):
        program.send(number, to)
        return True

    return strike


def kill_workers(count):
    """Kill some of the workers, as the system does when there is no memory left."""

    def strike(program, staging, draws):
        workers = program.workers()
        if len(workers) < WORKERS:
            return False
        for worker in draws.sample(workers, count):
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        return True

    return strike


def remove(below):
    """Remove the staging directory of the run, or a directory in it.

    It is moved away first: who removes file by file goes on in a directory that is published
    meanwhile, and no run could do anything about it.
    """

    def strike(program, staging, draws):
        away = staging.parent / "away"
        try:
            (staging / below).rename(away)
        except FileNotFoundError:
            return False
        while away.exists():
            shutil.rmtree(away, ignore_errors=True)
        return True

    return strike


#: An interruption in the middle of an import leaves a file of Python's open, which closes it later.
WARNINGS = "error,ignore::ResourceWarning"
INTERRUPTED = r"\s*Interrupted(\. Run the same command again to continue)?\.\n"
GONE = r"Error: .*(was removed during the run|No such file or directory|is missing|No dataset at)"

FAULTS = {
    "kill -9 of the main process": Fault(send(signal.SIGKILL, "main"), -signal.SIGKILL),
    "kill -9 of main process and workers": Fault(send(signal.SIGKILL, "group"), -signal.SIGKILL),
    "kill -9 of a worker": Fault(kill_workers(1), 0, "(1 of 3 worker processes ended abruptly.*)?"),
    "kill -9 of all workers": Fault(
        kill_workers(WORKERS), 1, "Error: All worker processes ended abruptly.*"
    ),
    "Control-C": Fault(send(signal.SIGINT, "group"), 130, INTERRUPTED),
    "SIGTERM to the main process": Fault(send(signal.SIGTERM, "main"), 130, INTERRUPTED),
    "the staging directory is removed": Fault(remove(""), 1, f"{GONE}.*", keeps=False),
    "finished shards are removed": Fault(
        remove("dataset/data/forward"), 1, f"{GONE}.*", keeps=False
    ),
}


class Disturbed:
    """One command that a fault strikes at random moments.

    Args:
        directory: an empty directory.
        fault: a name in `FAULTS`.
        seed: of the moments.
    """

    def __init__(self, directory, fault, seed):
        self._directory, self._out = directory, directory / "ctl"
        self._staging = directory / ".ctl.partial"
        self._fault = FAULTS[fault]
        self._draws = random.Random(seed)
        self._seconds = 1.0
        self._finished: dict[str, tuple[int, int]] = {}

    def strike(self, times):
        """Let the fault strike, and the command come to its end.

        Raises:
            AssertionError: something was lost, something hangs, or other bytes were made.
        """
        while times:
            struck = self._run_once(disturb=True)
            times -= struck
        if self._staging.exists():
            self._run_once(disturb=False)

    def _run_once(self, disturb):
        """One run; whether it was struck."""
        program = Program(WORDS, self._directory, PYTHONWARNINGS=WARNINGS)
        program.wait_for_workers()
        struck, late, started = False, False, time.monotonic()
        if disturb:
            program.wait(self._draws.uniform(0, self._seconds))
            at_work = program.running and self._staging.exists()
            struck = at_work and self._fault.strike(program, self._staging, self._draws)
            late = (self._staging / "dataset" / MANIFEST).exists() or self._out.exists()
        status, printed, errors = program.end()
        self._check_end(status, printed, errors, struck)
        if self._out.exists():
            if status == -signal.SIGKILL and self._staging.exists():
                # All was done but for the tidying up, which any further run does.
                assert run_here(*WORDS, cwd=self._directory) == (0, "", "")
            if struck and late and not self._fault.keeps:
                self._make_whole()
            self._check_dataset()
        if not struck:
            self._seconds = time.monotonic() - started
        return struck

    def _check_end(self, status, printed, errors, struck):
        assert printed == ""
        if self._out.exists() and errors == "":
            # Perhaps it was struck when all was done, and only the process had yet to end.
            assert status == 0 or (struck and status < 0)
        else:
            assert struck
            assert status == self._fault.status, errors
            assert re.fullmatch(self._fault.says, errors, re.DOTALL), errors
            assert len(errors.strip().splitlines()) <= 2
        if self._fault.keeps:
            self._check_kept()

    def _check_kept(self):
        """What was finished once is the same file for ever."""
        if self._out.exists():
            there = {name: stamp(self._out / name) for name in self._finished}
        else:
            there = finished_shards(self._out)
        assert self._finished.items() <= there.items()
        self._finished = there

    def _make_whole(self):
        """Struck when all was written, perhaps between a run's last look at shards and its rename.

        That run cannot notice that they have gone; the next one must.
        """
        status, _, errors = run_here(*WORDS, cwd=self._directory)
        if status:
            assert re.fullmatch(rf"{GONE}.*", errors, re.DOTALL), errors
            assert run_here(*WORDS, "--overwrite", cwd=self._directory) == (0, "", "")

    def _check_dataset(self):
        assert files(self._out) == whole(tuple(WORDS))
        assert names(self._directory) == ["ctl"]
        shutil.rmtree(self._out)
        self._finished = {}
