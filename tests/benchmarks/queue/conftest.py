"""Small source images for the queue's composites, and small splits."""

import pytest

from benchmarks.queue import rows
from synthbench.sampling.plan import plan_rows
from synthbench.tasks.images.source_dirs import SOURCE_VARIABLE
from tests.tasks.tiny_sources import write_sources


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    return write_sources(tmp_path_factory.mktemp("queue") / "sources")


@pytest.fixture(autouse=True)
def _from_sources(sources, monkeypatch):
    monkeypatch.setenv(SOURCE_VARIABLE, str(sources))


@pytest.fixture
def small_splits(monkeypatch):
    """Splits a hundred times smaller than the paper's."""

    def plan(task, preset, given):
        return plan_rows(task, "small", given)

    monkeypatch.setattr(rows, "plan_rows", plan)
