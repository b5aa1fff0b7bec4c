"""Small sources for every test here that does not ask for the real ones."""

import pytest

from tests.tasks.tiny_sources import write_sources


@pytest.fixture(scope="package")
def written(tmp_path_factory):
    return write_sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture
def sources(written, monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(written))
    return written


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNTHBENCH_DATA", str(tmp_path))
    return tmp_path
