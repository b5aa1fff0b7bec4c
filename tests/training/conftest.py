"""The study that the tests of runs follow, its dataset, and a finished run."""

import pytest

from tests.training.making import STUDY, add_study, make_ctl, run


@pytest.fixture
def study(monkeypatch):
    """`STUDY`, known for one test."""
    add_study(monkeypatch, STUDY)


@pytest.fixture(scope="package")
def data(tmp_path_factory):
    return make_ctl(tmp_path_factory.mktemp("data") / "ctl")


@pytest.fixture(scope="package")
def whole(tmp_path_factory, data):
    """A run that nothing interrupted: its directory and its result."""
    with pytest.MonkeyPatch.context() as patch:
        add_study(patch, STUDY)
        path = tmp_path_factory.mktemp("runs") / "whole"
        return path, run(path, data)
