"""A Dask cluster with a fault: the right bytes, or an error of a line or two, and soon.

Each test has a scheduler and workers as processes of their own, and one fault. `FAULTS=20` draws
twenty cases of each fault that has many (what a server answers, when a process is killed); by
default one is drawn.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import random
import re
import signal
import socket
import threading
import time

import pytest

from synthbench.engine.open import open_engine
from synthbench.errors import SynthbenchError, UsageError
from tests.engine.test_engine import die, square
from tests.faults.clusters import Cluster, until
from tests.making import CTL, files, make
from tests.support import run_program

pytestmark = pytest.mark.slow

if importlib.util.find_spec("distributed") is None:
    pytest.skip("needs distributed: pip install 'synthbench[dask]'", allow_module_level=True)

from synthbench.engine import dask_watch  # noqa: E402

DRAWS = range(int(os.environ.get("FAULTS", "1")))


@pytest.fixture
def impatient(monkeypatch):
    """What takes 15 seconds takes one."""
    monkeypatch.setattr(dask_watch, "PATIENCE", 1.0)
    monkeypatch.setattr(dask_watch, "_LOOK", 0.5)


def refusal(address):
    """What is said about an address that cannot be used."""
    with pytest.raises(SynthbenchError) as caught, open_engine("dask", scheduler=address):
        pass
    assert str(caught.value).count("\n") <= 1
    return str(caught.value)


# Addresses.


def test_an_address_that_cannot_be_a_scheduler_s_is_refused_with_its_reason(impatient):
    for address, reason in {
        "nowhere://at-all": "unknown address scheme 'nowhere'",
        "127.0.0.1:none": "invalid",
        "tcp://127.0.0.1": "missing port number",
        "": "missing port number",
    }.items():
        with pytest.raises(UsageError, match=reason), open_engine("dask", scheduler=address):
            pass
    for address, reason in {
        "tls://127.0.0.1:1": "tls needs certificates",
        "ucx://127.0.0.1:1": "Dask cannot use ucx here",
        "tcp://127.0.0.1:1": r"no connection within 1 seconds",
        "tcp://no-such-host.invalid:1": r"no connection within 1 seconds",
    }.items():
        assert re.match(f"No Dask scheduler at '{address}': .*{reason}", refusal(address))


#: What a server that is no scheduler answers.
ANSWERS = [
    None,  # nothing at all
    b"",  # it closes the connection
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"SSH-2.0-OpenSSH_9.6\r\n",
    *(random.Random(draw).randbytes(40) for draw in DRAWS),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=repr)
def test_a_server_that_is_no_scheduler_is_refused(impatient, answer):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    held.append(connection)
                    if answer is not None:
                        connection.sendall(answer)
                        connection.close()

        held: list[socket.socket] = []
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        text = refusal(f"127.0.0.1:{server.getsockname()[1]}")
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        for connection in held:
            connection.close()
    expected = (
        "no scheduler responded within 1 seconds"
        if answer is None
        else "the connection was closed|the server there is not a Dask scheduler|"
        "no scheduler responded|"
        "no connection within"  # on a busy machine, which has one second here
    )
    assert re.search(f"^No Dask scheduler at .*({expected})", text)


def test_the_address_of_a_worker_is_refused_with_that_of_its_scheduler(cluster):
    cluster.worker()
    log = (cluster.place / "dask_worker-1.log").read_text()
    found = re.findall(r"Start worker at: +(\S+)", log)
    assert refusal(found[0]) == (
        f"{found[0]!r} is the address of a Dask worker; its scheduler is at {cluster.address}."
    )


def test_a_scheduler_without_workers_is_refused(cluster, impatient):
    assert refusal(cluster.address) == (
        f"The Dask scheduler at {cluster.address} has no workers. Start some with `dask worker "
        f"{cluster.address}`, and run the same command again."
    )


# Processes that end or stand still.


@pytest.mark.parametrize("draw", DRAWS)
def test_a_killed_scheduler_ends_the_run_in_two_lines_at_most(tmp_path, draw):
    with Cluster(tmp_path) as cluster:
        scheduler = cluster.scheduler()
        cluster.worker()
        words = ["listops", "--rows=train=1000000", "--shard-rows=8192", "--out=out"]
        staging = tmp_path / ".out.partial"

        def kill():
            # Before the first call or after some shards.
            until(random.Random(draw).choice([staging, staging / "finished.jsonl"]).exists)
            time.sleep(random.Random(draw).random())
            scheduler.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        done = run_program(
            "generate", *words, "--engine=dask", f"--scheduler={cluster.address}",
            cwd=tmp_path, PYTHONWARNINGS="ignore",
        )  # fmt: skip
        killer.join()
    assert done.returncode == 1
    assert re.match(
        f"Error: (The Dask scheduler at {cluster.address} is gone: the connection was lost. "
        "Start it again, and run the same command again|No Dask scheduler at '.*': .*)\\.\n$",
        done.stderr,
    )


@pytest.mark.parametrize(("status", "seconds"), [("connecting", 60), ("closed", 1)])
def test_a_call_asked_for_after_the_scheduler_s_end_is_refused_at_once(tmp_path, status, seconds):
    with Cluster(tmp_path) as cluster:
        scheduler = cluster.scheduler()
        cluster.worker()
        with open_engine("dask", scheduler=cluster.address) as engine:
            assert engine.submit(square, 3).result(60) == 9
            engine._client._timeout = seconds  # how long it tries to connect again
            scheduler.kill()
            until(lambda: engine._client.status == status)
            with pytest.raises(SynthbenchError, match="is gone: the connection was lost"):
                engine.submit(square, 4)


@pytest.mark.parametrize("draw", DRAWS)
def test_a_killed_worker_changes_no_byte(tmp_path, cluster, ctl, draw):
    workers = [cluster.worker(), cluster.worker()]
    killer = threading.Timer(random.Random(draw).random(), workers[0].kill)
    killer.start()
    make(tmp_path / "ctl", "ctl", engine="dask", scheduler=cluster.address, **CTL)
    killer.join()
    assert files(tmp_path / "ctl") == ctl


def test_a_call_that_kills_every_worker_is_given_up(tmp_path):
    with Cluster(tmp_path) as cluster:
        cluster.scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
        cluster.worker(nanny=True)
        with (
            open_engine("dask", scheduler=cluster.address) as engine,
            pytest.raises(SynthbenchError) as caught,
        ):
            engine.submit(die).result(60)
    assert re.match(
        r"Every Dask worker that tried a call died \(2, the last at tcp://127\.0\.0\.1:\d+\), "
        r"perhaps for lack of memory\.\nThe logs of the workers may say why\. Then run ",
        str(caught.value),
    )


def test_the_last_worker_s_end_ends_the_run(cluster, impatient):
    worker = cluster.worker()
    with open_engine("dask", scheduler=cluster.address) as engine:
        asked = engine.submit(time.sleep, 60)
        until(lambda: "sleep" in str(engine._client.processing()))
        worker.kill()
        with pytest.raises(SynthbenchError, match=r"has no workers. Start some with `dask worker"):
            asked.result(30)


def is_said_while_waiting(capsys, engine, what):
    """Whether a line on standard error says what a result is waiting for."""
    said = ""
    asked = engine.submit(time.sleep, 0.01)

    def heard():
        nonlocal said
        said += capsys.readouterr().err
        return re.search(
            rf"^No result from Dask for \d+ s: .*{what}.*\. Still waiting\.$", said, re.M
        )

    until(heard, 30)
    return not asked.done() and said.count("\n") <= 2


def test_while_a_worker_is_paused_it_is_said(cluster, impatient, capsys):
    cluster.worker("--memory-limit=50MB")
    with open_engine("dask", scheduler=cluster.address) as engine:
        until(lambda: "paused" in str(engine._client.scheduler_info()))
        paused = r"1 of 1 workers are paused, as their memory is nearly full \(tcp://.* use 0\.0"
        assert is_said_while_waiting(capsys, engine, paused)


def test_while_a_worker_or_the_scheduler_stands_still_it_is_said(tmp_path, impatient, capsys):
    with Cluster(tmp_path) as cluster:
        scheduler = cluster.scheduler()
        worker = cluster.worker()
        with open_engine("dask", scheduler=cluster.address) as engine:
            assert engine.submit(square, 3).result(60) == 9
            worker.send_signal(signal.SIGSTOP)
            assert is_said_while_waiting(capsys, engine, "does not report to its scheduler")
            worker.send_signal(signal.SIGCONT)
            assert engine.submit(square, 4).result(60) == 16
            scheduler.send_signal(signal.SIGSTOP)
            silent = f"the scheduler at {cluster.address} does not answer"
            assert is_said_while_waiting(capsys, engine, silent)
            scheduler.send_signal(signal.SIGCONT)
            assert engine.submit(square, 5).result(60) == 25


def test_while_a_call_takes_long_it_is_said(cluster, impatient, capsys):
    cluster.worker()
    with open_engine("dask", scheduler=cluster.address) as engine:
        engine.submit(time.sleep, 60)
        assert is_said_while_waiting(capsys, engine, "2 calls are at 1 workers")
