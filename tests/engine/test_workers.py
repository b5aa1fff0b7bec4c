"""How many worker processes are started, and what happens in daemonic processes and in forks."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import textwrap
from collections.abc import Callable

import pytest

import synthbench
from synthbench.engine import worker_pool
from synthbench.engine.worker_pool import WorkerPool
from synthbench.errors import UsageError
from synthbench.sampling.plan import make_plan, most_blocks
from synthbench.tasks.registry import task as make_task
from tests.support import start

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


@pytest.fixture
def started(monkeypatch):
    """How many workers each engine that is opened from now on has."""
    counts = []

    class Counted(WorkerPool):
        def __init__(self, count, *options):
            counts.append(count)
            super().__init__(count, *options)

    monkeypatch.setattr(worker_pool, "WorkerPool", Counted)
    return counts


def test_generate_starts_no_more_workers_than_there_can_be_blocks(tmp_path, started):
    rows = {"train": 100, "iid": 20, "validation": 10, "test": 20}
    alone = synthbench.generate(
        "listops", out=tmp_path / "alone", rows=rows, workers=1, progress=False
    )
    many = synthbench.generate(
        "listops", out=tmp_path / "many", rows=rows, workers=200, progress=False
    )
    assert many == alone
    assert started == [5]  # train has five depths, of one block each
    rows = {"train": 10, "test": 2}
    synthbench.generate("sudoku", out=tmp_path / "one", rows=rows, workers=200, progress=False)
    assert started == [5]  # a single block is made in this process


@pytest.mark.parametrize("task", ["identity", "ctl"])
def test_blocks_that_are_drawn_as_fast_as_sent_are_drawn_in_this_process(tmp_path, started, task):
    rows = {"train": 40_000, "iid": 10, "test": 10}
    synthbench.generate(task, out=tmp_path / "made", rows=rows, workers=2, progress=False)
    assert started == [2] * make_task(task).drawn_by_workers


def test_a_bucket_of_many_rows_has_more_blocks_than_full_ones_would_be():
    task = make_task("identity")
    plan = make_plan(task, {"train": 10 * task.block_rows, "iid": 10, "test": 10})
    # Of a block's candidates 7 of 8 are not held out; it is taken that one in 16 becomes a row.
    assert most_blocks(task, plan) == 183


def test_verify_starts_no_more_workers_than_there_are_splits_and_chunks(tmp_path, started):
    synthbench.generate("parity", out=tmp_path / "made", preset="small", workers=1, progress=False)
    assert synthbench.verify(tmp_path / "made", workers=200, progress=False).ok
    assert started == [2]  # two splits of less than a chunk


# Daemonic processes, which may start no processes.


def make_verify_and_stream(out):
    refusals = []
    synthbench.generate("parity", out=out, preset="small", progress=False)
    ok = synthbench.verify(out, progress=False).ok
    calls: list[Callable[[], object]] = [
        lambda: synthbench.stream("parity", workers=2),
        lambda: synthbench.generate("parity", out=out / "2", workers=2),
        lambda: synthbench.generate("parity", out=out / "3", preset="small", engine="dask"),
        lambda: synthbench.verify(out, workers=2),
    ]
    for call in calls:
        try:
            call()
        except UsageError as error:
            refusals.append(str(error))
    return ok, refusals


def read_on(batches):
    try:
        next(batches)  # type: ignore[call-overload]
    except UsageError as error:
        return str(error)
    return "read"


def test_in_a_daemonic_process_one_process_does_all_and_more_are_refused(tmp_path):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        ok, refusals = pool.apply(make_verify_and_stream, [tmp_path / "made"])
    assert ok
    assert len(refusals) == 4
    reason = (
        "a daemonic process, such as a worker of multiprocessing.Pool or of a DataLoader, cannot "
        "start processes of its own"
    )
    assert all(reason in refusal for refusal in refusals)
    assert [refusal.split(":")[0] for refusal in refusals] == [
        "Workers 2",
        "Workers 2",
        "Engine 'dask'",
        "Workers 2",
    ]


# Forks.


@forks
def test_a_fork_of_a_process_that_reads_a_stream_is_told_to_begin_its_own():
    """And ending it, however it ends, harms no worker of its parent."""
    code = """
    import itertools, os, signal, synthbench
    options = {"seed": 3, "batch_size": 2000}
    batches = synthbench.stream("parity", workers=2, **options)
    read = [next(batches)]
    child = os.fork()
    if not child:
        signal.alarm(30)
        try:
            list(itertools.islice(batches, 20))
        except ValueError as error:
            assert "start=N" in str(error), error
        own = synthbench.stream("parity", workers=2, start=1, **options)
        print(next(own)["id"][0], flush=True)
        raise SystemExit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    read += itertools.islice(batches, 20)
    print(read[1]["id"][0], len(read))
    """
    done = start("-c", textwrap.dedent(code), PYTHONWARNINGS="default")
    assert (done.returncode, done.stderr) == (0, "")
    own, parents = done.stdout.splitlines()
    assert parents == f"{own} 21"


@forks
def test_a_fork_closes_a_pool_without_ending_its_parent_s_workers():
    with WorkerPool(1) as pool:
        place = pool.submit(os.getpid).result()
        child = os.fork()
        if not child:
            signal.alarm(30)
            pool.shutdown()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert pool.submit(os.getpid).result() == place


@forks
def test_a_daemonic_fork_is_told_that_it_may_start_no_workers_when_it_reads():
    context = multiprocessing.get_context("fork")
    batches = synthbench.stream("parity", workers=2)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(read_on(batches)), daemon=True)
    child.start()
    assert receiver.poll(30)
    assert "cannot start processes of its own" in receiver.recv()
    child.join()
    receiver.close()
    sender.close()
    assert len(list(itertools.islice(batches, 2))) == 2
