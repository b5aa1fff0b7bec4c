"""Settings and fixtures that all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

from synthbench import registry
from tests.making import CTL, SHARDS, files, make
from tests.numbers_task import Numbers

# No test may fail because a machine is slow.
settings.register_profile("synthbench", deadline=None)
settings.load_profile("synthbench")


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> type[Numbers]:
    """The toy task `numbers`, known to the registry for one test."""
    monkeypatch.setitem(registry._registered, Numbers.name, Numbers)
    return Numbers


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the toy dataset, made without an interruption."""
    out = tmp_path_factory.mktemp("toy") / "data"
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(registry._registered, Numbers.name, Numbers)
        make(out)
    made = files(out)
    assert sum(name.endswith(".parquet") for name in made) == SHARDS
    return made


@pytest.fixture
def whole(uninterrupted: dict[str, str], numbers: type[Numbers]) -> dict[str, str]:
    """The same, for a test that knows the toy task."""
    return uninterrupted


@pytest.fixture(scope="session")
def ctl(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the small dataset of ctl, made here with one worker."""
    out = tmp_path_factory.mktemp("ctl") / "ctl"
    make(out, "ctl", **CTL)
    return files(out)
