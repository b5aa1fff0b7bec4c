"""Settings and fixtures that all tests share."""

import contextlib
import functools
import importlib.util
import os
import re
import runpy
import sys
from pathlib import Path

import filelock
import pytest
from hypothesis import settings

from synthbench.dataset import digest
from synthbench.streaming import rounds
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from synthbench.verification import rows as proof
from tests import support
from tests.making import CHUNK_ROWS, CTL, SHARDS, files, make, recut
from tests.support import has_images
from tests.tasks.tiny_sources import write_sources
from tests.toy_task import Numbers

#: How many rows a split of a tiny dataset has, and how many a shard.
TINY_ROWS, TINY_SHARD = 40, 25

# Tests run side by side, one process a core; PyTorch's own threads would only get in their way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

TESTS = Path(__file__).parent
WITHOUT_TORCH = TESTS / "without_torch"
MARKS = ("slow", "dev", "torch")


def pytest_addoption(parser):
    parser.addoption(
        "--without-torch", action="store_true", help="hide PyTorch, and run the tests of the core"
    )


def pytest_configure(config):
    if config.getoption("--without-torch"):
        assert "torch" not in sys.modules
        runpy.run_path(str(WITHOUT_TORCH / "sitecustomize.py"))
        path = [str(WITHOUT_TORCH), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(path)


def _has_torch():
    return importlib.util.find_spec("torch") is not None


def pytest_report_header():
    if not _has_torch():
        return "No PyTorch: tests/training and tests marked torch do not run"
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """A worker collects when no other does, if `COLLECTING` names a file to lock.

    In a fresh environment the first one compiles all that is imported, and the others load it; at
    the same time each would compile it for itself.
    """
    lock = os.environ.get("COLLECTING") if "PYTEST_XDIST_WORKER" in os.environ else None
    with filelock.FileLock(lock) if lock else contextlib.nullcontext():
        if lock and _has_torch():
            importlib.import_module("torch._dynamo")  # as every optimizer does later
        return (yield)


@functools.cache
def _names_a_mark(path):
    """Whether a file of tests names a mark, or `first_fast`, which sets one."""
    if TESTS / "training" in path.parents:
        return True
    text = path.read_text(encoding="utf-8")
    return re.search(rf"\b({'|'.join(MARKS)}|first_fast)\b", text) is not None


def pytest_ignore_collect(collection_path, config):
    """Leave out the files that import PyTorch at their top, where there is none.

    Where marked tests alone are chosen, as in `.ci/slow`, files that name no mark need no import.
    """
    needs_torch = collection_path.name.startswith(("test_torch", "test_tensors"))
    if (needs_torch or collection_path == TESTS / "training") and not _has_torch():
        return True
    chosen, is_file = config.option.markexpr, collection_path.match("test_*.py")
    if chosen == " or ".join(MARKS) and is_file and not _names_a_mark(collection_path):
        return True
    return None


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items):
    """Mark the tests of the trainer and of files that import PyTorch, as those with the mark."""
    for item in items:
        if TESTS / "training" in item.path.parents or hasattr(item.module, "torch"):
            item.add_marker("torch")
        if "torch" in item.keywords and not _has_torch():
            item.add_marker(pytest.mark.skip(reason="PyTorch is not installed, or is hidden"))
        if any(map(item.get_closest_marker, MARKS)):
            # Or `.ci/slow` would leave out the file, and the test with it.
            assert _names_a_mark(item.path), f"{item.nodeid} is marked, and its file names no mark"


# No test may fail because a machine is slow.
settings.register_profile("synthbench", deadline=None)
settings.load_profile("synthbench")


@pytest.fixture(scope="session", autouse=True)
def _shared(tmp_path_factory):
    """The directory of what all processes of a run of the tests share."""
    base = tmp_path_factory.getbasetemp()
    support.SHARED = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    support.SHARED.mkdir(exist_ok=True)


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory):
    """A cache of this session's own, so that no test leaves datasets in the user's."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SYNTHBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def know_numbers(patched):
    """Let the registry know the toy task `numbers`, and shards have chunks of a few of its rows."""
    patched.setitem(registry._registered, Numbers.name, Numbers)
    for module in (digest, proof):
        patched.setattr(module, "CHUNK_ROWS", CHUNK_ROWS)


@pytest.fixture
def numbers(monkeypatch):
    """The toy task `numbers`, known to the registry for one test, with chunks of a few rows."""
    know_numbers(monkeypatch)
    return Numbers


@pytest.fixture
def short_rounds(monkeypatch):
    """Rounds of a few rows, for rules of rows that do not know of rounds."""
    monkeypatch.setattr(rounds, "ROUND_ROWS", 16)
    monkeypatch.setattr(rounds, "EVALUATION_ROUND_ROWS", 16)


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    """The files of the toy dataset, made without an interruption."""
    out = tmp_path_factory.mktemp("toy") / "data"
    with pytest.MonkeyPatch.context() as patched:
        know_numbers(patched)
        make(out)
    made = files(out)
    assert sum(name.endswith(".parquet") for name in made) == SHARDS
    return made


@pytest.fixture
def whole(uninterrupted, numbers):
    """The same, for a test that knows the toy task."""
    return uninterrupted


@pytest.fixture(scope="session")
def ctl(tmp_path_factory):
    """The files of the small dataset of ctl, made here with one worker."""
    out = tmp_path_factory.mktemp("ctl") / "ctl"
    make(out, "ctl", **CTL)
    return files(out)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A tiny dataset of any task: two shards a split, at most two variants. Not to be changed."""
    root = tmp_path_factory.mktemp("tiny")

    def dataset(name):
        if not (root / name).exists():
            task = make_task(name)
            rows = {split.name: TINY_ROWS for split in task.splits}
            variants = list(task.variants)[:2]
            with pytest.MonkeyPatch.context() as patched:
                if has_images(task):
                    patched.setenv("SYNTHBENCH_DATA", str(write_sources(root / "sources")))
                make(root / name, name, variant=variants, rows=rows)
                recut(root / name, TINY_SHARD)
        return root / name

    return dataset
