"""Worker processes: what one that dies was at is done by another, and nobody waits for ever."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from synthbench.engine import worker_pool
from synthbench.engine.signals import interruptible
from synthbench.engine.worker_pool import WorkerPool
from synthbench.errors import SynthbenchError

posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def die_once(mark):
    """Die, but only the first time, also if two workers come at once."""
    with contextlib.suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def heap_in_huge_pages():
    """Whether this process asks for huge pages for a part of its heap."""
    parts = Path("/proc/self/smaps").read_text().split("[heap]")[1:]
    flags = [next(line for line in part.splitlines() if "VmFlags" in line) for part in parts]
    return any(" hg" in line for line in flags)


def fail(text):
    raise SynthbenchError(text)


def ones(count):
    return np.ones(count, np.uint8)


def unsendable():
    return lambda: None


def signals():
    return signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)


@posix
def test_what_a_worker_was_at_when_it_died_is_done_by_another_and_told_at_the_end(tmp_path, capsys):
    with WorkerPool(3) as pool:
        asked = [pool.submit(die_once, tmp_path / str(number % 2)) for number in range(9)]
        assert all(future.result() for future in asked)
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err.startswith("2 of 3 worker processes ended abruptly")


@posix
def test_when_all_workers_have_died_everything_asked_for_fails_and_nobody_waits():
    with pytest.raises(SynthbenchError, match="with fewer workers than 2"), WorkerPool(2) as pool:
        futures = [pool.submit(os._exit, 1) for _ in range(7)]
        for future in futures:
            with pytest.raises(SynthbenchError):
                future.result()
        pool.submit(os.getpid).result()


def die_once_in_the_middle_of_an_answer(mark):
    """Send half of the answer and die, but only the first time."""

    def send_half(pipe, answer):
        half = bytes(answer[: len(answer) // 2])
        os.write(pipe.fileno(), struct.pack("!i", len(answer)) + half)
        os.kill(os.getpid(), signal.SIGKILL)

    with contextlib.suppress(FileExistsError):
        mark.touch(exist_ok=False)
        # Not send_bytes, which the worker has looked up before it calls this function.
        Connection._send_bytes = send_half  # type: ignore[attr-defined]
    return ones(1_000)


@posix
def test_a_worker_that_dies_in_the_middle_of_its_answer_holds_nobody_up(tmp_path, capsys):
    with WorkerPool(2) as pool:
        futures = [
            pool.submit(die_once_in_the_middle_of_an_answer, tmp_path / "mark") for _ in range(8)
        ]
        assert [future.result().sum() for future in futures] == [1_000] * 8
    assert capsys.readouterr().err.startswith("1 of 2 worker processes ended abruptly")


def test_an_error_says_where_in_the_worker_it_was_raised():
    with WorkerPool(1) as pool, pytest.raises(SynthbenchError, match=r"^no picture$") as failed:
        pool.submit(fail, "no picture").result()
    assert "in fail" in str(failed.value.__cause__)


def test_a_result_that_cannot_be_sent_is_an_error_and_not_the_end_of_the_worker():
    with WorkerPool(1) as pool:
        with pytest.raises(Exception, match="pickle"):
            pool.submit(unsendable).result()
        with pytest.raises(Exception, match="pickle"):
            pool.submit(callable, unsendable()).result()
        assert pool.submit(abs, -3).result() == 3


def test_no_worker_is_left_when_the_pool_is_closed_even_if_it_is_at_work():
    with pytest.raises(ZeroDivisionError), WorkerPool(2) as pool:
        for _ in range(5):
            pool.submit(time.sleep, 60)
        raise ZeroDivisionError
    assert multiprocessing.active_children() == []


@posix
def test_workers_leave_control_c_to_the_main_process_and_have_no_handler_of_its_own():
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with WorkerPool(1) as pool:
            assert pool.submit(signals).result() == (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGTERM, before)


@posix
def test_an_interruption_between_two_starts_starts_no_more_workers(monkeypatch):
    def start(self):
        starting(self)
        started.append(self)
        if len(started) == 2:
            signal.raise_signal(signal.SIGTERM)

    started: list[worker_pool._Worker] = []
    starting = worker_pool._Worker.__init__
    monkeypatch.setattr(worker_pool._Worker, "__init__", start)
    with pytest.raises(KeyboardInterrupt), interruptible():
        WorkerPool(20)
    assert len(started) == 2
    assert multiprocessing.active_children() == []


@posix
def test_an_interruption_while_workers_start_leaves_none_of_them(monkeypatch):
    """Not even one that ends by no SIGTERM, for it is only just starting."""

    def start(self):
        starting(self)
        signal.raise_signal(signal.SIGINT)

    starting = worker_pool._Worker.__init__
    monkeypatch.setattr(worker_pool._Worker, "__init__", start)
    monkeypatch.setattr(worker_pool, "_work", lambda pipe: time.sleep(60))
    with pytest.raises(KeyboardInterrupt), interruptible():
        WorkerPool(3)
    assert multiprocessing.active_children() == []


HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
ASK = """
from synthbench.engine.worker_pool import WorkerPool
from tests.engine.test_worker_pool import heap_in_huge_pages as asks
with WorkerPool(1) as pool:
    print(asks(), pool.submit(asks).result())
"""


@pytest.mark.skipif(
    not HUGE_PAGES.exists()
    or "[never]" in HUGE_PAGES.read_text()
    or not hasattr(ctypes.CDLL(None), "mallopt"),
    reason="huge pages are off here",
)
def test_workers_ask_for_huge_pages():
    shown = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "True"]
