"""A Dask scheduler and workers as processes of their own, on 127.0.0.1, to be ill-treated."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from tests.support import ROOT, environment


class Cluster:
    """Starts what it is told to, below a directory; ends all of it at the end of a `with` block."""

    def __init__(self, place):
        self.place = place
        self.address = ""
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for one in reversed(self._started):
            with contextlib.suppress(ProcessLookupError):
                # A nanny that is killed leaves its worker; they are a group of their own.
                os.killpg(one.pid, signal.SIGKILL)
            one.wait(20)

    def scheduler(self, path=ROOT, **changes):
        """Start the scheduler; it finds modules at `path`."""
        file = self.place / "scheduler.json"
        words = ["--port=0", f"--scheduler-file={file}"]
        started = self._start("dask_scheduler", words, path, changes)
        until(lambda: file.exists() and file.stat().st_size)
        self.address = json.loads(file.read_text())["address"]
        return started

    def worker(self, *words, path=ROOT, nanny=False, **changes):
        """Start a worker, which finds modules at `path`, and wait until the scheduler has it."""
        words = [self.address, "--nthreads=1", "--nanny" if nanny else "--no-nanny", *words]
        log = self.place / f"dask_worker-{len(self._started)}.log"
        started = self._start("dask_worker", words, path, changes)
        until(lambda: "Registered to" in log.read_text())
        return started

    def _start(self, module, words, path, changes):
        name = f"{module}-{len(self._started)}"
        with (self.place / f"{name}.log").open("w") as log:
            started = subprocess.Popen(
                [
                    *[sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard"],
                    *["--host=127.0.0.1", *words],
                ],
                cwd=self.place,
                env=environment(PYTHONWARNINGS="default", PYTHONPATH=str(path), **changes),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._started.append(started)
        return started


def until(true, seconds=60):
    """Wait until a function returns something true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def copied_code(place):
    """A copy of the package below a directory, to be changed; returns where modules are found."""
    shutil.copytree(
        ROOT / "synthbench",
        place / "synthbench",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return place
