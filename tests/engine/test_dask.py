"""A Dask cluster: its own or a running one, whose workers die, changes no byte and never hangs."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import synthbench.engine
from synthbench.engine.open import open_engine
from synthbench.errors import SynthbenchError
from tests.engine.test_engine import fail, square
from tests.making import CTL, CTL_WORDS, files, make
from tests.support import environment, run_program, start
from tests.tasks.tiny_sources import write_sources

pytestmark = pytest.mark.slow

if importlib.util.find_spec("distributed") is None:
    pytest.skip("needs distributed: pip install 'synthbench[dask]'", allow_module_level=True)

#: In a worker: the first to make shards when there is a file `kill` dies of it.
SABOTAGE = """
import functools, os, signal
from synthbench.generation import shards

def sabotaged(make):
    @functools.wraps(make)
    def killed(*arguments):
        try:
            os.unlink("kill")
        except FileNotFoundError:
            return make(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    return killed

if not hasattr(shards.shard_of_blocks, "__wrapped__"):  # Dask loads this twice
    shards.shard_of_blocks = sabotaged(shards.shard_of_blocks)
"""


@contextlib.contextmanager
def process(place, module, *words):
    with (place / f"{module}.log").open("w") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file=file", *words],
            cwd=place,
            env={**environment(PYTHONWARNINGS="default"), "SYNTHBENCH_DATA": str(place / "none")},
            stdout=log,
            stderr=log,
        )
        try:
            yield
        finally:
            started.terminate()
            started.wait(20)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where a scheduler and two workers run as processes of their own."""
    path = tmp_path_factory.mktemp("cluster")
    (path / "sabotage.py").write_text(SABOTAGE)
    options = ["--no-dashboard", "--host=127.0.0.1"]
    workers = ["--nworkers=2", "--nthreads=1", "--preload=sabotage.py"]
    with (
        process(path, "dask_scheduler", "--port=0", *options),
        process(path, "dask_worker", *workers, *options),
    ):
        yield path


@pytest.fixture(scope="module")
def scheduler(place):
    """The address of that scheduler."""
    file = place / "file"
    for _ in range(3000):
        if file.exists() and file.stat().st_size:
            break
        time.sleep(0.01)
    address: str = json.loads(file.read_text())["address"]
    return address


def generate(place, *words, warnings="ignore"):
    changes = {"PYTHONWARNINGS": warnings, "SYNTHBENCH_DATA": ""}
    return run_program("generate", *words, "--engine=dask", cwd=place, **changes)


# The same bytes.


def test_a_cluster_of_its_own_changes_no_byte(tmp_path, ctl):
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # another cluster may have it
            taken.bind(("", 8787))
            taken.listen()
        done = generate(tmp_path, *CTL_WORDS, "--workers=2", warnings="ignore,default::UserWarning")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(tmp_path / "ctl") == ctl


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups to interrupt")
def test_control_c_ends_a_run_with_its_cluster_in_one_line_and_the_run_can_be_gone_on_with(
    tmp_path, ctl
):
    words = [*CTL_WORDS, "--engine=dask", "--workers=2"]
    with subprocess.Popen(
        [sys.executable, "-m", "synthbench", "generate", *words],
        cwd=tmp_path,
        env=environment(PYTHONWARNINGS="ignore"),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        while not (tmp_path / ".ctl.partial" / "finished.jsonl").exists():
            assert run.poll() is None
            time.sleep(0.001)
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
        _, errors = run.communicate(timeout=300)
    assert (run.returncode, errors) == (
        130,
        "\nInterrupted. Run the same command again to continue.\n",
    )
    make(tmp_path / "ctl", "ctl", **CTL)
    assert files(tmp_path / "ctl") == ctl


def test_a_running_cluster_whose_worker_is_killed_changes_no_byte(tmp_path, place, scheduler):
    """The blocks that the worker had are made again, elsewhere."""
    make(tmp_path / "here", "ctl", **CTL)
    (place / "kill").touch()
    words = [*CTL_WORDS, f"--scheduler={scheduler}"]
    done = generate(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert not (place / "kill").exists()
    assert files(tmp_path / "ctl") == files(tmp_path / "here")


def test_images_are_taken_from_where_the_command_says(tmp_path, scheduler):
    sources = write_sources(tmp_path / "sources")
    words = ["composites", "--rows=train=90", "--rows=validation=40", "--rows=test=40"]
    words.append(f"--scheduler={scheduler}")
    # The workers' SYNTHBENCH_DATA is another one, where nothing is.
    done = run_program(
        "generate", *words, "--engine=dask", "--out=none",
        cwd=tmp_path, PYTHONWARNINGS="ignore", SYNTHBENCH_DATA=str(sources),
    )  # fmt: skip
    assert done.returncode == 1
    begin = "Error: Dask worker tcp://127.0.0.1:"
    assert re.match(rf"{begin}\d+ cannot make composites main: MNIST is missing", done.stderr)
    done = generate(tmp_path, *words, f"--source-dir={sources}")
    assert done.returncode == 0, done.stderr
    rows = {"train": 90, "validation": 40, "test": 40}
    make(tmp_path / "here", "composites", rows=rows, source_dir=sources)
    assert files(tmp_path / "composites") == files(tmp_path / "here")


def test_without_dask_its_engine_says_how_to_install_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "synthbench.engine.dask", raising=False)
    monkeypatch.delattr(synthbench.engine, "dask", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SynthbenchError, match=r"pip install 'synthbench\[dask\]'"):
        open_engine("dask").__enter__()


def test_what_a_call_raises_on_a_worker_is_raised_here(scheduler):
    with open_engine("dask", scheduler=scheduler) as engine:
        assert (engine.workers, engine.ahead) == (2, 3)
        assert engine.submit(square, 3).result(60) == 9
        with pytest.raises(SynthbenchError, match=r"^no picture$"):
            engine.submit(fail, "no picture").result(60)
        with pytest.raises(FileNotFoundError):  # which is no lost connection
            engine.submit(os.stat, "/no/such/file").result(60)


def test_a_run_without_a_scheduler_ends_with_one_line(tmp_path):
    statuses = {"127.0.0.1:none": 2, "127.0.0.1:1": 1}
    code = f"""
from synthbench.cli.main import main
from synthbench.engine import dask_watch
dask_watch.PATIENCE = 1
for address in {list(statuses)}:
    try:
        main(f"generate ctl --engine=dask --scheduler={{address}}".split())
    except SystemExit as ended:
        print(ended.code)
"""
    done = start("-c", code, cwd=tmp_path, PYTHONWARNINGS="ignore")
    assert [*map(int, done.stdout.split())] == list(statuses.values())
    for address, line in zip(statuses, done.stderr.splitlines(), strict=True):
        assert line.startswith(f"Error: No Dask scheduler at '{address}': ")
    assert list(tmp_path.iterdir()) == []
