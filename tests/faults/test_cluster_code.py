"""A Dask worker with other code or without a package: refused, named, and nothing else harmed.

`FAULTS=20` draws twenty files that differ; by default one is drawn.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import re
import sys
import time

import pytest

from synthbench.engine.open import open_engine
from synthbench.errors import SynthbenchError
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from tests.engine.test_engine import square
from tests.faults.clusters import Cluster, copied_code
from tests.making import CTL, files, make
from tests.support import ROOT

pytestmark = pytest.mark.slow

if importlib.util.find_spec("distributed") is None:
    pytest.skip("needs distributed: pip install 'synthbench[dask]'", allow_module_level=True)

DRAWS = range(int(os.environ.get("FAULTS", "1")))
TASKS = [make_task("ctl")]


def generated(tmp_path, cluster):
    return make(tmp_path / "ctl", "ctl", engine="dask", scheduler=cluster.address, **CTL)


def failure(tmp_path, cluster):
    """What is said when the dataset cannot be made."""
    with pytest.raises(SynthbenchError) as caught:
        generated(tmp_path, cluster)
    assert str(caught.value).count("\n") <= 1
    assert not (tmp_path / "ctl").exists()
    return str(caught.value)


# Workers that would make other rows.

PREFIX = r"Dask worker tcp://127\.0\.0\.1:\d+ "


@pytest.mark.parametrize("draw", DRAWS)
def test_a_worker_with_other_source_code_of_the_same_version_is_refused(tmp_path, cluster, draw):
    path = copied_code(tmp_path / "other")
    changed = random.Random(draw).choice(sorted((path / "synthbench").rglob("*.py")))
    changed.write_text(f"{changed.read_text()}\n# {changed.name}\n")
    cluster.worker(path=path)
    text = failure(tmp_path, cluster)
    assert re.match(f"{PREFIX}could make other rows: its source code of synthbench differs", text)


def test_a_worker_of_another_version_that_joins_late_is_refused(tmp_path, cluster):
    path = copied_code(tmp_path / "other")
    init = path / "synthbench" / "__init__.py"
    text = init.read_text()
    init.write_text(re.sub(r'^__version__ = ".*"', '__version__ = "0.0.1"', text, flags=re.M))
    cluster.worker()
    with open_engine("dask", scheduler=cluster.address, tasks=TASKS) as engine:
        assert engine.submit(square, 3).result(60) == 9
        late = cluster.worker(path=path)
        with pytest.raises(SynthbenchError) as caught:
            while late.poll() is None:
                for future in [engine.submit(time.sleep, 0.02) for _ in range(9)]:
                    future.result(60)
    assert re.match(
        f"{PREFIX}could make other rows: its version of synthbench differs "
        r"\(0\.0\.1, here .*\)\.\nGive it what this machine has, restart it, and run ",
        str(caught.value),
    )


def test_a_worker_of_a_version_without_our_calls_is_named(tmp_path, cluster):
    path = copied_code(tmp_path / "other")
    (path / "synthbench" / "engine" / "dask_calls.py").unlink()
    cluster.worker(path=path)
    assert re.match(f"{PREFIX}cannot load synthbench .*dask_calls", failure(tmp_path, cluster))


#: In a worker: one of these functions is another, in memory only.
PATCH = """
import dataclasses
from synthbench.generation import shards
from synthbench.sampling import blocks

def other_draw(draw, task, stream, *others):
    return draw(task, {**stream, "other": 1}, *others)

def other_make(make, *given):
    made = make(*given)
    return dataclasses.replace(made, content=made.content.to_pybytes() + b" ")

def patch(module, name, other):
    old = getattr(module, name)
    if not hasattr(old, "patched"):  # Dask loads this twice
        new = lambda *given: other(old, *given)
        new.patched = True
        setattr(module, name, new)
"""
IN_MEMORY = {
    "draw_blocks": "patch(blocks, 'draw_blocks', other_draw)",
    "shard_of_blocks": "patch(shards, 'shard_of_blocks', other_make)",
}


@pytest.mark.parametrize("function", IN_MEMORY)
def test_a_worker_that_makes_other_rows_with_the_same_files_is_found_out(
    tmp_path, cluster, function
):
    (cluster.place / "patch.py").write_text(f"{PATCH}{IN_MEMORY[function]}\n")
    cluster.worker("--preload=patch.py")
    text = failure(tmp_path, cluster)
    assert re.match(f"{PREFIX}made other rows .* call of {function}: .*", text)
    assert "`synthbench verify`" in text


# Packages that are missing.

LONELY = """
from synthbench.tasks.ctl.task import CompositionalTableLookup

class Lonely(CompositionalTableLookup):
    name = "lonely"
"""


@pytest.fixture
def lonely(tmp_path, monkeypatch):
    """A directory with a module that has a task of another package, known here for one test."""
    path = tmp_path / "lonely"
    path.mkdir()
    (path / "lonely_task.py").write_text(LONELY)
    monkeypatch.syspath_prepend(path)
    module = importlib.import_module("lonely_task")
    monkeypatch.setitem(registry._registered, "lonely", module.Lonely)
    yield path
    del sys.modules["lonely_task"]


def both(*paths):
    return os.pathsep.join(map(str, paths))


def test_the_scheduler_needs_no_task_s_package(tmp_path, cluster, lonely):
    cluster.worker(path=both(ROOT, lonely))
    made = make(tmp_path / "there", "lonely", engine="dask", scheduler=cluster.address, **CTL)
    assert make(tmp_path / "here", "lonely", **CTL) == made
    assert files(tmp_path / "here") == files(tmp_path / "there")


def test_a_worker_without_a_task_s_package_or_with_another_one_is_refused(
    tmp_path, cluster, lonely
):
    other = tmp_path / "other"
    other.mkdir()
    (other / "lonely_task.py").write_text(f"{LONELY}\n# Other\n")
    for path, reason in (
        (ROOT, "cannot make lonely forward: No module named 'lonely_task'"),
        (both(ROOT, other), "could make other rows: its source code of lonely_task differs"),
    ):
        worker = cluster.worker(path=path)
        with pytest.raises(SynthbenchError, match=f"{PREFIX}{reason}"):
            make(tmp_path / "there", "lonely", engine="dask", scheduler=cluster.address, **CTL)
        worker.kill()
        worker.wait(20)


@pytest.fixture
def without_synthbench(tmp_path):
    """Where a process finds no synthbench, even if one is installed."""
    path = tmp_path / "empty"
    path.mkdir()
    (path / "synthbench.py").write_text("raise ModuleNotFoundError('No synthbench')\n")
    return path


def test_the_scheduler_needs_no_synthbench(tmp_path, without_synthbench, ctl):
    with Cluster(tmp_path) as cluster:
        cluster.scheduler(path=without_synthbench)
        cluster.worker()
        generated(tmp_path, cluster)
    assert files(tmp_path / "ctl") == ctl


def test_a_worker_without_synthbench_is_named(tmp_path, cluster, without_synthbench):
    worker = cluster.worker(path=without_synthbench)
    text = failure(tmp_path, cluster)
    assert re.match(rf"{PREFIX}cannot load synthbench \S+ \(\w+Error: No synthbench\)", text)
    assert worker.poll() is None
