"""Where blocks are made: results in order, errors as they are, and nothing left running."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synthbench.engine.engine import usable_cores
from synthbench.engine.open import open_engine
from synthbench.errors import SynthbenchError
from tests.support import ROOT, environment


def square(number):
    return number * number


def fail(text):
    raise SynthbenchError(text)


def where(seconds):
    time.sleep(seconds)
    return os.getpid()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def two():
    with open_engine(workers=2) as engine:
        yield engine


def test_one_worker_is_this_process_and_does_what_it_is_asked_at_once():
    with open_engine(workers=1) as engine:
        assert (engine.workers, engine.ahead) == (1, 0)
        future = engine.submit(where, 0)
        assert future.done()
        assert future.result() == os.getpid()
        with pytest.raises(SynthbenchError, match="no picture"):
            engine.submit(fail, "no picture")


def test_several_workers_are_other_processes_and_give_results_in_the_order_asked(two):
    assert (two.workers, two.ahead) == (2, 3)
    futures = [two.submit(square, number) for number in range(50)]
    assert [future.result() for future in futures] == [number**2 for number in range(50)]
    places = {future.result() for future in [two.submit(where, 0.02) for _ in range(8)]}
    assert os.getpid() not in places
    assert 1 <= len(places) <= 2


def test_results_come_in_order_and_a_few_calls_are_asked_for_ahead(two):
    asked = []

    def calls():
        for number in range(9):
            asked.append(number)
            yield (number,)

    results = two.in_order(square, calls())
    assert next(results) == ((0,), 0)
    assert len(asked) == two.ahead + 1
    assert [result for _, result in results] == [number**2 for number in range(1, 9)]


def alive(place):
    """Whether a process runs; one that has ended and only waits to be asked for does not."""
    try:
        return Path("/proc", place, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to find processes in")
def test_workers_end_when_the_main_process_is_killed():
    """Or they would hold what they inherited, such as locks, for ever."""
    code = """
import os, signal
from synthbench.engine.open import open_engine
from tests.engine.test_engine import where
with open_engine(workers=3) as engine:
    print(*{one.result() for one in [engine.submit(where, 0.05) for _ in range(12)]}, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
    ) as main:
        assert main.stdout is not None
        places = main.stdout.readline().split()
        assert main.wait() == -signal.SIGKILL
    assert places
    for _ in range(1000):
        if not any(map(alive, places)):
            break
        time.sleep(0.01)
    assert not any(map(alive, places))


def test_by_default_there_are_as_many_workers_as_usable_cores():
    assert usable_cores() >= 1
    if hasattr(os, "sched_getaffinity"):
        assert usable_cores() == len(os.sched_getaffinity(0))
    with open_engine() as engine:
        assert engine.workers == usable_cores()


@pytest.mark.parametrize(("calls", "started"), [(3, 3), (1, 1), (0, 1), (50, 5)])
def test_no_more_workers_start_than_calls_can_be_under_way(calls, started):
    with open_engine(workers=5, calls=calls) as engine:
        assert engine.workers == started
        assert (engine.ahead == 0) == (started == 1)
